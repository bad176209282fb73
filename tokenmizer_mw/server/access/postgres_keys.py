"""Store of API keys in PostgreSQL: a table in the database and schema in which the sessions are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tokenmizer_mw.store.postgres_address import NAME, Address
from tokenmizer_mw.store.postgres_connections import Connections, PerProcess
from tokenmizer_mw.store.postgres_driver import PostgresConnection, quote_schema

from .key_store import duplicate_key_error
from .keys import Key, key_of, require_key, row_of

_TABLE: Final = (
    'CREATE TABLE IF NOT EXISTS {schema}.access_keys (id text COLLATE "C" PRIMARY KEY, tenant text NOT NULL,'
    " digest bytea NOT NULL UNIQUE, scopes text NOT NULL, created_at double precision NOT NULL,"
    " expires_at double precision, revoked_at double precision)"
)
_LOCK: Final = "SELECT pg_advisory_xact_lock(hashtext($1))"
_THERE: Final = "SELECT to_regclass($1) IS NOT NULL"
_ALL: Final = (
    "SELECT id, tenant, digest, scopes, created_at, expires_at, revoked_at FROM {schema}.access_keys"
    " ORDER BY created_at, id"
)
_ADD: Final = "INSERT INTO {schema}.access_keys VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING id"
_REVOKE: Final = "UPDATE {schema}.access_keys SET revoked_at = coalesce(revoked_at, $1) WHERE id = $2 RETURNING id"


class PostgresKeys:
    """A ``KeyStore`` in PostgreSQL. Connects at the first call and creates the table when the first key is added. A
    database role that may not create tables can use a table that exists.

    After a fork, the child process opens its own connections.
    """

    def __init__(self, address: Address) -> None:
        own = replace(address, pool=1)
        self._table = f"{quote_schema(address.schema)}.access_keys"
        self._processes = PerProcess(lambda: Connections(own))

    def add(self, key: Key) -> None:
        """Store a new key. Raises ``ConfigError`` if its id or digest is stored already, or if its tenant, scopes, id
        or digest is invalid."""
        require_key(key)

        def insert_key(connection: PostgresConnection) -> object:
            with connection.in_transaction():
                connection.fetch(_LOCK, self._table)  # two that make the same table at once would collide
                if not connection.fetch_value(_THERE, self._table):
                    connection.fetch(_TABLE)
                return connection.fetch_value(_ADD, *row_of(key))

        if self._processes.get().alone(insert_key) is None:
            raise duplicate_key_error(key)

    def all_keys(self) -> Sequence[Key]:
        """Return all keys, including revoked and expired ones, oldest first; an empty list if there is no table yet."""
        if not self._has_table():
            return []
        return [key_of(row, NAME) for row in self._processes.get().select(_ALL)]

    def revoke(self, key_id: str, at: float) -> bool:
        """Revoke the key with this id from time ``at`` (seconds since the epoch) on. A key that is revoked already
        keeps its earlier time. Returns false if there is no such key."""
        if not self._has_table():
            return False
        revoked = self._processes.get().alone(lambda connection: connection.fetch_value(_REVOKE, at, key_id))
        return revoked is not None

    def close(self) -> None:
        """Close the connections. Closing twice is harmless."""
        self._processes.get().close()

    def _has_table(self) -> bool:
        return bool(self._processes.get().select(_THERE, self._table)[0][0])
