"""How people tell in few words what came of work: "applied", "median in, jumps down to 2%", "the cert is Ready".

A row reads one clause. Such clauses count where somebody answers what was to do; elsewhere they may describe.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Outcome:
    """A row. ``pattern`` is RE2 for a whole clause, case ignored; ``example`` is a clause that it reads, ``counter``
    one that it must not. ``unless``: clauses that look the same and tell of something else. ``speaks``: the row is read
    in what assistants say, too. ``adds``: the row counts only behind what others read."""

    pattern: str
    example: str
    counter: str
    unless: str = ""
    speaks: bool = False
    adds: bool = False


DONE: Final = (
    r"(?:[a-z]{2,}(?:[^aeious\W]ed|[aiou]ed|eed)|put|cut|set|sent|made|built|written|split|rebuilt|rewritten|rerun|done"
    r"|swept|hung|paid|redone|undone)"
)
"""A participle of work."""
_NO_WORK: Final = (
    r"(?:need|needed|speed|feed|seed|embed|exceed|succeed|proceed|red|bed|used|based|compared|related|limited|supposed"
    r"|wanted|liked|loved|hated|noticed|wondered|hoped|expected|preferred|agreed|talked|failed|crashed|happened|seemed"
    r"|looked|missed|assumed|confused|tired|worried|interested|bored|allowed|trusted|asked|mixed|detailed|hundred"
    r"|indeed|noted|understood|promised|named|called|followed|experienced|advanced|fed|led|stalled|refused|rejected"
    r"|denied|expired|excited|scared|surprised|shocked|planned|guessed|explained|mentioned|ended|turned|dropped|stayed"
    r"|waited|continued|returned|timed|locked|blocked|leaked|lasted|cancelled|canceled|required|tried)\b"
)
_THING: Final = (
    r"(?:(?:the|our|my|his|her|their|this|that|these|those|all|both|every|each) )?(?:[\w@.,'`/()+#*\"&{}-]+ ){1,8}?"
)
_NO_THING: Final = (
    r"(?:i|we|you|he|she|they|there|if|when|what|which|why|how|where|who|not|never|sure|maybe|once|unless|let|please"
    r"|make|use|don't|nothing|no|so|because|since|until|as|than|or|with|for|to|in|on|at|of|is|are|was|do|does)\b"
)
_TAIL: Final = (
    r"(?: (?:now|again|too|as well|already|here|fine|ok|nicely|perfectly|great|well|for me|today|yesterday|everywhere"
    r"|(?:since|after|in|on|at|for|with|by|from|to|within|under|over|until|without|behind|into|of) .{1,60}))*"
)
_STATE: Final = (
    r"(?:up|in|on|off|out|live|ready|green|clean|back|through|there|set|met|gone|done|finished|complete|ok|okay|quiet"
    r"|stable|installed|deployed|merged|running|working)"
)

_NOUNS: Final = r"(?:builds|runs|loads|opens)"
"""What works does, and what may be a noun as well."""

OUTCOMES: Final[tuple[Outcome, ...]] = (
    Outcome(
        rf"(?:it's |it is |that's |they're |all |everything |both )?{DONE}(?: (?:it|that|them|all|both|now|too|already"
        r"|again|here|everywhere|as well|today|yesterday|just now|so far))*",
        "applied",
        "applied sciences",
        unless=rf"(?:it's |it is |that's |they're |all |everything |both )?{_NO_WORK}",
    ),
    Outcome(
        rf"(?:just |also |already )?{DONE} (?:at|to|in|on|into|onto|from|with|by|out|off|down|up|over|back|via|the|a|an"
        r"|it|them|all|both|my|our|two|three|\d|[\"'`/])\b?.*",
        "capped at 200",
        "fixed prices for all",
        unless=rf"{_NO_WORK}|(?:put|cut|set|split) (?:[^tai]|t[^o]|a[^t]|i[^nt]|in[a-z]|it [^,])",
    ),
    Outcome(
        rf"{_THING}(?:is|are|'s) (?:now |all |finally |already )*(?:{_STATE}|{DONE}){_TAIL}",
        "the cert is Ready after 90 seconds",
        "what is there to do",
        unless=rf"{_NO_THING}|.*\b(?:is|are|'s) (?:now |all |finally |already )*{_NO_WORK}",
    ),
    Outcome(
        rf"{_THING}(?:is|are) (?:now |all |finally )*(?:up|live|green|clean|back|met|gone|quiet|stable){_TAIL}",
        "the web container is up",
        "it's up to you",
        unless=rf"{_NO_THING}|(?:it|this|that) |.* up (?:to|for)\b",
        speaks=True,
    ),
    Outcome(
        rf"(?:(?:{_THING})?(?:works|passes|compiles|boots|syncs|deploys|goes through|went through|came through"
        rf"|survives|arrives?|shows up|comes up|came up|renders|agrees|checks out|{_NOUNS})"
        rf"|(?:both|all|all of them) work){_TAIL}",
        "4 GB video went through",
        "how it works",
        unless=rf"(?:(?:i|we|he|she|they|you|\w+ing)|{_NO_THING}) "
        rf"|(?:verify|check|confirm|see|test|ensure|look|options?|reproduced)\b|.*\b(?:of|for|the|an?|these|those|both|\d+|no"
        rf"|more|per|any) (?:works|passes|{_NOUNS})\b"
        r"|.*\b(?:works|runs) (?:on|for|at|as) (?:the|an?|our|my|his|her|their) (?:\w+ ){0,3}\w+$",
        speaks=True,
    ),
    Outcome(
        rf"(?:{_THING}now (?:actually |really |all )?|now {_THING})(?:shows?|returns?|prints?|takes?|gives?|needs?"
        r"|uses?|says?|counts?|sends?|reads?|stores?|lists?|logs?|sets?|has|have|finds?|starts?|stays?) .{2,}",
        "/auth/login now returns 429",
        "how do I list them now",
        unless=_NO_THING,
    ),
    Outcome(
        rf"{_THING}(?:shows?|returns?|prints?|takes?|gives?|needs?|uses?|sends?|sets?|has|have|stays?) .{{1,60}}"
        r" (?:now|again|instead of .{1,30})",
        "the export takes 3 s instead of 40",
        "it takes me ages to find things",
        unless=_NO_THING,
        speaks=True,
    ),
    Outcome(
        rf"(?:[\w'./`@#-]+ ){{1,4}}(?:in|up|back|ok|okay|green|clean|gone|ready|live|done|merged|{DONE})"
        r"(?: (?:now|too|again|already|as well|btw|today|yesterday|(?:&|\+) \w+))*",
        "login from phone ok",
        "how to log in",
        unless=rf"{_NO_THING}|.* {_NO_WORK}|(?:it's|that's|is|are) |.*\b(?:to|is|are|was|were|be|been|the|a|an|not"
        r"|n't|and|get|gets|go|come|sounds|looks|seems|feels|grown|sign|log|turn|can|you)"
        rf" (?:in|up|on|off|back|done|set|{DONE})$",
    ),
    Outcome(
        rf"(?:i|we)(?:'ve| have)? (?:just |already |now |also |finally )*{DONE} .{{3,}}",
        "I put the holidays into the seed",
        "I put up with it",
        unless=rf"(?:i|we)(?:'ve| have)? (?:just |already |now |also |finally )*(?:{_NO_WORK}"
        r"|(?:put|made|set|sent|cut|built) (?:up|off|it up|out|aside|sure|a mistake|you|him|her|them|that way|no)\b)",
    ),
    Outcome(
        r"(?:all|both) (?:\w+ ){1,3}(?:ok|okay|green|clean|fine|in|up|done)(?:, .*)?",
        "all packages ok",
        "all of it is fine by me in",
        speaks=True,
    ),
    Outcome(
        r"(?:it|that|this) (?:now )?(?:shows|prints|returns|says|lists|counts|finds|sends|has) .{2,}",
        "it shows two open orders",
        "it takes ages to find things",
    ),
    Outcome(
        r"(?:(?:i|we)(?:'ve| have)? )?(?:did|done) (?:it|that|this|so|both|all(?: of (?:it|them|that))?)"
        r"(?: (?:now|too|already|yesterday|today|as well|in .{3,40}|with .{3,40}|on .{3,40}|for .{3,40}))*",
        "did that in make_links.py",
        "did that break anything",
    ),
    Outcome(
        r"(?:[\w'./`@#-]+ ){1,5}(?:too|as well)",
        "atomic write too",
        "me too",
        unless=rf"{_NO_THING}|(?:me|and|it|that|this|us|him|her|maybe|add|use|make|put|can|is|are|do|does) ",
        adds=True,
    ),
    Outcome(
        r"no (?:more )?(?:[\w'-]+ ){1,4}(?:since|any ?more|any longer|left|so far)(?: .{1,30})?",
        "no reset since",
        "no idea",
        speaks=True,
    ),
    Outcome(
        r"(?:all |the )?(?:\d[\d.,]* (?:of \d+ )?)?(?:\w+ ){0,3}(?:tests?|specs?|checks?|examples|suite|builds?|lint"
        r"|linter|ci|pipeline) (?:all )?(?:pass|passes|passed|passing|are green|is green|green|succeeds?|succeeded)"
        rf"{_TAIL}|all \d+ (?:of them )?(?:pass|passed|are green){_TAIL}|\d+ (?:tests? )?pass(?:ed)?{_TAIL}",
        "all 14 pass",
        "does the suite pass in CI",
        unless=_NO_THING,
        speaks=True,
    ),
)
"""All rows."""
