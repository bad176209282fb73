"""The scan engine: a first pass finds where a secret may begin, and readers judge the text there.

The first pass is one RE2 pattern with the beginnings of all rules as alternatives. It runs through ordinary text at
memory speed and stops only where one matches; a set of the same beginnings then shows which rules apply. The reader of
such a rule judges a bounded piece of text and returns where to continue. So the scan is linear: each stop has a bounded
cost and moves on, and only a secret that was found is followed to its end.

There are two such patterns instead of one, because an automaton has a state for each combination of what its parts have
seen: credentials with a shape and names of values together would have many times as many states as both separately.

This module also collects all rules of a redactor, and compiles them into one scanner.
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
"""Bytes from a stop of the first pass on that decide which rules apply there."""

EDGE: Final = 2
"""Bytes before the position where a scan continues that the first pass sees again, because they may be the word
boundary that a rule needs there."""

GATE_MEMORY: Final = 256 << 20
"""Most bytes of memory that RE2 may use for one of the two patterns. It uses some 50 MB after ten megabytes of code and
prose of many sorts. With a quarter of this limit the automaton would be discarded and built again all the time, which
takes twenty times as long as reading."""

Row = tuple[str, Reader]
"""A rule for the scan: RE2 for the beginning of a possible secret, and the reader that judges the text there."""

_SHORT: Final = 16
"""Length in bytes up to which no credential with a shape of its own can be inside of a finding."""
_NEVER: Final = sys.maxsize
_NOTHING: Final = r"[^\x00-\xff]"
_NOWHERE: Final = PlaceReading(0)
"""Result for a position to which no rule applies."""


class Scanner:
    """Rules compiled for scanning, in two sets. A set consists of groups: pairs of a pattern (RE2) and the rules that
    apply only after a match of it; "" matches everywhere.

    - ``shaped``: rules for credentials with a shape of their own, which are also searched for inside of other findings.
    - ``placed``: all other rules, such as for a password after its name.
    - ``begins``: the bytes with which a credential of ``shaped`` can begin.
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
        """Return whether a secret may begin anywhere in ``text`` (UTF-8). A fast check: true may be wrong, false never
        is."""
        size = len(text)
        shaped, placed = self._all
        return shaped.gate.find(text, 0, size)[0][0] >= 0 or placed.gate.find(text, 0, size)[0][0] >= 0

    def spans(self, text: bytes) -> list[tuple[int, int]]:
        """Return the spans, in bytes of ``text``, at which the first pass stops, in order and without overlaps. A
        secret can only begin in them."""
        return merge_spans([match.span() for one in self._all for match in one.gate.finditer(text)])

    def scan(self, text: bytes, first: int = 0, last: int = sys.maxsize) -> tuple[list[SecretSpan], list[LetThrough]]:
        """Return the secrets that begin in ``[first, last)`` of ``text``, and the texts there that were judged to be
        none. Positions are in bytes of the whole ``text``; secrets may overlap."""
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
    """Return the spans in order, with overlapping ones merged; spans that only touch stay separate."""
    apart: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if apart and start < apart[-1][1]:
            apart[-1] = apart[-1][0], max(end, apart[-1][1])
        else:
            apart.append((start, end))
    return apart


