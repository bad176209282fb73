"""Files that a call changed, or the error that kept it from doing so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tokenmizer_mw.extract.finding import Finding

from . import certain
from .failures import label_of
from .results import Output

_HEAD: Final = 2_000


def changed(touched: Mapping[str, str], output: Output, *, refused: bool) -> list[Finding]:
    """``touched`` maps paths to what happened to them ("edited"). A refused change is an error of the first file; the
    next change of that file that succeeds is the end of it."""
    if refused:
        line = _first_line(output.text)
        return [_refusal(line, path) for path in list(touched)[:1] if line]
    found = [certain.file(path, detail, f"{detail}: {path}") for path, detail in touched.items()]
    return found + [certain.succeeded(f"edit {path}") for path in touched]


def _refusal(line: str, path: str) -> Finding:
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    return certain.error(line if name in line else f"{line}: {name}", f"edit {path}", 0.7)


def _first_line(text: str) -> str:
    """The first line of a refusal that says more than that it is one, without tags and its closing stop."""
    for line in text[:_HEAD].replace("<tool_use_error>", "").replace("</tool_use_error>", "").split("\n"):
        label = label_of(line).rstrip(".:")
        if " " in label:
            return label
    return ""
