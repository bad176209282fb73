"""Key store in PostgreSQL: a table in the database and schema of the sessions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import asyncpg

from tokenmizer_mw.errors import StoreUnavailable
from tokenmizer_mw.store.postgres_address import Address
from tokenmizer_mw.store.postgres_connections import Connections
from tokenmizer_mw.store.postgres_errors import NAME
from tokenmizer_mw.store.postgres_schema import quote_schema

from .key_store import duplicate_key_error
from .keys import Key, require_key
from .rows import key_of, row_of

_TABLE: Final = (
    'CREATE TABLE IF NOT EXISTS {table} (id text COLLATE "C" PRIMARY KEY, tenant text NOT NULL,'
    " digest bytea NOT NULL UNIQUE, scopes text NOT NULL, created_at double precision NOT NULL,"
    " expires_at double precision, revoked_at double precision)"
)
_LOCK: Final = "SELECT pg_advisory_xact_lock(hashtext($1))"
_THERE: Final = "SELECT to_regclass($1) IS NOT NULL"
_ALL: Final = (
    "SELECT id, tenant, digest, scopes, created_at, expires_at, revoked_at FROM {table} ORDER BY created_at, id"
)
_ADD: Final = "INSERT INTO {table} VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING id"
_REVOKE: Final = "UPDATE {table} SET revoked_at = coalesce(revoked_at, $1) WHERE id = $2 RETURNING id"


class PostgresKeys:
    """A ``KeyStore`` in PostgreSQL. Connects at the first call and creates the table with the first key.

    A forked process opens connections of its own.
    """

    def __init__(self, address: Address) -> None:
        self._address = replace(address, pool=1)
        self._table = f"{quote_schema(address.schema)}.access_keys"
        self._processes: dict[int, Connections] = {}
        self._closed = False

    def add(self, key: Key) -> None:
        """See ``KeyStore.add``."""
        require_key(key)

        async def insert_key(connection: asyncpg.Connection) -> object:
            async with connection.transaction():
                await connection.execute(_LOCK, self._table)  # two that make the same table at once would collide
                await connection.execute(self._sql(_TABLE))
                return await connection.fetchval(self._sql(_ADD), *row_of(key))

        if self._here().alone(insert_key) is None:
            raise duplicate_key_error(key)

    def all_keys(self) -> Sequence[Key]:
        """See ``KeyStore.all_keys``."""
        if not self._has_table():
            return []
        return [key_of(tuple(row), NAME) for row in self._here().select(self._sql(_ALL))]

    def revoke(self, key_id: str, at: float) -> bool:
        """See ``KeyStore.revoke``."""

        async def revoke_key(connection: asyncpg.Connection) -> object:
            return await connection.fetchval(self._sql(_REVOKE), at, key_id)

        return self._has_table() and self._here().alone(revoke_key) is not None

    def close(self) -> None:
        """See ``KeyStore.close``."""
        self._closed = True
        here = self._processes.get(os.getpid())
        if here is not None:
            here.close()

    def _has_table(self) -> bool:
        found: list[Any] = self._here().select(_THERE, self._table)
        return bool(found[0][0])

    def _here(self) -> Connections:
        if self._closed:
            raise StoreUnavailable(f"{NAME}: is closed")
        process = os.getpid()
        return self._processes.get(process) or self._processes.setdefault(process, Connections(self._address))

    def _sql(self, statement: str) -> str:
        return statement.replace("{table}", self._table)
