"""What a reader tells of a stream, put together again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from tokenmizer_mw.server.translate.chat import (
    Began,
    Ended,
    Fault,
    Grew,
    ModelToolCall,
    Part,
    PartStart,
    StreamEvent,
    Text,
    Thought,
)
from tokenmizer_mw.server.translate.translation import StreamReader


def events_of(reader: StreamReader, pieces: Iterable[bytes]) -> list[StreamEvent]:
    """The events of a stream that comes in these pieces and then ends."""
    return [event for piece in (*filter(None, pieces), b"") for event in reader.receive(piece)]


@dataclass
class Heard:
    """A stream put together: its parts, and what began and ended it. Raises ``AssertionError`` for events that are out
    of order."""

    parts: list[Part] = field(default_factory=list)
    began: Began | None = None
    ended: Ended | None = None
    fault: Fault | None = None

    def add(self, event: StreamEvent) -> None:
        assert self.ended is None and self.fault is None, "nothing follows the end"
        match event:
            case Began():
                assert self.began is None and not self.parts
                self.began = event
            case PartStart(part):
                assert part.arguments == "" if isinstance(part, ModelToolCall) else part.text == ""
                self.parts.append(part)
            case Grew(more, seal, sealed_by):
                more.encode()
                self.parts[-1] = grown(self.parts[-1], more, seal, sealed_by)
            case Ended():
                self.ended = event
            case Fault():
                self.fault = event

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def thought(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Thought))

    @property
    def calls(self) -> list[ModelToolCall]:
        return [part for part in self.parts if isinstance(part, ModelToolCall)]


def grown(part: Part, more: str, seal: str, sealed_by: str) -> Part:
    match part:
        case Text(text):
            return Text(text + more)
        case Thought(text):
            return replace(part, text=text + more, seal=part.seal + seal, sealed_by=part.sealed_by or sealed_by)
        case ModelToolCall(arguments=arguments):
            return replace(part, arguments=arguments + more)
    raise AssertionError(f"no such part grows: {part}")


def heard(events: Sequence[StreamEvent]) -> Heard:
    told = Heard()
    for event in events:
        told.add(event)
    return told


def settled(events: Sequence[StreamEvent]) -> list[StreamEvent]:
    """The events with neighbouring growth of one part as one, since chunkings may tear it differently."""
    whole: list[StreamEvent] = []
    for event in events:
        last = whole[-1] if whole else None
        if isinstance(event, Grew) and isinstance(last, Grew) and not last.seal and not event.seal:
            whole[-1] = Grew(last.more + event.more)
        else:
            whole.append(event)
    return whole
