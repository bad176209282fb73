"""A SQLite database file: create it, connect to it, check it and copy it; notice that it was deleted or replaced while
connections to it are open; and translate ``sqlite3`` errors to this package's errors.

SQLite itself does not notice a deletion: it goes on writing to the deleted file, and the next process finds nothing.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from errno import EDQUOT, EEXIST, ENOSPC, EROFS
from pathlib import Path
from stat import S_IFREG
from tempfile import TemporaryFile, mkstemp
from typing import Final, Literal, get_args

from tokenmizer_mw.errors import ConfigError, StoreCause, StoreCorrupt, StoreError, StoreUnavailable
from tokenmizer_mw.runtime.forking import make_lock
from tokenmizer_mw.store.sqlite_schema import is_current, migrate, roll_back

ERRORS: Final[dict[int, tuple[type[StoreError], StoreCause, str]]] = {
    sqlite3.SQLITE_CANTOPEN: (StoreUnavailable, "no_access", "cannot be opened"),
    sqlite3.SQLITE_PERM: (StoreUnavailable, "no_access", "access denied"),
    sqlite3.SQLITE_AUTH: (StoreUnavailable, "no_access", "access denied"),
    sqlite3.SQLITE_READONLY: (StoreUnavailable, "read_only", "is read-only"),
    sqlite3.SQLITE_FULL: (StoreUnavailable, "disk_full", "the disk is full"),
    sqlite3.SQLITE_IOERR: (StoreUnavailable, "disk_unreadable", "the disk cannot be read or written"),
    sqlite3.SQLITE_BUSY: (StoreUnavailable, "locked", "is locked by another writer"),
    sqlite3.SQLITE_LOCKED: (StoreUnavailable, "locked", "is locked by another writer"),
    sqlite3.SQLITE_PROTOCOL: (StoreUnavailable, "locked", "is locked by another writer"),
    sqlite3.SQLITE_NOLFS: (StoreUnavailable, "", "is too large for this file system"),
    sqlite3.SQLITE_TOOBIG: (StoreUnavailable, "", "an event is larger than SQLite can hold"),
    sqlite3.SQLITE_NOTADB: (
        StoreCorrupt,
        "damaged",
        "is not a SQLite database: name another file, or restore a backup",
    ),
    sqlite3.SQLITE_CORRUPT: (StoreCorrupt, "damaged", "is damaged"),
    sqlite3.SQLITE_CONSTRAINT: (StoreCorrupt, "damaged", "is damaged: its sessions and its events disagree"),
    sqlite3.SQLITE_MISMATCH: (StoreCorrupt, "damaged", "is damaged: a value has the wrong type"),
    sqlite3.SQLITE_ERROR: (StoreCorrupt, "damaged", "does not have the tables of a session log"),
}
"""Maps SQLite's primary result code to the error to raise, its cause, and the text that follows the file's path in its
message."""

EXTENDED: Final = {
    sqlite3.SQLITE_READONLY_DIRECTORY: "its directory is read-only: SQLite writes there even to read",
    sqlite3.SQLITE_READONLY_CANTINIT: "its directory is read-only: SQLite writes there even to read",
}
"""Maps some of SQLite's extended result codes to a text that says more than the one for the primary code."""

_PRIMARY: Final = 0xFF


def is_busy(error: sqlite3.Error) -> bool:
    """Whether SQLite raised ``error`` because another connection held a lock that was needed (SQLITE_BUSY)."""
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY == sqlite3.SQLITE_BUSY


