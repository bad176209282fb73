"""Event log in PostgreSQL, for several workers and hosts that share sessions.

Calls of all threads share a pool of connections; appends are written in groups (``group_commit``), each group in one
statement, which is a transaction: the server never holds a lock while it waits for this process. A forked process gets
its own connections.

An append that returned is committed. It survives what the server's ``synchronous_commit`` lets it survive: by default
the death of the server and a power cut.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

from tokenmizer_mw.errors import StoreCorrupt, StoreError, StoreTooNew, StoreUnavailable
from tokenmizer_mw.model.event import (
    OUTLINES,
    Event,
    NewerEvent,
    ReadDetail,
    Recorded,
    UnreadableEvent,
    decode,
    decode_outline,
    encode,
)
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store import postgres_maintenance as maintenance
from tokenmizer_mw.store.ledger import PostgresLedger, UsageLedger
from tokenmizer_mw.store.log import (
    Clock,
    PassageRows,
    Place,
    Rewriting,
    SessionInfo,
    Snapshot,
    require_all_valid,
    require_order,
    require_place,
    require_valid,
)
from tokenmizer_mw.store.postgres_address import NAME, Address
from tokenmizer_mw.store.postgres_connections import Connections, PerProcess
from tokenmizer_mw.store.postgres_driver import PostgresConnection
from tokenmizer_mw.store.postgres_schema import MIGRATIONS, SEQ_MAX
from tokenmizer_mw.store.postgres_writer import PostgresAppend, PostgresWriter

Result = TypeVar("Result")

REWRITE_ATTEMPTS_MAX: Final = 100
"""How often a rewriting of a session is tried while others append to the session."""

_TRACES: Final = "erased, but its traces stay in the tables until this is done again"
_READ_STATEMENTS: Final[dict[ReadDetail, str]] = {
    "nodes": maintenance.READ_NODES,
    "messages": maintenance.READ_MESSAGES,
    "numbers": maintenance.READ_MESSAGES,
}
"""Statements for the values of ``ReadDetail`` with which events may be left out."""

_TENANTS = "SELECT DISTINCT tenant FROM {schema}.sessions ORDER BY tenant"
_SECRET = "SELECT secret FROM {schema}.installation"

_LIST = """
SELECT session, seq, created_at, updated_at FROM {schema}.sessions
WHERE tenant = $1 AND (updated_at < $2 OR (updated_at = $2 AND session > $3))
ORDER BY updated_at DESC, session LIMIT $4
"""

_SNAPSHOT = """
SELECT seq, recorded_at, fold_version, payload FROM {schema}.snapshots
WHERE session = (SELECT id FROM {schema}.sessions WHERE tenant = $1 AND session = $2)
"""

_KEEP_SNAPSHOT = """
WITH whose AS MATERIALIZED (
  SELECT s.id FROM {schema}.sessions AS s
  WHERE s.tenant = $1 AND s.session = $2 AND s.rewritten <= $3::bigint
    AND $7::integer = (SELECT version FROM {schema}.installation)
  FOR SHARE OF s
)
INSERT INTO {schema}.snapshots AS k (session, seq, recorded_at, fold_version, payload)
SELECT e.session, e.seq, e.recorded_at, $5::bigint, $6::bytea FROM whose
JOIN {schema}.events AS e ON e.session = whose.id AND e.seq = $3 AND e.recorded_at = $4::double precision
ON CONFLICT (session) DO UPDATE SET seq = excluded.seq, recorded_at = excluded.recorded_at,
  fold_version = excluded.fold_version, payload = excluded.payload
  WHERE k.seq < excluded.seq OR k.fold_version <> excluded.fold_version
