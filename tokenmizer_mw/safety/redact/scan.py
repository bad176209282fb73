"""The scan engine: one pass over the text stops where a secret may begin, and readers judge the text there.

The pass is an RE2 alternation of the beginnings of all rules. It runs through ordinary text at memory speed and stops
once per candidate; a set of the same beginnings then says which rules apply. A reader judges a bounded piece of text
and says where to continue. So the scan is linear: each stop has a bounded cost and moves on, and only a secret that was
found is followed to its end.

There are two alternations instead of one, because an automaton has a state for each combination of what its parts have
seen: credentials and names of values together would have many times as many states as both apart.

All rules of a redactor, and their compilation into one scanner.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

from tokenmizer_mw.safety.redact import forms, keyed, layouts, stated
from tokenmizer_mw.safety.redact.findings import FindingRank, LetThrough, PlaceReading, Reader, SecretSpan
from tokenmizer_mw.safety.redact.forms import PERSONAL, row
from tokenmizer_mw.safety.redact.judge import entropy
from tokenmizer_mw.safety.redact.layouts import BLOCKS
from tokenmizer_mw.safety.redact.pattern import StartSet, compile_pattern
from tokenmizer_mw.safety.redact.places import PlaceRule
from tokenmizer_mw.safety.redact.rules import PLACES, TOKENS
from tokenmizer_mw.safety.redact.rules.assignments import GATE
from tokenmizer_mw.safety.redact.rules.password_words import CHOSEN_GATE, PASS_GATE, STATED_GATE
from tokenmizer_mw.safety.redact.shape import RUN_EDGE, WORD_EDGE, Token, first, has_distinct

HEAD: Final = 512
"""Bytes of a candidate that decide which rules it is for."""

EDGE: Final = 2
"""Bytes before a place to look on that may be the edge of what begins there."""

GATE_MEMORY: Final = 256 << 20
"""Upper bound of what the automaton of one pass may use, in bytes. It takes some 50 MB after ten megabytes of code and
prose of many sorts; with a quarter of this it is thrown away and built again all the time, which takes twenty times as
long as reading."""

Row = tuple[str, Reader]
"""The beginning of something, as RE2, and the reader of what begins so."""

_SHORT: Final = 16
"""Bytes in which no credential that is known by itself has room."""
_NEVER: Final = sys.maxsize
_NOTHING: Final = r"[^\x00-\xff]"
_NOWHERE: Final = PlaceReading(0)
"""No rule means the place."""


class Scanner:
    """Rules compiled for scanning.

    ``shaped``: rules for credentials with a shape of their own, which are also searched inside of other findings, in
    groups of a required prefix and rows; ``begins``: the bytes that these rows can begin with; ``placed``: the other
    rules, in groups too.
    """

    __slots__ = ("_all", "_shaped")

    def __init__(
        self,
        shaped: Iterable[tuple[str, Iterable[Row]]],
        placed: Iterable[tuple[str, Iterable[Row]]],
        begins: frozenset[int],
    ) -> None:
        self._shaped = _Pass(shaped, begins)
        self._all = (self._shaped, _Pass(placed))

    def touches(self, text: bytes) -> bool:
        """Return whether a secret may begin anywhere in ``text``."""
        size = len(text)
        shaped, placed = self._all
        return shaped.gate.find(text, 0, size)[0][0] >= 0 or placed.gate.find(text, 0, size)[0][0] >= 0

    def spans(self, text: bytes) -> list[tuple[int, int]]:
        """Return the stretches in which a secret may begin, according to the first pass; in order, without overlaps."""
        return merge_spans([match.span() for one in self._all for match in one.gate.finditer(text)])

    def scan(self, text: bytes, first: int = 0, last: int = sys.maxsize) -> tuple[list[SecretSpan], list[LetThrough]]:
        """Return everything that begins in ``[first, last)`` and was judged, found or let through, in order of its
        start."""
        found: list[SecretSpan] = []
        refused: list[LetThrough] = []
        for start, reading, clear in _stops(self._all, text, first, min(last, len(text))):
            found += reading.found
            refused += reading.refused
            inside = clear < reading.resume and reading.resume - start > _SHORT
            if inside and all(one.rank < FindingRank.SHAPED for one in reading.found):
                for _, inner, _ in _stops((self._shaped,), text, clear, reading.resume):
                    found += inner.found
        return found, refused


def merge_spans(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the stretches in order, with overlapping ones merged."""
    apart: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if apart and start < apart[-1][1]:
            apart[-1] = apart[-1][0], max(end, apart[-1][1])
        else:
            apart.append((start, end))
    return apart


