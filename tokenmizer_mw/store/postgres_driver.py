"""PostgreSQL connections whose statements end at a deadline, and the translation of the driver's errors.

The texts of the driver's errors are not passed on: they may repeat the address, a role or stored data.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import lru_cache
from threading import Thread
from typing import Any, Final, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.pq import TransactionStatus
from psycopg.types.array import ListBinaryDumper
from psycopg.types.numeric import Int8BinaryDumper, Int8Dumper

from tokenmizer_mw.errors import ConfigError, StoreCause, StoreCorrupt, StoreError, StoreUnavailable
from tokenmizer_mw.store.postgres_address import NAME, Address

Result = TypeVar("Result")

ERRORS: Final[dict[str, tuple[type[StoreError], StoreCause, str]]] = {
    "08": (StoreUnavailable, "unreachable", "the connection was lost"),
    "0A": (StoreUnavailable, "", "does not support this"),
    "22": (StoreCorrupt, "damaged", "cannot represent a text or a number"),
    "23": (StoreCorrupt, "damaged", "is damaged: its sessions and its events disagree"),
    "25006": (StoreUnavailable, "read_only", "is read-only"),
    "28": (StoreUnavailable, "no_access", "refuses the role or its password"),
    "3D": (StoreUnavailable, "no_access", "has no database of this name"),
    "3F": (StoreCorrupt, "damaged", "does not have the tables of a session log"),
    "40": (StoreUnavailable, "overloaded", "is being written by too many at once"),
    "42": (StoreCorrupt, "damaged", "does not have the tables of a session log"),
    "42501": (StoreUnavailable, "no_access", "the role may not do this"),
    "53": (StoreUnavailable, "overloaded", "is out of memory or connections"),
    "53100": (StoreUnavailable, "disk_full", "the disk is full"),
    "53300": (StoreUnavailable, "overloaded", "has too many connections"),
    "54": (StoreUnavailable, "", "an event is larger than PostgreSQL can hold"),
    "55": (StoreUnavailable, "locked", "is locked by others"),
    "57": (StoreUnavailable, "no_answer", "ended the call"),
    "57P01": (StoreUnavailable, "unreachable", "is shutting down"),
    "57P02": (StoreUnavailable, "unreachable", "is shutting down"),
    "57P03": (StoreUnavailable, "unreachable", "is not ready for connections"),
    "58": (StoreUnavailable, "disk_unreadable", "the disk cannot be read or written"),
    "XX001": (StoreCorrupt, "damaged", "is damaged"),
    "XX002": (StoreCorrupt, "damaged", "is damaged"),
}
"""Maps a SQLSTATE, or its first two characters, to the error to raise, its cause, and the text that follows
"PostgreSQL: " in its message."""

_REFUSED: Final = (
    ("28000", "authentication failed|no pg_hba.conf entry|role .* does not exist|no password supplied|not permitted"),
    ("3D000", "database .* does not exist"),
    ("42501", "permission denied"),
    ("53300", "too many (clients|connections)|connection slots"),
    ("57P03", "starting up|shutting down|in recovery|not (yet )?accepting"),
)
"""SQLSTATEs, each with a pattern for what a server says in English when it refuses a connection for that reason. They
are needed because libpq passes on the text alone."""

_UNREADABLE: Final = re.compile("connection is bad: (?!connection to server)")
"""Begins the text of an error with which libpq rejects an address before it looks for a server."""

_UNDONE: Final = ("40001", "40P01")
"""The SQLSTATEs of a serialization failure and of a deadlock."""

_CANCEL_SECONDS: Final = 5.0


class ConnectionLost(StoreUnavailable):
    """Raised when there is no connection or it was lost; the last statement may or may not have been executed."""


class DeadlinePassed(StoreUnavailable):
    """Raised when the server did not answer in time; the last statement may or may not have been executed."""


class StatementUndone(StoreUnavailable):
    """Raised when the server rolled a statement back because of a conflict with another one; it can be sent again."""


class PostgresConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection for one thread at a time. After an error it must be closed.

    ``deadline``: the ``time.monotonic()`` at which a running statement is given up. In statements ``{schema}`` stands
    for the quoted name of the schema, and ``$1`` for a parameter.
    """

    address: Address
    deadline: float = math.inf

    def wait(self, gen: PQGen[Result], *args: Any, **options: Any) -> Result:
        """Run ``gen``, the steps of an operation of psycopg, which calls this; return the operation's result. Raises
        ``TimeoutError`` if the server has not answered by ``deadline``."""
        return super().wait(self._until_deadline(gen), *args, **options)

    def fetch(self, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows; ``[]`` for none. Raises ``StoreError`` if it fails or is not answered in
        time."""
        cursor = self._run(statement, parameters)
        return cursor.fetchall() if cursor.description else []

    def change(self, statement: str, *parameters: object) -> int:
        """Run a statement and return how many rows it changed. Raises ``StoreError`` if it fails or is not answered in
        time."""
        return self._run(statement, parameters).rowcount

    def fetch_value(self, statement: str, *parameters: object) -> Any:
        """Run a statement and return the first column of its first row; ``None`` if there is no row. Raises
        ``StoreError`` if it fails or is not answered in time."""
        rows = self.fetch(statement, *parameters)
        return rows[0][0] if rows else None

    @contextmanager
    def in_transaction(self, mode: str = "ISOLATION LEVEL READ COMMITTED") -> Iterator[None]:
        """Run the block in a transaction and commit it. After an error in the block the connection must be closed,
        which rolls back. ``mode``: what follows "BEGIN" in SQL."""
        self.fetch(f"BEGIN {mode}")
        yield
        self.fetch("COMMIT")

    def _run(self, statement: str, parameters: Sequence[object]) -> psycopg.Cursor[tuple[Any, ...]]:
        try:
            return self.execute(qualify_names(statement, self.address.schema), parameters, binary=True)
        except TimeoutError:
            raise deadline_error(self.address) from None
        except psycopg.Error as error:
            raise translate(error, self.address.place) from None

    def discard(self) -> None:
        """Close the connection, and cancel its running statement on the server without waiting for that."""
        if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
            _start_thread(self._cancel_and_close)
        else:
            self.close()

    def _cancel_and_close(self) -> None:
        with suppress(psycopg.Error):
            self.cancel_safe(timeout=_CANCEL_SECONDS)
        self.close()

    def _until_deadline(self, gen: PQGen[Result]) -> PQGen[Result]:
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if not ready and time.monotonic() >= self.deadline:
                    raise TimeoutError
                wanted = gen.send(ready)
        except StopIteration as end:
            result: Result = end.value
            return result


def connect(address: Address, deadline: float) -> PostgresConnection:
    """Connect before ``deadline``, in seconds of ``time.monotonic()``. Raises ``StoreError`` if that fails, and
    ``ConfigError`` for an address that libpq cannot read."""
    opening: Future[PostgresConnection] = Future()
    # In a thread of its own, since nothing else bounds the look-up of a host's name.
    _start_thread(_connect_into, opening, address, deadline)
    try:
        connection = opening.result(max(0.0, deadline - time.monotonic()))
    except TimeoutError:
        opening.add_done_callback(_close_late)
        raise deadline_error(address) from None
    except (psycopg.Error, UnicodeError) as error:
        raise _connect_error(error, address) from None
    connection.address, connection.deadline = address, deadline
    return connection


def _start_thread(work: Callable[..., None], *parameters: object) -> None:
    try:
        Thread(target=work, args=parameters, name="tokenmizer-postgres", daemon=True).start()
    except RuntimeError:  # Python 3.12 starts no thread once it ends, when turns that wait are still written
        work(*parameters)


def _connect_into(opening: Future[PostgresConnection], address: Address, deadline: float) -> None:
    seconds = max(1, math.ceil(deadline - time.monotonic()))
    try:
        connection = PostgresConnection.connect(
            address.dsn, autocommit=True, cursor_factory=psycopg.RawCursor, connect_timeout=seconds
        )
        # One type a parameter, whatever number it is: each statement is prepared once.
        for kind, dumper in ((int, Int8Dumper), (int, Int8BinaryDumper), (list, ListBinaryDumper)):
            connection.adapters.register_dumper(kind, dumper)
    except BaseException as error:
        opening.set_exception(error)
    else:
        opening.set_result(connection)


def _close_late(opening: Future[PostgresConnection]) -> None:
    if opening.exception() is None:
        opening.result().close()


def deadline_error(address: Address) -> DeadlinePassed:
    """Return the error to raise for a call that PostgreSQL has not answered before its deadline. ``address``: names the
    host and database in the error."""
    return DeadlinePassed(f"{NAME}: did not answer in time", cause="no_answer", place=address.place)


def _connect_error(error: Exception, address: Address) -> Exception:
    text = str(error)
    if not isinstance(error, psycopg.OperationalError) or _UNREADABLE.match(text):
        return ConfigError(f"{NAME}: the driver cannot read the address")
    if isinstance(error, psycopg.errors.ConnectionTimeout):
        return deadline_error(address)
    for state, pattern in _REFUSED:
        if re.search(pattern, text):
            return _error_of_state(state, address.place)
    advice = "see that it runs, and what its address says"
    return ConnectionLost(f"{NAME}: cannot be reached: {advice}", cause="unreachable", place=address.place)


def translate(error: psycopg.Error, place: str = NAME) -> StoreError:
    """Translate an error of the driver or the server to a one-line error of this package. ``place``: host and database,
    without password."""
    if error.sqlstate:
        return _error_of_state(error.sqlstate, place)
    if isinstance(error, psycopg.DataError):
        return _error_of_state("22000", place)
    return ConnectionLost(f"{NAME}: the connection was lost", cause="unreachable", place=place)


def _error_of_state(state: str, place: str) -> StoreError:
    kind, cause, sentence = ERRORS.get(state) or ERRORS.get(state[:2]) or (StoreUnavailable, "", "cannot be used")
    if cause == "unreachable":
        kind = ConnectionLost
    elif state in _UNDONE:
        kind = StatementUndone
    return kind(f"{NAME}: {sentence} ({state})", cause=cause, place=place)


@lru_cache(maxsize=256)
def qualify_names(statement: str, schema: str) -> bytes:
    """Return a statement as bytes, with the quoted name ``schema`` in place of each "{schema}"."""
    return statement.replace("{schema}", quote_schema(schema)).encode()


def quote_schema(schema: str) -> str:
    """Return the name of a schema in double quotes, as an SQL statement needs it; quotes in the name are doubled."""
    return '"' + schema.replace('"', '""') + '"'
