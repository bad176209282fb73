"""What an assistant says out of politeness, before and behind what it has to say.

Only whole sentences go that a row of the table matches from end to end, at the edges of a text, outside of code and
quotes. A sentence that holds anything else, a number, a name, a condition, stays, and so does the last one left.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import re2

SENTENCE_MAX: Final = 200
"""Characters of a sentence that may be filler."""

ROUNDS_MAX: Final = 8
"""Sentences that are taken off an edge at most."""


@dataclass(frozen=True, slots=True)
class Row:
    """Sentences of one kind. ``pattern`` matches one from end to end, in any case, without its last mark."""

    pattern: str
    example: str
    counter: str


OPENINGS: Final = (
    Row(r"(?:sure(?: thing)?|certainly|of course|absolutely|definitely|gladly)", "Sure!", "Sure, but not on Fridays."),
    Row(
        r"(?:that(?:'s| is) (?:a|an) )?(?:great|good|excellent|fantastic|interesting) (?:question|idea|point)",
        "Great question!",
        "Good idea to keep the cache.",
    ),
    Row(
        r"(?:sure,? |of course,? |certainly,? )?i(?:'d| would)(?: be (?:happy|glad|delighted)|(?: really)? love)"
        r" to(?: help(?: you)?(?: (?:out|with (?:that|this|it)))?| assist(?: you)?(?: with (?:that|this|it))?)",
        "I'd be happy to help you with that.",
        "I'd be happy to help you with the port.",
    ),
    Row(r"(?:i(?:'m| am) )?(?:happy|glad) to help", "Happy to help!", "Happy to help if the tests pass."),
    Row(
        r"thank(?:s| you)(?: (?:so|very) much)? for (?:asking|(?:your|the) question|reaching out)",
        "Thanks for asking.",
        "Thanks for asking about 3.12.",
    ),
    Row(r"you(?:'re| are) (?:very )?welcome", "You're welcome!", "You're welcome to delete it."),
)
CLOSINGS: Final = (
    Row(
        r"(?:please )?(?:feel free|don't hesitate|do not hesitate) to (?:ask|reach out|let me know)"
        r"(?: (?:me|if you (?:have|need) (?:any|more|further)(?: (?:other|more|further))?"
        r" (?:questions?|help|assistance)))?",
        "Feel free to ask if you have any questions.",
        "Feel free to ask Maria for the key.",
    ),
    Row(
        r"(?:please )?let me know if (?:you (?:have any|have|need any|need)(?: (?:other|more|further|additional))?"
        r" (?:questions?|help|assistance|anything else)|there(?:'s| is) anything else(?: (?:i can|you need).{0,30})?"
        r"|you need anything(?: else)?|i can help(?: (?:you )?with anything else| further)?)",
        "Let me know if you need anything else.",
        "Let me know if you need the old table kept.",
    ),
    Row(
        r"i hope (?:this|that|it) helps(?: you)?(?: out)?", "I hope this helps!", "I hope this helps with the deadline."
    ),
    Row(r"hope (?:this|that|it) helps", "Hope that helps!", "Hope that helps Ben decide."),
    Row(
        r"is there anything else (?:i can (?:help(?: you)? with|do for you)|you(?:'d| would) like(?: me to do)?)",
        "Is there anything else I can help you with?",
        "Is there anything else in the folder?",
    ),
    Row(
        r"(?:happy coding|good luck|have a (?:great|nice|good) (?:day|one|evening|weekend)|enjoy|cheers)",
        "Happy coding!",
        "Enjoy the quiet until the deploy.",
    ),
)
"""Rows for each edge: an example that goes, and a sentence that stays."""

_EMOJI: Final = r"[\s\x{1F300}-\x{1FAFF}\x{2600}-\x{27BF}\x{FE0F}:)]*"


def _either(rows: tuple[Row, ...]) -> str:
    return "|".join(f"(?:{row.pattern})" for row in rows)


_OPENING = re2.compile(rf"(?i)(?:{_either(OPENINGS)})[.!,]*{_EMOJI}")
_CLOSING = re2.compile(rf"(?i)(?:{_either(CLOSINGS)})[.!?]*{_EMOJI}")
_FIRST: Final = re.compile(r"\n*([^\s][^\n]{0,199}?[.!?]+)(?:[ \t]+|\n+)")
_LAST: Final = re.compile(r"[.!?:`)\n][ \t]*([^\n.!?]{1,200}[.!?]*)\s*\Z")


def without_filler(text: str) -> str:
    """``text`` without polite sentences at its beginning and end; the same object when there are none.

    Running it again changes nothing. Never empty where the text was not.
    """
    return _without_last(_without_first(text))


def _without_first(text: str) -> str:
    for _ in range(ROUNDS_MAX):
        found = _FIRST.match(text[: 2 * SENTENCE_MAX])
        if found is None or not _OPENING.fullmatch(found.group(1)) or not text[found.end() :].strip():
            return text
        text = text[found.end() :]
    return text


def _without_last(text: str) -> str:
    for _ in range(ROUNDS_MAX):
        tail = text[-2 * SENTENCE_MAX :]
        found = _LAST.search(tail)
        if found is None or not _CLOSING.fullmatch(found.group(1).strip()) or text.count("```") % 2:
            return text
        start = len(text) - len(tail) + found.start(1)
        if not text[:start].strip():
            return text
        text = text[:start].rstrip()
    return text
