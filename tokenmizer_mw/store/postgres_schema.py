"""Tables of the PostgreSQL store, and how a database comes from any earlier version to this one.

The tables lie in a schema of their own. ``installation`` says whose they are, how many migrations they have seen, and
holds the secret. A session has a number that its events are kept under: it is never used again, so that a session
that was forgotten and one that took its name are two. ``events.token`` marks the first event of an append, so that
an append whose answer was lost is known again. ``sessions.rewritten`` is the number of the last event that tells of a
rewriting, 0 for none: what was folded before it is not kept as a snapshot. All text compares by code point, whatever
the database's locale.
"""

from __future__ import annotations

import secrets
import zlib
from collections.abc import Sequence
from typing import Final

from asyncpg import Connection

from tokenmizer_mw.errors import StoreCorrupt, StoreTooNew, StoreUnavailable

from .log import SECRET_BYTES
from .postgres_errors import NAME
from .spending_tables import POSTGRES as SPENDING

APPLICATION: Final = "tokenmizer-mw"
"""What the tables say whose they are."""

_LOCK: Final = 0x746D697A
"""First half of the key of the advisory lock that migrations are made under; the schema's name gives the second."""

Migration = Sequence[str]
"""SQL statements, one per item, that lift the tables by one version; ``{schema}`` stands for the quoted schema."""

MIGRATIONS: Final[tuple[Migration, ...]] = (
    (
        'CREATE TABLE {schema}.sessions (tenant text COLLATE "C" NOT NULL, session text COLLATE "C" NOT NULL,'
        " id bigint NOT NULL GENERATED ALWAYS AS IDENTITY, seq bigint NOT NULL, created_at double precision NOT NULL,"
        " updated_at double precision NOT NULL, PRIMARY KEY (tenant, session)) WITH (fillfactor = 80)",
        "CREATE TABLE {schema}.events (session bigint NOT NULL, seq bigint NOT NULL,"
        " recorded_at double precision NOT NULL, token bigint, version integer NOT NULL, kind text NOT NULL,"
        " payload text NOT NULL, PRIMARY KEY (session, seq))",
        "CREATE TABLE {schema}.installation (application text NOT NULL, version integer NOT NULL,"
        " secret bytea NOT NULL)",
    ),
    (
        "CREATE TABLE {schema}.snapshots (session bigint NOT NULL PRIMARY KEY, seq bigint NOT NULL,"
        " recorded_at double precision NOT NULL, fold_version bigint NOT NULL, payload bytea NOT NULL)",
        # What is compressed already is not compressed again.
        "ALTER TABLE {schema}.snapshots ALTER COLUMN payload SET STORAGE EXTERNAL",
        "ALTER TABLE {schema}.sessions ADD COLUMN rewritten bigint NOT NULL DEFAULT 0",
    ),
    SPENDING,
    (
        "CREATE TABLE {schema}.passages (session bigint NOT NULL, passage bytea NOT NULL, model text NOT NULL,"
        " place bigint NOT NULL GENERATED ALWAYS AS IDENTITY, vector bytea NOT NULL, PRIMARY KEY (session, passage))",
        "ALTER TABLE {schema}.passages ALTER COLUMN vector SET STORAGE EXTERNAL",
    ),
)
"""Every step since the first release, in order; a released step is never edited."""

_TABLES: Final = (
    "SELECT relname::text FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace"
    " WHERE nspname = $1 AND relname IN ('sessions', 'events', 'installation')"
)
_HAS_SCHEMA: Final = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)"


def quote_schema(schema: str) -> str:
    """A schema's name as it stands in a statement."""
    return '"' + schema.replace('"', '""') + '"'


async def prepare(connection: Connection, schema: str, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """See to it that the tables are there and of this version.

    Several processes may do this at once: one works, the others wait and find nothing left to do. Raises
    ``StoreTooNew`` when a newer release wrote the tables, ``StoreCorrupt`` when they belong to something else,
    ``StoreUnavailable`` for a database that cannot hold all text, and the driver's errors.
    """
    if await _version(connection, schema, migrations) == len(migrations):
        return
    async with connection.transaction(isolation="read_committed"):
        await connection.execute("SELECT pg_advisory_xact_lock($1, $2)", _LOCK, _lock_of(schema))
        version = await _version(connection, schema, migrations)
        if version < len(migrations):
            await _migrate(connection, schema, migrations, version)


async def _migrate(connection: Connection, schema: str, migrations: Sequence[Migration], version: int) -> None:
    name = quote_schema(schema)
    if version == 0:
        await _require_unicode(connection)
        if not await connection.fetchval(_HAS_SCHEMA, schema):
            await connection.execute(f"CREATE SCHEMA {name}")
    for step in migrations[version:]:
        for statement in step:
            await connection.execute(statement.replace("{schema}", name))
    if version == 0:
        await connection.execute(
            f"INSERT INTO {name}.installation (application, version, secret) VALUES ($1, $2, $3)",
            APPLICATION,
            len(migrations),
            secrets.token_bytes(SECRET_BYTES),
        )
    else:
        await connection.execute(f"UPDATE {name}.installation SET version = $1", len(migrations))


async def _version(connection: Connection, schema: str, migrations: Sequence[Migration]) -> int:
    """How many migrations the tables have seen, 0 when there are none."""
    tables = {name for (name,) in await connection.fetch(_TABLES, schema)}
    if not tables:
        return 0
    rows: list[tuple[str, int]] = []
    if "installation" in tables:
        rows = await connection.fetch(f"SELECT application, version FROM {quote_schema(schema)}.installation")
    if len(rows) != 1 or rows[0][0] != APPLICATION:
        raise StoreCorrupt(f"{NAME}: the schema has tables of another application")
    version = rows[0][1]
    if version > len(migrations):
        raise StoreTooNew(
            f"{NAME}: was written by a newer version of tokenmizer-mw"
            f" (its schema is {version}, this version reads up to {len(migrations)}): upgrade tokenmizer-mw here"
        )
    return version


async def _require_unicode(connection: Connection) -> None:
    encoding = await connection.fetchval("SHOW server_encoding")
    if encoding != "UTF8":
        raise StoreUnavailable(f"{NAME}: the database's encoding is {encoding}, and not UTF8")


def _lock_of(schema: str) -> int:
    return zlib.crc32(schema.encode()) - 2**31
