"""Providers over HTTP: one pool of connections for all of them.

It is as little of a client as a relay needs: no cookies that one caller would get of another, no redirects that would
carry a key elsewhere, no proxies of the environment, no headers of its own.
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

from .connection import BrokenResponse, Connection, Late
from .headers import Header

IDLE_SECONDS: Final = 15.0
"""How long a connection is kept that nobody uses: less than most servers do, so that it is not used as it closes."""

IDLE_MAX: Final = 256
"""Connections to one provider that are kept when nobody uses them."""

GATEWAY_TIMEOUT: Final = 504
_BAD_GATEWAY: Final = 502
_HAPPY_EYEBALLS: Final = 0.25
_PORTS: Final = {"http": 80, "https": 443}
_IN_PATHS: Final = "/:@!$&'()*+,;=~"


class Unreachable(PeerError):
    """A provider gave no response. ``status`` is that of a gateway that has to say so; ``unsent``: it has seen nothing
    of the request, so that asking again does no harm."""

    def __init__(self, reason: str, *, status: int = _BAD_GATEWAY, unsent: bool = False) -> None:
        super().__init__(reason)
        self.status = status
        self.unsent = unsent

    def of(self, provider: str) -> Unreachable:
        """The same, with the provider's name."""
        return Unreachable(f"{provider}: {self}", status=self.status, unsent=self.unsent)


@dataclass(frozen=True, slots=True)
class UpstreamTimeouts:
    """Seconds: to connect, for the head of a response, and between two pieces of it."""

    connect: float = 10.0
    first_byte: float = 600.0
    idle: float = 300.0


@dataclass(frozen=True, slots=True)
class Origin:
    """A server. ``authority`` is what its requests name as their host."""

    host: str
    port: int
    secure: bool
    authority: bytes


@dataclass(frozen=True, slots=True)
class UpstreamAddress:
    """Where a request goes: ``target`` is path and query as they stand in it."""

    origin: Origin
    target: bytes


@lru_cache(maxsize=256)
def _base(address: str) -> tuple[Origin, str]:
    parts = urlsplit(address)
    secure = parts.scheme == "https"
    origin = Origin(parts.hostname or "", parts.port or _PORTS[parts.scheme], secure, parts.netloc.encode("idna"))
    return origin, quote(parts.path, safe=_IN_PATHS + "%")


def place(address: str, path: str, query: bytes = b"") -> UpstreamAddress:
    """The place of ``path``, which is not escaped, behind a provider's base address."""
    plain = _place(address, path)
    return UpstreamAddress(plain.origin, plain.target + b"?" + query) if query else plain


def escaped_place(address: str, path: bytes, query: bytes = b"") -> UpstreamAddress:
    """The place of ``path``, which is escaped as it must be."""
    origin, before = _base(address)
    target = before.encode("ascii") + path
    return UpstreamAddress(origin, target + b"?" + query if query else target)


@lru_cache(maxsize=1024)
def _place(address: str, path: str) -> UpstreamAddress:
    return escaped_place(address, quote(path, safe=_IN_PATHS).encode("ascii") or b"/")


class UpstreamResponse:
    """A response that has begun. Whoever gets one closes it, read or unread. ``headers``: as on the wire."""

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
        """The body's bytes as they come, content coding and all. Raises ``BrokenResponse``."""
        connection = self._connection
        while connection is not None and (piece := await connection.piece(self._idle)):
            yield piece

    async def read(self, limit: int) -> bytes:
        """The whole body. Raises ``BrokenResponse``, also for one that is longer than ``limit``."""
        pieces, size = [], 0
        async for piece in self.pieces():
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                raise BrokenResponse(f"the provider's response is longer than {limit} bytes")
        return b"".join(pieces)

    async def aclose(self) -> None:
        """Let go of the provider. It hears of it at once when it was not through."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            self._pool.give_back(connection)
            await self._held.aclose()


class Pool:
    """Connections to one provider."""

    def __init__(self, origin: Origin, context: ssl.SSLContext | None) -> None:
        self._origin = origin
        self._context = context
        self._idle: list[Connection] = []

    async def take(self, seconds: float) -> Connection:
        """A connection that carries nothing. Raises ``Unreachable``."""
        oldest = asyncio.get_running_loop().time() - IDLE_SECONDS
        while self._idle:
            connection = self._idle.pop()
            if not connection.closed and connection.idle_since > oldest:
                return connection
            connection.abort()
        return await self._connect(seconds)

    def give_back(self, connection: Connection) -> None:
        """Keep a connection for the next request, where it can carry one."""
        if not connection.reusable or len(self._idle) >= IDLE_MAX:
            connection.abort()
            return
        connection.idle_since = asyncio.get_running_loop().time()
        self._idle.append(connection)

    def close(self) -> None:
        """Let go of all connections that carry nothing."""
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
    """What an error of a connection says, without the addresses that its own words name."""
    if isinstance(error, ssl.SSLError | socket.gaierror) or error.errno is None:
        return type(error).__name__
    return os.strerror(error.errno)


class Upstream:
    """The way to the providers. ``connections``: at the same time, to all of them; ``None``: as many as are asked.
    ``ca_file``: certificates of authorities that are trusted besides the public ones. Raises ``ConfigError`` for a file
    that holds none."""

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
        """Send a request and return as soon as its response begins. ``headers`` without host and length.

        Raises ``Unreachable``.
        """
        head = _head(method, place, headers, len(body))
        held = await self._held()
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
            if isinstance(error, Late):
                raise Unreachable("the provider gave no answer in time", status=GATEWAY_TIMEOUT) from None
            if isinstance(error, BrokenResponse):
                raise Unreachable(f"the provider gave no answer: {error}") from None
            raise
        return UpstreamResponse(pool, connection, begun, self._patience.idle, held)

    async def aclose(self) -> None:
        """Close the pools."""
        for pool in self._pools.values():
            pool.close()

    async def _held(self) -> AsyncExitStack:
        """One of the connections that there may be. Raises ``Unreachable`` when none gets free in time."""
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
    """The head of a request. Raises ``Unreachable`` for a header that would end its line."""
    lines = [b"%s %s HTTP/1.1" % (method.encode("ascii"), place.target), b"host: " + place.origin.authority]
    lines += [name + b": " + value for name, value in headers]
    if length or method not in ("GET", "HEAD"):
        lines.append(b"content-length: %d" % length)
    head = b"\r\n".join([*lines, b"", b""])
    if head.count(b"\n") != len(lines) + 1 or head.count(b"\r") != len(lines) + 1:
        raise Unreachable("a header of the request has more than one line", unsent=True)
    return head
