"""What a user tells to ask something about it is no work of the session; what a user plans is no rule for others."""

from __future__ import annotations

import pytest

from tokenmizer_mw.extract.background import is_background
from tokenmizer_mw.model.node import NodeType, Status

from .talks import labels, talk


@pytest.mark.parametrize(
    ("sentence", "claim", "background"),
    [
        ("I finished two of her novels, what should I read next?", "I finished two of her novels", True),
        ("I'm proud that I completed the ferry course last week", "I completed the ferry course last week", True),
        ("I booked the cabin for June, but I'm not sure it is big enough", "I booked the cabin for June", True),
        ("I drafted eleven chapters, and I'm wondering whether to stop", "I drafted eleven chapters", True),
        ("I migrated the orders table, can you check the indexes?", "I migrated the orders table", False),
        ("I finished the chapter on tides", "I finished the chapter on tides", False),
    ],
)
def test_background_of_a_question(sentence: str, claim: str, background: bool) -> None:
    assert is_background(sentence, claim) is background


@pytest.mark.parametrize(
    "said",
    [
        "I completed nine swimming lessons, do you think that is enough for the lake?",
        "I'm a bit nervous because I scheduled three talks in one week.",
    ],
)
def test_what_is_told_to_ask_about_it_is_not_done_work(said: str) -> None:
    assert labels(talk("u: How do I learn to swim?", "a: Slowly.", f"u: {said}"), NodeType.TASK, Status.COMPLETED) == []


def test_work_on_a_thing_at_hand_is_done_whatever_is_asked_about_it() -> None:
    graph = talk("u: Let us clean up the shop.", "a: Fine.", "u: I've renamed the tables, can you check the views?")
    assert any("renamed the tables" in label for label in labels(graph, NodeType.TASK, Status.COMPLETED))


@pytest.mark.parametrize(
    "said",
    [
        "I'll call the harbour first and make sure they are open.",
        "I'll keep an eye on the tide tables.",
        "I'll walk to the lighthouse and take advantage of the low tide.",
        "I'm wondering if I should buy a second sail.",
        "I think the tide app will be super helpful.",
        "Let's keep the songs going!",
    ],
)
def test_what_is_planned_or_weighed_decides_nothing(said: str) -> None:
    graph = talk("u: How do I plan a day at the coast?", "a: Look at the tides first.", f"u: {said}")
    assert labels(graph, NodeType.DECISION, Status.ACTIVE) == []


@pytest.mark.parametrize(
    "said",
    [
        "It's a good reminder to keep sailing.",
        "Let's make sure we keep everything tidy.",
        "I'll keep tracking the wind and see how it changes.",
        "Can't wait to see the harbour!",
        "I'll take short breaks on the way.",
    ],
)
def test_nothing_is_wrong_where_nothing_fails(said: str) -> None:
    graph = talk("u: How do I plan a day at the coast?", "a: Look at the tides first.", f"u: {said}")
    assert labels(graph, NodeType.ERROR) == []


@pytest.mark.parametrize(
    ("said", "tests"),
    [
        ("Use a passphrase that nobody guesses.", []),
        ("First pass: read the text aloud.", []),
        ("You need 2 cups green lentils.", []),
        ("All 31 checks pass now.", ["All 31 checks pass now"]),
        ("The smoke tests are green.", ["The smoke tests are green"]),
        ("31 of 31 passed.", ["31 of 31 passed"]),
    ],
)
def test_tests_are_tests(said: str, tests: list[str]) -> None:
    assert labels(talk("u: Clean up the importer.", f"a: {said}"), NodeType.TEST) == tests
