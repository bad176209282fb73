"""Rules for assistants' sentences: finished work, announced work, proposals, work that is left to the user, and choices
made while carrying out an order."""

from __future__ import annotations

from typing import Final

from .rule import Act, Rule, Speaker
from .verbs import DONE_VERBS, WHEN_DONE, WORK_VERBS

_I: Final = r"(?:(?:i|we)(?:'ve| have)?(?: now| also| just| successfully| already| since)? )"


def _rule(
    name: str,
    act: Act,
    pattern: str,
    confidence: float,
    example: str,
    counter: str,
    *,
    unless: str = "",
    whole: bool = False,
) -> Rule:
    return Rule(f"assistant.{name}", Speaker.ASSISTANT, act, pattern, confidence, example, counter, unless, whole)


CLAIMS: Final = (
    _rule(
        "i_fixed",
        Act.FIX,
        rf"{_I}?(?:fixed|resolved|solved|patched|corrected|repaired) (?P<label>.{{3,}})",
        0.8,
        "I've fixed the off-by-one error in the paginator",
        "Fixing this takes a while",
    ),
    _rule(
        "i_did",
        Act.CLAIM,
        rf"{_I}(?P<label>(?:{DONE_VERBS})\b.{{3,}})",
        0.8,
        "I've added rate limiting to the login route",
        "I have a question about it",
    ),
    _rule(
        "did",
        Act.CLAIM,
        r"(?P<label>(?:successfully |also |now )?(?:added|implemented|created|built|wrote|updated|removed"
        r"|deleted|refactored|renamed|moved|migrated"
        r"|converted|configured|deployed|installed|integrated|extended|improved|optimi[sz]ed|documented"
        r"|extracted|upgraded|ported|rewrote|replaced"
        r"|introduced|enabled|disabled|committed|pushed|applied|switched|simplified|generated)\b .{3,})",
        0.7,
        "Created tests/test_auth.py with 12 tests",
        "Added value is taxed",
        unless=r"(?:added|created|updated|removed|generated|applied|integrated|installed|extended|documented"
        r"|improved) (?:\w+ )?(?:value|by|is|are|was|in the|at|with the|when|from)\b",
    ),
    _rule(
        "is_done",
        Act.CLAIM,
        r"(?P<label>.{3,80}? (?:is|are|got|has been|have been) (?:now |all |successfully |already )*(?:done"
        r"|implemented|complete|completed"
        r"|finished|in place|ready|written|ported|deployed|merged|committed|set up|added|created|updated|removed"
        r"|configured|installed"
        r"|live|wired up|migrated|refactored|modified|moved|reorgani[sz]ed|restructured|renamed|replaced"
        r"|extended|generated|saved|reverted|verified|tested|restored|deleted|there))"
        rf"(?: (?:and|with|in|on|to|now|at|from|as).*|: .*|{WHEN_DONE})?$",
        0.7,
        "The checkout page is now implemented",
        "A task is done when the tests say so and nothing else is left open for anybody in the team to do",
        unless=r"(?:to|once|after|when|before|until|make sure|verify|check|ensure|confirm|that|if|whether"
        r"|nothing|it|this|which|what)\b",
    ),
    _rule(
        "ran",
        Act.CLAIM,
        r"(?P<label>(?:the|your|our|all|both) (?:[\w'`./-]+ ){1,6}?(?:ran|went (?:through|live|out)|succeeded|completed"
        r"|finished|deployed|compiled))(?: (?:through|fine|cleanly|successfully|now|again|overnight|without (?:an? )?"
        r"(?:errors?|problems?|warnings?|issues?|trouble)))*(?:[,;:] .*| (?:and|in|on) .*)?$",
        0.7,
        "The backfill ran without errors",
        "The backfill ran into a deadlock",
        unless=r".*\b(?:when|before|until|if|why|because|that|which|who|once|after|but|not|never|no longer)\b|.*n't\b",
    ),
    _rule(
        "done_bare",
        Act.CLAIM,
        r"(?:all )?(?:done|finished|completed)(?: in (?P<label>[\w./-]+))?(?:[:!,.—–-].*)?$",
        0.75,
        "Done",
        "Done right, this is easy to do",
    ),
)

