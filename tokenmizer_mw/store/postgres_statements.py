"""SQL statements of the PostgreSQL store, for a given schema."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from .postgres_ledger import ERASE
from .postgres_schema import quote_schema

SEQ_MAX: Final = 2**63 - 1
"""The largest number that PostgreSQL holds."""

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

_OUTCOME = """
SELECT i.version, coalesce(s.seq, 0), e.token, e.recorded_at
FROM {schema}.installation AS i
LEFT JOIN {schema}.sessions AS s ON s.tenant = $1 AND s.session = $2
LEFT JOIN {schema}.events AS e ON e.session = s.id AND e.seq = $3
"""

_READ = """
SELECT seq, recorded_at, kind, version, payload FROM {schema}.events
WHERE session = (SELECT id FROM {schema}.sessions WHERE tenant = $1 AND session = $2) AND seq > $3 AND seq <= $4
ORDER BY seq
"""

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
ON CONFLICT (tenant, session) DO NOTHING RETURNING id
"""

_MOVE_END = """
UPDATE {schema}.sessions SET seq = $3, updated_at = $4 WHERE tenant = $1 AND session = $2 AND seq = $5 RETURNING id
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
_ERASED_FROM = ", ".join(f"{{schema}}.{table}" for table in _TABLES)

_MAY_VACUUM = """
SELECT bool_and(pg_has_role(relowner, 'USAGE')) FROM pg_class
WHERE oid IN ('{schema}.sessions'::regclass, '{schema}.events'::regclass, '{schema}.snapshots'::regclass,
  '{schema}.passages'::regclass)
"""


@dataclass(frozen=True, slots=True)
class Statements:
    """One text a statement.

    ``append``: many appends at once, at most one of a session; gives the place and the time of those that were
    written. ``outcome``: why one was not: the tables' version, the session's end, the token and the time at the place
    that the append would have. ``rewrite``: replaces and erases events and adds one behind, or nothing where the
    session does not end where the caller thinks. ``keep_snapshot`` waits for a rewriting or an erasure that is under
    way, and sees what came of it in the session's row. So do ``prune_passages``, which leaves so many of the newest
    vectors, and ``keep_passages``. ``erase_sessions`` gives the numbers that ``erase_events`` and ``drop_derived``
    take, ``start`` and ``move_end`` the one that ``put_back`` takes.
    """

    append: str = _APPEND
    outcome: str = _OUTCOME
    read: str = _READ
    snapshot: str = _SNAPSHOT
    keep_snapshot: str = _KEEP_SNAPSHOT
    passage_rows: str = _PASSAGE_ROWS
    prune_passages: str = _PRUNE_PASSAGES
    keep_passages: str = _KEEP_PASSAGES
    drop_derived: str = _DROP_DERIVED
    sessions: str = _LIST
    tenants: str = "SELECT DISTINCT tenant FROM {schema}.sessions ORDER BY tenant"
    secret: str = "SELECT secret FROM {schema}.installation"
    find: str = "SELECT id, seq FROM {schema}.sessions WHERE tenant = $1 AND session = $2"
    rewrite: str = _REWRITE
    erase_sessions: str = _ERASE_SESSIONS
    erase_events: str = _ERASE_EVENTS
    start: str = _START
    move_end: str = _MOVE_END
    put_back: str = _PUT_BACK
    erase_spending: str = ERASE
    may_vacuum: str = _MAY_VACUUM
    vacuum: str = f"VACUUM {_ERASED_FROM}"
    vacuum_full: str = f"VACUUM FULL {_ERASED_FROM}"


def statements(schema: str) -> Statements:
    """The statements for the tables in ``schema``."""
    name, plain = quote_schema(schema), Statements()
    return Statements(**{field.name: _of(getattr(plain, field.name), name) for field in fields(plain)})


def _of(statement: str, name: str) -> str:
    # Inside a text of SQL an apostrophe is written twice.
    return statement.replace("'{schema}", "'" + name.replace("'", "''")).replace("{schema}", name)
