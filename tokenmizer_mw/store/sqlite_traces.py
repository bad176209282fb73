"""Remove what erased rows leave behind in the files of a SQLite database, while others read and write it.

``secure_delete`` is not enough: when SQLite moves rows between pages it leaves copies in their unused parts. Only
``VACUUM`` rewrites every page, and only a truncating checkpoint empties the write-ahead log. Therefore an erasure notes
in its own transaction, in the table ``traces``, that this must be done. Then the file is rewritten: others can read but
not write meanwhile. Then the write-ahead log is moved into the file, which blocks nobody; what was added to it
meanwhile is moved while writers wait for a moment. Readers can delay this; it is then retried. If a process ends before
the notes are deleted, the next one continues.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, suppress
from typing import Final, TypeVar

from tokenmizer_mw.errors import StoreError, StoreUnavailable
from tokenmizer_mw.runtime.forking import GATE
from tokenmizer_mw.store.sqlite_file import DatabaseFile, is_busy, translate
from tokenmizer_mw.store.sqlite_schema import immediate

T = TypeVar("T")

READERS_SECONDS: Final = 30.0
"""Seconds for which an erasure waits for others who write or read the file. Then it raises, and continues in the
background."""

REWRITING_SECONDS: Final = 120.0
"""Seconds for which other writers wait, beyond their usual time, while the file is being rewritten."""

LEFT: Final = "erased, but its traces stay in the file until nobody reads it; they are removed in the background"

_CHECKPOINT_WAIT_MS: Final = 100
"""Milliseconds for which a truncating checkpoint waits for readers. Nobody can write meanwhile."""

_FRAMES_MAX: Final = 2_000
"""Pages in the write-ahead log, not in the file yet, up to which a truncating checkpoint is tried."""

_FIRST_REST_SECONDS: Final = 0.02
_REST_SECONDS_MAX: Final = 1.0
_BACKGROUND_REST_SECONDS: Final = (1.0, 60.0)
"""Seconds before the first attempt in the background, and at most before a later one."""

_NOTE: Final = "INSERT INTO traces (id, rewritten) VALUES (randomblob(16), 0)"
_ANY: Final = "SELECT 1 FROM traces LIMIT 1"
_NOTES: Final = "SELECT id FROM traces WHERE rewritten = ?"
_REWRITTEN: Final = "UPDATE traces SET rewritten = 1 WHERE id = ?"
_DONE: Final = "DELETE FROM traces WHERE id = ?"
_log = logging.getLogger("tokenmizer_mw")


def note_traces(cursor: sqlite3.Cursor) -> None:
    """Record, in the open transaction that erases rows, that traces remain to be removed. Traces are copies of erased
    rows in the files of the database."""
    cursor.execute(_NOTE)


def has_traces(cursor: sqlite3.Cursor) -> bool:
    """Whether traces (copies of erased rows in the files of the database) remain to be removed, or are being removed.
    Raises ``sqlite3.Error``."""
    return cursor.execute(_ANY).fetchone() is not None


def writing(cursor: sqlite3.Cursor) -> AbstractContextManager[None]:
    """Return a context manager that runs its block in a transaction which holds the database's write lock from its
    start. It commits at the end of the block, and rolls back if the block raises. Raises ``sqlite3.Error`` if the lock
    is not free in time; while the file is being rewritten, that is ``REWRITING_SECONDS``."""
    return immediate(cursor, begin_writing)


def begin_writing(cursor: sqlite3.Cursor) -> None:
    """Begin a transaction that holds the write lock of the database.

    Waits for the lock as long as the connection is set to (its busy timeout). While ``TraceRemover`` rewrites the file
    to remove traces of erased rows, waits for up to ``REWRITING_SECONDS``. Raises ``sqlite3.Error``, also if the lock
    is not released in time.
    """
    deadline = time.monotonic() + REWRITING_SECONDS
    while True:
        try:
            cursor.execute("BEGIN IMMEDIATE")
            return
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > deadline or not has_traces(cursor):
                raise


class TraceRemover:
    """Removes the traces of erased rows, for one process. Thread-safe; one thread works at a time.

    ``readers_seconds``: how long ``remove`` waits for other readers and writers.
    """

    def __init__(self, file: DatabaseFile, readers_seconds: float = READERS_SECONDS) -> None:
        self._file = file
        self._readers_seconds = readers_seconds
        self._at_work = threading.Lock()
        self._guard = threading.Lock()
        self._closed = threading.Event()
        self._background: threading.Thread | None = None
        self._in_background: sqlite3.Connection | None = None

    def remove(self) -> None:
        """Remove all traces that ``note_traces`` recorded. Raises ``StoreError`` when some are left; they are then
        removed in the background."""
        try:
            self._remove(lambda: False)
        except (sqlite3.Error, StoreError) as error:
            self.remove_later()
            cause = error if isinstance(error, StoreError) else translate(error, self._file.path)
            raise cause.again(f"{cause}: {LEFT}") from None

    def remove_later(self) -> None:
        """Start a thread that removes what is left of erased rows in the database file and its write-ahead log, and
        retries until nothing is left. Returns at once.

        Does nothing if such a thread is running, or after ``close``.
        """
        with self._guard:
            if self._closed.is_set() or (self._background is not None and self._background.is_alive()):
                return
            self._background = threading.Thread(target=self._run, name="tokenmizer-traces", daemon=True)
            self._background.start()

    def close(self) -> None:
        """End the background thread; remaining traces are removed by the next process."""
        with self._guard:
            self._closed.set()
            background, connection = self._background, self._in_background
        if connection is not None:
            with suppress(sqlite3.Error):  # it may just have been closed
                connection.interrupt()
        if background is not None and background is not threading.current_thread():
            background.join()

    def _run(self) -> None:
        rest, longest = _BACKGROUND_REST_SECONDS
        while not self._closed.wait(rest):
            try:
                self._remove(self._closed.is_set)
            except (sqlite3.Error, StoreError):
                rest = min(2 * rest, longest)
            else:
                _log.info("no traces of erased sessions are left in the store's files")
                return

    def _remove(self, ended: Callable[[], bool]) -> None:
        with self._at_work:
            deadline = time.monotonic() + self._readers_seconds
            if self._notes(0):
                self._until(deadline, ended, self._rewrite_pages)
            notes = self._notes(1)
            if notes:
                self._until(deadline, ended, _empty_wal)
                self._change_notes(_DONE, notes)

    def _until(self, deadline: float, ended: Callable[[], bool], attempt: Callable[[sqlite3.Connection], bool]) -> None:
        """Call ``attempt`` until it returns true. Between two attempts others can write and read. Raises
        ``StoreUnavailable`` at the deadline."""
        rest = _FIRST_REST_SECONDS
        while not self._with_connection(attempt):
            if ended() or time.monotonic() + rest > deadline:
                message = f"{self._file.path}: is being read by others"
                raise StoreUnavailable(message, cause="locked", place=self._file.path)
            time.sleep(rest)
            rest = min(2 * rest, _REST_SECONDS_MAX)

    def _rewrite_pages(self, connection: sqlite3.Connection) -> bool:
        """Write every page of the file anew, so that copies of erased rows in it are gone. Returns whether that was
        done; false if others were writing."""
        with closing(connection.cursor()) as cursor:
            notes = cursor.execute(_NOTES, (0,)).fetchall()
            try:
                cursor.execute("VACUUM")
            except sqlite3.OperationalError as error:
                if is_busy(error):
                    return False
                raise
            with writing(cursor):
                cursor.executemany(_REWRITTEN, notes)
        return True

    def _notes(self, rewritten: int) -> list[tuple[bytes]]:
        return self._with_connection(lambda at: at.execute(_NOTES, (rewritten,)).fetchall())

    def _change_notes(self, statement: str, notes: list[tuple[bytes]]) -> None:
        def change(connection: sqlite3.Connection) -> None:
            with closing(connection.cursor()) as cursor, writing(cursor):
                cursor.executemany(statement, notes)

        self._with_connection(change)

    def _with_connection(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Call ``work`` with a connection that is open for this call alone, so that a fork between two steps finds none
        open."""
        mine = threading.current_thread() is self._background
        with GATE, closing(self._file.connect()) as connection:
            if not mine:
                return work(connection)
            with self._guard:
                self._in_background = connection
            try:
                return work(connection)
            finally:
                with self._guard:
                    self._in_background = None


def _empty_wal(connection: sqlite3.Connection) -> bool:
    """Move the write-ahead log into the file and empty it. Returns false if others read or write what is in it."""
    with closing(connection.cursor()) as cursor:
        cursor.execute(f"PRAGMA busy_timeout = {_CHECKPOINT_WAIT_MS}").fetchall()
        (_, frames, moved) = cursor.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if frames - moved > _FRAMES_MAX:
            return False
        (blocked, _, _) = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not blocked