def _stops(passes: tuple[_Pass, ...], text: bytes, place: int, end: int) -> Iterator[tuple[int, PlaceReading, int]]:
    """Yield the positions in ``[place, end)`` at which one of ``passes`` stops, each behind the finding before it.

    Each is yielded as the position, what was read there, and the next position at which the first of the passes may
    stop.
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
    """Read what follows directly after a secret, at ``start``."""
    return join_readings([reading for one in passes if (reading := one.read_glued(text, start)).resume])


def join_readings(readings: list[PlaceReading]) -> PlaceReading:
    """Merge the results of several readers for one position. The scan continues at the furthest position of those that
    found a secret; if none did, at the furthest of all. No readings: ``resume`` is 0."""
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
    """Rules that need the same before them: ``edge`` is RE2 for that, "" for anything."""

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
        """Judge the text at ``start``, or behind the ``edge`` that stands there."""
        if self._edge is None:
            return self.read(text, start)
        edge = self._edge.match(text, start)
        if edge is None:
            return _NOWHERE
        reading = self.read(text, edge.end())
        return reading if reading.resume or edge.end() <= start + 1 else self.read(text, start + 1)

    def read(self, text: bytes, start: int) -> PlaceReading:
        """Judge the text at ``start``, whatever stands before it."""
        head = text[start : start + HEAD]
        if isinstance(self._starts, tuple):  # compiled when first asked
            self._starts = StartSet(self._starts)
        return join_readings(
            [read(text, start) for index in self._starts.matching(head) for read in self._readers[index]]
        )


class _Pass:
    """One alternation of the beginnings of all rules in some groups, with their readers."""

    __slots__ = ("_begins", "_edged", "_groups", "gate")

    def __init__(self, groups: Iterable[tuple[str, Iterable[Row]]], begins: frozenset[int] = frozenset()) -> None:
        self._begins = begins
        given = [(edge, tuple(rows)) for edge, rows in groups]
        self._groups = tuple(_Group(edge, rows) for edge, rows in given)
        edged = [row for edge, rows in given if edge for row in rows]
        self._edged = _Group("", edged) if edged else None
        self.gate = compile_pattern("|".join(group.gate for group in self._groups), GATE_MEMORY)

    def next(self, text: bytes, place: int, end: int) -> int:
        """Return the next position from ``place`` on at which the pass stops; a number above every position if it does
        not."""
        start = self.gate.first(text, min(place, end), end)
        return _NEVER if start < 0 else start

    def look(self, text: bytes, start: int) -> PlaceReading:
        """Judge the text at ``start``, or behind the word boundary that stands there."""
        return join_readings([reading for group in self._groups if (reading := group.look(text, start)).resume])

    def read_glued(self, text: bytes, start: int) -> PlaceReading:
        """Judge the text at ``start``, where a secret ends: the word boundary that its rule needs is not required
        there."""
        if self._edged is None or start >= len(text) or text[start] not in self._begins:
            return _NOWHERE
        return self._edged.read(text, start)


_SCANNERS_MAX: Final = 8
"""Number of compiled sets of rules that a process keeps."""


@dataclass(frozen=True)
class Custom:
    """A user's rule: an RE2 pattern whose first group is the secret (the whole match if it has no group).

    - ``kind``: the kind of secret, as in the placeholder.
    - ``keywords``: the rule is only tried on texts that contain one of these lower-case words, in any case; empty: on
      every text.
    - ``floor``: least entropy of the secret in bits per character; 0 for no condition.
    """

    kind: str
    pattern: Any
    keywords: tuple[bytes, ...] = ()
    floor: float = 0.0

    def find(self, text: bytes) -> Iterator[SecretSpan]:
        """Yield every secret that the user's rule finds in ``text``, in order."""
        if self.keywords:
            lowered = text.lower()
            if not any(word in lowered for word in self.keywords):
                return
        for match in self.pattern.finditer(text):
            start, end = match.span(1 if self.pattern.groups and match.group(1) is not None else 0)
            if start < end and entropy(text[start:end].decode("latin-1")) >= self.floor:
                yield SecretSpan(self.kind, start, end, "a rule of the user", FindingRank.OWN)


@dataclass(frozen=True)
class Rules:
    """The rules of a redactor.

    - ``tokens``: credentials with a shape of their own. ``places``: secrets that are recognised by their position.
    - ``custom``: the user's rules. ``without``: kinds that are switched off.
    """

    tokens: tuple[Token, ...] = TOKENS
    places: tuple[PlaceRule, ...] = PLACES
    custom: tuple[Custom, ...] = ()
    without: frozenset[str] = field(default_factory=frozenset)

    def scanner(self, *, pii: bool) -> Scanner:
        """Return the compiled rules, without the user's (``custom``), and with those for personal data if ``pii`` is
        true.

        The result is cached per process, because compiling takes as long as scanning a megabyte, and a used automaton
        is faster.
        """
        return _scanner(replace(self, custom=()), pii)

    def compile_scanner(self, *, pii: bool) -> Scanner:
        """Do what ``scanner`` does, but compile the rules anew, without its cache."""
        shapes = [(token, shape) for token in self.tokens if token.kind not in self.without for shape in token.shapes]
        anywhere = [row(*one) for one in shapes if one[0].inside or one[0].around]
        words = [row(*one) for one in shapes if not (one[0].inside or one[0].around) and has_distinct(one[1])]
        runs = [row(*one) for one in shapes if not (one[0].inside or one[0].around or has_distinct(one[1]))]
        begins = frozenset(byte for _, shape in shapes for byte in first(shape).encode())
        return Scanner((("", anywhere), (WORD_EDGE, words), (RUN_EDGE, runs)), self._placed_rows(pii), begins)

    def kinds(self, *, pii: bool = True) -> frozenset[str]:
        """Return the kinds of secrets of all rules that are not switched off; those of personal data are left out if
        ``pii`` is false. A secret that is recognised by its name may have another kind, such as "openai-secret"."""
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
