"""The one connection of a process that all appends use."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from threading import Lock
from typing import Final

from tokenmizer_mw.errors import Conflict, StoreError, StoreTooNew, StoreUnavailable
from tokenmizer_mw.model.event import Recorded, encode
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.group_commit import GroupCommit
from tokenmizer_mw.store.log import Clock, require_not_before
from tokenmizer_mw.store.sqlite_file import DatabaseFile, FileWatch, translate
from tokenmizer_mw.store.sqlite_schema import MIGRATIONS, roll_back
from tokenmizer_mw.store.sqlite_traces import begin_writing

_END: Final = "SELECT seq, updated_at FROM sessions WHERE tenant = ? AND session = ?"
_START: Final = "INSERT INTO sessions (seq, updated_at, created_at, tenant, session) VALUES (?, ?, ?, ?, ?)"
_MOVE_END: Final = "UPDATE sessions SET seq = ?, updated_at = ? WHERE tenant = ? AND session = ?"
_ADD: Final = (
    "INSERT INTO events (tenant, session, seq, recorded_at, kind, version, payload) VALUES (?, ?, ?, ?, ?, ?, ?)"
)

EncodedEvent = tuple[str, int, str]
"""An event as ``encode`` returns it: kind, version, payload."""


class SqliteAppend:
    """An append in progress: the events to write, and afterwards the time at which they were written, or the error.
    ``expected_seq``: number of the session's last event, after which they are written; 0 for a new session."""

    __slots__ = ("error", "events", "expected_seq", "recorded_at", "session")

    def __init__(self, session: SessionKey, events: Sequence[EncodedEvent], expected_seq: int) -> None:
        self.session = session
        self.events = events
        self.expected_seq = expected_seq
        self.recorded_at = 0.0
        self.error: StoreError | None = None


class SqliteWriter:
    """Commits appends in groups. If one append of a group fails, the group's other appends are still written.
    ``watch``: notices that ``file`` was replaced; ``clock``: returns the time in seconds since the epoch."""

    def __init__(self, file: DatabaseFile, watch: FileWatch, clock: Clock) -> None:
        self._file = file
        self._watch = watch
        self._generation = 0
        self._clock = clock
        self._group = GroupCommit(self._write_group)
        self._lock = Lock()
        self._cursor: sqlite3.Cursor | None = None
        self._closed = False

    def append(self, append: SqliteAppend) -> float:
        """Write all events of ``append``, or none, and wait for that. Returns the time that they were recorded with, in
        seconds since the epoch. Raises the ``StoreError`` of this append, such as ``Conflict``."""
        self._group.submit(append)
        if append.error is not None:
            raise append.error
        return append.recorded_at

    def close(self) -> None:
        """Wait for the running commit, then close the connection. Further appends raise ``StoreUnavailable``."""
        with self._lock:
            self._closed = True
            self._disconnect()

    def release(self) -> None:
        """Wait for the running commit, then close the connection; the next append opens another."""
        with self._lock:
            self._disconnect()

    def _write_group(self, appends: list[SqliteAppend]) -> None:
        with self._lock:
            try:
                self._write(appends)
            except BaseException:  # such as KeyboardInterrupt: never keep a connection inside a transaction
                self._disconnect()
                raise

    def _write(self, appends: list[SqliteAppend]) -> None:
        now = self._clock()
        try:
            cursor = self._begin()
        except (sqlite3.Error, StoreError) as error:
            self._fail(appends, error)
            return
        try:
            self._commit(cursor, appends, now)
        except sqlite3.Error as error:
            if len(appends) == 1:
                self._fail(appends, error)
                return
            self._disconnect()
            for append in appends:
                self._write([append])

    def _begin(self) -> sqlite3.Cursor:
        if self._closed:
            raise StoreUnavailable(f"{self._file.path} is closed", cause="closed", place=self._file.path)
        generation = self._watch.look()
        if generation != self._generation:
            self._disconnect()
        if self._cursor is None:
            self._cursor = self._file.connect().cursor()
            self._watch.note_file()
            self._generation = generation
        begin_writing(self._cursor)
        (version,) = self._cursor.execute("PRAGMA user_version").fetchone()
        if version != len(MIGRATIONS):
            path = self._file.path
            raise StoreTooNew(f"{path}: a newer version of tokenmizer-mw took it over", place=path)
        return self._cursor

    def _commit(self, cursor: sqlite3.Cursor, appends: list[SqliteAppend], now: float) -> None:
        outcomes = [append_events(cursor, one.session, one.events, now, one.expected_seq) for one in appends]
        cursor.execute("COMMIT")
        for append, outcome in zip(appends, outcomes, strict=True):
            if isinstance(outcome, StoreError):
                append.error = outcome
            else:
                append.recorded_at = outcome

    def _fail(self, appends: list[SqliteAppend], error: sqlite3.Error | StoreError) -> None:
        self._disconnect()
        for append in appends:
            # One error object each: they are raised in different threads.
            append.error = error.again() if isinstance(error, StoreError) else translate(error, self._file.path)

    def _disconnect(self) -> None:
        """Undo an open transaction and close the connection; the next append opens another."""
        cursor, self._cursor = self._cursor, None
        if cursor is not None:
            connection = cursor.connection
            # Closing alone is not enough: while a cursor still holds a statement, SQLite keeps the transaction open.
            with suppress(sqlite3.Error):
                roll_back(cursor)
            cursor.close()
            connection.close()


def append_events(
    cursor: sqlite3.Cursor,
    session: SessionKey,
    events: Sequence[EncodedEvent],
    now: float,
    expected_seq: int | None = None,
) -> float | Conflict:
    """Append events to a session, in the open transaction. Returns their ``recorded_at``: ``now``, in seconds since the
    epoch, or the time of the session's last event if that is later.

    Writes nothing and returns a ``Conflict`` if the session's last event is not ``expected_seq`` (``None``: any).
    """
    key = (session.tenant, session.id)
    seq, updated_at = cursor.execute(_END, key).fetchone() or (0, now)
    if expected_seq is not None and seq != expected_seq:
        return Conflict(f"the session's log ends at {seq}, not at {expected_seq}")
    recorded_at = max(now, updated_at)
    last = seq + len(events)
    if seq:
        cursor.execute(_MOVE_END, (last, recorded_at, *key))
    else:
        cursor.execute(_START, (last, recorded_at, recorded_at, *key))
    cursor.executemany(_ADD, [(*key, place, recorded_at, *event) for place, event in enumerate(events, seq + 1)])
    return recorded_at


def put_back(cursor: sqlite3.Cursor, session: SessionKey, events: Sequence[Recorded], expected_seq: int) -> None:
    """Write events with their original numbers and times, in the open transaction. Raises ``Conflict`` if the session's
    last event is not ``expected_seq``, and ``CallerError`` if that event is later than the first of ``events``."""
    key = (session.tenant, session.id)
    seq, updated_at = cursor.execute(_END, key).fetchone() or (0, 0.0)
    if seq != expected_seq:
        raise Conflict(f"the session's log ends at {seq}, not at {expected_seq}")
    last = (events[-1].seq, events[-1].recorded_at)
    if seq:
        require_not_before(events, updated_at)
        cursor.execute(_MOVE_END, (*last, *key))
    else:
        cursor.execute(_START, (*last, events[0].recorded_at, *key))
    cursor.executemany(_ADD, [(*key, one.seq, one.recorded_at, *encode(one.event)) for one in events])
