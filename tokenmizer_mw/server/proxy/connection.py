"""One HTTP/1.1 connection to a provider: sends a request and returns the response piece by piece.

The parser is llhttp, in C. A relay spends most of its time here, and a Python parser would cost several times as much
as the rest of a call.

A response can end in three ways: it is complete and the connection can be reused; the provider marks the end by closing
the connection; or the connection is closed too early. Only in the last case ``BrokenResponse`` is raised.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final, cast

import httptools

from tokenmizer_mw.errors import PeerError
from tokenmizer_mw.wire.http import Header

HEAD_MAX: Final = 64 * 1024
"""Maximum size in bytes of a response's head, including all informational (1xx) heads before it. It also limits the
trailers, and the extensions of one chunk."""

HEADERS_MAX: Final = 256
"""Maximum number of headers of a response."""

OVERHEAD_MAX: Final = 1024 * 1024
"""Number of bytes of a response outside its body (head, framing of chunks) that are always accepted."""

OVERHEAD_RATIO: Final = 16
"""Number of further bytes outside the body that are accepted for each byte of the body. Chunks of one byte need
five."""

_SLICE: Final = 16 * 1024
"""Number of bytes that are parsed before these limits are checked again."""

HELD_MAX: Final = 256 * 1024
"""Number of bytes of a response that may wait for a slow client. Above it, nothing more is read from the provider until
the waiting bytes are taken."""

_REFUSED: Final = 400
_INFORMATIONAL: Final = range(100, 200)
_BODILESS: Final = frozenset({204, 304})


class BrokenResponse(PeerError):
    """Raised when a provider's response broke off or is not valid HTTP. If part of it was sent to the client already,
    the response to the client must break off, too."""


class ResponseTimedOut(BrokenResponse):
    """Raised when a provider sent nothing for longer than the timeout."""


class Connection(asyncio.Protocol):
    """One connection to a provider, for one request at a time. ``idle_since``: the event loop's time at which the
    connection was returned to the pool."""

    _headers: list[Header]
    _pieces: list[bytes]
    _error: BrokenResponse | None
    _headed: bool  # the head was read
    _framed: bool  # the response says where it ends
    _stays: bool  # the provider keeps the connection open behind it
    _complete: bool
    _paused: bool
    _held: int  # bytes of pieces
    _body: int  # bytes of the body so far
    _overhead: int  # bytes of all else so far
    _bodiless: int  # bytes since the last one of the body

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._closed = False
        self.idle_since = 0.0
        self._begin("")

    # -- the exchange ------------------------------------------------------------------------------------------

    def send(self, method: str, head: bytes, body: bytes) -> None:
        """Send a request and forget the response before it. ``head``: request line and headers, up to and including the
        empty line."""
        self._begin(method)
        self._asks_with_body = bool(body)
        assert self._transport is not None
        self._transport.write(head + body if len(body) < HELD_MAX else head)
        if len(body) >= HELD_MAX:
            self._transport.write(body)

    async def head(self, seconds: float) -> tuple[int, Sequence[Header]]:
        """Wait for the status and the headers of the response, and return them.

        Raises ``ResponseTimedOut`` if nothing arrives for ``seconds``. Raises ``BrokenResponse``, of which that is a
        subclass, if the connection breaks or the provider sends no valid response.
        """
        while not self._headed:
            self._require_open()
            await self._wait(seconds)
        return self._status, self._headers

    async def piece(self, seconds: float) -> bytes:
        """Wait for bytes of the body, and return all that were received since the last call; b"" at the end of the
        body.

        Raises ``ResponseTimedOut`` if nothing arrives for ``seconds``, and ``BrokenResponse`` if the response breaks
        off or is invalid.
        """
        while not self._pieces:
            if self._complete:
                return b""
            self._require_open()
            await self._wait(seconds)
        piece = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        self._held = 0
        if self._paused and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()
        return piece

    @property
    def reusable(self) -> bool:
        """Whether the connection can be used for another request: the response was read to its end, and both sides keep
        the connection open."""
        return self._complete and not self._pieces and self._stays and not self._closed

    @property
    def closed(self) -> bool:
        """Whether the connection to the provider is closed."""
        return self._closed

    def abort(self) -> None:
        """Close the connection immediately."""
        self._closed = True
        if self._transport is not None:
            self._transport.abort()

    def _begin(self, method: str) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._method = method
        self._asks_with_body = False
        self._status = 0
        self._headers, self._pieces = [], []
        self._headed = self._framed = self._stays = self._complete = self._paused = False
        self._held = self._body = self._overhead = self._bodiless = 0
        self._error = None

    def _require_open(self) -> None:
        if self._error is not None:
            raise self._error
        if self._closed:
            raise BrokenResponse("the connection was closed before the end")

    async def _wait(self, seconds: float) -> None:
        """Wait until data arrives or the connection ends. Raises ``ResponseTimedOut`` if neither happens within
        ``seconds``."""
        waiter = self._waiter = self._loop.create_future()
        timer = self._loop.call_later(seconds, _expire, waiter)
        try:
            await waiter
        finally:
            timer.cancel()
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # -- of asyncio --------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport of the new connection (called by asyncio)."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Parse the received bytes (called by asyncio). Bytes for which no request was sent close the connection."""
        if self._complete or not self._method:  # nobody has asked for it
            self.abort()
            return
        if len(data) <= _SLICE:
            self._parse(data)
        else:
            view = memoryview(data)
            for at in range(0, len(data), _SLICE):
                if not self._parse(view[at : at + _SLICE]):
                    break
        if self._held > HELD_MAX and not self._paused and not self._closed and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()
        self._wake()

    def _parse(self, data: bytes | memoryview) -> bool:
        """Parse a slice of the received bytes. Returns false if the rest must not be parsed, because the response is
        malformed, exceeds a limit, or is followed by bytes that do not belong to it."""
        body = self._body
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            if self._complete:  # what came behind the response is nobody's: the connection ends with this exchange
                self._stays = False
            else:
                self._fail(f"no HTTP: {type(error).__name__}")
            return False
        grown = self._body - body
        self._bodiless = 0 if grown else self._bodiless + len(data)
        self._overhead += len(data) - grown
        if self._bodiless > HEAD_MAX and not self._complete:
            self._fail(f"more than {HEAD_MAX} bytes of {'trailers or extensions' if self._headed else 'a head'}")
        elif self._overhead > OVERHEAD_MAX + OVERHEAD_RATIO * self._body:
            self._fail("little but the framing of chunks")
        return self._error is None

    def connection_lost(self, error: Exception | None) -> None:
        """Record that the connection was closed (called by asyncio). If the response in progress gives no length, this
        is its end; otherwise the waiting caller gets ``BrokenResponse``."""
        self._closed = True
        if error is None and self._headed and not self._framed and not self._complete:
            self._complete = True
        self._wake()

    def _fail(self, reason: str) -> None:
        self._error = self._error or BrokenResponse(reason)
        self.abort()

    # -- of the parser -----------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """Handle the start of a response (called by the parser). Raises ``BrokenResponse`` if the response to the
        request is complete already: a second one must not be taken for the response to the next request."""
        if self._complete:
            raise BrokenResponse("more than was requested")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Store a header (called by the parser). A trailer, which comes after the body, is dropped. Raises
        ``BrokenResponse`` for more than ``HEADERS_MAX`` headers."""
        if not self._headed:
            if len(self._headers) >= HEADERS_MAX:
                raise BrokenResponse(f"more than {HEADERS_MAX} headers")
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Handle the end of the response headers (called by the parser): determine where the body ends and whether the
        connection can be reused."""
        self._status = self._parser.get_status_code()
        if self._status in _INFORMATIONAL:
            return
        lowered = {name.lower() for name, _ in self._headers}
        bodiless = self._method == "HEAD" or self._status in _BODILESS
        self._framed = bodiless or b"content-length" in lowered or b"transfer-encoding" in lowered
        self._stays = self._parser.should_keep_alive() and self._framed and not self._is_early()
        self._headed = True
        if self._method == "HEAD":  # the parser waits for a body that does not come
            self._complete, self._stays = True, False

    def _is_early(self) -> bool:
        """Return whether the provider may have answered before it had read the whole request: part of the request is
        still to be sent, or the request has a body and was refused.

        Such a connection must not be reused. The provider may take the rest of the body for its next request, and the
        answer to that would go to the next caller.
        """
        unsent = self._transport is None or self._transport.get_write_buffer_size() > 0
        return unsent or (self._asks_with_body and self._status >= _REFUSED)

    def on_body(self, body: bytes) -> None:
        """Store a piece of the response body (called by the parser)."""
        self._pieces.append(body)
        self._held += len(body)
        self._body += len(body)

    def on_message_complete(self) -> None:
        """Handle the end of a response (called by the parser). An informational response (1xx) is dropped, and the
        final one is awaited."""
        if self._status in _INFORMATIONAL:
            self._headers = []
            self._status = 0
            return
        self._complete = True


def _expire(waiter: asyncio.Future[Any]) -> None:
    if not waiter.done():
        waiter.set_exception(ResponseTimedOut("the provider was silent for too long"))
