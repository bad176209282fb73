"""Event log in one SQLite file: durable, shared by threads and processes, uses only the standard library.

Appends of all threads use one connection and are committed in groups (``group_commit``); reads use other connections,
which in write-ahead mode never wait for a writer. SQLite's own locks order writers of several processes. A forked child
process gets its own connections, and none is open during the fork.

An append that returned survives the death of the process (kill -9 included). A power cut or a crash of the operating
system can lose the last commits, never part of one; ``synchronous="full"`` prevents that too.
"""

from __future__ import annotations

import math
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from typing import Any, Final, TypeVar

from tokenmizer_mw.errors import StoreCorrupt, StoreTooNew, StoreUnavailable
from tokenmizer_mw.model.event import (
    KINDS_BESIDE_MESSAGES,
    KINDS_BESIDE_NODES,
    OUTLINES,
    Event,
    NewerEvent,
    ReadDetail,
    Recorded,
    Rewritten,
    UnreadableEvent,
    decode,
    decode_outline,
    encode,
)
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.forking import GATE
from tokenmizer_mw.store import sqlite_schema
from tokenmizer_mw.store.ledger import SqliteLedger, UsageLedger, erase_names
from tokenmizer_mw.store.log import (
    Clock,
    PassageRows,
    Place,
    Rewriting,
    SessionInfo,
    Snapshot,
    require_all_valid,
    require_order,
    require_place,
    require_valid,
)
from tokenmizer_mw.store.sqlite_blocks import DROP_BLOCKS
from tokenmizer_mw.store.sqlite_file import DatabaseFile, FileWatch, Synchronous, copy, require_synchronous, translate
from tokenmizer_mw.store.sqlite_traces import READERS_SECONDS, TraceRemover, has_traces, note_traces, writing
from tokenmizer_mw.store.sqlite_writer import SqliteAppend, SqliteWriter, append_events, put_back

T = TypeVar("T")

_IDLE_MAX: Final = 8
"""Most connections that are left open for later reads."""

_SEQ_MAX: Final = 2**63 - 1
"""The largest number that SQLite can store."""

_Parameters = tuple[str | int | float, ...] | Mapping[str, str | int | float]
"""Values for "?" in order, or for names (":tenant"). Numbers ("?1") with a tuple are an error from Python 3.14 on."""

_READ: Final = (
    "SELECT seq, recorded_at, kind, version, payload FROM events"
    " WHERE tenant = ? AND session = ? AND seq > ? AND seq <= ? ORDER BY seq"
)
_READ_NODES: Final = _READ.replace(" ORDER", f" AND kind NOT IN {KINDS_BESIDE_NODES!r} ORDER")
_READ_MESSAGES: Final = _READ.replace(
    " ORDER",
    f" AND (kind NOT IN {KINDS_BESIDE_MESSAGES!r}"
    " OR seq = (SELECT seq FROM sessions WHERE tenant = ? AND session = ?)) ORDER",
)
_LIST: Final = (
    "SELECT session, seq, created_at, updated_at FROM sessions WHERE tenant = :tenant"
    " AND (updated_at < :updated_at OR (updated_at = :updated_at AND session > :session))"
    " ORDER BY updated_at DESC, session LIMIT :most"
)
_SNAPSHOT: Final = "SELECT seq, recorded_at, fold_version, payload FROM snapshots WHERE tenant = ? AND session = ?"
_KEEP: Final = (
    "INSERT INTO snapshots (tenant, session, seq, recorded_at, fold_version, payload)"
    " SELECT :tenant, :session, :seq, :recorded_at, :fold_version, :payload"
    f" WHERE {sqlite_schema.IS_CURRENT}"
    " ON CONFLICT (tenant, session) DO UPDATE SET seq = excluded.seq, recorded_at = excluded.recorded_at,"
    " fold_version = excluded.fold_version, payload = excluded.payload"
    " WHERE snapshots.seq < excluded.seq OR snapshots.fold_version <> excluded.fold_version"
)
_DROP: Final = "DELETE FROM snapshots WHERE tenant = ? AND session = ?"
_REPLACE: Final = "UPDATE events SET kind = ?, version = ?, payload = ? WHERE tenant = ? AND session = ? AND seq = ?"
_ERASE: Final = "DELETE FROM events WHERE tenant = ? AND session = ? AND seq = ?"
_SECRET: Final = "SELECT secret FROM installation"
_TENANTS: Final = "SELECT DISTINCT tenant FROM sessions ORDER BY tenant"
_FORGET: Final = "DELETE FROM sessions WHERE tenant = ? AND session = ?"
_FORGET_OLD: Final = f"{_FORGET} AND updated_at < ?"
_FORGET_EVENTS: Final = "DELETE FROM events WHERE tenant = ? AND session = ?"
_NEWEST: Final[Place] = (math.inf, "")
_Row = tuple[Any, ...]


