"""A minimal HTTP client for providers, with a pool of connections for each server address.

It has no cookies, which could mix clients, and follows no redirects, which could send a key elsewhere. It ignores the
proxy variables of the environment, and adds no headers of its own except ``host`` and ``content-length``.
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
"""Maximum age of an unused connection in seconds. It is shorter than the time after which most servers close one, so
that none is used while the server closes it."""

IDLE_MAX: Final = 256
"""Maximum number of unused connections to one server."""

GATEWAY_TIMEOUT: Final = 504
_BAD_GATEWAY: Final = 502
_HAPPY_EYEBALLS: Final = 0.25
_PORTS: Final = {"http": 80, "https": 443}
_IN_PATHS: Final = "/:@!$&'()*+,;=~"


class Unreachable(PeerError):
    """Raised when a provider gave no response.

    ``status``: status of the error response to send to the client, such as 502. ``unsent``: whether the provider has
    received nothing of the request, so that a retry is safe.
    """

    def __init__(self, reason: str, *, status: int = _BAD_GATEWAY, unsent: bool = False) -> None:
        super().__init__(reason)
        self.status = status
        self.unsent = unsent

    def of(self, provider: str) -> Unreachable:
        """Return a copy of this error whose text begins with the name ``provider``."""
        return Unreachable(f"{provider}: {self}", status=self.status, unsent=self.unsent)


@dataclass(frozen=True, slots=True)
class UpstreamTimeouts:
    """Timeouts in seconds. ``connect``: to make a connection. ``first_byte``: each wait for data until the response
    head has arrived. ``idle``: between two pieces of the response body."""

    connect: float = 10.0
    first_byte: float = 600.0
    idle: float = 300.0


@dataclass(frozen=True, slots=True)
class Origin:
    """Identifies a server: host, port and whether TLS is used (``secure``). ``authority``: the value of the ``Host``
    header."""

    host: str
    port: int
    secure: bool
    authority: bytes


@dataclass(frozen=True, slots=True)
class UpstreamAddress:
    """Where a request goes: the server, and the percent-encoded path and query (``target``)."""

    origin: Origin
    target: bytes


@lru_cache(maxsize=256)
def _base(address: str) -> tuple[Origin, str]:
    parts = urlsplit(address)
    secure = parts.scheme == "https"
    origin = Origin(parts.hostname or "", parts.port or _PORTS[parts.scheme], secure, parts.netloc.encode("idna"))
    return origin, quote(parts.path, safe=_IN_PATHS + "%")


def place(address: str, path: str, query: bytes = b"") -> UpstreamAddress:
    """Return the address of ``path`` below a provider's base address ``address``. ``path`` is not percent-encoded yet.
    ``query``: percent-encoded, without the "?"."""
    plain = _place(address, path)
    return UpstreamAddress(plain.origin, plain.target + b"?" + query) if query else plain


def escaped_place(address: str, path: bytes, query: bytes = b"") -> UpstreamAddress:
    """Return the address of ``path`` below a provider's base address ``address``. ``path`` is percent-encoded already.
    ``query``: percent-encoded, without the "?"."""
    origin, before = _base(address)
    target = before.encode("ascii") + path
    return UpstreamAddress(origin, target + b"?" + query if query else target)


@lru_cache(maxsize=1024)
def _place(address: str, path: str) -> UpstreamAddress:
    return escaped_place(address, quote(path, safe=_IN_PATHS).encode("ascii") or b"/")


class UpstreamResponse:
    """A response whose status and headers have arrived, as ``Upstream.open`` returns it. The caller must call
    ``aclose``, whether it has read the body or not. ``headers``: as received."""

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
        """Yield the bytes of the body as they arrive; they are not decompressed. Raises ``BrokenResponse`` if the
        response breaks off or nothing arrives in time."""
        connection = self._connection
        while connection is not None and (piece := await connection.piece(self._idle)):
            yield piece

    async def read(self, limit: int, too_long: Exception | None = None) -> bytes:
        """Return the whole body; it is not decompressed. Raises ``BrokenResponse`` if the response breaks off. For a
        body of more than ``limit`` bytes, raises ``too_long``, or ``BrokenResponse`` if that is ``None``."""
        pieces, size = [], 0
        async for piece in self.pieces():
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                raise too_long or BrokenResponse(f"the provider's response is longer than {limit} bytes")
        return b"".join(pieces)

    async def aclose(self) -> None:
        """Release the connection for other requests. If the response was not read to its end, close the connection
        instead. Calling it twice is harmless."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            self._pool.give_back(connection)
            await self._held.aclose()


class Pool:
    """The unused connections to the server ``origin``. ``context``: TLS settings; may be ``None`` for a server without
    TLS."""

    def __init__(self, origin: Origin, context: ssl.SSLContext | None) -> None:
        self._origin = origin
        self._context = context
        self._idle: list[Connection] = []

    async def take(self, seconds: float) -> Connection:
        """Return an unused connection, or else a new one. ``seconds``: timeout of a new connection. Raises
        ``Unreachable`` if none can be made."""
        oldest = asyncio.get_running_loop().time() - IDLE_SECONDS
        while self._idle:
            connection = self._idle.pop()
            if not connection.closed and connection.idle_since > oldest:
                return connection
            connection.abort()
        return await self._connect(seconds)

    def give_back(self, connection: Connection) -> None:
        """Put a connection back into the pool. It is closed instead if it cannot be reused or if the pool is full."""
        if not connection.reusable or len(self._idle) >= IDLE_MAX:
            connection.abort()
            return
        connection.idle_since = asyncio.get_running_loop().time()
        self._idle.append(connection)

    def close(self) -> None:
        """Close all unused connections. Those in use are not affected."""
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
    """Return a description of a connection error without the addresses that its own text may contain."""
    if isinstance(error, ssl.SSLError | socket.gaierror) or error.errno is None:
        return type(error).__name__
    return os.strerror(error.errno)


class Upstream:
    """The HTTP client for all providers.

    - ``patience``: the timeouts; ``None`` for the default ones.
    - ``connections``: maximum number of concurrent requests to all providers; ``None`` for no limit. Further requests
      wait, as long as the timeout to connect.
    - ``ca_file``: PEM file of certificate authorities that are trusted besides the public ones.

    Raises ``ConfigError`` for a file without certificates.
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
        """Send a request and return when status and headers of the response have arrived, whatever the status is.

        ``headers`` must not contain ``host`` and ``content-length``, which are added. Raises ``Unreachable`` if no
        connection was free or could be made, if no valid head came in time, or if a header contains a line break.
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
        """Close the unused connections to all providers."""
        for pool in self._pools.values():
            pool.close()

    async def _acquire_place(self) -> AsyncExitStack:
        """Wait until fewer than ``connections`` requests are open, and count one more. Closing the result ends the
        count. Raises ``Unreachable`` if that takes longer than the timeout to connect."""
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
    """Return the request line and headers of a request as bytes. ``length``: size of the body in bytes. Raises
    ``Unreachable`` if a header contains a line break."""
    lines = [b"%s %s HTTP/1.1" % (method.encode("ascii"), place.target), b"host: " + place.origin.authority]
    lines += [name + b": " + value for name, value in headers]
    if length or method not in ("GET", "HEAD"):
        lines.append(b"content-length: %d" % length)
    head = b"\r\n".join([*lines, b"", b""])
    if head.count(b"\n") != len(lines) + 1 or head.count(b"\r") != len(lines) + 1:
        raise Unreachable("a header of the request has more than one line", unsent=True)
    return head
