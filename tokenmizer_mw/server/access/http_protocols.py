"""uvicorn's HTTP protocols with limits on request heads, trailers and framing, applied before the application is
called.

uvicorn alone waits for the rest of a request head without a time limit. With the parser httptools, it accepts heads and
trailers of any size. Pass ``PROTOCOL`` to uvicorn as the option ``http`` to add these limits:

- A client may take as long for a head as a connection may be idle (``timeout_keep_alive``).
- A head may be as long as ``h11_max_incomplete_event_size``; so may the bytes between two pieces of a body (chunk
  extensions, trailers).

A request whose end is ambiguous is answered with status 400, and the connection is closed (RFC 9112, section 11.2).
Only HTTP/1 is served: ``Upgrade`` is ignored (RFC 9110, section 7.8) and ``CONNECT`` is refused.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from typing import Any, Final

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol

PROTOCOL: Final = "tokenmizer_mw.server.access.http_protocols:BoundedProtocol"
"""The value for uvicorn's option ``http``: import path of the protocol class."""

HEAD_MAX: Final = 64 * 1024
"""Maximum size of a request head in bytes, if uvicorn's option ``h11_max_incomplete_event_size`` is not set."""

PIPELINED_MAX: Final = 32
"""Number of requests on one connection that may wait for the response to an earlier request; a further one is
refused."""


class UnclearFraming(ValueError):
    """Raised for a request that is refused before the application sees it: its end or its host is ambiguous, or an
    HTTP/1 server does not handle it."""


def check_framing(method: bytes, http_version: str, headers: list[tuple[bytes, bytes]]) -> None:
    """Check that all HTTP/1 parsers agree where a request ends and which host it is for (no request smuggling).

    Names in ``headers`` are in lower case; ``http_version`` is "1.1" or the like. Returns nothing; raises
    ``UnclearFraming`` for:

    - a version other than 1.0 and 1.1, or the method ``CONNECT``;
    - ``Transfer-Encoding`` in HTTP/1.0, together with ``Content-Length``, repeated, or anything but ``chunked``;
    - ``Content-Length`` repeated, or not digits alone;
    - ``Host`` repeated, or missing in HTTP/1.1.
    """
    lengths = [value for name, value in headers if name == b"content-length"]
    encodings = [value for name, value in headers if name == b"transfer-encoding"]
    hosts = sum(name == b"host" for name, _ in headers)
    if method == b"CONNECT" or http_version not in ("1.0", "1.1"):
        raise UnclearFraming("not for an HTTP/1 server")
    if hosts > 1 or (hosts == 0 and http_version == "1.1"):
        raise UnclearFraming("host")
    if encodings and (
        lengths or http_version != "1.1" or [value.strip().lower() for value in encodings] != [b"chunked"]
    ):
        raise UnclearFraming("transfer-encoding")
    if len(lengths) > 1 or not all(value.isdigit() for value in lengths):
        raise UnclearFraming("content-length")


def asks_for_upgrade(headers: list[tuple[bytes, bytes]]) -> bool:
    """Return whether the headers (names in lower case) ask to switch to another protocol, such as WebSocket."""
    return any(name == b"upgrade" for name, _ in headers) or any(
        name == b"connection" and b"upgrade" in value.lower() for name, value in headers
    )


def _answer(status: bytes) -> bytes:
    return b"HTTP/1.1 " + status + b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


_BAD_REQUEST: Final = _answer(b"400 Bad Request")
_TOO_SLOW: Final = _answer(b"408 Request Timeout")
_TOO_LARGE: Final = _answer(b"431 Request Header Fields Too Large")


class _Bounded(asyncio.Protocol):
    """Base class of both protocols: limits the time and the number of bytes that a request head may take."""

    config: Config
    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    cycle: Any
    _timer: asyncio.TimerHandle | None = None
    _size = 0

    @abstractmethod
    def is_in_head(self) -> bool:
        """Return whether the next byte received belongs to a request head."""

    @property
    def head_max(self) -> int:
        """Maximum size of a request head, in bytes."""
        return self.config.h11_max_incomplete_event_size or HEAD_MAX

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the timer for the first request head, which must arrive within ``timeout_keep_alive`` seconds."""
        super().connection_made(transport)
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer for the request head."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Pass the received bytes to the parser. Refuse a head that is too large with status 431. While a head is
        incomplete, a timer runs that refuses it with status 408."""
        was_in_head = self.is_in_head()
        super().data_received(data)
        if self.transport.is_closing() or not self.is_in_head():
            self._stop_timer()
            return
        self._size = self._size + len(data) if was_in_head else 1
        if self._size > self.head_max:
            self.refuse(_TOO_LARGE)
        elif self._timer is None:
            self._start_timer()

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(self.config.timeout_keep_alive, self.refuse, _TOO_SLOW)

    def _stop_timer(self) -> None:
        self._size = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def refuse(self, answer: bytes) -> None:
        """Send ``answer``, a complete HTTP response, and close the connection. The response is not sent if another
        response is under way on this connection, or if the client has sent nothing of a new request."""
        if self._size and (self.cycle is None or self.cycle.response_complete):
            self.transport.write(answer)
        elif self.cycle is not None and not self.cycle.response_complete:
            # uvicorn hears of the end in the next round of the loop; uvloop raises when the application answers before.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self._stop_timer()
        self.transport.close()


