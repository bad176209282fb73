"""Cache store in SQLite: a file of its own, or a table in the file of the sessions."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from tokenmizer_mw.errors import StoreUnavailable
from tokenmizer_mw.runtime.forking import GATE, make_lock
from tokenmizer_mw.store.sqlite_file import DatabaseFile, is_busy, translate
from tokenmizer_mw.store.sqlite_traces import TraceRemover, has_traces, note_traces

from . import TOUCH_SECONDS, CacheHit, Entry, Holdings, Room, Vector

_BUSY_SECONDS: Final = 5.0

_TABLE: Final = """
CREATE TABLE IF NOT EXISTS answers (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    key BLOB NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    session TEXT NOT NULL,
    part BLOB NOT NULL,
    question TEXT NOT NULL,
    vector BLOB NOT NULL,
    answer BLOB NOT NULL,
    size INTEGER NOT NULL,
    expires_at REAL NOT NULL,
    used_at REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS answers_by_use ON answers (used_at, size);
CREATE INDEX IF NOT EXISTS answers_by_owner ON answers (tenant, session, size);
CREATE INDEX IF NOT EXISTS answers_by_part ON answers (part, place) WHERE part != x'';
"""
_PUT: Final = "INSERT INTO answers (key, tenant, session, part, question, vector, answer, size, expires_at, used_at)"


class _Connection:
    """One connection of this process to the database file, which is opened at its first use, and the ``lock`` that its
    user must hold."""

    def __init__(self, file: DatabaseFile) -> None:
        self.lock = make_lock()
        self._file = file
        self._open: sqlite3.Connection | None = None

    @contextmanager
    def cursor(self) -> Iterator[sqlite3.Cursor]:
        """Context manager that yields a cursor and rolls its transaction back if the block fails. The caller holds the
        lock. Raises ``StoreError``."""
        try:
            cursor = self._open_connection().cursor()
            try:
                yield cursor
            except BaseException:
                if self._open is not None and self._open.in_transaction:
                    self._open.rollback()
                raise
            finally:
                cursor.close()
        except sqlite3.Error as error:
            raise translate(error, self._file.path) from None

    def close(self) -> None:
        """Close the connection if it is open; the next use opens another."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _open_connection(self) -> sqlite3.Connection:
        if self._open is None:
            connection = self._file.connect()
            try:
                connection.executescript(_TABLE)
            except sqlite3.Error:
                connection.close()
                raise
            self._open = connection
        return self._open


class SqliteAnswers:
    """Cache store in the SQLite file ``path``, of at most ``most`` bytes. Safe for several threads and processes.
    Opened at first use. ``clock``: returns the time in seconds since the epoch, by which responses expire.

    Purged content is overwritten in the file. A lookup never waits for a writer: it has a connection of its own, and
    the time of a response's last use is only written while the file is not locked.
    """

    def __init__(self, path: str, most: int, *, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._file = DatabaseFile(os.path.abspath(path), "normal", _BUSY_SECONDS)
        self._clock = clock
        self._reading = _Connection(self._file)
        self._writing = _Connection(self._file)
        self._removers: dict[int, TraceRemover] = {}  # by process: a thread and its locks do not survive a fork
        self._looked_for_traces = False
        self._closed = False
        self._room = Room(most)
        GATE.adopt(self)

    def release_connections(self) -> None:
        """Close the connections of this process. Called before the process forks; the next call opens new ones."""
        self._reading.close()
        self._writing.close()

    def get(self, key: bytes) -> CacheHit | None:
        """Return the response stored under ``key``; ``None`` if there is none, or if it has expired. Returning a
        response counts as its use: the least recently used responses are deleted first."""
        now = self._clock()
        with self._cursor(self._reading) as cursor:
            row = cursor.execute(
                "SELECT answer, question, used_at FROM answers WHERE key = ? AND expires_at > ?", (key, now)
            ).fetchone()
        if row is None:
            return None
        if now - row[2] >= TOUCH_SECONDS:
            self._note_use(key, now)
        return CacheHit(row[0], row[1])

    def put(self, entry: Entry) -> None:
        """Store a response, replacing one with the same key, and delete the least recently used ones beyond the size
        limit. A response larger than the whole limit is not stored."""
        now = self._clock()
        with self._cursor(self._writing) as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            cursor.execute("DELETE FROM answers WHERE key = ? OR expires_at <= ?", (entry.key, now))
            if entry.size <= self._room.most:
                owner = (entry.owner.tenant, entry.owner.id)
                row = (entry.key, *owner, entry.partition, entry.plain_question, entry.vector, entry.answer, entry.size)
                cursor.execute(f"{_PUT} VALUES ({', '.join('?' * 10)})", (*row, entry.expires_at, now))
            if self._room.looks(entry.size):
                self._make_room(cursor)
            cursor.execute("COMMIT")
            left = not self._looked_for_traces and has_traces(cursor)
            self._looked_for_traces = True
        if left:  # of a process that ended before it had removed them
            self._remover().remove_later()

    def vectors(self, partition: bytes, after: int, most: int) -> Sequence[Vector]:
        """Return the vectors of the questions of a partition (a digest of everything in a request but the question)
        that were stored after the position ``after`` (0: all), in the order in which they were stored, at most
        ``most``; an empty list for none."""
        with self._cursor(self._reading) as cursor:
            found = cursor.execute(
                "SELECT place, key, vector FROM answers WHERE part = ? AND part != x'' AND place > ?"
                " ORDER BY place LIMIT ?",
                (partition, after, most),
            )
            return [Vector(*row) for row in found]

    def purge(self, tenant: str, session_id: str | None = None) -> int:
        """Delete the responses of a tenant, or of one of its sessions (``None``: all); return how many.

        Deleted content is also overwritten in the file. Raises ``StoreError`` if that cannot be done now because others
        read the file: the responses are deleted nevertheless, and their traces are overwritten later in the background.
        """
        with self._cursor(self._writing) as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            if session_id is None:
                cursor.execute("DELETE FROM answers WHERE tenant = ?", (tenant,))
            else:
                cursor.execute("DELETE FROM answers WHERE tenant = ? AND session = ?", (tenant, session_id))
            gone = cursor.rowcount
            if gone:
                note_traces(cursor)
            left = has_traces(cursor)
            cursor.execute("COMMIT")
        if left:
            self._remover().remove()
        return gone

    def holdings(self, tenant: str | None = None) -> Holdings:
        """Return number and size of all stored responses, or of one tenant's. Expired ones do not count."""
        with self._cursor(self._reading) as cursor:
            row = cursor.execute(
                "SELECT count(*), coalesce(sum(size), 0) FROM answers"
                " WHERE (? IS NULL OR tenant = ?) AND expires_at > ?",
                (tenant, tenant, self._clock()),
            ).fetchone()
            return Holdings(*row)

    def close(self) -> None:
        """Release connections and end background work; further calls raise ``StoreUnavailable``. Closing twice is
        harmless."""
        self._closed = True
        remover = self._removers.get(os.getpid())
        if remover is not None:
            remover.close()
        for connection in (self._reading, self._writing):
            with GATE, connection.lock:
                connection.close()

    @contextmanager
    def _cursor(self, connection: _Connection) -> Iterator[sqlite3.Cursor]:
        with GATE, connection.lock:
            if self._closed:
                raise StoreUnavailable(f"{self._path} is closed")
            with connection.cursor() as cursor:
                yield cursor

    def _note_use(self, key: bytes, now: float) -> None:
        """Write the time of a response's last use. If somebody else is writing to the file, it is skipped; a later use
        writes it."""
        with GATE:
            if not self._writing.lock.acquire(blocking=False):
                return
            try:
                with self._writing.cursor() as cursor:
                    self._try_noting_use(cursor, key, now)
            finally:
                self._writing.lock.release()

    def _try_noting_use(self, cursor: sqlite3.Cursor, key: bytes, now: float) -> None:
        cursor.execute("PRAGMA busy_timeout = 0").fetchall()
        try:
            cursor.execute("UPDATE answers SET used_at = ? WHERE key = ?", (now, key))
        except sqlite3.OperationalError as error:
            if not is_busy(error):
                raise
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {int(_BUSY_SECONDS * 1000)}").fetchall()

    def _remover(self) -> TraceRemover:
        return self._removers.setdefault(os.getpid(), TraceRemover(self._file))

    def _make_room(self, cursor: sqlite3.Cursor) -> None:
        (held,) = cursor.execute("SELECT coalesce(sum(size), 0) FROM answers").fetchone()
        gone = []
        for place, size in cursor.execute("SELECT place, size FROM answers ORDER BY used_at, place"):
            if held <= self._room.most:
                break
            gone.append((place,))
            held -= size
        cursor.executemany("DELETE FROM answers WHERE place = ?", gone)
        self._room.holds(held)
