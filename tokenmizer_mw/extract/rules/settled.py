"""What people settle by the way in other languages than English: bounds ("no new packages", "at most eight") and what
is to be as it is named ("the training rather on the 13th", "then a used one with a mirror")."""

from __future__ import annotations

from typing import Final

from .rule import Act, Rule, Speaker


def _bound(code: str, pattern: str, example: str, counter: str, unless: str = "") -> Rule:
    return Rule(f"{code}.bound", Speaker.USER, Act.RULE, pattern, 0.72, example, counter, unless)


def _set(code: str, pattern: str, example: str, counter: str, unless: str = "") -> Rule:
    return Rule(f"{code}.set", Speaker.USER, Act.CHOICE, pattern, 0.7, example, counter, unless)


SETTLED: Final[dict[str, tuple[Rule, ...]]] = {
    "es": (
        _bound(
            "es",
            r"(?P<label>(?:y |pero |ah,? )?(?:no (?:me |le |les |lo |la |los |las )?(?:borr|toqu|cambi"
            r"|elimin|quit|modifiqu|sub|hag|pong"
            r"|us|reinici|mand|envi|publiqu|mezcl|incluy|añad|agregu|instal|romp|mencion|met)(?:es|as|éis"
            r"|áis)(?:$| .*)"
            r"|sin (?:\pL+(?:ar|er|ir)) .{3,}|(?:el|la|los|las) .{2,40}, ni tocarl[oa]s?|(?:máximo|mínimo"
            r"|como mucho|como máximo) \d.*))",
            "no borres las copias de abril",
            "no uso las copias de abril",
        ),
        _set(
            "es",
            r"(?P<label>(?:los|las|el|la) [^,;?]{2,40} que (?:salg|vay|se|us|teng|llev|vien"
            r"|est)\pL{1,4} (?:con|por|en|de|a|sin) .{2,}|(?:para|en) [^,;?]{2,40} (?:usamos|usa|usemos"
            r"|vamos con|ponemos|tiramos de"
            r"|cogemos) .{2,}|(?:la|el|los|las) [^,;?]{2,50}? mejor (?:el|la|los|las|con|sin|en|a|de|por"
            r"|para) .{1,}|(?:lo |la |los |las )?(?:dejamos"
            r"|mantenemos|conservamos|nos quedamos con|quedamos en) .{3,}"
            r"|(?:todo|todos|todas) \pL{4,}(?:$|, .*))",
            "la reunión mejor el jueves",
            "la reunión de ayer fue mejor",
            r".*(?: es| fue| sería| va| está) mejor |.* mejor de lo ",
        ),
    ),
    "pt": (
        _bound(
            "pt",
            r"(?P<label>(?:mas )?(?:não (?:apagu|toqu|mex|mud|us|ponh|coloqu|envi|public|instal|alter"
            r"|rod)(?:es?|as?|a|em|am)(?:$| .*)|sem"
            r" \pL+(?:ar|er|ir) .{3,}|(?:no máximo|no mínimo) \d.*|[^;?]{3,60}? não (?:podem?|devem?) .{3,}"
            r"|\pL+ .{2,60}? mas não \pL+))",
            "os nomes não podem aparecer no relatório",
            "não sei quem apagou",
            r".*(?: porque| não pode ser)",
        ),
        _set(
            "pt",
            r"(?:não, |então )?(?P<label>(?:pra|para|no|na) [^,;?]{2,40} (?:vamos de|vamos com|usamos|usa"
            r"|a gente usa|coloca) .{2,}|(?:deixa|deixamos|mantém|mantemos|fica"
            r"|ficamos com)(?:-[ao]s?)? (?:na|no|em|com|o|a|os|as|por|tudo)"
            r" .{3,}|\pL[\pL ]{1,30}? passam? a (?:ser )?\pL.{1,40}|[^,;?]{2,40} não, .{4,})",
            "deixa na cor original",
            "fica longe daqui",
            r"fica (?:por causa|longe|perto|difícil)|.*(?:ainda não|porque|por enquanto não)",
        ),
    ),
    "it": (
        _bound(
            "it",
            r"(?P<label>(?:ma )?(?:non (?:toccare|cancellare|cambiare|usare|mettere|modificare|togliere"
            r"|inviare|pubblicare|aggiungere|installare)"
            r" .{2,}|senza \pL+(?:are|ere|ire) .{3,}|(?:al massimo|massimo|minimo|almeno) \d.*|(?:sopra"
            r"|sotto) (?:i |gli |le )?\d+ .{3,}))",
            "non toccare le foto della reception",
            "non ho toccato le foto",
        ),
        _set(
            "it",
            r"(?:allora |quindi |dai |no,? )*(?P<label>per [^,;?]{2,40} (?:mettiamo|usiamo|prendiamo"
            r"|andiamo con|metti|usa) .{2,}|(?:facciamo|mettiamo|teniamo|lasciamo|tieni|lascia"
            r"|restiamo|prendiamo|torno"
            r"|rimaniamo) (?:a |con |su |in |il |la |lo |i |le |tutto |solo |\d).{2,}|\d+ allora(?:,.*)?)",
            "facciamo 45 euro per questo mese",
            "facciamo la spesa domani",
            r".*(?:domani|spesa|stasera|prova|vediamo)",
        ),
    ),
    "fr": (
        _bound(
            "fr",
            r"(?P<label>(?:et |mais )?(?:(?:ne |n')(?:mets|mettez|touche|touchez|change|changez|supprime"
            r"|enlève|utilise|publie|envoie|ajoute"
            r"|modifie|efface|écris|installe|parle) .{3,}|tu n'y \pL+ (?:plus|pas).*"
            r"|(?:on dit .{2,40}, )?jamais .{3,}|sans \pL+er .{3,}"
            r"|(?:au plus|au maximum|maximum|au moins) \d.*|[^,;?]{0,30}\d+ [\pL]+ (?:max|maximum)(?:$"
            r"|[ ,].*)|aucune? (?:nouve|autre|mention)\pL*"
            r" .{3,}))",
            "ne touche pas aux photos de l'an dernier",
            "je ne touche pas à ça d'habitude",
        ),
        _set(
            "fr",
            r"(?:ah non |non,? |donc |alors |bon )*(?P<label>pour [^,;?]{2,40} (?:on|tu) (?:part|pars|prend"
            r"|prends|utilise|met|mets|va)(?: sur| avec)? .{2,}|[^,;?]{3,50}?,? (?:je|on) (?:la |le |les "
            r"|l')(?:garde|laisse|met|mets)(?:$|[ ,].*)"
            r"|(?:on|je) (?:garde|laisse|reste) (?:sur |à |la |le |les |avec |en )?.{2,}|(?:d'occasion"
            r"|plutôt) .{3,}, pas .{3,})",
            "ah non le logo je le garde, ma sœur y tient",
            "donc je ne sais pas",
            r".*(?:manque|reste|sais pas|je ne|il faut|voilà)|(?:non,? )?donc (?:je|il|on|tu|c'est)",
        ),
    ),
    "de": (
        _bound(
            "de",
            r"(?P<label>(?:bitte )?(?:keine?n? (?:neue|weitere|zusätzliche|externe|fremde)[nrsm]? .{3,}"
            r"|[^;?]{0,60}?(?:nicht|nichts|keine?n?) (?:\S+ )"
            r"{0,3}?(?:löschen|anfassen|ändern|verändern|wegwerfen|verwenden|benutzen|überschreiben)!?$"
            r"|(?:maximal|höchstens|mindestens|nur)"
            r" \d.*|[^;?]{3,70}? (?:muss|müssen) (?:weiter|immer|so|erhalten|drin|vorher|auch)\b.*"
            r"|[^;?]{3,60}? bleibt (?:danach |noch |bei |so |wie"
            r" |im |in |auf )+.{2,}))",
            "keine neuen Bibliotheken",
            "keine Ahnung, wer das war",
        ),
        Rule(
            "de.for",
            Speaker.USER,
            Act.CHOICE,
            r"(?P<label>(?:für|bei|als) [^,;?]{2,40} (?:(?:nehmen|nutzen|verwenden|nehme|nutze) (?:wir|ich)|nimm"
            r"|nutze|verwende) .{2,})",
            0.76,
            "für die Anmeldung nehmen wir Keycloak",
            "für die Anmeldung brauche ich Zeit",
        ),
        _set(
            "de",
            r"(?:gut|ok|na gut|also|hm)?,? ?dann (?P<label>(?:(?:ein|eine|einen|der|die|das|den|doch|lieber"
            r"|eben|halt|auf|mit) )*\pL[^;?]{4,80})",
            "dann ein gebrauchter Server mit Spiegel",
            "dann geht das Licht aus",
            r".*dann (?:ist|sind|war|geht|gehen|läuft|kommt|kommen|wird|werden|muss|müssen|kann|können|mach"
            r"|machen|mache|sag|schau|hab|haben|hat"
            r"|braucht|brauchen|noch|bitte|erst|auch|eigentlich|ich|wir|wär|ja|nicht|nochmal|passt|steht"
            r"|bis|doch|lieber) ?.*|.*dann \S+en$|.*also$",
        ),
    ),
    "ru": (
        _bound(
            "ru",
            r"(?P<label>(?:только )?без \pL.{2,60}|(?:пока |вообще |ничего )?не (?:трога|удаля|меня|добавля"
            r"|использ|комм|пуш|став)\pL*(?:й|йте|уй|ь|ть|те)"
            r"(?:$|[ ,].*)|не (?:больше|меньше|более) \d.*)",
            "только без новых зависимостей",
            "без понятия, кто это сделал",
            r"без (?:понятия|проблем|разницы|вопросов)",
        ),
        _set(
            "ru",
            r"(?:ну и (?:хорошо|ладно), |тогда )?(?P<label>(?:оста(?:ёмся|емся|вляем|вим|вь)|храни(?:м|те)?"
            r"|сохраняй(?:те)?|сохраняем) .{2,}"
            r"|(?:дизайн|цвета|цветовая схема|стиль|шрифты?|формат|стек|оформление): .{4,}"
            r"|один \pL+ файл .{3,}|данные (?:пока )?(?:статич|фиктив|тестов)\pL+.*)",
            "Цветовая схема: серый и зелёный",
            "Дизайн мне нравится",
        ),
    ),
    "zh": (
        Rule(
            "zh.not_so",
            Speaker.USER,
            Act.REPLACE,
            r"(?:有道理[，,]|行[，,]|好[，,])?那?就?(?:不|别)(?:放|用|上|走|存"
            r"|做) ?(?P<target>[^，,。]{1,30}?)了[，,](?:而是|改|就|直接)?(?P<label>[^？?]{3,60})",
            0.8,
            "那就不放 Redis 了，建一张表",
            "不用谢，下次见",
            r".*[，,](?:还是|就|我们|直接|统一|全部|都|而是)*(?:改用|换成|换|改成|改为|用|选|走)",
            whole=True,
        ),
        Rule(
            "zh.then_up",
            Speaker.USER,
            Act.CHOICE,
            r"(?:[^？?]{0,30}[，,])?(?:那就|那还是|还是)(?:上|走|搞) ?"
            r"(?P<label>[^，,。？?]{2,30}?)(?:吧|了)?(?:[，,].*)?$",
            0.76,
            "老板拍板了，那就上 Redis 缓存吧",
            "那就这样吧",
            whole=True,
        ),
        _bound(
            "zh",
            r"(?P<label>(?:只(?:支持|用|在|能|保留|显示)|尽量(?:不要|别)?|最多|至少|一律|统一用)[^？?]{2,})",
            "只支持中文和英文",
            "只有三个人",
            r".*(?:吗|怎么)",
        ),
        _set(
            "zh",
            r"(?P<label>[^，。；？?]{0,40}?(?:应该|需要|要)(?:根据|按照?|使用|用|放(?:在|到)|移动到|参考"
            r"|基于)[^？?]{2,}|请?参考 ?[^？?]{4,}布局.*"
            r"|把[^？?]{2,30}(?:显示|做|弄|调)(?:得|的|成)[^？?]{2,})",
            "卡片数应该根据配置显示",
            "怎么参考配置",
            r".*(?:吗|怎么|如何|压测|测试)",
        ),
    ),
    "ja": (
        _bound(
            "ja",
            r"(?P<label>[^。？?]{2,60}?(?:(?:使わ|削ら|消さ|変え|触ら|入れ|増やさ|出さ"
            r"|書か)ないで(?:ください)?|(?:に|には|は)しません|以内で(?:お願いします)?"
            r"|だけにして(?:ください)?))(?:[。、].*)?$",
            "略語は使わないで",
            "略語は使わないですか",
        ),
        _set(
            "ja",
            r"(?:では|じゃあ|やっぱり|うーん、)*(?P<label>[^。？?]{2,50}?(?:で|に|を|は|まま|して"
            r"|けて)(?:お願いします"
            r"|いきます|統一します|残します|そろえます|揃えます|決めました)"
            r"|[^。？?]{2,40}(?:調|版|案|形式|方式|字)で)$",
            "題名は英語のまま残します",
            "題名は残りますか",
            r".*(?:まで|明日|今日|確認|修正|変更|教えて|作成|追加|対応|直し).*お願いします",
        ),
    ),
    "ko": (
        _bound(
            "ko",
            r"(?P<label>.{2,60}?(?:지 ?(?:마세요|말아 ?주세요|말아줘|말고)|까지만|이내로)(?:$|[ ,.].*)"
            r"|.{2,50}?(?:이면|면) (?:충분|될 것|될 거).*|.{1,30}?만"
            r" (?:해 ?주세요|해줘))",
            "재시도는 두 번이면 충분해요",
            "충분히 쉬었어요",
            r".*(?:나요|까요|걱정)",
        ),
        _set(
            "ko",
            r"(?P<label>.{3,60}?(?:(?:판단|표시|제거|처리|유지|사용|저장|적용|구현|배치|정렬)(?:한다"
            r"|해야 ?(?:해|한다|돼|합니다))|(?:키|줄|늘)(?:운다|인다|린다))(?:$|[ ,.].*))",
            "목록의 날짜는 왼쪽에 표시한다",
            "왼쪽에 표시되나요",
            r".*(?:나요|까요|버그|에러|면 )",
        ),
    ),
    "hi": (
        _bound(
            "hi",
            r"(?P<label>.{2,60}? मत (?:रखिए|रखो|करना|करो|कीजिए|हटाना|बदलना|दीजिए|भेजना).*|(?:सिर्फ़|सिर्फ"
            r"|केवल) .{3,}|\S+ नहीं (?:लगेगा|लगेगी|देंगे|लेंगे))",
            "विषय वाला नंबर मत रखिए",
            "विषय वाला नंबर कहाँ है",
        ),
        _set(
            "hi",
            r"(?:तो |हाँ,? )?(?P<label>(?:सीधा |सीधे )?\d+ (?:से \d+|दिन|रुपये|बजे|मिनट)(?: तक)?(?:।.*)?"
            r"|.{3,60}? (?:ले जा सकते हैं|यहीं पढ़ेंगे|बनवाते हैं|लिख लीजिए))$",
            "सीधा 1 से 900",
            "900 बच्चे आए",
        ),
    ),
    "hinglish": (
        _set(
            "hinglish",
            r"(?P<label>(?:.{1,40} )?\d+ ?(?:sec|second|min|minute|din|%|percent)?(?: tak)? (?:karo|kardo"
            r"|kar do|karte hain|rakho)(?:$|[ ,.].*)"
            r"|.{2,60}? (?:tabhi|sirf tab) .{3,}|.{2,60}? pehle(?: \S+)?,? (?:fir|phir) .{3,})",
            "timeout 60 karo, banks slow hain",
            "60 log aaye the, kya karte",
        ),
    ),
}
"""By the code of the language."""
