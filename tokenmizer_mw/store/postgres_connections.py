"""The connections of one process to its PostgreSQL store."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, Generic, TypeVar

from tokenmizer_mw.errors import StoreUnavailable
from tokenmizer_mw.store.postgres_address import NAME, Address
from tokenmizer_mw.store.postgres_driver import ConnectionLost, PostgresConnection, connect, deadline_error
from tokenmizer_mw.store.postgres_schema import is_prepared, prepare

Result = TypeVar("Result")

IDLE_SECONDS: Final = 300.0
"""Seconds after which an unused connection is closed."""

_TRIES: Final = 3


class PerProcess(Generic[Result]):
    """Creates one object per process, because connections and locks must not be used in a forked child process."""

    def __init__(self, make: Callable[[], Result]) -> None:
        self._make = make
        self._by_process: dict[int, Result] = {}

    def get(self) -> Result:
        """Return the object of the current process; it is created at the first call in the process."""
        process = os.getpid()
        found = self._by_process.get(process)
        return found if found is not None else self._by_process.setdefault(process, self._make())


class Connections:
    """A pool of PostgreSQL connections. Connects at the first call. Thread-safe; calls block.

    ``address``: the database, and the limits of the pool. ``idle_seconds``: seconds after which an unused connection is
    closed.
    """

    def __init__(self, address: Address, *, idle_seconds: float = IDLE_SECONDS) -> None:
        self._address = address
        self._idle_seconds = idle_seconds
        self._room = threading.Semaphore(address.pool)
        self._state = threading.Condition()
        self._under_way = 0
        self._closed = False
        self._idle: list[tuple[float, PostgresConnection]] = []
        self._pruning: threading.Timer | None = None

    def select(self, statement: str, *parameters: object) -> list[Any]:
        """Run a query that may safely be repeated, and return its rows; ``[]`` for none. Retries if the connection was
        lost. Raises ``StoreError`` if the database cannot be reached, refuses the query, or does not answer within
        ``Address.timeout`` seconds, retries included."""
        deadline = time.monotonic() + self._address.timeout
        for _ in range(_TRIES - 1):
            with suppress(ConnectionLost), self.connection(deadline) as connection:
                return connection.fetch(statement, *parameters)
        with self.connection(deadline) as connection:
            return connection.fetch(statement, *parameters)

    def run(self, work: Callable[[PostgresConnection], Result]) -> Result:
        """Call ``work`` with a connection of the pool, within the time limit of a call (``Address.timeout``, in
        seconds), and return its result. Raises ``StoreError`` if no connection is available in time, and what ``work``
        raises."""
        with self.connection(time.monotonic() + self._address.timeout) as connection:
            return work(connection)

    def alone(self, work: Callable[[PostgresConnection], Result]) -> Result:
        """Call ``work`` with a new connection, within the time limit of erasing (``Address.erase_timeout``, in
        seconds), and return its result. Raises ``StoreError`` if the database cannot be reached, and what ``work``
        raises."""
        with self._call():
            connection = self._open(time.monotonic() + self._address.erase_timeout)
            try:
                return work(connection)
            finally:
                connection.discard()

    @contextmanager
    def connection(self, deadline: float) -> Iterator[PostgresConnection]:
        """Lend a connection of the pool for the ``with`` block, whose statements must end by ``deadline`` (a value of
        ``time.monotonic()``). A new connection is opened if none is idle; it creates or migrates the tables first.

        After an error in the block the connection is closed; if it was lost, all idle connections are closed, too.
        Raises ``StoreError`` if no connection is available in time.
        """
        with self._call():
            seconds = deadline - time.monotonic()
            if seconds <= 0 or not self._room.acquire(timeout=seconds):
                raise deadline_error(self._address)
            try:
                connection = self._take(deadline)
                try:
                    yield connection
                except BaseException as error:
                    connection.discard()
                    if isinstance(error, ConnectionLost):
                        self._close_idle(0.0)
                    raise
                self._put_back(connection)
            finally:
                self._room.release()

    def close(self) -> None:
        """Wait until the running calls have ended, then close all connections. Further calls raise
        ``StoreUnavailable``."""
        with self._state:
            self._closed = True
            self._state.wait_for(lambda: not self._under_way)
            pruning = self._pruning
        if pruning is not None:
            pruning.cancel()
            pruning.join()
        self._close_idle(0.0)

    @contextmanager
    def _call(self) -> Iterator[None]:
        with self._state:
            if self._closed:
                raise StoreUnavailable(f"{NAME} is closed", cause="closed", place=self._address.place)
            self._under_way += 1
        try:
            yield
        finally:
            with self._state:
                self._under_way -= 1
                self._state.notify_all()

    def _take(self, deadline: float) -> PostgresConnection:
        with self._state:
            connection = self._idle.pop()[1] if self._idle else None
        if connection is None:
            return self._open(deadline)
        connection.deadline = deadline
        return connection

    def _open(self, deadline: float) -> PostgresConnection:
        """Connect, and create or migrate the tables. Tries again if the server ends the connection meanwhile."""
        tries = 0
        while True:
            connection = connect(self._address, deadline)
            try:
                prepare(connection)
                return connection
            except BaseException as error:
                connection.discard()
                tries += 1
                if tries == _TRIES or not isinstance(error, ConnectionLost):
                    raise

    def _put_back(self, connection: PostgresConnection) -> None:
        with self._state:
            self._idle.append((time.monotonic(), connection))
            if self._pruning is None:
                self._start_pruning()

    def _start_pruning(self) -> None:
        timer = threading.Timer(self._idle_seconds, self._prune)
        timer.name, timer.daemon = "tokenmizer-postgres-idle", True
        with suppress(RuntimeError):  # Python 3.12 starts no thread once it ends
            timer.start()
            self._pruning = timer

    def _prune(self) -> None:
        self._close_idle(self._idle_seconds)
        with self._state:
            self._pruning = None
            if self._idle and not self._closed:
                self._start_pruning()

    def _close_idle(self, seconds: float) -> None:
        """Close the idle connections that were not used for at least ``seconds``."""
        before = time.monotonic() - seconds
        with self._state:
            old = [connection for since, connection in self._idle if since <= before]
            self._idle = [(since, connection) for since, connection in self._idle if since > before]
        for connection in old:
            connection.close()


def reach(address: Address) -> None:
    """Check that a connection is possible; creates nothing. Raises ``StoreError`` if it is not, and
    ``ConfigError`` for an address that the driver cannot parse."""
    connect(address, time.monotonic() + address.timeout).close()


def has_tables(address: Address) -> bool:
    """Return whether the database at ``address`` has the tables of a store; creates nothing. Raises ``StoreError`` if
    the database cannot be reached, and ``ConfigError`` for an address that the driver cannot parse."""
    connection = connect(address, time.monotonic() + address.timeout)
    try:
        return is_prepared(connection)
    finally:
        connection.close()
