"""Stage "listings": shortens file listings and search matches by stating repeated columns once. Every name stays.

A long listing keeps type, size and name, and drops owner and time. Matches are grouped by file. A tree keeps its
indentation and loses its lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

ROWS_MIN: Final = 4
"""Rows of a list that is worth it."""

ROW_MAX: Final = 1_000
"""Characters of a row; a longer line is none."""

_LONG: Final = re.compile(
    r"^([-dlcbsp])[-rwxsStT]{9}[.+@]? +\d+ +\S+ +\S+ +(\d[\d.,]*[KMGT]?) +(?:[A-Z][a-z]{2} +\d{1,2} +[\d:]{4,5}"
    r"|\d{4}-\d\d-\d\d +\d\d:\d\d(?::\d\d(?:\.\d+)?(?: [+-]\d{4})?)?) (.+)$"
)
_FOUND: Final = re.compile(r"^((?:[A-Za-z]:)?[^:\s]{3,300}?)([:-])(\d+)\2(.*)$")
_TREE: Final = re.compile(r"^((?:│   |│\xa0\xa0 |\|   |    )*)(?:├── |└── |\|-- |`-- |├─ |└─ )(.*)$")
_PATH: Final = re.compile(r"[./\\]")
_KINDS: Final = {"-": "", "d": "/", "l": "", "c": "", "b": "", "s": "", "p": ""}


def closer(text: str) -> str:
    """Return ``text`` in shorter form; the same object if it contains no listing."""
    lines = text.split("\n")
    for way in (_long, _condense_found, _tree):
        shorter = way(lines)
        if shorter is not None:
            told = "\n".join(shorter)
            return told if len(told) < len(text) else text
    return text


def _long(lines: Sequence[str]) -> list[str] | None:
    rows = _matches(_LONG, lines)
    if sum(row is not None for row in rows) < ROWS_MIN:
        return None
    return [
        line if row is None else f"{row.group(3)}{_slash(row)} {row.group(2)}"
        for line, row in zip(lines, rows, strict=True)
    ]


def _slash(row: re.Match[str]) -> str:
    return "" if row.group(3).endswith("/") else _KINDS[row.group(1)]


def _condense_found(lines: Sequence[str]) -> list[str] | None:
    rows = [row if row is not None and _PATH.search(row.group(1)) else None for row in _matches(_FOUND, lines)]
    places = [row.group(1) for row in rows if row is not None]
    if len(places) < ROWS_MIN or len(set(places)) * 2 > len(places):
        return None
    return list(_by_file(lines, rows))


def _by_file(lines: Sequence[str], rows: Sequence[re.Match[str] | None]) -> Iterator[str]:
    before = ""
    for line, row in zip(lines, rows, strict=True):
        if row is None:
            if line != "--":
                before = ""
            yield line
            continue
        if row.group(1) != before:
            before = row.group(1)
            yield before
        yield f"{row.group(3)}{row.group(2)}{row.group(4)}"


def _tree(lines: Sequence[str]) -> list[str] | None:
    rows = _matches(_TREE, lines)
    if sum(row is not None for row in rows) < ROWS_MIN:
        return None
    return [
        line if row is None else " " * (1 + len(row.group(1)) // 4) + row.group(2)
        for line, row in zip(lines, rows, strict=True)
    ]


def _matches(pattern: re.Pattern[str], lines: Sequence[str]) -> list[re.Match[str] | None]:
    return [pattern.match(line) if len(line) <= ROW_MAX else None for line in lines]
