"""Patterns for words that show that a sentence asserts nothing (a question, a supposition, hearsay, ...), by reason
(``Frame``).

Patterns are RE2, case ignored. They are matched at the start of a sentence or clause, with and without its introductory
words; those of ``WITHIN`` are matched anywhere in it.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Final


class Frame(Enum):
    """A reason why a sentence does not assert its content.

    - ``QUESTION``: it is a question.
    - ``HYPOTHETICAL``: it imagines or considers something ("what if we used Go").
    - ``REPORTED``: it passes on what somebody said.
    - ``NEGATED``: it says that nothing changes.
    - ``OTHERS``: it is about other people's things.
    - ``PAST``: it is about how things were.
    - ``ONCE``: it holds only this time ("just for today").
    - ``REQUEST``: it asks for an explanation or another text, or for one thing to be done now.
    - ``COURTESY``: it is thanks, or irony.
    """

    QUESTION = auto()
    HYPOTHETICAL = auto()
    REPORTED = auto()
    NEGATED = auto()
    OTHERS = auto()
    PAST = auto()
    ONCE = auto()
    REQUEST = auto()
    COURTESY = auto()


STARTS: Final[dict[Frame, tuple[str, ...]]] = {
    Frame.QUESTION: (
        r"(?:and |but |so |or |hm,? |wait,? |just curious,? )?(?:what(?:'s|s)?|why|how|when(?:'s| is| are| do"
        r"| does| will"
        r"| did| can| should)|where(?:'s)?|who(?:'s)?|which(?: of|\b.* (?:is|are|do|does|would|should"
        r"|looks?)\b)|whose"
        r"|is|are|was|were|does|did|do (?:you|we|i|they|my|the)|has|have (?:you|we|they|i)|can|could|would"
        r"|should|shall"
        r"|am i|any(?:body|one|thing)?|isn't|aren't|don't you|doesn't|didn't|can't (?:we|you|i)|couldn't|shouldn't"
        r"|wouldn't|won't (?:it|that|they|you|we)|i wonder|i was wondering|i'm wondering|remind me,? (?:why"
        r"|what|how|when"
        r"|who)|what do you)\b",
        r"(?:und |aber |oder |also )?(?:was|warum|wieso|weshalb|wie|wann|wo|wer|welche[rsmn]?|wozu|womit|ist|sind|war"
        r"|kann|können|könnte[nt]?|könntest|soll(?:en|te|ten)?|würdest|würde[nt]?|reicht|gibt es|geht|braucht"
        r"|brauchen"
        r"|hat|haben|hast|macht|lohnt|muss|müssen|darf|dürfen|kennst|weißt|meinst|betrifft) ",
        r"(?:et |mais |alors |ou )?(?:est-ce|qu'est-ce|qu'en|que |quoi|à quoi|de quoi|pourquoi|comment|combien|quand"
        r"|où|qui|quel(?:le)?s?|c'est quoi|faut-il|peut-on|y a-t-il|et si)\b",
        r"¿|(?:y |pero |o )?(?:qué|cómo|cuánt[oa]s?|cuándo|dónde|quién(?:es)?|cuál(?:es)?|por qué|a cuánto"
        r"|hay algún)\b",
        r"(?:e |ma |mas |o |ou )?(?:che cosa|cosa|perché|come mai|quando|dove|chi|quale|quali|quanto|quanta"
        r"|quanti|o que"
        r"|por que|como (?:é|faço|funciona)|onde|quem|qual|quais|quantos?)\b",
        r"(?:а |и |но |или |так )?(?:что|чем|почему|зачем|как|когда|где|кто|какой|какая|какое|какие|каком"
        r"|сколько|разве"
        r"|неужели|можно ли|а если|у них правда) ",
        r"(?:kya|kyu|kyon|kaise|kab|kahan|kaun|kitna|kitne|क्या|क्यों|कैसे|कब|कहाँ|कौन|कितन)",
    ),
    Frame.HYPOTHETICAL: (
        r"(?:and |but |so )?(?:if|what if|suppose|supposing|imagine|assuming|in case|unless|hypothetically|in theory"
        r"|theoretically|maybe|perhaps|possibly|ideally|one day|some ?day|eventually|after that,? maybe|let me sleep"
        r"|i(?:'m| am) (?:thinking|considering|toying)|i(?: have|'ve)? (?:considered|thought about|looked at"
        r"|toyed)|(?:had|were) (?:i|we|you|they|he|she|it|there|some(?:one|body)))\b"
        r"|(?:[\w'’-]+ ){1,4}?might (?:\w+ )?\w+",
        r"(?:und |aber )?(?:wenn|falls|angenommen|gesetzt|vielleicht|eventuell|irgendwann|möglicherweise|theoretisch"
        r"|mal angenommen|hätten?|wären?)\b",
        r"(?:et |mais )?(?:si |s'il|supposons|imaginons|imagine|peut-être|un jour|éventuellement|au cas où)",
        r"(?:y |pero )?(?:si |supón|supongamos|imagina|quizás?|tal vez|a lo mejor|algún día|en caso de)",
        r"(?:e |ma |mas )?(?:se |forse|magari|supponiamo|talvez|imagine|suponha|um dia|un giorno)\b",
        r"(?:а |но |и )?(?:если|допустим|предположим|представь|может|возможно|когда-нибудь|вдруг)(?: |,|$)",
        r"(?:要是|如果|假如|假设|万一|也许|可能|或许|倘若|もし|仮に|たぶん|만약|혹시|아마|agar |shayad |अगर|शायद)",
    ),
    Frame.REPORTED: (
        r"(?:and |but |ok,? )?(?:(?:the|my|our|a|an|some|one|every|this|that|his|her|their|your|somebody"
        r"|someone|everybody"
        r"|everyone|people|they|he|she|nobody)\b(?: [\w'’-]+){0,6}?) (?:says?|said|thinks?|thought|claims?|claimed"
        r"|suggests?|suggested|recommends?|recommended|asks?|asked|wonders?|insists?|insisted|swears?"
        r"|wants? (?:to|a|an|us"
        r"|me|\w+ (?:style|instead))|would (?:like|prefer|rather|probably|feel)|prefers?|has offered|offered"
        r"|keeps saying"
        r"|wrote|writes|believes?|has been nagging|tells me|told me)\b",
        r"(?:and |but )?[\pL-]{3,} (?:says|suggests|thinks|recommends|insists|claims|asks|wonders|prefers|proposes"
        r"|wants (?:to|a|an|us|me))\b",
        r"(?:und |aber )?(?:(?:der|die|das|mein|meine|unser|unsere|ein|eine|einige|manche|jemand|er|sie|alle|viele)\b"
        r"(?: [\pL-]+){0,4}?) (?:sagt|sagte|meint|meinte|findet|will|wollte|möchte|würde|hätte|schlägt|schlug"
        r"|empfiehlt"
        r"|behauptet|fragt|fragte|wünscht|denkt|glaubt|schwört)\b",
        r"(?:et |mais )?(?:(?:le|la|les|l'|mon|ma|mes|notre|un|une|il|elle|ils|elles|on me|certains"
        r"|quelqu'un)(?: ?[\pL'-]+)"
        r"{0,4}?) (?:dit|disent|pense|veut|veulent|voudrait|aimerait|préfère|propose|conseille|recommande"
        r"|demande|trouve"
        r"|jure|ne jure|prétend|m'a dit)\b",
        r"(?:y |pero )?(?:(?:el|la|los|las|mi|mis|nuestro|nuestra|un|una|él|ella|ellos|alguien"
        r"|algunos)\b(?: \pL+){0,4}?)"
        r" (?:dice|dicen|piensa|cree|quiere|quieren|quería|querría|prefiere|propone|sugiere|recomienda|pregunta|opina"
        r"|jura)\b",
        r"(?:e |ma |mas )?(?:(?:il|lo|la|i|gli|le|mio|mia|o|a|os|as|meu|minha|un|una|um|uma|qualcuno"
        r"|alguém)\b(?: \pL+)"
        r"{0,4}?) (?:dice|dicono|pensa|vuole|vorrebbe|preferisce|suggerisce|consiglia|chiede|diz|dizem|acha"
        r"|quer|queria"
        r"|prefere|sugere|recomenda|pergunta)\b",
        r"(?:а |но |и )?(?:\pL+ ){1,4}?(?:говорит|говорят|считает|думает|хочет|хотел|хотела|предлагает"
        r"|предложил|советует"
        r"|просит|спрашивает|спросил|утверждает)(?: |,|:|$)",
        r"(?:老板|同事|领导|客户|财务|经理|朋友|有人|他们|他|她|别人|隔壁|人家|大家)[^，,。]{0,6}(?:说|想|希望|建议"
        r"|提议|觉得|认为"
        r"|要求|问)",
        r"(?:and |but |so )?(?:[\w'’-]+ ){1,6}?(?:told|tells?|advised?|advises|warned|warns|urged|urges|keeps? telling"
        r"|recommended|recommends|suggested|suggests) (?:to )?(?:me|us|him|her|them|everyone|everybody)\b",
        r"(?:i|we)(?:'ve| have)? (?:just |recently |once )?(?:read|heard)(?: (?:somewhere|on|in|from)(?: \w+){0,3})?"
        r" (?:that|the|they|it|about|of|\w+ (?:is|are|was|were|has|have|will|should|can))\b|rumou?r has it|word is"
        r"|they say",
        r"(?:und |aber )?[\pL-]{3,}(?: [\pL-]+){0,4}? (?:hat|haben) (?:uns|mir|ihm|ihr|ihnen"
        r"|allen) (?:.{0,60} )?(?:empfohlen"
        r"|geraten|vorgeschlagen|gesagt|erzählt|nahegelegt)\b",
        r"(?:und |aber )?[\pL-]{3,} (?:sagt|meint|findet|behauptet|empfiehlt|rät|glaubt|denkt|schwört),? (?:wir|man"
        r"|ich|dass|das"
        r"|die|der|uns|mir|auf|es|\pL+ (?:wäre|sei|ist|reicht|genügt))\b|(?:ich|wir) hab(?:e|en)? .{0,30}(?:gelesen"
        r"|gehört)\b"
        r"|es heißt|man sagt",
        r"(?:et |mais )?(?:[\pL'-]+ ){1,5}?(?:m'a|nous a|m'ont|nous ont|lui a) (?:dit|conseillé|recommandé|suggéré"
        r"|proposé)(?:[ ,.:]|$)"
        r"|[\pL-]{3,} (?:dit|pense|veut|voudrait|propose|conseille|recommande|trouve|prétend) (?:que |qu'|de )"
        r"|j'ai (?:lu|entendu)|on dit que|il paraît",
        r"(?:y |pero )?(?:\pL+ ){1,5}?(?:me|nos|le|les) (?:dijo|dijeron|recomendó|recomendaron|aconsejó|sugirió"
        r"|propuso)(?:[ ,.:]|$)"
        r"|\pL{3,} (?:dice|piensa|cree|quiere|propone|sugiere|recomienda|opina) que\b|(?:he leído|leí|escuché|oí"
        r"|dicen) que\b",
        r"(?:e |ma )?(?:[\pL']+ ){1,5}?(?:mi|ci|gli) (?:ha|hanno) (?:detto|consigliato|suggerito|proposto"
        r"|raccomandato)\b"
        r"|\pL{3,} (?:dice|pensa|vuole|propone|suggerisce|consiglia|sostiene) (?:che|di)\b|ho (?:letto|sentito) "
        r"|si dice che|pare che",
        r"(?:e |mas )?(?:\pL+ ){1,5}?(?:(?:me|nos) (?:disse|recomendou|aconselhou|sugeriu|propôs)"
        r"|(?:disse|recomendou|aconselhou|sugeriu|propôs)-(?:me|nos))\b|li que|ouvi (?:dizer )?que|dizem que",
        r"(?:а |но |и )?(?:\pL+ ){1,4}?(?:(?:по)?советовал[аи]?|(?:по)?рекомендовал[аи]?|рекомендует|предлагал[аи]?"
        r"|уверяет)"
        r"(?: |,|:|$)|(?:я |мы )?(?:читал|слышал)[аи]?,? (?:что|про)|(?:говорят|пишут),? что",
        r"(?:小|老|阿)\pL[^，,。]{0,3}(?:说|想|建议|推荐|觉得|认为)"
        r"|(?:供应商|顾问|厂家|网友|医生|老师|同学|邻居|销售)[^，,。]{0,6}(?:说|推荐|建议)|听说|据说",
    ),
    Frame.OTHERS: (
        r"(?:[\w'’-]+ ){0,4}?(?:next door|across the (?:street|road|hall)|(?:down|up|over) the (?:road|street|hall"
        r"|corridor)"
        r"|(?:round|around) the corner|neighbou?rs?|cousins?(?:'s)?|uncle(?:'s)?"
        r"|nephew|niece"
        r"|friend's|pen friend's|parents are|last year's|other (?:team|class|group|company|people|studio|project|one)"
        r"|competitors?|tutorial|the town's|the village|year \d+ has|kid in (?:her|his) class)\b",
        r"(?:auf |bei |in )?(?:[\pL-]+ ){0,3}?(?:nebenan|nachbar\pL*|anderen? (?:verein|team|gruppe|klasse|firma)"
        r"|konkurrenz|kumpel|cousin|onkel|schwager|schwester|bruder)\b",
        r"(?:[\pL'-]+ ){0,4}?(?:d'à côté|voisins?|l'autre (?:équipe|groupe|atelier)|cousine?|oncle|sœur|frère"
        r"|ancien site)(?:\b| |,|$)",
        r"(?:[\pL-]+ ){0,3}?(?:de al lado|vecin[oa]s?|otro (?:equipo|taller|grupo)|otra (?:clase|empresa)|prim[oa]"
        r"|herman[oa]|ayuntamiento|de la competencia)\b",
        r"(?:\pL+ ){0,3}?(?:accanto|vicin[oi]|altr[oa] (?:squadra|gruppo)|cugin[oa]|ao lado|vizinh[oa]s?"
        r"|outr[oa] (?:time"
        r"|equipe|turma)|prim[oa])\b",
        r"(?:\pL+ ){0,3}?(?:соседн\pL+|сосед\pL*|друг(?:ой|ая|ие) (?:отдел|команда|группа|класс)\pL*|брат\pL*"
        r"|сестр\pL+"
        r"|конкурент\pL*)(?: |,|$)",
        r"(?:隔壁|别的组|其他组|其它组|别人|邻居|对面|别家|隣の|他の(?:チーム|会社)|옆 ?(?:팀|집|반)|다른 팀)",
        r"(?:an?|one|some|another|my|our|his|her) (?:\w+ )?(?:friend|friends|colleague|colleagues|co-?worker"
        r"|acquaintance"
        r"|roommate|flatmate|classmate|in-laws|sister|brother|aunt|wife|husband|dad|mum|mom)(?:'s(?: \w+){1,2}"
        r"| of \w+)?"
        r" (?:\w+ )?(?:uses?|used|runs?|ran|prefers?|swears|switched|moved|went with|picked|chose|bought|replaced"
        r"|is using"
        r"|has switched|has moved|stayed)\b",
        r"(?:my|our|his|her|their|the|an?) (?:[\w'’-]+ ){1,3}?\w+s (?:his|her|their) ",
        r"(?:every(?:one|body)(?: else)?|all|people|folks|half the (?:internet|world|industry)) (?:(?:on|at|in|around"
        r"|over at)"
        r" (?:the )?[\w-]+(?: [\w-]+)? )?(?:(?:is|are) (?:moving|switching|going|using|dropping|leaving|talking|raving)"
        r"|(?:has|have) (?:moved|switched)|seems? to|swears?|uses? \S+ (?:now|these days|nowadays))\b",
        r"(?:in|according to|as in) the (?:book|tutorial|course|docs|documentation|article|video|example|blog|paper"
        r"|manual|talk|workshop),? ",
        r"(?:ein|eine|einer) (?:\pL+ )?(?:freund\pL*|kolleg\pL*|bekannte\pL*|verwandte\pL*)\b"
        r"|(?:mein|meine|unser|unsere) (?:freund\pL*|kolleg\pL*|bekannte\pL*) (?:nutzt|benutzt|verwendet|nimmt|hat"
        r"|hatte"
        r"|schwört|wechselt\pL*)\b|(?:alle|jeder|leute|viele|manche) (?:auf|in|im|bei|beim) \pL+ .*\b(?:wechseln|nehmen"
        r"|nutzen|reden|schwören|verwenden|steigen)\b|im (?:buch|tutorial|kurs|video|artikel) ",
        r"(?:un|une) (?:ami|amie|collègue|copain|copine|connaissance)\b|(?:mon|ma|notre) (?:ami|amie|collègue|copain"
        r"|copine)"
        r" (?:\pL+ )?(?:utilise|prend|avait|préfère|jure)\b|tout le monde (?:sur|à|au|dans) |dans le (?:livre"
        r"|tutoriel|cours) ",
        r"un[oa]? (?:amig[oa]|colega|compañer[oa]|conocid[oa])\b|(?:mi|nuestr[oa]) (?:amig[oa]|colega|compañer[oa])"
        r" (?:\pL+ )?(?:usa|utiliza|prefiere|toma|lleva)\b|todo el mundo en |en el (?:libro|tutorial|curso) ",
        r"(?:un |una |un')(?:amic[oa]|collega|conoscente)\b|(?:il |la )?(?:mi[oa]|nostr[oa]) (?:amic[oa]|collega)"
        r" (?:\pL+ )?(?:usa|utilizza|prende|preferisce)\b|nel (?:libro|tutorial|corso) ",
        r"uma? (?:amig[oa]|colega|conhecid[oa])\b|(?:o |a )?(?:meu|minha|nosso|nossa) (?:amig[oa]"
        r"|colega) (?:\pL+ )?(?:usa"
        r"|utiliza|prefere)\b|no (?:livro|tutorial|curso) ",
        r"(?:один |одна |мой |моя |наш |наша )?(?:друг|подруга|коллега|знаком\pL+|приятель) (?:\pL+ )?(?:использует"
        r"|берёт|берет"
        r"|предпочитает|пользуется|перешёл|перешла|взял\pL*|держит)(?: |,|$)|все (?:на|в) \pL+ (?:переходят|берут|сидят"
        r"|используют)|в (?:книге|учебнике|статье|курсе) ",
    ),
    Frame.PAST: (
        r"(?:.{0,60}\b)?(?:last (?:year|summer|winter|spring|autumn|time|month|semester|season)|a year ago"
        r"|years ago|back"
        r" then|used to (?:be|have|use|run|do)|in my (?:last|first|previous|old|former)|at my (?:last|previous"
        r"|old)|my first"
        r"|originally we had|my (?:last|old|former|previous) \w+|the older? (?:paper|version|site|server|system))\b",
        r"(?:this one|that one|it|we|i|they) (?:came out|had|spent|took|ran|cost|went over|ended up)\b",
        r"(?:.{0,40}\b)?(?:letzte[sn]? (?:jahr|sommer|winter|mal|woche|monat)|voriges jahr|vor (?:einem"
        r"|zwei) jahr|früher"
        r"|damals)\b",
        r"(?:.{0,40}\b)?(?:l'an(?:née)? (?:dernier|dernière|passée?)|l'été dernier|autrefois|il y a un an"
        r"|celui-ci fait)\b",
        r"(?:.{0,40}\b)?(?:el año pasado|el verano pasado|hace un año|hace años|antiguamente|la vez pasada)\b",
        r"(?:.{0,40}\b)?(?:l'anno scorso|un anno fa|no ano passado|há um ano)\b",
        r"(?:.{0,40})?(?:в прошлом (?:году|месяце|проекте)|год назад|раньше у нас|когда-то)(?: |,|$)",
        r"[^，,。]{0,6}(?:去年|前年|上次|上个月|以前|之前我们|去年の|昨年|前回|작년|지난번)",
        r"(?:(?:in|at|on|with|for) )?(?:the|our|my|that|their) (?:last|previous|old|former|earlier) (?:project|job|team"
        r"|company|employer|client|gig|workplace|firm|startup|flat|school|office)\b",
        r"(?:the|our|my|that|their) (?:previous|old|former|earlier) [\w-]+(?: [\w-]+)? (?:was|were|had|ran|used|did"
        r"|took"
        r"|cost|replaced|went)\b",
        r"(?:(?:im|beim|in der|bei der|in|bei) )?(?:mein\pL*|unser\pL*|das|der|die|dem|den)? ?(?:letzte|vorige|alte"
        r"|frühere"
        r"|vorherige|ehemalige)[nrsm]? (?:projekt|job|team|firma|arbeitgeber|verein|stelle|wohnung|schule|büro)\b",
        r"(?:dans|sur|à|au|chez) (?:(?:le|la|l'|mon|ma|notre) ?(?:projet|boulot|poste|équipe|boîte|entreprise|site"
        r"|école)"
        r" (?:précédent\pL*|d'avant|passé\pL*)|(?:mon|ma|notre|l') ?(?:ancien\pL*|précédent\pL*|dernier"
        r"|dernière) \pL+)",
        r"(?:en|con) (?:el|la|mi|nuestr[oa]) (?:(?:proyecto|trabajo|equipo|empresa|piso|escuela|sitio) (?:anterior"
        r"|pasad[oa]"
        r"|viej[oa])|(?:antigu[oa]|anterior|viej[oa]|últim[oa]) (?:proyecto|trabajo|equipo|empresa|piso|escuela))\b",
        r"n[oa] (?:meu |minha |nosso |nossa )?(?:projeto|trabalho|emprego|site|time|equipe|empresa"
        r"|escola) (?:anterior|passad[oa]"
        r"|antig[oa])\b",
        r"(?:в|на) (?:прошл\pL+|предыдущ\pL+|стар\pL+|прежн\pL+) (?:проект\pL*|работ\pL+|команд\pL+|фирм\pL+"
        r"|компани\pL+)",
    ),
    Frame.COURTESY: (
        r"(?:many )?(?:thanks?|thank you|thx|cheers|danke|vielen dank|merci|gracias|muchas gracias|grazie|obrigad[oa]"
        r"|спасибо|谢谢|感谢|ありがと|감사|고마|धन्यवाद|shukriya)\b?[^.!?。！]{0,60}[.!。！)]*$",
        r"(?:oh sure|yeah right|yes yes|sure sure|as if|haha|lol|klar,|ja klar|ah oui,|bien sûr,|claro,|certo,|ага,"
        r"|конечно,|呵呵|はいはい)",
        r"(?:understood|noted|got it|roger|acknowledged|verstanden|notiert|alles klar|compris|entendu|noté|entendido"
        r"|anotado|capito|ricevuto|ho capito|понял|поняла|понятно|принято|明白了?|知道了|收到|了解(?:です|しました)?"
        r"|承知しました|알겠습니다)[.!。！,)]*$",
        r"(?:of course|sure(?: thing)?|certainly|absolutely|will do|gladly|natürlich|selbstverständlich|gern(?:e)?"
        r"|bien sûr|certainement|por supuesto|desde luego|certamente|claro(?: que sim)?|конечно|当然(?:可以)?|好的"
        r"|もちろん|물론(?:입니다|이죠)?|बिल्कुल|ज़रूर) ?[.!。！,)]*$",
        r"¡?(?:hi|hello|hey|good (?:morning|afternoon|evening)|hallo|moin|servus|guten (?:tag|morgen|abend)|bonjour"
        r"|bonsoir|salut|hola|buen[oa]s (?:días|tardes|noches)|ciao|buongiorno|buonasera|salve|oi|olá|bom dia"
        r"|boa (?:tarde|noite)|привет|здравствуйте|добрый (?:день|вечер)|доброе утро|你好|您好|大家好|こんにちは"
        r"|おはよう(?:ございます)?|안녕하세요|नमस्ते|namaste)(?: \pL+)?[.!。！,)]*$",
    ),
}

WITHIN: Final[dict[Frame, tuple[str, ...]]] = {
    Frame.QUESTION: (
        r"[?？؟]\s*[\"'»”)]*$",
        r"(?:吗|呢|么|多少钱|是什么|什么意思|怎么(?:办|样|做)|为什么|会不会|能不能|要不要|是不是|好不好)[。！!]*$"
        r"|ですか[。]?$|ますか[。]?$"
        r"|(?:까|나요|인가요)[.]?$",
        r"(?:哪里|哪儿|为什么|怎么回事)[^。！]{0,20}$",
        r"(?:^| )ли (?:\pL+ ?){0,8}$|\beigentlich\b.{0,40}$",
        r", (?:right|or not|no|isn't it|don't you think|nicht wahr|oder|n'est-ce pas|verdad|certo|né|giusto|vero|верно"
        r"|правильно|так ведь)$",
        r"(?:[对對是]|没错|沒錯)吧[。！!]*$|(?:よね|っけ)[。]?$|맞(?:지|죠|나요?)[.]?$",
    ),
    Frame.HYPOTHETICAL: (
        r"\bnothing(?:'s| is| has been)? (?:settled|decided|fixed|final)\b|\b(?:not|isn't|hasn't been) (?:yet"
        r" )?(?:settled"
        r"|decided)\b|\bstill undecided\b",
        r"\b(?:would (?:it|that|we|you|the|one|be|cost|look|feel|change|happen)|might (?:be|use|want|have|go)"
        r"|could (?:be"
        r"|think|imagine|maybe)|thought experiment|one could|some ?day|one day|if (?:we|they|it|somebody|someone|you)"
        r" (?:ever|were|had|could|went)|were to)\b",
        r"\b(?:würde[nt]?|wäre[nt]?|hätte[nt]?|könnte[nt]?|irgendwann|vielleicht|nur mal durchgerechnet)\b",
        r"\b(?:serait|seraient|pourrait|pourraient|on pourra peut-être|faudrait|aimerait|un jour)\b",
        r"\b(?:sería|serían|podría|podrían|quizás?|algún día|duraran|tuviéramos|fuera|sarebbe|potrebbe|seria"
        r"|poderia)\b",
        r"(?:^| )(?:бы|может быть|когда-нибудь)(?: |,|$)",
        r"(?:也许|可能会|或许|哪天|以后再说)",
    ),
    Frame.REPORTED: (
        r"\b(?:says? (?:we|i|you|the|it) should|asked (?:whether|if|why|me)|claims so|swear by|won't shut up"
        r"|according to"
        r"|(?:forum|blog|article|book|handbook|manual|guru|paper) (?:says?|wants?|recommends?|suggests?))\b",
        r"\b(?:laut (?:\pL+ ){1,3}|angeblich|d'après (?:\pL+ )|selon |paraît-il|según |al parecer|якобы|по словам)\b",
    ),
    Frame.NEGATED: (
        r"\b(?:(?:i|we|i'm|we're|i am|we are|i will|we will)(?: still| just)? not (?:be |going to |gonna |want to"
        r" |plan(?:ning)? to |need to |have to )*(?:switch|mov|chang|migrat|convert|replac|adopt|us(?:e|ing)|go|tak)"
        r"|(?:i|we) (?:won't|don't (?:want|need|plan) to|didn't|did not) (?:switch|move|change|migrate|convert"
        r"|replace|adopt"
        r"|use|take|go)|won't (?:let|be|happen)|don't need to|isn't getting|(?:i|we|i've|we've) (?:said no|told \w+"
        r" (?:no|where))|but no(?:$|[,.!:;])|but i won't|(?:so|that's a) no(?:$|[,.!])|nah\b|no thanks"
        r"|glad (?:i|we) didn't"
        r"|not our (?:problem|machines|job|thing)|leave it (?:the way|as)|you mixed|you misunderstood"
        r"|never asked for)",
        r"\b(?:nicht (?:um|auf|zu|wechseln|umsteigen|nehmen|ändern)|steigen wir nicht|wechseln wir nicht|hast du mich"
        r" missverstanden|lass mal|nein,? (?:danke|lass)|aber nein|nicht zu entscheiden|lieber nicht)\b",
        r"\b(?:ne (?:va|vais|vont|voulons|changeons|passons|passerons|voulons) (?:\pL+ )?pas|tu as mal compris"
        r"|mais non"
        r"|pas question|non merci|laisse tomber l'idée)\b",
        r"\b(?:no vamos a|no voy a|no queremos|ni hablar|así que no|pero no(?:$|[,.])|no quiero cambiar"
        r"|me has entendido"
        r" mal)\b",
        r"\b(?:non (?:vogliamo|voglio|passiamo|cambiamo)|não (?:vamos|vou|queremos)|mas não(?:$|[,.])|ma no(?:$"
        r"|[,.]))",
        r"(?:но нет(?: |,|\.|$)|не (?:будем|буду|хотим|станем|переходим|собираемся)|ты (?:не так понял|перепутал))",
        r"(?:没答应|没同意|不同意|不会换|不换|不用换|理解错|说了不算|算了吧|变えません|바꾸지 않|안 바꿔)",
        r"\b(?:(?:there(?:'s| is) )?no (?:need|reason|point|cause|plans?|intention) (?:to|in|of|for) |(?:i|we)"
        r" (?:refuse"
        r"|decline|see no reason|have no (?:plans?|reason|intention)) (?:to |of )?|(?:don't|do not|needn't|shouldn't"
        r"|must not"
        r"|mustn't|never) (?:have to |need to |want to )?)(?:\w+ )?(?:replac|switch|mov|chang|migrat|swap|convert"
        r"|abandon)"
        r"(?:e|es|ing|ting|ping|ying)?\b|\b(?:don't|do not|won't|never) (?:want|need) .{1,40}? (?:in place of|instead"
        r" of|rather"
        r" than)\b",
        r"\b(?:kein\pL* (?:grund|anlass|bedarf|notwendigkeit),? |(?:brauchen?|muss|müssen) (?:\pL+"
        r" ){0,3}?nicht ).{0,40}(?:ersetz|wechsel|änder|umsteig|umzieh|tausch|ausgetauscht|umgestellt|umstell)",
        r"\b(?:pas (?:la peine|besoin)|inutile|aucune (?:raison|envie)|(?:je|on|nous) refus\pL+) (?:de |d')(?:remplac"
        r"|chang|passer"
        r"|migr|bascul)",
        r"\b(?:no (?:hace falta|hay (?:que|por qué|razón|motivo|necesidad)|es necesario|necesitamos) (?:de |para"
        r" )?(?:cambi"
        r"|reemplaz|sustitu|migr)|non (?:c'è bisogno di|serve|occorre|bisogna) (?:cambi|sostitu|migr)|não"
        r" (?:precisa\pL*|é"
        r" preciso|há (?:razão|motivo)) (?:de |para )?(?:troc|mud|substitu|migr))",
        r"(?:не (?:нужно|надо|стоит)|незачем|нет (?:смысла|причин)) (?:менять|заменять|переходить|мигрировать)"
        r"|(?:没(?:有)?必要|不需要|无需"
        r"|不必)(?:更)?(?:换|改|替换|迁移)",
    ),
    Frame.OTHERS: (
        r"\b(?:(?:somebody|someone|anybody) else's|for a friend|(?:isn't|aren't|not) ours|(?:that|those"
        r"|it)(?:'s| is| was|"
        r" are| were) (?:the )?(?:old|other|from another)|другой|чужой)\b",
    ),
    Frame.ONCE: (
        r"\b(?:just (?:this|for) (?:once|one|now|today|a (?:moment|minute|second))|(?:this|the) one time"
        r"|so (?:that )?(?:i|we) can (?:compare|try|test|hear|see|check)|just this one"
        r"|right now by hand|only the"
        r" (?:opening|first|last)|that one evening|this single|before i touch)\b",
        r"\b(?:nur (?:dieses mal|diesmal|heute|kurz|zum test)|ausnahmsweise|einmalig|exceptionnellement"
        r"|juste cette fois"
        r"|pour une fois|solo (?:por )?(?:hoy|esta vez)|por esta vez|solo stavolta|só desta vez|только в этот раз"
        r"|один раз)\b",
        r"(?:先手动|就这一次|这次先|暂时先|今回だけ|이번만)",
    ),
    Frame.REQUEST: (),
}

_TELLING: Final = (
    r"tell|show|explain|give|write|draw(?: up)?|sketch|compare|list|translate|summari[sz]e|convert this"
    r"|rewrite only|remind"
    r"|check|look|describe|print|search|find|help|recommend|suggest|advise|outline|draft|trim|shorten|scale"
    r"|push|start a|run"
)
"""Verbs of orders for an explanation or another text ("explain", "list"), or for one thing to be done now."""

REQUESTS: Final = (
    rf"(?:please |now |then |also |can you |could you |would you |will you |and "
    rf"|ok,? )*(?:{_TELLING})\b(?:.* please\b| (?:me|us"
    r"|to me|a|an|the (?:difference|second|first)|this|that|these|three|two|some|how|what|why|where|which)\b)",
    r"(?:zeig|erklär|schreib|vergleich|übersetz|liste|nenn|gib|fass|hilf)\pL*\b",
    r"(?:explique|montre|donne|écris|compare|traduis|raccourcis|résume|liste|fais-moi|aide)\b",
    r"(?:explíca|muéstra|compára|tradúce|escríbe|haz(?:me)?|dame|lista|resume|ayúda|explica|muestra|escribe"
    r"|traduce)\pL*\b",
    r"(?:spiega|mostra|scrivi|traduci|confronta|dammi|aiuta|explique|mostre|escreva|traduza|compare|ajude)\pL*\b",
    r"(?:объясни|покажи|напиши|переведи|сравни|расскажи|подскажи|дай|перечисли|помоги)\pL*(?: |,|$)",
    r"(?:请(?:列|把|写|给|帮|翻译|解释|说明|介绍)|帮我(?:写|列|翻译|看)|给我(?:看|写|列)|列一)",
)
"""Beginnings of orders for an explanation or another text ("explain the difference") or for one thing to be done now.
Such an order states no decision."""

HEARSAY: Final = (
    r"(?:i|we)(?:'ve| have)? (?:just |recently |once |also )?(?:read|heard|saw|seen|learned|learnt|was told|were told)"
    r" (?:somewhere |recently |online |on [\w.-]+ |in [\w.' -]{2,30}? )?(?:that|of|about|how)\b",
    r"(?:ich|wir) hab(?:e|en)? .{0,40}(?:gelesen|gehört)\b|j'ai (?:lu|entendu)\b|(?:he leído|leí|he oído|oí) que\b"
    r"|ho (?:letto|sentito)\b|(?:eu )?(?:li|ouvi)(?: dizer)? que\b"
    r"|(?:я |мы )?(?:читал|слышал)[аи]?,? |(?:我)?听说|据说",
)
"""Beginnings of sentences that pass on what the speaker read or heard."""
