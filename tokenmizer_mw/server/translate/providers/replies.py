"""Functions and classes with which the translators for providers parse replies and streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, Protocol

from tokenmizer_mw.errors import ForeignReply
from tokenmizer_mw.server.translate import chat
from tokenmizer_mw.wire.json_text import storable
from tokenmizer_mw.wire.reply import ERROR_MAX, error_text, parse_json, token_counts
from tokenmizer_mw.wire.sse import EVENT_MAX, LineDecoder, ServerSentEvent, SSEDecoder

_CODES: Final = ("code", "status", "type")
_EVENT_LINES: Final = (b"data", b"event", b"id", b"retry", b":")
_DONE: Final = "[DONE]"
_HIGH: Final = ("\ud800", "\udbff")


class ProviderStreamReader(Protocol):
    """Protocol of what differs between providers in parsing a stream: what one event means, and how the stream ends."""

    def event(self, event: ServerSentEvent) -> Iterable[chat.StreamEvent | chat.Pinged]:
        """Parse the next event of the provider's stream, and return the API-independent stream events in it."""

    def end(self) -> Iterable[chat.StreamEvent]:
        """Return the stream events that are still to be sent after the provider's stream has ended.

        Empty if all have been sent, or if the stream was cut off.
        """


class _Reader:
    """Base class of the stream readers. It ignores everything after the end of the reply or after an error."""

    def __init__(self, script: ProviderStreamReader, size_max: int) -> None:
        self._script = script
        self._max = size_max
        self._heard = False
        self._over = False

    def _take(
        self, values: Iterable[chat.StreamEvent | chat.Pinged], events: list[chat.StreamEvent | chat.Pinged]
    ) -> None:
        for event in values if not self._over else ():
            events.append(event)
            self._over = isinstance(event, chat.Ended | chat.Fault)
            if self._over:
                return


class EventReader(_Reader):
    """Parses a stream of server-sent events into API-independent stream events. Everything after the end of the reply
    or after an error is ignored.

    - ``script``: parses the events of the provider's API format.
    - ``event_max``: maximum size in bytes of an event; a larger one gives a ``Fault``.
    - ``bare``: whether the provider sends errors as JSON outside of events, as Gemini does. If a stream has no event at
      all, such JSON is parsed in any case.

    Comments in the stream, which keep idle connections alive, are returned as ``Pinged``.
    """

    def __init__(self, script: ProviderStreamReader, event_max: int = EVENT_MAX, *, bare: bool = False) -> None:
        super().__init__(script, event_max)
        self._decoder = SSEDecoder(event_max)
        self._lines: LineDecoder | None = LineDecoder(event_max)
        self._bare: list[bytes] = []
        self._bare_size = 0
        self._bare_wanted = bare
        self._comments = 0

    def receive(self, data: bytes) -> Sequence[chat.StreamEvent | chat.Pinged]:
        """Return the stream events that are complete with ``data``, the next bytes of the stream. b"" says that the
        stream has ended.

        Never raises: what cannot be parsed becomes a ``Fault``. If the stream was cut off, there is no ``Ended``.
        """
        events: list[chat.StreamEvent | chat.Pinged] = []
        for line in data.splitlines(keepends=True) or (b"",):  # line by line, so that what is left out has its place
            if self._over:
                break
            self._keep_bare(line)
            for event in self._decoder.receive_data(line):
                self._hear()
                if not data and is_torn(event.data):
                    continue
                self._take(self._script.event(event), events)
            if self._decoder.comments > self._comments:
                self._comments = self._decoder.comments
                self._take([chat.Pinged()], events)
            if self._decoder.dropped:
                self._take([chat.Fault(0, f"the provider sent an event of more than {self._max} bytes")], events)
        if not data and not self._over:
            self._take(self._end_stream(), events)
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

    def _end_stream(self) -> Iterator[chat.StreamEvent]:
        if self._heard:
            yield from self._script.end()
        value = parse_json(b"\n".join(self._bare).decode("utf-8", "replace"))
        if value is not None:
            yield error_of(value)
        elif not self._heard:
            yield chat.Fault(0, "the provider's reply is no stream of events")


