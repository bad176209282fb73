"""Facts that a user tells by the way, and what takes their place."""

from __future__ import annotations

import pytest

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.extract.segment import segment
from tokenmizer_mw.extract.told import FACTS_MAX, parts_of, told_in
from tokenmizer_mw.model.node import NodeType, Status

from .talks import RULES_ONLY

TOLD = [
    ("The first tasting is on May 12, can you draft an invitation?", [("the first tasting is on May 12", "may 12")]),
    (
        "I'm a bit worried about the rent, which is $1,450 a month now",
        [("the rent, which is $1,450 a month now", "$1,450")],
    ),
    ("Our photo archive has 3,200 scans", [("our photo archive has 3,200 scans", "3,200 scans")]),
    ("We moved in on May 3, 2024, and the roof leaks", [("we moved in on May 3, 2024", "may 3")]),
    ("the list of volunteers, which has now reached 65", [("the list of volunteers, which has now reached 65", "65")]),
    ("What helps, now that our matinee sold 40 seats?", [("our matinee sold 40 seats", "40 seats")]),
    ("What is on line 12?", []),
    ("Look at line 12 of my notes", []),
    ("If we had 40 seats, would it pay?", []),
    ("sort these 3 lists", []),
]


@pytest.mark.parametrize(("text", "facts"), TOLD)
def test_facts_with_values(text: str, facts: list[tuple[str, str]]) -> None:
    found = told_in(segment(text), [])
    assert [(finding.label.casefold(), finding.value) for finding in found] == [
        (label.casefold(), value) for label, value in facts
    ]


def test_what_is_stated_already_is_not_told_again() -> None:
    (segmented,) = segment("Our photo archive has 3,200 scans")
    (fact,) = told_in([segmented], [])
    assert told_in([segmented], [fact]) == []


def test_a_message_tells_a_few_facts_only() -> None:
    text = " ".join(f"Our village hall {chr(65 + at)} has {at + 10} chairs." for at in range(9))
    assert len(told_in(segment(text), [])) == FACTS_MAX


def _told(*texts: str) -> list[tuple[str, Status]]:
    memory = SessionMemory.open("memory://", RULES_ONLY)
    for end in range(1, len(texts) + 1):
        memory.record("s", [{"role": "user", "content": text} for text in texts[:end]])
    return [(node.label, node.status) for node in memory.graph("s").nodes(NodeType.CONCEPT)]


def test_a_new_value_takes_the_place_of_the_one_before() -> None:
    found = _told(
        "I want to plan our reading circle.",
        "Our reading circle meets 12 members, is that too many?",
        "Now our reading circle meets 15 members, how does that change the plan?",
    )
    assert [status for _, status in found] == [Status.SUPERSEDED, Status.ACTIVE]


def test_another_matter_with_a_value_of_the_same_sort_stands_beside_it() -> None:
    found = _told(
        "I want to plan our reading circle.",
        "Our reading circle meets 12 members, is that too many?",
        "The choir of our school has 15 members, can you find their address?",
    )
    assert [status for _, status in found] == [Status.ACTIVE, Status.ACTIVE]


@pytest.mark.parametrize(
    ("said", "parts"),
    [
        ("for the second ferry, 15 minutes is too long", ["for the second ferry, 15 minutes is too long"]),
        ("on Sundays, the last boat is at 18:30, so hurry", ["on Sundays, the last boat is at 18:30", "hurry"]),
        ("in addition, tickets cost 12 euros", ["in addition", "tickets cost 12 euros"]),
        ("the boat is late, on Sundays too", ["the boat is late", "on Sundays too"]),
    ],
)
def test_a_fact_keeps_what_it_holds_for(said: str, parts: list[str]) -> None:
    assert parts_of(said, scoped=True) == parts
