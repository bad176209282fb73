"""Messages resent by a client, with their digests and spellings, and their places in the transcript. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from tokenmizer_mw.model.message import Message, Role, digest
from tokenmizer_mw.wire.history import History
from tokenmizer_mw.wire.host_texts import is_continuation
from tokenmizer_mw.wire.spelling import Spelling, canonical_text, spelling_of

_SPELLED_ALONE: Final = 16
"""Messages that are spelled one by one, as in a history that came back as it was; beyond, all of them are."""

Position = tuple[int, int]
"""The index of a message in a resent history, and the index in the transcript of the message that it is or follows."""


class ResentMessages:
    """Resent messages; their digests, spellings and texts are computed once, on first use.

    ``kept``: store them with the ``History``, computed for all of its messages at once.
    """

    def __init__(self, messages: Sequence[Message], *, kept: bool = False) -> None:
        self._messages = messages
        self._kept = messages if kept and isinstance(messages, History) else None
        self._column: Sequence[str] | None = None
        self._marks: dict[int, str] = {}
        self._spellings: dict[int, Spelling] = {}
        self._texts: dict[int, str] = {}
        self.runs: dict[int, Run] = {}
        """What ``run_back`` returned for messages, by their indexes."""

    def __len__(self) -> int:
        return len(self._messages)

    def role(self, index: int) -> Role:
        """Return the role of message ``index``."""
        messages = self._messages
        return messages.roles[index] if isinstance(messages, History) else messages[index].role

    def mark(self, index: int) -> str:
        """Return the digest of message ``index``."""
        if self._kept is not None:
            if self._column is None:
                self._column = self._kept.column("digest", _digests)
            return self._column[index]
        mark = self._marks.get(index)
        if mark is None:
            mark = self._marks[index] = digest(self._messages[index])
        return mark

    def spelling(self, index: int) -> Spelling:
        """Return the spelling of message ``index``: what identifies it although a client may change its form."""
        spelling = self._spellings.get(index)
        if spelling is None and self._kept is not None and len(self._spellings) >= _SPELLED_ALONE:
            self._spellings = dict(enumerate(self._kept.column("spelling", _spellings)))
            spelling = self._spellings[index]
        if spelling is None:
            spelling = self._spellings[index] = spelling_of(self._messages[index])
        return spelling

    def is_summary(self, index: int) -> bool:
        """Whether message ``index`` has a client's notice that the chat continues from a summary."""
        return is_continuation(self._messages[index])

    def text(self, index: int) -> str:
        """Return the text of message ``index`` without white space and inserted texts, for comparison."""
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
    """A resent transcript aligned with the stored one.

    - ``places``: for each known message, the index of the stored message that it is or begins with; -1 for none.
    - ``holders``: the reverse for stored messages that the client joined to others: stored index to resent index.
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
    """The consecutive messages of one side (assistant, or all others) that end at some message: their text and their
    tool calls, newest first. ``index``: the message before them, -1 for none.
    """

    side: str
    text: str
    calls: list[str]
    index: int


def run_back(resent: ResentMessages, index: int) -> Run:
    """Return the run of one side that ends at message ``index``. Messages without text do not interrupt it."""
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
    """Return the text of one side from message ``start`` on, and for each message in it: the text length up to its end,
    mapped to the index of the next message and the tool calls so far.
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