class LineReader(_Reader):
    """Parses a stream of JSON lines into API-independent stream events. Everything after the end of the reply or after
    an error is ignored. ``script``: parses a line. ``line_max``: maximum size in bytes of a line; a larger one gives a
    ``Fault``."""

    def __init__(self, script: ProviderStreamReader, line_max: int = EVENT_MAX) -> None:
        super().__init__(script, line_max)
        self._lines = LineDecoder(line_max)

    def receive(self, data: bytes) -> Sequence[chat.StreamEvent | chat.Pinged]:
        """Return the stream events that are complete with ``data``, the next bytes of the stream. b"" says that the
        stream has ended.

        Never raises: what cannot be parsed becomes a ``Fault``. If the stream was cut off, there is no ``Ended``.
        """
        events: list[chat.StreamEvent | chat.Pinged] = []
        for line in self._lines.receive_data(data) if not self._over else ():
            if line != b"" and (data or line is None or not is_torn(line.decode("utf-8", "replace"))):
                self._take(self._read(line), events)
        if not data:
            silent = (chat.Fault(0, "the provider's reply is no stream of lines"),)
            self._take(self._script.end() if self._heard else silent, events)
        return events

    def _read(self, line: bytes | None) -> Iterable[chat.StreamEvent | chat.Pinged]:
        self._heard = True
        if line is None:
            return (chat.Fault(0, f"the provider sent a line of more than {self._max} bytes"),)
        return self._script.event(ServerSentEvent(line.decode("utf-8", "replace")))


class Parts:
    """Turns the pieces of a streamed reply into stream events. A piece extends the open part if it is of the same kind,
    else it opens a new part.

    ``called``: whether a tool call has been opened.
    """

    def __init__(self) -> None:
        self.called = False
        self._open: chat.Text | chat.Thought | chat.ModelToolCall | None = None
        self._grew = False
        self._held = ""

    def text(self, more: str) -> Iterator[chat.StreamEvent]:
        """Add a piece of text. Yields the stream events that follow from it; none for ""."""
        if more:
            yield from self._grow(chat.Text(""), more)

    def add_thought(self, more: str) -> Iterator[chat.StreamEvent]:
        """Add a piece of reasoning text. Yields the stream events that follow from it; none for ""."""
        if more:
            yield from self._grow(chat.Thought(""), more)

    def add_seal(self, seal: str, sealed_by: str) -> Iterator[chat.StreamEvent]:
        """Add ``seal``, the provider's signature of its reasoning, to the open reasoning part. If no such part is open,
        open one with the signature and without text. Yields the stream events that follow from it; none if ``seal`` is
        "".

        ``sealed_by``: the origin of the signature, such as "anthropic" (see ``Thought``).
        """
        if not seal:
            return
        if isinstance(self._open, chat.Thought) and not self._open.hidden:
            yield from self._flush()
            yield chat.Grew(seal=seal, sealed_by=sealed_by)
        else:
            yield from self.open(chat.Thought("", seal, sealed_by, hidden=True))

    def open(self, part: chat.Text | chat.Thought | chat.ModelToolCall) -> Iterator[chat.StreamEvent]:
        """Close the open part, if there is one, and open ``part``. Yields the stream events that follow from it."""
        yield from self.close()
        self._open, self._grew = part, False
        self.called = self.called or isinstance(part, chat.ModelToolCall)
        yield chat.PartStart(part)

    def arguments(self, more: str) -> Iterator[chat.StreamEvent]:
        """Add a piece of the arguments of the open tool call. Yields the stream events that follow from it; none if no
        tool call is open."""
        if more and isinstance(self._open, chat.ModelToolCall):
            yield from self._grow_text(more)

    def close(self) -> Iterator[chat.StreamEvent]:
        """Close the open part, if there is one. A tool call that has got no arguments gets "{}". Yields the stream
        events that follow from it."""
        yield from self._flush()
        if isinstance(self._open, chat.ModelToolCall) and not self._grew:
            yield chat.Grew("{}")
        self._open = None

    def _grow(self, part: chat.Text | chat.Thought, more: str) -> Iterator[chat.StreamEvent]:
        if type(self._open) is not type(part) or (isinstance(self._open, chat.Thought) and self._open.hidden):
            yield from self.open(part)
        yield from self._grow_text(more)

    def _grow_text(self, more: str) -> Iterator[chat.StreamEvent]:
        """Add a piece of text to the open part. If the piece ends with the first half of a surrogate pair (a character
        outside of the BMP), that half waits for the next piece."""
        self._grew = True
        text, self._held = self._held + more, ""
        if _HIGH[0] <= text[-1:] <= _HIGH[1]:
            text, self._held = text[:-1], text[-1]
        if text:
            yield chat.Grew(storable(text))

    def _flush(self) -> Iterator[chat.StreamEvent]:
        if self._held:
            self._held = ""
            yield chat.Grew("\ufffd")


