"""Findings of tool calls that change files: the changed files, or the error with which the tool refused."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Final

import re2

from tokenmizer_mw.extract.finding import Finding

from . import certain
from .failures import label_of
from .results import Output

_HEAD: Final = 2_000
_OPEN: Final = re2.compile(r"(?m)^\(Open file: (/[^\n]{1,200})\)$")
_PARSED: Final = re2.compile(r"(?m)^\s*-? ?(E9\d\d \w+: [^\n]{1,120})$")
"""Matches the line in which a tool says what is wrong with the syntax of an edit ("E999 SyntaxError: ...")."""


def read_changes(touched: Mapping[str, str], output: Output, *, refused: bool) -> list[Finding]:
    """Return the findings of a tool call that changes files: for each file its change, and a success, which closes an
    earlier error of that file.

    - ``touched``: maps the paths of the files to what happened to them ("edited").
    - ``refused``: whether the tool refused and changed nothing. The only finding is then an error of the first file,
      with the reason that ``output`` gives; [] if it gives none.
    - ``output``: what the tool returned; read only if ``refused``.
    """
    if refused:
        return [error for path in list(touched)[:1] for error in make_refusal(path, f"edit {path}", output)]
    found = [certain.file(path, detail, f"{detail}: {path}") for path, detail in touched.items()]
    return found + [certain.make_success(f"edit {path}") for path in touched]


def make_refusal(path: str, key: str, output: Output) -> list[Finding]:
    """Return, as a list of one, the finding of an error of a tool that refused to act on ``path``; [] if its output
    gives no reason. ``key``: such as "edit a.py"; a later success with the same key closes the error."""
    parsed = _PARSED.search(output.text[:_HEAD])
    line = f"edit failed: {parsed.group(1)}" if parsed else _first_line(output.text)
    if not line:
        return []
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    return [certain.error(line if name in line else f"{line}: {name}", key, 0.7)]


def find_open_file(text: str) -> str:
    """Return the path that the output of an editing tool names as its open file: "/a.py" for "(Open file: /a.py)"; ""
    for none. It is used for tools whose calls name no path."""
    shown = list(islice(_OPEN.finditer(text[-_HEAD:]), 1))
    return shown[0].group(1) if shown else ""


def _first_line(text: str) -> str:
    """The first line of a refusal that gives a reason, without tags and final punctuation; "" for none."""
    for line in text[:_HEAD].replace("<tool_use_error>", "").replace("</tool_use_error>", "").split("\n"):
        label = label_of(line).rstrip(".:")
        if " " in label:
            return label
    return ""
