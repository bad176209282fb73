"""Cache store in PostgreSQL, in a table of its own beside those of the sessions."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from tokenmizer_mw.store.postgres_address import Address
from tokenmizer_mw.store.postgres_connections import Connections, PerProcess
from tokenmizer_mw.store.postgres_driver import PostgresConnection

from . import TOUCH_SECONDS, CacheHit, Entry, Holdings, Room, Vector

_LOCK: Final = 0x746D6361

_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS {schema}.answers (place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    ' key bytea NOT NULL UNIQUE, tenant text COLLATE "C" NOT NULL, session text COLLATE "C" NOT NULL,'
    " part bytea NOT NULL, question text NOT NULL, vector bytea NOT NULL, answer bytea NOT NULL,"
    " size bigint NOT NULL, expires_at double precision NOT NULL, used_at double precision NOT NULL)",
    "CREATE INDEX IF NOT EXISTS answers_by_use ON {schema}.answers (used_at, place) INCLUDE (size)",
    "CREATE INDEX IF NOT EXISTS answers_by_owner ON {schema}.answers (tenant, session)",
    "CREATE INDEX IF NOT EXISTS answers_by_part ON {schema}.answers (part, place) WHERE part <> ''::bytea",
)
_MADE: Final = (
    "SELECT count(*) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1"
    " AND relname IN ('answers', 'answers_by_use', 'answers_by_owner', 'answers_by_part')"
)
_GET: Final = "SELECT answer, question, used_at FROM {schema}.answers WHERE key = $1 AND expires_at > $2"
_ROOM: Final = (
    "DELETE FROM {schema}.answers WHERE place IN (SELECT place FROM (SELECT place,"
    " sum(size) OVER (ORDER BY used_at DESC, place DESC) AS held FROM {schema}.answers) AS ranked WHERE held > $1)"
)


class PostgresAnswers:
    """Cache store in the PostgreSQL database at ``address``, of at most ``most`` bytes, shared by all processes.
    Connects at first use. ``clock``: returns the time in seconds since the epoch, by which responses expire."""

    def __init__(self, address: Address, most: int, *, clock: Callable[[], float] = time.time) -> None:
        self._processes = PerProcess(lambda: Connections(address))
        self._schema = address.schema
        self._clock = clock
        self._room = Room(most)
        self._made = False

    def get(self, key: bytes) -> CacheHit | None:
        """Return the response stored under ``key``; ``None`` if there is none, or if it has expired. Returning a
        response counts as its use: the least recently used responses are deleted first."""
        now = self._clock()
        rows = self._select(_GET, key, now)
        if not rows:
            return None
        answer, question, used_at = rows[0]
        if now - used_at >= TOUCH_SECONDS:
            self._execute(("UPDATE {schema}.answers SET used_at = $2 WHERE key = $1", (key, now)))
        return CacheHit(answer, question)

    def put(self, entry: Entry) -> None:
        """Store a response, replacing one with the same key, and delete the least recently used ones beyond the size
        limit. A response larger than the whole limit is not stored."""
        now = self._clock()
        work: list[tuple[str, tuple[Any, ...]]] = [
            ("DELETE FROM {schema}.answers WHERE key = $1 OR expires_at <= $2", (entry.key, now))
        ]
        if entry.size <= self._room.most:
            owner = (entry.owner.tenant, entry.owner.id)
            row = (entry.key, *owner, entry.partition, entry.plain_question, entry.vector, entry.answer, entry.size)
            names = "key, tenant, session, part, question, vector, answer, size, expires_at, used_at"
            values = ", ".join(f"${number}" for number in range(1, 11))
            insert = f"INSERT INTO {{schema}}.answers ({names}) VALUES ({values}) ON CONFLICT (key) DO NOTHING"
            work.append((insert, (*row, entry.expires_at, now)))
        if self._room.looks(entry.size):
            work.append((_ROOM, (self._room.most,)))
        self._execute(*work)
        if len(work) == 3:
            self._room.holds(self.holdings().bytes)

    def vectors(self, partition: bytes, after: int, most: int) -> Sequence[Vector]:
        """Return the vectors of the questions of a partition (a digest of everything in a request but the question)
        that were stored after the position ``after`` (0: all), in the order in which they were stored, at most
        ``most``; an empty list for none."""
        if not partition:
            return []
        rows = self._select(
            "SELECT place, key, vector FROM {schema}.answers WHERE part = $1 AND part <> ''::bytea AND place > $2"
            " ORDER BY place LIMIT $3",
            partition,
            after,
            most,
        )
        return [Vector(*row) for row in rows]

    def purge(self, tenant: str, session_id: str | None = None) -> int:
        """Delete the responses of a tenant, or of one of its sessions (``None``: all); return how many."""
        if session_id is None:
            return self._execute(("DELETE FROM {schema}.answers WHERE tenant = $1", (tenant,)))
        return self._execute(("DELETE FROM {schema}.answers WHERE tenant = $1 AND session = $2", (tenant, session_id)))

    def holdings(self, tenant: str | None = None) -> Holdings:
        """Return number and size of all stored responses, or of one tenant's. Expired ones do not count."""
        rows = self._select(
            "SELECT count(*), coalesce(sum(size), 0)::bigint FROM {schema}.answers"
            " WHERE ($1::text IS NULL OR tenant = $1) AND expires_at > $2",
            tenant,
            self._clock(),
        )
        return Holdings(*rows[0])

    def close(self) -> None:
        """Close the connections of this process after the running calls; further calls raise ``StoreUnavailable``.
        Closing twice is harmless."""
        self._processes.get().close()

    def _select(self, statement: str, *parameters: object) -> list[Any]:
        return self._require_table().select(statement, *parameters)

    def _execute(self, *work: tuple[str, tuple[Any, ...]]) -> int:
        """Execute statements in one transaction; return the number of rows that the last one changed."""

        def run_work(connection: PostgresConnection) -> int:
            changed = 0
            with connection.in_transaction():
                for statement, parameters in work:
                    changed = connection.change(statement, *parameters)
            return changed

        return self._require_table().run(run_work)

    def _require_table(self) -> Connections:
        """Return the connections, after creating the table if necessary. If two processes create it at once, one waits
        for the other. A role that may not create tables can use one that is there."""
        connections = self._processes.get()
        if not self._made:
            connections.run(self._make)
            self._made = True
        return connections

    def _make(self, connection: PostgresConnection) -> None:
        if connection.fetch_value(_MADE, self._schema) == len(_TABLE):
            return
        with connection.in_transaction():
            connection.fetch("SELECT pg_advisory_xact_lock($1::integer, hashtext($2))", _LOCK, self._schema)
            for statement in _TABLE:
                connection.fetch(statement)
