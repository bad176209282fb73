"""How the patterns of this package are compiled: RE2, linear in the text, without regard to case.

Texts are matched as bytes and groups decoded when asked for: most matches only need one of them. The compiled
expressions are asked themselves, as in ``redact.pattern``: most questions are small, and what ``re2`` wraps each of
them in takes longer than the answer.

Nothing is compiled before it is asked: compiling the patterns of all rules takes longer than all imports together. An
empty slot is a missing attribute, which ``__getattr__`` fills: what is compiled costs nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any, Final

import re2

from tokenmizer_mw.runtime.lazy import Ask, Asks, Spans, asks_of, re2_options
from tokenmizer_mw.safety.redact.pattern import matching_of

SET_MEMORY: Final = 16 << 20
"""Upper bound of the memory that one set of patterns may use for its automaton, in bytes; it is built as needed."""


class Match:
    """A match; positions are in characters of the text."""

    __slots__ = ("_groups", "_spans", "_text")

    def __init__(self, spans: Spans, groups: dict[str, int], text: bytes) -> None:
        self._spans, self._groups, self._text = spans, groups, text

    def group(self, name: str = "") -> str:
        """The text of a named group, "" when it took no part; without a name the whole match."""
        start, end = self._spans[self._groups[name] if name else 0]
        return self._text[start:end].decode("utf-8", "replace") if end > start else ""

    def start(self, name: str = "") -> int:
        """Where a named group (or the whole match) starts."""
        return self._at(self._spans[self._groups[name] if name else 0][0])

    def end(self, name: str = "") -> int:
        """Where a named group (or the whole match) ends."""
        return self._at(self._spans[self._groups[name] if name else 0][1])

    def _at(self, index: int) -> int:
        return len(self._text[:index].decode("utf-8", "replace"))


class Pattern:
    """A pattern with named groups."""

    __slots__ = ("_asks", "_groups", "_make", "groups")

    _asks: Asks
    _groups: dict[str, int]
    groups: frozenset[str]
    """Names of the groups."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> Any:
        if name not in _COMPILED:
            raise AttributeError(name)
        pattern = self._make()
        self._groups = dict(pattern.groupindex)
        self.groups = frozenset(self._groups)
        self._asks = asks_of(pattern)
        return object.__getattribute__(self, name)

    def match(self, text: str) -> Match | None:
        """A match at the start of ``text``."""
        return self._match_with(self._asks.begin, text)

    def search(self, text: str) -> Match | None:
        """The first match anywhere in ``text``."""
        return self._match_with(self._asks.find, text)

    def fullmatch(self, text: str) -> Match | None:
        """A match of the whole ``text``."""
        return self._match_with(self._asks.whole, text)

    def _match_with(self, ask: Ask, text: str) -> Match | None:
        raw = text.encode("utf-8", "replace")
        spans = ask(raw, 0, len(raw))
        return Match(spans, self._groups, raw) if spans[0][0] >= 0 else None


_COMPILED: Final = frozenset({"_asks", "_groups", "groups"})


@cache
def compile_lazily(pattern: str) -> Pattern:
    """The pattern, which is compiled when it is first asked: that raises ``re2.error`` when it is not RE2 syntax."""
    return Pattern(lambda: re2.compile(pattern, _options()))


class PatternSet:
    """A few patterns matched at the start of a text in one pass, case ignored. Cheaper than one pattern with groups,
    and so the way to ask for a plain yes or no as well."""

    __slots__ = ("_match", "_patterns")

    _match: Callable[[bytes], list[int] | None]

    def __init__(self, *patterns: str) -> None:
        self._patterns = patterns

    def __getattr__(self, name: str) -> Any:
        if name != "_match":
            raise AttributeError(name)
        made = re2.Set.MatchSet(_options(SET_MEMORY))
        for pattern in self._patterns:
            made.Add(pattern)
        made.Compile()
        self._match = matching_of(made)
        return self._match

    def matching(self, text: str) -> list[int]:
        """Indices of the patterns that match at the start of ``text``, ascending."""
        return sorted(self._match(text.encode("utf-8", "replace")) or ())

    def any(self, text: str) -> bool:
        """Whether some pattern matches at the start of ``text``."""
        return bool(self._match(text.encode("utf-8", "replace")))


class PatternTable:
    """Many patterns with named groups, matched at the start of a text, case ignored.

    A text is held against those patterns only whose words it has. One automaton for all of them would be in a new
    state at almost every character of a new sentence, and building states is what costs.
    """

    __slots__ = ("_filter", "_made", "_patterns")

    _filter: Any

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = tuple(patterns)
        self._made: dict[int, Pattern] = {}

    def __getattr__(self, name: str) -> Any:
        if name != "_filter":
            raise AttributeError(name)
        made = re2.Filter()
        for pattern in self._patterns:
            made.Add(rf"\A(?:{pattern})", _options())
        made.Compile()
        self._filter = made
        return made

    def __getitem__(self, number: int) -> Pattern:
        """One of the patterns. Raises ``IndexError``."""
        made = self._made.get(number)
        if made is None:
            if not 0 <= number < len(self._patterns):
                raise IndexError(number)
            made = self._made[number] = Pattern(partial(self._filter.re, number))
        return made

    def matching(self, text: str) -> list[int]:
        """Numbers of the patterns that match at the start of ``text``, ascending."""
        return sorted(self._filter.Match(text.encode("utf-8", "replace")) or ())

    def any(self, text: str) -> bool:
        """Whether some pattern matches at the start of ``text``."""
        return bool(self._filter.Match(text.encode("utf-8", "replace")))


def _options(memory: int = 0) -> Any:
    """How patterns are read. ``memory``: bytes of an automaton, 0 for RE2's own bound."""
    return re2_options(memory, case_sensitive=False)
