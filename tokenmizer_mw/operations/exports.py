"""Sessions as JSON Lines: one session as an export, or all sessions as a portable backup. Validated when they are read.

A backup has a header, the exports of all sessions, and a last line with a digest of everything before it.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw.errors import CallerError, Conflict
from tokenmizer_mw.model.event import Recorded, UnreadableEvent, decode, encode
from tokenmizer_mw.model.session import OWN_TENANTS, SessionKey
from tokenmizer_mw.store.log import EventLog

EXPORT_MARK: Final = "tokenmizer_export"
EXPORT_VERSION: Final = 1

BACKUPS_TENANT: Final = f"{OWN_TENANTS}backups"
"""The tenant whose sessions are the record of backups: one session for each backup."""


class SessionDiffers(CallerError):
    """Raised by ``restore`` if the session exists already and its events are not the first ones of the export. The
    message names the session."""


@dataclass(frozen=True, slots=True)
class Export:
    """The events of one session, read from an export. ``id``: the session that was exported."""

    id: str
    events: tuple[Recorded, ...]


def export_lines(id: str, events: Sequence[Recorded], **more: str) -> Iterator[str]:
    """Yield the lines of an export as JSON objects without newlines: a header with the session id ``id``, the number of
    events and the further members ``more``, then one line per event."""
    yield line_of({EXPORT_MARK: EXPORT_VERSION, "session": id, **more, "events": len(events)})
    for recorded in events:
        kind, version, payload = encode(recorded.event)
        place = {"seq": recorded.seq, "recorded_at": recorded.recorded_at, "kind": kind, "version": version}
        yield line_of({**place, "payload": json.loads(payload)})


def read_export(lines: Iterable[tuple[int, Any]]) -> Export:
    """Parse an export. ``lines``: pairs of a line number and the JSON value of the line; the first one is the header.
    Raises ``CallerError`` for an invalid line, which it names, for an export by a newer version, and if events are
    missing."""
    rest = iter(lines)
    heading = next(rest)[1]
    if heading[EXPORT_MARK] != EXPORT_VERSION:
        raise CallerError(f"line 1: written by a newer version of tokenmizer-mw ({heading[EXPORT_MARK]})")
    events = tuple(_read_recorded(value, number) for number, value in rest)
    if len(events) != heading.get("events"):
        raise CallerError(f"cut short: {len(events)} of {heading.get('events')} events")
    return Export(str(heading.get("session") or ""), events)


def restore(log: EventLog, key: SessionKey, events: Sequence[Recorded]) -> int:
    """Append the events of an export that the session does not have yet; return their number. Events that are older
    than the last one of the session get its time.

    Raises ``SessionDiffers`` if the events that it has are not the first ones of the export.
    """
    while True:
        held = log.read(key)
        if [one.event for one in held] != [one.event for one in events[: len(held)]]:
            raise SessionDiffers(
                f"session {key.id!r} exists and differs: import it into another session"
                " (on the command line --session NAME), or into another store"
            )
        news = events[len(held) :]
        end, ended_at = (held[-1].seq, held[-1].recorded_at) if held else (0, 0.0)
        dated = [replace(one, recorded_at=ended_at) if one.recorded_at < ended_at else one for one in news]
        try:
            log.load(key, renumber_events(dated, end), expected_seq=end)
        except Conflict:
            continue
        return len(news)


def renumber_events(events: Sequence[Recorded], after: int) -> Sequence[Recorded]:
    """Return ``events`` unchanged if the sequence number of the first one is above ``after`` (or there are none); else
    copies that are numbered ``after + 1``, ``after + 2`` and so on."""
    if not events or events[0].seq > after:
        return events
    return [replace(one, seq=seq) for seq, one in enumerate(events, after + 1)]


def _read_recorded(value: Any, number: int) -> Recorded:
    try:
        event = decode(value["kind"], value["version"], json.dumps(value["payload"]))
        recorded = Recorded(int(value["seq"]), float(value["recorded_at"]), event)
    except (KeyError, TypeError, ValueError, UnreadableEvent) as error:
        raise CallerError(f"line {number}: not an event of this version: {error}") from None
    if recorded.recorded_at < 0:
        raise CallerError(f"line {number}: recorded before 1970")
    return recorded


def line_of(value: Mapping[str, Any]) -> str:
    """Return ``value`` as a JSON object on one line, without blanks and without a newline at the end. Characters
    outside of ASCII are escaped."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


BACKUP_MARK: Final = "tokenmizer_backup"
BACKUP_VERSION: Final = 1
Session = tuple[SessionKey, list[Recorded]]


def write_lines(log: EventLog, path: Path, advance: Callable[[int], None] = lambda done: None) -> None:
    """Write all sessions to a new file that only its owner can read. It appears once it is whole and on the disk.

    ``advance`` is called with 1 for each session. Each session is consistent in itself; different sessions may be of
    slightly different times. Raises ``CallerError`` if the file exists, and ``OSError``.
    """
    if path.exists():
        raise CallerError(f"{path}: exists already")
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="ascii", newline="\n") as file:
            _lines(file.write, count_sessions(read_sessions(log), advance))
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def count_sessions(sessions: Iterable[Session], advance: Callable[[int], None]) -> Iterator[Session]:
    """Yield ``sessions`` unchanged. After each one, when the next is asked for, ``advance`` is called with 1."""
    for session in sessions:
        yield session
        advance(1)


def read_lines(path: Path) -> Iterator[Session]:
    """Yield the sessions of a backup in JSON Lines, each as its key and its events. Raises ``CallerError`` for a file
    that is damaged, cut short or no such backup, at the latest after the last session, and ``OSError`` if the file
    cannot be opened."""
    with open(path, encoding="utf-8", errors="strict") as file:
        try:
            yield from _read(enumerate(file, 1))
        except UnicodeDecodeError:
            raise CallerError("not UTF-8 text") from None


def own_sessions(log: EventLog) -> Iterator[SessionKey]:
    """Yield the keys of the sessions of all tenants, without the records of backups."""
    for tenant in log.tenants():
        if tenant != BACKUPS_TENANT:
            yield from (info.key for info in log.sessions(tenant))


def read_sessions(log: EventLog) -> Iterator[Session]:
    """Yield the sessions of all tenants, each as its key and its events, without the records of backups and without
    sessions that have no events."""
    yield from ((key, events) for key in own_sessions(log) if (events := log.read(key)))


def _lines(write: Callable[[str], object], sessions: Iterable[Session]) -> None:
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
