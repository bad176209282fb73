"""Export of a session's log as JSON Lines, and restore: every event in order, with its recording time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tokenmizer_mw.errors import CallerError, Conflict
from tokenmizer_mw.model.event import Recorded, UnreadableEvent, decode, encode
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.log import EventLog

EXPORT_MARK: Final = "tokenmizer_export"
EXPORT_VERSION: Final = 1


class SessionDiffers(CallerError):
    """Raised if a session exists and does not begin like the events to restore."""


@dataclass(frozen=True, slots=True)
class Export:
    """A log read from a file. ``id``: the session that was exported."""

    id: str
    events: tuple[Recorded, ...]


def export_lines(id: str, events: Sequence[Recorded], **more: str) -> Iterator[str]:
    """Yield a header, which includes ``more``, and one line per event; without newlines."""
    yield line_of({EXPORT_MARK: EXPORT_VERSION, "session": id, **more, "events": len(events)})
    for recorded in events:
        kind, version, payload = encode(recorded.event)
        place = {"seq": recorded.seq, "recorded_at": recorded.recorded_at, "kind": kind, "version": version}
        yield line_of({**place, "payload": json.loads(payload)})


def read_export(lines: Iterable[tuple[int, Any]]) -> Export:
    """Parse what ``export_lines`` wrote, from pairs of line number and value. Raises ``CallerError`` that names the
    line."""
    rest = iter(lines)
    heading = next(rest)[1]
    if heading[EXPORT_MARK] != EXPORT_VERSION:
        raise CallerError(f"line 1: written by a newer version of tokenmizer-mw ({heading[EXPORT_MARK]})")
    events = tuple(_read_recorded(value, number) for number, value in rest)
    if len(events) != heading.get("events"):
        raise CallerError(f"cut short: {len(events)} of {heading.get('events')} events")
    return Export(str(heading.get("session") or ""), events)


def restore(log: EventLog, key: SessionKey, events: Sequence[Recorded]) -> int:
    """Append the events that the session does not have yet; return their number.

    Raises ``SessionDiffers`` if the session has different content.
    """
    while True:
        held = log.read(key)
        if [one.event for one in held] != [one.event for one in events[: len(held)]]:
            raise SessionDiffers(f"session {key.id!r} exists and differs: import into another one")
        news = events[len(held) :]
        end = held[-1].seq if held else 0
        try:
            log.load(key, renumber_events(news, end), expected_seq=end)
        except Conflict:
            continue
        return len(news)


def renumber_events(events: Sequence[Recorded], after: int) -> Sequence[Recorded]:
    """Return the events unchanged if their numbers are above ``after``; else renumbered from ``after + 1`` on."""
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
    """Return a JSON object on one line of ASCII."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
