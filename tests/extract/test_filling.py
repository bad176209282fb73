"""Thin labels of choices are told with what they take up; names that speak for themselves stay as they are."""

from __future__ import annotations

import pytest

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.model.node import NodeType, Status


def decided(*talk: str) -> list[str]:
    """The choices in force after a talk of a user and an assistant, in turns."""
    memory = SessionMemory.open("memory://")
    roles = ("user", "assistant")
    memory.record("s", [{"role": roles[at % 2], "content": text} for at, text in enumerate(talk)])
    found = [node.label for node in memory.graph("s").nodes(NodeType.DECISION, status=Status.ACTIVE)]
    memory.close()
    return found


OPENING = "Please help me to limit failed logins in our shop."


@pytest.mark.parametrize(
    ("told", "answer", "label"),
    [
        (
            "A counter in memory loses count at each restart. A small table with user and window is enough for this.",
            "table then.",
            "table: A small table with user and window is enough for this",
        ),
        (
            "Where shall the counts live?",
            "use the table, it is written in one go",
            "use the table, it is written in one go",
        ),
    ],
)
def test_a_thin_answer_is_told_with_what_it_takes_up(told: str, answer: str, label: str) -> None:
    assert label in decided(OPENING, told, answer)


@pytest.mark.parametrize("name", ["PostgreSQL", "redis", "HTTP-01"])
def test_a_name_stays_a_name(name: str) -> None:
    told = f"One could store the counts in several places. {name} would do here as well, with little to set up."
    assert any(label == name for label in decided(OPENING, told, f"Let's use {name}."))


def test_two_sentences_about_it_fill_nothing() -> None:
    told = "A table is slow to write. Still, a table survives each restart of the machine."
    assert "table" in decided(OPENING, told, "table then.")