class BoundedH11(_Bounded, H11Protocol):
    """uvicorn's protocol on the parser h11, with limits on time and size of request heads. h11 itself limits chunk
    extensions and trailers."""

    def is_in_head(self) -> bool:
        """Return whether the next byte received belongs to a request head."""
        return self.conn.their_state is h11.IDLE

    def handle_events(self) -> None:
        """Parse the received bytes. Answer a request with ambiguous framing with status 400 before the application sees
        it."""
        try:
            super().handle_events()
        except UnclearFraming:
            self._size = 1
            self.refuse(_BAD_REQUEST)

    def _should_upgrade(self) -> bool:
        """Return false, so that no upgrade is accepted. uvicorn calls this method for each head before it calls the
        application, so the framing is checked here, too. Raises ``UnclearFraming``."""
        check_framing(self.scope["method"].encode("ascii"), self.scope["http_version"], self.headers)
        return False


try:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
except ModuleNotFoundError:  # httptools comes with an extra of uvicorn's
    BoundedProtocol: type[asyncio.Protocol] = BoundedH11
else:

    class BoundedHttpTools(_Bounded, HttpToolsProtocol):
        """uvicorn's protocol on the parser httptools, with limits on time and size of request heads.

        httptools does not parse what follows a request that offers an upgrade, and cannot be told to ignore the offer.
        Such a connection is handed over to h11 from the first byte of that request on. Trailers are read and dropped.
        """

        _in_head = True
        _at_boundary = True
        _begins_read = True
        _raw_head = b""
        _since_body = 0
        _hands_over = False

        def is_in_head(self) -> bool:
            """Return whether the next byte received belongs to a request head."""
            return self._in_head

        def data_received(self, data: bytes) -> None:
            """Pass the received bytes to the parser. While a head is incomplete, its bytes are also kept, in case h11
            has to parse it again. Too many bytes between two pieces of a body are refused with status 431."""
            self._begins_read = self._at_boundary
            if self._at_boundary:
                self._raw_head = data
            elif self._in_head and self._raw_head:
                self._raw_head += data
            self._since_body += len(data)
            super().data_received(data)
            if not self._in_head:
                self._raw_head = b""
                if self._since_body > self.head_max and not self.transport.is_closing():
                    self._size = 1
                    self.refuse(_TOO_LARGE)

        def on_message_begin(self) -> None:
            """Record that a request head has begun (called by the parser)."""
            self._in_head = True
            if not self._begins_read:
                self._raw_head = b""
            self._begins_read = self._at_boundary = False
            super().on_message_begin()

        def on_header(self, name: bytes, value: bytes) -> None:
            """Store a header field. A trailer field, which comes after the body, is dropped (called by the parser)."""
            if self._in_head:
                super().on_header(name, value)

        def on_headers_complete(self) -> None:
            """Check a complete request head (called by the parser). Raises ``UnclearFraming`` if it is ambiguous,
            offers an upgrade, or if too many requests wait on this connection; uvicorn then calls
            ``send_400_response``."""
            method, version = self.parser.get_method(), self.parser.get_http_version()
            check_framing(method, version, self.headers)
            if len(self.pipeline) >= PIPELINED_MAX:
                raise UnclearFraming("pipeline")
            if asks_for_upgrade(self.headers) or self.parser.should_upgrade():
                self._hands_over = bool(self._raw_head) and (self.cycle is None or self.cycle.response_complete)
                raise UnclearFraming("upgrade")
            self._in_head = False
            self._since_body = 0
            super().on_headers_complete()

        def on_body(self, body: bytes) -> None:
            """Pass a piece of a body on to uvicorn (called by the parser)."""
            self._since_body = 0
            super().on_body(body)

        def on_message_complete(self) -> None:
            """Record that the whole request was read (called by the parser)."""
            self._at_boundary = True
            self._since_body = 0
            super().on_message_complete()

        def send_400_response(self, msg: str) -> None:
            """Called by uvicorn after an error of the parser. If the reason is an upgrade offer, hand the connection
            over to h11. Otherwise answer with status 400 and close the connection; ``msg`` is not sent."""
            if self._hands_over:
                self._hand_over()
                return
            self._size = 1
            self.refuse(_BAD_REQUEST)

        def _hand_over(self) -> None:
            self._stop_timer()
            self.connections.discard(self)
            successor = BoundedH11(self.config, self.server_state, self.app_state)
            successor.connection_made(self.transport)
            self.transport.set_protocol(successor)
            successor.data_received(self._raw_head)

    BoundedProtocol = BoundedHttpTools
