"""Stage "repeats": replaces blocks of lines that occurred before by a reference to them:
"[40 lines as in the output of Read a.py above, from ... to ...]".

All lines sent so far are indexed. A run of consecutive lines that also occurs in an earlier text, or earlier in the
same text, is replaced by a line that says where; new lines in between stay. A file that is read again costs only its
changes. Each line is looked up once and compared with a few positions, so the time is linear.

Lines are equal if every character is. Only consecutive line numbers may differ; the reference then states them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from .chat import ChatPassage, PassageKind
from .sorts import number_of, strip_number

CHARACTERS_MIN: Final = 240
"""Characters of the shortest run of lines that is replaced. A reference to a shorter one would be about as long."""

LINES_MAX: Final = 200_000
"""Largest number of lines in the index; further ones are looked up but not added."""

PLACES_MAX: Final = 4
"""Number of positions (the newest ones) at which a repeated run is looked for, if a line occurs often."""

_GONE: Final = "\n"
_OURS: Final = "\n\n"
"""Text that stands for a reference in the index (``_GONE``) and in the text that is looked up (``_OURS``). No line of a
text equals either, so that a reference never points to a reference."""
_REFERENCE: Final = re.compile(r"\[\d+ lines? as (?:in|above) ")
_COUNTS: Final = re.compile(r"(?m)^ {0,6}\d{1,6}[\t→:|]")
_QUOTE_MAX: Final = 60
_WEAK: Final = 8
"""A line with fewer characters (a brace, a blank line) is not looked up, but may be inside of a repeated run."""

Place = tuple[int, int]
"""The index of a text and of a line in it, from 0. The text -1 is the one that is being shortened."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a text as they are compared. ``texts``: the lines without their line numbers; ``numbers``: the line
    number of each line, ``None`` for a line without one; ``None`` as a whole if no line has one."""

    texts: list[str]
    numbers: list[int | None] | None = None

    def number(self, at: int) -> int | None:
        """Return the line number that stands at the beginning of line ``at``; ``None`` if it has none."""
        return None if self.numbers is None else self.numbers[at]


@dataclass(slots=True)
class ForwardedLines:
    """Index of the lines that were sent so far in a chat. ``learn`` adds to it; ``shorter`` only reads it.

    ``titles``, ``texts``: source and lines of each text; ``places``: newest positions of each line; ``held``: number of
    lines.
    """

    titles: list[str] = field(default_factory=list)
    texts: list[Lines] = field(default_factory=list)
    places: dict[str, tuple[Place, ...]] = field(default_factory=dict)
    held: int = 0

    def learn(self, passage: ChatPassage, text: str) -> None:
        """Add the lines of ``text``, which is what is sent of ``passage``. Does nothing if the index is full."""
        lines = _comparable_lines(text, text.split("\n"), _GONE)
        if self.held + len(lines.texts) > LINES_MAX:
            return
        self.titles.append(_title(passage))
        self.texts.append(lines)
        self.held += len(lines.texts)
        number = len(self.texts) - 1
        places = self.places
        for place, line in enumerate(lines.texts):
            if len(line) >= _WEAK:
                before = places.get(line)
                places[line] = ((number, place),) if before is None else (*before[1 - PLACES_MAX :], (number, place))

    def shorter(self, text: str) -> str:
        """Return ``text`` with runs of lines that were sent before replaced by references; the same object if there are
        none."""
        raw = text.split("\n")
        shorter = "\n".join(self._pieces(raw, _comparable_lines(text, raw, _OURS)))
        return shorter if len(shorter) < len(text) else text

    def _pieces(self, raw: Sequence[str], lines: Lines) -> Iterator[str]:
        """Yield the lines to send, with references instead of known runs. Lines that were sent unchanged can be
        referred to later in the same text."""
        own: dict[str, tuple[Place, ...]] = {}
        gone = Lines([], None if lines.numbers is None else [])
        texts, at = lines.texts, 0
        while at < len(texts):
            place, length = self._longest(lines, at, own, gone)
            if sum(map(len, texts[at : at + length])) >= CHARACTERS_MIN:
                yield self._describe_repeat(place, length, lines, at, gone)
                _put(gone, _GONE, None)  # what is left out here is not told by its place again
                at += length
                continue
            line = texts[at]
            if len(line) >= _WEAK:
                own[line] = (*own.get(line, ())[1 - PLACES_MAX :], (-1, len(gone.texts)))
            _put(gone, line, lines.number(at))
            yield raw[at]
            at += 1

    def _longest(self, lines: Lines, at: int, own: dict[str, tuple[Place, ...]], gone: Lines) -> tuple[Place, int]:
        """Return the position and length of the longest known run that equals the lines from ``at`` on; length 0 if
        there is none."""
        best, most = (0, 0), 0
        line = lines.texts[at]
        if len(line) < _WEAK:
            return best, most
        for number, place in (*self.places.get(line, ()), *own.get(line, ())):
            length = _common(lines, at, gone if number < 0 else self.texts[number], place)
            if length > most:
                best, most = (number, place), length
        return best, most

    def _describe_repeat(self, place: Place, length: int, lines: Lines, at: int, gone: Lines) -> str:
        where = "above here" if place[0] < 0 else f"in {self.titles[place[0]]} above"
        there = (gone if place[0] < 0 else self.texts[place[0]]).number(place[1])
        here = _numbering(lines.number(at), there, length)
        first, last = _quote(lines.texts[at]), _quote(lines.texts[at + length - 1])
        return f"[{length} {'lines' if length > 1 else 'line'} as {where}{here}, from {first} to {last}]"


def _put(lines: Lines, line: str, number: int | None) -> None:
    lines.texts.append(line)
    if lines.numbers is not None:
        lines.numbers.append(number)


def _numbering(here: int | None, there: int | None, length: int) -> str:
    """Return what a reference to ``length`` repeated lines says about their line numbers: "" if they are the same here
    as at the place that it refers to. ``here``, ``there``: number of the first line at both; ``None``: unnumbered."""
    if here == there:
        return ""
    return f", numbered {here} to {here + length - 1} here" if here is not None else ", without their numbers here"


def _common(lines: Lines, at: int, other: Lines, place: int) -> int:
    """Return how many lines are equal from ``at`` on in ``lines`` and from ``place`` on in ``other``, as long as each
    side is numbered without a gap or not numbered at all."""
    here, there = lines.texts, other.texts
    most = min(len(here) - at, len(there) - place)
    length = 0
    while length < most and here[at + length] == there[place + length]:
        length += 1
    return min(_count_numbered(lines.numbers, at, length), _count_numbered(other.numbers, place, length))


def _count_numbered(numbers: list[int | None] | None, at: int, length: int) -> int:
    """Return how many of ``length`` lines from ``at`` on are numbered consecutively, or not numbered at all."""
    if numbers is None or not length:
        return length
    first = numbers[at]
    return next((n for n in range(length) if numbers[at + n] != (None if first is None else first + n)), length)


def _comparable_lines(text: str, raw: Sequence[str], ours: str) -> Lines:
    """Return the lines of ``text`` as they are compared: without line numbers, and with ``ours`` instead of
    references."""
    texts = [ours if line[:1] == "[" and _REFERENCE.match(line) else line for line in raw] if "[" in text else list(raw)
    numbers = _count_up(raw) if _COUNTS.search(text) else None
    if numbers is None:
        return Lines(texts)
    bared = (line if number is None else strip_number(line) for line, number in zip(texts, numbers, strict=True))
    return Lines(list(bared), numbers)


def _count_up(raw: Sequence[str]) -> list[int | None] | None:
    """Return the line number of each line whose number continues the line before or is continued by the next; ``None``
    for other lines, and as a whole if no line has a number."""
    found = [number_of(line) for line in raw]
    if not any(number is not None for number in found):
        return None
    ahead, behind = [None, *found[:-1]], [*found[1:], None]
    return [
        number if number is not None and (number - 1 == before or number + 1 == after) else None
        for before, number, after in zip(ahead, found, behind, strict=True)
    ]


def _title(passage: ChatPassage) -> str:
    if passage.kind is PassageKind.RESULT:
        return f"the output of {passage.title}"
    return f"the call of {passage.title}" if passage.tool else "a message"


def _quote(line: str) -> str:
    stripped = line.strip()
    return repr(stripped if len(stripped) <= _QUOTE_MAX else stripped[: _QUOTE_MAX - 3] + "...")
