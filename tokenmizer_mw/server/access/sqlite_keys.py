"""Key store in SQLite: a table in the file of the sessions."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Final

from tokenmizer_mw.errors import StoreUnavailable
from tokenmizer_mw.store.sqlite_errors import translate
from tokenmizer_mw.store.sqlite_file import DatabaseFile
from tokenmizer_mw.store.sqlite_schema import immediate

from .key_store import duplicate_key_error
from .keys import Key, require_key
from .rows import key_of, row_of

_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS access_keys (id TEXT PRIMARY KEY, tenant TEXT NOT NULL, digest BLOB NOT NULL UNIQUE,"
    " scopes TEXT NOT NULL, created_at REAL NOT NULL, expires_at REAL, revoked_at REAL) WITHOUT ROWID"
)
_THERE: Final = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'access_keys'"
_ALL: Final = (
    "SELECT id, tenant, digest, scopes, created_at, expires_at, revoked_at FROM access_keys ORDER BY created_at, id"
)
_ADD: Final = "INSERT INTO access_keys VALUES (?, ?, ?, ?, ?, ?, ?)"
_KNOWN: Final = "SELECT 1 FROM access_keys WHERE id = ?"
_REVOKE: Final = "UPDATE access_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"


class SqliteKeys:
    """A ``KeyStore`` in a SQLite file. Every call opens the file; keys are read only once every few seconds."""

    def __init__(self, path: str | os.PathLike[str], *, busy_seconds: float = 5.0) -> None:
        self._file = DatabaseFile(os.path.realpath(path), "full", busy_seconds)
        self._closed = False

    def add(self, key: Key) -> None:
        """See ``KeyStore.add``."""
        require_key(key)
        with self._open() as cursor, immediate(cursor):
            cursor.execute(_TABLE)
            try:
                cursor.execute(_ADD, row_of(key))
            except sqlite3.IntegrityError:
                raise duplicate_key_error(key) from None

    def all_keys(self) -> Sequence[Key]:
        """See ``KeyStore.all_keys``."""
        with self._open() as cursor:
            rows = cursor.execute(_ALL).fetchall() if _has_table(cursor) else []
        return [key_of(row, self._file.path) for row in rows]

    def revoke(self, key_id: str, at: float) -> bool:
        """See ``KeyStore.revoke``."""
        with self._open() as cursor, immediate(cursor):
            if not _has_table(cursor):
                return False
            cursor.execute(_REVOKE, (at, key_id))
            return cursor.execute(_KNOWN, (key_id,)).fetchone() is not None

    def close(self) -> None:
        """See ``KeyStore.close``."""
        self._closed = True

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Cursor]:
        if self._closed:
            raise StoreUnavailable(f"{self._file.path}: is closed")
        try:
            with closing(self._file.connect()) as connection, closing(connection.cursor()) as cursor:
                yield cursor
        except sqlite3.Error as error:
            raise translate(error, self._file.path) from error


def _has_table(cursor: sqlite3.Cursor) -> bool:
    return cursor.execute(_THERE).fetchone() is not None
