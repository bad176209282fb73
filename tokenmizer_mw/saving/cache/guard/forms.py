"""English word forms: contractions, irregular forms, and function words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .listing import words


def _pairs(table: str) -> dict[str, str]:
    rows = (line.partition(":") for line in table.strip().splitlines())
    return {form: base.strip() for base, _, forms in rows for form in forms.split()}


CONTRACTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "won't": ("do", "not"),
    "wont": ("do", "not"),
    "can't": ("can", "not"),
    "cant": ("can", "not"),
    "cannot": ("can", "not"),
    "shan't": ("shall", "not"),
    "ain't": ("be", "not"),
    "let's": ("let", "us"),
    "i'm": ("i", "am"),
    "im": ("i", "am"),
    "ive": ("i", "have"),
    "whats": ("what", "is"),
    "hows": ("how", "is"),
    "wheres": ("where", "is"),
    "whos": ("who", "is"),
    "dont": ("do", "not"),
    "doesnt": ("does", "not"),
    "didnt": ("did", "not"),
    "isnt": ("is", "not"),
    "arent": ("are", "not"),
    "wasnt": ("was", "not"),
    "havent": ("have", "not"),
    "hasnt": ("has", "not"),
    "couldnt": ("could", "not"),
    "shouldnt": ("should", "not"),
    "wouldnt": ("would", "not"),
    "gonna": ("going", "to"),
    "wanna": ("want", "to"),
    "gotta": ("have", "to"),
    "u": ("you",),
    "ur": ("your",),
    "pls": ("please",),
    "plz": ("please",),
    "thx": ("thanks",),
    "ty": ("thanks",),
    "cuz": ("because",),
    "coz": ("because",),
    "teh": ("the",),
    "btw": ("by", "the", "way"),
    "idk": ("i", "do", "not", "know"),
    "unable": ("can", "not"),
}
"""Short forms, also such as people type without an apostrophe."""

ENDINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "n't": ("not",),
    "'re": ("are",),
    "'ve": ("have",),
    "'d": ("would",),
    "'ll": ("will",),
    "'m": ("am",),
}

OPENERS: Final = words("what who how where when why that there it he she here")
"""Words behind which "'s" is short for "is"; behind others it says whose."""

IRREGULAR: Final = _pairs(
    """
