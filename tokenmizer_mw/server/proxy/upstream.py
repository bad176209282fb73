"""A minimal HTTP client for providers, with a pool of connections for each server address.

It has no cookies, which could mix callers; no redirects, which could send a key elsewhere; it ignores proxy variables
of the environment and adds no headers of its own except host and content length.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import quote, urlsplit

import httpx2
from aiohappyeyeballs import start_connection

from tokenmizer_mw.errors import ConfigError, PeerError
from tokenmizer_mw.wire.http import Header

from .connection import BrokenResponse, Connection, ResponseTimedOut

IDLE_SECONDS: Final = 15.0
"""How long an unused connection is kept: less than most servers keep it, so that none is used while the server closes
it."""

IDLE_MAX: Final = 256
"""Number of unused connections to one server that are kept."""

GATEWAY_TIMEOUT: Final = 504
_BAD_GATEWAY: Final = 502
_HAPPY_EYEBALLS: Final = 0.25
_PORTS: Final = {"http": 80, "https": 443}
_IN_PATHS: Final = "/:@!$&'()*+,;=~"


class Unreachable(PeerError):
    """Raised when a provider gave no response.

    ``status``: status of the error response to the client, such as 502; ``unsent``: true if the provider has received
    nothing of the request, so that a retry is safe.
    """

    def __init__(self, reason: str, *, status: int = _BAD_GATEWAY, unsent: bool = False) -> None:
        super().__init__(reason)
        self.status = status
        self.unsent = unsent

    def of(self, provider: str) -> Unreachable:
        """Return the same error with the name ``provider`` in front of its text."""
        return Unreachable(f"{provider}: {self}", status=self.status, unsent=self.unsent)


@dataclass(frozen=True, slots=True)
class UpstreamTimeouts:
    """Timeouts in seconds: to connect, for the response head, and between two pieces of the response."""

    connect: float = 10.0
    first_byte: float = 600.0
    idle: float = 300.0


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port of a server. ``authority`` is the value of the host header."""

    host: str
    port: int
    secure: bool
    authority: bytes


@dataclass(frozen=True, slots=True)
class UpstreamAddress:
    """Where a request goes: the server, and ``target``, the percent-encoded path and query."""

    origin: Origin
    target: bytes


@lru_cache(maxsize=256)
def _base(address: str) -> tuple[Origin, str]:
    parts = urlsplit(address)
    secure = parts.scheme == "https"
    origin = Origin(parts.hostname or "", parts.port or _PORTS[parts.scheme], secure, parts.netloc.encode("idna"))
    return origin, quote(parts.path, safe=_IN_PATHS + "%")


def place(address: str, path: str, query: bytes = b"") -> UpstreamAddress:
    """Return the address of ``path`` (not yet percent-encoded) below a provider's base address. ``query``: without the
    "?"."""
    plain = _place(address, path)
    return UpstreamAddress(plain.origin, plain.target + b"?" + query) if query else plain


def escaped_place(address: str, path: bytes, query: bytes = b"") -> UpstreamAddress:
    """Return the address of ``path`` (already percent-encoded) below a provider's base address. ``query``: without the
    "?"."""
    origin, before = _base(address)
    target = before.encode("ascii") + path
    return UpstreamAddress(origin, target + b"?" + query if query else target)


@lru_cache(maxsize=1024)
def _place(address: str, path: str) -> UpstreamAddress:
    return escaped_place(address, quote(path, safe=_IN_PATHS).encode("ascii") or b"/")


class UpstreamResponse:
    """A response whose head has arrived, as ``Upstream.open`` returns it. The caller must close it, whether its body
    was read or not. ``headers``: as received."""

    __slots__ = ("_connection", "_held", "_idle", "_pool", "headers", "status")

    def __init__(
        self, pool: Pool, connection: Connection, head: tuple[int, Sequence[Header]], idle: float, held: AsyncExitStack
    ) -> None:
        self.status, self.headers = head
        self._pool = pool
        self._connection: Connection | None = connection
        self._idle = idle
        self._held = held

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives, without decoding. Raises ``BrokenResponse``."""
        connection = self._connection
        while connection is not None and (piece := await connection.piece(self._idle)):
            yield piece

    async def read(self, limit: int, too_long: Exception | None = None) -> bytes:
        """Return the whole body. Raises ``BrokenResponse`` if the response breaks off; for a body longer than ``limit``
        bytes raises ``too_long``, or ``BrokenResponse`` if that is ``None``."""
        pieces, size = [], 0
        async for piece in self.pieces():
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                raise too_long or BrokenResponse(f"the provider's response is longer than {limit} bytes")
        return b"".join(pieces)

    async def aclose(self) -> None:
        """Release the connection for other requests; if the response was not read to its end, the connection is
        closed."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            self._pool.give_back(connection)
            await self._held.aclose()


