"""Backups of a store: made while it is in use, verified, recorded in the store itself, and restored into any store.

The record shows, when a session is erased, which backups may still contain it. Each recorded backup is a session of a
special tenant, with one message that describes it.
"""

from __future__ import annotations

import hashlib
import json
import socket
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import Final, Literal

from tokenmizer_mw.errors import CallerError, Conflict
from tokenmizer_mw.model.event import MessageRecorded
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.log import EventLog
from tokenmizer_mw.store.sqlite import SqliteLog

from .exports import (
    BACKUPS_TENANT,
    Session,
    SessionDiffers,
    count_sessions,
    own_sessions,
    read_lines,
    read_sessions,
    restore,
    write_lines,
)

Form = Literal["sqlite", "lines"]
"""Format of a backup: a SQLite database, or JSON Lines with the events of all sessions."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup as it is recorded: ``path`` is absolute, ``host`` the name of the machine where it was made.

    ``form``: its file format; ``made_at``: seconds since the epoch; ``sessions``: number of sessions in it.
    """

    path: str
    host: str
    form: Form
    made_at: float
    sessions: int

    @property
    def here(self) -> bool:
        """Whether the backup was made on this machine: ``host`` is the current host name."""
        return self.host == socket.gethostname()

    @property
    def key(self) -> SessionKey:
        """Key of the session that records this backup in the store. Each backup file has a session of its own."""
        place = json.dumps([self.host, self.path]).encode()
        return SessionKey(BACKUPS_TENANT, hashlib.blake2b(place, digest_size=16).hexdigest())


def record_backup(log: EventLog, backup: Backup) -> None:
    """Record a backup in the store itself, so that ``recorded_backups`` returns it. An earlier record of the same path
    on the same host is replaced. The file is not read."""
    event = MessageRecorded(1, "", Message(Role.SYSTEM, json.dumps(asdict(backup))))
    while True:
        if log.read(backup.key):
            log.forget(backup.key)
        try:
            log.append(backup.key, [event], expected_seq=0)
        except Conflict:
            continue
        return


def recorded_backups(log: EventLog) -> list[Backup]:
    """Return the backups that are recorded in the store, newest record first; ``[]`` if there are none. Whether the
    files still exist is not checked."""
    found = []
    for info in log.sessions(BACKUPS_TENANT):
        for recorded in log.read(info.key):
            if isinstance(recorded.event, MessageRecorded):
                found.append(Backup(**json.loads(recorded.event.message.text)))
    return found


def remove_from_record(log: EventLog, backups: Collection[Backup]) -> None:
    """Remove these backups from the record in the store; their files are not touched."""
    log.erase([backup.key for backup in backups])


_SQLITE_HEAD: Final = b"SQLite format 3\0"
_ENDINGS: Final[dict[Form, str]] = {"sqlite": "db", "lines": "jsonl"}


def write_backup(
    log: EventLog,
    where: Path,
    *,
    now: float,
    portable: bool = False,
    advance: Callable[[int], None] = lambda done: None,
) -> Backup:
    """Write a backup to ``where`` (a new file, or a directory for one), verify it, and record it.

    A SQLite store gives a consistent copy of its database. JSON Lines are written for other stores, and if ``portable``
    is true. Only the owner may read the file. ``now``: time of the backup, in seconds since the epoch. ``advance``:
    called with a number of sessions as they are written, and again with 1 for each that is verified. Raises
    ``CallerError`` if the file exists or its directory does not, and ``CallerError`` or ``StoreError`` if the backup
    fails verification; the file then stays, but is not recorded.
    """
    form: Form = "sqlite" if isinstance(log, SqliteLog) and not portable else "lines"
    path = _target(where, form, now)
    if isinstance(log, SqliteLog) and form == "sqlite":
        log.copy(path)
        advance(sum(1 for _ in own_sessions(log)))
    else:
        write_lines(log, path, advance)
    backup = Backup(
        str(path), socket.gethostname(), form, now, sum(1 for _ in count_sessions(sessions_of(path), advance))
    )
    record_backup(log, backup)
    return backup


def _target(where: Path, form: Form, now: float) -> Path:
    path = where.expanduser().absolute()
    if path.is_dir():
        name = f"tokenmizer-{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%SZ}"
        names = chain([name], (f"{name}-{number}" for number in count(2)))  # several backups within one second
        path = next(one for each in names if not (one := path / f"{each}.{_ENDINGS[form]}").exists())
    if path.exists():
        raise CallerError(f"{path}: exists already")
    if not path.parent.is_dir():
        raise CallerError(f"{path.parent}: there is no such directory")
    return path


def form_of(path: Path) -> Form:
    """Return the format of a backup by the first bytes of its file: "sqlite" for a SQLite database, "lines" for
    anything else. Raises ``CallerError`` if the file cannot be read."""
    try:
        with open(path, "rb") as file:
            return "sqlite" if file.read(len(_SQLITE_HEAD)) == _SQLITE_HEAD else "lines"
    except OSError as error:
        raise CallerError(f"{path}: {error.strerror or error}") from None


def sessions_of(path: Path) -> Iterator[Session]:
    """Yield the sessions of a backup, each as its key and its events, without the records of backups.

    Raises ``CallerError`` or ``StoreError`` for a damaged or foreign file, at the latest at its end.
    """
    if form_of(path) == "lines":
        try:
            yield from read_lines(path)
        except CallerError as error:
            raise CallerError(f"{path}: {error}") from None
        return
    with closing(SqliteLog(path)) as log:
        log.verify()
        yield from read_sessions(log)


@dataclass(frozen=True, slots=True)
class RestoredBackup:
    """Result of a restore.

    ``sessions``: number of sessions that the store now has in full, including those that it had before; ``events``:
    number of events that were new. ``differ``: the sessions that were skipped, because the store has different content
    under their ids.
    """

    sessions: int
    events: int
    differ: tuple[SessionKey, ...]


def restore_backup(log: EventLog, path: Path, advance: Callable[[int], None] = lambda done: None) -> RestoredBackup:
    """Restore the sessions of the backup ``path`` into the store ``log``, whichever kind of store it was made of.
    Events keep their times.

    A session of which the store has the first events gets the rest; one that differs is skipped (``differ`` of the
    result). ``advance``: called with 1 for each session. The whole file is checked first: if it is damaged or no
    backup, ``CallerError`` or ``StoreError`` is raised, and nothing is restored.
    """
    for _ in sessions_of(path):
        pass  # to its end: a damaged one raises before anything is written
    sessions = events = 0
    differ = []
    for key, recorded in sessions_of(path):
        try:
            events += restore(log, key, recorded)
            sessions += 1
        except SessionDiffers:
            differ.append(key)
        advance(1)
    return RestoredBackup(sessions, events, tuple(differ))
