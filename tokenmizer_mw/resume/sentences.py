"""The sentences of a transcript, as candidates for the part of a resume block that quotes what was said."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.labels import flatten
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.wire.host_texts import remove_host_texts

Numbered = tuple[int, Message]
"""A message with its number in the session, from 1."""

SENTENCE_MAX: Final = 300
"""Longest sentence that is quoted, in characters."""

_CHARACTERS_MAX: Final[dict[Role, int]] = {Role.USER: 120_000, Role.ASSISTANT: 120_000, Role.TOOL: 40_000}
"""How much of the transcript is looked at, by speaker; the newest messages count first."""

_ENDS_MAX: Final[dict[Role, int]] = {Role.USER: 4_000, Role.ASSISTANT: 4_000, Role.TOOL: 800}
"""How much of one message is looked at, at its beginning and at its end."""

_PLACEHOLDERS: Final = frozenset({"()", "[]", "<>", "\uff08\uff09", "\u3010\u3011"})
"""First and last sign of a line that stands for something that is not text: "[interrupted by user]"."""

_LETTERS_MIN: Final = 16
_SIGNS_MIN: Final = 6

_WEIGHTS: Final[dict[Role, float]] = {Role.USER: 1.75, Role.ASSISTANT: 1.0, Role.TOOL: 0.15}
_CODE: Final = 0.2
_HEADING: Final = 0.3
_INTRODUCTION: Final = 0.5
_QUESTION: Final = 0.4
_ANNOUNCEMENT: Final = 0.5
_NUMBER: Final = 1.4
_PLACE_HALF: Final = 6
_PLACE_POWER: Final = 0.7
"""How much a sentence counts: by speaker, inside a code block, as a heading, as an introduction of what follows, as a
question, as the last words before a tool is called, with a number in it, and by its place in the message. Set on
development data."""

# These patterns are linear: classes of characters, one behind the other.
_END: Final = re.compile(r"(?<=[.!?:])\s+|(?<=[。！？；：])")
_WORD: Final = re.compile(r"[\w./-]{2,}")
_UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]+")
_MARKUP: Final = re.compile(r"\*\*|`")
_LEAD: Final = re.compile(r"^(?:#+ |[-*\u2022] )+")
_DIGIT: Final = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of message ``number``, ``place`` sentences behind its first one. ``text`` is as it was written,
    ``words`` are what it is compared by, ``salience`` says how much they count in it. ``note``: what a reader has to
    know of it, "" for nothing."""

    number: int
    role: Role
    place: int
    text: str
    words: frozenset[str]
    salience: float
    note: str = ""

    def shown(self) -> str:
        """The sentence as one harmless line without Markdown, its note in brackets behind it."""
        line = flatten(_MARKUP.sub("", _LEAD.sub("", self.text)), SENTENCE_MAX)
        return f"{line} ({self.note})" if self.note else line


def transcript_sentences(transcript: Sequence[Numbered], without: frozenset[int] = frozenset()) -> list[Sentence]:
    """The sentences of ``transcript`` in order, but for those of the messages ``without``.

    Of long messages the beginning and the end are read, and of long transcripts the newest messages of each speaker.
    """
    room = dict(_CHARACTERS_MAX)
    chosen: list[tuple[int, Role, str, bool]] = []
    for number, message in reversed(transcript):
        if number in without or room.get(message.role, 0) <= 0:
            continue
        text = _readable(message)
        room[message.role] -= len(text)
        chosen.append((number, message.role, text, bool(message.tool_calls)))
    return [sentence for entry in reversed(chosen) for sentence in _sentences(*entry)]


def words_of(text: str) -> frozenset[str]:
    """The words of ``text`` in lower case; of scripts without spaces, pairs of signs."""
    if text.isascii():
        return frozenset(word.strip("./-_") for word in _WORD.findall(text.lower()))
    low = unicodedata.normalize("NFKC", text).lower()
    found = {word.strip("./-_") for word in _WORD.findall(_UNSPACED.sub(" ", low))}
    for run in _UNSPACED.findall(low):
        found.update(run[at : at + 2] for at in range(max(1, len(run) - 1)))
    return frozenset(found)


def _readable(message: Message) -> str:
    """The text of a message, or of the tool results in it, without the middle of a long one and what hosts put in."""
    text = message.text or "\n".join(result.text for result in message.tool_results)
    most = _ENDS_MAX[message.role]
    text = text if len(text) <= 2 * most else f"{text[:most]}\n{text[-most:]}"
    return remove_host_texts(text) if message.role is Role.USER else text


def _sentences(number: int, role: Role, text: str, calls: bool) -> Iterator[Sentence]:
    parts = list(_parts(text))
    for place, (part, code) in enumerate(parts):
        words = words_of(part) - _EMPTY
        if words:
            salience = _salience(role, part, place, code)
            if calls and place == len(parts) - 1:
                salience *= _ANNOUNCEMENT
            yield Sentence(number, role, place, part, words, salience)


_EMPTY: Final = frozenset({""})


def _parts(text: str) -> Iterable[tuple[str, bool]]:
    """The sentences of a text, and of each whether it stands in a code block."""
    code = False
    for line in map(str.strip, text.split("\n")):
        if line.startswith("```"):
            code = not code
        elif code:
            yield from ((line, True),) if _is_long_enough(line) else ()
        elif line:
            yield from ((part.strip(), False) for part in _END.split(line) if _is_long_enough(part))


def _is_long_enough(part: str) -> bool:
    if part[:1] + part[-1:] in _PLACEHOLDERS:
        return False
    if not part.isascii() and _UNSPACED.search(part):
        return _SIGNS_MIN <= len(part) <= SENTENCE_MAX
    return _LETTERS_MIN <= len(part) <= SENTENCE_MAX


def _salience(role: Role, part: str, place: int, code: bool) -> float:
    weight = _WEIGHTS[role] * math.pow(1 + place / _PLACE_HALF, -_PLACE_POWER)
    last = part[-1]
    if code:
        weight *= _CODE
    if part[0] == "#":
        weight *= _HEADING
    if last in ":\uff1a":
        weight *= _INTRODUCTION
    elif last in "?\uff1f":
        weight *= _QUESTION
    return weight * _NUMBER if _DIGIT.search(part) else weight
