"""Work ahead in other languages than English; ``ahead`` says what a row is."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from .ahead import ENGLISH, Ahead

_GERMAN_WHEN: Final = (
    r"(?:(?:erst|dann|gleich|am|bis|ab|zum|für|im|in der|nicht vor|frühestens) )*(?:morgen(?: früh| vormittag| mittag"
    r"| nachmittag| abend)?|übermorgen|heute (?:abend|nacht|nachmittag)|nächste[nrs]? (?:woche|monat|mal|sprint|jahr)"
    r"|(?:mon|diens|donners|frei|sams|sonn)tag(?:s|abend|früh|mittag)?|mittwoch(?:s|abend|früh)?|wochenende"
    r"|\d{1,2}\.(?:\d{1,2}\.?| ?(?:januar|februar|märz|april|mai|juni|juli|august|september|oktober"
    r"|november|dezember))?"
    r"|januar|februar|märz|april|juni|juli|august|september|oktober|november|dezember|frühjahr|sommer|herbst|winter)"
    r"|nach (?:der|dem|den) \pL+|wenn .{3,40}|sobald .{3,40}"
)
_GERMAN_DO: Final = (
    r"(?:mach|erledig|schreib|klär|frag|prüf|test|schick|bau|fix|kümmer|sag|red|hol|bestell|probier|guck|schau|änder"
    r"|trag|lösch|stell|richt|ruf|organisier|besorg|übernehm)\pL*"
)
GERMAN: Final = Ahead(
    "de",
    hands=(
        rf"(?:(?:das|die|den|es|dies|darum|drum|ihn|sie|beides) )?{_GERMAN_DO} (?:ich|wir)(?: (?:mich|uns"
        rf"|das|es|ihn|sie|ihm"
        rf"|ihr|darum|drum|dann|noch|selbst|selber|aber|auch))*(?: (?:{_GERMAN_WHEN}))?",
        rf"ich {_GERMAN_DO}(?: (?:mich|das|es|ihn|sie|ihm|darum|drum|dann|noch|selbst"
        rf"|selber))+(?: (?:{_GERMAN_WHEN}))?",
        rf"(?:das |es |die )(?:kommt|kommen|bleibt|wartet|muss warten|macht|übernimmt|erledigt)(?: \pL+)?"
        rf"(?: (?:{_GERMAN_WHEN}))",
        r"(?:das|es|die) (?:macht|übernimmt|erledigt) (?-i:\p{Lu}\pL+)",
    ),
    left=(
        r"(?:ich|wir|da|man) (?:muss|müssen|müsste|sollte|sollten|wollte|will|wollen) (?:noch|erst noch"
        r"|auch noch|später) .{4,}",
        r"(?:muss|müsste|sollte) (?:ich|man|noch)(?: noch)? .{4,}",
        r"(?:ich|wir) warten? (?:noch )?auf .{3,}|warten? (?:noch )?auf .{3,}",
        r".{3,60} (?:kann|muss|können|müssen) (?:noch )?warten\b.*",
        rf"(?:frau |herr )?(?-i:\p{{Lu}}\pL+)(?: \pL+)? (?:schickt|macht|prüft|klärt|bringt|schreibt"
        rf"|übernimmt|liefert|druckt|bestellt"
        rf"|holt|testet|baut|organisiert|kümmert|meldet|übersetzt) .{{2,60}}(?:{_GERMAN_WHEN}|\bsich\b|\bdas\b)",
        r".{3,60} (?:liegt|ist|sind|liegen) (?:jetzt |noch )?bei (?-i:\p{Lu}\pL+)$",
        r".{3,70} (?:ist|sind|habe ich|haben wir|hab ich) noch nicht \pL+",
        r"(?:erinner|erinnere) mich (?:bitte )?(?:daran|an) .{3,}",
    ),
    plans=(
        rf"(?:.{{2,60}} )?{_GERMAN_DO} (?:ich|wir)\b.* (?:{_GERMAN_WHEN})",
        rf"ich {_GERMAN_DO} .*(?:{_GERMAN_WHEN})",
        r".{3,60} (?:hat|haben|steht|stehen|zeigt|nutzt) noch (?:die |den |das |der )?(?:alte[nrs]?"
        r"|falsche[nrs]?) .{3,}",
    ),
    times=(rf"(?:(?:aber|erst|lieber|dann|nein|ja|genau) )*(?:{_GERMAN_WHEN})(?: dann| erst)?",),
    hollow=r"(?:(?:das|die|den|es) )?(?:mach|erledig)\pL* (?:ich|wir)\b(?: (?:das|es|dann|selbst|selber))*",
    past=r".*\b(?:gestern|war|waren|hatte|jeden|immer)\b|ich (?:finde|denke|glaube|weiß)\b",
    examples=(
        "Ein dynamischer Port wäre besser, mach ich morgen früh",
        "ich schreibe die Tests am Freitag",
        "Und das README hat noch die alten Befehle",
    ),
    counters=("das mach ich immer so", "ich war gestern da", "das ist gut"),
)

_SPANISH_WHEN: Final = (
    r"(?:mañana(?: por la (?:mañana|tarde))?|pasado mañana|esta (?:tarde|noche)|luego|más tarde|la semana que viene"
    r"|la próxima semana|(?:el|para el|hasta el|antes del) (?:lunes|martes|miércoles|jueves|viernes|sábado|domingo)"
    r"|(?:en|para) (?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)"
    r"|(?:el|para el|hasta el) \d{1,2}(?: de \pL+)?|después de .{3,30}|cuando .{3,30})"
)
_SPANISH_DO: Final = (
    r"(?:hablo|hablaré|hago|haré|miro|miraré|veo|veré|pregunto|preguntaré|pido|pediré|arreglo|arreglaré|reviso|revisaré"
    r"|termino|terminaré|mando|mandaré|llevo|llevaré|escribo|escribiré|preparo|llamo|llamaré|hacemos|miramos|vemos"
    r"|hablamos|pedimos|dejamos)"
)
SPANISH: Final = Ahead(
    "es",
    hands=(
        rf"(?:(?:eso|esto|de eso|lo|la|los|las|le|me|ya) )+{_SPANISH_DO}(?: yo)?(?: (?:con|a) (?:el |la )?\pL+)?"
        rf"(?: {_SPANISH_WHEN})?",
        rf"(?:eso |lo |la |los |las |de eso )+(?:lleva|hace|mira|prepara|arregla|se encarga"
        rf"|se ocupa) (?-i:\p{{Lu}}\pL+)"
        rf"(?: {_SPANISH_WHEN})?",
        rf"(?:eso |esto )?(?:queda |lo dejamos |es |mejor )*para {_SPANISH_WHEN}",
    ),
    left=(
        r"(?:todavía |aún |también )?(?:tengo|tenemos|hay) que (?:hablar|llamar|pedir|preguntar|comprar"
        r"|mandar|enviar|revisar"
        r"|confirmar|decidir|avisar|reservar) .{3,}",
        r"(?:todavía|aún) (?:tengo|tenemos|hay) que .{4,}",
        r"(?:estoy|estamos|sigo|seguimos) (?:esperando|a la espera de) .{3,}|(?:espero"
        r"|esperamos) (?:la respuesta|a que) .{3,}",
        r".{3,60} (?:puede|pueden|tiene que|tendrá que) esperar\b.*",
        r".{3,60} (?:todavía|aún) no (?:está|están|se ha|lo he|la he|he|hemos) .*",
    ),
    plans=(
        rf"(?:\pL+ )?{_SPANISH_DO} .*{_SPANISH_WHEN}",
        rf"(?:la|el|los|las) .{{3,40}} (?:mejor|queda|quedan|será|lo dejamos) (?:para )?{_SPANISH_WHEN}",
    ),
    times=(rf"(?:(?:pero|mejor|ya|solo|hazlo|hazla) )*{_SPANISH_WHEN}",),
    hollow=r"(?:eso |lo |la |los |las )+(?:hago|haré|hacemos)\b(?: yo)?",
    past=r".*\b(?:ayer|siempre|cada|era|estaba)\b",
    examples=("la copia externa falta todavía, eso lo hablo con Marta en julio", "la formación mejor el 13"),
    counters=("eso lo hago siempre", "el lunes es fiesta"),
)

_ITALIAN_WHEN: Final = (
    r"(?:domani(?: mattina| sera| pomeriggio)?|dopodomani|stasera|più tardi|più avanti|la prossima settimana"
    r"|la settimana prossima|(?:(?:di|entro|per|da) )?(?:lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica)"
    r"|(?:a|entro|per) (?:gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre"
    r"|novembre|dicembre)"
    r"|(?:il|entro il) \d{1,2}(?: \pL+)?|dopo (?:il |la |le |i |gli |l')\pL+)"
)
_ITALIAN_DO: Final = (
    r"(?:faccio|rifaccio|farò|guardo|guardiamo|guarderò|facciamo|vedo|vediamo|scrivo|mando|chiedo|chiederò"
    r"|sistemo|penso"
    r"|preparo|chiamo|sento|controllo|controlliamo|parlo|aggiorno|stampo|ristampo|porto)"
)
ITALIAN: Final = Ahead(
    "it",
    hands=(
        rf"(?:(?:questo|quello|lo|la|li|le|ci|ne) )+{_ITALIAN_DO}(?: io| noi)?(?: {_ITALIAN_WHEN})?",
        rf"(?:ci pensa|lo fa|la fa|li fa|se ne occupa) (?-i:\p{{Lu}}\pL+)(?: {_ITALIAN_WHEN})?",
    ),
    left=(
        r"(?:devo|dobbiamo|bisogna|c'è da) ancora .{4,}|(?:devo|dobbiamo) (?:chiamare|chiedere|parlare"
        r"|sentire|mandare|comprare"
        r"|prenotare|avvisare) .{3,}",
        r"(?:aspetto|aspettiamo|sto aspettando|stiamo aspettando) .{4,}",
        r".{3,60} (?:può|possono|deve|devono) aspettare\b.*",
        r".{3,60} non (?:è|sono|l'ho|li ho|ho|abbiamo) ancora .*",
    ),
    plans=(
        rf"(?:e )?(?:il|lo|la|i|gli|le|l')\b.{{3,50}} (?:lo|la|li|le) {_ITALIAN_DO}(?: io| noi)? {_ITALIAN_WHEN}",
        rf"(?:io |noi )?{_ITALIAN_DO} .*{_ITALIAN_WHEN}",
    ),
    times=(rf"(?:(?:ma|però|meglio|solo|fallo|falla) )*{_ITALIAN_WHEN}",),
    hollow=r"(?:lo|la|li|le) (?:faccio|farò|facciamo)\b(?: io| noi)?",
    past=r".*\b(?:ieri|sempre|ogni|era|stava)\b",
    examples=(
        "il listino è ancora quello vecchio, lo rifaccio io sabato",
        "va bene così, grazie. i prezzi nuovi li guardiamo a ottobre",
    ),
    counters=("lo faccio sempre così", "sabato è chiuso"),
)

_PORTUGUESE_WHEN: Final = (
    r"(?:amanhã(?: de manhã| à tarde)?|hoje à (?:noite|tarde)|mais tarde|para a semana|na próxima semana"
    r"|(?:na )?semana que vem|(?:n[ao]|até|até à|até a|para) (?:segunda|terça|quarta|quinta|sexta|sábado|domingo)"
    r"(?:-feira)?|(?:em|até) (?:janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro"
    r"|novembro|dezembro)"
    r"|(?:no |até )?dia \d{1,2}|depois d[aeo]s? .{3,30}|quando .{3,30})"
)
_PORTUGUESE_DO: Final = (
    r"(?:entrego|faço|farei|envio|mando|escrevo|trato|vejo|pergunto|falo|peço|ligo|revejo|corrijo|termino|preparo"
    r"|vou \pL+r|fazemos|vemos|tratamos|falamos)"
)
PORTUGUESE: Final = Ahead(
    "pt",
    hands=(
        rf"(?:isso|isto|esse|essa|este|esta|d?isso) {_PORTUGUESE_DO}(?: eu| nós)?(?: {_PORTUGUESE_WHEN})?",
        rf"(?:isso |isto )?(?:fica|ficam) para {_PORTUGUESE_WHEN}",
        rf"(?:isso |isto )?(?:quem (?:faz|trata|roda) .{{0,30}}é) (?:[oa] )?(?-i:\p{{Lu}}\pL+)(?: {_PORTUGUESE_WHEN})?",
    ),
    left=(
        r"(?:ainda|também) (?:tenho|temos|há) (?:de|que) .{4,}|(?:tenho|temos) (?:de|que) (?:ligar|falar"
        r"|pedir|perguntar|mandar"
        r"|enviar|comprar|reservar|avisar|confirmar) .{3,}",
        r"(?:estou|estamos) (?:à espera de|esperando|a aguardar|aguardando) .{3,}",
        r".{3,60} (?:pode|podem|tem de|vai ter de) esperar\b.*",
        r".{3,60} ainda não (?:está|estão|foi|foram|fiz|fizemos|chegou) ?.*",
    ),
    plans=(
        rf"(?:eu )?{_PORTUGUESE_DO} .*{_PORTUGUESE_WHEN}",
        rf"(?:e )?(?:o|a|os|as) .{{3,60}} ficam? para {_PORTUGUESE_WHEN}",
        rf"quem .{{3,50}} é (?:[oa] )?\pL+ {_PORTUGUESE_WHEN}",
    ),
    times=(rf"(?:(?:mas|só|melhor) )*{_PORTUGUESE_WHEN}",),
    hollow=r"(?:isso|isto) (?:faço|farei|fazemos)\b(?: eu)?",
    past=r".*\b(?:ontem|sempre|cada|era|estava)\b",
    examples=("entrego o relatório na sexta", "o título fica para depois das férias"),
    counters=("faço sempre assim", "na sexta é feriado"),
)

_FRENCH_WHEN: Final = (
    r"(?:demain(?: matin| soir)?|après-demain|ce soir|plus tard|(?:avant |d'ici |dès )?(?:lundi|mardi|mercredi|jeudi"
    r"|vendredi|samedi|dimanche)(?: prochain)?|la semaine prochaine|(?:en|avant) (?:janvier|février|mars|avril|mai|juin"
    r"|juillet|août|septembre|octobre|novembre|décembre)|(?:le|avant le|d'ici le) \d{1,2}(?: \pL+)?"
    r"|après (?:le |la |les |l')\pL+|quand .{3,30})"
)
_FRENCH_DO: Final = (
    r"(?:fais|ferai|occupe|occuperai|demande|demanderai|vois|verrai|envoie|enverrai|écris|écrirai|prépare|appelle"
    r"|appellerai|dépose|déposerai|passe|passerai|corrige|relis|vérifie|regarde|vais \pL+)"
)
FRENCH: Final = Ahead(
    "fr",
    hands=(
        rf"(?:ça |cela |celui-là |celle-là )?,? ?je (?:le |la |les |lui |leur |m'en )+{_FRENCH_DO}(?: moi-même)?"
        rf"(?: {_FRENCH_WHEN})?",
        rf"(?:vas-y|fais-le|on (?:voit|fait|verra|fera) ça|ça attendra|ce sera pour|c'est pour) {_FRENCH_WHEN}",
        r"(?:c'est )?(?-i:\p{Lu}\pL+) (?:s'en occupe|s'en charge|le fait|la fait)",
    ),
    left=(
        r"(?:je dois|on doit|nous devons|il faut|il faudra) (?:encore|aussi) .{4,}|(?:je dois|il faut que j[e'])"
        r" ?(?:appeler|appelle|demander|demande|parler|envoyer|acheter|réserver|prévenir|confirmer) .{3,}",
        r"(?:j'attends|on attend|nous attendons)(?: encore| toujours)? .{3,}",
        r".{3,60} (?:peut|peuvent|doit|devra) attendre\b.*",
        r".{3,60} (?:n'est|ne sont|n'ai|n'a|n'avons) pas encore .*",
    ),
    plans=(rf"je (?:le |la |les |lui |leur )?{_FRENCH_DO} .*{_FRENCH_WHEN}",),
    times=(rf"(?:(?:mais|plutôt|seulement) )*{_FRENCH_WHEN}",),
    hollow=r"(?:ça,? )?je (?:le |la |les |m'en )+(?:fais|ferai|occupe|occuperai)\b(?: moi-même)?",
    past=r".*\b(?:hier|toujours|chaque|était|avait)\b",
    examples=("je dépose le dossier avant lundi", "il manque un devis, je le demande lundi"),
    counters=("je le fais toujours", "lundi c'est fermé"),
)

_RUSSIAN_WHEN: Final = (
    r"(?:(?:только|уже|на|в|во|до|к|с) )*(?:завтра|послезавтра|вечером|позже|потом|следующей неделе"
    r"|следующем (?:спринте|месяце|году|релизе)|понедельник\pL*|вторник\pL*|сред[уые]|четверг\pL*|пятниц\pL*|суббот\pL*"
    r"|воскресень\pL*|выходны\pL*|\d{1,2}-?(?:го|му)|\d{1,2} (?:января|февраля|марта|апреля|мая|июня|июля|августа"
    r"|сентября|октября|ноября|декабря))|после \pL+"
)
RUSSIAN: Final = Ahead(
    "ru",
    hands=(
        rf"(?:это|его|её|их|этим) (?:я )?\pL+(?:ю|у|усь|юсь|ем|им)(?: сам| сама)?(?: (?:{_RUSSIAN_WHEN}))?",
        rf"(?:но )?это (?:уже |только )?(?:{_RUSSIAN_WHEN})",
    ),
    left=(
        r"(?:ещё|еще|мне|нам) (?:надо|нужно|нужен|нужна|предстоит|осталось) .{4,}|(?:надо|нужно) (?:ещё|еще) .{4,}",
        r"(?:жду|ждём|ждем) .{3,}",
        r".{3,60} (?:подождёт|подождет|подождут|потом)$",
        r".{3,60} (?:ещё|еще|пока) не (?:готов|сделан|проверен|написан|отправлен|пришл|пришёл|пришел|обновл)\pL*.*",
    ),
    plans=(
        rf"(?:я |мы )?\pL+(?:ю|у|ем|им) (?:.* )?(?:{_RUSSIAN_WHEN})(?: сам| сама)?",
        rf"(?:{_RUSSIAN_WHEN}) (?:я |мы )?\pL+(?:ю|у|ем|им)\b.*",
    ),
    times=(rf"(?:(?:но|лучше|давай) )*(?:{_RUSSIAN_WHEN})",),
    past=r".*\b(?:вчера|всегда|каждый|каждую|был|была|было)\b",
    examples=("надо бы сменить ключ, но это в следующем спринте", "удалю таблицу 20-го сам"),
    counters=("это всегда так", "вчера падало"),
)

_CHINESE_WHEN: Final = (
    r"(?:明天|后天|今晚|下周[一二三四五六日天]?|下个?月|下个?(?:版本|迭代)"
    r"|(?:这)?周[一二三四五六日天末]|星期[一二三四五六日天]|以后再|晚点|\d+ ?[号日])"
)
CHINESE: Final = Ahead(
    "zh",
    hands=(
        r"(?:这个|那个)?(?:我|由我|我自己)(?:来|去|自己)(?:弄|做|处理|执行|讲|说|问|改|写|办|跟进|负责)",
        rf"(?:这个|那个|这)?(?:等|放到?|留到|推到)?{_CHINESE_WHEN}(?:再说|再做|再弄|吧|做)?",
    ),
    left=(
        r"(?:我|我们)?(?:还|还是|另外|回头)(?:要|得|需要|差|缺).{3,}",
        r"(?:我|我们)?(?:在|还在)等.{2,}",
        r".{2,}(?:还没|还没有|尚未)(?:做|写|测|改|弄|好|完成|上线|处理|更新|确认|发).{0,10}$",
        r".{2,}(?:先放着|先放一放|以后再说|回头再说|之后再说|往后放).{0,6}$",
    ),
    plans=(
        r".{2,}(?:我|由我)(?:来|去|自己)?(?:讲|说|问|谈|沟通|联系|处理|跟进|负责)$",
        rf".*{_CHINESE_WHEN}.*(?:上线?|写|做|改|测|加|发|问|谈|弄|补|清|部署|发布)$",
        rf".*我.*{_CHINESE_WHEN}.*(?:写|做|改|测|加|发|问|谈|弄|补|清)",
    ),
    past=r".*(?:昨天|已经|每天|过了$)",
    examples=("经理那边我去讲", "生产周日晚上 23 点上"),
    counters=("昨天已经上了", "每天晚上跑"),
)

JAPANESE: Final = Ahead(
    "ja",
    hands=(r"(?:それは|これは)?(?:私|僕|こちら)(?:が|で)(?:やり|対応し|確認し|聞き|直し)ます",),
    left=(
        r".*(?:まだ|未だ).{1,}(?:ていません|てません|ていない|いません|ないです)(?:ね)?$",
        r".*(?:待ちです|を待っています|待っているところです|返事待ち)$",
        r".*(?:後回し|また今度|次回)(?:にします|で|に)?.{0,6}$",
    ),
    plans=(
        r".*(?:私|僕|こちら)(?:が|から|で).{2,}ます(?:ね)?$",
        r".*(?:までに|後に|来週|明日).*お願い(?:できますか|します|いたします)",
    ),
    past=r".*(?:昨日|ました$|毎日|いつも)",
    examples=("14番は私が学芸員さんに相談します",),
    counters=("昨日は私が直しました",),
)

KOREAN: Final = Ahead(
    "ko",
    hands=(r"(?:그건|이건)? ?(?:제가|내가)(?: 직접)? (?:할게요|할게|하겠습니다|볼게요|처리할게요)",),
    left=(
        r".*아직 .{0,20}(?:안|못|않았|없).{1,}",
        r".*(?:기다리고 있|기다리는 중|대기 중).*",
        r".*(?:나중에|다음에) (?:하|보|처리).*",
    ),
    plans=(
        r".*(?:제가|내가|저희가).{1,}(?:게요|겠습니다|을게|할게|볼게)$",
        r".*(?:내일|다음 ?주|이따|나중에|주말|요일).*(?:게요|겠습니다|할게|예정(?:입니다|이에요))$",
    ),
    past=r".*(?:어제|했어요$|했습니다$|항상|매일)",
    examples=("푸시는 제가 리뷰하고 할게요",),
    counters=("어제 제가 했어요",),
)

HINDI: Final = Ahead(
    "hi",
    hands=(r".{2,20} को (?:लगाती|लगाता|लगाते) (?:हूँ|हूं|हैं)",),
    left=(
        r".*(?:का इंतज़ार|का इंतजार|ki? wait|ka wait|ka intezaar).*",
        r".{3,60} (?:baad me|baad mein) (?:karte|karenge|dekhenge|dekhte|karunga).*",
    ),
    plans=(
        r".* तक,? .*(?:देखेंगी|देखेंगे|करेंगी|करेंगे|बनाएँगे|देंगे|दूँगा|दूँगी|करूँगा|करूँगी)$",
        r".{3,60} अभी (?:तक )?(?:आया|आई|आए|बना|बनी|बने|हुआ|हुई|हुए|मिला|मिली) नहीं (?:है|हैं)?.*",
        r".{2,20} (?:को|से) (?:बोलना|बताना|कहना|पूछना|लेना|मँगवाना) (?:है|होगा|पड़ेगा).*",
        r".{2,30} ko (?:bolna|batana|kehna|puchna|poochna) (?:hai|hoga|padega).*",
    ),
    past=r".*(?:हमेशा|रोज़|hamesha|roz )",
    examples=("स्कैनर अभी आया नहीं है", "suresh ko bolna hai limit badhaye"),
    counters=("हमेशा आता है",),
)

_ROWS: Final = (
    *(ENGLISH, GERMAN, SPANISH, ITALIAN, PORTUGUESE, FRENCH, RUSSIAN, CHINESE, JAPANESE, KOREAN, HINDI),
    replace(HINDI, code="hinglish"),
)
AHEAD: Final = {row.code: row for row in _ROWS}
"""The rows by language."""
