"""What dialects share in reading replies and streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, Protocol

from tokenmizer_mw.errors import ForeignReply
from tokenmizer_mw.server.translate.chat import (
    Ended,
    Fault,
    Finish,
    Grew,
    ModelToolCall,
    PartStart,
    Pinged,
    StreamEvent,
    Text,
    Thought,
)
from tokenmizer_mw.wire.reply import ERROR_MAX, error_text, parsed
from tokenmizer_mw.wire.sse import EVENT_MAX, LineDecoder, ServerSentEvent, SSEDecoder
from tokenmizer_mw.wire.text import storable

_CODES: Final = ("code", "status", "type")
_EVENT_LINES: Final = (b"data", b"event", b"id", b"retry", b":")
_DONE: Final = "[DONE]"
_HIGH: Final = ("\ud800", "\udbff")


class ProviderStreamReader(Protocol):
    """What the events of one stream mean, in the order in which they come."""

    def event(self, event: ServerSentEvent) -> Iterable[StreamEvent | Pinged]:
        """What the next event says."""

    def end(self) -> Iterable[StreamEvent]:
        """What the end of the bytes says; nothing where the stream was cut off."""


class EventReader:
    """A reader of a stream of server-sent events. What follows the end of the answer or an error is not looked at.
    Comments keep silent connections alive, and are told as that.

    ``bare``: errors come as lines of JSON that belong to no event, as Gemini sends them. Where no event comes at all,
    such lines are looked at anyway: servers answer a stream's errors with plain JSON.
    """

    def __init__(self, script: ProviderStreamReader, event_max: int = EVENT_MAX, *, bare: bool = False) -> None:
        self._script = script
        self._max = event_max
        self._decoder = SSEDecoder(event_max)
        self._lines: LineDecoder | None = LineDecoder(event_max)
        self._bare: list[bytes] = []
        self._bare_size = 0
        self._bare_wanted = bare
        self._comments = 0
        self._heard = False
        self._over = False

    def receive(self, data: bytes) -> Sequence[StreamEvent | Pinged]:
        """The events that ``data`` completes; ``b""`` is the end of the stream. Never raises."""
        events: list[StreamEvent | Pinged] = []
        for line in data.splitlines(keepends=True) or (b"",):  # line by line, so that what is left out has its place
            if self._over:
                break
            self._keep_bare(line)
            for event in self._decoder.receive_data(line):
                self._hear()
                if not data and torn(event.data):
                    continue
                self._take(self._script.event(event), events)
            if self._decoder.comments > self._comments:
                self._comments = self._decoder.comments
                self._take([Pinged()], events)
            if self._decoder.dropped:
                self._take([Fault(0, f"the provider sent an event of more than {self._max} bytes")], events)
        if not data and not self._over:
            self._take(self._ended(), events)
        return events

    def _hear(self) -> None:
        self._heard = True
        if not self._bare_wanted:
            self._lines = None

    def _keep_bare(self, data: bytes) -> None:
        if self._lines is not None:
            found = self._lines.receive_data(data)
            bare = [line for line in found if line and not line.startswith(_EVENT_LINES)]
            self._bare += bare
            self._bare_size += sum(map(len, bare))
            if self._bare_size > self._max:
                self._lines = None

    def _ended(self) -> Iterator[StreamEvent]:
        if self._heard:
            yield from self._script.end()
        value = parsed(b"\n".join(self._bare).decode("utf-8", "replace"))
        if value is not None:
            yield error_of(value)
        elif not self._heard:
            yield Fault(0, "the provider's reply is no stream of events")

    def _take(self, told: Iterable[StreamEvent | Pinged], events: list[StreamEvent | Pinged]) -> None:
        for event in told if not self._over else ():
            events.append(event)
            self._over = isinstance(event, Ended | Fault)
            if self._over:
                return


class LineReader:
    """A reader of a stream of JSON lines. What follows the end of the answer or an error is not looked at."""

    def __init__(self, script: ProviderStreamReader, line_max: int = EVENT_MAX) -> None:
        self._script = script
        self._max = line_max
        self._lines = LineDecoder(line_max)
        self._heard = False
        self._over = False

    def receive(self, data: bytes) -> Sequence[StreamEvent | Pinged]:
        """The events that ``data`` completes; ``b""`` is the end of the stream. Never raises."""
        events: list[StreamEvent | Pinged] = []
        for line in self._lines.receive_data(data) if not self._over else ():
            if line != b"" and (data or line is None or not torn(line.decode("utf-8", "replace"))):
                self._take(self._read(line), events)
        if not data:
            silent = (Fault(0, "the provider's reply is no stream of lines"),)
            self._take(self._script.end() if self._heard else silent, events)
        return events

    def _read(self, line: bytes | None) -> Iterable[StreamEvent | Pinged]:
        self._heard = True
        if line is None:
            return (Fault(0, f"the provider sent a line of more than {self._max} bytes"),)
        return self._script.event(ServerSentEvent(line.decode("utf-8", "replace")))

    def _take(self, told: Iterable[StreamEvent | Pinged], events: list[StreamEvent | Pinged]) -> None:
        for event in told if not self._over else ():
            events.append(event)
            self._over = isinstance(event, Ended | Fault)
            if self._over:
                return


class Parts:
    """The parts of a streamed answer: what comes lets the open part grow, or opens another."""

    def __init__(self) -> None:
        self.called = False
        self._open: Text | Thought | ModelToolCall | None = None
        self._grew = False
        self._held = ""

    def text(self, more: str) -> Iterator[StreamEvent]:
        """More of a text."""
        if more:
            yield from self._grow(Text(""), more)

    def thought(self, more: str) -> Iterator[StreamEvent]:
        """More of a thought."""
        if more:
            yield from self._grow(Thought(""), more)

    def sealed(self, seal: str, sealed_by: str) -> Iterator[StreamEvent]:
        """The seal of the thought that is open, or of one that nobody sees."""
        if not seal:
            return
        if isinstance(self._open, Thought) and not self._open.hidden:
            yield from self._flush()
            yield Grew(seal=seal, sealed_by=sealed_by)
        else:
            yield from self.open(Thought("", seal, sealed_by, hidden=True))

    def open(self, part: Text | Thought | ModelToolCall) -> Iterator[StreamEvent]:
        """A part of its own, even where one of its kind is open."""
        yield from self.close()
        self._open, self._grew = part, False
        self.called = self.called or isinstance(part, ModelToolCall)
        yield PartStart(part)

    def arguments(self, more: str) -> Iterator[StreamEvent]:
        """More of the arguments of the call that is open, if one is."""
        if more and isinstance(self._open, ModelToolCall):
            yield from self._grown(more)

    def close(self) -> Iterator[StreamEvent]:
        """The open part, if there is one, has ended. A call without arguments has an empty object of them."""
        yield from self._flush()
        if isinstance(self._open, ModelToolCall) and not self._grew:
            yield Grew("{}")
        self._open = None

    def _grow(self, part: Text | Thought, more: str) -> Iterator[StreamEvent]:
        if type(self._open) is not type(part) or (isinstance(self._open, Thought) and self._open.hidden):
            yield from self.open(part)
        yield from self._grown(more)

    def _grown(self, more: str) -> Iterator[StreamEvent]:
        """Half a character waits for its other half."""
        self._grew = True
        text, self._held = self._held + more, ""
        if _HIGH[0] <= text[-1:] <= _HIGH[1]:
            text, self._held = text[:-1], text[-1]
        if text:
            yield Grew(storable(text))

    def _flush(self) -> Iterator[StreamEvent]:
        if self._held:
            self._held = ""
            yield Grew("\ufffd")


def torn(text: str) -> bool:
    """Whether this is neither JSON nor the marker of an end: at the end of the bytes, what was cut off."""
    return parsed(text) is None and not text.startswith(_DONE)


def made_id(*seeds: object) -> str:
    """An id for a call or a reply to which the provider gives none: the same for the same seeds."""
    return "call_" + blake2b("\0".join(map(str, seeds)).encode("utf-8", "replace"), digest_size=12).hexdigest()


def finished(finish: Finish, called: bool) -> Finish:
    """Why a model stopped, where a provider says that it just stopped although it called a tool."""
    return Finish.TOOLS if called and finish is Finish.STOP else finish


def fault_of(status: int, body: bytes) -> Fault:
    """An error response of any dialect in words. Never raises."""
    value = parsed(body.decode("utf-8-sig", "replace"))
    if value is None:
        text = body[: 4 * ERROR_MAX].decode("utf-8", "replace").strip()[:ERROR_MAX]
        return Fault(status, text or f"the provider answered with status {status}")
    return error_of(value, status)


def error_of(value: object, status: int = 0) -> Fault:
    """An error object in words: the error itself, or what holds one as ``error``. A code that is an HTTP status is the
    status where none is told."""
    if isinstance(value, list) and value:
        value = value[0]
    error = value.get("error") or value if isinstance(value, dict) else value
    message = error
    if isinstance(error, dict):
        message = next((error[name] for name in ("message", "detail") if isinstance(error.get(name), str)), None)
        status = status or _status(error.get("code"))
    return Fault(status, error_text(message), _code(error))


def _code(error: object) -> str:
    found = [error.get(name) for name in _CODES] if isinstance(error, dict) else []
    return next((storable(code[:ERROR_MAX]) for code in found if isinstance(code, str) and code), "")


def _status(code: object) -> int:
    number = int(code) if isinstance(code, str) and code.isdecimal() and len(code) == 3 else code
    return number if isinstance(number, int) and 400 <= number < 600 else 0


def foreign(body: Mapping[str, Any], wanted: str) -> ForeignReply:
    """The error for a whole reply without ``wanted``; it says what the provider says, where that is an error."""
    if body.get("error"):
        return ForeignReply(error_of(body).message)
    return ForeignReply(f"the provider's reply has no {wanted}")


def objects(value: object) -> list[dict[str, Any]]:
    """The objects in a list; none where it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text_in(raw: Mapping[str, Any], name: str) -> str:
    """The text of a member, without lone surrogates; "" where it is not a text."""
    return storable(piece_in(raw, name))


def piece_in(raw: Mapping[str, Any], name: str) -> str:
    """The text of a member as it came: half a character may stand at its end; "" for what is none."""
    value = raw.get(name)
    return value if isinstance(value, str) else ""


def object_in(raw: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The object in a member; empty where it is not an object."""
    value = raw.get(name)
    return value if isinstance(value, dict) else {}
