"""The log of a session as JSON Lines, and back: every event in its place, with the time it was recorded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.model.event import Recorded, UnreadableEvent, decode, encode
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.log import EventLog

EXPORT_MARK: Final = "tokenmizer_export"
EXPORT_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Export:
    """A log as read from a file. ``id`` is the session that it was written from."""

    id: str
    events: tuple[Recorded, ...]


@dataclass(slots=True)
class SetClock:
    """A clock that shows what it was set to: imported events keep the time at which they were recorded."""

    now: float = 0.0

    def __call__(self) -> float:
        """The time that was set."""
        return self.now


def export_lines(id: str, events: Sequence[Recorded]) -> Iterator[str]:
    """A heading and one line for every event, each without its newline."""
    yield _line({EXPORT_MARK: EXPORT_VERSION, "session": id, "events": len(events)})
    for recorded in events:
        kind, version, payload = encode(recorded.event)
        place = {"seq": recorded.seq, "recorded_at": recorded.recorded_at, "kind": kind, "version": version}
        yield _line({**place, "payload": json.loads(payload)})


def read_export(lines: Sequence[tuple[int, Any]]) -> Export:
    """The inverse of ``export_lines``, from pairs of line number and value. Raises ``CallerError`` with the line."""
    heading = lines[0][1]
    if heading[EXPORT_MARK] != EXPORT_VERSION:
        raise CallerError(f"line 1: written by a newer version of tokenmizer-mw ({heading[EXPORT_MARK]})")
    events = tuple(_recorded(value, number) for number, value in lines[1:])
    if len(events) != heading.get("events"):
        raise CallerError(f"cut short: {len(events)} of {heading.get('events')} events")
    return Export(str(heading.get("session") or ""), events)


def restore(
    log: EventLog, clock: SetClock, key: SessionKey, events: Sequence[Recorded], advance: Callable[[int], None]
) -> int:
    """Append what the session does not have yet; ``clock`` must be the log's. Returns how many events that were.
    ``advance`` is told of every step.

    Raises ``CallerError`` when the session holds something else.
    """
    held = log.read(key)
    if [event.event for event in held] != [event.event for event in events[: len(held)]]:
        raise CallerError(f"session {key.id!r} exists and differs: import into another one with --session")
    place = held[-1].seq if held else 0
    for recorded_at, group in groupby(events[len(held) :], lambda event: event.recorded_at):
        clock.now = recorded_at
        added = log.append(key, [event.event for event in group], expected_seq=place)
        place = added[-1].seq
        advance(len(added))
    return len(events) - len(held)


def _recorded(value: Any, number: int) -> Recorded:
    try:
        event = decode(value["kind"], value["version"], json.dumps(value["payload"]))
        return Recorded(int(value["seq"]), float(value["recorded_at"]), event)
    except (KeyError, TypeError, ValueError, UnreadableEvent) as error:
        raise CallerError(f"line {number}: not an event of this version: {error}") from None


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
