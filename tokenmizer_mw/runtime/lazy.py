"""RE2 options, and patterns that are compiled on first use, because compiling all of them takes longer than the
imports. Their match functions skip the Python wrapper of ``re2``, which takes longer than most matches.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import re2

Spans = list[tuple[int, int]]
"""Where the match and each of its groups stand; (-1, -1) for a group without a part in it, and for no match at all."""

Ask = Callable[[bytes, int, int], Spans]
"""Where an expression matches a text between two places."""

_NOWHERE: Final = (-1, -1)


class Asks(NamedTuple):
    """The match functions of a compiled expression: anywhere, at the start, and of the whole text."""

    find: Ask
    begin: Ask
    whole: Ask


def asks_of(made: Any) -> Asks:
    """Return the match functions of the expression inside the wrapper ``made``; those of the wrapper if it does not
    expose it.
    """
    try:
        ask, anchor = made._regexp.Match, made._regexp.Anchor
        asks = Asks(*(partial(ask, how) for how in (anchor.UNANCHORED, anchor.ANCHOR_START, anchor.ANCHOR_BOTH)))
        _ = [one(b"", 0, 0) for one in asks]
    except (AttributeError, TypeError):
        return Asks(*(partial(_spans, ask) for ask in (made.search, made.match, made.fullmatch)))
    return asks


def _spans(ask: Callable[[bytes, int, int], Any], text: bytes, start: int, end: int) -> Spans:
    """The same of the wrapper's own functions."""
    match = ask(text, start, end)
    return [match.span(group) for group in range(len(match.groups()) + 1)] if match is not None else [_NOWHERE]


class Expression:
    """A lazily compiled ``re2`` expression, with the same methods. Each method is cached as an attribute at first use.

    ``find`` and ``begin``: the match functions of the expression itself, anywhere and at the start, which return spans.
    """

    def __init__(self, pattern: str | bytes) -> None:
        self._pattern = pattern

    def __getattr__(self, name: str) -> Any:
        """The method of that name. Raises ``re2.error`` when the pattern is not RE2 syntax."""
        compiled = re2.compile(self._pattern)
        made = getattr(asks_of(compiled) if name in ("find", "begin") else compiled, name)
        setattr(self, name, made)
        return made


def re2_options(memory: int = 0, **more: Any) -> Any:
    """Return options of RE2 without its own log lines. ``memory``: bytes that a pattern may take, 0 for RE2's bound;
    ``more``: further options by their names."""
    options = re2.Options()
    options.log_errors = False
    if memory:
        options.max_mem = memory
    for name, value in more.items():
        setattr(options, name, value)
    return options


def expression(pattern: str | bytes) -> Any:
    """Return what ``re2.compile`` returns for ``pattern``, but compile it only at first use."""
    return Expression(pattern)
