"""Work ahead: how people say when something will be done, and who does it.

A row is a language. ``when`` is a time to come. ``hands`` are whole clauses that only say when or by whom something is
done that stands before them ("I do that after lunch"); ``times`` are such clauses of hardly more than a time, which
say so only in answer to somebody. ``plans`` begin clauses that name the work themselves. ``past`` begins clauses that
tell of what was. RE2, case ignored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

_MONTHS: Final = (
    "january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug"
    "|sept?|oct|nov|dec"
)
_DAYS: Final = (
    "monday|tuesday|wednesday|thursday|friday|saturday|sunday|mondays?|mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun"
)
_EVENT: Final = (
    r"(?:after|before|once|as soon as|until|till|when|with|not before)"
    r" (?:(?:the|our|my|his|her|their|we|i|it|that|this|he|she|they|you|there|next|everyone|somebody) )?[\w'-]+"
    r"(?: [\w'-]+){0,4}"
)
_AT: Final = (
    r"(?:(?:on|by|till|until|from|for|this|next|before|after|only|first thing|not before|in|over|at|around) )*"
    rf"(?:tomorrow(?: morning| night| evening| afternoon)?|tonight|later(?: today| this week| on)?"
    r"|next (?:week|month|sprint|time|year|release|quarter|season)|this (?:afternoon|evening|weekend|week)"
    r"|the weekend|the (?:morning|evening|afternoon)|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"(?: morning| night| evening| afternoon)?"
    rf"|the \d{{1,2}}(?:st|nd|rd|th)|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{_MONTHS})|(?:{_MONTHS}) \d{{1,2}}(?:st|nd|rd|th)?)"
    rf"|(?:on|by|till|until|from|for|this|next) (?:{_DAYS})|(?:in|by|until|till|from) (?:{_MONTHS}|q[1-4]|winter|spring"
    r"|summer|autumn|fall)|in (?:a|an|one|two|three|\d+) (?:days?|weeks?|hours?|months?)"
)
_NAMED: Final = r"(?-i:[A-Z][a-z]{1,14})"
_ME: Final = (
    r"(?:i|we)(?:'ll|ll| will|'m going to| am going to|'re going to| have to| need to| must| can)?"
    r"(?: still| also| then| just)*"
)
_OTHERS: Final = rf"(?:{_NAMED}|he|she|they|ops|the [\w-]+(?: team)?)(?:'ll| will| can| has to| still| also| then)*"
_DO: Final = (
    r"(?:do|does|handle|handles|fix|fixes|write|writes|rewrite|rewrites|send|sends|ask|asks|tell|tells|check|checks"
    r"|finish|finishes|call|calls|run|runs|print|prints|bring|brings|test|tests|clean up|cleans up|look (?:at|into)"
    r"|looks (?:at|into)|see to|sees to|take care of|takes care of|talk to|talks to|put|puts|add|adds|sort out"
    r"|sorts out|review|reviews|move|moves|order|orders|arrange|arranges|prepare|prepares)"
)
_IT: Final = r"(?:that|it|this|these|those|them|him|her|the rest|both)(?: one| bit| part| too)?"
_TAIL: Final = rf"(?:,? (?:myself|ourselves|then|later|too|soon|when i can|{_AT}|{_EVENT}|(?:in|on|with) .{{2,30}}))*"


@dataclass(frozen=True, slots=True)
class Ahead:
    """A row; see the module. ``examples`` are plans or point at one, ``counters`` do not."""

    code: str
    when: str
    hands: tuple[str, ...]
    plans: tuple[str, ...]
    times: tuple[str, ...] = ()
    past: str = ""
    examples: tuple[str, ...] = ()
    counters: tuple[str, ...] = ()


_ENGLISH_WHEN: Final = rf"(?:{_AT}|{_EVENT})"
_SET: Final = (
    rf"(?:{_AT}|(?:after|before|once|as soon as|with|when) (?:(?:the|our|my|his|her|their|we|i|it|that|this|he|she|they"
    r"|you|next) )?(?:\w+ )?(?:deploy\w*|releas\w*|redesign|stand-?up|meeting|lunch|holidays?|vacation|merge\w*|freeze"
    r"|sprint|deck|review\w*|demo|launch|have|has|is done|are done|is through|is over|is out|are in|is in|is live"
    r"|arrives?|comes?|answers?))"
)
"""A time that somebody has in mind when work is planned for it; ``_EVENT`` may be anything."""
_NOT_WORK: Final = (
    r"(?:was|were|did|had|got|has|have|is|are|am|need|want|think|know|guess|like|love|hope|wish|see|mean|use|say|said"
    r"|remember|believe|feel|went|came|ran|broke|saw|told|took|made|would|could|should|might|don't|can't|won't"
    r"|\w{3,}ed)"
)
ENGLISH: Final = Ahead(
    "en",
    _ENGLISH_WHEN,
    hands=(
        rf"(?:{_ME}|{_OTHERS}) {_DO} {_IT}{_TAIL}",
        rf"{_OTHERS} takes {_IT}{_TAIL}",
        rf"{_IT} (?:{_ME}|{_OTHERS}) {_DO}{_TAIL}",
        rf"(?:do|fix|handle|finish|write|run|test|check|deploy|merge|start|continue) {_IT}? ?(?:then |only )*{_ENGLISH_WHEN}",
        rf"{_IT}(?:'s| is| goes| comes| will be|'ll be|s)? (?:only )?(?:for|not before|not until) {_ENGLISH_WHEN}",
        rf"{_IT} (?:can|has to|must|will have to) wait(?: (?:for|until|till) .{{2,30}})?",
        rf"(?:(?:i|we)(?:'ve| have)? )?(?:haven't|havent|didn't|have not|not) (?:yet )?(?:gotten|got|get|come)"
        rf"(?: around)? to (?:it|that|this)(?: yet)?(?:,? {_ENGLISH_WHEN})?",
        rf"(?:it'?s |that'?s )?(?:planned|scheduled|booked|set) (?:(?:for|on) )?{_ENGLISH_WHEN}",
        rf"(?:it|that|this)(?:'s|s| is) (?:{_NAMED}'s?|ops'?|(?:the )?[\w-]+ team(?:'s)?)(?: thing| job| task| part| turf)?",
        r"(?:i|we)?(?:'ve| have)? ?(?:already )?asked (?:for (?:it|that|them)|in .{3,30})",
        rf"{_OTHERS} wants? to (?:look|check|review|test|read|see|sign)(?: (?:at )?{_IT})?(?: first| before.{{0,30}})?",
    ),
    plans=(
        rf"(?:i|we) (?:still |also |then |just |first )*[a-z]+ (?:.* )?{_SET}\b",
        rf"(?:(?:on|by|this|next) )?(?:tomorrow|tonight|{_DAYS}) (?:i|we) [a-z]+ ",
        rf"{_OTHERS} (?:rewrites|writes|prints|runs|checks|looks (?:at|into)|handles|takes (?:care|over)|drafts|reviews"
        rf"|sends|does|makes|brings|orders|books|builds|tests|fixes|deploys|signs|approves|asks|calls|prepares|updates"
        rf"|merges|moves|extracts|translates) .{{2,}}",
        rf"[a-z]+ (?:rewrites|writes|prints|runs|checks|handles|drafts|reviews|sends|does|makes|brings|orders|books"
        rf"|builds|tests|fixes|deploys|signs|approves|prepares|updates|merges|moves|extracts|translates) .*{_SET}",
        r"(?:he|she|they|(?-i:[A-Z][a-z]{1,14}))(?:'ll| will) [a-z]+ .{4,}",
        rf".{{2,60}}(?:'s|'re| is| are| be| gets?) \w+(?:ed|en|wn|ne) by .{{2,30}} {_SET}",
        rf"(?:ship|send|give|hand|mail|show|deliver|present|publish|post|call|email|order|book) .*{_AT}",
        rf".{{3,80}} (?:is|are) (?:still )?(?:to do|to be done|open|missing|pending)(?:,? {_SET})?$",
        r".{3,60} still (?:has|have|says|uses|shows|contains|points to|mentions) (?:the |its |their |an? )?(?:old|hardcoded"
        r"|hard-coded|outdated|wrong|previous) .{3,}",
        rf"(?:[\w./#@\"'-]+ ){{1,6}}{_AT}$",
    ),
    times=(
        rf"(?:only |rather |but |not before |not until )*{_ENGLISH_WHEN}(?: too| then| though)?",
        rf"(?:{_DAYS})(?: too| then)",
        rf"(?:me|myself|i|we|us)(?: and {_NAMED})* {_AT}",
    ),
    past=rf"(?:(?:i|we|he|she|they|it|that|this|there|what|which|who|you|{_NAMED}) (?:\w+ )?{_NOT_WORK}\b)|(?:it|there|you|not"
    r"|see you|thanks|since|hi|hello|have a|happy|last|every|each|due|which|what|like|as|than|so|such|because)\b"
    r"|.*\b(?:yesterday|ago|last (?:week|month|year|night|time|monday|friday)|every|each|always|usually|was|were|fails?"
    r"|failed|starts?|happens?|opens|closes|closed|ends?|arrives?)\b",
    examples=(
        "the preview has the old logo, I'll do that with the redesign",
        "a second job reads the clock, do that on Monday",
        "the chapter on cats: Irina rewrites that",
        "some check for it would be nice, but that's for after the trade fair",
        "skip the button, and Jo runs the migration with the release on Thursday",
        "we try the queue for two weeks from Monday",
        "I asked Rosa, she'll print the lists once we have names",
        "the drafts are written by Ayo till Friday",
        "ship to Lin on Thursday with a short text",
        "the readme still has the old commands",
    ),
    counters=(
        "I'll take that one",
        "the shop was closed on Monday",
        "the app fails on Monday",
        "that is fine",
        "I like that",
        "the old job started on Sunday",
        "I know that",
    ),
)

_GERMAN_WHEN: Final = (
    r"(?:(?:erst|dann|gleich|am|bis|ab|zum|für|im|in der|nicht vor|frühestens) )*(?:morgen(?: früh| vormittag| mittag"
    r"| nachmittag| abend)?|übermorgen|heute (?:abend|nacht|nachmittag)|nächste[nrs]? (?:woche|monat|mal|sprint|jahr)"
    r"|(?:mon|diens|donners|frei|sams|sonn)tag(?:s|abend|früh|mittag)?|mittwoch(?:s|abend|früh)?|wochenende"
    r"|\d{1,2}\.(?:\d{1,2}\.?| ?(?:januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember))?"
    r"|januar|februar|märz|april|juni|juli|august|september|oktober|november|dezember|frühjahr|sommer|herbst|winter)"
    r"|nach (?:der|dem|den) \pL+|wenn .{3,40}|sobald .{3,40}"
)
_GERMAN_DO: Final = (
    r"(?:mach|erledig|schreib|klär|frag|prüf|test|schick|bau|fix|kümmer|sag|red|hol|bestell|probier|guck|schau|änder"
    r"|trag|lösch|stell|richt|ruf|organisier|besorg|übernehm)\pL*"
)
GERMAN: Final = Ahead(
    "de",
    _GERMAN_WHEN,
    hands=(
        rf"(?:(?:das|die|den|es|dies|darum|drum|ihn|sie|beides) )?{_GERMAN_DO} (?:ich|wir)(?: (?:mich|uns|das|es|ihn|sie|ihm"
        rf"|ihr|darum|drum|dann|noch|selbst|selber|aber|auch))*(?: (?:{_GERMAN_WHEN}))?",
        rf"ich {_GERMAN_DO}(?: (?:mich|das|es|ihn|sie|ihm|darum|drum|dann|noch|selbst|selber))+(?: (?:{_GERMAN_WHEN}))?",
        rf"(?:das |es |die )?(?:kommt|kommen|bleibt|wartet|muss warten|macht|übernimmt|erledigt)(?: \pL+)?"
        rf"(?: (?:{_GERMAN_WHEN}))",
        r"(?:das|es|die) (?:macht|übernimmt|erledigt) (?-i:\p{Lu}\pL+)",
    ),
    plans=(
        rf"(?:.{{2,60}} )?{_GERMAN_DO} (?:ich|wir)\b.* (?:{_GERMAN_WHEN})",
        rf"ich {_GERMAN_DO} .*(?:{_GERMAN_WHEN})",
        r".{3,60} (?:hat|haben|steht|stehen|zeigt|nutzt) noch (?:die |den |das |der )?(?:alte[nrs]?|falsche[nrs]?) .{3,}",
    ),
    times=(rf"(?:(?:aber|erst|lieber|dann|nein|ja|genau) )*(?:{_GERMAN_WHEN})(?: dann| erst)?",),
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
    _SPANISH_WHEN,
    hands=(
        rf"(?:(?:eso|esto|de eso|lo|la|los|las|le|me|ya) )+{_SPANISH_DO}(?: yo)?(?: (?:con|a) (?:el |la )?\pL+)?"
        rf"(?: {_SPANISH_WHEN})?",
        rf"(?:eso |lo |la |los |las |de eso )+(?:lleva|hace|mira|prepara|arregla|se encarga|se ocupa) (?-i:\p{{Lu}}\pL+)"
        rf"(?: {_SPANISH_WHEN})?",
        rf"(?:eso |esto )?(?:queda |lo dejamos |es |mejor )*para {_SPANISH_WHEN}",
    ),
    plans=(
        rf"(?:\pL+ )?{_SPANISH_DO} .*{_SPANISH_WHEN}",
        rf"(?:la|el|los|las) .{{3,40}} (?:mejor|queda|quedan|será|lo dejamos) (?:para )?{_SPANISH_WHEN}",
    ),
    times=(rf"(?:(?:pero|mejor|ya|solo|hazlo|hazla) )*{_SPANISH_WHEN}",),
    past=r".*\b(?:ayer|siempre|cada|era|estaba)\b",
    examples=("eso lo hablo con Marta en julio", "la formación mejor el 13"),
    counters=("eso lo hago siempre", "el lunes es fiesta"),
)

_ITALIAN_WHEN: Final = (
    r"(?:domani(?: mattina| sera| pomeriggio)?|dopodomani|stasera|più tardi|più avanti|la prossima settimana"
    r"|la settimana prossima|(?:(?:di|entro|per|da) )?(?:lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica)"
    r"|(?:a|entro|per) (?:gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre)"
    r"|(?:il|entro il) \d{1,2}(?: \pL+)?|dopo (?:il |la |le |i |gli |l')\pL+)"
)
_ITALIAN_DO: Final = (
    r"(?:faccio|rifaccio|farò|guardo|guardiamo|guarderò|facciamo|vedo|vediamo|scrivo|mando|chiedo|chiederò|sistemo|penso"
    r"|preparo|chiamo|sento|controllo|controlliamo|parlo|aggiorno|stampo|ristampo|porto)"
)
ITALIAN: Final = Ahead(
    "it",
    _ITALIAN_WHEN,
    hands=(
        rf"(?:(?:questo|quello|lo|la|li|le|ci|ne) )+{_ITALIAN_DO}(?: io| noi)?(?: {_ITALIAN_WHEN})?",
        rf"(?:ci pensa|lo fa|la fa|li fa|se ne occupa) (?-i:\p{{Lu}}\pL+)(?: {_ITALIAN_WHEN})?",
    ),
    plans=(
        rf"(?:e )?(?:il|lo|la|i|gli|le|l')\b.{{3,50}} (?:lo|la|li|le) {_ITALIAN_DO}(?: io| noi)? {_ITALIAN_WHEN}",
        rf"(?:io |noi )?{_ITALIAN_DO} .*{_ITALIAN_WHEN}",
    ),
    times=(rf"(?:(?:ma|però|meglio|solo|fallo|falla) )*{_ITALIAN_WHEN}",),
    past=r".*\b(?:ieri|sempre|ogni|era|stava)\b",
    examples=("il listino è ancora quello vecchio, lo rifaccio io sabato", "i prezzi nuovi li guardiamo a ottobre"),
    counters=("lo faccio sempre così", "sabato è chiuso"),
)

_PORTUGUESE_WHEN: Final = (
    r"(?:amanhã(?: de manhã| à tarde)?|hoje à (?:noite|tarde)|mais tarde|para a semana|na próxima semana"
    r"|(?:na )?semana que vem|(?:n[ao]|até|até à|até a|para) (?:segunda|terça|quarta|quinta|sexta|sábado|domingo)"
    r"(?:-feira)?|(?:em|até) (?:janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro)"
    r"|(?:no |até )?dia \d{1,2}|depois d[aeo]s? .{3,30}|quando .{3,30})"
)
_PORTUGUESE_DO: Final = (
    r"(?:entrego|faço|farei|envio|mando|escrevo|trato|vejo|pergunto|falo|peço|ligo|revejo|corrijo|termino|preparo"
    r"|vou \pL+r|fazemos|vemos|tratamos|falamos)"
)
PORTUGUESE: Final = Ahead(
    "pt",
    _PORTUGUESE_WHEN,
    hands=(
        rf"(?:isso|isto|esse|essa|este|esta|d?isso) {_PORTUGUESE_DO}(?: eu| nós)?(?: {_PORTUGUESE_WHEN})?",
        rf"(?:isso |isto )?(?:fica|ficam) para {_PORTUGUESE_WHEN}",
        rf"(?:isso |isto )?(?:quem (?:faz|trata|roda) .{{0,30}}é) (?:[oa] )?(?-i:\p{{Lu}}\pL+)(?: {_PORTUGUESE_WHEN})?",
    ),
    plans=(
        rf"(?:eu )?{_PORTUGUESE_DO} .*{_PORTUGUESE_WHEN}",
        rf"(?:e )?(?:o|a|os|as) .{{3,60}} ficam? para {_PORTUGUESE_WHEN}",
        rf"quem .{{3,50}} é (?:[oa] )?\pL+ {_PORTUGUESE_WHEN}",
    ),
    times=(rf"(?:(?:mas|só|melhor) )*{_PORTUGUESE_WHEN}",),
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
    _FRENCH_WHEN,
    hands=(
        rf"(?:ça |cela |celui-là |celle-là )?,? ?je (?:le |la |les |lui |leur |m'en )+{_FRENCH_DO}(?: moi-même)?"
        rf"(?: {_FRENCH_WHEN})?",
        rf"(?:vas-y|fais-le|on (?:voit|fait|verra|fera) ça|ça attendra|ce sera pour|c'est pour) {_FRENCH_WHEN}",
        r"(?:c'est )?(?-i:\p{Lu}\pL+) (?:s'en occupe|s'en charge|le fait|la fait)",
    ),
    plans=(rf"je (?:le |la |les |lui |leur )?{_FRENCH_DO} .*{_FRENCH_WHEN}",),
    times=(rf"(?:(?:mais|plutôt|seulement) )*{_FRENCH_WHEN}",),
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
    _RUSSIAN_WHEN,
    hands=(
        rf"(?:это|его|её|их|этим) (?:я )?\pL+(?:ю|у|усь|юсь|ем|им)(?: сам| сама)?(?: (?:{_RUSSIAN_WHEN}))?",
        rf"(?:но )?это (?:уже |только )?(?:{_RUSSIAN_WHEN})",
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
    r"(?:明天|后天|今晚|下周[一二三四五六日天]?|下个?月|下个?(?:版本|迭代)|(?:这)?周[一二三四五六日天末]|星期[一二三四五六日天]|以后再|晚点|\d+ ?[号日])"
)
CHINESE: Final = Ahead(
    "zh",
    _CHINESE_WHEN,
    hands=(
        r"(?:这个|那个)?(?:我|由我|我自己)(?:来|去|自己)(?:弄|做|处理|执行|讲|说|问|改|写|办|跟进|负责)",
        rf"(?:这个|那个|这)?(?:等|放到?|留到|推到)?{_CHINESE_WHEN}(?:再说|再做|再弄|吧|做)?",
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
    r"(?:明日|明後日|来週|来月|今夜|後で|週末|[月火水木金土日]曜日?|\d+日)",
    hands=(r"(?:それは|これは)?(?:私|僕|こちら)(?:が|で)(?:やり|対応し|確認し|聞き|直し)ます",),
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
    r"(?:내일|모레|다음 ?주|이따|나중에|주말|[월화수목금토일]요일)",
    hands=(r"(?:그건|이건)? ?(?:제가|내가)(?: 직접)? (?:할게요|할게|하겠습니다|볼게요|처리할게요)",),
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
    r"(?:कल|परसों|अगले (?:हफ़्ते|हफ्ते|महीने|सप्ताह)|(?:सोम|मंगल|बुध|गुरु|शुक्र|शनि|रवि)वार)",
    hands=(r".{2,20} को (?:लगाती|लगाता|लगाते) (?:हूँ|हूं|हैं)",),
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
