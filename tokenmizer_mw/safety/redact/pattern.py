"""Compiles redaction patterns: RE2 over the bytes of a text, with each byte as one character.

Bytes above 127 are matched as they are. So a letter of any other script next to a match is a word boundary, and
positions need no conversion.

A redactor runs thousands of small matches; the generator and match object of the ``re2`` wrapper would take twice as
long as the match itself. ``BytePattern`` therefore calls RE2 directly if the wrapper allows it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import re2

from tokenmizer_mw.runtime.lazy import Ask, Spans, asks_of, matching_of, re2_options

MEMORY: Final = 64 << 20
"""Most bytes of memory that RE2 may use for one compiled pattern."""


class ByteMatch:
    """A match; positions are in bytes of the text. Groups are counted from 1; group 0, the default of all methods, is
    the whole match."""

    __slots__ = ("_text", "spans")

    def __init__(self, text: bytes, spans: Spans) -> None:
        self._text, self.spans = text, spans

    def start(self, group: int = 0) -> int:
        """Return the start of a group; -1 if the group did not match."""
        return self.spans[group][0]

    def end(self, group: int = 0) -> int:
        """Return the end of a group; -1 if the group did not match."""
        return self.spans[group][1]

    def span(self, group: int = 0) -> tuple[int, int]:
        """Return start and end of a group; (-1, -1) if the group did not match."""
        return self.spans[group]

    def group(self, group: int = 0) -> bytes:
        """Return the bytes of a group; b"" if the group did not match."""
        start, end = self.spans[group]
        return self._text[start:end] if start >= 0 else b""


class BytePattern:
    """A compiled pattern. Its methods search in ``[start, end)`` of a text, but ``^`` and ``$`` match only the ends of
    the whole text."""

    __slots__ = ("_begin", "find")

    find: Ask
    """Function that returns the ``Spans`` of the first match in ``[start, end)`` of a text, without making a match
    object; it is called with the text, ``start`` and ``end``. Without a match, the first position is negative."""
    _begin: Ask

    def __init__(self, made: Any) -> None:
        self.find, self._begin, _ = asks_of(made)

    def search(self, text: bytes, start: int = 0, end: int = sys.maxsize) -> ByteMatch | None:
        """Return the first match; ``None`` if there is none."""
        spans = self.find(text, start, min(end, len(text)))
        return ByteMatch(text, spans) if spans[0][0] >= 0 else None

    def match(self, text: bytes, start: int = 0, end: int = sys.maxsize) -> ByteMatch | None:
        """Return the match that begins at ``start``; ``None`` if there is none."""
        spans = self._begin(text, start, min(end, len(text)))
        return ByteMatch(text, spans) if spans[0][0] >= 0 else None

    def first(self, text: bytes, start: int, end: int) -> int:
        """Return the start of the first match in ``[start, end)``; -1 if there is none. ``end`` must not be behind the
        end of the text."""
        return self.find(text, start, end)[0][0]

    def reach(self, text: bytes, start: int, end: int) -> int:
        """Return the end of the match that begins at ``start``; ``start`` if there is none. ``end`` must not be behind
        the end of the text."""
        return max(start, self._begin(text, start, end)[0][1])

    def finditer(self, text: bytes) -> Iterator[ByteMatch]:
        """Yield all matches, without overlaps."""
        find, place, end = self.find, 0, len(text)
        while place <= end:
            spans = find(text, place, end)
            first, last = spans[0]
            if first < 0:
                return
            yield ByteMatch(text, spans)
            place = last if last > place else place + 1

    def findall(self, text: bytes) -> list[bytes]:
        """Return the texts of all matches, without overlaps; the whole match each, also if the pattern has groups."""
        return [text[slice(*match.spans[0])] for match in self.finditer(text)]


def _options(memory: int, *, captures: bool = True) -> Any:
    return re2_options(memory, encoding=re2.Options.Encoding.LATIN1, never_capture=not captures)


@cache
def compile_pattern(pattern: str, memory: int = MEMORY) -> BytePattern:
    """Compile an RE2 pattern for bytes, or return it from a cache. ``memory``: limit for RE2, in bytes. Raises
    ``re2.error`` for invalid RE2 syntax."""
    return BytePattern(re2.compile(pattern.encode(), _options(memory)))


@cache
def compile_outline(pattern: str) -> BytePattern:
    """Compile a pattern without capturing groups. It finds the same matches as ``compile_pattern``, and faster, but
    only their start and end are known. Raises ``re2.error`` for invalid RE2 syntax."""
    return BytePattern(re2.compile(pattern.encode(), _options(MEMORY, captures=False)))


class StartSet:
    """Several RE2 patterns that are matched in one pass, all at the beginning of a text and nowhere else in it.
    ``matching`` returns the index of each pattern that matches."""

    __slots__ = ("_match",)

    def __init__(self, patterns: tuple[str, ...]) -> None:
        made = re2.Set.MatchSet(_options(MEMORY))
        for pattern in patterns:
            made.Add(pattern.encode())
        made.Compile()
        self._match = matching_of(made)

    def matching(self, text: bytes) -> list[int]:
        """Return the indices of all patterns that match at the beginning of ``text``, ascending; [] if none does."""
        return sorted(self._match(text) or ())
