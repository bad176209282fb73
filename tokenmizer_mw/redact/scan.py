"""The engine: one pass over the text that stops where something may begin, and readers that judge what stands there.

The first pass is one RE2 alternation of the beginnings of all rules. It goes through ordinary text at memory speed and
stops once per candidate; a set of the same beginnings then says which rules mean this place. A reader looks at a
bounded piece of text, and says where to look on: behind what it has judged. So the whole is linear: each stop costs a
bounded amount and moves on, and only a secret that was found is followed to its end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from .found import Found, Reader, Refused
from .pattern import StartSet, compiled
from .shape import EDGE_MAX

HEAD: Final = 512
"""Bytes of a candidate that decide which rules it is for."""


class Scanner:
    """Rules compiled into one pass. ``rows`` are beginnings and the readers of what begins so."""

    __slots__ = ("_gate", "_readers", "_starts")

    def __init__(self, rows: Iterable[tuple[str, Reader]]) -> None:
        gates: dict[str, list[Reader]] = {}
        for gate, reader in rows:
            gates.setdefault(gate, []).append(reader)
        self._readers = list(gates.values())
        self._starts = StartSet(tuple(gates))
        self._gate: Any = compiled("|".join(f"(?:{gate})" for gate in gates))

    def touches(self, text: bytes) -> bool:
        """Whether anything in ``text`` may begin a secret."""
        return self._gate.search(text) is not None

    def spans(self, text: bytes) -> list[tuple[int, int]]:
        """Where something may begin a secret, as far as the first pass looks; in order, without overlaps."""
        return [match.span() for match in self._gate.finditer(text)]

    def scan(self, text: bytes) -> tuple[list[Found], list[Refused]]:
        """Everything that was found and everything that was looked at and let through, in order of their starts."""
        found: list[Found] = []
        refused: list[Refused] = []
        place = 0
        while (match := self._gate.search(text, place)) is not None:
            start = match.start()
            place = max(start + 1, self._look(text, start, found, refused) - EDGE_MAX)
        return found, refused

    def _look(self, text: bytes, start: int, found: list[Found], refused: list[Refused]) -> int:
        """Read what stands at ``start``; returns where to look on."""
        resume, accepted = start + 1, False
        for index in self._starts.matching(text[start : start + HEAD]):
            for read in self._readers[index]:
                reading = read(text, start)
                found += reading.found
                refused += reading.refused
                if reading.found:
                    resume, accepted = max(resume, reading.resume) if accepted else reading.resume, True
                elif not accepted:
                    resume = max(resume, reading.resume)
        return resume
