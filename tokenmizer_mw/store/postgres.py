"""Event log in PostgreSQL, for several workers and hosts that share sessions.

The driver is asynchronous and runs on an event loop in its own thread; callers wait. Appends of all threads are written
in groups (``group_commit``), each group in one statement, which is a transaction: the server never holds a lock while
it waits for this process. A forked process gets its own thread and connections.

An append that returned is committed. It survives what the server's ``synchronous_commit`` lets it survive: by default
the death of the server and a power cut.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, Final, TypeVar

import asyncpg

from tokenmizer_mw.errors import StoreCorrupt, StoreError, StoreTooNew, StoreUnavailable
from tokenmizer_mw.model.event import Event, NewerEvent, Recorded, UnreadableEvent, decode, encode
from tokenmizer_mw.model.session import SessionKey

from . import postgres_maintenance as maintenance
from .ledger import UsageLedger
from .log import (
    Clock,
    PassageRows,
    Place,
    Rewriting,
    SessionInfo,
    Snapshot,
    require_order,
    require_place,
    require_valid,
    require_valid_tenant,
)
from .postgres_address import Address
from .postgres_connections import Connections
from .postgres_errors import NAME
from .postgres_ledger import PostgresLedger
from .postgres_schema import MIGRATIONS
from .postgres_statements import SEQ_MAX, Statements, statements
from .postgres_writer import PostgresAppend, PostgresWriter

T = TypeVar("T")

REWRITE_ATTEMPTS_MAX: Final = 100
"""Appends by others in the middle of a rewriting after which it gives up."""

_TRACES: Final = "erased, but its traces stay in the tables until this is done again"


class _Here:
    """What one process holds open."""

    __slots__ = ("connections", "writer")

    def __init__(self, address: Address, statements: Statements, clock: Clock) -> None:
        self.connections = Connections(address)
        self.writer = PostgresWriter(self.connections, statements, clock, address.timeout)


class PostgresLog:
    """An ``EventLog`` in a PostgreSQL database. Nothing is opened before the first call.

    The schema and its tables are created when missing. What an ``address`` says: see ``Address``.
    """

    def __init__(self, address: Address, *, clock: Clock = time.time) -> None:
        self._address = address
        self._clock = clock
        self._statements = statements(address.schema)
        # By process id: a thread does not live on in a fork, and its connections must not be used there.
        self._processes: dict[int, _Here] = {}
        self._closed = False

    @property
    def place(self) -> str:
        """Host, port and database, for people to read; no password."""
        return self._address.place

    def append(self, session: SessionKey, events: Sequence[Event], *, expected_seq: int) -> list[Recorded]:
        """See ``EventLog.append``.

        Where the connection breaks, it is found out whether the events were kept; ``StoreUnavailable`` says so when
        that could not be done in time.
        """
        require_valid(session)
        here = self._here()
        if not events:
            return []
        append = PostgresAppend(session, [encode(event) for event in events], expected_seq)
        recorded_at = here.writer.append(append)
        return [Recorded(seq, recorded_at, event) for seq, event in enumerate(events, expected_seq + 1)]

    def read(self, session: SessionKey, *, after: int = 0, upto: int | None = None) -> list[Recorded]:
        """See ``EventLog.read``."""
        require_valid(session)
        limits = (_storable(after), _storable(SEQ_MAX if upto is None else upto))
        return _decode_rows(self._select(self._statements.read, session.tenant, session.id, *limits))

    def snapshot(self, session: SessionKey) -> Snapshot | None:
        """See ``EventLog.snapshot``."""
        require_valid(session)
        rows = self._select(self._statements.snapshot, session.tenant, session.id)
        return Snapshot(*rows[0]) if rows else None

    def keep_snapshot(self, session: SessionKey, snapshot: Snapshot) -> bool:
        """See ``EventLog.keep_snapshot``."""
        require_valid(session)
        told = (_storable(snapshot.seq), snapshot.recorded_at, snapshot.fold_version, snapshot.payload, len(MIGRATIONS))
        # Keeping it twice does no harm, so it may be tried again like a reading.
        return bool(self._select(self._statements.keep_snapshot, session.tenant, session.id, *told))

    def passage_rows(self, session: SessionKey, model: str) -> dict[bytes, bytes]:
        """See ``EventLog.passage_rows``."""
        require_valid(session)
        rows = self._select(self._statements.passage_rows, session.tenant, session.id, model)
        return {bytes(passage): bytes(vector) for passage, vector in rows}

    def keep_passage_rows(self, session: SessionKey, passages: PassageRows, *, most: int) -> bool:
        """See ``EventLog.keep_passage_rows``."""
        require_valid(session)
        key = (session.tenant, session.id, _storable(passages.seq), passages.recorded_at, len(MIGRATIONS))
        rows = list(passages.rows.items())[-most:] if most > 0 else []
        # Each of the two may be done twice, so that both may be tried again like a reading.
        if not self._select(self._statements.prune_passages, *key, passages.model, max(0, most - len(rows))):
            return False
        columns = [passage for passage, _ in rows], [vector for _, vector in rows]
        return bool(self._select(self._statements.keep_passages, *key, passages.model, *columns))

    def sessions(self, tenant: str, *, after: Place | None = None, limit: int | None = None) -> list[SessionInfo]:
        """See ``EventLog.sessions``."""
        require_valid_tenant(tenant)
        if after is not None:
            require_place(tenant, after)
        most = None if limit is None else _storable(limit)
        rows = self._select(self._statements.sessions, tenant, *(after or (math.inf, "")), most)
        return [SessionInfo(SessionKey(tenant, id_), *rest) for id_, *rest in rows]

    def tenants(self) -> list[str]:
        """See ``EventLog.tenants``."""
        return [tenant for (tenant,) in self._select(self._statements.tenants)]

    def load(self, session: SessionKey, events: Sequence[Recorded], *, expected_seq: int) -> None:
        """See ``EventLog.load``."""
        require_valid(session)
        require_order(events, expected_seq)
        if events:
            self._alone(lambda at: maintenance.put_back(at, self._statements, session, events, expected_seq))

    def forget(self, session: SessionKey) -> int:
        """See ``EventLog.forget``. When it raises, a second call finishes what the first one left.

        What stays in the files of the server, and for how long, depends on ``Address.erase``: ``docs/postgres.md``.
        """
        require_valid(session)
        return self._erase([session], math.inf)[1]

    def erase(self, sessions: Iterable[SessionKey], *, unless_since: float | None = None) -> list[SessionKey]:
        """See ``EventLog.erase``, and ``forget``."""
        keys = list(dict.fromkeys(sessions))
        for key in keys:
            require_valid(key)
        return self._erase(keys, math.inf if unless_since is None else unless_since)[0] if keys else []

    def rewrite(self, session: SessionKey, change: Rewriting) -> int:
        """See ``EventLog.rewrite`` and ``forget``. Appends go on meanwhile; ``change`` sees each event once."""
        require_valid(session)
        decided: dict[maintenance.Row, Event | None] = {}
        for _ in range(REWRITE_ATTEMPTS_MAX):
            was = self._alone(lambda at: maintenance.whole(at, self._statements, session))
            pairs = list(zip(was.rows, _decode_rows(was.rows), strict=True))
            for row, old in pairs:
                if row not in decided:
                    decided[row] = change(old)
            changed = {old.seq: decided[row] for row, old in pairs if decided[row] != old.event}
            if not changed or self._replace(was, changed):
                self._wipe()
                return len(changed)
        raise StoreUnavailable(f"{NAME}: others kept writing the session, so that it could not be rewritten")

    @property
    def ledger(self) -> UsageLedger:
        """The usage ledger of this store."""
        return PostgresLedger(self._select, self._run_pooled, self._address.schema)

    def secret(self) -> bytes:
        """See ``EventLog.secret``."""
        rows = self._select(self._statements.secret)
        if len(rows) != 1:
            raise StoreCorrupt(f"{NAME}: is damaged: its secret is missing")
        return bytes(rows[0][0])

    def close(self) -> None:
        """See ``EventLog.close``. Waits for calls that are under way."""
        self._closed = True
        here = self._processes.get(os.getpid())
        if here is not None:
            here.connections.close()

    def _here(self) -> _Here:
        if self._closed:
            raise StoreUnavailable(f"{NAME}: is closed", cause="closed", place=self._address.place)
        process = os.getpid()
        found = self._processes.get(process)
        return found or self._processes.setdefault(process, _Here(self._address, self._statements, self._clock))

    def _select(self, statement: str, *parameters: object) -> list[Any]:
        return self._here().connections.select(statement, *parameters)

    def _run_pooled(self, work: Callable[[asyncpg.Connection], Coroutine[Any, Any, T]]) -> T:
        connections = self._here().connections

        async def run_on_connection() -> T:
            async with connections.connection() as connection:
                return await work(connection)

        return connections.run(run_on_connection, self._address.timeout)

    def _alone(self, work: Callable[[asyncpg.Connection], Coroutine[Any, Any, T]]) -> T:
        return self._here().connections.alone(work)

    def _erase(self, keys: Sequence[SessionKey], before: float) -> tuple[list[SessionKey], int]:
        erased = self._alone(lambda at: maintenance.erase(at, self._statements, keys, before))
        self._wipe()
        return erased

    def _replace(self, was: maintenance.Whole, changed: dict[int, Event | None]) -> bool:
        now = self._clock()
        return self._alone(lambda at: maintenance.rewrite(at, self._statements, was, changed, now))

    def _wipe(self) -> None:
        """Free what was deleted before, as the address says. Raises ``StoreError`` when traces of it may be left."""
        try:
            self._alone(lambda at: maintenance.wipe(at, self._statements, self._address.erase))
        except StoreError as error:
            raise error.again(f"{error}: {_TRACES}") from None


def _decode_rows(rows: Sequence[Any]) -> list[Recorded]:
    try:
        return [Recorded(seq, at, decode(kind, version, payload)) for seq, at, kind, version, payload in rows]
    except NewerEvent as error:
        raise StoreTooNew(f"{NAME}: {error}") from error
    except UnreadableEvent as error:
        raise StoreCorrupt(f"{NAME}: is damaged: {error}") from error


def _storable(number: int) -> int:
    return max(0, min(number, SEQ_MAX))
