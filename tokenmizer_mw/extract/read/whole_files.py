"""Find whole files in a user's message by their syntax: web pages, Markdown with front matter, CSV tables, parts
between ``[file: name]`` and ``[/file]``, and JSON on one line.

They are found without words that introduce them, and nothing in them counts as the user's statement.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

import re2

from tokenmizer_mw.extract.rules.handover_phrases import RESUMES

from .layout import Span

MARKS_MAX: Final = 20_000
"""Number of lines, and of marks of each kind, that are looked at in one message; files after them are not found."""

_PAGE: Final = re2.compile(r"(?i)<!doctype html|<html[ \t\n>]")
_PAGE_END: Final = re2.compile(r"(?i)</html[ \t\n]*>")
_FRONT_MATTER: Final = re2.compile(
    r"\A---[ \t]*\n(?:[A-Za-z_][\w-]*:[^\n]*\n|[ \t]+[^\n]*\n|- [^\n]*\n){1,60}---[ \t]*\n"
)
_HEADER: Final = re2.compile(r"[\w.-]+(?: [\w.-]+){0,3}(?:,(?:[\w-]+(?: [\w-]+){0,3})?)+")
_ROWS_MIN: Final = 2
_BRACKET: Final = re2.compile(r"(?m)^[ \t]*\[(/?)([A-Za-z]\w{1,30})(?:[: =][^\]\n]{0,200})?\][ \t]*$")
_JSON: Final = re2.compile(r"[{\[][ \t]*(?:\{[ \t]*)?\"[^\"\n]{1,100}\"[ \t]*:[^\n]*[}\]]")
_RESUMES: Final = re2.compile(RESUMES)
_OWN_MAX: Final = 400
"""Longest last paragraph, in characters, in which the user may go on in own words."""


def find_whole_files(text: str) -> Iterator[Span]:
    """Iterate over the spans of whole files in ``text``; some may overlap. Linear time."""
    if (page := _PAGE.search(text)) is not None:
        end = page.start()
        for closing in islice(_PAGE_END.finditer(text, page.end()), MARKS_MAX):
            end = closing.end()
        yield page.start(), end if end > page.start() else len(text)
    if text.startswith("---") and _FRONT_MATTER.match(text) is not None:
        yield 0, _own_words_behind(text)
    if "," in text:
        yield from _find_tables(text)
    if "[/" in text:
        yield from _find_bracketed(text)
    if "{" in text:
        yield from (found.span() for found in islice(_JSON.finditer(text), MARKS_MAX))


def _own_words_behind(text: str) -> int:
    """The start of the last paragraph if the user goes on in own words there; else the length of the text."""
    last = text.rstrip().rfind("\n\n") + 2
    goes_on = last > 1 and len(text) - last <= _OWN_MAX and _RESUMES.match(text[last:]) is not None
    return last if goes_on else len(text)


def _find_tables(text: str) -> Iterator[Span]:
    """Spans of tables: a line of comma-separated names, and at least ``_ROWS_MIN`` rows below it with at least as many
    fields."""
    start, opened, columns, rows = 0, -1, 0, 0
    for line in [*text.split("\n", MARKS_MAX)[:MARKS_MAX], ""]:
        commas = line.count(",")
        if opened >= 0 and commas >= columns:
            rows += 1
        else:
            if opened >= 0 and rows >= _ROWS_MIN:
                yield opened, start - 1
            heads = commas > 0 and _HEADER.fullmatch(line.rstrip()) is not None
            opened, columns, rows = (start if heads else -1), commas, 0
        start += len(line) + 1


def _find_bracketed(text: str) -> Iterator[Span]:
    """Spans from a line such as ``[file: plan.md]`` to the line ``[/file]``."""
    opened: dict[str, int] = {}
    for mark in islice(_BRACKET.finditer(text), MARKS_MAX):
        name = mark.group(2).lower()
        if not mark.group(1):
            opened.setdefault(name, mark.start())
        elif (start := opened.pop(name, -1)) >= 0:
            yield start, mark.end()
