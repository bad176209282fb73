"""Stages "comments", "json" and "spaces": remove comments, white space and colours, which only help people who look at
the text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.runtime.installing import install_hint

from .chat import OutputKind
from .sorts import is_numbered, strip_number

CHARACTERS_MAX: Final = 200_000
"""Source files with more characters are not changed, because a lexer may be slow on them."""

_DIRECTIVES: Final = (
    "noqa", "type:", "pragma", "nolint", "eslint", "ts-ignore", "ts-expect", "@ts-", "prettier", "go:", "+build",
    "coverage", "mypy:", "ruff:", "pylint", "flake8", "fmt:", "isort", "shellcheck", "todo", "fixme", "hack", "xxx",
    "region", "safety", "license", "copyright", "spdx", "sourcemappingurl", "jshint", "@license", "-*-", "rubocop",
)  # fmt: skip
"""Words that keep a comment, because it is addressed to a tool ("noqa"), names a licence, or notes open work
("todo")."""


def without_comments(text: str, path: str) -> str:
    """Return source code without comments. The name of the file ``path`` tells the language.

    Returns the same object if there are no comments, if the language is unknown, or if the file is too long. Raises
    ``ConfigError`` if Pygments is not installed.
    """
    lexer = _lexer(path.rsplit("/", 1)[-1].rsplit("\\", 1)[-1])
    if lexer is None or len(text) > CHARACTERS_MAX:
        return text
    raw = text.split("\n")
    lines = [strip_number(line) for line in raw] if is_numbered(raw) else raw
    left = "".join(_strip_comments(lexer, "\n".join(lines))).split("\n")
    if len(left) != len(lines):
        return text
    kept = [
        line if new == old else line[: len(line) - len(old)] + new.rstrip()
        for line, old, new in zip(raw, lines, left, strict=True)
        if new == old or new.strip()
    ]
    shorter = "\n".join(kept)
    return shorter if len(shorter) < len(text) else text


def _strip_comments(lexer: Any, source: str) -> Iterator[str]:
    """Yield the pieces of ``source`` without the text of its comments, except those that must stay (a first line with
    "#!", directives such as "noqa"). All line ends stay."""
    from pygments.token import Comment

    for sort, piece in lexer.get_tokens(source):
        if (
            sort in Comment
            and sort not in Comment.Preproc
            and sort not in Comment.PreprocFile
            and not _stays(sort, piece)
        ):
            yield "\n" * piece.count("\n")
        else:
            yield piece


def _stays(sort: Any, piece: str) -> bool:
    low = piece.lower()
    return str(sort).endswith(("Hashbang", "Special")) or any(word in low for word in _DIRECTIVES)


@lru_cache(maxsize=256)
def _lexer(name: str) -> Any:
    """Return the Pygments lexer for a file of this name; ``None`` if there is none."""
    try:
        from pygments.lexers import get_lexer_for_filename
        from pygments.util import ClassNotFound
    except ImportError as error:
        raise ConfigError(f"comments are found by Pygments: {install_hint('compress')}") from error
    try:
        return get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[^"\s]+|\s+', re.DOTALL)
_INDENTED: Final = re.compile(r"\n[ \t]+\S")
_ESCAPE: Final = re.compile(r"\x1b(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,400}(?:\x07|\x1b\\))")
_BLANK: Final = re.compile(r"\n(?:[ \t]*\n){2,}")
_TRAILING: Final = re.compile(r"(?<=\S)[ \t]+\n")


def json_closer(text: str) -> str:
    """Return indented JSON without white space between its tokens; numbers and strings keep their spelling.

    Returns the same object if the text is not an indented JSON object or array.
    """
    if not _INDENTED.search(text):
        return text
    start = text.lstrip()[:1]
    if start not in ("{", "[") or not _is_json(text):
        return text
    closer = "".join(piece for piece in _TOKEN.findall(text) if not piece.isspace())
    return closer if len(closer) < len(text) else text


def render_printed(text: str) -> str:
    """Return command output as a terminal shows it in the end.

    Removes colours, overwritten progress lines, repeated blank lines, and blanks at line ends.
    """
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.replace("\r\n", "\n").split("\n"))
    if "\n\n" in text or "\n " in text or "\n\t" in text:
        text = _BLANK.sub("\n\n", text)
    return _TRAILING.sub("\n", text) if " \n" in text or "\t\n" in text else text


PRINTED: Final = frozenset({OutputKind.LOG})
"""Kinds of output in which blanks at line ends and repeated blank lines mean nothing. A listing is not among them,
because code may follow it."""


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