def _stops(passes: tuple[_Pass, ...], text: bytes, place: int, end: int) -> Iterator[tuple[int, PlaceReading, int]]:
    """Yield the places from ``place`` to ``end`` where one of ``passes`` stops, each behind the finding before it.

    Yields the place, what was read there, and the next place at which the first of the passes may stop.
    """
    last = min(len(text), end + HEAD)
    waiting = [one.next(text, place, last) for one in passes]
    while (stop := min(waiting)) < end:
        reading = join_readings(
            [one.look(text, stop) for start, one in zip(waiting, passes, strict=True) if start == stop]
        )
        yield stop, reading, max(waiting[0], stop + 1)
        while reading.found and (behind := _read_glued(passes, text, reading.resume)).found:
            yield reading.resume, behind, max(waiting[0], reading.resume + 1)
            reading = behind
        place = max(stop + 1, reading.resume - EDGE)
        for number, start in enumerate(waiting):
            if start < place:
                waiting[number] = passes[number].next(text, place, last)


def _read_glued(passes: tuple[_Pass, ...], text: bytes, start: int) -> PlaceReading:
    """What stands at ``start``, where a secret ends."""
    return join_readings([reading for one in passes if (reading := one.read_glued(text, start)).resume])


def join_readings(readings: list[PlaceReading]) -> PlaceReading:
    """Merge the results of several readers for one position. Findings decide where to continue, else the refusals."""
    if len(readings) < 2:
        return readings[0] if readings else _NOWHERE
    resume, behind = 0, 0
    found: tuple[SecretSpan, ...] = ()
    refused: tuple[LetThrough, ...] = ()
    for reading in readings:
        found += reading.found
        refused += reading.refused
        resume = max(resume, reading.resume)
        behind = max(behind, reading.resume) if reading.found else behind
    return PlaceReading(behind if found else resume, found, refused)


class _Group:
    """Rows that begin behind the same: ``edge`` is RE2 for it, "" for anything."""

    __slots__ = ("_edge", "_readers", "_starts", "gate")

    def __init__(self, edge: str, rows: Iterable[Row]) -> None:
        gates: dict[str, list[Reader]] = {}
        for gate, reader in rows:
            gates.setdefault(gate, []).append(reader)
        self._edge = compile_pattern(edge) if edge else None
        self._readers = list(gates.values())
        self._starts: StartSet | tuple[str, ...] = tuple(gates)
        self.gate = f"{edge}(?:{'|'.join(f'(?:{gate})' for gate in gates) or _NOTHING})"

    def look(self, text: bytes, start: int) -> PlaceReading:
        """Read what stands at ``start``, or behind the edge there."""
        if self._edge is None:
            return self.read(text, start)
        edge = self._edge.match(text, start)
        if edge is None:
            return _NOWHERE
        reading = self.read(text, edge.end())
        return reading if reading.resume or edge.end() <= start + 1 else self.read(text, start + 1)

    def read(self, text: bytes, start: int) -> PlaceReading:
        """Read what stands at ``start``, whatever stands before it."""
        head = text[start : start + HEAD]
        if isinstance(self._starts, tuple):  # compiled when first asked
            self._starts = StartSet(self._starts)
        return join_readings(
            [read(text, start) for index in self._starts.matching(head) for read in self._readers[index]]
        )


class _Pass:
    """The beginnings of some groups of rows as one alternation, and their readers."""

    __slots__ = ("_begins", "_edged", "_groups", "gate")

    def __init__(self, groups: Iterable[tuple[str, Iterable[Row]]], begins: frozenset[int] = frozenset()) -> None:
        self._begins = begins
        given = [(edge, tuple(rows)) for edge, rows in groups]
        self._groups = tuple(_Group(edge, rows) for edge, rows in given)
        edged = [row for edge, rows in given if edge for row in rows]
        self._edged = _Group("", edged) if edged else None
        self.gate = compile_pattern("|".join(group.gate for group in self._groups), GATE_MEMORY)

    def next(self, text: bytes, place: int, end: int) -> int:
        """Where the pass stops next from ``place`` on; behind every text when it does not."""
        start = self.gate.first(text, min(place, end), end)
        return _NEVER if start < 0 else start

    def look(self, text: bytes, start: int) -> PlaceReading:
        """Read what stands at ``start``, or behind the edges there."""
        return join_readings([reading for group in self._groups if (reading := group.look(text, start)).resume])

    def read_glued(self, text: bytes, start: int) -> PlaceReading:
        """Read what stands at ``start``, where a secret ends: no edge is needed before it."""
        if self._edged is None or start >= len(text) or text[start] not in self._begins:
            return _NOWHERE
        return self._edged.read(text, start)


