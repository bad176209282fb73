"""Events put into a provider's stream as it passes: every event that stays as it is keeps its bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

import re2

from tokenmizer_mw.wire.sse import EVENT_MAX

Events = Sequence[bytes]

_END = re2.compile(rb"\r\n\r\n|\n\n|\r\r")
_LINE = re2.compile(rb"\r\n|\n|\r")
_NUMBER_MAX: Final = 2**53
_BEHIND: Final = 3
"""Bytes of what was looked at before that the end of an event may begin with."""


@dataclass(frozen=True, slots=True)
class StreamFrame:
    """One event of a stream as received, and its parsed data: ``None`` where the data is not JSON."""

    raw: bytes
    name: str
    data: Any


def event(name: str, data: Mapping[str, Any]) -> bytes:
    """An event with a name."""
    told = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"event: {name}\ndata: {told}\n\n".encode("utf-8", "replace")


def frame_event(frame: StreamFrame, data: Mapping[str, Any]) -> bytes:
    """The event with other data."""
    if frame.name:
        return event(frame.name, data)
    return b"data: " + json.dumps(data, ensure_ascii=False).encode("utf-8", "replace") + b"\n\n"


def is_number(value: object) -> TypeGuard[int]:
    """Whether a provider counts by ``value``: what is none stays as it came."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _NUMBER_MAX


class StreamEditor:
    """A stream on its way: bytes in any pieces, and every complete event as ``change`` has it. An event that is longer
    than may be passes unread, as all behind it."""

    def __init__(self, change: Callable[[StreamFrame], Events], event_max: int = EVENT_MAX) -> None:
        self._change = change
        self._event_max = event_max
        self._held = bytearray()
        self._looked = 0
        self._unread = False

    def feed(self, piece: bytes) -> bytes:
        """What may go on now."""
        if self._unread:
            return piece
        self._held += piece
        out: list[bytes] = []
        begins, looked = 0, self._looked
        for found in _END.finditer(bytes(self._held[looked:])):
            raw, begins = bytes(self._held[begins : looked + found.end()]), looked + found.end()
            out += [raw] if raw.isspace() else self._change_event(raw)
        del self._held[:begins]
        self._looked = max(0, len(self._held) - _BEHIND)
        if len(self._held) > self._event_max:
            self._unread = True
            out.append(self.end())
        return b"".join(out)

    def _change_event(self, raw: bytes) -> Events:
        try:
            return self._change(_read(raw))
        except (ValueError, RecursionError):  # what can be read and not be written
            return [raw]

    def end(self) -> bytes:
        """What was held back of an event that did not end."""
        rest = bytes(self._held)
        self._held.clear()
        return rest


def _read(raw: bytes) -> StreamFrame:
    name, data = "", []
    for line in _LINE.split(raw):
        field, _, value = line.partition(b":")
        if field == b"event":
            name = value.strip().decode("utf-8", "replace")
        elif field == b"data":
            data.append(value.removeprefix(b" "))
    try:
        return StreamFrame(raw, name, json.loads(b"\n".join(data)) if data else None)
    except (ValueError, RecursionError):
        return StreamFrame(raw, name, None)
