"""Backups of a store: made while it is in use, verified, on record, and taken back into any store."""

from __future__ import annotations

import socket
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.log import EventLog
from tokenmizer_mw.store.sqlite import SqliteLog

from .exports import SessionDiffers, restore
from .known_backups import BACKUPS_TENANT, Backup, Form, put_on_record
from .lines_backup import Session, counted, read_lines, write_lines

_SQLITE_HEAD: Final = b"SQLite format 3\0"
_ENDINGS: Final[dict[Form, str]] = {"sqlite": "db", "lines": "jsonl"}


def back_up(
    log: EventLog,
    where: Path,
    *,
    now: float,
    portable: bool = False,
    tenants: Collection[str] | None = None,
    advance: Callable[[int], None] = lambda done: None,
) -> Backup:
    """Write a backup to ``where``, a new file or a directory for one, verify it, and put it on record. ``advance`` is
    told of each session when it is written, and again when it is verified.

    A SQLite store gives a copy of its database as it is at one moment, all else JSON Lines, as it does when it is to be
    ``portable`` or to hold some ``tenants`` only. The file is for its owner alone. Raises ``CallerError`` when it is
    there already or does not hold what it should.
    """
    form: Form = "sqlite" if isinstance(log, SqliteLog) and not portable and tenants is None else "lines"
    path = _target(where, form, now)
    if isinstance(log, SqliteLog) and form == "sqlite":
        log.copy(path)
        advance(sum(len(log.sessions(tenant)) for tenant in log.tenants() if tenant != BACKUPS_TENANT))
    else:
        write_lines(log, path, tenants, advance)
    backup = Backup(str(path), socket.gethostname(), form, now, sum(1 for _ in counted(sessions_of(path), advance)))
    put_on_record(log, backup)
    return backup


def _target(where: Path, form: Form, now: float) -> Path:
    path = where.expanduser().absolute()
    if path.is_dir():
        path /= f"tokenmizer-{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%SZ}.{_ENDINGS[form]}"
    if path.exists():
        raise CallerError(f"{path}: exists already")
    if not path.parent.is_dir():
        raise CallerError(f"{path.parent}: there is no such directory")
    return path


def form_of(path: Path) -> Form:
    """What kind of backup a file is, by its first bytes. Raises ``CallerError`` when it cannot be read."""
    try:
        with open(path, "rb") as file:
            return "sqlite" if file.read(len(_SQLITE_HEAD)) == _SQLITE_HEAD else "lines"
    except OSError as error:
        raise CallerError(f"{path}: {error.strerror or error}") from None


def sessions_of(path: Path) -> Iterator[Session]:
    """The sessions of a backup, one after the other; those of our own records are left out. Raises ``CallerError`` or
    ``StoreError`` for a file that is damaged or none, at the latest at its end."""
    if form_of(path) == "lines":
        try:
            yield from read_lines(path)
        except CallerError as error:
            raise CallerError(f"{path}: {error}") from None
        return
    with closing(SqliteLog(path)) as log:
        log.verify()
        for tenant in log.tenants():
            if tenant != BACKUPS_TENANT:
                yield from ((info.key, log.read(info.key)) for info in log.sessions(tenant))


@dataclass(frozen=True, slots=True)
class TakenBack:
    """How many sessions of a backup are there now, how many events came in, and the sessions that were left alone
    because the store holds something else under their names."""

    sessions: int
    events: int
    differ: tuple[SessionKey, ...]


def take_back(log: EventLog, path: Path, advance: Callable[[int], None] = lambda done: None) -> TakenBack:
    """Put the sessions of a backup, of whatever store, into this one, with their times; ``advance`` is told of each.

    What is there already stays. Nothing comes in from a file that is damaged.
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
    return TakenBack(sessions, events, tuple(differ))
