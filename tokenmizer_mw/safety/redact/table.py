"""All rules of a redactor, and their compilation into one scanner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

from . import columns, keyed, told
from .blocks import BLOCKS
from .found import FindingRank, SecretSpan
from .judge import entropy
from .personal import PERSONAL
from .places import PlaceRule
from .rule import Token
from .rules import PLACES, TOKENS
from .rules.assignments import GATE
from .scan import Row, Scanner
from .shape import RUN_EDGE, WORD_EDGE, distinct, first
from .tokens import row

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
        """Return every match in ``text``."""
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
        """Compile the rules anew."""
        shapes = [(token, shape) for token in self.tokens if token.kind not in self.without for shape in token.shapes]
        anywhere = [row(*one) for one in shapes if one[0].inside or one[0].around]
        words = [row(*one) for one in shapes if not (one[0].inside or one[0].around) and distinct(one[1])]
        runs = [row(*one) for one in shapes if not (one[0].inside or one[0].around or distinct(one[1]))]
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
        return ("", [*anywhere, *self._rows(pii)]), (WORD_EDGE, apart)

    def _rows(self, pii: bool) -> Iterator[Row]:
        yield from BLOCKS
        yield GATE, keyed.read
        yield told.GATE, told.read
        yield columns.HEAD, columns.read_table
        yield columns.INSERT, columns.read_insert
        if pii:
            yield from ((rule.gate, rule.read) for rule in PERSONAL if rule.kind not in self.without)


@lru_cache(maxsize=_SCANNERS_MAX)
def _scanner(rules: Rules, pii: bool) -> Scanner:
    return rules.compile_scanner(pii=pii)


DEFAULT: Final = Rules()
"""The rules of this package."""
