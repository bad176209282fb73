"""How the patterns of this package are compiled: RE2, linear in the text, without regard to case."""

from __future__ import annotations

from functools import cache
from typing import Any, Final, Protocol

import re2

SET_MEMORY: Final = 256 << 20
"""Upper bound of the memory that one set of patterns may use for its automaton, in bytes; it is built as needed."""


class Match(Protocol):
    """What is used of a match. Positions are in characters."""

    def group(self, group: int | str = 0) -> Any:
        """The text of a group, ``None`` when it took no part."""

    def start(self, group: int = 0) -> int:
        """Where a group starts."""

    def end(self, group: int = 0) -> int:
        """Where a group ends."""


class Pattern(Protocol):
    """What is used of a compiled pattern."""

    def match(self, text: str) -> Match | None:
        """A match at the start of ``text``."""

    def search(self, text: str) -> Match | None:
        """The first match anywhere."""

    def fullmatch(self, text: str) -> Match | None:
        """A match of the whole ``text``."""


@cache
def compiled(pattern: str, *, cased: bool = False) -> Pattern:
    """The pattern, ready to use. Raises ``re2.error`` when it is not RE2 syntax."""
    options = re2.Options()
    options.case_sensitive = cased
    options.log_errors = False
    return re2.compile(pattern, options)  # type: ignore[no-any-return]


class PatternSet:
    """Many patterns matched at the start of a text in one pass."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
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
        return sorted(self._set.Match(text) or ())