TAKEN_BACK: Final = (
    _rule(
        "take_back",
        Act.STILL,
        r"(?:(?:you're right|so|right|sorry)[,:;] )?(?:i (?:have to|must|need to) take (?:that|it|this) back"
        r"|i (?:claimed|said|reported|called) (?:that|it|this)(?: \w+)? (?:too (?:early|soon)|prematurely)"
        r"|i (?:spoke|was) too (?:soon|early|quick)|i overstated (?:it|that|this)"
        r"|(?:my|that|the) (?:all-clear|claim|report|statement)? ?was (?:too )?(?:early|premature|wrong))\b"
        r"(?:[:;—–] ?(?P<reason>.+)|.*)",
        0.8,
        "I have to take that back: the lock is still held",
        "I took that back to the shop",
        whole=True,
    ),
)

_SUBJECT: Final = r"(?:only |just |but |however,? |unfortunately,? |sadly,? )*[^,;:()?\"]{2,80}?"
_NOT_NEWS: Final = (
    r"(?:if|when|whenever|once|until|unless|because|since|so|let me|let's|why|how|that|this|it|they|which|what|as|while"
    r"|although|even|maybe|perhaps|probably|i see|i think|i suspect|you|see|check|make sure)\b"
    r"|.*\b(?:if|whether|why|how|when|whenever|unless|would|might|could|may|should|will|was still|were still|used to"
    r"|so that)\b"
)
"""Sentences that suppose or explain something, or announce that the assistant looks into it."""


def _bad_news(name: str, act: Act, pattern: str, example: str, counter: str, *, unless: str = _NOT_NEWS) -> Rule:
    return Rule(
        f"assistant.{name}", Speaker.ASSISTANT, act, pattern, 0.8, example, counter, unless, whole=True, explicit=True
    )


BAD_NEWS: Final = (
    _bad_news(
        "still_fails",
        Act.COMPLAINT,
        rf"(?P<label>{_SUBJECT} (?:(?:is|are)? ?still (?:fail(?:s|ing)?|crash(?:es|ing)?|hang(?:s|ing)?|break(?:s|ing)?"
        r"|times? out|timing out|leak(?:s|ing)?|red|broken|down|wrong|unreachable|(?:returns?|gives?|shows?|throws?)"
        r" (?:an? |the )?(?:old|wrong|blank|empty|nothing|errors?|[45]\d\d))|(?:remains?|stays?) (?:red|broken|down"
        r"|failing|unreachable|wrong)|still (?:doesn't|does not|don't|do not|can't|cannot|won't) \w+"
        r"|(?:doesn't|does not|don't|do not) (?:work|pass|run|compile|build|start) yet)\b.*)",
        "The nightly import still times out",
        "Let me see why the nightly import still times out",
    ),
    _bad_news(
        "not_done",
        Act.LATER,
        rf"(?P<label>{_SUBJECT} (?:(?:is|are)(?:n't| not)(?: yet)?|(?:has|have)(?:n't| not)(?: yet)?(?: been)?)"
        r"(?: fully| completely| quite)? (?:done|finished|complete|completed|ready|written|implemented|ported|migrated"
        r"|translated|merged|deployed|tested|started|wired up)(?: yet)?(?:,? (?:because|as|since|until|so) .*)?)$",
        "The invoice page is not finished yet because the tax rates are missing",
        "When the invoice page is not finished, it shows a banner",
        unless=rf"{_NOT_NEWS}|(?:i|we)\b|(?:no|none|nothing)\b",
    ),
)
"""Rules for sentences in which an assistant reports that something fails or was not done."""

PROGRESS: Final = (
    _rule(
        "working",
        Act.PROGRESS,
        r"(?:i'm |we're |i am |we are )?(?:now |currently |still )*(?:working on|implementing|adding|building"
        r"|updating|starting(?: with)?|continuing with)"
        r" (?P<label>.{3,})",
        0.6,
        "I'm now working on the retry logic",
        "Working with dates is hard",
    ),
)

_YOURS: Final = (
    rf"(?:{WORK_VERBS}|(?:restart|reload|run|re-?run|try|retry|enable|set|open|log ?in|sign|grant|approve|check|verify"
    r"|confirm|test|rebuild|re-?comment|uncomment|copy|paste|refresh|clear|push|pull|merge|deploy|rotate|revoke"
    r"|regenerate"
    r"|authenticate|authori[sz]e|wait|provide|build|commit|reboot|invite|upload|buy|call|sign) )"
)

