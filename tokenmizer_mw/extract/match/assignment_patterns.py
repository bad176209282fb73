"""Patterns of sentences that assign a value ("the port is 8081"), one row each. If several match the same words, the
first one counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ValueWay:
    """One way to assign a value in a sentence.

    - ``name``: of the row. ``pattern``: RE2 with the groups ``value``, ``about`` (what it is a value of) and ``target``
      (the earlier value).
    - ``plain``: whether any few words can be the value; if not, it must be a number, a date, a name or the like.
    - ``changes``: whether such a sentence always replaces an earlier value.
    - ``alone``: whether the value counts even if no earlier value is known.
    - ``example``: a sentence in which the pattern finds a value; ``counter``: a similar one in which it finds none.
    """

    name: str
    pattern: str
    example: str
    counter: str
    plain: bool = False
    changes: bool = False
    alone: bool = True


_US: Final = r"(?:(?:let's|lets|let us|we'll|we will|we|i'll|i|please|just|can you|could you|now|then|so) )*"
ATTRIBUTE: Final = (
    r"(?:level|colou?r|theme|font|mode|language|title|name|branch|region|host|venue|format|image|side|position|layout"
    r"|driver|engine|style|tone|voice|tense|currency|unit|scale|license|model|provider|supplier|plan|tier|owner"
    r"|reviewer|default|encoding|locale|timezone|algorithm|strategy|policy|protocol|theme)"
)
_BE: Final = (
    r"(?:is|are|will be|should be|must be|has to be|shall be|becomes?|is now|are now|now is|stays?|remains?|equals"
    r"|moves?|moved|has moved|was moved|slips?|slipped|goes|went|is set|starts?|ends?|begins?)"
)
_AT: Final = (
    r"(?:(?:now|due|back|again|set|called|written|made|built|held|only|at least|at most|up to|on|at|in|from|to|by|for"
    r"|with|via|after|every|until|the|a|an|port|version|branch) ){0,4}"
)
_DOES: Final = (
    r"(?:listens?|runs?|live|lives|meets?|costs?|expires?|expire|launch(?:es)?|ships?|happens?|takes? place|opens?"
    r"|closes?|publish(?:es)?|orders?|gets? an? \w+ of|hosts?|deploys?|uses?|support|supports|store|log|target"
    r"|recruit|charge"
    r"|book|booked|'ve booked|buy|rent|release|releases|speaks?|points?|lasts?|times? out|retr(?:y|ies)|keeps?|sleeps?"
    r"|sends?|builds?|writes?|tests?|talks?|sells?|pays?|prints?|bills?|serves?|tells?|rewrit(?:e|ing))"
)
_SET: Final = (
    r"(?:set|put|make|change|raise|lower|drop|bump|move|push|shift|extend|extended|cut|reduce|increase|limit|cap|run"
    r"|schedule|switch|turn|take|bring|pull|postpone|delay|convert|migrate|they extended|they moved|we moved|we've"
    r" moved|we switched|we migrated|store|deploy|pin|build|write|cache"
    r"|render|draw|host|implement|keep|do|start|target|work|train|style)"
)
_SAID: Final = r"(?:[^,]|,\d)"
"""Matches a character of a text that ends at the next comma; a comma inside a number does not end it."""
_PLACE: Final = r"(?:the |our |my |its |this |these |those |all |every |a |an )?"

WAYS: Final = (
    ValueWay(
        "leaving",
        r"(?:we|i)(?:'re| are|'m| am|'ve|'ll| will)? ?(?:leaving|leave|left|moving off|moving away from|giving up|done"
        rf" with|trading|abandoning) (?P<target>{_SAID}{{2,40}}?) (?:for|in favou?r of) (?P<value>{_SAID}{{2,40}})",
        "we're leaving Drone for Woodpecker",
        "we left Berlin in May",
        plain=True,
        changes=True,
    ),
    ValueWay(
        "out_and_in",
        rf"(?:rip|take|throw|pull|kick|get) out (?:the )?(?P<target>{_SAID}{{2,40}}?) and (?:put in|bring in|use"
        rf"|add|go with)"
        rf" (?P<value>{_SAID}{{2,40}})",
        "rip out Moment and put in Luxon",
        "take out the bins and sweep",
        plain=True,
        changes=True,
    ),
    ValueWay(
        "instead_of",
        rf"{_US}(?:(?:use|take|have|do|go with|make it|make|call it|name it|it's|serve|invite|send) )?"
        rf"(?P<value>{_SAID}{{2,40}}?) (?:instead of|rather than|in place of) (?:the )?(?P<target>{_SAID}{{2,40}})",
        "call it Atlas instead of Phoenix",
        "instead of guessing, ask",
        plain=True,
        changes=True,
    ),
    ValueWay(
        "from_to",
        rf"{_US}{_SET} (?P<about>{_PLACE}{_SAID}{{2,40}}?) from (?P<target>{_SAID}{{1,30}}?) to"
        rf" (?P<value>{_SAID}{{1,40}})",
        "push the release from May 3 to May 10",
        "move the files from a to b",
        changes=True,
    ),
    ValueWay(
        "arrow",
        r"(?P<about>[\w /'-]{2,40}?)(?:: ?| )(?P<target>[^:>→,-]{1,30}?) ?(?:->|→|=>|-->) ?(?P<value>[^>→]{1,40})",
        "budget: 12k -> 15k",
        "Settings -> Profile -> Save",
        changes=True,
    ),
    ValueWay(
        "not_that",
        rf"{_US}(?:(?:use|take|make it|go with|it's|its|it should be|call it|i meant) )?(?P<value>{_SAID}{{1,30}}?)"
        rf"(?:,? please)?, ?not (?:the )?(?P<target>{_SAID}{{1,30}})",
        "Thursday, not Wednesday",
        "I know, not now",
        plain=True,
        changes=True,
        alone=False,
    ),
    ValueWay(
        "should_be_not",
        rf"(?P<about>{_PLACE}{_SAID}{{2,40}}?) (?:is|are|should be|must be|has to be) (?P<value>{_SAID}{{1,30}}?)"
        rf",? (?:and )?not (?:the )?(?P<target>{_SAID}{{1,30}})",
        "the limit should be 50, not 20",
        "the colour is nice, not loud",
        changes=True,
    ),
    ValueWay(
        "meant",
        r"(?:(?:no|sorry|oops|wait|typo|correction|oh wait|my bad|wrong \w+)[,.:;]? )*(?:i (?:meant|mean)|it"
        r" (?:must|should)"
        rf" be|(?:it's|its|it is)) (?P<value>{_SAID}{{1,40}})",
        "no, I meant 7",
        "it's raining",
        changes=True,
        alone=False,
    ),
    ValueWay(
        "make_it",
        rf"{_US}(?:make|change|set|lower|raise|move|push|put|bring|cut|shift|bump|reduce|increase|extend)"
        rf" (?:it|that|this|them|everything|all of it)(?: back| up| down| over)?(?: to| at| on| in)?"
        rf" (?P<value>{_SAID}{{1,40}})",
        "let's lower it to 900 words",
        "make it faster",
        changes=True,
    ),
    ValueWay(
        "call_it",
        rf"{_US}(?:call|name|title) (?:it|the (?P<about>\w+)|this|them) (?P<value>{_SAID}{{2,50}})",
        "let's call it Winter Ledger",
        "call it a day",
        changes=True,
    ),
    ValueWay(
        "back",
        rf"{_US}(?:(?:go|move|switch|change|roll|going|return|revert|it's) )?(?:(?:back )?to|return to|revert to)"
        rf" (?P<value>{_SAID}{{2,40}}?)(?: after all| again)?",
        "we return to Brevo",
        "to be or not to be",
        plain=True,
        changes=True,
        alone=False,
    ),
    ValueWay(
        "switch",
        rf"{_US}(?:we're |we are |i'm )?(?:switch(?:ing)? (?:over )?to|try|mov(?:e|ing) to|change to|swap (?:it"
        rf"|that) for)"
        rf" (?P<value>{_SAID}{{2,40}}?)(?: then| now| please)?",
        "switch to Bulma then",
        "switch to the next tab of it",
        changes=True,
        alone=False,
    ),
    ValueWay(
        "use_instead",
        rf"{_US}(?:we're |we are |i'm )?(?:use|take|taking|try|go with|going with|do|have)"
        rf" (?P<value>{_SAID}{{2,40}}?) instead",
        "we're taking the barn instead",
        "take a look at the log",
        plain=True,
        changes=True,
        alone=False,
    ),
    ValueWay(
        "train",
        rf"{_US}(?:train|fit) (?:with|an?) (?P<value>{_SAID}{{2,40}}?)(?: first| now)?",
        "train with ridge regression first",
        "the train with a delay",
        plain=True,
    ),
    ValueWay(
        "tell_in",
        rf"(?:i'll|we'll|i'm|we're|i will|let's) (?:tell|telling|write|writing|rewrite|rewriting|narrate) [\w"
        rf" ]{{2,30}} in"
        rf" (?:the )?(?P<value>{_SAID}{{2,30}})",
        "I'm rewriting it in past tense",
        "I'll write it, promised",
        plain=True,
        changes=True,
    ),
    ValueWay(
        "first",
        rf"{_US}(?:start with|begin with|hire|recruit|invite|book|buy from|order from)"
        rf" (?P<value>{_SAID}{{2,40}}?)(?: first| for {_SAID}+)?",
        "start with MariaDB",
        "start with it",
        plain=True,
        alone=False,
    ),
    ValueWay(
        "use_for",
        rf"{_US}(?:(?:use|take|pick|choose) )?(?P<value>{_SAID}{{2,30}}?) (?:for|as) (?P<about>(?:the |our |all |my"
        rf" |every)?"
        rf"{_SAID}{{2,40}})",
        "bcrypt for passwords",
        "wait for me",
    ),
    ValueWay(
        "in_use",
        rf"(?:in|on|for) (?P<about>[\w ]{{2,30}}?),? (?:we |please )?(?:use|take) (?P<value>{_SAID}{{2,40}})",
        "in staging use the test gateway of the bank",
        "in use since 2019",
        plain=True,
    ),
    ValueWay(
        "take",
        rf"{_US}(?:(?:we're|we are|i'm|i am) )?(?:use|take|taking|try|trying|go with|going with|pick|choose)"
        rf" (?P<value>{_SAID}{{2,40}}?)(?: (?:now|first|please|again|then))*",
        "we'll take 80 chairs",
        "take a look at the log",
        plain=True,
        alone=False,
    ),
    ValueWay(
        "wants",
        rf"(?:s?he|they|the [\w ]{{2,30}}|management|legal|marketing|my \w+) wants? (?P<value>{_SAID}{{2,50}})",
        "she wants The Long Tide",
        "he wants to know why",
        alone=False,
    ),
    ValueWay(
        "speak_in",
        r"(?:from now on,? |always |please )*(?P<about>answer|reply|respond|indent|comment|format|speak|explain)(?:"
        r" me)?"
        rf" (?:in|with) (?P<value>{_SAID}{{2,30}}?)(?: please| from (?:here|now) on| in this repo| only)*",
        "answer in Polish from here on",
        "log in with my account",
        plain=True,
    ),
    ValueWay(
        "set_to",
        rf"{_US}{_SET} (?P<about>{_PLACE}{_SAID}{{2,40}}?) (?:back |up |down |over )?(?:to|at|on|=|in|for|until|as"
        rf"|with)"
        rf" (?:the |a |an )?(?P<value>{_SAID}{{1,40}})",
        "set the pool size to 12",
        "set up the server",
    ),
    ValueWay(
        "set_plain",
        rf"{_US}{_SET} (?P<about>{_PLACE}{_SAID}{{2,40}}?) (?:back |up |down |over )?(?:to|on|in) (?:the |a |an )?"
        rf"(?P<value>{_SAID}{{1,30}})",
        "put the menu back to the top",
        "put it off",
        plain=True,
        alone=False,
    ),
    ValueWay(
        "make",
        rf"{_US}(?:make|keep|set) (?P<about>{_PLACE}(?:[\w-]+ ){{0,3}}?(?:{ATTRIBUTE}|timeout|limit|deadline|budget"
        rf"|price"
        rf"|port|interval|size|count|quota)) (?P<value>{_SAID}{{1,30}})",
        "make the accent color amber",
        "make the color pop more in every possible view",
        plain=True,
    ),
    ValueWay(
        "short",
        rf"(?:work on |check out |checkout )?(?P<about>{_PLACE}(?:[\w-]+ ){{0,2}}?(?:{ATTRIBUTE}|timeout|limit"
        rf"|deadline|budget|price|port|interval|quota|ttl))"
        r" (?P<value>[\w.,€$%-]+(?: [a-z]+)?)(?: in \w+)?",
        "timeout 18 seconds",
        "port forwarding is off",
        plain=True,
    ),
    ValueWay(
        "pair",
        r"(?P<about>(?:[\w'-]+ ){0,5}?[\w'-]+): (?P<value>[^,;]{1,50})",
        "working title of the essay: Rust and Rain",
        "one thing: I will be late",
        plain=True,
    ),
    ValueWay(
        "bare",
        r"(?P<value>[\w@.+€$%-]+(?: [\w@.+-]+){0,2})",
        "Vue",
        "hello there",
        alone=False,
    ),
    ValueWay(
        "called",
        rf"(?P<about>{_PLACE}{_SAID}{{2,40}}?) (?:is|are|will be) (?:called|named) (?P<value>{_SAID}{{2,40}})",
        "our reviewer is called Tomas Reuter",
        "the function is called twice",
    ),
    ValueWay(
        "stays",
        rf"(?P<about>{_PLACE}[\w' -]{{2,30}}?) (?:stays?|remains?) (?:on|at|in|with) (?:the"
        rf" )?(?P<value>{_SAID}{{1,30}})",
        "the toolbar stays at the top",
        "he stays in bed",
        plain=True,
    ),
    ValueWay(
        "is",
        rf"(?P<about>{_PLACE}{_SAID}{{2,40}}?) {_BE} {_AT}(?P<value>{_SAID}{{1,40}})",
        "the launch moves to June 17",
        "the launch is a mess",
    ),
    ValueWay(
        "does",
        rf"(?P<about>[^,]{{2,40}}?(?: should| must| will| now| always| only| also| both|'ll|'ve| have)* {_DOES})"
        rf"(?P<what> [^,]{{2,40}}?)?? {_AT}(?P<value>{_SAID}{{1,40}})",
        "the api should listen on port 8080",
        "the api works well",
    ),
    ValueWay(
        "pick",
        rf"(?P<value>{_SAID}{{2,40}}?) (?:it is|then)",
        "Bulma it is",
        "what is that then",
        plain=True,
        alone=False,
    ),
    ValueWay(
        "after_all",
        rf"(?P<value>{_SAID}{{2,40}}?) (?:after all|was better|was fine|was right|again,? please|instead|please)",
        "present tense after all",
        "what was that after all",
        plain=True,
        changes=True,
        alone=False,
    ),
    ValueWay(
        "does_it",
        r"(?P<value>[\w]+) (?:still )?(?:does|takes|handles|writes|owns|runs|reviews|leads) (?P<about>the [\w ]{3,30})",
        "Ines takes the transcripts",
        "it takes the whole day",
    ),
)
