"""How people who work beside an assistant tell it, in passing and in few words, what they did, what they will do and
what is wrong. Read after all other rows: these are the least formal ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from .rule import Act
from .rule import user_rule as _rule

_DAY: Final = (
    r"(?:(?:on |by |till |until |this |next |coming |or |and )*(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satur|sun)"
    r"(?:day)?s?|tomorrow|tonight|later(?: today| this week| on)?|next (?:week|month|sprint|time|year|release)"
    r"|this (?:afternoon|evening|weekend|week)|(?:at|on|over) the weekend|in the (?:morning|evening|afternoon)"
    r"|the \d+(?:st|nd|rd|th)|(?:\d{1,2} )?(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]*(?: \d{1,2})?)"
    r"(?: (?:morning|afternoon|evening|night|noon|at \d[\d:.]*|\d{1,2}:\d\d))?)"
)
_WHEN: Final = (
    rf"(?:{_DAY}|(?:once|after|when|as soon as|before|with|at) (?:the |we |i |it |that |he |she |they "
    r"|you )?(?:deploy\w*|release|redesign|standup|stand-up|meeting|lunch|holidays?|vacation|merge\w*|freeze|sprint"
    r"|deck"
    r"|review|\d{1,2}(?::\d\d)?|demo|launch)(?: .{1,20})?)"
)
_PAST: Final = (
    r".*\b(?:was|were|did|had|got|\w{3,}ed|went|came|ran|broke|since|last|yesterday|ago|closed|shut|on holiday|away)\b"
)
_SOMEBODY: Final = r"(?:(?:he|she|they|the (?:team|boss|office|board|admins?)) (?:will |'ll )|(?-i:[A-Z][a-z]{1,12}) )"
_DOES: Final = (
    r"(?:rewrites|writes|prints|runs|checks|looks (?:at|into)|handles|takes (?:care|over)|drafts|reviews|sends|does"
    r"|makes|brings|orders|books|builds|tests|fixes|deploys|signs(?: off)?|approves|asks|calls|prepares|updates|merges"
    r"|wants to (?:look|check|review|test|see|read|sign|approve))"
)
_ORDERED_MIND: Final = (
    r"(?:see|be|talk|think|tell you|ask you|let you|get back|come back|need|want|have to|use|go with|take|stick|try to"
    r"|know|call it|say|admit|add that|wait|live with|survive|keep|stay|skip|leave|pass|trust|assume|guess"
    r"|never|not|explain|paste|show you"
    r"|give you)\b"
)

AHEAD_CASUAL: Final = (
    _rule(
        "will",
        Act.LATER,
        r"(?:(?:i|we)(?:'ll|ll| will|'m going to| am going to|'re going to| are going to) |will )(?:then |also |just "
        r"|first |still |probably )*(?P<label>[a-z]+ .{3,})",
        0.65,
        "I'll open a ticket for the printer",
        "I'll see you on Monday then",
        unless=rf"(?:(?:i|we)(?:'ll|ll| will|'m going to| am going to|'re going to| are going to) |will )(?:then |also "
        rf"|just |first |still |probably )*{_ORDERED_MIND}",
    ),
    _rule(
        "mine",
        Act.LATER,
        r"(?P<label>(?:the |that )?[\w'./-]+(?: [\w'./-]+){0,6}) (?:is|are|'s) (?:still )?(?:mine|ours|on me|on us"
        r"|my job"
        r"|up to me|to do|to be done|not (?:done|finished|started|pushed|deployed|merged"
        r"|written)(?: yet)?)(?:[,;].*)?$",
        0.7,
        "the cover letter is on me",
        "the fault is mine, sorry about the noise and everything else that I did",
        unless=r"(?:the )?(?:fault|mistake|bad|error|idea|opinion|that|this|it|what|nothing|everything) ",
    ),
    _rule(
        "at_time",
        Act.LATER,
        rf"(?P<label>(?:[\w'./#@\"-]+,? ){{1,9}}?{_WHEN})$",
        0.65,
        "prod deploy after standup at 10",
        "the shop was closed on Monday",
        unless=rf"{_PAST}|(?:it|it's|that|this|see|until|since|thanks|good|not|hi|hello|have a|which|what"
        r"|looking forward) "
        r"|(?:i'm|i am|we're|we are) (?:\w+ )?(?:trying|considering|wondering|new|worried|nervous|excited|thinking)\b"
        r"|(?:.* )?"
        r"(?:fails?|breaks?|starts?|happens?|runs|due|is|are|comes|opens|closes|shows?|dies|works?) (?:on |at |every )"
        r"|.*\b(?:isn't|aren't|doesn't|don't|can't|won't|lasts?|usually|always|normally|never)\b",
    ),
    _rule(
        "somebody_does",
        Act.LATER,
        rf"(?P<label>{_SOMEBODY}(?:also |then |first |still |will )*{_DOES}\b.*)",
        0.6,
        "Irina rewrites the chapter about cats",
        "she says it is fine",
        unless=r"(?-i:It|This|That|There|What|Which|Who|Then|Now|And|So|But|The|He|She|They)\b ?(?:is|runs|does|sends"
        r"|checks|takes|makes|handles|calls|builds|tests|updates)?\b.*\b(?:always|every|each|whenever|usually)\b"
        r"|.*\bmakes? (?:\w+ ){0,2}?sense\b|(?:it|this|that|there|what|which|who) ",
    ),
    _rule(
        "left_lying",
        Act.LATER,
        r"(?:(?:i|we)(?:'ve| have)? )?(?:haven't|have not|havent|didn't|not) (?:yet )?(?:gotten|got|come|managed"
        r"|found time)"
        r" (?:around )?to (?P<label>.{4,}?)(?: yet)?$",
        0.7,
        "haven't gotten to the release notes yet",
        "haven't seen it",
    ),
    replace(
        _rule(
            "list_of_work",
            Act.LATER,
            r"(?:(?:and |also )*(?:(?:things?|stuff|points?|items?|notes?) (?:for|to do)\b.{0,30}|on (?:my"
            r"|our|the) (?:list"
            r"|plate|agenda|desk).{0,25}|(?:one more |another |my |our |a |new )?(?:to-?do"
            r"|reminder)s?(?: (?:for|on) .{1,20})?"
            r"|before (?:we |the |going |go-?)?(?:go|going|live|release|launch|deploy\w*|opening)(?:[ -]live)?"
            r"|(?:for |by |on )?(?:next week|tonight|this (?:afternoon|evening|week)|(?:mon|tues|wednes|thurs|fri|satur"
            r"|sun)day)(?: .{1,15})?)): (?P<label>.{4,})",
            0.75,
            "things for the review: alt texts, a sitemap",
            "things got worse: nothing loads",
        ),
        explicit=True,
    ),
    _rule(
        "still_is",
        Act.LATER,
        r"(?:what(?:'s| is) (?:still )?(?:left|missing|open|on me)[^:]{0,20}: ?|(?:still )?(?:to do|todo|open"
        r"|missing|left"
        r"|outstanding|remaining|pending): ?)(?P<label>.{4,})",
        0.75,
        "what is still open: the invoice template",
        "what is left: nothing",
        unless=r".*: ?(?:nothing|none|no)\b",
        whole=True,
    ),
)

_DID: Final = (
    r"(?:[a-z]{2,}(?:[^aeious\W]ed|[aiou]ed|eed)|put|cut|set|sent|told|made|built|wrote|written|ran|drew|shot|bought"
    r"|brought|got|took|gave|did|left|hung|swept|cast|fed|paid|laid|sold|went through|redid|rebuilt|rewrote|reran"
    r"|undid|split|shut)"
)
_NOT_DID: Final = (
    r"(?:need|speed|indeed|feed|seed|embed|exceed|succeed|proceed|red|used|based|compared|related|limited|supposed"
    r"|wanted"
    r"|needed|liked|loved|hated|noticed|thought|wondered|hoped|expected|preferred|decided|agreed|talked|failed|crashed"
    r"|happened|seemed|looked|turned out|missed|assumed|forgotten|confused|tired|worried|interested|bored|allowed"
    r"|unused"
    r"|needed|trusted|asked for|asked why|got (?:an?|the same|this|that|it|to|no|nothing|wrong|stuck|lost|worse|better"
    r"|rid)|took (?:me|us|\d|a while|long|ages|forever)|made (?:me|no|sense|it|up)|did(?:n't| not| you| it)"
    r"|gave (?:me|us|up|an)|left (?:is|are|to|over|out)|read (?:that|about|somewhere|the docs)|told (?:me|us|you)"
    r"|set (?:of|by|to be)|put (?:off|differently|simply|that way"
    r"|another way)|sent (?:me|us)|mixed|advanced|nested|detailed|shared|fixed-"
    r"|hundred|kindred|sacred|naked|wicked|rugged|weed|breed|greed|deed|freed|bed|fed up|led|wed|shed|sped|bleed|bred)"
)

DONE_CASUAL: Final = (
    _rule(
        "did_that",
        Act.CLAIM,
        r"(?:(?:i|we)(?:'ve| have)? )?(?:did|done|made|tried|took care of) (?:it|that|this|so|both|all (?:of it"
        r"|three|two"
        r"|that))(?: (?:now|too|as well|already|just now|yesterday|today|for .{3,30}|with .{3,40}|in .{3,40}))*"
        r"(?:[,;:!.-].*)?$",
        0.75,
        "did that, with the long screws",
        "done that way it would take ages, I think, and nobody knows",
    ),
    _rule(
        "ed",
        Act.CLAIM,
        rf"(?P<label>{_DID}(?: (?:the|a|an|all|both|it|them|this|that|my|our|up|out|off|down|back|on|over|in|to"
        rf"|with|from"
        r"|\d+|some|every|each|another|two|three|four|five)\b.{2,}| (?:[\w'\"`./#-]+ ){1,4}(?:to|in|into|on|with"
        r"|from|at|by)\b .+))$",
        0.6,
        "soldered the second capacitor",
        "need the second capacitor",
        unless=rf"{_NOT_DID}\b",
    ),
)

_BAD: Final = (
    r"(?:empty|missing|lost|gone|wrong|broken|stale|stuck|twice|doubled|duplicated?s?|garbage|blank|nil|nan|unreadable"
    r"|too (?:slow|late|high|low|long|short|big|small|dark|loud|few|many|much|early|large|wide|narrow|old)"
    r"|out of (?:date"
    r"|sync|memory|space|order)|made up|invented|backwards|upside down|reversed|swapped|truncated|cut off|off by .+"
    r"|nowhere|illegible|invalid|incomplete|unreachable|unresponsive|useless|a mess|all over the place|not the same"
    r"|double|overdue|expired|denied|refused|rejected|bounced|blocked|locked|pinned at .+|full|nonsense|gibberish)"
)
_THING: Final = (
    r"(?:(?:the|our|my|his|her|their|this|that|these|those|some|all|half|most|every) )?(?:[\w@.,'`/()+#\"-]+ ){1,9}?"
)
_NO_THING: Final = (
    r"(?:i|we|you|he|she|if|when|what|which|why|how|where|who|not|never|sure|maybe|once|unless|let|please|make|use"
    r"|don't"
    r"|dont|nothing is|no)\b"
)

WRONG_CASUAL: Final = (
    _rule(
        "is_bad",
        Act.COMPLAINT,
        rf"(?P<label>{_THING}(?:is|are|was|were|'s|'re|comes? out|came out|shows? up|ends? up|ended up|stays?"
        rf"|looks?|reads?"
        rf"|seems?|gets?|goes|went|arrives?) (?:now |still |just |all |always |completely |half |often |sometimes "
        rf"|suddenly "
        rf"|again |also )*{_BAD}\b.*)",
        0.7,
        "the chart is empty offline",
        "is the trash empty",
        unless=_NO_THING,
    ),
    _rule(
        "gives_bad",
        Act.COMPLAINT,
        rf"(?P<label>{_THING}(?:shows?|showed|gives?|gave|returns?|returned|prints?|printed|says?|displays?"
        rf"|contains?|counts?"
        r"|counted|takes?|took|reports?|sends?|sent|lists?|throws?|throwing|gets?|got|has|puts?|picks?"
        r"|uses?) (?:me |us "
        r"|now |still |always |only |just |all )*(?:the |an? |every )?(?:older|wrong|stale|garbage|nothing|twice"
        r"|0 (?:rows"
        r"|results?)|nil|null|nan|negative|empty|blank|random|duplicates?|double|boxes|question marks|50[0-4]s?"
        r"|40[0-9]s?"
        r"|errors?|forever|ages|nonsense|same .+ twice|old (?:one|data|value|version|name)s?)\b.*)",
        0.7,
        "the monthly report gives us garbage",
        "the page shows the newest ones",
        unless=_NO_THING,
    ),
    _rule(
        "nothing_happens",
        Act.COMPLAINT,
        r"(?P<label>(?:.{0,60} )?nothing (?:happens|shows|comes|arrives|works|changes|appears|prints|loads|in"
        r"|at all)\b.*"
        r"|.{0,60}\bforever$|.{0,60}\b(?:it|that|this|they|which) never (?:hits?|works?|comes?|arrives?|runs?|fires?"
        r"|finishes|ends?|stops?|shows?|happens?)\b.*|(?:\w+ ){1,4}(?:sees|gets|shows|finds) nothing\b.*)",
        0.65,
        "I press the button and nothing happens",
        "nothing in particular",
        unless=r"nothing in particular",
    ),
)
