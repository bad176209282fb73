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
