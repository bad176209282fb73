"""What the output of a tool is: by the command that was run, by the file that was read, by how it looks."""

from __future__ import annotations

import re
from typing import Final

from .names import words
from .passage import Passage, Sort

LOOK: Final = 4_000
"""Characters at the beginning of a text that are looked at."""

_LINES: Final = 12
_MOST: Final = 0.6
"""Share of the lines looked at that must have a form for the text to have it."""

_READS: Final = words("cat bat head tail sed nl less more type get-content gc view open_file awk")
_DIFFS: Final = ("git diff", "git show", "diff ", "git log -p", "git format-patch")
_FINDS: Final = words("grep rg egrep fgrep ag ack findstr select-string")
_LISTS: Final = words("ls dir tree find fd du get-childitem gci")
_READERS: Final = ("read", "view", "open", "cat", "getfile", "showfile", "notebook")
_SEARCHERS: Final = ("grep", "search", "find", "glob", "list", "ls")
_PREFIXES: Final = words("sudo time env nice command &&")

_DIFF_LINE: Final = re.compile(r"(?m)^(?:diff --git |@@ -\d+(?:,\d+)? \+\d+|--- [^\n]+\n\+\+\+ |\*\*\* Begin Patch)")
_JSON: Final = re.compile(r'\s*(?:\{\s*(?:"|\}\s*$)|\[\s*["{\[\d-])')
_FOUND_LINE: Final = re.compile(r"^[^\s:][^:\n]{0,200}:\d+[:-]")
_LONG_LINE: Final = re.compile(r"^[-dlcbsp][-rwxsStT]{9}[.+@]?\s+\d+\s")
_TREE_LINE: Final = re.compile(r"^[\s│|]*[├└`|+][─-]")
_STAMP: Final = re.compile(
    r"^\W{0,2}(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d)"
    r"|^\W{0,2}(?:DEBUG|INFO|WARN|WARNING|ERROR|TRACE|FATAL)\b"
)
_NUMBERED: Final = re.compile(r"^ {0,6}\d{1,6}(?:\t|→|[:|] ?)")


def sort_of(passage: Passage) -> Sort:
    """What a tool's output is. Judged by the call first: a file that looks like a log is still a file."""
    look = passage.text[:LOOK]
    if _DIFF_LINE.search(look):
        return Sort.DIFF
    told = _told(passage)
    if told is Sort.FILE:
        return told
    if _JSON.match(look):
        return Sort.JSON
    return _seen(look.split("\n", _LINES)[:_LINES]) or told or Sort.TEXT


def first_word(command: str) -> str:
    """The program that a command line runs first, without its folder, in lower case; "" for none. A change of the
    directory before it is passed over."""
    words = command.strip().split("\n", 1)[0].split(" ", 40)
    while words:
        if words[0] in ("cd", "pushd", "Set-Location") and "&&" in words:
            words = words[words.index("&&") + 1 :]
        elif words[0] in _PREFIXES or "=" in words[0] or not words[0]:
            words = words[1:]
        else:
            return words[0].rsplit("/", 1)[-1].lower()
    return ""


def numbered(lines: list[str]) -> bool:
    """Whether the lines of a file come with their numbers."""
    look = [line for line in lines[:_LINES] if line.strip()]
    return bool(look) and sum(bool(_NUMBERED.match(line)) for line in look) >= len(look) * _MOST


def bare(line: str) -> str:
    """A numbered line without its number."""
    found = _NUMBERED.match(line)
    return line[found.end() :] if found else line


def _told(passage: Passage) -> Sort | None:
    """What the call says."""
    if passage.command:
        return _by_command(passage.command)
    squeezed = passage.tool.rsplit("__", 1)[-1].replace("_", "").replace("-", "").lower()
    if any(squeezed.startswith(name) for name in _SEARCHERS):
        return Sort.FOUND
    if passage.path or any(squeezed.startswith(name) for name in _READERS):
        return Sort.FILE
    return None


def _by_command(command: str) -> Sort | None:
    line = command.strip()
    if any(name in line for name in _DIFFS):
        return Sort.DIFF
    word = first_word(line)
    if "|" in line and line.rsplit("|", 1)[1].split()[:1] and line.rsplit("|", 1)[1].split()[0].lower() in _FINDS:
        return Sort.FOUND
    if word in _READS:
        return Sort.FILE
    if word in _FINDS or line.startswith("git grep"):
        return Sort.FOUND
    return Sort.LISTING if word in _LISTS or line.startswith("git ls-files") else Sort.LOG


def _seen(lines: list[str]) -> Sort | None:
    """What lines look like by themselves."""
    look = [line for line in lines if line.strip()]
    for pattern, sort in _FORMS:
        if look and sum(bool(pattern.match(line)) for line in look) >= len(look) * _MOST:
            return sort
    return None


_FORMS: Final = (
    (_NUMBERED, Sort.FILE),
    (_FOUND_LINE, Sort.FOUND),
    (_LONG_LINE, Sort.LISTING),
    (_TREE_LINE, Sort.LISTING),
    (_STAMP, Sort.LOG),
)
