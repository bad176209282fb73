"""Patterns for future work: when something will be done, and by whom. Each language has one ``Ahead``. Patterns are
RE2, case ignored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .verbs import BY_HAND

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
_AFTER: Final = (
    r"(?:after|before|once|as soon as|until|till|not before) (?:(?:the|our|my|his|her|their|we|i|it|that"
    r"|this|he|she|they"
    r"|you|there|next|everyone|somebody) )?[\w'-]+(?: [\w'-]+){0,4}"
)
_AT: Final = (
    r"(?:(?:(?:on|by|till|until|from|this|next|before|after|only|first thing|not before|in|over|at|around) )*"
    r"(?:tomorrow(?: morning| night| evening| afternoon)?|tonight|later(?: today| this week| on)?"
    r"|(?:at )?some (?:point|day|time)|someday|one day|eventually"
    r"|next (?:week|month|sprint|time|year|release|quarter|season)|this (?:afternoon|evening|weekend|week)"
    r"|the weekend|the (?:morning|evening|afternoon)|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"(?: morning| night| evening| afternoon)?"
    rf"|the \d{{1,2}}(?:st|nd|rd|th)|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{_MONTHS})"
    rf"|(?:{_MONTHS}) \d{{1,2}}(?:st|nd|rd|th)?)"
    rf"|(?:on|by|till|until|from|for|this|next) (?:{_DAYS})|(?:in|by|until|till|from) (?:{_MONTHS}|q[1-4]|winter|spring"
    r"|summer|autumn|fall)|in (?:a|an|one|two|three|\d+) (?:days?|weeks?|hours?|months?))"
)
_NAMED: Final = r"(?-i:[A-Z][a-z]{1,14})"
_ME: Final = (
    r"(?:i|we)(?:'ll|ll| will|'m going to| am going to|'re going to| have to| need to| must| can)?"
    r"(?: still| also| then| just)*"
)
_OTHERS: Final = (
    rf"(?:{_NAMED}|he|she|they|ops|my [\w-]+|the [\w-]+(?: team)?)(?:'ll| will| can| has to| still| also| then)*"
)
_DO: Final = (
    r"(?:do|does|handle|handles|fix|fixes|write|writes|rewrite|rewrites|send|sends|ask|asks|tell|tells|check|checks"
    r"|finish|finishes|call|calls|run|runs|print|prints|bring|brings|test|tests|clean up|cleans up|look (?:at|into)"
    r"|looks (?:at|into)|see to|sees to|take care of|takes care of|talk to|talks to|put|puts|add|adds|sort out"
    r"|sorts out|review|reviews|move|moves|order|orders|arrange|arranges|prepare|prepares)"
)
_IT: Final = r"(?:that|it|this|these|those|them|him|her|the rest|both)(?: one| bit| part| too)?"
_TAIL: Final = (
    r"(?:,? (?:myself|together with .{2,30}|ourselves|then|later|too|soon|when i can"
    rf"|{_AT}|{_EVENT}|(?:in|on|with) .{{2,30}}))*"
)


@dataclass(frozen=True, slots=True)
class Ahead:
    """The phrases of one language for future work. () and "" mean that the language has no such phrases.

    - ``hands``: whole clauses that only say when or by whom something named before is done ("I do that after lunch").
    - ``times``: whole clauses of little more than a time ("after lunch"). They say when something is done only as an
      answer.
    - ``plans``: beginnings of clauses that name work somebody will do, unless ``past`` matches the clause too.
    - ``left``: beginnings of clauses that name work as not done yet.
    - ``habit``: beginnings of clauses about habits, which are no plans.
    - ``hollow``: beginning of a clause of ``hands`` that names nothing: "I do that" of "I do that after lunch".
    - ``lead``: beginning of a clause of ``plans`` or ``left`` before the work: "remind me to".
    - ``code``: code of the language. ``examples``: sentences that announce or postpone work; ``counters``: similar ones
      that do not. A test checks both.
    """

    code: str
    hands: tuple[str, ...]
    plans: tuple[str, ...]
    left: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    hollow: str = ""
    lead: str = ""
    past: str = ""
    habit: str = ""
    examples: tuple[str, ...] = ()
    counters: tuple[str, ...] = ()


_ENGLISH_WHEN: Final = rf"(?:{_AT}|{_EVENT})"
_SET: Final = (
    rf"(?:{_AT}|(?:after|before|once|as soon as|with|when) (?:(?:the|our|my|his|her|their|we|i|it|that|this|he|she|they"
    r"|you|next) )?(?:\w+ )?(?:deploy\w*|releas\w*|redesign|stand-?up|meeting|lunch|holidays?|vacation|merge\w*|freeze"
    r"|sprint|deck|review\w*|demo|launch|have|has|is done|are done|is through|is over|is out|are in|is in|is live"
    r"|arrives?|comes?|answers?))"
)
"""Times for which people plan work. ``_EVENT`` also has events that nobody plans for."""
_NOT_WORK: Final = (
    r"(?:was|were|did|had|got|has|have|is|are|am|need|want|think|know|guess|like|love|hope|wish|see|mean|use|say|said"
    r"|remember|believe|feel|went|came|ran|broke|saw|told|took|made|would|could|should|might|don't|can't|won't"
    r"|\w{3,}ed)"
)
_PEOPLE: Final = (
    rf"(?:{_NAMED}|legal|finance|ops|hr|marketing|sales|support|security|design|qa|someone|somebody"
    r"|the [\w-]+(?: team| guys| people| folks| office)?)"
)
_PART: Final = r"(?:done|gone|sent|written|run|made|built|put|set|cut|read|\w+(?:ed|en|wn|nt|ne))"
_WAITING: Final = (
    r"(?-i:waiting) (?:for|on) .{4,}",
    r"(?:i |we )?(?:(?:still|i'm|i am|we're|we are|just) )+waiting (?:for|on) .{4,}",
    rf"(?:(?:i|we)(?:'ve| have)? )?(?:just |already )?(?:pinged|asked|reminded|mailed|emailed|e-mailed|messaged|texted)"
    rf" {_PEOPLE} (?:about|for|to|whether|if) .{{4,}}",
    rf".{{3,60}} (?:is|are) (?:now |still )?(?:with|at) (?:{_PEOPLE}) ?(?:now|until .*|till .*)?$",
    rf"{_PEOPLE} (?:still )?owes? (?:me|us) .{{3,}}|(?:i|we) (?:still )?owe .{{4,}}",
    rf"{_PEOPLE} (?:said|says|promised|agreed|offered)(?: (?:that )?(?:she|he|they))?(?:'d|'ll| would| will"
    rf"| to) [a-z]+ .{{4,}}",
    rf"{_PEOPLE} (?:still )?(?:has|have|needs?) to (?:sign|approve|check|review|confirm|decide|send|deliver|test|answer"
    r"|look|release|ok|provide|do|finish|say|give|translate|print|order)\b.*",
)
"""Clauses that say that the work waits for somebody else."""
_LEFT: Final = (
    BY_HAND,
    r".{3,80} (?:can|has to|have to|must|will have to|should) wait\b.*",
    rf"(?:let's |we'll |i'll |please )?(?:park|leave|postpone|defer|shelve|push|save) .{{3,60}} (?:for|to|until|till)"
    rf" (?:later|now|then|another (?:day|time)|{_SET})",
    rf".{{3,60}} (?:is|are|'s) (?:something |more )?for (?:later|another (?:day|time)|v2|version \d"
    rf"|the next .+|phase \w+"
    rf"|{_SET})$",
    r"(?:remind me to|don't let me forget to|note to self:?|mental note:?) .{4,}",
    r".{3,80} (?:is|are) (?:still )?(?:blocked|on hold|parked|postponed|paused) (?:until|till|by|on|for|because) .*",
    r"(?:i |we )?(?:still )?(?:haven't|havent|have not|didn't|not) (?:yet )?(?:done|tested|checked|written"
    r"|fixed|sent|tried"
    r"|started|finished|updated|run|looked (?:at|into)|gotten (?:around )?to|got (?:round |around )?to"
    r"|get (?:round |around )?to|come to|managed) .{4,}",
    r"(?:the |all |and )?(?:only |one |last |main |other )*(?:things?|bits?|parts?|items?"
    r"|pieces?) (?:that(?:'s| is| are) )?"
    r"(?:still )?(?:left|missing|open|remaining|to do)(?: now)? (?:is|are) .{4,}",
    r"what(?:'s| is)? (?:still )?(?:remains?|left|missing|open) (?:is|are) .{4,}",
    r"(?:now |so )?only (?:the |an? |my |our )?.{3,50} (?:is|are|remains?) (?:still )?(?:left|open|missing"
    r"|to do|outstanding)\b.*",
    rf"(?:someone|somebody|we|i) (?:still )?(?:needs?|must|should|have to|has to) .{{4,}} (?:before (?:we|the|they|our"
    rf"|it|go|going|release|launch|deploy\w*|{_MONTHS})\b|by the|in time for).*",
    r"before .{3,30}[, ](?:we|i|someone) (?:have to|need to|need|must|should|has to|needs to) .{4,}",
    rf"(?:i'm|im|i am|we're|we are) (?:gonna|going to|planning to|about to) .{{4,}}{_AT}",
    rf"(?:planning|gonna|going|hoping|meaning) to .{{4,}}{_AT}",
    r"(?:the|that|an?|my|our|all|both) (?:[\w./'-]+ ){1,8}(?:i|we)(?:'ll|ll| will) (?:do|write|handle|make"
    r"|finish|fix|test"
    r"|send|bring|add|buy|order|check|sort|print|translate)\b.*",
    r"(?:i|we) still (?:don't|do not|dont) have .{4,}|(?:i|we) (?:don't|do not|dont) have .{4,} yet",
    r"(?:(?:i|we) )?(?:still |also |then )*(?:need|have|must|got"
    r"|gotta)(?: still)?(?: to)? (?:double[- ]?check|talk to|ask"
    r"|call|check with|buy|book|order|renew|confirm|tell|tidy|decide|measure|pay|sort|chase|mail|email"
    r"|visit|meet|phone)"
    r" .{4,}",
    rf".{{3,70}} (?:is|are|was|were|has|have)(?:n't| not)(?: been)? {_PART} yet",
    r"(?:the |our )?(?:readme|docs?|documentation|wiki|changelog|manual|handbook|guide|help page|comments?"
    r"|faq|tutorial)"
    r" (?:.{0,30} )?still (?:says?|shows?|uses?|has|have|mentions?|points? (?:to|at)|lists?|refers? to"
    r"|describes?) .{3,}",
)
"""Clauses that name work as not done yet."""
ENGLISH: Final = Ahead(
    "en",
    hands=(
        rf"(?:{_ME}|{_OTHERS}) {_DO} {_IT}{_TAIL}",
        rf"{_OTHERS} takes {_IT}{_TAIL}",
        rf"(?:{_NAMED}|my \w+) \w+s (?:that|it|this|those|them)(?: one| part)?{_TAIL}",
        rf"(?:(?:can you|could you|please) )*remind me (?:again )?(?:of (?:it|that) |about (?:it"
        rf"|that) )?(?:end of \w+|{_AT}|{_AFTER})",
        rf"{_IT} (?:{_ME}|{_OTHERS}) {_DO}{_TAIL}",
        rf"(?:put|add|move) {_IT} (?:on|to|into|in) (?:the|my|our) (?:list|backlog|agenda|board|to-?do)\b.{{0,40}}",
        rf"(?:do|fix|handle|finish|write|run|test|check|deploy|merge|start|continue|add|change|ship"
        rf"|send) {_IT}? ?(?:then "
        rf"|only )*{_ENGLISH_WHEN}",
        rf"{_IT}(?:'s| is| goes| comes| will be|'ll be|s)? (?:only )?(?:for|not before|not until) {_ENGLISH_WHEN}",
        rf"{_IT} (?:can|has to|have to|must|will have to) wait(?: (?:for|until|till) .{{2,30}})?",
        rf"(?:(?:i|we)(?:'ve| have)? )?(?:haven't|havent|didn't|have not|not) (?:yet )?(?:gotten|got|get|come)"
        rf"(?: around)? to (?:it|that|this)(?: yet)?(?:,? {_ENGLISH_WHEN})?",
        rf"(?:it'?s |that'?s )?(?:planned|scheduled|booked|set) (?:(?:for|on) )?{_ENGLISH_WHEN}",
        rf"(?:it|that|this)(?:'s|s| is) (?:{_NAMED}'s?|ops'?|(?:the )?[\w-]+ team(?:'s)?)(?: thing| job"
        rf"| task| part| turf)?",
        r"(?:i|we)?(?:'ve| have)? ?(?:already )?asked (?:for (?:it|that|them)|in .{3,30})",
        rf"{_OTHERS} (?:is|are|'s|'re) (?:already )?on (?:it|that)",
        rf"{_OTHERS} wants? to (?:look|check|review|test|read|see|sign)(?: (?:at )?{_IT})?(?: first| before.{{0,30}})?",
    ),
    plans=(
        rf"(?:i|we) (?:still |also |then |just |first )*[a-z]+ (?:.* )?{_SET}\b",
        rf"[\w./'-]+(?: [\w./'-]+){{0,8}} {_ME} (?:do|handle|fix|write|finish|test|send|make)(?: (?:it|that"
        rf"|this))? .*{_AT}",
        rf"(?:(?:on|by|this|next) )?(?:tomorrow|tonight|{_DAYS}|{_AT}),? (?:i|we) [a-z]+ ",
        rf"{_OTHERS} (?:rewrites|writes|prints|runs|checks|looks (?:at|into)|handles|takes (?:care|over)|drafts|reviews"
        rf"|sends|does|makes|brings|orders|books|builds|tests|fixes|deploys|signs|approves|calls|prepares|updates"
        rf"|merges|moves|extracts|translates) (?:(?:the|that|this|these|those|an?|my|our|his|her|their|all"
        rf"|both|each|\d+)\b|.*{_SET})",
        rf"[a-z]+ (?:rewrites|writes|prints|runs|checks|handles|drafts|reviews|sends|does|makes|brings|orders|books"
        rf"|builds|tests|fixes|deploys|signs|approves|prepares|updates|merges|moves|extracts|translates) .*{_SET}",
        r"(?:he|she|they|(?-i:[A-Z][a-z]{1,14}))(?:'ll| will) [a-z]+ .{4,}",
        rf".{{2,60}}(?:'s|'re| is| are| be| gets?) \w+(?:ed|en|wn|ne) by .{{2,30}} {_SET}",
        rf"(?:ship|send|give|hand|mail|show|deliver|present|publish|post|call|email|order|book) .*{_AT}",
        rf".{{3,80}} (?:is|are) (?:still )?(?:to do|to be done|open|missing|pending)(?:,? {_SET})?$",
        r".{3,60} still (?:has|have|says|uses|shows|contains|points to|mentions) (?:the |its |their "
        r"|an? )?(?:old|hardcoded"
        r"|hard-coded|outdated|wrong|previous) .{3,}",
        rf"[a-z][\w./#@\"'-]* (?:[\w./#@\"'-]+ ){{0,5}}{_AT}$",
    ),
    left=(*_WAITING, *_LEFT),
    times=(
        rf"(?:only |rather |but |not now |not before |not until )*(?:{_AT}|{_AFTER})(?: too| then| though)?",
        r"(?:i'll|ill|will|we'll|i will) (?:fix|do|check|change|update|add|write|send)(?: it| that"
        r"| this)?(?: then| later| soon)?",
        r"(?:to-?do|(?:it's |that's )?on (?:my|our|the) list|noted for later)",
        rf"(?:{_DAYS})(?: too| then)",
        rf"(?:me|myself|i|we|us)(?: and {_NAMED})* {_AT}",
    ),
    past=(
        rf"(?:(?:i|we|he|she|they|it|that|this|there|what|which|who|you|{_NAMED}) (?:\w+ )?{_NOT_WORK}\b)"
        rf"|(?:it|its|there|you"
        r"|not|see you|thanks|since|hi|hello|have a|happy|last|every|each|due|which|what|like|as|than|so"
        r"|such|because|to-?do"
        r"|todos?|done|things?|plans?|new date|date|moving|moved|lets? say|let's say|send writes|comes"
        r"|arrives|arriving|until|our|my"
        r"|these|those|which)\b"
        r"|(?:we|this|that|it|there|what|these|everything|nothing|you|who|the \w+)(?:'ll| will)\b"
        r"|.*\b(?:isn't|aren't|doesn't|don't|can't|won't)\b|.*\b(?:yesterday|ago|last (?:week|month|year"
        r"|night|time|monday|friday)|every|each|always|usually"
        r"|was|were|since"
        r"|fails?|failed|starts?|happens?|opens|closes|closed|ends?|arrives?|(?:mon|tues|wednes|thurs|fri"
        r"|satur|sun)days|(?:is|are|lasts?|comes?|begins?) (?:on|at|until|till|from|by) |normally|never"
        r"|\w{3,}ed (?:on|at|in|last))\b"
    ),
    hollow=(
        rf"(?:{_ME} (?:do|handle|finish|fix)|(?:do|fix|handle|finish)) {_IT}\b(?: then)?"
        rf"|{_IT} {_ME} (?:do|handle|finish)\b"
    ),
    lead=(
        r"(?:(?:then|so|and) )?what(?:'s| is)? (?:still )?(?:remains?|left|missing|open) (?:is|are)\b|remind me to\b"
        r"|don't let me forget to\b|note to self:?|mental note:?"
        r"|(?:i|we)(?:'ll|ll| will)(?: then| still| also| just)*\b|(?:i|we)(?: still| also)* (?:have|need) to\b"
        r"|(?:i'm|im|i am|we're|we are) (?:gonna|going to|planning to|about to)\b|planning to\b|gonna\b"
    ),
    habit=r"(?:until|since) then\b"
    r"|.*\b(?:likes|knows|says|wants|thinks|needs|hates|loves|sees|means|prefers|uses|gets|understands"
    r"|believes|agrees|remembers|supports|makes) (?:that|it|this|those|them)\b|.*\b(?:usually|always|every"
    r"|each|never|normally|often|sometimes|generally|typically)\b",
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
        "waiting on legal for the privacy text",
        "the search can wait until after the fair",
        "haven't done the backup check yet",
        "the flyer isn't printed yet",
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