def translate(error: sqlite3.Error, path: str) -> StoreError:
    """Translate an error of ``sqlite3`` to a one-line error of this package that names the file."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return _without_code(error, path)
    if (
        code & _PRIMARY == sqlite3.SQLITE_CANTOPEN
        and os.path.exists(path)
        and not os.access(_parent_folder(path), os.W_OK)
    ):
        code = sqlite3.SQLITE_READONLY_DIRECTORY  # it could not make its write-ahead files
    kind, cause, sentence = ERRORS.get(code & _PRIMARY, (StoreUnavailable, "", "cannot be used"))
    message = f"{path}: {EXTENDED.get(code, sentence)} ({error.sqlite_errorname})"
    return kind(message, cause=cause, place=path)


def _parent_folder(path: str) -> str:
    return os.path.dirname(path) or "."


def _without_code(error: sqlite3.Error, path: str) -> StoreError:
    if isinstance(error, sqlite3.ProgrammingError):
        return StoreUnavailable(f"{path}: was closed while in use", cause="closed", place=path)
    return StoreCorrupt(f"{path}: is damaged: it holds text that is not UTF-8", cause="damaged", place=path)


Synchronous = Literal["normal", "full"]
"""When a commit is durable. "normal": it survives the death of the process. "full": it also survives a power cut, at
the cost of one disk flush per commit."""

_PRIVATE_DIRECTORY: Final = 0o700
_PRIVATE_FILE: Final = 0o600
_RETRY_SECONDS: Final = 0.01
_CAUSES: Final[dict[int, StoreCause]] = {ENOSPC: "disk_full", EDQUOT: "disk_full", EROFS: "read_only"}


def require_synchronous(value: str) -> None:
    """Raise ``ConfigError`` unless ``value`` is "normal" or "full"."""
    if value not in get_args(Synchronous):
        raise ConfigError(f"synchronous is one of {', '.join(get_args(Synchronous))}, not {value}")


@dataclass(frozen=True, slots=True)
class DatabaseFile:
    """The path of a database file, and how it is opened. ``synchronous``: "normal": commits survive the death of the
    process; "full": also a power cut. ``busy_seconds``: how long a statement waits for other writers."""

    path: str
    synchronous: Synchronous
    busy_seconds: float

    def connect(self) -> sqlite3.Connection:
        """Open a connection in autocommit mode. The file and its directory are created if missing, and the tables are
        created or migrated to the current schema if necessary.

        Any thread may use it, one at a time. Raises ``StoreError`` if the file cannot be created, belongs to
        something else or was written by a newer release, and ``sqlite3.Error``.
        """
        self._create()
        connection = sqlite3.connect(
            self.path, timeout=self.busy_seconds, isolation_level=None, check_same_thread=False
        )
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _create(self) -> None:
        directory = os.path.dirname(self.path)
        try:
            with suppress(FileExistsError):
                os.mkdir(directory, _PRIVATE_DIRECTORY)
                _log.info("created the folder %s for the store", directory)
            with suppress(FileExistsError):
                _create_private(self.path)
        except OSError as error:
            # The missing file cannot be made; an existing one that only forbids writing is SQLite's to judge.
            if not os.path.exists(self.path):
                raise _not_created(self.path, error) from None

    def _prepare(self, connection: sqlite3.Connection) -> None:
        with closing(connection.cursor()) as cursor:
            current = is_current(cursor, self.path)
            cursor.execute(f"PRAGMA synchronous = {self.synchronous}")
            cursor.execute("PRAGMA secure_delete = ON").fetchall()
            if not current:
                self._write_ahead(cursor)
                migrate(cursor, self.path)

    def _write_ahead(self, cursor: sqlite3.Cursor) -> None:
        """Switch the database to the write-ahead log. SQLite does not wait for other connections here, so this method
        does, for ``busy_seconds``. Raises ``sqlite3.OperationalError`` after that, and ``StoreUnavailable`` if the file
        system does not support it."""
        deadline = time.monotonic() + self.busy_seconds
        while True:
            try:
                (mode,) = cursor.execute("PRAGMA journal_mode = WAL").fetchone()
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() > deadline:
                    raise
                time.sleep(_RETRY_SECONDS)
                continue
            if mode != "wal":
                raise StoreUnavailable(f"{self.path}: its file system does not support SQLite's write-ahead log")
            return


def _create_private(path: str) -> None:
    """Create an empty file that only its owner can read. Raises ``FileExistsError`` and other ``OSError``."""
    if sys.platform == "linux":
        # Opening and closing the file would drop locks that another thread's SQLite may already hold on it.
        os.mknod(path, _PRIVATE_FILE | S_IFREG)
    else:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _PRIVATE_FILE))


def try_creating(path: str) -> None:
    """Check whether the database file ``path`` (absolute, not existing yet) could be created with its directory.

    Leaves nothing behind. Raises ``StoreUnavailable`` with the same message as ``DatabaseFile.connect``.
    """
    directory = os.path.dirname(path)
    try:
        with TemporaryFile(dir=directory if os.path.lexists(directory) else os.path.dirname(directory)):
            pass
    except OSError as error:
        raise _not_created(path, error) from None


def _not_created(path: str, error: OSError) -> StoreUnavailable:
    above = os.path.dirname(os.path.dirname(path))
    if isinstance(error, FileNotFoundError) and not os.path.exists(above):
        return StoreUnavailable(f"{path}: the directory {above} does not exist", cause="no_access", place=path)
    cause: StoreCause = _CAUSES.get(error.errno or 0, "no_access")
    return StoreUnavailable(f"{path}: cannot be created ({error.strerror})", cause=cause, place=path)


def examine(path: str, tenant: str) -> int | None:
    """Check whether the database file ``path`` is intact and can be written, without changing it. Reads the whole file.

    Returns how many sessions of ``tenant`` it contains; ``None`` if it has not got this release's tables yet, because
    it is empty or an older release wrote it (``DatabaseFile.connect`` creates or migrates them).

    - Raises ``StoreCorrupt`` for a file that is damaged or belongs to another application.
    - Raises ``StoreTooNew`` for a file that a newer release wrote.
    - Raises ``StoreUnavailable`` for a file that does not exist, that cannot be read or written, or that another
      process keeps locked for longer than a few seconds.
    """
    # Not mode=ro: a connection that may write takes its write-ahead files with it when it is closed.
    place = f"{Path(path).as_uri()}?mode=rw"
    try:
        with (
            closing(sqlite3.connect(place, uri=True, isolation_level=None)) as connection,
            closing(connection.cursor()) as cursor,
        ):
            current = is_current(cursor, path)
            (verdict,) = cursor.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise StoreCorrupt(f"{path}: is damaged: restore a backup", cause="damaged", place=path)
            _try_writing(cursor)
            if not current:
                return None
            (count,) = cursor.execute("SELECT count(*) FROM sessions WHERE tenant = ?", (tenant,)).fetchone()
            return int(count)
    except sqlite3.Error as error:
        raise translate(error, path) from None


def _try_writing(cursor: sqlite3.Cursor) -> None:
    """Find out whether the database can be written: begin a transaction that writes, and undo it. Raises
    ``sqlite3.Error`` if it cannot."""
    cursor.execute("BEGIN IMMEDIATE")
    try:
        (version,) = cursor.execute("PRAGMA user_version").fetchone()
        cursor.execute(f"PRAGMA user_version = {version}")
    finally:
        roll_back(cursor)


def copy(connection: sqlite3.Connection, path: str) -> None:
    """Write the database of ``connection``, as it is at one moment, to a new file: completely or not at all. Raises
    ``sqlite3.Error``, and ``StoreUnavailable`` if ``path`` exists already or cannot be created.

    Until it is complete, the file has another name, which no other copy has: a process that was killed may have left an
    incomplete one."""
    folder, name = os.path.split(os.path.abspath(path))
    try:
        handle, part = mkstemp(dir=folder, prefix=f".{name}.", suffix=".part")
        os.close(handle)
        try:
            with closing(sqlite3.connect(part, isolation_level=None)) as target:
                connection.backup(target)
                target.execute("PRAGMA journal_mode = DELETE").fetchone()
            if os.path.exists(path):
                raise FileExistsError(EEXIST, os.strerror(EEXIST))
            os.rename(part, path)
        except BaseException:
            os.unlink(part)
            raise
    except OSError as error:
        cause: StoreCause = _CAUSES.get(error.errno or 0, "no_access")
        raise StoreUnavailable(f"{path}: cannot be created ({error.strerror})", cause=cause, place=path) from None


_log = logging.getLogger("tokenmizer_mw")
_DELETED: Final = "the store %s was deleted while it was in use: its sessions are gone, new ones go to a new file there"
_REPLACED: Final = "the store %s was replaced by another file while it was in use: that file is used from here on"


class FileWatch:
    """Notices, for one process, that the database file at ``path`` was deleted or replaced by another file. Safe for
    threads.

    ``generation``: how often that was noticed, 0 at first. Connections that were opened in an earlier generation write
    to a file that is no longer at ``path``: close them.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = make_lock()
        self._file: tuple[int, int] | None = None
        self._listeners: list[Callable[[], object]] = []
        self.generation = 0

    def when_replaced(self, listener: Callable[[], object]) -> None:
        """Register ``listener``, which ``look`` calls in its own thread when it finds that the file was deleted or
        replaced since the last look."""
        self._listeners.append(listener)

    def note_file(self) -> None:
        """Note which file a connection was just opened to, unless a file is noted already."""
        if self._file is None:
            self._file = _identity(self._path)

    def look(self) -> int:
        """Check whether the file at ``path`` is still the one that ``note_file`` noted, and return ``generation``.

        If the file was deleted or replaced, log that, raise ``generation`` by 1 and call the listeners. If another file
        is there, also delete a write-ahead log beside it that is older than that file. Until ``note_file`` is
        called, or called again after such a finding, only return ``generation``.
        """
        if self._file is None or _identity(self._path) == self._file:
            return self.generation
        with self._lock:
            found = _identity(self._path)
            if self._file is None or found == self._file:
                return self.generation
            self._file = None
            self.generation += 1
        _log.error(_DELETED if found is None else _REPLACED, self._path)
        if found is not None:
            self._remove_old_wal()
        for listener in self._listeners:
            listener()
        return self.generation

    def _remove_old_wal(self) -> None:
        """Remove the write-ahead log of the previous file, which SQLite would take for that of the new file: its pages
        would overwrite those of, say, a restored backup. A log that was written since the new file came is left
        alone."""
        wal = f"{self._path}-wal"
        with suppress(OSError):
            if os.stat(wal).st_mtime_ns <= os.stat(self._path).st_ctime_ns:
                os.unlink(wal)


def _identity(path: str) -> tuple[int, int] | None:
    """Return the device and inode of the file at ``path``; ``None`` if there is none or it cannot be looked at."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
