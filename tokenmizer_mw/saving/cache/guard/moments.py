"""Detects questions whose answer changes with time ("latest", "today"), in several languages."""

from __future__ import annotations

from typing import Any, Final

import re2

from tokenmizer_mw.runtime.lazy import re2_options

READ_MAX: Final = 20_000
"""Characters of a question that are examined; a longer one counts as changing with time."""

_WORDS: Final = r"""
today|tonight|tomorrow|yesterday|now|nowadays|currently|current|present[ -]day|at the moment|right away|so far
|latest|newest|recent|recently|lately|up[ -]to[ -]date|upcoming|trending|breaking|live score|as of
|(?:this|next|last|past|coming|previous) (?:week|weekend|month|year|quarter|morning|afternoon|evening|night|summer
|winter|spring|fall|autumn|season|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march
|april|may|june|july|august|september|october|november|december|christmas|easter)
|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?
|(?:minutes?|hours?|days?|weeks?|months?|years?) ago|in the (?:last|past|next|coming)|since (?:when|last)
|news|headlines|weather|forecast|traffic|stock price|share price|exchange rates?|market price|live score
|who (?:won|wins|is winning|is leading|leads|is ahead|lost|got elected|was elected|is on call|is online|is in charge)
|what(?:'s| is| was) the score|election results?
|how old (?:is|are)|(?:'s|s') age|what age (?:is|are)|how long (?:has|have)
|(?:when|what time|which day|what day|how soon)[^?!]* next|(?:the|my|our|your) next (?:train|bus|tram|flight|ferry
|plane|boat|ship|metro|game|match|election|meeting|appointment|release|holiday|full moon|eclipse|train to [a-z]+)
|(?:when|what time|how soon) (?:is|are|does|do|will|can) [^?!]* (?:arrive|arriving|depart|departing|leave|leaving
|land|landing|start|starting|begin|open|opening|close|closing|end|ending|finish|come|coming|due|back|over|out)
|yet
|how many (?:[a-z]+ )?(?:stars|followers|subscribers|users|downloads|views|likes|open issues|issues|members|visitors
|employees)
|(?:give|pick|choose|tell|generate|draw|roll|suggest|show|name|flip|toss|throw)(?: me| us)? (?:a|an|one|some|two|three
|[0-9]+) (?:random|dice|die|dices|coin|coins)|roll (?:the )?dice|surprise me
|(?:is|will|did) it (?:rain|snow|sunny|cold|hot|warm)(?:ing)?|(?:going to|will) rain
|what time is it|what(?:'s| is) the (?:time|date)(?: now| there| please|[ ]*[?.!]*$)|what day is|what year is it
|who(?:'s| is| are) the (?:[a-z]+ )?(?:president|prime minister|chancellor|ceo|king|queen|pope|mayor|minister|champion
|world champion|coach|owner)
|(?:president|prime minister|chancellor|ceo|king|queen|pope|mayor) of|(?:price|value|cost) of (?:bitcoin|btc
|ethereum|gold|oil|silver|gas|petrol)|bitcoin price|how much is (?:a |one )?(?:bitcoin|btc|ethereum)
|still (?:open|alive|available|valid|on|running)|open now|deadline|due date|overdue|(?:my|our) (?:calendar|schedule
|appointments?|meetings?)|my (?:flight|balance)|(?:where(?:'s| is)|track) my (?:order|package|parcel|delivery)
|how long until|how many days (?:until|till|left)|countdown|just (?:released|announced|happened)|any (?:updates?
|news)|status of
|wie alt (?:ist|sind)|wer hat [^.?!]*gewonnen|nächste[nrs]? (?:zug|bus|flug|bahn|spiel|wahl)
|qui a gagné|quel âge a|prochaine? (?:train|bus|vol)|quién ganó|cuántos años tiene|próximo (?:tren|vuelo|autobús)
|chi ha vinto|prossimo treno|quem ganhou
|heute|morgen|gestern|jetzt|aktuell|aktuelle[rsmn]?|derzeit|gerade|neueste[rsn]?|letzte[rsn]?|diese woche|wetter
|nachrichten|uhrzeit|wie spät
|aujourd'hui|demain|hier soir|maintenant|actuel|actuelle|actuellement|dernière?s?|récente?s?|météo|actualités
|quelle heure
|hoy|mañana|ayer|ahora|actualmente|últim[oa]s?|reciente|tiempo hace|clima|noticias|qué hora
|hoje|amanhã|ontem|agora|atual|atualmente|mais recente|previsão do tempo|notícias|que horas
|oggi|domani|ieri|adesso|attuale|attualmente|ultim[oiea]|recente|meteo|notizie|che ore
|vandaag|gisteren|huidige|nieuwste|laatste|het weer|nieuws|hoe laat
|dzisiaj|dziś|jutro|wczoraj|teraz|obecnie|najnowsz[yae]|pogoda|wiadomości|która godzina
|idag|imorgon|igår|senaste|väder|nyheter|i dag|i morgen|i går|nyeste
|bugün|yarın|dün|şimdi|şu an|güncel|hava durumu|haberler|saat kaç
"""
_STATES: Final = r"""
(?:is|are|isn't|aren't) [^?!]* (?:down|up|online|offline|back|back up|finished|done|ready|complete|completed|running
|working|live|released|out|available|deployed|merged|failing|green|red|over|dead|alive|passing|broken|stuck|full|free
|empty|busy|in stock|sold out|here|there|home|awake|late|delayed|on time|cancelled|canceled|closed|open|healthy
|reachable|responding|slow|winning|losing|married|single|in office|in power)(?: (?:again|already|there|here))?
[ ]*(?:$|[?.!])
|(?:did|has|have|hasn't|didn't) (?:the|my|our|your|this|that|all|any|every) [^?!]*(?:finish|succeed|pass|fail
|complete|arrive|start|land|merge|ship|crash|deploy|run|gone|went|go|end|stop|come|win|won|change)(?:e?d|p?ed)?
[ ]*(?:$|[?.!])
"""
"""Questions about the state of something: "is the build done", "did the tests pass"."""

