"""Cache store in PostgreSQL, in a table of its own beside those of the sessions."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import asyncpg

from tokenmizer_mw.saving.cache.port import CacheHit, Entry, Holdings, Vector
from tokenmizer_mw.store.postgres_address import Address
from tokenmizer_mw.store.postgres_connections import Connections

from .lru import TOUCH_SECONDS, Room

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
_ROOM: Final = (
    "DELETE FROM {schema}.answers WHERE place IN (SELECT place FROM (SELECT place,"
    " sum(size) OVER (ORDER BY used_at DESC, place DESC) AS held FROM {schema}.answers) AS ranked WHERE held > $1)"
)


class PostgresAnswers:
    """Responses at ``address``, at most ``most`` bytes, shared by all processes. Connects at first use."""

    def __init__(self, address: Address, most: int, *, clock: Callable[[], float] = time.time) -> None:
        self._connections = Connections(address)
        self._schema = '"' + address.schema.replace('"', '""') + '"'
        self._timeout = address.timeout
        self._clock = clock
        self._room = Room(most)
        self._made = False

    def get(self, key: bytes) -> CacheHit | None:
        """See ``AnswerStore.get``."""
        now = self._clock()
        rows = self._select("SELECT answer, question, used_at FROM {schema}.answers WHERE key = $1"
                            " AND expires_at > $2", key, now)  # fmt: skip
        if not rows:
            return None
        if now - rows[0]["used_at"] >= TOUCH_SECONDS:
            self._execute(("UPDATE {schema}.answers SET used_at = $2 WHERE key = $1", (key, now)))
        return CacheHit(bytes(rows[0]["answer"]), str(rows[0]["question"]))

    def put(self, entry: Entry) -> None:
        """See ``AnswerStore.put``."""
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
        """See ``AnswerStore.vectors``."""
        if not partition:
            return []
        rows = self._select(
            "SELECT place, key, vector FROM {schema}.answers WHERE part = $1 AND part <> ''::bytea AND place > $2"
            " ORDER BY place LIMIT $3",
            partition,
            after,
            most,
        )
        return [Vector(int(row["place"]), bytes(row["key"]), bytes(row["vector"])) for row in rows]

    def purge(self, tenant: str, session_id: str | None = None) -> int:
        """See ``AnswerStore.purge``."""
        if session_id is None:
            return self._execute(("DELETE FROM {schema}.answers WHERE tenant = $1", (tenant,)))
        return self._execute(("DELETE FROM {schema}.answers WHERE tenant = $1 AND session = $2", (tenant, session_id)))

    def holdings(self, tenant: str | None = None) -> Holdings:
        """See ``AnswerStore.holdings``."""
        rows = self._select(
            "SELECT count(*) AS entries, coalesce(sum(size), 0)::bigint AS bytes FROM {schema}.answers"
            " WHERE ($1::text IS NULL OR tenant = $1) AND expires_at > $2",
            tenant,
            self._clock(),
        )
        return Holdings(int(rows[0]["entries"]), int(rows[0]["bytes"]))

    def close(self) -> None:
        """See ``AnswerStore.close``."""
        self._connections.close()

    def _select(self, statement: str, *parameters: object) -> list[Any]:
        self._prepare()
        return self._connections.select(statement.format(schema=self._schema), *parameters)

    def _execute(self, *work: tuple[str, tuple[Any, ...]]) -> int:
        """Carry out statements in one transaction; returns the rows that the last one changed."""
        self._prepare()

        async def run_work() -> int:
            changed = "0"
            async with self._connections.connection() as connection, connection.transaction():
                for statement, parameters in work:
                    changed = await connection.execute(statement.format(schema=self._schema), *parameters)
            return int(changed.rpartition(" ")[2])

        return self._connections.run(run_work, self._timeout)

    def _prepare(self) -> None:
        """The table is there. Two processes may come here at once: one waits for the other."""
        if self._made:
            return

        async def make_tables() -> None:
            async with self._connections.connection() as connection:
                await self._make(connection)

        self._connections.run(make_tables, self._timeout)
        self._made = True

    async def _make(self, connection: asyncpg.Connection) -> None:
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock($1, hashtext($2))", _LOCK, self._schema)
            for statement in _TABLE:
                await connection.execute(statement.format(schema=self._schema))
