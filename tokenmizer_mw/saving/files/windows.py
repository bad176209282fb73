"""Redacts secrets in chosen lines of a long text, without redacting all of it.

A secret may span lines, and its meaning may depend on another line; so lines are checked together with their
neighbours, and with the first line, which names the columns of a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from tokenmizer_mw.safety.redact import Redactor

WINDOW: Final = 1 << 15
"""Least number of characters before and behind a line that are checked together with it."""

HEAD_MAX: Final = 1_000
"""Longest first line, in characters, that is taken for names of columns."""

_ROW_MAX: Final = 1 << 14
_TAG: Final = 8
"""Number of digits at the end of a placeholder, which tell secrets apart."""

Wanted = Callable[[int, str], bool]
"""Function that returns whether to show a line, from its number (from 1) and its text."""

_Span = tuple[int, int, str]
"""A replacement in a text: start, end, and the placeholder."""


@dataclass(slots=True)
class _Block:
    first: int
    lines: list[str] = field(default_factory=list)
    size: int = 0

    def add(self, line: str) -> None:
        self.lines.append(line)
        self.size += len(line)


def show_lines(lines: Iterable[str], wanted: Wanted, last: int, redactor: Redactor) -> Iterator[tuple[int, str]]:
    """Yield number (from 1) and text of the lines that are wanted, with placeholders instead of secrets.

    ``wanted``: returns whether to show a line, from its number and text. ``last``: number of the last line that may be
    shown; reading stops behind the lines that are checked together with it. ``lines`` include their line ends. A line
    inside a secret is left out if the placeholder of the secret was already shown.
    """
    head, last_value = "", ""
    for before, block, behind in _pair_neighbours(_blocks(lines)):
        if block.first == 1:
            head = block.lines[0] if len(block.lines[0]) <= HEAD_MAX else ""
        numbered = zip(range(block.first, last + 1), block.lines, strict=False)
        chosen = {number for number, line in numbered if wanted(number, line)}
        spans = _secrets("".join((*before, *block.lines, *behind)), redactor) if chosen else []
        start = sum(map(len, before))
        for number, line in enumerate(block.lines, block.first):
            if number in chosen:
                here = _within(spans, start, start + len(line))
                text, value = _replace_spans(
                    line, _merge_spans(here, _row(head, line, redactor) if number > 1 else []), last_value
                )
                if text.strip() or not here:
                    yield number, text
                last_value = value or last_value
            start += len(line)
        if block.first + len(block.lines) > last:
            return


def _blocks(lines: Iterable[str]) -> Iterator[_Block]:
    block = _Block(1)
    for number, line in enumerate(lines, 1):
        if block.size >= WINDOW:
            yield block
            block = _Block(number)
        block.add(line)
    if block.lines:
        yield block


def _pair_neighbours(blocks: Iterator[_Block]) -> Iterator[tuple[list[str], _Block, list[str]]]:
    """Yield each block with the lines of the block before and of the next."""
    before: list[str] = []
    block = next(blocks, None)
    while block is not None:
        behind = next(blocks, None)
        yield before, block, behind.lines if behind is not None else []
        before, block = block.lines, behind


def _secrets(text: str, redactor: Redactor) -> list[_Span]:
    """The replacements for the secrets in ``text``."""
    found = redactor.find(text)
    if not found:
        return []
    redacted, shift = redactor.redact(text), 0
    spans: list[_Span] = []
    for one in found:
        place = one.start + shift
        length = len(f"redacted:{one.kind}:") + _TAG
        spans.append((one.start, one.end, redacted[place : place + length]))
        shift += length - (one.end - one.start)
    return spans


def _row(head: str, line: str, redactor: Redactor) -> list[_Span]:
    """The replacements in ``line`` that are due to a column name in the first line, ``head``."""
    if not head:
        return []
    row, start = line[:_ROW_MAX], len(head)
    spans = _within(_secrets(head + row, redactor), start, start + len(row))
    return [span for span in spans if span[0] >= 0]


def _within(spans: list[_Span], start: int, end: int) -> list[_Span]:
    """The replacements that lie in a line or reach into it, relative to its start. One that begins before the line has
    a negative start."""
    return [
        (one - start, min(last, end) - start, replacement)
        for one, last, replacement in spans
        if one < end and last > start
    ]


def _merge_spans(spans: list[_Span], more: list[_Span]) -> list[_Span]:
    """Both lists of replacements, sorted; overlapping ones are merged."""
    apart: list[_Span] = []
    for one in sorted([*spans, *more]):
        if apart and one[0] < apart[-1][1]:
            start, end, replacement = apart[-1]
            apart[-1] = start, max(end, one[1]), replacement
        else:
            apart.append(one)
    return apart


def _replace_spans(line: str, spans: list[_Span], before: str) -> tuple[str, str]:
    """Return the line with placeholders, and the last of these. A secret that began on an earlier line, whose
    placeholder ``before`` was shown there, gets no second one."""
    pieces: list[str] = []
    done, last = 0, ""
    for start, end, replacement in spans:
        pieces += (line[done : max(start, done)], "" if start < 0 and replacement == before else replacement)
        done, last = end, replacement
    return "".join((*pieces, line[done:])), last
