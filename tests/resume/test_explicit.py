"""Blocks that state no guesses."""

from __future__ import annotations

from typing import Literal

import pytest

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.context.resume import build_resume, build_resumes, earlier_facts
from tokenmizer_mw.context.resume.sections import EXPLICIT
from tokenmizer_mw.context.tokens import TokenCounter
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import NodeAdded
from tokenmizer_mw.model.node import HAND, DecisionKind, Node, NodeType, Source, Status, Trust

NONCE = "0" * 16
QUARTERS = TokenCounter("quarters", False, lambda text: len(text) // 4)
SAID = Source(1, "user", "so it was said")
FACTS = (
    (Node("d1", NodeType.DECISION, "PostgreSQL for orders", Status.ACTIVE, SAID, 0.9), True),
    (Node("d2", NodeType.DECISION, "Redis may do", Status.ACTIVE, SAID, 0.6), False),
    (Node("d3", NodeType.DECISION, "Kafka by hand", Status.ACTIVE, Source(1, HAND), 0.6), True),
    (Node("d4", NodeType.DECISION, "SQLite pinned", Status.ACTIVE, SAID, 0.6, pinned=True), True),
    (Node("d5", NodeType.DECISION, "never push", Status.ACTIVE, SAID, 0.75, kind=DecisionKind.RULE), True),
    (Node("t1", NodeType.TASK, "write the guide", Status.PENDING, SAID, 0.65), False),
    (
        Node("e1", NodeType.ERROR, "build fails", Status.ACTIVE, Source(1, "tool", "x", Trust.STRUCTURE), 0.55),
        True,
    ),
)


@pytest.fixture
def graph() -> SessionGraph:
    graph = SessionGraph()
    for node, _ in FACTS:
        graph.apply(NodeAdded(node))
    return graph


def test_a_block_of_explicit_facts_leaves_out_guesses(graph: SessionGraph) -> None:
    whole = build_resume(graph, budget=5_000, counter=QUARTERS, nonce=NONCE).text
    block = build_resume(graph, budget=5_000, counter=QUARTERS, nonce=NONCE, explicit=True).text
    assert all(node.label in whole for node, _ in FACTS)
    assert {node.label for node, _ in FACTS if node.label in block} == {node.label for node, sure in FACTS if sure}
    for made in build_resumes(graph, counter=QUARTERS, nonce=NONCE, explicit=True).values():
        assert "Redis" not in made.text and "guide" not in made.text


def test_other_sessions_hand_on_no_guesses_then(graph: SessionGraph) -> None:
    found = earlier_facts(SessionGraph(), [("monday", graph)], explicit=True)
    texts = " ".join(fact.text for fact in found)
    assert "PostgreSQL" in texts and "never push" in texts
    assert "Redis" not in texts and "guide" not in texts


@pytest.mark.parametrize("facts", ["all", "explicit"])
def test_the_setting_decides_for_blocks_and_cuts(facts: Literal["all", "explicit"]) -> None:
    memory = SessionMemory.open("memory://", Settings(block_facts=facts, default_window=4_000, block_tokens=300))
    chat = [
        {"role": "user", "content": "Never push to main. Build a shop."},
        {"role": "assistant", "content": "The import guide is finished."},
        *({"role": "user", "content": f"Note {number}: {'the weather is fine. ' * 60}"} for number in range(20)),
    ]
    memory.record("s", chat[:2])
    guesses = [node for node in memory.graph("s").nodes() if node.confidence < EXPLICIT]
    assert guesses
    cut = memory.shorten("s", chat)
    assert cut is not None
    for text in (memory.resume("s").text, cut.block):
        stated = text.partition("Said (")[0]
        assert "Never push to main" in stated
        assert any(node.label in stated for node in guesses) is (facts == "all")
    memory.close()
