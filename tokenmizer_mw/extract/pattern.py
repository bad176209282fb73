"""How the patterns of this package are compiled: RE2, linear in the text, without regard to case.

Texts are matched as bytes and groups decoded when asked for: most matches only need one of them.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import re2

SET_MEMORY: Final = 256 << 20
"""Upper bound of the memory that one set of patterns may use for its automaton, in bytes; it is built as needed."""


class Match:
    """A match; positions are in characters of the text."""

    __slots__ = ("_found", "_groups", "_text")

    def __init__(self, found: Any, groups: dict[str, int], text: bytes) -> None:
        self._found, self._groups, self._text = found, groups, text

    def group(self, name: str = "") -> str:
        """The text of a named group, "" when it took no part; without a name the whole match."""
        said: bytes | None = self._found.group(self._groups[name] if name else 0)
        return said.decode("utf-8", "replace") if said else ""

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

    __slots__ = ("_groups", "_pattern")

    def __init__(self, pattern: str) -> None:
        options = re2.Options()
        options.case_sensitive = False
        options.log_errors = False
        self._pattern = re2.compile(pattern, options)
        self._groups: dict[str, int] = dict(self._pattern.groupindex)

    @property
    def groups(self) -> frozenset[str]:
        """Names of the groups."""
        return frozenset(self._groups)

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
    return Pattern(pattern)


class PatternSet:
    """Many patterns matched at the start of a text in one pass, case ignored. Cheaper than one pattern with groups,
    and so the way to ask for a plain yes or no as well."""

    __slots__ = ("_set",)

    def __init__(self, *patterns: str) -> None:
        options = re2.Options()
        options.case_sensitive = False
        options.log_errors = False
        options.max_mem = SET_MEMORY
        self._set = re2.Set.MatchSet(options)
        for pattern in patterns:
            self._set.Add(pattern)
        self._set.Compile()

    def matching(self, text: str) -> list[int]:
        """Indices of the patterns that match at the start of ``text``, ascending."""
        return sorted(self._set.Match(text.encode("utf-8", "replace")) or ())

    def any(self, text: str) -> bool:
        """Whether some pattern matches at the start of ``text``."""
        return self._set.Match(text.encode("utf-8", "replace")) is not None
