"""RE2 patterns that are compiled on first use, because compiling all of them takes longer than the imports."""

from __future__ import annotations

from typing import Any

import re2


class Expression:
    """An expression of ``re2``, with its methods. What was asked once is an attribute and costs nothing more."""

    def __init__(self, pattern: str | bytes) -> None:
        self._pattern = pattern

    def __getattr__(self, name: str) -> Any:
        """The method of that name. Raises ``re2.error`` when the pattern is not RE2 syntax."""
        made = getattr(re2.compile(self._pattern), name)
        setattr(self, name, made)
        return made


def expression(pattern: str | bytes) -> Any:
    """What ``re2.compile`` gives, compiled when it is first asked."""
    return Expression(pattern)
