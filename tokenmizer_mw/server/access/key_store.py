"""The protocol of stores for API keys, and three of them: in memory, in a list of a configuration, and in SQLite."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, time
from typing import Any, Final, Protocol

from tokenmizer_mw.errors import CallerError, ConfigError, StoreUnavailable
from tokenmizer_mw.runtime.forking import make_lock
from tokenmizer_mw.store.sqlite_file import DatabaseFile, translate
from tokenmizer_mw.store.sqlite_schema import immediate

from .caller import SCOPES
from .keys import Key, digest_from, key_of, require_key, row_of

KEYS_VARIABLE: Final = "TOKENMIZER_ACCESS_KEYS"
"""Environment variable that may have the server's list of API keys, as YAML or JSON (see ``listed_keys``)."""

_BUSY_SECONDS: Final = 5.0
"""Maximum number of seconds that a write waits for other processes that write to the file."""


class KeyStore(Protocol):
    """Protocol of API key stores. Methods are synchronous and safe to call from several threads and processes.

    All methods raise ``StoreUnavailable`` if the store cannot be reached, read or written, and ``StoreCorrupt`` if its
    content cannot be parsed.
    """

    def add(self, key: Key) -> None:
        """Store a new key. Raises ``ConfigError`` if its id or digest is stored already, or if its tenant, scopes, id
        or digest is invalid."""

    def all_keys(self) -> Sequence[Key]:
        """Return all keys, including revoked and expired ones, oldest first."""

    def revoke(self, key_id: str, at: float) -> bool:
        """Revoke the key with this id from time ``at`` (seconds since the epoch) on. Returns false if there is no such
        key. A key that was revoked before keeps its earlier time."""

    def close(self) -> None:
        """Release files and connections. Closing twice is harmless."""


class MemoryKeys:
    """A ``KeyStore`` in the memory of this process. ``keys``: the keys that it has at first."""

    def __init__(self, keys: Iterable[Key] = ()) -> None:
        self._keys: dict[str, Key] = {}
        self._guard = make_lock()
        for key in keys:
            self.add(key)

    def add(self, key: Key) -> None:
        """Store a new key. Raises ``ConfigError`` if its id or digest is stored already, or if its tenant, scopes, id
        or digest is invalid."""
        require_key(key)
        with self._guard:
            if any(key.id == other.id or key.digest == other.digest for other in self._keys.values()):
                raise duplicate_key_error(key)
            self._keys[key.id] = key

    def all_keys(self) -> Sequence[Key]:
        """Return all keys, including revoked and expired ones, oldest first."""
        with self._guard:
            return sorted(self._keys.values(), key=lambda key: (key.created_at, key.id))

    def revoke(self, key_id: str, at: float) -> bool:
        """Revoke the key with this id from time ``at`` (seconds since the epoch) on. A key that is revoked already
        keeps its earlier time. Returns false if there is no such key."""
        with self._guard:
            key = self._keys.get(key_id)
            if key is None:
                return False
            if key.revoked_at is None:
                self._keys[key_id] = replace(key, revoked_at=at)
            return True

    def close(self) -> None:
        """Do nothing: there is nothing to release."""


class ListedKeys:
    """A read-only ``KeyStore`` with the API keys that are listed in a configuration, for servers without a key
    database."""

    def __init__(self, keys: Iterable[Key]) -> None:
        self._keys = tuple(MemoryKeys(keys).all_keys())

    def add(self, key: Key) -> None:
        """Raise ``CallerError``: keys that are listed in a configuration can only be added there."""
        raise CallerError("these keys are listed in the configuration: add the new one's entry there")

    def all_keys(self) -> Sequence[Key]:
        """Return all keys of the list, including expired ones, oldest first."""
        return self._keys

    def revoke(self, key_id: str, at: float) -> bool:
        """Raise ``CallerError``: keys that are listed in a configuration can only be removed there."""
        raise CallerError("these keys are listed in the configuration: take the key's entry out of it")

    def close(self) -> None:
        """Do nothing: there is nothing to release."""


def duplicate_key_error(key: Key) -> ConfigError:
    """Return (not raise) the error for a key whose id or digest is stored already."""
    return ConfigError(f"key {key.id} is kept already")


def listed_keys(entries: object, where: str = KEYS_VARIABLE) -> ListedKeys:
    """Parse a list of API keys from a configuration. ``where``: name of the place for errors, such as "access.keys".

    Each entry is a mapping with these members; the last three are optional:

    - ``tenant``: the owner of the sessions that the key opens.
    - ``sha256``: SHA-256 of the key, 64 lower-case hexadecimal digits.
    - ``id``: the first 12 digits of ``sha256`` by default.
    - ``scopes``: a list of names, or names separated by commas; all scopes except "admin" by default.
    - ``expires``: a date or time, in UTC if it names no time zone; by default, the key never expires.

    Raises ``ConfigError`` that names ``where`` and the number of the invalid entry.
    """
    if not isinstance(entries, list):
        raise ConfigError(f"{where}: expected a list of keys")
    keys = []
    for number, entry in enumerate(entries, 1):
        try:
            keys.append(_parse_key(entry))
        except ConfigError as error:
            raise ConfigError(f"{where}: entry {number}: {error}") from None
    try:
        return ListedKeys(keys)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None


