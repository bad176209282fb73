"""Stage "filler": removes polite phrases at the beginning and end of assistant texts, in requests and complete replies.

Only whole sentences that match a row of the table from end to end are removed, and only at the edges of a text, outside
of code and quotes. A sentence with any other content (a number, a name, a condition) stays, and so does the last
sentence. A word that may be the answer stays ("Definitely."), and so does text that may have been asked for: text after
a colon, list items, one of several lines, the end of a letter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import re2

from tokenmizer_mw.wire.passages import Spot, Steps, spot_edits, spots
from tokenmizer_mw.wire.spans import splice

SENTENCE_MAX: Final = 200
"""Largest number of characters of a sentence that may be removed."""

ROUNDS_MAX: Final = 8
"""Largest number of sentences that are removed at each end of a text."""


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of polite sentence. ``pattern`` matches a whole sentence without its final mark, ignoring case.
    ``example`` is such a sentence; ``counter`` is a similar one that does not match, because it says something."""

    pattern: str
    example: str
    counter: str


# fmt: off
OPENINGS: Final = (
    Row(r"(?:that(?:'s| is) (?:a|an) )?(?:great|good|excellent|fantastic|interesting) question", "Great question!",
        "Good question for Maria."),
    Row(r"(?:sure,? |of course,? |certainly,? )?i(?:'d| would)(?: be (?:happy|glad|delighted)|(?: really)? love)"
        r" to(?: help(?: you)?(?: (?:out|with (?:that|this|it)))?| assist(?: you)?(?: with (?:that|this|it))?)",
        "I'd be happy to help you with that.", "I'd be happy to help you with the port."),
    Row(r"(?:i(?:'m| am) )?(?:happy|glad) to help", "Happy to help!", "Happy to help if the tests pass."),
    Row(r"thank(?:s| you)(?: (?:so|very) much)? for (?:asking|(?:your|the) question|reaching out)",
        "Thanks for asking.", "Thanks for asking about 3.12."),
    Row(r"you(?:'re| are) (?:very )?welcome", "You're welcome!", "You're welcome to delete it."),
)
# fmt: on
# fmt: off
CLOSINGS: Final = (
    Row(r"(?:please )?(?:feel free|don't hesitate|do not hesitate) to (?:ask|reach out|let me know)"
        r"(?: (?:me|if you (?:have|need) (?:any|more|further)(?: (?:other|more|further))?"
        r" (?:questions?|help|assistance)))?", "Feel free to ask if you have any questions.",
        "Feel free to ask Maria for the key."),
    Row(r"(?:please )?let me know if (?:you (?:have any|have|need any|need)(?: (?:other|more|further|additional))?"
        r" (?:questions?|help|assistance|anything else)|there(?:'s| is) anything else(?: (?:i can|you need).{0,30})?"
        r"|you need anything(?: else)?|i can help(?: (?:you )?with anything else| further)?)",
        "Let me know if you need anything else.", "Let me know if you need the old table kept."),
    Row(r"i hope (?:this|that|it) helps(?: you)?(?: out)?", "I hope this helps!",
        "I hope this helps with the deadline."),
    Row(r"hope (?:this|that|it) helps", "Hope that helps!", "Hope that helps Ben decide."),
    Row(r"is there anything else (?:i can (?:help(?: you)? with|do for you)|you(?:'d| would) like(?: me to do)?)",
        "Is there anything else I can help you with?", "Is there anything else in the folder?"),
    Row(r"happy coding", "Happy coding!", "Happy coding until the deploy."),
)
# fmt: on
"""Sentences that are removed at the beginning (``OPENINGS``) and at the end of a text (``CLOSINGS``)."""

_EMOJI: Final = r"[\s\x{1F300}-\x{1FAFF}\x{2600}-\x{27BF}\x{FE0F}:)]*"


def _join_alternatives(rows: tuple[Row, ...]) -> str:
    return "|".join(f"(?:{row.pattern})" for row in rows)


