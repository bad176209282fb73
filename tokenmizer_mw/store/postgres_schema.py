"""Tables of the PostgreSQL store, and their migration from any earlier version.

The tables are in a schema of their own. ``installation`` identifies their owner, counts the migrations applied, and
contains the store's secret. A session has a number under which its events are stored. It is never used again, so that
an erased session and a new one of the same name are different. ``events.token`` marks the first event of an append, so
that an append whose response was lost is recognised. ``sessions.rewritten`` is the number of the last ``Rewritten``
event, 0 for none: snapshots of earlier states are rejected. All text is compared by code point, whatever the database's
locale.
"""

from __future__ import annotations

import secrets
import zlib
from collections.abc import Sequence
from typing import Final

from tokenmizer_mw.errors import StoreCorrupt, StoreTooNew, StoreUnavailable
from tokenmizer_mw.store.log import SECRET_BYTES
from tokenmizer_mw.store.postgres_address import NAME
from tokenmizer_mw.store.postgres_driver import PostgresConnection

SEQ_MAX: Final = 2**63 - 1
"""The largest number that a bigint column of PostgreSQL holds."""

APPLICATION: Final = "tokenmizer-mw"
"""The name in the table ``installation`` by which a store recognises its own tables."""

_LOCK: Final = 0x746D697A
"""First half of the key of the advisory lock that migrations are made under; the schema's name gives the second."""

_TEXT: Final = 'text COLLATE "C" NOT NULL'

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
    (
        f"CREATE TABLE {{schema}}.spending (tenant {_TEXT}, session {_TEXT}, model {_TEXT}, stage {_TEXT},"
        f" day {_TEXT}, calls bigint NOT NULL, estimated bigint NOT NULL, unpriced bigint NOT NULL,"
        " input_tokens bigint NOT NULL, cached_tokens bigint NOT NULL, written_tokens bigint NOT NULL, output_tokens"
        " bigint NOT NULL, cost bigint NOT NULL, client_tokens bigint NOT NULL, client_cost bigint NOT NULL,"
        " PRIMARY KEY (tenant, session, model, stage, day)) WITH (fillfactor = 70)",
        f"CREATE TABLE {{schema}}.calls (tenant {_TEXT}, call {_TEXT}, session {_TEXT}, at double precision NOT NULL,"
        f" model {_TEXT}, stages text NOT NULL, PRIMARY KEY (tenant, call))",
        "CREATE INDEX calls_of_session ON {schema}.calls (tenant, session, at)",
    ),
    (
        "CREATE TABLE {schema}.passages (session bigint NOT NULL, passage bytea NOT NULL, model text NOT NULL,"
        " place bigint NOT NULL GENERATED ALWAYS AS IDENTITY, vector bytea NOT NULL, PRIMARY KEY (session, passage))",
        "ALTER TABLE {schema}.passages ALTER COLUMN vector SET STORAGE EXTERNAL",
    ),
)
"""All migrations since the first release, in order. A released one is never edited."""

_TABLES: Final = (
    "SELECT relname::text FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace"
    " WHERE nspname = $1 AND relname IN ('sessions', 'events', 'installation')"
)
_HAS_SCHEMA: Final = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)"


def prepare(connection: PostgresConnection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Create or migrate the tables if necessary. ``migrations``: all that there are, oldest first.

    Several processes may do this at once: one works, the others wait. Raises ``StoreTooNew`` when a newer release wrote
    the tables, ``StoreCorrupt`` when they belong to something else, ``StoreUnavailable`` for a database that cannot
    store all text, and the errors of ``PostgresConnection.fetch``.
    """
    if _version(connection, migrations) == len(migrations):
        return
    schema_key = zlib.crc32(connection.address.schema.encode()) - 2**31
    with connection.in_transaction():
        connection.fetch("SELECT pg_advisory_xact_lock($1::integer, $2::integer)", _LOCK, schema_key)
        version = _version(connection, migrations)
        if version < len(migrations):
            _migrate(connection, migrations, version)


def is_prepared(connection: PostgresConnection) -> bool:
    """Return whether the schema has a table named as one that every version of the store has (sessions, events,
    installation). Whose table it is, is not checked. Changes nothing."""
    return bool(connection.fetch(_TABLES, connection.address.schema))


def _migrate(connection: PostgresConnection, migrations: Sequence[Migration], version: int) -> None:
    if version == 0:
        _require_unicode(connection)
        if not connection.fetch_value(_HAS_SCHEMA, connection.address.schema):
            connection.fetch("CREATE SCHEMA {schema}")
    for step in migrations[version:]:
        for statement in step:
            connection.fetch(statement)
    if version == 0:
        connection.fetch(
            "INSERT INTO {schema}.installation (application, version, secret) VALUES ($1, $2, $3)",
            APPLICATION,
            len(migrations),
            secrets.token_bytes(SECRET_BYTES),
        )
    else:
        connection.fetch("UPDATE {schema}.installation SET version = $1", len(migrations))


def _version(connection: PostgresConnection, migrations: Sequence[Migration]) -> int:
    """Return how many migrations the tables have seen, 0 if there are no tables. Raises ``StoreCorrupt`` for tables of
    another application, and ``StoreTooNew`` for those of a newer release."""
    tables = {name for (name,) in connection.fetch(_TABLES, connection.address.schema)}
    if not tables:
        return 0
    rows = (
        connection.fetch("SELECT application, version FROM {schema}.installation") if "installation" in tables else []
    )
    if len(rows) != 1 or rows[0][0] != APPLICATION:
        raise StoreCorrupt(f"{NAME}: the schema has tables of another application")
    version: int = rows[0][1]
    if version > len(migrations):
        raise StoreTooNew(
            f"{NAME}: was written by a newer version of tokenmizer-mw"
            f" (its schema is {version}, this version reads up to {len(migrations)}): upgrade tokenmizer-mw here"
        )
    return version


def _require_unicode(connection: PostgresConnection) -> None:
    encoding = connection.fetch_value("SHOW server_encoding")
    if encoding != "UTF8":
        raise StoreUnavailable(f"{NAME}: the database's encoding is {encoding}, and not UTF8")
