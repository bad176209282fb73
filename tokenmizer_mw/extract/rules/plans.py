"""What people say that they, or somebody whom they name, will do, in other languages than English."""

from __future__ import annotations

from typing import Final

from .rule import Act, Rule, Speaker


def _plan(code: str, pattern: str, example: str, counter: str, unless: str = "", *, name: str = "plan") -> Rule:
    return Rule(f"{code}.{name}", Speaker.USER, Act.LATER, pattern, 0.74, example, counter, unless)


_ES_WHEN: Final = (
    r"(?:mañana|pasado mañana|luego|esta (?:tarde|noche|semana)|el (?:lunes|martes|miércoles|jueves|viernes"
    r"|sábado|domingo"
    r"|\d+)|la semana que viene|en (?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre"
    r"|noviembre"
    r"|diciembre)|más adelante|yo(?: mism[oa])?|a primera hora)"
)
_PT_WHEN: Final = (
    r"(?:amanhã|depois|logo|hoje à noite|esta (?:tarde|noite|semana)|n[ao] (?:segunda|terça|quarta|quinta"
    r"|sexta|sábado"
    r"|domingo)(?:-feira)?|semana que vem|na próxima semana|no dia \d+|mais tarde|eu(?: mesm[oa])?|fim de semana)"
)
_IT_WHEN: Final = (
    r"(?:domani|dopodomani|stasera|dopo|(?:di )?(?:lunedì|martedì|mercoledì|giovedì|venerdì|sabato"
    r"|domenica)|la settimana"
    r" prossima|settimana prossima|a (?:gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre"
    r"|novembre|dicembre)|più avanti|io|il \d+)"
)
_FR_WHEN: Final = (
    r"(?:demain|après-demain|ce soir|cet après-midi|(?:ce |le )?(?:lundi|mardi|mercredi|jeudi|vendredi"
    r"|samedi|dimanche)"
    r"|la semaine prochaine|en (?:janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre"
    r"|novembre|décembre)"
    r"|plus tard|moi-même|le \d+)"
)
_DE_WHEN: Final = (
    r"(?:morgen(?: früh| abend)?|übermorgen|heute abend|später|nachher|nächste woche|am \pL+tag(?:abend|morgen)?"
    r"|am wochenende|im \pL+|am \d+\.?|selbst|selber)"
)

