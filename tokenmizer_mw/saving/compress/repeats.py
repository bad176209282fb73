"""Stage "repeats": replaces blocks of lines that occurred before by a reference to them.

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
"""Characters of the shortest run that is told: a shorter one costs as much as the line that would stand for it."""

LINES_MAX: Final = 200_000
"""Lines that are known at most; what comes after is compared with them and not learned."""

PLACES_MAX: Final = 4
"""Places of a line that is there often at which a run is looked for: the newest ones."""

_GONE: Final = "\n"
_OURS: Final = "\n\n"
"""What stands for a line that tells a place: in what was forwarded, and in what is compared with it. No line of a text
is the one or the other, so that places are never told by places."""
_REFERENCE: Final = re.compile(r"\[\d+ lines? as (?:in|above) ")
_COUNTS: Final = re.compile(r"(?m)^ {0,6}\d{1,6}[\t→:|]")
_QUOTE_MAX: Final = 60
_WEAK: Final = 8
"""Characters of a line below which no run is looked for at it: braces, blank lines."""

Place = tuple[int, int]
"""The number of a text and of a line in it."""


@dataclass(frozen=True, slots=True)
class Lines:
    """A text as it is compared. ``texts``: its lines without line numbers; ``numbers``: the line numbers, ``None`` for
    a line without one; ``None`` as a whole if no line has one."""

    texts: list[str]
    numbers: list[int | None] | None = None

    def number(self, at: int) -> int | None:
        """Return the line number that stands at the beginning of line ``at``; ``None`` if it has none."""
        return None if self.numbers is None else self.numbers[at]


@dataclass(slots=True)
class ForwardedLines:
    """Index of the lines sent so far. ``learn`` adds to it; ``shorter`` only reads it."""

    titles: list[str] = field(default_factory=list)
    texts: list[Lines] = field(default_factory=list)
    places: dict[str, tuple[Place, ...]] = field(default_factory=dict)
    held: int = 0

    def learn(self, passage: ChatPassage, text: str) -> None:
        """Add a passage; ``text`` is what is sent of it."""
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
        """Return ``text`` with known runs of lines replaced by references; the same object if there are none."""
        raw = text.split("\n")
        shorter = "\n".join(self._pieces(raw, _comparable_lines(text, raw, _OURS)))
        return shorter if len(shorter) < len(text) else text

    def _pieces(self, raw: Sequence[str], lines: Lines) -> Iterator[str]:
        """The lines as they are forwarded. Those that went out are known in this text from then on."""
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
        """The longest run from line ``at`` on that is known, and where it is."""
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
    """What a note says about the numbers of lines, where they are not those that stand at the place it tells."""
    if here == there:
        return ""
    return f", numbered {here} to {here + length - 1} here" if here is not None else ", without their numbers here"


def _common(lines: Lines, at: int, other: Lines, place: int) -> int:
    """How many lines are the same from ``at`` and, in ``other``, from ``place`` on, each numbered without a gap or not
    numbered at all."""
    here, there = lines.texts, other.texts
    most = min(len(here) - at, len(there) - place)
    length = 0
    while length < most and here[at + length] == there[place + length]:
        length += 1
    return min(_count_numbered(lines.numbers, at, length), _count_numbered(other.numbers, place, length))


def _count_numbered(numbers: list[int | None] | None, at: int, length: int) -> int:
    """How many of ``length`` lines from ``at`` on are numbered one after the other, or not numbered at all."""
    if numbers is None or not length:
        return length
    first = numbers[at]
    return next((n for n in range(length) if numbers[at + n] != (None if first is None else first + n)), length)


def _comparable_lines(text: str, raw: Sequence[str], ours: str) -> Lines:
    """Lines as they are compared: without the numbers that count them. ``ours`` stands for those that tell a place."""
    texts = [ours if line[:1] == "[" and _REFERENCE.match(line) else line for line in raw] if "[" in text else list(raw)
    numbers = _count_up(raw) if _COUNTS.search(text) else None
    if numbers is None:
        return Lines(texts)
    bared = (line if number is None else strip_number(line) for line, number in zip(texts, numbers, strict=True))
    return Lines(list(bared), numbers)


def _count_up(raw: Sequence[str]) -> list[int | None] | None:
    """The numbers of lines that count on from the line before, or up to the line behind; ``None`` for no such line."""
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
