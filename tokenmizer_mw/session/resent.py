"""Messages that a client sends again, with their digests and spellings, and their places in the transcript. Pure.

``digest`` recognises an unchanged message. But clients also drop thinking, trim white space, omit images, renumber tool
calls, clear old tool results, and join or split messages. A ``Spelling`` leaves out what they change.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

import re2

from tokenmizer_mw.model.message import Message, Role, canonical_arguments, digest
from tokenmizer_mw.wire.history import History
from tokenmizer_mw.wire.host_rows import HostTextKind
from tokenmizer_mw.wire.host_texts import find_host_texts, is_continuation, remove_host_texts, without_surrogates

_SPELLED_ALONE: Final = 16
"""Number of messages whose spelling is computed one by one, enough for an unchanged history. After that, the spellings
of all messages are computed at once."""

SUMMARY_WITHIN: Final = 3
"""Number of messages at the start of a resent transcript among which a summary is looked for."""

Position = tuple[int, int]
"""A position in a resent history: the index of a message in it, and the index of the stored message that it is or
follows."""


class ResentMessages:
    """The messages of a request, in which a client sends its history again. Their digests, spellings and texts are
    computed once, on first use.

    ``shared``: store them with the ``History``, computed for all of its messages at once.
    """

    def __init__(self, messages: Sequence[Message], *, shared: bool = False) -> None:
        self._messages = messages
        self._history = messages if shared and isinstance(messages, History) else None
        self._column: Sequence[str] | None = None
        self._marks: dict[int, str] = {}
        self._first_marks: list[str] = []
        self._spellings: dict[int, Spelling] = {}
        self._texts: dict[int, str] = {}
        self.runs: dict[int, Run] = {}
        """What ``run_back`` returned, by the index of the message."""

    def __len__(self) -> int:
        return len(self._messages)

    def role(self, index: int) -> Role:
        """Return the role of message ``index``."""
        messages = self._messages
        return messages.roles[index] if isinstance(messages, History) else messages[index].role

    def mark(self, index: int) -> str:
        """Return the digest of message ``index``, a hash of the whole message: equal messages have equal digests."""
        if self._history is not None:
            if self._column is None:
                self._column = self._history.column("digest", _digests)
            return self._column[index]
        mark = self._marks.get(index)
        if mark is None:
            mark = self._marks[index] = _digest_of(self._messages[index])
        return mark

    @property
    def first_marks(self) -> list[str]:
        """The digests of the first ``SUMMARY_WITHIN`` messages, or of all if there are fewer. A summary that a client
        put in place of older messages is among these."""
        if not self._first_marks:
            self._first_marks = [self.mark(index) for index in range(min(SUMMARY_WITHIN, len(self._messages)))]
        return self._first_marks

    def spelling(self, index: int) -> Spelling:
        """Return the spelling of message ``index``, which identifies the message even if a client changed its form."""
        spelling = self._spellings.get(index)
        if spelling is None and self._history is not None and len(self._spellings) >= _SPELLED_ALONE:
            self._spellings = dict(enumerate(self._history.column("spelling", _spellings)))
            spelling = self._spellings[index]
        if spelling is None:
            spelling = self._spellings[index] = recent_spelling_of(self._messages[index])
        return spelling

    def is_summary(self, index: int) -> bool:
        """Whether message ``index`` has a client's notice that the chat continues from a summary."""
        return is_continuation(self._messages[index])

    def text(self, index: int) -> str:
        """Return the text of message ``index`` in the form in which texts are compared (``canonical_text``)."""
        text = self._texts.get(index)
        if text is None:
            text = self._texts[index] = canonical_text(self._messages[index])
        return text


def _digests(messages: Sequence[Message]) -> Iterable[str]:
    return map(digest, messages)


def _spellings(messages: Sequence[Message]) -> Iterable[Spelling]:
    return map(spelling_of, messages)


@dataclass(frozen=True, slots=True)
class ResentHistory:
    """A resent history, and which stored message each of its messages is.

    - ``places``: for each known message, the index of the stored message that it is or begins with; -1 for none.
    - ``holders``: for stored messages that the client joined to others: stored index to resent index.
    - ``changed``: position of the first message that differs from the stored one; ``None`` if there is none.
    """

    places: list[int]
    holders: dict[int, int] = field(default_factory=dict)
    changed: Position | None = None

    def index_of(self, place: int) -> int | None:
        """Return the resent index of the message that holds stored message ``place``; ``None`` if it was not resent."""
        try:
            return self.places.index(place)
        except ValueError:
            return self.holders.get(place)


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive messages of one side (the assistant, or all others), as joined by clients: their text and their tool
    calls, newest first. ``index``: index of the message before them, -1 for none."""

    side: str
    text: str
    calls: list[str]
    index: int


def run_back(resent: ResentMessages, index: int) -> Run:
    """Return the run of messages of one side that ends with message ``index``. Messages without text do not interrupt
    it."""
    if (known := resent.runs.get(index)) is not None:
        return known
    last, side, texts, calls = index, "", [], []
    while index >= 0:
        spelling = resent.spelling(index)
        if spelling.length:
            if side and spelling.side != side:
                break
            side = spelling.side
            texts.append(resent.text(index))
        calls += [spelling.calls] * bool(spelling.calls)
        index -= 1
    run = resent.runs[last] = Run(side, "".join(reversed(texts)), calls, index)
    return run


def run_on(resent: ResentMessages, start: int) -> tuple[str, dict[int, tuple[int, list[str]]]]:
    """Return the joined text of the messages of one side from message ``start`` on, and where in it each message ends.
    A message of the other side, or with tool results, ends the text.

    The mapping has an entry for each message: from the length of the text up to its end to the index of the next
    message and the tool calls so far.
    """
    side = resent.spelling(start).side
    texts: list[str] = []
    length, calls = 0, list[str]()
    ends: dict[int, tuple[int, list[str]]] = {}
    for index in range(start, len(resent)):
        spelling = resent.spelling(index)
        if spelling.side != side or spelling.results:
            break
        texts.append(resent.text(index))
        length += spelling.length
        calls = calls + [spelling.calls] * bool(spelling.calls)
        ends[length] = index + 1, calls
    return "".join(texts), ends


_DIGEST_BYTES: Final = 8
_ASCII_SPACE: Final = bytes(code for code in range(128) if chr(code).isspace())
_THOUGHTS = re2.compile(
    r"(?is)<(?:think|thinking|thought|reasoning)>.*?</(?:think|thinking|thought|reasoning)>"
    r'|<details type="reasoning"[^>]*>.*?</details>'
)

_THOUGHT_ENDS = re2.compile(r"(?is)^.*</(?:think|thinking)>")
"""Matches the end of a thought whose beginning was written by the model's chat template."""