_OPENING = re2.compile(rf"(?i)(?:{_join_alternatives(OPENINGS)})[.!,]*{_EMOJI}")
_CLOSING = re2.compile(rf"(?i)(?:{_join_alternatives(CLOSINGS)})[.!?]*{_EMOJI}")
_FIRST: Final = re.compile(r"\n*([^\s][^\n]{0,199}?[.!?]+)(?:[ \t]+(?=\S)|[ \t]*\n(?:[ \t]*\n)+)")
_LAST: Final = re.compile(r"(?:[.!?:`)][ \t]+|\n[ \t]*\n[ \t]*)([^\n.!?]{1,200}[.!?]*)\s*\Z")
_POINT: Final = re.compile(r"(?:^|\n)[ \t>]*(?:[-*+•]|\(?(?:\d{1,3}|[A-Za-z])[.)])[ \t]*\Z")
_LETTER: Final = re.compile(
    r"(?mi)^[ \t>*_]*(?:subject|dear|hi|hello|hey|(?:best|kind|warm) regards|sincerely|yours)\b"
)


def without_filler(text: str) -> str:
    """Return ``text`` without polite sentences at its beginning and end.

    Returns the same object if there are none, or if the text contains a letter or mail ("Dear ..."). Idempotent; never
    empty unless ``text`` is.
    """
    shorter = _without_last(_without_first(text))
    return text if shorter is text or _LETTER.search(text) else shorter


def _without_first(text: str) -> str:
    for _ in range(ROUNDS_MAX):
        found = _FIRST.match(text[: 2 * SENTENCE_MAX])
        if found is None or not _OPENING.fullmatch(found.group(1)) or not text[found.end() :].strip():
            return text
        text = text[found.end() :]
    return text


def _without_last(whole: str) -> str:
    text = whole
    for _ in range(ROUNDS_MAX):
        tail = text[-2 * SENTENCE_MAX :]
        found = _LAST.search(tail)
        if found is None or not _CLOSING.fullmatch(found.group(1).strip()) or text.count("```") % 2:
            return text
        left = text[: len(text) - len(tail) + found.start(1)]
        if not left.strip():
            return text
        if left.rstrip(" \t\n*_`").endswith(":") or _POINT.search(left[-SENTENCE_MAX:]):
            return whole  # what follows is what was asked for
        text = left.rstrip()
    return text


def trim_reply(body: bytes) -> bytes:
    """Return the body of a complete JSON reply, in any API format, without polite sentences at the beginning and end of
    its texts.

    Returns the same object if nothing is removed or if the body is not a reply. A text with token probabilities, or
    with citations that refer to positions in it, stays unchanged.
    """
    try:
        text = body.decode()
        value = json.loads(text)
    except (ValueError, RecursionError):
        return body
    new = {
        place: shorter
        for place, spot in _find_reply_texts(value)
        if (shorter := without_filler(spot.text)) is not spot.text and shorter != spot.text
    }
    if not new:
        return body
    start = len(text) - len(text.lstrip())
    edits = spot_edits(text, (start, len(text.rstrip())), new)
    return splice(text, edits).encode() if edits else body


def _find_reply_texts(value: object) -> Iterator[tuple[Steps, Spot]]:
    """Yield the assistant's texts in the reply ``value`` (parsed JSON of any API format), each with its path in the
    reply; nothing if it is no reply."""
    for steps, message in _messages(value):
        for spot in spots(message):
            if not spot.result:
                yield (0, *steps, *spot.steps[1:]), spot


def _messages(value: object) -> Iterator[tuple[Steps, Mapping[str, Any]]]:
    """Yield the messages in a reply, with their paths in it: the reply itself, its one message, or those of its
    choices, candidates or output items."""
    if not isinstance(value, Mapping):
        return
    yield (), value
    if isinstance(value.get("message"), Mapping):
        yield ("message",), value["message"]
    for number, choice in enumerate(_list(value, "choices")):
        if isinstance(choice.get("message"), Mapping) and not choice.get("logprobs"):
            yield ("choices", number, "message"), choice["message"]
    for number, candidate in enumerate(_list(value, "candidates")):
        if isinstance(candidate.get("content"), Mapping) and not candidate.get("citationMetadata"):
            yield ("candidates", number, "content"), candidate["content"]
    for number, item in enumerate(_list(value, "output")):
        if item.get("type") == "message":
            yield ("output", number), item


def _list(value: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = value.get(name)
    return found if isinstance(found, list) and all(isinstance(one, Mapping) for one in found) else []
