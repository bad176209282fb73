"""Sentences of a transcript, as candidates for the quotations in a resume block."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.safety.labels import flatten
from tokenmizer_mw.safety.redact.strict import mask_opaque
from tokenmizer_mw.wire.host_texts import remove_host_texts

from .announcements import weight_announcement
from .parts import SENTENCE_MAX, UNSPACED, split_parts

Numbered = tuple[int, Message]
"""A message with its number in the session, from 1."""

CHARACTERS_MAX: Final[dict[Role, int]] = {Role.USER: 120_000, Role.ASSISTANT: 120_000, Role.TOOL: 40_000}
"""How much of the transcript is looked at, by speaker; the newest messages count first."""

_ENDS_MAX: Final[dict[Role, int]] = {Role.USER: 4_000, Role.ASSISTANT: 4_000, Role.TOOL: 800}
"""How much of one message is looked at, at its beginning and at its end."""

READ_MAX: Final = 2 * max(_ENDS_MAX.values())
"""How much of one message is looked at, whoever speaks."""

_WEIGHTS: Final[dict[Role, float]] = {Role.USER: 1.75, Role.ASSISTANT: 1.0, Role.TOOL: 0.15}
_CODE: Final = 0.2
_SYMBOLS: Final = "=(){}[]<>|\\\"';\u2192"
_SYMBOLS_SHARE: Final = 0.05
_LETTERS_SHARE: Final = 0.6
_PREFERRED: Final = 6.0
_HEADING: Final = 0.3
_INTRODUCTION: Final = 0.5
_QUESTION: Final = 0.4
_NUMBER: Final = 1.4
_PLACE_HALF: Final = 6
_PLACE_POWER: Final = 0.7
"""How much a sentence counts: by speaker, inside a code block, as a heading, as an introduction of what follows, as a
question, with a number in it, and by its place in the message. Set on development data."""

_WORD: Final = re.compile(r"[\w./-]{2,}")
_MARKUP: Final = re.compile(r"\*\*|`")
_LEAD: Final = re.compile(r"^(?:#+ |[-*\u2022] )+")
_NUMBERED: Final = re.compile(r"\d+ ?[\u2192:|]")
_PREFERENCE: Final = re.compile(
    r"(?i)\b(?:i|we)(?:['\u2019](?:ve|d|m|re))?(?: (?:have|would|always|also|really|still|am|are))? ?"
    r"(?:prefer|prioriti[sz]e|rather|chose|chosen|decided|never|always|committed)\w*\b"
    r"|\b(?:ich bevorzuge|mir (?:ist|wäre) lieber|je préfère|nous préférons|prefiero|preferimos|prefiro|preferisco"
    r"|preferimos|предпочита\w+|wolę)\b|更喜欢|偏好|宁愿|の方がいい|の方が好き|선호"
)
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

    def render(self) -> str:
        """The sentence as one harmless line without Markdown, whatever may be a key masked, its note in brackets behind
        it."""
        line = flatten(mask_opaque(_MARKUP.sub("", _LEAD.sub("", self.text))), SENTENCE_MAX)
        return f"{line} ({self.note})" if self.note else line


@dataclass(frozen=True, slots=True)
class MessageSentences:
    """The sentences of one message; ``characters`` of it were read."""

    characters: int
    sentences: tuple[Sentence, ...]


def message_sentences(number: int, message: Message) -> MessageSentences:
    """The sentences of a message: of a long one, those of its beginning and its end."""
    text = _readable(message)
    return MessageSentences(len(text), tuple(_sentences(number, message.role, text, bool(message.tool_calls))))


ReadSentences = Callable[[int, Message], MessageSentences]
"""``message_sentences``, or what it gave before."""


def transcript_sentences(
    transcript: Sequence[Numbered], without: frozenset[int] = frozenset(), read: ReadSentences = message_sentences
) -> list[Sentence]:
    """The sentences of ``transcript`` in order, but for those of the messages ``without``.

    Of long messages the beginning and the end are read, and of long transcripts the newest messages of each speaker.
    """
    room = dict(CHARACTERS_MAX)
    chosen: list[tuple[Sentence, ...]] = []
    for number, message in reversed(transcript):
        if number in without or room.get(message.role, 0) <= 0:
            continue
        found = read(number, message)
        room[message.role] -= found.characters
        chosen.append(found.sentences)
    return [sentence for sentences in reversed(chosen) for sentence in sentences]


def words_of(text: str) -> frozenset[str]:
    """The words of ``text`` in lower case; of scripts without spaces, pairs of signs."""
    if text.isascii():
        return frozenset([word.strip("./-_") for word in _WORD.findall(text.lower())])
    low = unicodedata.normalize("NFKC", text).lower()
    found = {word.strip("./-_") for word in _WORD.findall(UNSPACED.sub(" ", low))}
    for run in UNSPACED.findall(low):
        found.update(run[at : at + 2] for at in range(max(1, len(run) - 1)))
    return frozenset(found)


def _readable(message: Message) -> str:
    """The text of a message, or of the tool results in it, without the middle of a long one and what hosts put in."""
    text = message.text or "\n".join(result.text for result in message.tool_results)
    most = _ENDS_MAX[message.role]
    text = text if len(text) <= 2 * most else f"{text[:most]}\n{text[-most:]}"
    return remove_host_texts(text) if message.role is Role.USER else text


def _sentences(number: int, role: Role, text: str, calls: bool) -> Iterator[Sentence]:
    parts = list(split_parts(text, person=role is Role.USER))
    for place, (part, code) in enumerate(parts):
        words = words_of(part) - _EMPTY
        if words and not (role is Role.TOOL and _is_listing(part)):
            salience = _salience(role, part, place, code)
            if role is Role.ASSISTANT and not code:
                salience *= weight_announcement(part, last=calls and place == len(parts) - 1)
            yield Sentence(number, role, place, part, words, salience)


_EMPTY: Final = frozenset({""})


def _salience(role: Role, part: str, place: int, code: bool) -> float:
    weight = _WEIGHTS[role] * math.pow(1 + place / _PLACE_HALF, -_PLACE_POWER)
    last = part[-1]
    if code:
        weight *= _CODE
    elif role is Role.USER and _PREFERENCE.search(part):
        weight *= _PREFERRED
    if part[0] == "#":
        weight *= _HEADING
    if last in ":\uff1a":
        weight *= _INTRODUCTION
    elif last in "?\uff1f":
        weight *= _QUESTION
    return weight * _NUMBER if _DIGIT.search(part) else weight


def _is_listing(part: str) -> bool:
    """Whether a line of a tool's output is code, a numbered line or a row of a table, not a message."""
    if _NUMBERED.match(part):
        return True
    letters = sum(map(str.isalpha, part))
    return sum(map(part.count, _SYMBOLS)) > _SYMBOLS_SHARE * len(part) or letters < _LETTERS_SHARE * len(part)