_SCANNERS_MAX: Final = 8
"""Sets of rules whose compiled form is kept in a process."""


@dataclass(frozen=True)
class Custom:
    """A user's rule: an RE2 pattern whose first group is the secret (the whole match if it has no group).

    ``keywords``: the rule is only tried on texts that contain one of these lower-case words (empty for every text).
    ``floor``: least entropy of the secret in bits per character.
    """

    kind: str
    pattern: Any
    keywords: tuple[bytes, ...] = ()
    floor: float = 0.0

    def find(self, text: bytes) -> Iterator[SecretSpan]:
        """Yield every secret that the user's rule finds in ``text``."""
        if self.keywords and not any(word in text.lower() for word in self.keywords):
            return
        for match in self.pattern.finditer(text):
            start, end = match.span(1 if self.pattern.groups and match.group(1) is not None else 0)
            if start < end and entropy(text[start:end].decode("latin-1")) >= self.floor:
                yield SecretSpan(self.kind, start, end, "a rule of the user", FindingRank.OWN)


@dataclass(frozen=True)
class Rules:
    """The rule tables of a redactor; ``without`` names kinds that are switched off."""

    tokens: tuple[Token, ...] = TOKENS
    places: tuple[PlaceRule, ...] = PLACES
    custom: tuple[Custom, ...] = ()
    without: frozenset[str] = field(default_factory=frozenset)

    def scanner(self, *, pii: bool) -> Scanner:
        """Return the compiled rules, with those for personal data if ``pii`` is true.

        Compiled once per process, because that takes as long as scanning a megabyte, and a used automaton is faster.
        """
        return _scanner(replace(self, custom=()), pii)

    def compile_scanner(self, *, pii: bool) -> Scanner:
        """Compile the rules into a new scanner, without the cache that ``scanner`` uses."""
        shapes = [(token, shape) for token in self.tokens if token.kind not in self.without for shape in token.shapes]
        anywhere = [row(*one) for one in shapes if one[0].inside or one[0].around]
        words = [row(*one) for one in shapes if not (one[0].inside or one[0].around) and has_distinct(one[1])]
        runs = [row(*one) for one in shapes if not (one[0].inside or one[0].around or has_distinct(one[1]))]
        begins = frozenset(byte for _, shape in shapes for byte in first(shape).encode())
        return Scanner((("", anywhere), (WORD_EDGE, words), (RUN_EDGE, runs)), self._placed_rows(pii), begins)

    def kinds(self, *, pii: bool = True) -> frozenset[str]:
        """All kinds of findings in the tables; values found by name can have further ones."""
        known = {rule.kind for rule in (*self.tokens, *self.places, *self.custom, *(PERSONAL if pii else ()))}
        return frozenset(known) - self.without

    def _placed_rows(self, pii: bool) -> tuple[tuple[str, Iterable[Row]], ...]:
        places = [place for place in self.places if place.kind not in self.without]
        apart = [(place.gate, place.read) for place in places if place.apart]
        anywhere = [(place.gate, place.read) for place in places if not place.apart]
        return ("", [*anywhere, *self._rows(pii)]), (WORD_EDGE, [*apart, (PASS_GATE, stated.read_pass)])

    def _rows(self, pii: bool) -> Iterator[Row]:
        yield from BLOCKS
        yield GATE, keyed.read
        yield forms.MADE_UP_GATE, forms.read_made_up
        yield STATED_GATE, stated.read_passphrase
        yield CHOSEN_GATE, stated.read_stated
        yield layouts.TABLE_HEAD, layouts.read_table
        yield layouts.INSERT_HEAD, layouts.read_insert
        if pii:
            yield from ((rule.gate, rule.read) for rule in PERSONAL if rule.kind not in self.without)


@lru_cache(maxsize=_SCANNERS_MAX)
def _scanner(rules: Rules, pii: bool) -> Scanner:
    return rules.compile_scanner(pii=pii)


DEFAULT: Final = Rules()
"""The rules of this package."""
