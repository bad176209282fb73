"""Redacts secrets in lines of a text.

A secret may span lines, and its meaning may depend on another line; so lines are checked together with their
neighbours, and with the first line, which names the columns of a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from tokenmizer_mw.safety.redact import Redactor

WINDOW: Final = 1 << 15
"""Characters before a line, and behind it, that are read with it, at least."""

HEAD_MAX: Final = 1_000
"""Characters of a first line that may name columns."""

_ROW_MAX: Final = 1 << 14
_TAG: Final = 8
"""Digits of the tag of a placeholder."""

Wanted = Callable[[int, str], bool]
"""Whether a line is to be shown, by its number and what it says."""

_Span = tuple[int, int, str]
"""From where to where something is replaced, and by what."""


@dataclass(slots=True)
class _Block:
    first: int
    lines: list[str] = field(default_factory=list)
    size: int = 0

    def add(self, line: str) -> None:
        self.lines.append(line)
        self.size += len(line)


def show_lines(lines: Iterable[str], wanted: Wanted, last: int, redactor: Redactor) -> Iterator[tuple[int, str]]:
    """Return number and text of the ``wanted`` lines up to line ``last``, with placeholders instead of secrets.

    ``lines`` include their line ends. Lines inside of a secret are left out if its placeholder was already shown.
    """
    head, last_value = "", ""
    for before, block, behind in _pair_neighbours(_blocks(lines)):
        if block.first == 1:
            head = block.lines[0] if len(block.lines[0]) <= HEAD_MAX else ""
        chosen = {number for number, line in enumerate(block.lines, block.first) if wanted(number, line)}
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
    """Each block with the lines of its neighbours."""
    before: list[str] = []
    block = next(blocks, None)
    while block is not None:
        behind = next(blocks, None)
        yield before, block, behind.lines if behind is not None else []
        before, block = block.lines, behind


def _secrets(text: str, redactor: Redactor) -> list[_Span]:
    """What is replaced in ``text``."""
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
    """What is replaced in a line because of what the first line calls its columns."""
    if not head:
        return []
    row, start = line[:_ROW_MAX], len(head)
    spans = _within(_secrets(head + row, redactor), start, start + len(row))
    return [span for span in spans if span[0] >= 0]


def _within(spans: list[_Span], start: int, end: int) -> list[_Span]:
    """Those that reach into a line, in places of the line; one that begins before it begins below 0."""
    return [
        (one - start, min(last, end) - start, replacement)
        for one, last, replacement in spans
        if one < end and last > start
    ]


def _merge_spans(spans: list[_Span], more: list[_Span]) -> list[_Span]:
    """Both, in order; those that overlap made one."""
    apart: list[_Span] = []
    for one in sorted([*spans, *more]):
        if apart and one[0] < apart[-1][1]:
            start, end, replacement = apart[-1]
            apart[-1] = start, max(end, one[1]), replacement
        else:
            apart.append(one)
    return apart


def _replace_spans(line: str, spans: list[_Span], before: str) -> tuple[str, str]:
    """The line with placeholders, and the last of them. One that began on an earlier line, and was shown there as the
    one ``before``, is not shown again."""
    pieces: list[str] = []
    done, last = 0, ""
    for start, end, replacement in spans:
        pieces += (line[done : max(start, done)], "" if start < 0 and replacement == before else replacement)
        done, last = end, replacement
    return "".join((*pieces, line[done:])), last
