"""The connections of one process to its PostgreSQL store, for callers that block."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, TypeVar

import asyncpg

from tokenmizer_mw.errors import ConfigError, StoreUnavailable

from .postgres_address import Address
from .postgres_errors import FAILED, LOST, NAME, translate
from .postgres_loop import LoopClosed, LoopThread
from .postgres_schema import prepare

T = TypeVar("T")

_CLOSE_SECONDS: Final = 5.0
_TRIES: Final = 3

_Work = Callable[[asyncpg.Connection], Coroutine[Any, Any, T]]


class Connections:
    """A pool on an event loop of its own. Nothing is opened before the first call; any thread may call."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._thread = LoopThread("tokenmizer-postgres")
        self._pool: asyncpg.Pool | None = None
        self._opening: asyncio.Lock | None = None

    def run(self, work: Callable[[], Coroutine[Any, Any, T]], seconds: float) -> T:
        """The result of a coroutine that uses ``connection`` or ``fresh``; in ``seconds``, or it is given up.

        Raises ``StoreError`` for what the server, the driver or the time limit has against it.
        """

        async def run_limited() -> T:
            async with asyncio.timeout(seconds):
                return await work()

        try:
            return self._thread.run(run_limited)
        except LoopClosed:
            raise StoreUnavailable(f"{NAME}: is closed", cause="closed", place=self._address.place) from None
        except FAILED as error:
            raise translate(error, self._address.place) from None

    def select(self, statement: str, *parameters: object) -> list[Any]:
        """The rows of a statement that may be done twice, tried again where its connection turns out to be gone."""

        async def once() -> list[Any]:
            async with self.connection() as connection:
                return list(await connection.fetch(statement, *parameters))

        async def run_with_retries() -> list[Any]:
            for _ in range(_TRIES - 1):
                with suppress(*LOST):
                    return await once()
            return await once()

        return self.run(run_with_retries, self._address.timeout)

    def alone(self, work: _Work[T]) -> T:
        """The result of ``work`` with a connection of its own, in the time that erasing may take."""

        async def with_a_connection() -> T:
            async with self._fresh() as connection:
                return await work(connection)

        return self.run(with_a_connection, self._address.erase_timeout)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[asyncpg.Connection]:
        """One of the pool's, to tables of the current version. After an error in the block it is closed, and those
        that lie idle are not used again."""
        pool = await self._open_pool()
        connection = await pool.acquire()
        try:
            yield connection
        except BaseException as error:
            connection.terminate()
            if isinstance(error, LOST):
                await pool.expire_connections()
            raise
        finally:
            await pool.release(connection)

    def close(self) -> None:
        """Wait for the calls that are under way, then close all connections."""
        self._thread.close(self._close_pool)

    @asynccontextmanager
    async def _fresh(self) -> AsyncIterator[asyncpg.Connection]:
        connection = await _connect(self._address)
        try:
            await prepare(connection, self._address.schema)
            yield connection
        finally:
            connection.terminate()

    async def _open_pool(self) -> asyncpg.Pool:
        # Only coroutines of one loop come here: what happens between two awaits happens at once.
        if self._opening is None:
            self._opening = asyncio.Lock()
        async with self._opening:
            if self._pool is None:
                self._pool = await self._open()
        return self._pool

    async def _open(self) -> asyncpg.Pool:
        address = self._address

        async def connect(*_: object, **__: object) -> asyncpg.Connection:
            return await _connect(address)

        async def check(connection: asyncpg.Connection) -> None:
            await prepare(connection, address.schema)

        return await asyncpg.create_pool(
            min_size=0, max_size=address.pool, connect=connect, init=check, reset=_nothing_to_undo
        )

    async def _close_pool(self) -> None:
        if self._pool is not None:
            try:
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await self._pool.close()
            except FAILED:
                self._pool.terminate()


async def reach(address: Address) -> None:
    """Connect once and leave again; nothing is created. Raises ``StoreError``, and ``ConfigError`` for an address that
    the driver cannot read."""
    try:
        async with asyncio.timeout(address.timeout):
            connection = await _connect(address)
            await connection.close()
    except FAILED as error:
        raise translate(error, address.place) from None


async def _connect(address: Address) -> asyncpg.Connection:
    try:
        return await asyncpg.connect(address.dsn)
    except (ValueError, asyncpg.ClientConfigurationError):
        raise ConfigError(f"{NAME}: the driver cannot read the address") from None


async def _nothing_to_undo(connection: asyncpg.Connection) -> None:
    """No statement of ours leaves anything behind in a connection: the driver's own reset would cost a round trip."""