class Pool:
    """The connections to one server that no request uses at the moment. ``context``: settings of TLS; may be ``None``
    for a server without TLS."""

    def __init__(self, origin: Origin, context: ssl.SSLContext | None) -> None:
        self._origin = origin
        self._context = context
        self._idle: list[Connection] = []

    async def take(self, seconds: float) -> Connection:
        """Return an unused connection, else a new one, for which ``seconds`` is the timeout. Raises ``Unreachable``."""
        oldest = asyncio.get_running_loop().time() - IDLE_SECONDS
        while self._idle:
            connection = self._idle.pop()
            if not connection.closed and connection.idle_since > oldest:
                return connection
            connection.abort()
        return await self._connect(seconds)

    def give_back(self, connection: Connection) -> None:
        """Return a connection to the pool if it can be reused; else close it."""
        if not connection.reusable or len(self._idle) >= IDLE_MAX:
            connection.abort()
            return
        connection.idle_since = asyncio.get_running_loop().time()
        self._idle.append(connection)

    def close(self) -> None:
        """Close all idle connections."""
        while self._idle:
            self._idle.pop().abort()

    async def _connect(self, seconds: float) -> Connection:
        origin, loop = self._origin, asyncio.get_running_loop()
        try:
            async with asyncio.timeout(seconds):
                # uvloop's create_connection() has no happy_eyeballs_delay: connect first, then hand the socket over
                found = await loop.getaddrinfo(
                    origin.host, origin.port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
                )
                connected = await start_connection(found, happy_eyeballs_delay=_HAPPY_EYEBALLS)
                try:
                    _, connection = await loop.create_connection(
                        Connection,
                        sock=connected,
                        ssl=self._context if origin.secure else None,
                        server_hostname=origin.host if origin.secure else None,
                    )
                except BaseException:
                    connected.close()  # a second close does nothing
                    raise
        except TimeoutError:
            reason = "the provider cannot be reached: no connection in time"
            raise Unreachable(reason, status=GATEWAY_TIMEOUT, unsent=True) from None
        except OSError as error:
            raise Unreachable(f"the provider cannot be reached: {_plain(error)}", unsent=True) from None
        return connection


def _plain(error: OSError) -> str:
    """Return what a connection error says, without the addresses in its own text."""
    if isinstance(error, ssl.SSLError | socket.gaierror) or error.errno is None:
        return type(error).__name__
    return os.strerror(error.errno)


class Upstream:
    """The HTTP client for all providers.

    ``patience``: the timeouts. ``connections``: maximum number of concurrent requests to all providers; ``None`` for no
    limit. Further ones wait, as long as the timeout to connect. ``ca_file``: certificate authorities trusted besides
    the public ones. Raises ``ConfigError`` for a file without certificates.
    """

    def __init__(
        self, patience: UpstreamTimeouts | None = None, *, connections: int | None = None, ca_file: str | None = None
    ) -> None:
        self._patience = patience or UpstreamTimeouts()
        self._places = asyncio.Semaphore(connections) if connections is not None else None
        self._pools: dict[Origin, Pool] = {}
        self._context = _context(ca_file) if ca_file is not None else None

    async def open(
        self, method: str, place: UpstreamAddress, headers: Sequence[Header], body: bytes
    ) -> UpstreamResponse:
        """Send a request and return when the response head has arrived, whatever its status.

        ``headers`` must not contain host and length; they are added. Raises ``Unreachable`` if no connection was free
        or could be made, if no valid head came in time, or if a header contains a line break.
        """
        head = _head(method, place, headers, len(body))
        held = await self._acquire_place()
        try:
            pool = self._pool(place.origin)
            connection = await pool.take(self._patience.connect)
            try:
                connection.send(method, head, body)
                begun = await connection.head(self._patience.first_byte)
            except BaseException:
                connection.abort()
                raise
        except BaseException as error:
            await held.aclose()
            if isinstance(error, ResponseTimedOut):
                raise Unreachable("the provider gave no answer in time", status=GATEWAY_TIMEOUT) from None
            if isinstance(error, BrokenResponse):
                raise Unreachable(f"the provider gave no answer: {error}") from None
            raise
        return UpstreamResponse(pool, connection, begun, self._patience.idle, held)

    async def aclose(self) -> None:
        """Close the connection pools of all providers."""
        for pool in self._pools.values():
            pool.close()

    async def _acquire_place(self) -> AsyncExitStack:
        """Wait until fewer than ``connections`` requests are open, and count one more until the result is closed.
        Raises ``Unreachable`` if that takes too long."""
        held = AsyncExitStack()
        if self._places is not None:
            try:
                async with asyncio.timeout(self._patience.connect):
                    await held.enter_async_context(self._places)
            except TimeoutError:
                raise Unreachable("all connections to providers are in use", status=503, unsent=True) from None
        return held

    def _pool(self, origin: Origin) -> Pool:
        pool = self._pools.get(origin)
        if pool is None:
            if origin.secure and self._context is None:
                self._context = _context(None)
            pool = self._pools[origin] = Pool(origin, self._context)
        return pool


def _context(ca_file: str | None) -> ssl.SSLContext:
    context = httpx2.create_ssl_context(trust_env=False)
    try:
        if ca_file is not None:
            context.load_verify_locations(cafile=ca_file)
    except OSError as error:
        raise ConfigError(f"asking.ca_file: no certificates in {ca_file}: {error.strerror or error}") from None
    return context


def _head(method: str, place: UpstreamAddress, headers: Sequence[Header], length: int) -> bytes:
    """Return the head of a request. Raises ``Unreachable`` if a header contains a line break."""
    lines = [b"%s %s HTTP/1.1" % (method.encode("ascii"), place.target), b"host: " + place.origin.authority]
    lines += [name + b": " + value for name, value in headers]
    if length or method not in ("GET", "HEAD"):
        lines.append(b"content-length: %d" % length)
    head = b"\r\n".join([*lines, b"", b""])
    if head.count(b"\n") != len(lines) + 1 or head.count(b"\r") != len(lines) + 1:
        raise Unreachable("a header of the request has more than one line", unsent=True)
    return head
