"""A public class has a name that no other public class of the package has: readers search by it."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parents[1] / "tokenmizer_mw"

_SHARED: Final = """
    Added Answer Answered Asked Asking Broken Call Category Closed Diff Edge Fact Figures Finding Form Format
    Forwarded Found Frame Gone Head Hit Kept Kind Known Ledger Limits Line Listed Listing Match Meaning Named
    Node Opened Outcome Outgoing Passage Passing Patience Pattern Piece Place Placed Provider Question Rank
    Rates Reader Reading Refused Remembered Reply Route Said Savings Script Seal Sentence Shape Shown Sort
    Source Standing Table Told ToolCall ToolResult Transcript Transition Turn Unreadable Upstream Usage Value
    Wanted Way WhyAnswer Wish Work Written
"""
STILL_SHARED: Final = frozenset(_SHARED.split())
"""Names of several classes that are to be renamed. Take one out as soon as it is; add none."""


def shared_names() -> set[str]:
    """The names that several modules give to public classes."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py"))
    named = (node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))
    return {name for name, count in Counter(named).items() if count > 1 and not name.startswith("_")}


def test_no_two_public_classes_have_one_name() -> None:
    assert shared_names() - STILL_SHARED == set()


def test_what_is_no_longer_shared_is_off_the_list() -> None:
    assert STILL_SHARED - shared_names() == set()