PLANS: Final[dict[str, tuple[Rule, ...]]] = {
    "es": (
        _plan(
            "es",
            rf"(?P<label>(?:[^;?]{{0,60}}? )?(?:(?:lo|la|los|las|le|se lo) )?(?:hablo|miro|hago|pido"
            rf"|pregunto|llamo|mando|envío"
            r"|entrego|termino|reviso|pruebo|subo|escribo|compro|aviso|imprimo|monto|cierro|paso"
            r"|preparo|consulto"
            rf"|hablamos|hacemos|vemos|miramos|lanzamos|\pL{{3,}}(?:aré|eré|iré|aremos|eremos"
            rf"|iremos)) (?:[^;?]{{0,60}}?)"
            rf"{_ES_WHEN}(?:$|[ ,.;:].*))",
            "el contrato lo reviso con Marta el jueves",
            "la semana pasada hablé con Marta",
            r"(?:si|cuando|como) |.*te (?:digo|cuento|aviso)$",
        ),
        _plan(
            "es",
            r"(?P<label>(?:[^;?]{3,70}?) (?:lo|la|los|las) (?:lleva|llevan|hace|hacen|hará|mira|mirará"
            r"|revisa|revisará|prepara"
            r"|preparará|ejecuta|firma|trae|manda|pide|gestiona) (?:\pL+ ?){1,4})$",
            "el seguro lo lleva Nuria",
            "el perro lo lleva puesto siempre en la cabeza cuando sale de casa",
            name="theirs",
        ),
    ),
    "pt": (
        _plan(
            "pt",
            r"(?P<label>(?:[^;?]{0,60}? )?(?:entrego|faço|falo|peço|mando|ligo|vejo|reviso|testo|termino"
            r"|escrevo|envio|compro"
            r"|aviso|levo|imprimo|monto|fecho|passo|preparo|pergunto|trato|falamos|fazemos|vemos|lançamos"
            r"|vou \pL+r|vamos \pL+r"
            rf"|\pL{{3,}}(?:arei|erei|irei|aremos|eremos|iremos)) (?:[^;?]{{0,60}}?){_PT_WHEN}(?:$|[ ,.;:].*))",
            "entrego o relatório ao cliente na quinta",
            "falei com a Ana na quinta",
            r"(?:se|quando|como) ",
        ),
        _plan(
            "pt",
            r"(?P<label>[^;?]{3,70}? (?:fica|ficam) (?:para|pra) (?:depois|mais tarde|amanhã|a semana|o fim"
            r"|o mês|o próximo"
            r"|a próxima|segunda|terça|quarta|quinta|sexta|janeiro|fevereiro|março).*|quem (?:roda|faz"
            r"|manda|entrega|publica"
            r"|sobe|trata|envia) .{2,60}? é (?:a|o) .{3,})",
            "a tradução fica para depois das férias",
            "a casa fica para lá do rio",
            name="theirs",
        ),
    ),
    "it": (
        _plan(
            "it",
            r"(?P<label>(?:[^;?]{0,60}? )?(?:faccio|rifaccio|scrivo|chiedo|guardo|mando|sento|chiamo"
            r"|controllo|finisco|preparo"
            r"|porto|provo|ordino|stampo|consegno|parlo|passo|guardiamo|facciamo|vediamo|decidiamo|sentiamo"
            r"|lanciamo"
            rf"|\pL{{3,}}(?:erò|irò|eremo|iremo)) (?:[^;?]{{0,60}}?){_IT_WHEN}(?:$|[ ,.;:].*))",
            "il listino lo rifaccio io sabato",
            "ieri ho chiesto a Paolo",
            r"(?:se|quando|come) |(?:poi|e|allora)? ?(?:facciamo|vediamo) (?:\d|così|la|il)",
        ),
        _plan(
            "it",
            r"(?P<label>[^;?]{3,70}? (?:lo|la|li|le|se ne) (?:fa|fanno|farà|porta|guarda|guarderà|prepara"
            r"|stampa|manda|occupa"
            r"|segue) (?:il |la |mio |mia )?(?:\pL+ ?){1,4})$",
            "il preventivo lo manda Giulia",
            "il sole la fa da padrone nella valle durante tutta la bella stagione",
            name="theirs",
        ),
    ),
    "fr": (
        _plan(
            "fr",
            r"(?P<label>(?:[^;?]{0,60}? )?(?:je|j'|on|nous) ?(?:(?:le|la|les|l'|lui|leur|en|m'en|te"
            r"|vous) ?)?(?:demande|fais|vois"
            r"|regarde|appelle|envoie|écris|finis|prépare|passe|teste|relis|dépose|commande|occupe|parle"
            r"|imprime|livre|ferai"
            r"|verrai|enverrai|vais|verra|fera|fait|voit|\pL{3,}(?:erai|irai|era|ira|erons|irons)) (?:[^;?]{0,60}?)"
            rf"{_FR_WHEN}(?:$|[ ,.;:].*))",
            "le devis, je le demande lundi au garage",
            "j'ai vu le garage lundi",
            r"(?:si|quand|comme) ",
        ),
        _plan(
            "fr",
            r"(?P<label>c'est \pL+ qui (?:s'en occupe|le fait|la fait|s'en charge|fait|envoie|relit|prépare"
            r"|gère) ?.*"
            r"|[^;?]{3,60}? c'est \pL+ qui (?:s'en occupe|le fait|s'en charge|les fait|gère))",
            "la mise en page, c'est Paul qui s'en occupe",
            "c'est toi qui as raison",
            name="theirs",
        ),
    ),
    "de": (
        _plan(
            "de",
            r"(?P<label>(?:[^;?]{0,60}? )?(?:mach|schreib|prüf|test|hol|bau|klär|frag|red|schick|sag"
            r"|bestell|probier|erledig|guck"
            r"|schau|mess|kauf|ruf|bring|richt|stell|lad|zeig|nehm|gieß|druck|geb|lösch|räum|les|plan"
            r"|sprech)\w* (?:ich|wir)"
            rf" (?:[^;?]{{0,60}}? )?{_DE_WHEN}(?:$|[ ,.;:].*)|(?:ich|wir) (?:\pL+en?|\pL+) (?:[^;?]{{0,60}}? )?"
            r"(?:morgen(?: früh| abend)?|übermorgen|heute abend|nächste woche|am (?:mon|diens|donners|frei"
            r"|sams|sonn)tag"
            r"|am mittwoch|am wochenende)(?:$|[ ,.;:].*))",
            "den Rest mach ich am Wochenende selbst",
            "ich war am Montag krank",
            r"(?:wenn|falls|als|wie|da) |(?:ich|wir) (?:war|hab|bin|hatte|sind|muss aber|kann nicht)",
        ),
        _plan(
            "de",
            r"(?P<label>[^;?]{3,70}? (?:macht|übernimmt|klärt|bestellt|schickt|prüft|besorgt|bringt"
            r"|schreibt|erledigt|holt) (?:der |die |meine? "
            r"|unser(?:e)? )?\pL{3,}(?: (?:morgen|selbst|nächste woche|am \pL+tag|bis \pL+))?"
            r"|[^;?]{3,80}? (?:hat|haben) noch"
            r" (?:die alten?|den alten?|das alte|kein|keine|keinen) .{3,})$",
            "die Stühle bestellt unser Hausmeister",
            "das macht Sinn",
            r"das macht |(?:was|wer|das|es) |.*macht (?:nichts|sinn|spaß|mich|keinen)",
            name="theirs",
        ),
    ),
    "ru": (
        _plan(
            "ru",
            r"(?P<label>(?:[^;?]{0,60}? )?(?:сделаю|напишу|перепишу|допишу|принесу|пришлю|проверю|посмотрю"
            r"|удалю|доделаю|спрошу|позвоню"
            r"|узнаю|закажу|отправлю"
            r"|займусь|выложу|залью|накачу|обновлю|раскатаю|скажу|поговорю|перенесу|подготовлю|попрошу"
            r"|настрою|сделаем|выкатим"
            r"|проверим|обсудим|запустим|решим) ?(?:[^;?]{0,60}?)(?:сам[аи]?|завтра|послезавтра|потом|позже"
            r"|вечером|в"
            r" (?:понедельник|вторник|среду|четверг|пятницу|субботу|воскресенье|следующ\S+ .+|конце .+)"
            r"|на (?:этой|следующей|той)"
            r" неделе|\d+-го(?: числа)?|после .+)(?:$|[ ,.;:].*)"
            r"|[^;?]{3,80}?,? но (?:это )?(?:уже )?(?:в следующ\S+ \S+|на следующей"
            r" неделе|после релиза|потом|позже))",
            "старую таблицу удалю в пятницу сам",
            "вчера удалил таблицу сам",
            r"(?:если|когда|может) ",
        ),
    ),
    "zh": (
        _plan(
            "zh",
            r"(?P<label>[^；;？?]{0,40}?(?:我(?:来|去|自己|明天|后天|晚上|下午|周[一二三四五六日末]"
            r"|下周)[^；;？?]{0,12}?(?:讲|说|确认|定|约|谈|做|写|改|弄|处理"
            r"|执行|上线?|跟进|搞|测|验证|发|提|问|联系|买|订|看|补|清|查)|(?:明天|后天|今晚"
            r"|下周[一二三四五六日]?|周[一二三四五六日末](?:晚上)?|月底|回头)"
            r"(?:我|我们|再|要|得|需要|去)[^；;？?]{2,30}|(?:要|得|需要)(?:找|跟|和|让|请"
            r"|问)[^；;？?]{1,12}?(?:把|改|确认|说|帮|给|看|批|要)).*)",
            "发布那边我来跟进",
            "我来自上海",
            r".*(?:吗|如果|昨天|上周|我来自|了$)",
        ),
        _plan(
            "zh",
            r"(?P<label>(?:上线|发布|发版|合并|部署|提测|交付)(?:之?前|后)[，,]?(?:还|要|得|需要|先|记得"
            r"|必须)[^；;？?]{3,})",
            "上线前要跑一遍压测",
            "上线前的样子",
            r".*吗",
            name="before",
        ),
    ),
    "ja": (
        _plan(
            "ja",
            r"(?P<label>[^。？?]{0,60}?(?:(?:私|僕|自分|こちら|わたし|俺)(?:が|で|から"
            r"|のほうで)[^。？?]{1,40}?(?:ます|る|ておきます|する|します|つもりです)"
            r"|(?:は|を|に)[^。？?]{0,30}?(?:確認|相談|連絡|手配|提出|発注|送付|印刷|依頼|更新|準備|報告"
            r"|検証)(?:します|しておきます|しときます|する予定です"
            r"|する)|(?:さん|先生|くん|ちゃん|部長|課長|店長|チーム)(?:が|に)[^。？?]{1,40}?(?:予定です"
            r"|ことになって(?:い)?ます|てもらいます|てくれます|お願いしてあります))(?:ね|よ)?)$",
            "見積もりは私が総務に頼みます",
            "見積もりを確認しますか",
            r".*(?:か|たら|なら|ても|しました)$|(?:もし|では、)",
        ),
    ),
    "ko": (
        _plan(
            "ko",
            r"(?P<label>.{0,60}?(?:제가|내가|저희가|우리가|직접|나중에|내일|모레|다음 ?주(?:에)?|주말에"
            r"|월요일에?|화요일에?|수요일에?|목요일에?"
            r"|금요일에?|오늘 (?:밤|저녁)에?) .{0,40}?(?:할게|할께|하겠|볼게|물어볼|보낼게|올릴게|만들게"
            r"|쓸게|고칠게|처리할|확인할|말할|연락할|맡을게|정할게)"
            r"(?:요|습니다|ㅇㅇ)?.*|.{0,50}?(?:님|씨|팀|과장|대리|팀장|사장님)(?:이|가"
            r"|께서) .{0,30}?(?:하기로 했|할 예정|해 ?주기로|맡기로|맡을).*)",
            "배포는 제가 내일 할게요",
            "제가 어제 했어요",
            r".*(?:까요|나요|면 )",
        ),
    ),
    "hi": (
        _plan(
            "hi",
            r"(?P<label>.{2,80}?(?:(?:करूँगा|करूँगी|करूंगा|करूंगी|करेंगे|देखूँगा|देखूँगी|देखूंगी|देखेंगे"
            r"|देखेंगी|लिखूँगा|लिखूँगी|पूछूँगा|पूछूँगी|पूछेंगे"
            r"|भेजूँगा|भेजूँगी|भेजेंगे|बताऊँगा|बताऊँगी|लाऊँगा|लाऊँगी|बनाएँगे|बनाएगा|करेगा|करेगी|देगा|देगी)"
            r"|को (?:लगाता|लगाती) हूँ"
            r"|अभी (?:आया|आई|आए|बना|बनी|बने|मिला|मिली|हुआ|हुई) नहीं|से (?:बोलना|बात करनी|पूछना) है"
            r"|को (?:बोलना|बताना|देना|भेजना|कहना) है"
            r"|निकालनी पड़ेगी|दो बाकी).*)",
            "पोस्टर सुनीता मैडम देखेंगी",
            "वह कल आया था",
            r"(?:अगर|यदि|क्या|जब) |.*(?:सोचूँगी|सोचूँगा|सोचेंगे|छोटे बच्चे यहीं)",
        ),
    ),
    "hinglish": (
        _plan(
            "hinglish",
            r"(?P<label>.{2,80}?(?:(?:karunga|karungi|(?:kar|bhej|de|likh|bata|laga|bana|daal|dekh"
            r"|kar) (?:dunga|dungi|lunga|lungi|denge|lenge)|dekhunga|dekhungi|likhunga"
            r"|likhungi|puchunga|poochunga"
            r"|bhejunga|bataunga|bolunga|dalunga|lagaunga|karega|karegi|dekhega|kar dega)|(?:ko"
            r"|se) (?:bolna|batana|puchna|poochna"
            r"|kehna|dena|bhejna) hai|(?:kal|parso|shaam|subah|monday|friday|weekend"
            r"|agle hafte)(?: \S+){0,3} (?:karna|daalna"
            r"|bhejna|likhna|dena|release|deploy)(?: hai)?|abhi (?:aaya|aayi|bana|bani|hua|hui) nahi)(?:$|[ ,.;].*)"
            r"|(?:release|deploy|launch|demo|meeting|testing) (?:kal|parso|monday|friday|shaam"
            r"|agle hafte)(?:$|[ ,.;].*))",
            "ramesh ko bolna hai logs bheje",
            "ramesh ne kal bola tha",
            r"(?:agar|kya|jab) |.*(?:sochunga|sochenge|dekhenge jab)",
        ),
    ),
}
"""By the code of the language."""
