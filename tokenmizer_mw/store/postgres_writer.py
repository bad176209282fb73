"""Writes appends to PostgreSQL: all waiting ones in one statement, and finds out the outcome of each.

If a connection breaks after a statement was sent, it is unknown whether the statement was or will be executed. The same
appends are then sent again, until one of two things is certain. Either they are written now; the first statement then
has no effect, however late it is executed, because the sessions have other ends. Or they are refused; then the token of
the stored event tells whether the first statement wrote it, or another writer.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from typing import Any, Final

from tokenmizer_mw.errors import Conflict, StoreError, StoreTooNew
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.group_commit import GroupCommit
from tokenmizer_mw.store.log import Clock
from tokenmizer_mw.store.postgres_address import NAME
from tokenmizer_mw.store.postgres_connections import Connections
from tokenmizer_mw.store.postgres_driver import ConnectionLost, DeadlinePassed, PostgresConnection, StatementUndone
from tokenmizer_mw.store.postgres_schema import MIGRATIONS, SEQ_MAX

_AGAIN_SECONDS: Final = 0.05
_UNKNOWN: Final = "whether the append was kept is not known: read the session's tail"

_APPEND = """
WITH wanted AS MATERIALIZED (
  SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[]) WITH ORDINALITY
    AS w (tenant, session, expected, count, token, place)
  WHERE $6::integer = (SELECT version FROM {schema}.installation)
), moved AS (
  UPDATE {schema}.sessions AS s SET seq = s.seq + w.count, updated_at = greatest(s.updated_at, $7::double precision)
  FROM wanted AS w
  WHERE s.tenant = w.tenant AND s.session = w.session AND s.seq = w.expected AND w.expected > 0
  RETURNING w.place, s.id, s.updated_at
), started AS (
  INSERT INTO {schema}.sessions (tenant, session, seq, created_at, updated_at)
  SELECT tenant, session, count, $7, $7 FROM wanted WHERE expected = 0
  ON CONFLICT (tenant, session) DO NOTHING
  RETURNING tenant, session, id, updated_at
), written AS MATERIALIZED (
  SELECT place, id, updated_at FROM moved
  UNION ALL SELECT w.place, s.id, s.updated_at FROM started AS s JOIN wanted AS w USING (tenant, session)
), added AS (
  INSERT INTO {schema}.events (session, seq, recorded_at, token, version, kind, payload)
  SELECT d.id, w.expected + e.position, d.updated_at, CASE WHEN e.position = 1 THEN w.token END,
    e.version, e.kind, e.payload
  FROM unnest($8::bigint[], $9::bigint[], $10::integer[], $11::text[], $12::text[])
    AS e (place, position, version, kind, payload)
  JOIN written AS d USING (place) JOIN wanted AS w USING (place)
)
SELECT place, updated_at FROM written
"""
"""Writes several appends, at most one of each session. Returns the places and times of those that were written."""

_OUTCOME = """
SELECT i.version, coalesce(s.seq, 0), e.token, e.recorded_at
FROM {schema}.installation AS i
LEFT JOIN {schema}.sessions AS s ON s.tenant = $1 AND s.session = $2
LEFT JOIN {schema}.events AS e ON e.session = s.id AND e.seq = $3
"""
"""Returns why an append was not written: the tables' version, the number of the session's last event, and the token and
the time of the event that has the number of the append's first event."""

EncodedEvent = tuple[str, int, str]
"""An event as ``encode`` returns it: kind, version, payload."""


class PostgresAppend:
    """An append in progress: the events to write, and afterwards the time at which they were written, or the error.
    ``expected_seq``: number of the session's last event, after which they are written; 0 for a new session."""

    __slots__ = ("doubtful", "error", "events", "expected_seq", "recorded_at", "session", "token")

    def __init__(self, session: SessionKey, events: Sequence[EncodedEvent], expected_seq: int) -> None:
        self.session = session
        self.events = events
        # No log ends at -1, so that what PostgreSQL cannot hold is a conflict like any other wrong number.
        self.expected_seq = expected_seq if 0 <= expected_seq < SEQ_MAX - len(events) else -1
        self.token = secrets.randbits(63)
        self.doubtful = False
        """Whether the append was sent to the server and it is not known if it was written."""
        self.recorded_at: float | None = None
        self.error: StoreError | None = None

    @property
    def settled(self) -> bool:
        """Whether the outcome is known: the events were written (``recorded_at``), or they were not (``error``)."""
        return self.recorded_at is not None or self.error is not None


