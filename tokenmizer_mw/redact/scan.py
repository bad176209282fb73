"""The engine: one pass over the text that stops where something may begin, and readers that judge what stands there.

The first pass is one RE2 alternation of the beginnings of all rules. It goes through ordinary text at memory speed and
stops once per candidate; a set of the same beginnings then says which rules mean this place. A reader looks at a
bounded piece of text, and says where to look on: behind what it has judged. So the whole is linear: each stop costs a
bounded amount and moves on, and only a secret that was found is followed to its end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from .found import Found, Rank, Reader, Reading, Refused
from .pattern import StartSet, compiled

HEAD: Final = 512
"""Bytes of a candidate that decide which rules it is for."""

EDGE: Final = 2
"""Bytes before a place to look on that may be the edge of what begins there."""

_SHORT: Final = 8


class Scanner:
    """Rules compiled into one pass. ``rows`` are beginnings and the readers of what begins so; ``shaped`` those of
    credentials that are known by themselves, which are also looked for inside of what others find."""

    __slots__ = ("_all", "_inner")

    def __init__(self, shaped: Iterable[tuple[str, Reader]], rows: Iterable[tuple[str, Reader]]) -> None:
        shaped = list(shaped)
        self._inner = _Pass(shaped)
        self._all = _Pass([*shaped, *rows])

    def touches(self, text: bytes) -> bool:
        """Whether anything in ``text`` may begin a secret."""
        return self._all.gate.search(text) is not None

    def spans(self, text: bytes) -> list[tuple[int, int]]:
        """Where something may begin a secret, as far as the first pass looks; in order, without overlaps."""
        return [match.span() for match in self._all.gate.finditer(text)]

    def scan(self, text: bytes) -> tuple[list[Found], list[Refused]]:
        """Everything that was found and everything that was looked at and let through, in order of their starts."""
        found: list[Found] = []
        refused: list[Refused] = []
        place = 0
        while (match := self._all.gate.search(text, place)) is not None:
            start = match.start()
            reading = self._all.look(text, start)
            found += reading.found
            refused += reading.refused
            if reading.resume - start > _SHORT and all(one.rank < Rank.SHAPED for one in reading.found):
                self._scan_inside(text, start + 1, reading.resume, found)
            place = max(start + 1, reading.resume - EDGE)
        return found, refused

    def _scan_inside(self, text: bytes, start: int, end: int, found: list[Found]) -> None:
        last = min(len(text), end + HEAD)
        while (match := self._inner.gate.search(text, start, last)) is not None and match.start() < end:
            reading = self._inner.look(text, match.start())
            found += reading.found
            start = max(match.start() + 1, reading.resume - EDGE)


class _Pass:
    """One alternation of beginnings, and the readers by beginning."""

    __slots__ = ("_readers", "_starts", "gate")

    def __init__(self, rows: list[tuple[str, Reader]]) -> None:
        gates: dict[str, list[Reader]] = {}
        for gate, reader in rows:
            gates.setdefault(gate, []).append(reader)
        self._readers = list(gates.values())
        self._starts = StartSet(tuple(gates))
        self.gate: Any = compiled("|".join(f"(?:{gate})" for gate in gates) or r"[^\x00-\xff]")

    def look(self, text: bytes, start: int) -> Reading:
        """Read what stands at ``start``. What was found there says where to look on, else what was refused."""
        readings = [
            read(text, start)
            for index in self._starts.matching(text[start : start + HEAD])
            for read in self._readers[index]
        ]
        telling = [reading for reading in readings if reading.found] or readings
        resume = max((reading.resume for reading in telling), default=start + 1)
        found = tuple(one for reading in readings for one in reading.found)
        return Reading(resume, found, tuple(one for reading in readings for one in reading.refused))
