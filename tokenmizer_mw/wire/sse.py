"""Incremental decoding of line streams and of server-sent events (SSE), on bytes.

Only CR, LF and CRLF end a line: the Unicode line ends that ``str.splitlines`` recognises are ordinary text here. Text
is decoded one complete event at a time, so that no character is split. The events do not depend on how a stream is
chunked; the time is linear in its length.

https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
"""

from __future__ import annotations

from typing import Final, NamedTuple

EVENT_MAX: Final = 8 * 1024 * 1024
"""Longest line or event that a decoder returns, in bytes; see ``LineDecoder`` and ``SSEDecoder`` for longer ones."""

_BOM: Final = b"\xef\xbb\xbf"
_STREAM_STARTS: Final = (b"data:", b"event:", b"id:", b"retry:", b":")


class LineDecoder:
    """Splits a stream of bytes, in any chunks, into lines without their ends. Sufficient for NDJSON.

    A line of more than ``line_max`` bytes is returned as ``None``. One byte order mark at the start is dropped.
    """

    def __init__(self, line_max: int = EVENT_MAX) -> None:
        self._line_max = line_max
        self._pieces: list[bytes] = []
        self._size = 0
        self._held_cr = False
        self._started = False

    def receive_data(self, data: bytes) -> list[bytes | None]:
        """Return the lines that ``data`` completes. ``data`` of ``b""`` marks the end of the stream and completes the
        last line.

        A CR at the end of ``data`` is held back, because it may be half of a CRLF. A line that is too long is ``None``
        (see the class).
        """
        if not data:
            return self._finish()
        if self._held_cr:
            data = b"\r" + data
        self._held_cr = data.endswith(b"\r")
        if self._held_cr:
            data = data[:-1]
        ended = data.endswith((b"\n", b"\r"))
        lines = data.splitlines()
        rest = b"" if ended or not lines else lines.pop()
        if not lines:
            self._keep(rest)
            return []
        first = self._complete(lines[0])
        self._keep(rest)
        return [first, *(line if len(line) <= self._line_max else None for line in lines[1:])]

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._line_max:
            self._pieces.clear()
        elif piece:
            self._pieces.append(piece)

    def _complete(self, end: bytes) -> bytes | None:
        self._keep(end)
        line = b"".join(self._pieces) if self._size <= self._line_max else None
        self._pieces.clear()
        self._size = 0
        if line is not None and not self._started:
            line = line.removeprefix(_BOM)
        self._started = True
        return line

    def _finish(self) -> list[bytes | None]:
        unfinished = self._held_cr or self._size > 0
        self._held_cr = False
        return [self._complete(b"")] if unfinished else []


class ServerSentEvent(NamedTuple):
    """One event: its data lines joined with line feeds, and its type ("" when the stream names none)."""

    data: str
    event: str = ""


