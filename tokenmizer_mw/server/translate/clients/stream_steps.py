"""What the stream writers of all client dialects share: events normalised to regular steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from tokenmizer_mw.errors import ForeignReply
from tokenmizer_mw.server.translate.chat import (
    Began,
    Ended,
    Fault,
    Finish,
    Grew,
    ModelReply,
    ModelToolCall,
    PartStart,
    StreamEvent,
    Text,
    Thought,
)
from tokenmizer_mw.server.translate.translation import dump

ANSWER_MAX: Final = 64 * 1024 * 1024
"""Characters of one streamed answer; a longer one ends in an error."""

TOO_LONG: Final = Fault(502, "the provider's answer is too long", "answer_too_long")

COMMENT: Final = b": ping\n\n"
"""What every reader of server-sent events passes over."""

StreamPart = Text | Thought | ModelToolCall


@dataclass(frozen=True, slots=True)
class PartEnd:
    """Step: a part has ended; ``part`` is the whole part. ``cut``: true if the reply reached its length limit in it."""

    part: StreamPart
    cut: bool = False


Step = Began | PartStart | Grew | PartEnd | Ended | Fault


class Progress:
    """Turns stream events into regular steps, which a writer can serialise one by one.

    - ``Began`` comes first, with the model of the request if the stream names none.
    - A text or reasoning part starts only with its first content and ends as a whole; an empty one is omitted.
    - The end has the token counts of the beginning if it has none itself.
    - Nothing follows the end or an error.
    """

    def __init__(self, model: str, anonymous: str, answer_max: int = ANSWER_MAX) -> None:
        self.began = Began(anonymous, model)
        self._answer_max = answer_max
        self._begun = self._ended = False
        self._part: StreamPart | None = None
        self._shown = False
        self._more: list[str] = []
        self._seals: list[str] = []
        self._sealed_by = ""
        self._size = 0

    @property
    def part(self) -> StreamPart | None:
        """The open part, without its content; ``None`` if no part is open."""
        return self._part

    def steps(self, event: StreamEvent) -> Iterator[Step]:
        """Yield the steps for ``event``."""
        if self._ended:
            return
        if not self._begun and not isinstance(event, Fault):
            yield self._begin(event)
        match event:
            case PartStart(part):
                yield from self._close()
                yield from self._open(part)
            case Grew():
                yield from self._grow(event)
            case Ended():
                yield from self._close(cut=event.finish is Finish.LENGTH)
                self._ended = True
                yield replace(event, usage=event.usage or self.began.usage)
            case Fault():
                yield from self._fail(event)
            case _:
                return

    def _begin(self, event: StreamEvent) -> Began:
        self._begun = True
        if isinstance(event, Began):
            self.began = Began(event.id or self.began.id, event.model or self.began.model, event.usage)
        return self.began

    def _open(self, part: StreamPart) -> Iterator[Step]:
        match part:
            case Text():
                self._part, first = Text(""), Grew(part.text)
            case Thought():
                self._part = Thought("", hidden=part.hidden)
                first = Grew(part.text, part.seal, part.sealed_by)
            case ModelToolCall():
                self._part, first = replace(part, arguments=""), Grew(part.arguments)
                self._size += len(part.id) + len(part.name) + len(part.seal)
        if isinstance(part, ModelToolCall):
            yield self._show()
        yield from self._grow(first)

    def _show(self) -> PartStart:
        assert self._part is not None
        self._shown = True
        return PartStart(self._part)

    def _grow(self, event: Grew) -> Iterator[Step]:
        self._size += len(event.more) + len(event.seal)
        if self._size > self._answer_max:
            yield from self._fail(TOO_LONG)
        elif self._part is not None and (event.more or event.seal):
            if not self._shown:
                yield self._show()
            self._more.append(event.more)
            self._seals.append(event.seal)
            self._sealed_by = event.sealed_by or self._sealed_by
            yield event

    def _close(self, *, cut: bool = False) -> Iterator[Step]:
        if self._part is not None and self._shown:
            yield PartEnd(self._whole(self._part), cut)
        self._part, self._shown, self._more, self._seals, self._sealed_by = None, False, [], [], ""

    def _whole(self, part: StreamPart) -> StreamPart:
        text, seal = "".join(self._more), "".join(self._seals)
        match part:
            case Text():
                return Text(text)
            case Thought():
                return Thought(text, seal, self._sealed_by, hidden=part.hidden)
            case ModelToolCall():
                return replace(
                    part, arguments=text, seal=seal or part.seal, sealed_by=self._sealed_by or part.sealed_by
                )

    def _fail(self, fault: Fault) -> Iterator[Step]:
        self._ended = True
        yield fault


def data_line(data: Mapping[str, Any]) -> bytes:
    """Return ``data`` as a server-sent event without a name."""
    return b"data: %b\n\n" % dump(data)


def named_event(data: Mapping[str, Any]) -> bytes:
    """Return ``data`` as a server-sent event whose name is the "type" of ``data``."""
    return b"event: %b\n%b" % (str(data["type"]).encode(), data_line(data))


def parts_of(answer: ModelReply) -> list[StreamPart]:
    """Return the non-empty parts of a complete reply. Raises ``ForeignReply`` for parts that no client can receive
    (images)."""
    parts = [part for part in answer.parts if isinstance(part, StreamPart)]
    if len(parts) < len(answer.parts):
        raise ForeignReply("the provider's answer holds more than texts, thoughts and calls")
    return [part for part in parts if not _is_empty(part)]


def _is_empty(part: StreamPart) -> bool:
    match part:
        case Text(text):
            return not text
        case Thought(text, seal):
            return not (text or seal)
        case _:
            return False
