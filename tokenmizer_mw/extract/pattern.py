"""How the patterns of this package are compiled: RE2, linear in the text, without regard to case.

Texts are matched as bytes and groups decoded when asked for: most matches only need one of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Final

import re2

SET_MEMORY: Final = 16 << 20
"""Upper bound of the memory that one set of patterns may use for its automaton, in bytes; it is built as needed."""


class Match:
    """A match; positions are in characters of the text."""

    __slots__ = ("_found", "_groups", "_text")

    def __init__(self, found: Any, groups: dict[str, int], text: bytes) -> None:
        self._found, self._groups, self._text = found, groups, text

    def group(self, name: str = "") -> str:
        """The text of a named group, "" when it took no part; without a name the whole match."""
        start, end = self._found.span(self._groups[name] if name else 0)
        return self._text[start:end].decode("utf-8", "replace") if end > start else ""

    def start(self, name: str = "") -> int:
        """Where a named group (or the whole match) starts."""
        return self._at(self._found.start(self._groups[name] if name else 0))

    def end(self, name: str = "") -> int:
        """Where a named group (or the whole match) ends."""
        return self._at(self._found.end(self._groups[name] if name else 0))

    def _at(self, index: int) -> int:
        return len(self._text[:index].decode("utf-8", "replace"))


class Pattern:
    """A pattern with named groups."""

    __slots__ = ("_groups", "_pattern", "groups")

    def __init__(self, pattern: Any) -> None:
        self._pattern = pattern
        self._groups: dict[str, int] = dict(pattern.groupindex)
        self.groups = frozenset(self._groups)
        """Names of the groups."""

    def match(self, text: str) -> Match | None:
        """A match at the start of ``text``."""
        return self._made(self._pattern.match, text)

    def search(self, text: str) -> Match | None:
        """The first match anywhere in ``text``."""
        return self._made(self._pattern.search, text)

    def fullmatch(self, text: str) -> Match | None:
        """A match of the whole ``text``."""
        return self._made(self._pattern.fullmatch, text)

    def _made(self, look: Any, text: str) -> Match | None:
        raw = text.encode("utf-8", "replace")
        found = look(raw)
        return Match(found, self._groups, raw) if found is not None else None


@cache
def compiled(pattern: str) -> Pattern:
    """The pattern, ready to use. Raises ``re2.error`` when it is not RE2 syntax."""
    return Pattern(re2.compile(pattern, _options()))


class PatternSet:
    """A few patterns matched at the start of a text in one pass, case ignored. Cheaper than one pattern with groups,
    and so the way to ask for a plain yes or no as well."""

    __slots__ = ("_set",)

    def __init__(self, *patterns: str) -> None:
        self._set = re2.Set.MatchSet(_options(SET_MEMORY))
        for pattern in patterns:
            self._set.Add(pattern)
        self._set.Compile()

    def matching(self, text: str) -> list[int]:
        """Indices of the patterns that match at the start of ``text``, ascending."""
        return sorted(self._set.Match(text.encode("utf-8", "replace")) or ())

    def any(self, text: str) -> bool:
        """Whether some pattern matches at the start of ``text``."""
        return self._set.Match(text.encode("utf-8", "replace")) is not None


class PatternTable:
    """Many patterns with named groups, matched at the start of a text, case ignored.

    A text is held against those patterns only whose words it has. One automaton for all of them would be in a new
    state at almost every character of a new sentence, and building states is what costs.
    """

    __slots__ = ("_filter", "_made")

    def __init__(self, patterns: Iterable[str]) -> None:
        self._filter = re2.Filter()
        for pattern in patterns:
            self._filter.Add(rf"\A(?:{pattern})", _options())
        self._filter.Compile()
        self._made: dict[int, Pattern] = {}

    def __getitem__(self, number: int) -> Pattern:
        """One of the patterns. Raises ``IndexError``."""
        made = self._made.get(number)
        if made is None:
            made = self._made[number] = Pattern(self._filter.re(number))
        return made

    def matching(self, text: str) -> list[int]:
        """Numbers of the patterns that match at the start of ``text``, ascending."""
        return sorted(self._filter.Match(text.encode("utf-8", "replace")) or ())


def _options(memory: int = 0) -> Any:
    """How patterns are read. ``memory``: bytes of an automaton, 0 for RE2's own bound."""
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    if memory:
        options.max_mem = memory
    return options
