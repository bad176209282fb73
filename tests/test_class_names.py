"""A public class has a name that no other public class of the package has: readers search by it."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parents[1] / "tokenmizer_mw"


def shared_names() -> set[str]:
    """The names that several modules give to public classes."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py"))
    named = (node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))
    return {name for name, count in Counter(named).items() if count > 1 and not name.startswith("_")}


def test_no_two_public_classes_have_one_name() -> None:
    assert shared_names() == set()
