"""Backups of a store: made while it is in use, verified, recorded, and restored into any store."""

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
from .lines_backup import Session, count_sessions, read_lines, write_lines

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
    """Write a backup to ``where`` (a new file, or a directory for one), verify it, and record it.

    A SQLite store gives a consistent copy of its database. JSON Lines are written for other stores, if ``portable`` is
    true, and for selected ``tenants``. Only the owner may read the file. ``advance`` is called for each session when it
    is written and again when it is verified. Raises ``CallerError`` if the file exists or fails verification.
    """
    form: Form = "sqlite" if isinstance(log, SqliteLog) and not portable and tenants is None else "lines"
    path = _target(where, form, now)
    if isinstance(log, SqliteLog) and form == "sqlite":
        log.copy(path)
        advance(sum(len(log.sessions(tenant)) for tenant in log.tenants() if tenant != BACKUPS_TENANT))
    else:
        write_lines(log, path, tenants, advance)
    backup = Backup(
        str(path), socket.gethostname(), form, now, sum(1 for _ in count_sessions(sessions_of(path), advance))
    )
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
    """Return the format of a backup, by its first bytes. Raises ``CallerError`` if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return "sqlite" if file.read(len(_SQLITE_HEAD)) == _SQLITE_HEAD else "lines"
    except OSError as error:
        raise CallerError(f"{path}: {error.strerror or error}") from None


def sessions_of(path: Path) -> Iterator[Session]:
    """Yield the sessions of a backup, without this package's own records.

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
        for tenant in log.tenants():
            if tenant != BACKUPS_TENANT:
                yield from ((info.key, log.read(info.key)) for info in log.sessions(tenant))


@dataclass(frozen=True, slots=True)
class TakenBack:
    """Result of a restore: number of sessions, number of events added, and the sessions that were skipped.

    A session is skipped if the store has different content under its id.
    """

    sessions: int
    events: int
    differ: tuple[SessionKey, ...]


def take_back(log: EventLog, path: Path, advance: Callable[[int], None] = lambda done: None) -> TakenBack:
    """Restore the sessions of a backup of any store into this one, with their times. ``advance`` is called for each.

    Existing events stay. Nothing is restored from a damaged file.
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
