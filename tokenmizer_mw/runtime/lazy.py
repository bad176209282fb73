"""RE2 options, and patterns that are compiled on first use, because compiling all of them takes longer than importing
the package. Their match functions skip the Python wrapper of ``re2``, which takes longer than most matches."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import re2

Spans = list[tuple[int, int]]
"""Start and end of a match, followed by those of its groups, in bytes. (-1, -1) stands for a group that did not take
part, and at the first place for no match."""

Ask = Callable[[bytes, int, int], Spans]
"""Match function of a pattern: gets the text (UTF-8 bytes) and the start and end of the part to look at; returns
``Spans``."""

_NOWHERE: Final = (-1, -1)


class Asks(NamedTuple):
    """The match functions of a compiled pattern: ``find`` matches anywhere in the part of the text to look at,
    ``begin`` only at its start, ``whole`` only all of it."""

    find: Ask
    begin: Ask
    whole: Ask


def matching_of(made: Any) -> Callable[[bytes], list[int] | None]:
    """Return the match function of ``made``, a compiled ``re2.Set``.

    It gets a text (bytes), and returns the indices of the patterns that match, in any order; ``None`` or an empty list
    if none does.
    """
    inner: Any = getattr(made, "_set", made)
    match: Callable[[bytes], list[int] | None] = inner.Match
    return match


def asks_of(made: Any) -> Asks:
    """Return the match functions of ``made``, a pattern compiled by ``re2``. They call RE2 directly; if this version of
    ``re2`` does not allow that, they call the methods of ``made``."""
    try:
        ask, anchor = made._regexp.Match, made._regexp.Anchor
        asks = Asks(*(partial(ask, how) for how in (anchor.UNANCHORED, anchor.ANCHOR_START, anchor.ANCHOR_BOTH)))
        _ = [one(b"", 0, 0) for one in asks]
    except (AttributeError, TypeError):
        return Asks(*(partial(_spans, ask) for ask in (made.search, made.match, made.fullmatch)))
    return asks


def _spans(ask: Callable[[bytes, int, int], Any], text: bytes, start: int, end: int) -> Spans:
    """Call ``ask``, a match method of a compiled ``re2`` pattern, for the part of ``text`` from ``start`` to ``end``.
    Return the spans of the match and its groups; ``[(-1, -1)]`` if there is no match."""
    match = ask(text, start, end)
    return [match.span(group) for group in range(len(match.groups()) + 1)] if match is not None else [_NOWHERE]


class Expression:
    """A pattern that is compiled by ``re2`` when one of its methods is first used. It has the methods of a compiled
    ``re2`` pattern, such as ``search`` and ``finditer``.

    Two faster methods are added: ``find`` (matches anywhere) and ``begin`` (only at the start). They get UTF-8 bytes
    and the start and end of the part to look at, and return ``Spans``.
    """

    def __init__(self, pattern: str | bytes) -> None:
        self._pattern = pattern

    def __getattr__(self, name: str) -> Any:
        """Compile the pattern, and return its method or attribute ``name``. Raises ``re2.error`` if the pattern is not
        valid in RE2, and ``AttributeError`` for an unknown name."""
        compiled = re2.compile(self._pattern)
        made = getattr(asks_of(compiled) if name in ("find", "begin") else compiled, name)
        setattr(self, name, made)
        return made


def re2_options(memory: int = 0, **more: Any) -> Any:
    """Return options for ``re2.compile`` that switch off RE2's own log lines. ``memory``: bytes that a compiled pattern
    may take, 0 for RE2's default; ``more``: further options by name."""
    options = re2.Options()
    options.log_errors = False
    if memory:
        options.max_mem = memory
    for name, value in more.items():
        setattr(options, name, value)
    return options


def expression(pattern: str | bytes) -> Any:
    """Return a pattern that is used like the result of ``re2.compile``, but is compiled at its first use. An invalid
    pattern raises ``re2.error`` only then."""
    return Expression(pattern)