be: am is are was were been being
do: does did done doing
have: has had having
go: goes went gone going
get: gets got gotten getting
make: makes made making
take: takes took taken taking
give: gives gave given giving
come: comes came coming
see: sees saw seen seeing
know: knows knew known knowing
think: thinks thought thinking
find: finds found finding
tell: tells told telling
say: says said saying
keep: keeps kept keeping
leave: leaves left leaving
lose: loses lost losing
win: wins won winning
buy: buys bought buying
sell: sells sold selling
send: sends sent sending
spend: spends spent spending
build: builds built building
write: writes wrote written writing
read: reads reading
speak: speaks spoke spoken speaking
break: breaks broke breaking
freeze: freezes froze frozen freezing
choose: chooses chose chosen choosing
drive: drives drove driven driving
eat: eats ate eaten eating
drink: drinks drank drunk drinking
run: runs ran running
begin: begins began begun beginning
swim: swims swam swum swimming
sing: sings sang sung singing
sink: sank sunk
fly: flies flew flown flying
grow: grows grew grown growing
draw: draws drew drawn drawing
throw: throws threw thrown throwing
fall: falls fell fallen falling
rise: rises rose risen rising
sleep: sleeps slept sleeping
feel: feels felt feeling
teach: teaches taught teaching
catch: catches caught catching
bring: brings brought bringing
fight: fights fought fighting
forget: forgets forgot forgotten forgetting
steal: steals stole stolen stealing
hide: hides hid hidden hiding
pay: pays paid paying
lend: lends lent lending
die: dies died dying
lie: lies lying
child: children
person: people persons
man: men
woman: women
foot: feet
tooth: teeth
mouse: mice
leaf: leaves
knife: knives
life: lives
wife: wives
half: halves
shelf: shelves
loaf: loaves
potato: potatoes
tomato: tomatoes
hero: heroes
"""
)

UNCHANGED: Final = words(
    """news series species means sales glasses customs goods arms works times windows always this his its us plus thus
    bus gas lens glass class pass less unless across address process access business success miss boss cross press
    physics maths ethics politics economics mathematics status focus virus bonus basis analysis crisis canvas atlas
    christmas texas paris james during evening morning nothing something anything everything string king ring thing
    spring wing ceiling wedding building need speed seed feed red bed shed led hundred indeed embed kubernetes redis
    https aws css dns sms gps ios tls ssl js ts os rss his yes as is was has does indices hardly lately nearly
    scarcely likely family reply apply supply rely italy july ugly ally early daily weekly monthly yearly hourly
    only fly united pants jeans scissors headphones"""
)
"""Words that end like forms of others and are none."""

CONNECTING: Final = words(
    """a an the be do have am is are was were been being does did has had i me my mine myself you your yours yourself
    we us our ours one it its this that these those they them their there here who whom which and or of in on at to
    for with by from as about into onto upon if whether while than then so such some any will shall would let still
    already yet per etc eg ie using he him his she her hers"""
)
"""Words that ask for nothing by themselves. What some of them stand before is looked at (``PLACING``)."""

PLACING: Final[Mapping[str, str]] = {
    "to": "to",
    "into": "to",
    "onto": "to",
    "from": "from",
    "of": "of",
    "in": "in",
    "on": "on",
    "upon": "on",
    "at": "at",
    "for": "for",
    "with": "with",
    "by": "by",
    "than": "than",
    "as": "as",
    "about": "of",
    "using": "with",
    "over": "over",
    "before": "before",
    "after": "after",
    "without": "without",
    "against": "against",
    "under": "under",
    "instead": "instead",
    "during": "during",
}
"""Words that give what follows its place in the sentence."""

OPPOSED: Final = frozenset(
    frozenset(pair.split("/"))
    for pair in words("from/to from/for from/with by/of by/for by/to by/at by/in as/to as/from with/for in/on in/for")
)
"""Places that are not the same for one thing."""

TAKES_VERB: Final = words(
    """how way ways want need needs like able have has trying going step steps ok okay safe possible allowed easy hard
    time best right good idea place required necessary supposed legal illegal used learn learning forgot forget try
    wish love where when what ready afraid advisable wise fine alright difficult much long it me you i we is are was
    procedure process method guide instructions plan planning"""
)
"""Words behind which "to" stands before a verb."""

PLATFORMS: Final = words(
    """linux ubuntu debian fedora windows mac macos android iphone ios ipad computer phone laptop website page server
    machine tv browser chrome firefox instagram facebook youtube"""
)
"""Things that one is on as well as in."""

QUESTION_VERBS: Final = words(
    "is are am was were do does did has have had can could should may might must will would shall"
)
"""Words with which a question begins that is answered by yes or no."""

BEING: Final = words("be is are am was were been being")

UNITS: Final = words(
    """metre kilometre centimetre millimetre litre millilitre gram kilogram pound ounce inch foot mile hour minute day
    week month year cup teaspoon tablespoon gallon pint acre hectare ton tonne byte kilobyte megabyte gigabyte dozen
    dollar euro"""
)
"""Before these "1" is no more than "a"."""

DENIALS: Final = frozenset({"not", "no", "never", "without", "nor", "neither", "none", "nobody", "nothing", "except"})

BREAKS: Final = frozenset({"but", "and", "or", "because", "vs", "if", "while", "when", "so", "then"})
"""Words that end what a denial reaches over."""

PAST: Final = words("was were did had")
PRESENT: Final = words("is are am do does has have")
FUTURE: Final = words("will shall")

ENGLISH: Final = words(
    """the how what why where when who which is are was were does did can could should would my your with this that and
    from into please show tell explain give list write translate convert summarize compare recommend help delete have
    not between there their it you i to of for in do a an about"""
)
"""Words by which a text can be told to be English, together with the lack of words of other languages."""

FOREIGN: Final = words(
    """der das und ist nicht ich mein meine wie kann eine einen mit für auf von wir sie zu auch oder wenn le la les des
    du est une pour dans avec que qui comment pourquoi mon ma mes je puis quel quelle où sur el los las una por para
    con como cómo qué cuál mi puedo es está dónde cuándo un del il gli che come perché posso mio mia della dove
    quando di o os uma não meu minha onde quanto como posso het een niet hoe mijn waar wat zijn wordt kan jak jest
    nie się mogę czy gdzie co hur är och inte jag min kan vad hvordan ikke jeg hvor nasıl ve bir için ne"""
) - {
    "a",
    "an",
    "man",
    "co",
    "come",
    "es",
    "o",
    "la",
    "el",
    "le",
    "con",
    "mi",
    "kan",
    "un",
    "di",
    "os",
    "das",
    "des",
    "min",
}
"""Words that are none in English, or hardly ever."""

NUMBERS: Final = _pairs(
    """
0: zero
2: two
3: three
4: four
5: five
6: six
7: seven
8: eight
9: nine
10: ten
11: eleven
12: twelve dozen
13: thirteen
14: fourteen
15: fifteen
16: sixteen
17: seventeen
18: eighteen
19: nineteen
20: twenty
30: thirty
40: forty
50: fifty
60: sixty
70: seventy
80: eighty
90: ninety
100: hundred
1000: thousand
1000000: million
"""
)
"""Numbers by their names; "one" is mostly none."""

PERSONS: Final = words("he him his she her hers my mine your yours")
"""Whose things, and who else is meant. Who does something and to whom it is done are two."""

CONFUSABLE: Final = words("marital martial casual causal trial trail calvary cavalry united untied")
"""Words of which two swapped letters make another one."""