def keys_from_text(text: str, where: str = KEYS_VARIABLE) -> ListedKeys:
    """Parse a list of API keys from YAML or JSON text, such as the value of the variable ``KEYS_VARIABLE``. The entries
    are those of ``listed_keys``. Raises ``ConfigError`` for an invalid list and for text that is not YAML."""
    import yaml

    try:
        entries = yaml.safe_load(text)
    except yaml.YAMLError:
        raise ConfigError(f"{where}: not readable as YAML") from None  # the reason would repeat what is written there
    return listed_keys(entries, where)


_ENTRY: Final = frozenset({"id", "tenant", "sha256", "scopes", "expires"})


def _parse_key(entry: object) -> Key:
    if not isinstance(entry, Mapping):
        raise ConfigError("expected a mapping with tenant and sha256")
    if unknown := sorted(str(name) for name in entry.keys() - _ENTRY):
        raise ConfigError(f"unknown: {', '.join(unknown)}; known: {', '.join(sorted(_ENTRY))}")
    digest, tenant = digest_from(entry.get("sha256")), entry.get("tenant")
    if not isinstance(tenant, str):
        raise ConfigError("tenant is a text")
    id_ = str(entry.get("id") or digest.hex()[:12])
    key = Key(id_, tenant, digest, _scopes(entry.get("scopes")), 0.0, _moment(entry.get("expires")))
    require_key(key)
    return key


def _scopes(given: Any) -> frozenset[str]:
    if given is None:
        return frozenset(SCOPES) - {"admin"}
    names = given.split(",") if isinstance(given, str) else given
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ConfigError("scopes is a list of names")
    return frozenset(name.strip() for name in names)


def _moment(given: Any) -> float | None:
    """Convert the value of ``expires`` into seconds since the epoch; ``None``, which means that the key never expires,
    gives ``None``. YAML gives dates and times as objects, JSON as text. Raises ``ConfigError`` for anything else."""
    if given is None:
        return None
    if isinstance(given, str):
        try:
            given = datetime.fromisoformat(given)
        except ValueError:
            raise ConfigError("expires is a date or a time, such as 2027-01-31") from None
    if isinstance(given, date) and not isinstance(given, datetime):
        given = datetime.combine(given, time())
    if not isinstance(given, datetime):
        raise ConfigError("expires is a date or a time, such as 2027-01-31")
    return (given if given.tzinfo is not None else given.replace(tzinfo=UTC)).timestamp()


_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS access_keys (id TEXT PRIMARY KEY, tenant TEXT NOT NULL, digest BLOB NOT NULL UNIQUE,"
    " scopes TEXT NOT NULL, created_at REAL NOT NULL, expires_at REAL, revoked_at REAL) WITHOUT ROWID"
)

_THERE: Final = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'access_keys'"

_SELECT_ALL: Final = (
    "SELECT id, tenant, digest, scopes, created_at, expires_at, revoked_at FROM access_keys ORDER BY created_at, id"
)

_ADD: Final = "INSERT INTO access_keys VALUES (?, ?, ?, ?, ?, ?, ?)"
_KNOWN: Final = "SELECT 1 FROM access_keys WHERE id = ?"
_REVOKE: Final = "UPDATE access_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"


class SqliteKeys:
    """A ``KeyStore`` in the SQLite file ``path``. Every call opens the file anew. A server caches the keys with
    ``Keyring``, so it calls only every few seconds."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = DatabaseFile(os.path.realpath(path), "full", _BUSY_SECONDS)
        self._closed = False

    def add(self, key: Key) -> None:
        """Store a new key. Raises ``ConfigError`` if its id or digest is stored already, or if its tenant, scopes, id
        or digest is invalid."""
        require_key(key)
        with self._open() as cursor, immediate(cursor):
            cursor.execute(_TABLE)
            try:
                cursor.execute(_ADD, row_of(key))
            except sqlite3.IntegrityError:
                raise duplicate_key_error(key) from None

    def all_keys(self) -> Sequence[Key]:
        """Return all keys, including revoked and expired ones, oldest first; an empty list if there is no table yet."""
        with self._open() as cursor:
            rows = cursor.execute(_SELECT_ALL).fetchall() if _has_sqlite_table(cursor) else []
        return [key_of(row, self._file.path) for row in rows]

    def revoke(self, key_id: str, at: float) -> bool:
        """Revoke the key with this id from time ``at`` (seconds since the epoch) on. A key that is revoked already
        keeps its earlier time. Returns false if there is no such key."""
        with self._open() as cursor, immediate(cursor):
            if not _has_sqlite_table(cursor):
                return False
            cursor.execute(_REVOKE, (at, key_id))
            return cursor.execute(_KNOWN, (key_id,)).fetchone() is not None

    def close(self) -> None:
        """Close the store: later calls raise ``StoreUnavailable``. Closing twice is harmless."""
        self._closed = True

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Cursor]:
        if self._closed:
            raise StoreUnavailable(f"{self._file.path} is closed")
        try:
            with closing(self._file.connect()) as connection, closing(connection.cursor()) as cursor:
                yield cursor
        except sqlite3.Error as error:
            raise translate(error, self._file.path) from error


def _has_sqlite_table(cursor: sqlite3.Cursor) -> bool:
    return cursor.execute(_THERE).fetchone() is not None