_HOST_BLOCKS = re2.compile(
    r"(?is)<(?:system-reminder|environment_details)>.*?</(?:system-reminder|environment_details)>"
)
"""Matches texts that hosts put into the user's messages."""

_FORMAT_TAIL = re2.compile(r"\n\s*(?:Reply in [^\n.]{2,40}\.|NEVER RETURN CODE!)\s*\z")
"""Matches what aider appends to the newest message. A user may write the same, so it is left out only for the
comparison."""

_TAIL_MAX: Final = 80
"""Characters at the end of a message in which a text that aider appends (``_FORMAT_TAIL``) is looked for."""

_PASSING: Final = frozenset({HostTextKind.REMINDER, HostTextKind.ENVIRONMENT})
"""Kinds of texts that hosts put beside the user's words and remove again later."""


class Spelling(NamedTuple):
    """The features by which a message is recognised even if a client changed its form.

    - ``side``: "a" for the assistant, "u" for all others.
    - ``length``, ``text``: length and digest of the text without spaces; 0 and "" for none.
    - ``calls``, ``results``: digests of the tool calls and the tool results without their ids; "" for none.
    """

    side: str
    length: int
    text: str
    calls: str
    results: str

    @property
    def silent(self) -> bool:
        """Whether the message has neither text nor tool calls: a tool result, an image, or thinking."""
        return not (self.length or self.calls)

    def to_key(self) -> str:
        """Return the fields joined by dots, which ``from_key`` parses, as a key for caches and events."""
        return f"{self.side}.{self.length}.{self.text}.{self.calls}.{self.results}"

    @classmethod
    def from_key(cls, key: str) -> Spelling:
        """Parse a key that ``to_key`` returned. Raises ``ValueError`` for other text."""
        side, length, text, calls, results = key.split(".")
        return cls(side, int(length), text, calls, results)

    def repeats(self, other: Spelling) -> bool:
        """Whether this message may be ``other`` resent by a client: it has the same text, and the same calls or none.
        Tool results may have been cleared."""
        same_text = (self.side, self.length, self.text) == (other.side, other.length, other.text)
        return same_text and (not self.calls or self.calls == other.calls)


def canonical_text(message: Message) -> str:
    """Return the text of a message in the form in which texts are compared: its text followed by its refusal, without
    white space, thinking in tags such as "<think>" and texts inserted by hosts, in Unicode form NFC."""
    text = message.text + message.refusal
    if not text.isascii():
        text = without_surrogates(text)
    if message.role is Role.ASSISTANT:
        if "<" in text and "</" in text:  # one character is looked for many times as fast as two
            text = str(_THOUGHT_ENDS.sub("", _THOUGHTS.sub("", text)))
        if find_host_texts(text, Role.ASSISTANT):
            text = remove_host_texts(text, role=Role.ASSISTANT)
    else:
        text = _HOST_BLOCKS.sub("", text) if "<" in text else text
        if find_host_texts(text):
            text = remove_host_texts(text, _PASSING)
        if "\n" in (tail := text[-_TAIL_MAX:]):
            text = text[:-_TAIL_MAX] + str(_FORMAT_TAIL.sub("", tail))
    if text.isascii():  # the same, in a sixth of the time
        return text.encode().translate(None, _ASCII_SPACE).decode()
    return unicodedata.normalize("NFC", "".join(text.split()))


def spelling_of(message: Message) -> Spelling:
    """Return the ``Spelling`` of a message, by which it is recognised even if a client changed its form."""
    text = canonical_text(message)
    calls = results = ""
    if message.tool_calls:
        calls = "\n".join([f"{call.name} {canonical_arguments(call.arguments)}" for call in message.tool_calls])
    if message.tool_results:
        results = "\n".join(["".join(result.text.split()) for result in message.tool_results])
    return Spelling(
        "a" if message.role is Role.ASSISTANT else "u",
        len(text),
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest() if text else "",
        text_digest(calls) if calls else "",
        text_digest(results) if message.tool_results else "",
    )


_RECENT: Final = 32
"""Number of messages whose digest and spelling are kept: a call asks for those of its newest messages several times,
and several threads record calls."""

_digest_of: Final = lru_cache(maxsize=_RECENT)(digest)
recent_spelling_of: Final = lru_cache(maxsize=_RECENT)(spelling_of)
"""``spelling_of`` for the newest messages of chats: each is computed once."""


def forget_recent_messages() -> None:
    """Forget the messages whose digest and spelling are kept."""
    _digest_of.cache_clear()
    recent_spelling_of.cache_clear()


def text_digest(text: str) -> str:
    """Return the BLAKE2b hash of a text as 16 hexadecimal digits, by which equal texts are recognised."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest()
