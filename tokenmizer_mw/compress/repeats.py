"""Blocks of lines that were there before, told by where they stand.

What was forwarded so far is known line by line. A run of lines that stands one behind the other in an earlier text, or
further up in the same one, gives way to a line that says where it is; what is new between such runs stays word for
word. So a file that is read again costs its changes. Each line is looked up once and compared with a few places: the
cost is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from .passage import Kind, Passage
from .sorts import bare, numbered

CHARACTERS_MIN: Final = 240
"""Characters of the shortest run that is told: a shorter one costs as much as the line that would stand for it."""

LINES_MAX: Final = 200_000
"""Lines that are known at most; what comes after is compared with them and not learned."""

PLACES_MAX: Final = 4
"""Places of a line that is there often at which a run is looked for: the newest ones."""

_GONE: Final = "\n"
_OURS: Final = "\r"
"""What stands for a line that tells a place: in what was forwarded, and in what is compared with it. No line of a text
is the one or the other, so that places are never told by places."""
_TOLD: Final = re.compile(r"\[\d+ lines? as (?:in|above) ")
_QUOTE_MAX: Final = 60
_WEAK: Final = 8
"""Characters of a line below which no run is looked for at it: braces, blank lines."""

Place = tuple[int, int]
"""The number of a text and of a line in it."""


@dataclass(slots=True)
class Forwarded:
    """What was forwarded so far, by line. Grows with ``learn``; ``shorter`` compares without learning."""

    titles: list[str] = field(default_factory=list)
    texts: list[list[str]] = field(default_factory=list)
    places: dict[str, tuple[Place, ...]] = field(default_factory=dict)
    held: int = 0

    def learn(self, passage: Passage, text: str) -> None:
        """``text`` is what of the passage is forwarded."""
        lines = _plain(text.split("\n"), _GONE)
        if self.held + len(lines) > LINES_MAX:
            return
        self.titles.append(_title(passage))
        self.texts.append(lines)
        self.held += len(lines)
        number = len(self.texts) - 1
        places = self.places
        for place, line in enumerate(lines):
            if len(line) >= _WEAK:
                before = places.get(line)
                places[line] = ((number, place),) if before is None else (*before[1 - PLACES_MAX :], (number, place))

    def shorter(self, text: str) -> str:
        """``text`` with the runs that are known told by their places; the same object when there are none."""
        raw = text.split("\n")
        lines = _plain(raw, _OURS)
        shorter = "\n".join(self._pieces(raw, lines))
        return shorter if len(shorter) < len(text) else text

    def _pieces(self, raw: Sequence[str], lines: list[str]) -> Iterator[str]:
        """The lines as they are forwarded. Those that went out are known in this text from then on."""
        own: dict[str, tuple[Place, ...]] = {}
        gone: list[str] = []
        at = 0
        while at < len(lines):
            place, length = self._longest(lines, at, own, gone)
            if sum(map(len, lines[at : at + length])) >= CHARACTERS_MIN:
                yield self._told(place, length, lines[at], lines[at + length - 1])
                gone.append(_GONE)  # what is left out here is not told by its place again
                at += length
                continue
            line = lines[at]
            if len(line) >= _WEAK:
                own[line] = (*own.get(line, ())[1 - PLACES_MAX :], (-1, len(gone)))
            gone.append(line)
            yield raw[at]
            at += 1

    def _longest(
        self, lines: list[str], at: int, own: dict[str, tuple[Place, ...]], gone: list[str]
    ) -> tuple[Place, int]:
        """The longest run from line ``at`` on that is known, and where it is."""
        best, most = (0, 0), 0
        line = lines[at]
        if len(line) < _WEAK:
            return best, most
        for number, place in (*self.places.get(line, ()), *own.get(line, ())):
            length = _common(lines, at, gone if number < 0 else self.texts[number], place)
            if length > most:
                best, most = (number, place), length
        return best, most

    def _told(self, place: Place, length: int, first: str, last: str) -> str:
        where = "above here" if place[0] < 0 else f"in {self.titles[place[0]]} above"
        return f"[{length} {'lines' if length > 1 else 'line'} as {where}, from {_quote(first)} to {_quote(last)}]"


def _common(lines: list[str], at: int, other: list[str], place: int) -> int:
    """How many lines are the same from ``at`` and, in ``other``, from ``place`` on."""
    most = min(len(lines) - at, len(other) - place)
    length = 0
    while length < most and lines[at + length] == other[place + length]:
        length += 1
    return length


def _plain(lines: list[str], ours: str) -> list[str]:
    """Lines as they are compared: without the numbers that readers of files put before them. ``ours`` stands for those
    that tell a place."""
    plain = [bare(line).rstrip() for line in lines] if numbered(lines) else [line.rstrip() for line in lines]
    return [ours if line[:1] == "[" and _TOLD.match(line) else line for line in plain]


def _title(passage: Passage) -> str:
    if passage.kind is Kind.RESULT:
        return f"the output of {passage.title}"
    return f"the call of {passage.title}" if passage.tool else "a message"


def _quote(line: str) -> str:
    said = line.strip()
    return repr(said if len(said) <= _QUOTE_MAX else said[: _QUOTE_MAX - 3] + "...")
