"""Erase, rewrite and restore sessions in a PostgreSQL store.

Each function is one unit of work on its own connection. Those with several statements are a transaction in which this
process only sends data, so that others never wait for its computations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from tokenmizer_mw.errors import Conflict, StoreUnavailable
from tokenmizer_mw.model.event import (
    KINDS_BESIDE_MESSAGES,
    KINDS_BESIDE_NODES,
    Event,
    Recorded,
    Rewritten,
    encode,
)
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.ledger import POSTGRES_ERASE
from tokenmizer_mw.store.log import require_not_before
from tokenmizer_mw.store.postgres_address import NAME, Erase
from tokenmizer_mw.store.postgres_driver import PostgresConnection
from tokenmizer_mw.store.postgres_schema import MIGRATIONS, SEQ_MAX

READ = """
SELECT seq, recorded_at, kind, version, payload FROM {schema}.events
WHERE session = (SELECT id FROM {schema}.sessions WHERE tenant = $1 AND session = $2) AND seq > $3 AND seq <= $4
ORDER BY seq
"""

READ_NODES = READ.replace("ORDER", f"AND kind NOT IN {KINDS_BESIDE_NODES!r} ORDER")

READ_MESSAGES = READ.replace(
    "ORDER",
    f"AND (kind NOT IN {KINDS_BESIDE_MESSAGES!r} OR seq ="
    " (SELECT seq FROM {schema}.sessions WHERE tenant = $1 AND session = $2))\nORDER",
)

_FIND = "SELECT id, seq FROM {schema}.sessions WHERE tenant = $1 AND session = $2"

_REWRITE = """
WITH moved AS (
  UPDATE {schema}.sessions
  SET seq = seq + 1, rewritten = seq + 1, updated_at = greatest(updated_at, $3::double precision)
  WHERE id = $1 AND seq = $2 AND $4::integer = (SELECT version FROM {schema}.installation)
  RETURNING id, seq, updated_at
), replaced AS (
  UPDATE {schema}.events AS e SET version = n.version, kind = n.kind, payload = n.payload
  FROM moved, unnest($5::bigint[], $6::integer[], $7::text[], $8::text[]) AS n (seq, version, kind, payload)
  WHERE e.session = moved.id AND e.seq = n.seq
), erased AS (
  DELETE FROM {schema}.events AS e USING moved WHERE e.session = moved.id AND e.seq = ANY ($9::bigint[])
)
INSERT INTO {schema}.events (session, seq, recorded_at, version, kind, payload)
SELECT id, seq, updated_at, $10::integer, $11::text, $12::text FROM moved
RETURNING seq
"""

_ERASE_SESSIONS = """
WITH old AS MATERIALIZED (
  SELECT s.id, s.tenant, s.session FROM {schema}.sessions AS s
  JOIN unnest($1::text[], $2::text[]) AS k (tenant, session) ON s.tenant = k.tenant AND s.session = k.session
  WHERE s.updated_at < $3::double precision
  ORDER BY s.tenant, s.session FOR UPDATE OF s
)
DELETE FROM {schema}.sessions AS s USING old WHERE s.tenant = old.tenant AND s.session = old.session
RETURNING s.id, s.tenant, s.session
"""

_ERASE_EVENTS = """
WITH gone AS (DELETE FROM {schema}.events WHERE session = ANY ($1::bigint[]) RETURNING 1) SELECT count(*) FROM gone
"""

_START = """
INSERT INTO {schema}.sessions (tenant, session, seq, updated_at, created_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant, session) DO NOTHING RETURNING id, created_at
"""

_MOVE_END = """
WITH ended AS (
    SELECT id, updated_at FROM {schema}.sessions WHERE tenant = $1 AND session = $2 AND seq = $5 FOR UPDATE
)
UPDATE {schema}.sessions s SET seq = $3, updated_at = $4 FROM ended WHERE s.id = ended.id
RETURNING s.id, ended.updated_at
"""

_DROP_DERIVED = """
WITH vectors AS (DELETE FROM {schema}.passages WHERE session = ANY ($1::bigint[]))
DELETE FROM {schema}.snapshots WHERE session = ANY ($1::bigint[])
"""

_PUT_BACK = """
INSERT INTO {schema}.events (session, seq, recorded_at, version, kind, payload)
SELECT $1::bigint, * FROM unnest($2::bigint[], $3::double precision[], $4::integer[], $5::text[], $6::text[])
"""

_TABLES: Final = ("sessions", "events", "snapshots", "passages", "spending", "calls")
_ERASED_FROM: Final = ", ".join(f"{{schema}}.{table}" for table in _TABLES)

_MAY_VACUUM = """
SELECT bool_and(pg_has_role(relowner, 'USAGE')) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE nspname = $1 AND relname = ANY ($2::text[])
"""

Row = tuple[int, float, str, int, str]
"""The columns of a stored event: seq, recorded_at, kind, version, payload."""


@dataclass(frozen=True, slots=True)
class Whole:
    """All events of a session, read at one moment.

    - ``number``: number under which the tables hold the session (``sessions.id``), 0 if it does not exist.
    - ``seq``: number of its last event. ``rows``: its events.
    """

    number: int
    seq: int
    rows: Sequence[Row]


def erase(
    connection: PostgresConnection, sessions: Sequence[SessionKey], before: float
) -> tuple[list[SessionKey], int]:
    """Delete the sessions among ``sessions`` whose last event was recorded before the time ``before`` (seconds since
    the epoch; infinity for all). Returns the deleted sessions and the number of their events."""
    ordered = sorted(sessions)
    columns = ([key.tenant for key in ordered], [key.id for key in ordered])
    with connection.in_transaction():
        gone = connection.fetch(_ERASE_SESSIONS, *columns, before)
        # Whoever was appending to these sessions has finished, now that their rows are gone: no event is overlooked.
        numbers = [number for number, _, _ in gone]
        count = connection.fetch_value(_ERASE_EVENTS, numbers)
        connection.fetch(_DROP_DERIVED, numbers)
        named = [tenant for _, tenant, _ in gone], [id_ for _, _, id_ in gone]
        connection.fetch(POSTGRES_ERASE, *named)
    keys = {SessionKey(tenant, id_) for _, tenant, id_ in gone}
    return [key for key in sessions if key in keys], int(count)


def whole(connection: PostgresConnection, session: SessionKey) -> Whole:
    """Return all events of a session as they were at one moment, with the number of the last one. For an unknown
    session the result has no rows and 0 as its numbers."""
    with connection.in_transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY"):
        found = connection.fetch(_FIND, session.tenant, session.id)
        rows = connection.fetch(READ, session.tenant, session.id, 0, SEQ_MAX) if found else []
    number, seq = found[0] if found else (0, 0)
    return Whole(number, seq, cast(list[Row], rows))


def rewrite(connection: PostgresConnection, was: Whole, changed: Mapping[int, Event | None], now: float) -> bool:
    """Replace events by the new ones in ``changed``, erase those with ``None``, and append a ``Rewritten`` event, in
    one step. ``changed``: maps numbers of events to the new ones. ``now``: time of the appended event, in seconds since
    the epoch.

    Returns ``False`` and does nothing when the session has changed since it was read as ``was``.
    """
    new = [(seq, *encode(event)) for seq, event in changed.items() if event is not None]
    kind, version, payload = encode(Rewritten(len(changed)))
    with connection.in_transaction():
        written = connection.fetch_value(
            _REWRITE,
            *(was.number, was.seq, now, len(MIGRATIONS)),
            [seq for seq, _, _, _ in new],
            [version for _, _, version, _ in new],
            [kind for _, kind, _, _ in new],
            [payload for _, _, _, payload in new],
            [seq for seq, event in changed.items() if event is None],
            *(version, kind, payload),
        )
        # Whoever was keeping a snapshot of it has finished, now that its row is changed.
        connection.fetch(_DROP_DERIVED, [was.number] if written is not None else [])
    return written is not None


def put_back(
    connection: PostgresConnection, session: SessionKey, events: Sequence[Recorded], expected_seq: int
) -> None:
    """Write events with their original numbers and times. Raises ``Conflict`` if the session's last event is not
    ``expected_seq``, and ``CallerError`` if that event is later than the first of ``events``."""
    kinds, versions, payloads = zip(*(encode(one.event) for one in events), strict=True)
    columns = [one.seq for one in events], [one.recorded_at for one in events], list(versions), list(kinds)
    last, key = events[-1], (session.tenant, session.id)
    with connection.in_transaction():
        if expected_seq:
            found = connection.fetch(_MOVE_END, *key, last.seq, last.recorded_at, min(expected_seq, SEQ_MAX))
        else:
            found = connection.fetch(_START, *key, last.seq, last.recorded_at, events[0].recorded_at)
        if not found:
            raise Conflict(f"{NAME}: the session's log does not end at {expected_seq}")
        number, ended_at = found[0]
        require_not_before(events, ended_at)
        connection.fetch(_PUT_BACK, number, *columns, list(payloads))
        connection.fetch(_DROP_DERIVED, [number])


def wipe(connection: PostgresConnection, how: Erase) -> None:
    """Free the space of deleted rows. ``how``: "autovacuum" does nothing here; the server does it later. "vacuum" frees
    the space now; nothing is done if the database role does not own all tables. "full" writes the tables anew, and
    raises ``StoreUnavailable`` if the role does not own them."""
    if how == "autovacuum":
        return
    if connection.fetch_value(_MAY_VACUUM, connection.address.schema, list(_TABLES)):
        connection.fetch(f"VACUUM {'FULL ' if how == 'full' else ''}{_ERASED_FROM}")
    elif how == "full":
        raise StoreUnavailable(f"{NAME}: the role does not own the tables")