_SCRIPTS: Final = (
    r"сегодня|завтра|вчера|сейчас|теперь|текущ|последн|нынешн|погод|новост|который час"
    r"|今天|明天|昨天|现在|現在|目前|最新|最近|天气|天氣|新闻|新聞|几点|今日|明日|昨日|今の|天気|ニュース|何時"
    r"|오늘|내일|어제|지금|현재|최신|최근|날씨|뉴스|몇 시"
    r"|आज|कल|अभी|मौसम|ताज़ा|समाचार"
    r"|اليوم|غدا|أمس|الآن|حاليا|الطقس|أخبار"
)


def _compile_words() -> Any:
    options = re2_options(32 << 20, case_sensitive=False)
    words, states = (table.strip().replace("\n", "") for table in (_WORDS, _STATES))
    begins = r"(?:^|[.,;:!?()\n-])\s*(?:so |and |hi |hey |ok |but )?"
    return re2.compile(rf"(?:^|[^\pL\pN])(?:{words})(?:$|[^\pL\pN])|{begins}(?:{states})|{_SCRIPTS}", options)


_MOMENTS: Final = _compile_words()
_PROCEDURE: Final = re2.compile(
    r"(?i)\bhow (?:do|can|could|should|would) (?:i|we|you|one)\b|\bhow (?:to|is|are)\b|\bhow can .* be\b"
    r"|,\s*how\s*[?.!]*$"
)
_STANDING: Final = re2.compile(
    r"(?i)\b(?:currently|current|most recent|recent|last|latest|newest|up[ -]to[ -]date|right away"
    r"|(?:my|our) (?:calendar|schedule|appointments?|meetings?|order|package|parcel|balance))\b|\.now\b"
)
"""Words of ``_WORDS`` that do not make a how-to question change with time: "how do I undo the last commit"."""


def is_of_the_moment(text: str) -> bool:
    """Return whether the answer to the question ``text`` changes with time, judged by the words of the question
    ("today", "latest", "who won"). Such answers must not be cached.

    In a question that asks how to do something, some words do not count ("how do I undo the last commit"). A text of
    more than ``READ_MAX`` characters counts as changing. Linear time.
    """
    if len(text) > READ_MAX:
        return True
    if _PROCEDURE.search(text) is not None:
        text = _STANDING.sub("", text)
    return _MOMENTS.search(text) is not None
