"""Stages "listings" and "logs": write only once what many lines of a tool's output share. No file name of a listing is
lost."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from .names import words
from .sorts import STAMP

ROWS_MIN: Final = 4
"""Least number of rows of a listing that is shortened."""

ROW_MAX: Final = 1_000
"""Largest number of characters of a row of a listing."""

_LONG: Final = re.compile(
    r"^([-dlcbsp])[-rwxsStT]{9}[.+@]? +\d+ +\S+ +\S+ +(\d[\d.,]*[KMGT]?) +(?:[A-Z][a-z]{2} +\d{1,2} +[\d:]{4,5}"
    r"|\d{4}-\d\d-\d\d +\d\d:\d\d(?::\d\d(?:\.\d+)?(?: [+-]\d{4})?)?) (.+)$"
)
_FOUND: Final = re.compile(r"^((?:[A-Za-z]:)?[^:\s]{3,300}?)([:-])(\d+)\2(.*)$")
_TREE: Final = re.compile(r"^((?:│   |│\xa0\xa0 |\|   |    )*)(?:├── |└── |\|-- |`-- |├─ |└─ )(.*)$")
_PATH: Final = re.compile(r"[./\\]")
_KINDS: Final = {"-": "", "d": "/", "l": "", "c": "", "b": "", "s": "", "p": ""}


def shorten_listings(text: str) -> str:
    """Return ``text`` with its file listing shortened: ``ls -l`` to names and sizes, ``grep -n`` grouped by file, trees
    to indented names. The same object if it contains none of these."""
    lines = text.split("\n")
    for way in (partial(_rewrite, _LONG, _entry), _condense_found, partial(_rewrite, _TREE, _branch)):
        shorter = way(lines)
        if shorter is not None:
            condensed = "\n".join(shorter)
            return condensed if len(condensed) < len(text) else text
    return text


def _rewrite(pattern: re.Pattern[str], write: Callable[[re.Match[str]], str], lines: Sequence[str]) -> list[str] | None:
    """Return the lines, with those that match ``pattern`` rewritten by ``write``; ``None`` if fewer than ``ROWS_MIN``
    match."""
    rows = _matches(pattern, lines)
    if sum(row is not None for row in rows) < ROWS_MIN:
        return None
    return [line if row is None else write(row) for line, row in zip(lines, rows, strict=True)]


def _entry(row: re.Match[str]) -> str:
    return f"{row.group(3)}{'' if row.group(3).endswith('/') else _KINDS[row.group(1)]} {row.group(2)}"


def _branch(row: re.Match[str]) -> str:
    return " " * (1 + len(row.group(1)) // 4) + row.group(2)


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


def _matches(pattern: re.Pattern[str], lines: Sequence[str]) -> list[re.Match[str] | None]:
    return [pattern.match(line) if len(line) <= ROW_MAX else None for line in lines]


RUN_MIN: Final = 4
"""Least number of similar lines in a row that are replaced by the first, the last and a count."""

ALIKE_MAX: Final = 4_000
"""Characters of a line that are examined."""

_FAILURE: Final = re.compile(
    r"(?i)error|fail|exception|traceback|warn|fatal|panic|assert|denied|refused|not found|cannot|can't|unable|missing"
    r"|undefined|unexpected|invalid|timed? ?out|killed|✗|✘|×|✕|\bFF*\b|\bno\b|\bnot\b"
    r"|critical|severe|^[WEF]\d{4} |(?:\bstatus\w*|\bcode|\bhttp(?:/[\d.]+)?|\breturned|\bresponse)\W{1,4}[45]\d\d\b"
    r"|(?:\"|\||\b(?:get|post|put|patch|delete|head|options) \S{1,200}) [45]\d\d\b|\bexit\w*(?: \w+){0,2}\W{1,3}[1-9]"
)
"""Signs of a failure in a line, such as "error", or a status from 400 on."""
_PASSED: Final = re.compile(
    r"^\s*(?:(?:✓|✔|√|√|•|ok\b|PASS\b|--- PASS|\[ *(?:OK|PASSED) *\])|.{1,300}?(?:\bPASSED\b|\.\.\. ?ok\b|\bok$|✓\s*$))"
)
_COUNTED: Final = re.compile(r"\b\d+ of \d+\b")
_CHANGING: Final = re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-f]{7,64}\b|(\d+)")
_WORD: Final = re.compile(r"^[\s\W]*([A-Z][a-z]+)\b")
_PLAIN: Final = re.compile(r"^(?:[A-Za-z]|\W{0,2}\d\d)")
_ROUTINE: Final = re.compile(
    r"^.{0,80}?\b(?:DEBUG|INFO|TRACE|NOTICE|debug|info|trace)\b|^I\d{4} |\" [123]\d\d (?:\d|-)"
)
"""Signs of a routine log line: a low level, or the status of a request that succeeded. Such lines are also similar if
only their numbers differ; in other lines a number may be what matters, so only equal lines are similar."""
_STEPS: Final = words(
    "collecting downloading downloaded compiling building built installing unpacking preparing setting selecting get"
    " checking fetching fetched requirement using cached adding added removing resolving linking copying creating"
    " reading pulling extracting waiting verifying processing transforming rendering generating updating already"
)
"""First words of lines that report one step among many ("Downloading")."""


def condense_log(text: str) -> str:
    """Return ``text`` with each run of at least ``RUN_MIN`` similar lines replaced by its first and last line and a
    line with the number of lines between them. Lines about failures, and the lines beside them, always stay.

    Returns the same object if there is no such run.
    """
    lines = text.split("\n")
    if len(lines) < RUN_MIN + 1:
        return text
    condensed = _condense_lines(lines)
    return "\n".join(condensed) if len(condensed) < len(lines) else text


def _condense_lines(lines: Sequence[str]) -> list[str]:
    marks = _marks(lines)
    out: list[str] = []
    at = 0
    while at < len(lines):
        end = at + 1
        while marks[at] and end < len(lines) and marks[end] == marks[at]:
            end += 1
        out += [*_summarize_run(lines, at, end, marks[at])] if end - at >= RUN_MIN else lines[at:end]
        at = end
    return out


def _summarize_run(lines: Sequence[str], start: int, end: int, mark: str) -> list[str]:
    between = end - start - 2
    what = "more that passed" if mark == _PASSES else "more like these"
    return [lines[start], f"[... {between} {what} ...]", lines[end - 1]]


_PASSES: Final = "\tpassed"


def _marks(lines: Sequence[str]) -> list[str]:
    """Return a key for each line: neighbouring lines with the same key are similar. "" for lines that stay, such as
    failures and the lines beside them."""
    failing = [bool(_FAILURE.search(line[:ALIKE_MAX])) for line in lines]
    marks = []
    for at, line in enumerate(lines):
        near = failing[at] or (at > 0 and failing[at - 1]) or (at + 1 < len(lines) and failing[at + 1])
        marks.append("" if near else _mark(line[:ALIKE_MAX]))
    return marks


def _mark(line: str) -> str:
    if not line.strip():
        return ""
    if _PASSED.match(line) and not _COUNTED.search(line):
        return _PASSES
    found = _WORD.match(line)
    word = found.group(1).lower() if found else ""
    if word in _STEPS:
        return f"\t{word}"
    if STAMP.match(line) and _ROUTINE.search(line):
        return _CHANGING.sub(_mask_number, line)
    return line if _PLAIN.match(line) else ""


def _mask_number(found: re.Match[str]) -> str:
    """Return what replaces the number ``found`` in a line: for a decimal number as many zeros as it has digits, so that
    lines with numbers of another length do not count as similar; for a hexadecimal one a single zero."""
    return "0" * len(found.group(1) or "0")
