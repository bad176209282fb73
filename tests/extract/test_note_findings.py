"""What is settled in passing is known, told nowhere, and found by the message that changes it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.extract.talks import changes, labels, talk
from tokenmizer_mw import extract
from tokenmizer_mw.context.resume.sections import section_of
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import Node, NodeType

OPENING = ("u: Help me with the web shop of our choir.", "a: Sure, what is there?")


def notes(graph: SessionGraph) -> list[Node]:
    return [node for node in graph.nodes(NodeType.CONCEPT) if node.is_note]


@pytest.mark.parametrize(
    ("said", "noted"),
    [
        ("Our shop runs on a small Hetzner box", "Our shop runs on a small Hetzner box"),
        ("The flyer folds to A5; it fits our stand", "The flyer folds to A5"),
        ("My sister does the flowers", "My sister does the flowers"),
    ],
)
def test_a_value_said_by_the_way_is_a_note(said: str, noted: str) -> None:
    graph = talk(*OPENING, f"u: {said}.")
    assert noted in [node.label for node in notes(graph)]
    assert all(section_of(node) is None for node in notes(graph))


@pytest.mark.parametrize(
    "said",
    [
        "Would our shop run on a small Hetzner box?",
        "My cousin says the shop should run on a Hetzner box.",
        "If we had money, our shop would run on a Hetzner box.",
        "Can you draw our shop?",
        'The sign above our shop says "songs and more".',
    ],
)
def test_what_nobody_asserts_is_no_note(said: str) -> None:
    assert notes(talk(*OPENING, f"u: {said}")) == []


def test_a_change_finds_what_was_said_by_the_way() -> None:
    said = ("u: Marta from the altos packs 12 parcels a week.", "a: Good to know.")
    graph = talk(*OPENING, *said, "u: From now on Marta packs 20 parcels a week.")
    assert any("12 parcels" in old and "20 parcels" in new for old, new in changes(graph))
    assert not any("12 parcels" in node.label for node in graph.nodes() if node.current)


def test_only_the_ledger_changes_a_status() -> None:
    folder = Path(extract.__file__).parent
    told = {"StatusChanged", "DecisionReplaced"}
    calls = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in told
    }
    assert calls == {"resolve/ledger.py"}


@pytest.mark.parametrize(
    ("said", "noted"),
    [
        ("Working title: The Long Dash", "Working title: The Long Dash"),
        ("海报用浅灰色，展签只写中文", "展签只写中文"),
        ("State is kept with riverpod", "State is kept with riverpod"),
    ],
)
def test_clauses_with_names_and_in_wide_scripts_are_noted(said: str, noted: str) -> None:
    known = [node.label for node in talk(*OPENING, f"u: {said}").nodes()]
    assert noted in known


@pytest.mark.parametrize("said", ["I know", "that's solved", "Much better", "skip that"])
def test_a_clause_of_one_word_of_content_is_no_note(said: str) -> None:
    graph = talk("u: Build the hotel page", "a: Here.", f"u: {said}. The lobby has a fountain.")
    assert labels(graph, NodeType.CONCEPT) == ["The lobby has a fountain"]