HANDOVERS: Final = (
    _rule(
        "you_need_to",
        Act.HANDOVER,
        r"(?:(?:then|now|next|first|finally|however|also|(?:for|after|before|to) [^,]{3,60}),? )?(?:you(?:'ll| will)?"
        r" (?:still |now |just |also |only |first )*(?:need|have) to|you must(?: now| still)?|don't forget to"
        r"|(?:please )?"
        r"remember to|(?:we|i)(?:'ll| would| will| still|'d)? (?:still )?need to)"
        rf" (?:successfully )?(?P<label>(?:{_YOURS}).{{2,}})",
        0.6,
        "You'll need to restart the worker for this to take effect",
        "You need to know the basics",
    ),
    _rule(
        "exposed",
        Act.LATER,
        r"(?:.{0,80}?[,;:(] ?)?(?:(?:and|also|please|but|you should|i'd|i would|do|one thing|don't forget to"
        r"|remember to) )*(?P<label>(?:rotate|roll|revoke|change|reset|replace|regenerate|invalidate"
        r"|renew) (?:that|the|this"
        r"|your|both|these|those|all) (?:[\w-]+ ){0,3}?(?:tokens?|keys?|passwords?|secrets?|credentials?|values?"
        r"|passphrases?)\b.*(?:shared|pasted|posted|leaked|exposed|in (?:a|the|this|our) (?:chat"
        r"|conversation|log|history"
        r"|repo\w*|commits?)|in git|when you (?:have|get)|as soon as|first|soon|afterwards|now)\b.*)",
        0.7,
        "And roll that token when you have a minute, it's now in this conversation",
        "Change the key of the map to the city's name",
    ),
    _rule(
        "not_yet",
        Act.HANDOVER,
        r"(?P<label>(?:i|we) (?:haven't|have not)(?: yet)? (?:pushed|committed|deployed|run|tested|verified|merged"
        r"|published"
        r"|released|built|updated|migrated|touched|added|removed|restarted)\b.*)",
        0.6,
        "I haven't pushed yet",
        "I haven't seen that before",
    ),
    _rule(
        "unverified",
        Act.HANDOVER,
        r"(?:.{3,120}? )?(?:so |therefore |but )?(?P<label>(?:the |my |this )[\w -]{2,40} (?:could not|couldn't"
        r"|cannot|can't"
        r"|has not been|hasn't been|is not yet|isn't yet) (?:be )?(?:verified|tested|built|run|confirmed"
        r"|deployed))\b.*",
        0.6,
        "The compiler is missing, so the fix could not be verified",
        "the file cannot be opened",
    ),
)

PROPOSALS: Final = (
    _rule(
        "suggest",
        Act.PROPOSAL,
        r"(?:i|we)(?:'d| would)? (?:suggest|recommend|propose|go (?:with|for)|use|pick|choose|prefer"
        r"|lean towards?|advise)(?: to| you| using| going with"
        r"| that (?:we|you)(?: use)?)* (?P<label>.{3,})",
        0.55,
        "I'd recommend Postgres for this",
        "I used to like it",
    ),
    _rule(
        "my_pick",
        Act.PROPOSAL,
        r"(?:my|the) (?:recommendation|suggestion|pick|advice|vote|preference|proposal)(?: is| would be"
        r"|:)(?: to)?(?: use| go with)? (?P<label>.{3,})",
        0.55,
        "My recommendation is SQLite",
        "My recommendation depends on the load",
    ),
    _rule(
        "want_me",
        Act.PROPOSAL,
        r"(?:do you )?(?:want|would you like|like)(?: me)? to (?P<label>.{3,}?)\??$|(?:should|shall) (?:i"
        r"|we) (?:also )?(?P<reason>.{3,}?)\??$",
        0.5,
        "Shall I write the tests first?",
        "Should the button be blue?",
    ),
)

ORDERS: Final = (
    _rule(
        "will_use",
        Act.CHOICE,
        r"(?:i'll|i will|we'll|we will|let's|i'm|we're) (?:use|using|go with|go for|stick with|keep"
        r"|adopt) (?P<label>.{2,})",
        0.6,
        "I'll use SQLAlchemy for the models",
        "I'll have a look",
    ),
    _rule(
        "will_do",
        Act.PROGRESS,
        rf"(?:i'll|i will|i'm going to|let me|i am going to|we'll)(?: now| first| also| start by| begin by"
        rf"| go ahead and)* (?P<label>(?:{WORK_VERBS}|rebase|re-?run|roll out|wire up|hook up).{{2,}})",
        0.55,
        "I'll add the endpoint now",
        "I'll be brief",
    ),
)
