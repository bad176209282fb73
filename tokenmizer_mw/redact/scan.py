"""The engine: one pass over the text that stops where something may begin, and readers that judge what stands there.

The pass is an RE2 alternation of the beginnings of rules. It goes through ordinary text at memory speed and stops once
per candidate; a set of the same beginnings then says which rules mean this place. A reader looks at a bounded piece of
text, and says where to look on: behind what it has judged. So the whole is linear: each stop costs a bounded amount and
moves on, and only a secret that was found is followed to its end.

There are four alternations and not one, because an automaton has a state for each combination of what its parts have
seen: four small ones together are built in a fraction of the time of one for all.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final

from .found import Found, Rank, Reader, Reading, Refused
from .pattern import StartSet, compiled

HEAD: Final = 512
"""Bytes of a candidate that decide which rules it is for."""

EDGE: Final = 2
"""Bytes before a place to look on that may be the edge of what begins there."""

Row = tuple[str, Reader]
"""The beginning of something, as RE2, and the reader of what begins so."""

_SHORT: Final = 16
"""Bytes in which no credential that is known by itself has room."""
_NEVER: Final = sys.maxsize
_NOTHING: Final = r"[^\x00-\xff]"


class Scanner:
    """Rules compiled into passes. ``shaped`` are the passes for credentials that are known by themselves, which are
    also looked for inside of what others find: each has what must stand before its rows, and the rows. ``placed`` are
    the other rules."""

    __slots__ = ("_all", "_shaped")

    def __init__(self, shaped: Iterable[tuple[str, Iterable[Row]]], placed: Iterable[Row]) -> None:
        self._shaped = tuple(_Pass(edge, rows) for edge, rows in shaped)
        self._all = (*self._shaped, _Pass("", placed))

    def touches(self, text: bytes) -> bool:
        """Whether anything in ``text`` may begin a secret."""
        return any(one.gate.search(text) is not None for one in self._all)

    def spans(self, text: bytes) -> list[tuple[int, int]]:
        """Where something may begin a secret, as far as the first pass looks; in order, without overlaps."""
        return merged([match.span() for one in self._all for match in one.gate.finditer(text)])

    def scan(self, text: bytes) -> tuple[list[Found], list[Refused]]:
        """Everything that was found and everything that was looked at and let through, in order of their starts."""
        found: list[Found] = []
        refused: list[Refused] = []
        for start, reading in _stops(self._all, text, 0, len(text)):
            found += reading.found
            refused += reading.refused
            if reading.resume - start > _SHORT and all(one.rank < Rank.SHAPED for one in reading.found):
                for _, inner in _stops(self._shaped, text, start + 1, reading.resume):
                    found += inner.found
        return found, refused


def merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same stretches in order, those that overlap made one."""
    apart: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if apart and start < apart[-1][1]:
            apart[-1] = apart[-1][0], max(end, apart[-1][1])
        else:
            apart.append((start, end))
    return apart


def _stops(passes: tuple[_Pass, ...], text: bytes, place: int, end: int) -> Iterator[tuple[int, Reading]]:
    """Each stop of some passes before ``end``, and what stands there; each behind what was judged before."""
    last = min(len(text), end + HEAD)
    waiting = [(one.next(text, place, last), one) for one in passes]
    while (stop := min(waiting, key=_start)[0]) < end:
        readings = [one.look(text, stop) for start, one in waiting if start == stop]
        reading = joined(readings)
        yield stop, reading
        while reading.found and (behind := joined([one.glued(text, reading.resume) for one in passes])).found:
            yield reading.resume, behind
            reading = behind
        place = max(stop + 1, reading.resume - EDGE)
        waiting = [(start if start >= place else one.next(text, place, last), one) for start, one in waiting]


def _start(waiting: tuple[int, _Pass]) -> int:
    return waiting[0]


def joined(readings: list[Reading]) -> Reading:
    """What several readers make of one place. What was found says where to look on, else what was refused."""
    if len(readings) == 1:
        return readings[0]
    telling = [reading for reading in readings if reading.found] or readings
    found = tuple(one for reading in readings for one in reading.found)
    refused = tuple(one for reading in readings for one in reading.refused)
    return Reading(max((reading.resume for reading in telling), default=0), found, refused)


class _Pass:
    """One alternation of beginnings, and the readers by beginning. ``edge`` is RE2 for what stands before each: named
    once, it keeps the automaton small."""

    __slots__ = ("_edge", "_readers", "_starts", "gate")

    def __init__(self, edge: str, rows: Iterable[Row]) -> None:
        gates: dict[str, list[Reader]] = {}
        for gate, reader in rows:
            gates.setdefault(gate, []).append(reader)
        self._readers = list(gates.values())
        self._starts = StartSet(tuple(gates))
        self._edge: Any = compiled(edge) if edge else None
        self.gate: Any = compiled(f"{edge}(?:{'|'.join(f'(?:{gate})' for gate in gates) or _NOTHING})")

    def next(self, text: bytes, place: int, end: int) -> int:
        """Where the pass stops next from ``place`` on; behind every text when it does not."""
        match = self.gate.search(text, place, end)
        return _NEVER if match is None else int(match.start())

    def look(self, text: bytes, start: int) -> Reading:
        """Read what stands at ``start``, or behind the edge there."""
        if self._edge is None:
            return self._read(text, start)
        edge = self._edge.match(text, start)
        reading = self._read(text, edge.end())
        return reading if reading.resume or edge.end() <= start + 1 else self._read(text, start + 1)

    def glued(self, text: bytes, start: int) -> Reading:
        """Read what stands at ``start``, where a secret ends: nothing else is needed before it."""
        return Reading(start) if self._edge is None else self._read(text, start)

    def _read(self, text: bytes, start: int) -> Reading:
        head = text[start : start + HEAD]
        return joined([read(text, start) for index in self._starts.matching(head) for read in self._readers[index]])
