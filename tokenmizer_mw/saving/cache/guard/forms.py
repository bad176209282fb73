"""English word forms: contractions, irregular forms, and function words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def words(text: str) -> frozenset[str]:
    """Return the distinct words of ``text``, a list of words separated by white space."""
    return frozenset(text.split())


def _pairs(table: str) -> dict[str, str]:
    rows = (row.partition(":") for row in table.split(";"))
    return {form: base.strip() for base, _, forms in rows for form in forms.split()}


CONTRACTIONS: Final[Mapping[str, str]] = _pairs(
    """
do not: won't; do not: wont; can not: can't; can not: cant; can not: cannot; shall not: shan't; be not: ain't; let us:
let's; i am: i'm; i am: im; i have: ive; what is: whats; how is: hows; where is: wheres; who is: whos; do not: dont;
does not: doesnt; did not: didnt; is not: isnt; are not: arent; was not: wasnt; have not: havent; has not: hasnt;
could not: couldnt; should not: shouldnt; would not: wouldnt; going to: gonna; want to: wanna; have to: gotta; you: u;
your: ur; please: pls; please: plz; thanks: thx; thanks: ty; because: cuz; because: coz; the: teh; by the way: btw; i
do not know: idk; can not: unable
"""
)
"""Full form of each contraction, also of those typed without an apostrophe ("dont")."""

ENDINGS: Final[Mapping[str, str]] = {
    "n't": "not", "'re": "are", "'ve": "have", "'d": "would", "'ll": "will", "'m": "am",
}  # fmt: skip

OPENERS: Final = words("what who how where when why that there it he she here")
"""Words behind which "'s" is short for "is" ("what's"). Behind others it names an owner ("Anna's")."""

IRREGULAR: Final = _pairs(
    """
be: am is are was were been being; do: does did done doing; have: has had having; go: goes went gone going; get: gets
got gotten getting; make: makes made making; take: takes took taken taking; give: gives gave given giving; come: comes
came coming; see: sees saw seen seeing; know: knows knew known knowing; think: thinks thought thinking; find: finds
found finding; tell: tells told telling; say: says said saying; keep: keeps kept keeping; leave: leaves left leaving;
lose: loses lost losing; win: wins won winning; buy: buys bought buying; sell: sells sold selling; send: sends sent
sending; spend: spends spent spending; build: builds built building; write: writes wrote written writing; read: reads
reading; speak: speaks spoke spoken speaking; break: breaks broke breaking; freeze: freezes froze frozen freezing;
choose: chooses chose chosen choosing; drive: drives drove driven driving; eat: eats ate eaten eating; drink: drinks
drank drunk drinking; run: runs ran running; begin: begins began begun beginning; swim: swims swam swum swimming;
sing: sings sang sung singing; sink: sank sunk; fly: flies flew flown flying; grow: grows grew grown growing; draw:
draws drew drawn drawing; throw: throws threw thrown throwing; fall: falls fell fallen falling; rise: rises rose risen
rising; sleep: sleeps slept sleeping; feel: feels felt feeling; teach: teaches taught teaching; catch: catches caught
catching; bring: brings brought bringing; fight: fights fought fighting; forget: forgets forgot forgotten forgetting;
steal: steals stole stolen stealing; hide: hides hid hidden hiding; pay: pays paid paying; lend: lends lent lending;
die: dies died dying; lie: lies lying; child: children; person: people persons; man: men; woman: women; foot: feet;
tooth: teeth; mouse: mice; leaf: leaves; knife: knives; life: lives; wife: wives; half: halves; shelf: shelves; loaf:
loaves; potato: potatoes; tomato: tomatoes; hero: heroes
"""
)

UNCHANGED: Final = words(
    """news series species means sales glasses customs goods arms times windows always this his its us plus thus
    bus gas lens glass class pass less unless across address process access business success miss boss cross press
    physics maths ethics politics economics mathematics status focus virus bonus basis analysis crisis canvas atlas
    christmas texas paris james during evening morning nothing something anything everything string king ring thing
    spring wing ceiling wedding building need speed seed feed red bed shed led hundred indeed embed kubernetes redis
    https aws css dns sms gps ios tls ssl js ts os rss his yes as is was has does indices hardly lately nearly
    scarcely likely family reply apply supply rely italy july ugly ally early daily weekly monthly yearly hourly
    only fly united pants jeans scissors headphones"""
)
"""Words that look like inflected forms and are none: "news" is not the plural of "new"."""

CONNECTING: Final = words(
    """a an the be do have am is are was were been being does did has had i me my mine myself you your yours yourself
    we us our ours one it its this that these those they them their there here who whom which and or of in on at to
    for with by from as about into onto upon if whether while than then so such some any will shall would let still
    already yet per etc eg ie using he him his she her hers"""
)
"""Function words, which are not compared as words. Some of them still say something about the word behind them, see
``PLACING``."""

PLACING: Final[Mapping[str, str]] = _pairs(
    """
to: to into onto; from: from; of: of about; in: in; on: on upon; at: at; for: for; with: with using; by: by; than: than;
as: as; over: over; before: before; after: after; without: without; against: against; under: under; instead: instead;
during: during
"""
)
"""Words that tell the role of what follows, with the preposition for which each stands ("into" for "to")."""

OPPOSED: Final = frozenset(
    frozenset(pair.split("/"))
    for pair in words("from/to from/for from/with by/of by/for by/to by/at by/in as/to as/from with/for in/on in/for")
)
"""Pairs of prepositions that are not interchangeable: "from Berlin" is not "to Berlin"."""

QUESTION_VERBS: Final = words(
    "is are am was were do does did has have had can could should may might must will would shall"
)
"""Words with which a question begins that is answered by yes or no."""

BEING: Final = words("be is are am was were been being")
DENIALS: Final = frozenset({"not", "no", "never", "without", "nor", "neither", "none", "nobody", "nothing", "except"})

BREAKS: Final = frozenset({"but", "and", "or", "because", "vs", "if", "while", "when", "so", "then"})
"""Words that end the part of a sentence to which a denial applies."""

PAST: Final = words("was were did had")
PRESENT: Final = words("is are am do does has have")
FUTURE: Final = words("will shall")

ENGLISH: Final = words(
    """the how what why where when who which is are was were does did can could should would my your with this that and
    from into please show tell explain give list write translate convert summarize compare recommend help delete have
    not between there their it you i to of for in do a an about"""
)
"""Words by which a text is recognised as English."""

NUMBERS: Final = _pairs(
    """
0: zero; 2: two twice; 3: three; 4: four; 5: five; 6: six; 7: seven; 8: eight; 9: nine; 10: ten; 11: eleven; 12: twelve
dozen; 13: thirteen; 14: fourteen; 15: fifteen; 16: sixteen; 17: seventeen; 18: eighteen; 19: nineteen; 20: twenty;
30: thirty; 40: forty; 50: fifty; 60: sixty; 70: seventy; 80: eighty; 90: ninety; 100: hundred; 1000: thousand;
1000000: million
"""
)
"""The number of each number word. "One" is not among them, because it seldom is a number: "which one"."""

SUPERLATIVES: Final = words(
    """biggest largest smallest fastest slowest highest lowest tallest longest shortest best worst oldest newest
    cheapest easiest deepest nearest closest hottest coldest youngest widest strongest"""
)
"""Superlatives that may stand before their noun or at the end: "the highest mountain",
"which mountain is the highest"."""

ADVERBS: Final = words("automatic permanent manual remote temporary fast slow again twice")
"""Meanings (base forms) of words that may stand anywhere in a question: "automatically"."""