def is_torn(text: str) -> bool:
    """Return whether ``text``, the last event or line of a stream, was cut off: it is neither JSON nor the end marker
    "[DONE]"."""
    return parse_json(text) is None and not text.startswith(_DONE)


def make_id(*seeds: object) -> str:
    """Return an id for a tool call or reply to which the provider gives none. The same ``seeds`` always give the same
    id."""
    return "call_" + blake2b("\0".join(map(str, seeds)).encode("utf-8", "replace"), digest_size=12).hexdigest()


def resolve_finish(finish: chat.Finish, called: bool) -> chat.Finish:
    """Return ``Finish.TOOLS`` if ``finish`` is ``Finish.STOP`` and the model called a tool (``called``), because some
    providers report only a stop then. Otherwise return ``finish``."""
    return chat.Finish.TOOLS if called and finish is chat.Finish.STOP else finish


def usage_in(raw: object, names: Sequence[tuple[str, str]]) -> chat.Usage | None:
    """Return the token counts in ``raw``, the usage object of a reply; ``None`` if it has no valid count.

    ``names``: pairs of a field of the provider's API format and the field of ``Usage`` for it. If several pairs have
    the same field of ``Usage``, the last one whose field is in ``raw`` is used. Missing and invalid counts are 0.
    """
    counts = token_counts(raw, names)
    return chat.Usage(**counts) if counts else None


def fault_of(status: int, body: bytes) -> chat.Fault:
    """Parse the body of an error response, of any provider, with this HTTP status. Never raises. If the body is not
    JSON, its text is the message."""
    value = parse_json(body.decode("utf-8-sig", "replace"))
    if value is None:
        text = body[: 4 * ERROR_MAX].decode("utf-8", "replace").strip()[:ERROR_MAX]
        return chat.Fault(status, text or f"the provider answered with status {status}")
    return error_of(value, status)


def error_of(value: object, status: int = 0) -> chat.Fault:
    """Return the error in ``value``: parsed JSON that is an error, has one in its member ``error``, or is a list that
    begins with such an object.

    ``status``: HTTP status. If it is 0 (unknown) and the error's code is an HTTP status, that is used.
    """
    if isinstance(value, list) and value:
        value = value[0]
    error = value.get("error") or value if isinstance(value, dict) else value
    message = error
    if isinstance(error, dict):
        message = next((error[name] for name in ("message", "detail") if isinstance(error.get(name), str)), None)
        status = status or _status(error.get("code"))
    return chat.Fault(status, error_text(message), _code(error))


def _code(error: object) -> str:
    found = [error.get(name) for name in _CODES] if isinstance(error, dict) else []
    return next((storable(code[:ERROR_MAX]) for code in found if isinstance(code, str) and code), "")


def _status(code: object) -> int:
    number = int(code) if isinstance(code, str) and code.isdecimal() and len(code) == 3 else code
    return number if isinstance(number, int) and 400 <= number < 600 else 0


def foreign(body: Mapping[str, Any], wanted: str) -> ForeignReply:
    """Return (not raise) the error for a provider's reply without the member ``wanted``. It quotes the provider's own
    error if there is one."""
    if body.get("error"):
        return ForeignReply(error_of(body).message)
    return ForeignReply(f"the provider's reply has no {wanted}")


def text_in(raw: Mapping[str, Any], name: str) -> str:
    """Return the string member ``name`` of ``raw``; "" if it is missing or not a string. Unpaired surrogates (halves of
    a character) are replaced by U+FFFD."""
    return storable(piece_in(raw, name))


def piece_in(raw: Mapping[str, Any], name: str) -> str:
    """Return the string member ``name`` of ``raw`` unchanged; "" if it is missing or not a string. Unlike with
    ``text_in``, the string may end with the first half of a surrogate pair."""
    value = raw.get(name)
    return value if isinstance(value, str) else ""


def object_in(raw: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the object member ``name`` of ``raw``; ``{}`` if it is missing or not an object."""
    value = raw.get(name)
    return value if isinstance(value, dict) else {}