RETURNING seq
"""

_PASSAGE_ROWS = """
SELECT passage, vector FROM {schema}.passages
WHERE session = (SELECT id FROM {schema}.sessions WHERE tenant = $1 AND session = $2) AND model = $3 ORDER BY place
"""

_CURRENT = """
WITH whose AS MATERIALIZED (
  SELECT s.id FROM {schema}.sessions AS s JOIN {schema}.events AS e ON e.session = s.id
  WHERE s.tenant = $1 AND s.session = $2 AND s.rewritten <= $3::bigint
    AND e.seq = $3 AND e.recorded_at = $4::double precision
    AND $5::integer = (SELECT version FROM {schema}.installation)
  FOR SHARE OF s
)
"""

_PRUNE_PASSAGES = f"""{_CURRENT}, gone AS (
  DELETE FROM {{schema}}.passages AS p USING whose WHERE p.session = whose.id AND (p.model <> $6::text OR p.place <= (
    SELECT n.place FROM {{schema}}.passages AS n WHERE n.session = whose.id AND n.model = $6::text
    ORDER BY n.place DESC OFFSET $7::bigint LIMIT 1))
)
SELECT id FROM whose
"""

_KEEP_PASSAGES = f"""{_CURRENT}, added AS (
  INSERT INTO {{schema}}.passages (session, passage, model, vector)
  SELECT whose.id, n.passage, $6::text, n.vector
  FROM whose, unnest($7::bytea[], $8::bytea[]) WITH ORDINALITY AS n (passage, vector, place) ORDER BY n.place
  ON CONFLICT (session, passage) DO NOTHING
)
SELECT id FROM whose
"""


class _Here:
    """What one process uses of a PostgreSQL store: its pool of connections, and the writer of its appends."""

    __slots__ = ("connections", "writer")

    def __init__(self, address: Address, clock: Clock) -> None:
        self.connections = Connections(address)
        self.writer = PostgresWriter(self.connections, clock, address.timeout)


class PostgresLog:
    """An ``EventLog`` in a PostgreSQL database. Connects at the first call.

    The schema and its tables are created when missing. ``address``: the parsed address of the database, with the
    store's own options. ``clock``: returns the time of new events, in seconds since the epoch.
    """

    def __init__(self, address: Address, *, clock: Clock = time.time) -> None:
        self._address = address
        self._clock = clock
        self._processes = PerProcess(lambda: _Here(address, clock))
        self._closed = False

    @property
    def place(self) -> str:
        """Host, port and database, such as "db.example:5432/shop", for messages to people; without user and
        password."""
        return self._address.place

    def append(self, session: SessionKey, events: Sequence[Event], *, expected_seq: int) -> list[Recorded]:
        """Append ``events`` to a session after its event ``expected_seq`` (0 for a new session), all or none. Returns
        them with their numbers and times; ``[]`` if there are none. Raises ``Conflict`` if the session's last event has
        another number.

        If the connection breaks, the call finds out whether the events were stored. If it cannot in time, it raises
        ``StoreUnavailable``, whose message says that this is unknown: read the session then.
        """
        require_valid(session)
        here = self._here()
        if not events:
            return []
        append = PostgresAppend(session, [encode(event) for event in events], expected_seq)
        recorded_at = here.writer.append(append)
        return [Recorded(seq, recorded_at, event) for seq, event in enumerate(events, expected_seq + 1)]

    def read(
        self, session: SessionKey, *, after: int = 0, upto: int | None = None, detail: ReadDetail = "all"
    ) -> list[Recorded]:
        """Return the events of a session with ``after < seq <= upto``, in order; ``upto`` of ``None``: to the end.
        ``[]`` for an unknown session. ``detail``: with less than "all", events that are not needed may be missing, and
        messages may lack their content."""
        require_valid(session)
        limits = (_storable(after), _storable(SEQ_MAX if upto is None else upto))
        statement = _READ_STATEMENTS.get(detail, maintenance.READ)
        rows = self._select(statement, session.tenant, session.id, *limits)
        return _decode_rows(rows, decode_outline if detail in OUTLINES else decode)

    def snapshot(self, session: SessionKey) -> Snapshot | None:
        """Return the stored snapshot of a session (its state after some event as bytes, which saves reading the events
        before it); ``None`` if there is none."""
        require_valid(session)
        rows = self._select(_SNAPSHOT, session.tenant, session.id)
        return Snapshot(*rows[0]) if rows else None

    def keep_snapshot(self, session: SessionKey, snapshot: Snapshot) -> bool:
        """Store a snapshot of a session's state, replacing the previous one. Returns whether it was stored: not if the
        session was erased or rewritten since the snapshot's event, or if the stored one has the same fold version and
        is not older."""
        require_valid(session)
        row = (_storable(snapshot.seq), snapshot.recorded_at, snapshot.fold_version, snapshot.payload, len(MIGRATIONS))
        # Keeping it twice does no harm, so it may be tried again like a reading.
        return bool(self._select(_KEEP_SNAPSHOT, session.tenant, session.id, *row))

    def passage_rows(self, session: SessionKey, model: str) -> dict[bytes, bytes]:
        """Return the embedding vectors that ``model`` computed for a session's passages (paragraphs of its messages),
        as bytes by the digest of the passage; ``{}`` if there are none."""
        require_valid(session)
        rows = self._select(_PASSAGE_ROWS, session.tenant, session.id, model)
        return {bytes(passage): bytes(vector) for passage, vector in rows}

    def keep_passage_rows(self, session: SessionKey, passages: PassageRows, *, most: int) -> bool:
        """Store further embedding vectors of a session's passages (paragraphs of its messages). Only the ``most``
        newest are kept, and those of other models are deleted. Returns whether they were stored: not if the session was
        erased or rewritten since they were computed."""
        require_valid(session)
        key = (session.tenant, session.id, _storable(passages.seq), passages.recorded_at, len(MIGRATIONS))
        rows = list(passages.rows.items())[-most:] if most > 0 else []
        # Each of the two may be done twice, so that both may be tried again like a reading.
        if not self._select(_PRUNE_PASSAGES, *key, passages.model, max(0, most - len(rows))):
            return False
        columns = [passage for passage, _ in rows], [vector for _, vector in rows]
        return bool(self._select(_KEEP_PASSAGES, *key, passages.model, *columns))

    def sessions(self, tenant: str, *, after: Place | None = None, limit: int | None = None) -> list[SessionInfo]:
        """Return the sessions of a tenant, the most recently updated first; ``[]`` if there are none. ``after``:
        ``SessionInfo.place`` of the last session of the previous page; ``None``: begin with the first. ``limit``:
        maximum number of sessions; ``None``: all."""
        require_place(tenant, after)
        most = None if limit is None else _storable(limit)
        rows = self._select(_LIST, tenant, *(after or (math.inf, "")), most)
        return [SessionInfo(SessionKey(tenant, id_), *rest) for id_, *rest in rows]

    def tenants(self) -> list[str]:
        """Return the tenants that have sessions, sorted by name; ``[]`` if there are none."""
        return [tenant for (tenant,) in self._select(_TENANTS)]

    def load(self, session: SessionKey, events: Sequence[Recorded], *, expected_seq: int) -> None:
        """Restore ``events`` of a session with their original numbers and times after its event ``expected_seq`` (0 for
        a new session), all or none. Raises ``Conflict`` if the session's last event has another number, and
        ``CallerError`` for events whose numbers or times are out of order."""
        require_valid(session)
        require_order(events, expected_seq)
        if events:
            self._alone(lambda at: maintenance.put_back(at, session, events, expected_seq))

    def forget(self, session: SessionKey) -> int:
        """Erase a session. Returns how many events it had; 0 if it did not exist. If the call raises ``StoreError``,
        call it again: the second call finishes the work.

        What stays in the files of the server, and for how long, depends on ``Address.erase``: ``docs/postgres.md``.
        """
        require_valid(session)
        return self._erase([session], math.inf)[1]

    def erase(self, sessions: Iterable[SessionKey], *, unless_since: float | None = None) -> list[SessionKey]:
        """Erase many sessions in one step, at about the cost of one. Returns those that existed and were erased.
        ``unless_since``: sessions with an event at this time (seconds since the epoch) or later are kept; ``None``:
        none is kept."""
        keys = require_all_valid(sessions)
        return self._erase(keys, math.inf if unless_since is None else unless_since)[0] if keys else []

    def rewrite(self, session: SessionKey, change: Rewriting) -> int:
        """Replace or erase the contents of a session's events, and return how many changed; 0 for an unknown session.
        ``change`` gets each event and returns the one to store in its place, the same one for no change, or ``None`` to
        erase it.

        If other processes append meanwhile, it is tried again with the new events; ``change`` is called only once for
        each event. Raises ``StoreUnavailable`` if others appended during each of ``REWRITE_ATTEMPTS_MAX`` attempts.
        """
        require_valid(session)
        decided: dict[maintenance.Row, Event | None] = {}
        for _ in range(REWRITE_ATTEMPTS_MAX):
            was = self._alone(lambda at: maintenance.whole(at, session))
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
        """The usage ledger of this store, which has the cost and savings of model calls."""
        return PostgresLedger(lambda: self._here().connections)

    def secret(self) -> bytes:
        """Return the store's secret: random bytes, created with the store and the same for all its users. It is used to
        sign data."""
        rows = self._select(_SECRET)
        if len(rows) != 1:
            raise StoreCorrupt(f"{NAME}: is damaged: its secret is missing")
        return bytes(rows[0][0])

    def close(self) -> None:
        """Close the connections after the running calls have ended; further calls raise ``StoreUnavailable``."""
        self._closed = True
        self._processes.get().connections.close()

    def _here(self) -> _Here:
        if self._closed:
            raise StoreUnavailable(f"{NAME} is closed", cause="closed", place=self._address.place)
        return self._processes.get()

    def _select(self, statement: str, *parameters: object) -> list[Any]:
        return self._here().connections.select(statement, *parameters)

    def _alone(self, work: Callable[[PostgresConnection], Result]) -> Result:
        return self._here().connections.alone(work)

    def _erase(self, keys: Sequence[SessionKey], before: float) -> tuple[list[SessionKey], int]:
        erased = self._alone(lambda at: maintenance.erase(at, keys, before))
        self._wipe()
        return erased

    def _replace(self, was: maintenance.Whole, changed: dict[int, Event | None]) -> bool:
        now = self._clock()
        return self._alone(lambda at: maintenance.rewrite(at, was, changed, now))

    def _wipe(self) -> None:
        """Free the space of deleted rows, as ``Address.erase`` says. The message of the ``StoreError`` that it raises
        says that traces of the rows are left."""
        try:
            self._alone(lambda at: maintenance.wipe(at, self._address.erase))
        except StoreError as error:
            raise error.again(f"{error}: {_TRACES}") from None


def _decode_rows(rows: Sequence[Any], decode: Callable[[str, int, str], Event] = decode) -> list[Recorded]:
    try:
        return [Recorded(seq, at, decode(kind, version, payload)) for seq, at, kind, version, payload in rows]
    except NewerEvent as error:
        raise StoreTooNew(f"{NAME}: {error}") from error
    except UnreadableEvent as error:
        raise StoreCorrupt(f"{NAME}: is damaged: {error}") from error


def _storable(number: int) -> int:
    return max(0, min(number, SEQ_MAX))
