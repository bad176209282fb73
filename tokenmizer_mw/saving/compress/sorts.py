"""Classifies tool output: by the command, by the file name, and by its lines."""

from __future__ import annotations

import re
from typing import Final

from .commands import printed_by
from .passage import ChatPassage, OutputKind

LOOK: Final = 4_000
"""Characters at the beginning and at the end of a text that are looked at."""

_LINES: Final = 12
_MOST: Final = 0.6
"""Share of the lines looked at that must have a form for the text to have it."""

_READERS: Final = ("read", "view", "open", "cat", "getfile", "showfile", "notebook")
_SEARCHERS: Final = ("grep", "search", "find", "glob", "list", "ls")

_DIFF_LINE: Final = re.compile(r"(?m)^(?:diff --git |@@ -\d+(?:,\d+)? \+\d+|--- [^\n]+\n\+\+\+ |\*\*\* Begin Patch)")
_JSON: Final = re.compile(r'\s*(?:\{\s*(?:"|\}\s*$)|\[\s*["{\[\d-])')
_FOUND_LINE: Final = re.compile(r"^[^\s:][^:\n]{0,200}:\d+[:-]")
_COMPILED: Final = re.compile(r"^[^\s:][^:\n]{0,200}:\d+(?::\d+)?: (?:fatal |internal )?(?:error|warning|note)\b")
_LONG_LINE: Final = re.compile(r"^[-dlcbsp][-rwxsStT]{9}[.+@]?\s+\d+\s")
_TREE_LINE: Final = re.compile(r"^[\s│|]*[├└`|+][─-]")
_NUMBERED: Final = re.compile(r"^ {0,6}(0|[1-9]\d{0,5})(?:\t|→|:(?!\d\d\b)|\|)")
STAMP: Final = re.compile(
    r"^(?:[\w.-]{1,40} +\| )?\W{0,2}(?:"
    r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?(?!\d|\s*[,;|]|\t)"
    r"|\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?!\d|\s*[,;|]|\t|:)"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
    r"|[IWEF]\d{4} \d\d:\d\d:\d\d"
    r"|[\da-fA-F.:]{3,45} \S+ \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:"
    r"|(?:time|ts)=\S"
    r"|(?:DEBUG|INFO|WARN|WARNING|ERROR|TRACE|FATAL|CRITICAL|NOTICE)\b"
    r")|^\[ *\d{1,9}\.\d{3,9}\] "
)
"""How the line of a log begins: with a time or with its level. A time in a column of a table is none."""


def sort_of(passage: ChatPassage) -> OutputKind:
    """Return the kind of a tool's output. The call decides first: a file that looks like a log is still a file."""
    look = passage.text[:LOOK]
    if _DIFF_LINE.search(look):
        return OutputKind.DIFF
    told = _sort_by_call(passage)
    if told in (OutputKind.FILE, OutputKind.PRINTED):
        return told
    if is_stamped(look):
        return (
            OutputKind.LOG if told is not OutputKind.FOUND and _stamped_to_the_end(passage.text) else OutputKind.PRINTED
        )
    if _JSON.match(look):
        return OutputKind.JSON
    if told is OutputKind.LOG:
        return told
    return _sort_by_lines(_first(look)) or told or (OutputKind.PRINTED if passage.command else OutputKind.TEXT)


def is_stamped(text: str) -> bool:
    """Return whether a text begins with log lines."""
    return _most(STAMP, _first(text[:LOOK]))


def is_numbered(lines: list[str]) -> bool:
    """Return whether the lines of a file have line numbers."""
    return _most(_NUMBERED, lines[:_LINES])


def bare(line: str) -> str:
    """Return a numbered line without its number."""
    found = _NUMBERED.match(line)
    return line[found.end() :] if found else line


def number_of(line: str) -> int | None:
    """Return the number of a line; ``None`` if it has none."""
    found = _NUMBERED.match(line)
    return int(found.group(1)) if found else None


def _sort_by_call(passage: ChatPassage) -> OutputKind | None:
    """What the call says."""
    if passage.command:
        return printed_by(passage.command)
    squeezed = passage.tool.rsplit("__", 1)[-1].replace("_", "").replace("-", "").lower()
    if any(squeezed.startswith(name) for name in _SEARCHERS):
        return OutputKind.FOUND
    if passage.path or any(squeezed.startswith(name) for name in _READERS):
        return OutputKind.FILE
    return None


def _first(look: str) -> list[str]:
    return look.split("\n", _LINES)[:_LINES]


def _stamped_to_the_end(text: str) -> bool:
    """Whether most of the first and last lines are those of a log: code may stand behind it."""
    if len(text) <= LOOK:
        return _most(STAMP, text.split("\n"))
    return _most(STAMP, [*_first(text[:LOOK]), *text[-LOOK:].rsplit("\n", _LINES)[-_LINES:]])


def _most(pattern: re.Pattern[str], lines: list[str]) -> bool:
    look = [line for line in lines if line.strip()]
    return bool(look) and sum(bool(pattern.match(line)) for line in look) >= len(look) * _MOST


def _sort_by_lines(lines: list[str]) -> OutputKind | None:
    """What lines look like by themselves."""
    return next((sort for pattern, sort in _FORMS if _most(pattern, lines)), None)


_FORMS: Final = (
    (_NUMBERED, OutputKind.FILE),
    (_COMPILED, OutputKind.PRINTED),
    (_FOUND_LINE, OutputKind.FOUND),
    (_LONG_LINE, OutputKind.LISTING),
    (_TREE_LINE, OutputKind.LISTING),
)
