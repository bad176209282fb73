"""Backup of all sessions as JSON Lines, which every store can write and restore.

A header, the exports of all sessions, and a last line with a digest of everything before it.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.model.event import Recorded
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.log import EventLog

from .exports import EXPORT_MARK, export_lines, line_of, read_export
from .known_backups import BACKUPS_TENANT

BACKUP_MARK: Final = "tokenmizer_backup"
BACKUP_VERSION: Final = 1

Session = tuple[SessionKey, list[Recorded]]


def write_lines(
    log: EventLog,
    path: Path,
    tenants: Collection[str] | None = None,
    advance: Callable[[int], None] = lambda done: None,
) -> int:
    """Write the sessions of ``tenants`` (``None``: of all) to a new file that only its owner can read; return their
    number.

    ``advance`` is called for each session. Each session is consistent in itself; different sessions may be of slightly
    different times. Raises ``OSError``.
    """
    return _write(path, count_sessions(_sessions(log, tenants), advance))


def count_sessions(sessions: Iterable[Session], advance: Callable[[int], None]) -> Iterator[Session]:
    """Yield the same sessions, and call ``advance`` after each."""
    for session in sessions:
        yield session
        advance(1)


def read_lines(path: Path) -> Iterator[Session]:
    """Yield the sessions of a backup. Raises ``CallerError`` for a damaged or foreign file."""
    with open(path, encoding="utf-8", errors="strict") as file:
        try:
            yield from _read(enumerate(file, 1))
        except UnicodeDecodeError:
            raise CallerError("not UTF-8 text") from None


def _sessions(log: EventLog, tenants: Collection[str] | None) -> Iterator[Session]:
    for tenant in log.tenants() if tenants is None else tenants:
        if tenant == BACKUPS_TENANT:
            continue
        for info in log.sessions(tenant):
            if events := log.read(info.key):
                yield info.key, events


def _write(path: Path, sessions: Iterable[Session]) -> int:
    """Write all of it or nothing: the file appears once it is whole and on the disk."""
    if path.exists():
        raise CallerError(f"{path}: exists already")
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="ascii", newline="\n") as file:
            count = _lines(file.write, sessions)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
    return count


def _lines(write: Callable[[str], object], sessions: Iterable[Session]) -> int:
    seen, count, total = hashlib.blake2b(digest_size=16), 0, 0

    def put(line: str) -> None:
        seen.update(f"{line}\n".encode())
        write(f"{line}\n")

    put(line_of({BACKUP_MARK: BACKUP_VERSION}))
    for key, events in sessions:
        count, total = count + 1, total + len(events)
        for line in export_lines(key.id, events, tenant=key.tenant):
            put(line)
    write(line_of({"sessions": count, "events": total, "digest": seen.hexdigest()}) + "\n")
    return count


def _read(lines: Iterator[tuple[int, str]]) -> Iterator[Session]:
    seen = hashlib.blake2b(digest_size=16)
    number, line = next(lines, (1, ""))
    if _value(line, number).get(BACKUP_MARK) != BACKUP_VERSION:
        raise CallerError("not a backup that this version can read")
    seen.update(line.encode())
    for count, (number, line) in enumerate(lines):
        heading = _value(line, number)
        if EXPORT_MARK not in heading:
            _require_whole(heading, count, seen.hexdigest())
            return
        seen.update(line.encode())
        block = [(number, heading)]
        for _ in range(int(heading.get("events", 0))):
            at, text = next(lines, (number, ""))
            seen.update(text.encode())
            block.append((at, _value(text, at)))
        yield SessionKey(str(heading.get("tenant")), str(heading["session"])), list(read_export(block).events)
    raise CallerError("cut short")


def _require_whole(trailer: dict[str, Any], count: int, digest: str) -> None:
    if (trailer.get("sessions"), trailer.get("digest")) != (count, digest):
        raise CallerError("damaged: its digest differs")


def _value(line: str, number: int) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise CallerError(f"line {number}: {'cut short' if not line else 'not what a backup holds'}")
    return found
