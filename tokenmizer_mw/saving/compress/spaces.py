"""Stages "json" and "spaces": remove white space in JSON, and colours, progress bars and blank lines in command output.

Code, diffs and tables are not changed, because white space has a meaning there.
"""

from __future__ import annotations

import json
import re
from typing import Final

from .passage import OutputKind

_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[^"\s]+|\s+', re.DOTALL)
_INDENTED: Final = re.compile(r"\n[ \t]+\S")
_ESCAPE: Final = re.compile(r"\x1b(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,400}(?:\x07|\x1b\\))")
_BLANK: Final = re.compile(r"\n(?:[ \t]*\n){2,}")
_TRAILING: Final = re.compile(r"(?<=\S)[ \t]+\n")


def json_closer(text: str) -> str:
    """Return JSON without white space between tokens; numbers and strings keep their spelling.

    Returns the same object if the text is not JSON or has no such white space.
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
        text = "\n".join(_last_state(line) for line in text.replace("\r\n", "\n").split("\n"))
    if "\n\n" in text or "\n " in text or "\n\t" in text:
        text = _BLANK.sub("\n\n", text)
    return _TRAILING.sub("\n", text) if " \n" in text or "\t\n" in text else text


PRINTED: Final = frozenset({OutputKind.LOG})
"""Sorts of output in which white space at the edges of lines says nothing. Behind a list, code may stand."""


def _last_state(line: str) -> str:
    return line.rstrip("\r").rpartition("\r")[2]


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
