"""Translate ``sqlite3`` errors to this package's errors."""

from __future__ import annotations

import os
import sqlite3
from typing import Final

from tokenmizer_mw.errors import StoreCause, StoreCorrupt, StoreError, StoreUnavailable

ERRORS: Final[dict[int, tuple[type[StoreError], str]]] = {
    sqlite3.SQLITE_CANTOPEN: (StoreUnavailable, "cannot be opened"),
    sqlite3.SQLITE_PERM: (StoreUnavailable, "access denied"),
    sqlite3.SQLITE_AUTH: (StoreUnavailable, "access denied"),
    sqlite3.SQLITE_READONLY: (StoreUnavailable, "is read-only"),
    sqlite3.SQLITE_FULL: (StoreUnavailable, "the disk is full"),
    sqlite3.SQLITE_IOERR: (StoreUnavailable, "the disk cannot be read or written"),
    sqlite3.SQLITE_BUSY: (StoreUnavailable, "is locked by another writer"),
    sqlite3.SQLITE_LOCKED: (StoreUnavailable, "is locked by another writer"),
    sqlite3.SQLITE_PROTOCOL: (StoreUnavailable, "is locked by another writer"),
    sqlite3.SQLITE_NOLFS: (StoreUnavailable, "is too large for this file system"),
    sqlite3.SQLITE_TOOBIG: (StoreUnavailable, "an event is larger than SQLite can hold"),
    sqlite3.SQLITE_NOTADB: (StoreCorrupt, "is not a SQLite database: name another file, or restore a backup"),
    sqlite3.SQLITE_CORRUPT: (StoreCorrupt, "is damaged"),
    sqlite3.SQLITE_CONSTRAINT: (StoreCorrupt, "is damaged: its sessions and its events disagree"),
    sqlite3.SQLITE_MISMATCH: (StoreCorrupt, "is damaged: a value has the wrong type"),
    sqlite3.SQLITE_ERROR: (StoreCorrupt, "does not have the tables of a session log"),
}
"""Primary result code -> our error and the sentence that follows the file's name."""

EXTENDED: Final = {
    sqlite3.SQLITE_READONLY_DIRECTORY: "its directory is read-only: SQLite writes there even to read",
    sqlite3.SQLITE_READONLY_CANTINIT: "its directory is read-only: SQLite writes there even to read",
}
"""Extended result code -> a sentence that says more than that of its primary code."""

CAUSES: Final[dict[int, StoreCause]] = {
    sqlite3.SQLITE_CANTOPEN: "no_access",
    sqlite3.SQLITE_PERM: "no_access",
    sqlite3.SQLITE_AUTH: "no_access",
    sqlite3.SQLITE_READONLY: "read_only",
    sqlite3.SQLITE_FULL: "disk_full",
    sqlite3.SQLITE_IOERR: "disk_unreadable",
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_PROTOCOL: "locked",
    sqlite3.SQLITE_NOTADB: "damaged",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_CONSTRAINT: "damaged",
    sqlite3.SQLITE_MISMATCH: "damaged",
    sqlite3.SQLITE_ERROR: "damaged",
}
"""Primary result code -> the cause in one word."""

_PRIMARY: Final = 0xFF


def is_busy(error: sqlite3.Error) -> bool:
    """Whether somebody else held a lock that was needed."""
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY == sqlite3.SQLITE_BUSY


def translate(error: sqlite3.Error, path: str) -> StoreError:
    """The error of ours, with one line that names the file, for one of ``sqlite3``'s."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return _without_code(error, path)
    if code & _PRIMARY == sqlite3.SQLITE_CANTOPEN and os.path.exists(path) and not os.access(_above(path), os.W_OK):
        code = sqlite3.SQLITE_READONLY_DIRECTORY  # it could not make its write-ahead files
    kind, sentence = ERRORS.get(code & _PRIMARY, (StoreUnavailable, "cannot be used"))
    message = f"{path}: {EXTENDED.get(code, sentence)} ({error.sqlite_errorname})"
    return kind(message, cause=CAUSES.get(code & _PRIMARY, ""), place=path)


def _above(path: str) -> str:
    return os.path.dirname(path) or "."


def _without_code(error: sqlite3.Error, path: str) -> StoreError:
    if isinstance(error, sqlite3.ProgrammingError):
        return StoreUnavailable(f"{path}: was closed while in use", cause="closed", place=path)
    return StoreCorrupt(f"{path}: is damaged: it holds text that is not UTF-8", cause="damaged", place=path)