class _Connections:
    """What one process uses of a SQLite store: its idle connections for reads, the writer of its appends, and the
    remover of traces (copies of erased data in the files)."""

    __slots__ = ("generation", "idle", "looked_for_traces", "traces", "writer")

    def __init__(self, writer: SqliteWriter, traces: TraceRemover) -> None:
        self.generation = 0
        self.writer = writer
        self.traces = traces
        self.looked_for_traces = False
        self.idle: list[sqlite3.Connection] = []

    def take_idle(self) -> sqlite3.Connection | None:
        try:
            return self.idle.pop()
        except IndexError:
            return None

    def close_idle(self) -> None:
        while (connection := self.take_idle()) is not None:
            connection.close()


class SqliteLog:
    """An ``EventLog`` in a SQLite file. Opened at the first call.

    The file (mode 0600) and its directory (0700) are created when missing; directories above it are not.

    - ``clock``: returns the time of new events, in seconds since the epoch.
    - ``synchronous``: "normal": a commit survives the death of the process; "full": it also survives a power cut.
    - ``busy_seconds``: how long a call waits for writers of other processes before it raises ``StoreUnavailable``.
    - ``readers_seconds``: how long an erasure waits for other readers and writers before it raises; remaining copies of
      erased data (traces) are then removed from the file in the background.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        clock: Clock = time.time,
        synchronous: Synchronous = "normal",
        busy_seconds: float = 5.0,
        readers_seconds: float = READERS_SECONDS,
    ) -> None:
        require_synchronous(synchronous)
        self._file = DatabaseFile(os.path.realpath(path), synchronous, busy_seconds)
        self._watch = FileWatch(self._file.path)
        self._clock = clock
        self._readers_seconds = readers_seconds
        # By process id: SQLite connections and locks must not be carried across a fork, nor be closed there, so
        # those of the parent stay here, untouched.
        self._connections: dict[int, _Connections] = {}
        self._closed = False
        GATE.adopt(self)

    @property
    def place(self) -> str:
        """The absolute path of the database file, for messages to people."""
        return self._file.path

    def when_replaced(self, listener: Callable[[], object]) -> None:
        """Register ``listener``, which is called when a call of this store finds that the database file was deleted or
        replaced since the last call. Several listeners can be registered.

        It is called without arguments, in the thread of that call, before the call goes on; the event is also logged.
        Without calls nothing is noticed. The store then uses the file that is there, or a new one if there is none.
        """
        self._watch.when_replaced(listener)

    def append(self, session: SessionKey, events: Sequence[Event], *, expected_seq: int) -> list[Recorded]:
        """Append ``events`` to a session after its event ``expected_seq`` (0 for a new session), all or none. Returns
        them with their numbers and times; ``[]`` if there are none. Raises ``Conflict`` if the session's last event has
        another number, and ``StoreError`` if the store fails."""
        require_valid(session)
        here = self._here()
        if not events:
            return []
        append = SqliteAppend(session, [encode(event) for event in events], expected_seq)
        with GATE:
            recorded_at = here.writer.append(append)
        return [Recorded(seq, recorded_at, event) for seq, event in enumerate(events, expected_seq + 1)]

    def read(
        self, session: SessionKey, *, after: int = 0, upto: int | None = None, detail: ReadDetail = "all"
    ) -> list[Recorded]:
        """Return the events of a session with ``after < seq <= upto``, in order; ``upto`` of ``None``: to the end.
        ``[]`` for an unknown session. ``detail``: with less than "all", events that are not needed may be missing, and
        messages may lack their content."""
        require_valid(session)
        end = _SEQ_MAX if upto is None else upto
        key = (session.tenant, session.id)
        limits = (*key, _storable(after), _storable(end))
        if detail in ("messages", "numbers"):
            rows = self._select(_READ_MESSAGES, (*limits, *key))
        else:
            rows = self._select(_READ_NODES if detail == "nodes" else _READ, limits)
        return self._decode_rows(rows, decode_outline if detail in OUTLINES else decode)

    def snapshot(self, session: SessionKey) -> Snapshot | None:
        """Return the stored snapshot of a session (its state after some event as bytes, which saves reading the events
        before it); ``None`` if there is none."""
        require_valid(session)
        rows = self._select(_SNAPSHOT, (session.tenant, session.id))
        return Snapshot(*rows[0]) if rows else None

    def keep_snapshot(self, session: SessionKey, snapshot: Snapshot) -> bool:
        """Store a snapshot of a session's state, replacing the previous one. Returns whether it was stored: not if the
        session was erased or rewritten since the snapshot's event, or if the stored one has the same fold version and
        is not older."""
        require_valid(session)
        row = asdict(snapshot) | {"tenant": session.tenant, "session": session.id, "seq": _storable(snapshot.seq)}
        return self._change(lambda at: at.execute(_KEEP, row).rowcount > 0)

    def passage_rows(self, session: SessionKey, model: str) -> dict[bytes, bytes]:
        """Return the embedding vectors that ``model`` computed for a session's passages (paragraphs of its messages),
        as bytes by the digest of the passage; ``{}`` if there are none."""
        require_valid(session)
        return dict(self._select(sqlite_schema.READ_PASSAGES, (session.tenant, session.id, model)))

    def keep_passage_rows(self, session: SessionKey, passages: PassageRows, *, most: int) -> bool:
        """Store further embedding vectors of a session's passages (paragraphs of its messages). Only the ``most``
        newest are kept, and those of other models are deleted. Returns whether they were stored: not if the session was
        erased or rewritten since they were computed."""
        require_valid(session)
        seq = _storable(passages.seq)
        return self._change(lambda at: sqlite_schema.keep_passages(at, session, passages, seq, most))

    def sessions(self, tenant: str, *, after: Place | None = None, limit: int | None = None) -> list[SessionInfo]:
        """Return the sessions of a tenant, the most recently updated first; ``[]`` if there are none. ``after``:
        ``SessionInfo.place`` of the last session of the previous page; ``None``: begin with the first. ``limit``:
        maximum number of sessions; ``None``: all."""
        require_place(tenant, after)
        updated_at, last = after or _NEWEST
        most = _SEQ_MAX if limit is None else _storable(limit)
        place: _Parameters = {"tenant": tenant, "updated_at": updated_at, "session": last, "most": most}
        rows = self._select(_LIST, place)
        return [SessionInfo(SessionKey(tenant, id_), *rest) for id_, *rest in rows]

    def tenants(self) -> list[str]:
        """Return the tenants that have sessions, sorted by name; ``[]`` if there are none."""
        return [tenant for (tenant,) in self._select(_TENANTS, ())]

    def load(self, session: SessionKey, events: Sequence[Recorded], *, expected_seq: int) -> None:
        """Restore ``events`` of a session with their original numbers and times after its event ``expected_seq`` (0 for
        a new session), all or none. Raises ``Conflict`` if the session's last event has another number, and
        ``CallerError`` for events whose numbers or times are out of order."""
        require_valid(session)
        require_order(events, expected_seq)
        if events:

            def put(cursor: sqlite3.Cursor) -> None:
                put_back(cursor, session, events, expected_seq)
                _drop_derived(cursor, [session])

            self._change(put)

    def forget(self, session: SessionKey) -> int:
        """Erase a session so that nothing of it is left in the store's files. Returns how many events it had; 0 if it
        did not exist.

        The session can no longer be read after the first step. Then the whole file is rewritten, which takes time
        (about a second for 70 MB) and free disk space of twice the file's size; appends wait meanwhile, reads do not.
        Raises ``StoreUnavailable`` when others read or write the file for longer than ``readers_seconds``: the session
        is erased then, and its last traces in the file are removed in the background, by the next process that opens
        the file, or by a second call.
        """
        key = (session.tenant, session.id)

        def erase(cursor: sqlite3.Cursor) -> int:
            cursor.execute(_FORGET, key)
            _drop_derived(cursor, [session])
            erase_names(cursor, [session])
            return cursor.execute(_FORGET_EVENTS, key).rowcount

        require_valid(session)
        return self._maintain(erase)

    def erase(self, sessions: Iterable[SessionKey], *, unless_since: float | None = None) -> list[SessionKey]:
        """Erase many sessions in one step, which takes about as long as ``forget`` takes for one session. Returns those
        that existed and were erased. ``unless_since``: sessions with an event at this time (seconds since the epoch) or
        later are kept; ``None``: none is kept. Raises ``StoreUnavailable`` if copies of the erased data are left in the
        files."""
        keys = require_all_valid(sessions)
        before = math.inf if unless_since is None else unless_since

        def erase_idle(cursor: sqlite3.Cursor) -> list[SessionKey]:
            found = [key for key in keys if cursor.execute(_FORGET_OLD, (key.tenant, key.id, before)).rowcount]
            _drop_derived(cursor, found)
            cursor.executemany(_FORGET_EVENTS, [(key.tenant, key.id) for key in found])
            erase_names(cursor, found)
            return found

        return self._maintain(erase_idle) if keys else []

    def rewrite(self, session: SessionKey, change: Rewriting) -> int:
        """Replace or erase the contents of a session's events, for example to remove secrets. ``change`` gets each
        event and returns the one to store in its place, the same one for no change, or ``None`` to erase it; it must
        not append to this log. Returns how many events changed; 0 for an unknown session. It takes about as long as
        ``forget``, and raises ``StoreUnavailable`` if copies of the old contents are left in the files."""
        key = (session.tenant, session.id)

        def replace(cursor: sqlite3.Cursor) -> int:
            recorded = self._decode_rows(cursor.execute(_READ, (*key, 0, _SEQ_MAX)).fetchall())
            changed = [(old.seq, new) for old in recorded if (new := change(old)) != old.event]
            for seq, new in changed:
                if new is None:
                    cursor.execute(_ERASE, (*key, seq))
                else:
                    cursor.execute(_REPLACE, (*encode(new), *key, seq))
            if changed:
                _drop_derived(cursor, [session])
                append_events(cursor, session, [encode(Rewritten(len(changed)))], self._clock())
            return len(changed)

        require_valid(session)
        return self._maintain(replace)

    @property
    def ledger(self) -> UsageLedger:
        """The usage ledger of this store, which has the cost and savings of model calls."""
        return SqliteLedger(self._select, self._change)

    def secret(self) -> bytes:
        """Return the store's secret: random bytes, created with the store and the same for all its users. It is used to
        sign data."""
        rows = self._select(_SECRET, ())
        if len(rows) != 1:
            raise self._damage_error("is damaged: its secret is missing")
        return bytes(rows[0][0])

    def copy(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of the database as it is now to a new file that only its owner can read. Others may use the
        database meanwhile.

        Raises ``StoreUnavailable`` if ``path`` exists already or cannot be written; nothing is left of the copy then.
        """
        self._here()
        try:
            with GATE, closing(self._file.connect()) as connection:
                copy(connection, os.fspath(path))
        except sqlite3.Error as error:
            raise translate(error, self._file.path) from error

    def verify(self) -> None:
        """Raise ``StoreCorrupt`` when SQLite finds the file damaged. Reads the whole file, and blocks meanwhile."""
        if self._select("PRAGMA integrity_check(1)", ()) != [("ok",)]:
            raise self._damage_error("is damaged")

    def close(self) -> None:
        """Release files and threads; further calls raise ``StoreUnavailable``. Waits for a commit that is under way.
        Closing twice is harmless."""
        self._closed = True
        here = self._connections.get(os.getpid())
        if here is not None:
            here.traces.close()
            here.writer.close()
            here.close_idle()

    def _here(self) -> _Connections:
        if self._closed:
            raise StoreUnavailable(f"{self._file.path} is closed", cause="closed", place=self._file.path)
        process = os.getpid()
        found = self._connections.get(process)
        if found is not None:
            return found
        fresh = _Connections(
            SqliteWriter(self._file, self._watch, self._clock), TraceRemover(self._file, self._readers_seconds)
        )
        return self._connections.setdefault(process, fresh)

    def release_connections(self) -> None:
        """Close the idle connections of this process, after the commit that is under way. It is called before the
        process forks; the next calls open new connections."""
        here = self._connections.get(os.getpid())
        if here is not None:
            here.writer.release()
            here.close_idle()

    def _select(self, statement: str, parameters: _Parameters) -> list[_Row]:
        here = self._here()
        with GATE:
            return self._fetch_rows(here, statement, parameters)

    def _fetch_rows(self, here: _Connections, statement: str, parameters: _Parameters) -> list[_Row]:
        try:
            generation = self._look(here)
            connection = here.take_idle() or self._connect()
            try:
                # A cursor that is collected later, in another thread, is an error in sqlite3: it ends here.
                with closing(connection.cursor()) as cursor:
                    rows = cursor.execute(statement, parameters).fetchall()
                _look_for_traces(here, connection)
            except BaseException:
                connection.close()
                raise
        except sqlite3.Error as error:
            raise translate(error, self._file.path) from error
        self._give_back(here, connection, generation)
        return rows

    def _look(self, here: _Connections) -> int:
        """Return the generation of the file (``FileWatch``), after closing idle connections of an earlier one."""
        generation = self._watch.look()
        if generation != here.generation:
            here.generation = generation
            here.close_idle()
        return generation

    def _connect(self) -> sqlite3.Connection:
        connection = self._file.connect()
        self._watch.note_file()
        return connection

    def _give_back(self, here: _Connections, connection: sqlite3.Connection, generation: int) -> None:
        if len(here.idle) >= _IDLE_MAX or generation != here.generation:
            connection.close()
            return
        here.idle.append(connection)
        if self._closed:
            here.close_idle()

    def _maintain(self, work: Callable[[sqlite3.Cursor], T]) -> T:
        """Do ``work`` in one transaction on a connection of its own, then remove what it left in the files."""

        def note_changes(cursor: sqlite3.Cursor) -> T:
            before = cursor.connection.total_changes
            result = work(cursor)
            if cursor.connection.total_changes > before:
                note_traces(cursor)
            return result

        result = self._change(note_changes)
        self._here().traces.remove()
        return result

    def _change(self, work: Callable[[sqlite3.Cursor], T]) -> T:
        self._look(self._here())
        try:
            with (
                GATE,
                closing(self._file.connect()) as connection,
                closing(connection.cursor()) as cursor,
                writing(cursor),
            ):
                return work(cursor)
        except sqlite3.Error as error:
            raise translate(error, self._file.path) from error

    def _decode_rows(self, rows: list[_Row], decode: Callable[[str, int, str], Event] = decode) -> list[Recorded]:
        try:
            return [Recorded(seq, at, decode(kind, version, payload)) for seq, at, kind, version, payload in rows]
        except NewerEvent as error:
            raise StoreTooNew(f"{self._file.path}: {error}", place=self._file.path) from error
        except UnreadableEvent as error:
            raise self._damage_error(f"is damaged: {error}") from error

    def _damage_error(self, what: str) -> StoreCorrupt:
        return StoreCorrupt(f"{self._file.path}: {what}", cause="damaged", place=self._file.path)


def _look_for_traces(here: _Connections, connection: sqlite3.Connection) -> None:
    """Once in a process: start removing traces that an earlier erasure could not remove."""
    if not here.looked_for_traces:
        here.looked_for_traces = True
        with closing(connection.cursor()) as cursor:
            if has_traces(cursor):
                here.traces.remove_later()


def _drop_derived(cursor: sqlite3.Cursor, sessions: Sequence[SessionKey]) -> None:
    """Delete what was computed from the events of sessions: their snapshots and vectors, and all blocks built
    beforehand."""
    for statement in (_DROP, sqlite_schema.DROP_PASSAGES):
        cursor.executemany(statement, [(key.tenant, key.id) for key in sessions])
    if sessions:
        cursor.execute(DROP_BLOCKS)


def _storable(number: int) -> int:
    return max(0, min(number, _SEQ_MAX))
