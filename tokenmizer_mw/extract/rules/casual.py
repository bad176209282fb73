"""Rules for short, informal remarks in a chat about work: what people did, what they will do, and what is wrong. A
clause is compared with them only if no other rule matches."""

from __future__ import annotations

from typing import Final

from .rule import Act
from .rule import user_rule as _rule

_MONTH: Final = (
    r"jan(?:uary|uar|vier|eiro)?|enero|gennaio|feb(?:ruary|ruar|braio|rero)?|fév(?:rier)?|fevereiro|mar(?:ch|s|zo|ço)?"
    r"|märz|apr(?:il|ile)?|avril|abril|ma[yi]|mayo|maggio|maio|jun[ei]?|juin|junio|junho|giugno|jul[yi]?|juillet|julio"
    r"|julho|luglio|aug(?:ust)?|août|agosto|sept?(?:ember|embre|tembre)?|septiembre|settembre|setembro|o[ck]t(?:ober"
    r"|obre|ubre)?|ottobre|outubro|nov(?:ember|embre|iembre|embro)?|de[cz](?:ember|embre|embro)?|déc(?:embre)?"
    r"|dicembre|diciembre"
)
_DAY: Final = (
    r"(?:(?:on |by |till |until |this |next |coming |or |and )*(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satur|sun)"
    r"(?:day)?s?|tomorrow|tonight|later(?: today| this week| on)?|next (?:week|month|sprint|time|year|release)"
    r"|this (?:afternoon|evening|weekend|week)|(?:at|on|over) the weekend|in the (?:morning|evening|afternoon)"
    rf"|the \d+(?:st|nd|rd|th)|(?:\d{{1,2}} (?:de )?)?(?:{_MONTH})(?: \d{{1,2}})?)"
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
        unless=rf"{_PAST}|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? [a-z]+(?: \d{{4}})?$|(?:it|it's|that|this|see|until|since"
        rf"|thanks|good|not|hi|hello|have a|which|what"
        r"|looking forward) "
        r"|(?:i'm|i am|we're|we are) (?:\w+ )?(?:trying|considering|wondering|new|worried|nervous|excited|thinking)\b"
        r"|(?:.* )?"
        r"(?:fails?|breaks?|starts?|happens?|runs|due|is|are|comes|opens|closes|shows?|dies|works?) (?:on |at |every )"
        r"|.*\b(?:isn't|aren't|doesn't|don't|can't|won't|lasts?|usually|always|normally|never)\b",
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