class SSEDecoder:
    """Splits a stream of bytes, in any chunks, into server-sent events.

    Comments, unknown fields and events without data are dropped; so are events with a line, or with data, of more than
    ``event_max`` bytes. ``dropped`` counts such long events, ``comments`` the comments. Holds at most twice
    ``event_max`` bytes.
    """

    def __init__(self, event_max: int = EVENT_MAX) -> None:
        self.dropped = self.comments = 0
        self._event_max = event_max
        self._lines = LineDecoder(event_max)
        self._data: list[bytes] = []
        self._event = b""
        self._size = 0
        self._too_long = False

    def receive_data(self, data: bytes) -> list[ServerSentEvent]:
        """Return the events that ``data`` completes. ``data`` of ``b""`` marks the end of the stream.

        The end also completes an event whose blank line is missing, because many clients that read line by line have
        seen it.
        """
        events = []
        for line in self._lines.receive_data(data):
            if line:
                self._add(line)
            elif line is None:
                self._too_long = True
            elif (event := self._dispatch()) is not None:
                events.append(event)
        if not data and (event := self._dispatch()) is not None:
            events.append(event)
        return events

    def _add(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._size += len(value) + bool(self._data)
            self._too_long = self._too_long or self._size > self._event_max
            if self._too_long:
                self._data.clear()
            else:
                self._data.append(value)
        elif name == b"event":
            self._event = value
        elif not name:
            self.comments += 1

    def _dispatch(self) -> ServerSentEvent | None:
        data, event, too_long = self._data, self._event, self._too_long
        self._data, self._event, self._size, self._too_long = [], b"", 0, False
        if too_long:
            self.dropped += 1
            return None
        if not data:
            return None
        return ServerSentEvent(b"\n".join(data).decode("utf-8", "replace"), event.decode("utf-8", "replace"))


def lines_in(data: bytes) -> list[str]:
    """Return the lines of a complete captured response, decoded as UTF-8 (invalid bytes as U+FFFD), without empty
    lines."""
    decoder = LineDecoder(line_max=max(1, len(data)))
    lines = (*decoder.receive_data(data), *decoder.receive_data(b""))
    return [line.decode("utf-8", "replace") for line in lines if line]


def sent_events(data: bytes) -> list[ServerSentEvent]:
    """Return the server-sent events in all the bytes of a response. Lines that belong to no event are ignored."""
    decoder = SSEDecoder(event_max=max(1, len(data)))
    return [*decoder.receive_data(data), *decoder.receive_data(b"")]


def events_in(data: bytes, *, stream: bool) -> list[ServerSentEvent] | None:
    """Return the server-sent events of a complete captured response; ``None`` when it is parsed as one JSON document
    instead.

    ``stream``: whether the request asked for a stream. The content decides first, because servers report a stream's
    errors as plain JSON: a body that starts with "{" gives ``None``. So does, if ``stream`` is false, a body that does
    not start like an event stream.
    """
    start = data.removeprefix(_BOM).lstrip()
    if start.startswith(b"{") or not (stream or start.startswith(_STREAM_STARTS)):
        return None
    if b"\r" not in data:
        return _events_of_lines(data.removeprefix(_BOM).split(b"\n"))
    return sent_events(data)


def data_in(data: bytes, *, stream: bool) -> list[str] | None:
    """Return the data of each server-sent event of a complete captured response, for dialects whose events have no
    type; ``None`` when the response is parsed as one JSON document instead. ``stream``: as for ``events_in``, which
    draws the line."""
    plain = _plain_data(data)
    if plain is not None:
        return plain
    events = events_in(data, stream=stream)
    return [event.data for event in events] if events is not None else None


def _plain_data(data: bytes) -> list[str] | None:
    """Return the data of the events of a stream of "data:" lines only, each followed by a blank line, as most servers
    write it. ``None`` for any other stream. Such a stream is split at once, which saves most of the time that a long
    reply takes."""
    if not (data.startswith(b"data: ") and data.endswith(b"\n\n")):
        return None
    pieces = data[len(b"data: ") : -len(b"\n\n")].decode("utf-8", "replace").split("\n\ndata: ")
    return pieces if data.count(b"\n") == 2 * len(pieces) else None


def _events_of_lines(lines: list[bytes]) -> list[ServerSentEvent]:
    """Return the events in all lines of a stream, the same as ``SSEDecoder`` returns."""
    events: list[ServerSentEvent] = []
    held: list[bytes] = []
    event = b""
    for line in (*lines, b""):
        if not line:
            if held:
                data = b"\n".join(held).decode("utf-8", "replace")
                events.append(ServerSentEvent(data, event.decode("utf-8", "replace")))
                held = []
            event = b""
        elif line.startswith(b"data: "):
            held.append(line[6:])
        else:
            name, _, value = line.partition(b":")
            if name == b"data":
                held.append(value.removeprefix(b" "))
            elif name == b"event":
                event = value.removeprefix(b" ")
    return events
