"""How the patterns of redaction are compiled: RE2 over the bytes of a text, one byte one character.

Bytes above 127 are matched as they stand, so that a neighbour in any script is a boundary and positions cost nothing.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import re2

MEMORY: Final = 64 << 20
"""Upper bound of what one compiled pattern may use for its automaton, in bytes; it is built as needed."""


def _options(memory: int) -> Any:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.max_mem = memory
    return options


@cache
def compiled(pattern: str, memory: int = MEMORY) -> Any:
    """The pattern, ready to use on bytes. Raises ``re2.error`` when it is not RE2 syntax."""
    return re2.compile(pattern.encode(), _options(memory))


class StartSet:
    """Many patterns matched at the start of a text in one pass."""

    __slots__ = ("_set",)

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._set = re2.Set.MatchSet(_options(MEMORY))
        for pattern in patterns:
            self._set.Add(pattern.encode())
        self._set.Compile()

    def matching(self, text: bytes) -> list[int]:
        """Indices of the patterns that match at the start of ``text``, ascending."""
        return sorted(self._set.Match(text) or ())