class PostgresWriter:
    """Writes appends in groups. If one append of a group fails, the group's other appends are still written.
    ``clock``: returns their time, in seconds since the epoch; ``timeout``: seconds after which a group is given up."""

    def __init__(self, connections: Connections, clock: Clock, timeout: float) -> None:
        self._connections = connections
        self._clock = clock
        self._timeout = timeout
        self._group = GroupCommit(self._write_group)

    def append(self, append: PostgresAppend) -> float:
        """Write all events of ``append``, or none, and wait for that. Returns the time that they were recorded with, in
        seconds since the epoch. Raises the ``StoreError`` of this append, such as ``Conflict``."""
        self._group.submit(append)
        if append.error is not None:
            raise append.error
        assert append.recorded_at is not None
        return append.recorded_at

    def _write_group(self, appends: list[PostgresAppend]) -> None:
        # In one order in all processes: they never wait for each other in a circle.
        ordered = sorted(appends, key=lambda append: append.session)
        try:
            self._settle(ordered, self._clock(), time.monotonic() + self._timeout)
        except StoreError as error:
            for append in ordered:
                if not append.settled:
                    # One error object each: they are raised in different threads.
                    append.error = error.again(f"{error}; {_UNKNOWN}" if append.doubtful else None)

    def _settle(self, appends: list[PostgresAppend], now: float, deadline: float) -> None:
        """Write the appends and find out the outcome of each. Raises ``StoreError`` if that is not possible before the
        deadline."""
        while pending := [append for append in appends if not append.settled]:
            sent = False
            try:
                with self._connections.connection(deadline) as connection:
                    sent = True
                    _write(connection, _one_a_session(pending), now)
            except StoreError as error:
                lost = sent and isinstance(error, ConnectionLost | DeadlinePassed)
                doubtful = _note_doubt(pending, lost)
                if isinstance(error, DeadlinePassed) or not (sent or doubtful):
                    raise
                if doubtful or isinstance(error, StatementUndone):
                    time.sleep(_AGAIN_SECONDS)
                elif len(pending) == 1:
                    pending[0].error = error
                else:
                    for append in pending:
                        self._settle([append], now, deadline)


def _write(connection: PostgresConnection, appends: list[PostgresAppend], now: float) -> None:
    for place, recorded_at in connection.fetch(_APPEND, *_columns(appends, now)):
        appends[place - 1].recorded_at = recorded_at
    for append in appends:
        if append.recorded_at is None:
            _explain(connection, append)


def _explain(connection: PostgresConnection, append: PostgresAppend) -> None:
    """Set ``error`` to the reason why an append was not written, or ``recorded_at`` if an earlier attempt did write it.
    Sets neither if it could be written by now."""
    key, expected = append.session, append.expected_seq
    [(version, seq, token, recorded_at)] = connection.fetch(_OUTCOME, key.tenant, key.id, expected + 1)
    if token == append.token:
        append.recorded_at = recorded_at
    elif version != len(MIGRATIONS):
        append.error = StoreTooNew(f"{NAME}: a newer version of tokenmizer-mw took it over")
    elif seq != expected:
        append.error = Conflict(f"the session's log ends at {seq}, and not where the caller expected it")


def _note_doubt(appends: Sequence[PostgresAppend], sent: bool) -> bool:
    """Note for each append that it was sent and that its outcome is unknown, if ``sent``. Returns whether that is so of
    any, now or from before."""
    for append in appends:
        append.doubtful = append.doubtful or sent
    return any(append.doubtful for append in appends)


def _one_a_session(appends: list[PostgresAppend]) -> list[PostgresAppend]:
    """Return the first append of each session. Of two appends to one session only one could succeed."""
    return list({append.session: append for append in reversed(appends)}.values())[::-1]


def _columns(appends: Sequence[PostgresAppend], now: float) -> tuple[Any, ...]:
    """Return the parameters of the statement ``_APPEND``, which writes all ``appends`` with the time ``now``."""
    events = [
        (place, position, event)
        for place, append in enumerate(appends, 1)
        for position, event in enumerate(append.events, 1)
    ]
    return (
        [append.session.tenant for append in appends],
        [append.session.id for append in appends],
        [append.expected_seq for append in appends],
        [len(append.events) for append in appends],
        [append.token for append in appends],
        len(MIGRATIONS),
        now,
        [place for place, _, _ in events],
        [position for _, position, _ in events],
        [version for _, _, (_, version, _) in events],
        [kind for _, _, (kind, _, _) in events],
        [payload for _, _, (_, _, payload) in events],
    )
