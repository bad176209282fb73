"""Every counter of ``SessionMemory.counters()`` is on the page about counters, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.saving.compress import requests as compressed_requests
from tokenmizer_mw.session.naming import Reason

ROOT = Path(__file__).parent.parent
_ADDS = {"count", "_count", "report_failure"}
_NAME = re.compile(r"[a-z]+(?:_(?:[a-z]+|\.\.\.))+")


def _spell_out(node: ast.AST) -> str:
    """The text of a string, "..." in place of what an f-string fills in; "" for other expressions."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "..." for part in node.values)
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _constants(tree: ast.Module) -> dict[str, str]:
    """The strings of a module's annotated constants, by name."""
    return {
        node.target.id: _spell_out(node.value)
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None
    }


def _names_in(tree: ast.Module) -> Iterator[str]:
    """What a module counts: literals, its own constants, and the names that a decision about a cut lists."""
    constants = _constants(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if called in _ADDS and node.args:
            yield from map(_spell_out, ast.walk(node.args[0]))
            if any(isinstance(part, ast.Name) and part.id in constants for part in ast.walk(node.args[0])):
                yield from constants.values()
        elif called == "CutDecision":
            parts = [part for given in node.args for part in ast.walk(given)]
            yield from map(_spell_out, parts)
            yield from (constants[part.id] for part in parts if isinstance(part, ast.Name) and part.id in constants)


def _counted() -> set[str]:
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "tokenmizer_mw").rglob("*.py"))
    names = {name for tree in trees for name in _names_in(tree) if _NAME.fullmatch(name)}
    names |= {*(reason.value for reason in Reason), compressed_requests.MARKED, compressed_requests.BOUND}
    names |= compressed_requests._NEVER
    return names - {"turn_..."} | {f"turn_{outcome.value}" for outcome in Outcome}


def test_the_page_lists_every_counter_once() -> None:
    text = (ROOT / "docs" / "counters.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", text, flags=re.MULTILINE)
    listed = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    assert sorted(listed) == sorted(_counted())
