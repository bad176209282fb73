"""How texts are judged without a model, and what simpler ways make of a session."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.blocks import RESUMES, bm25
from benchmarks.prefix import sent
from benchmarks.probes import QUARTERS, covers, states, values
from benchmarks.retention import needed
from benchmarks.state import Probe, earlier, told_as

TURNS = [
    {"role": "user", "content": "The ferry to the island leaves at nine from pier 4, please plan the trip around it."},
    {"role": "assistant", "content": "The ferry takes an hour. Shall I look for rooms?"},
    {"role": "user", "content": "We want two rooms near the lighthouse for three nights, the budget is 300 euros."},
]


def test_values_are_what_the_question_does_not_give() -> None:
    assert values("The Green Ferry leaves on May 3, from pier 4.", "When does the ferry leave?") == [
        "green",
        "may",
        "3",
        "4",
    ]


STATED = [
    ("The ferry leaves at 9:40 from pier 4.", True),
    ("The train costs 9:40.", False),
    ("The ferry leaves. From pier 4, at 9:40.", True),
    ("The ferry leaves at 9:30.", False),
]


@pytest.mark.parametrize(("text", "told"), STATED)
def test_a_value_is_stated_near_words_of_the_question(text: str, told: bool) -> None:
    assert states(text, ["9:40"], "When does the ferry leave the pier?") is told


def test_a_line_covers_what_it_holds_most_of() -> None:
    assert covers("- always answer in short French sentences", "Always answer in French")
    assert not covers("answer later\nin French", "Always answer me in plain French")


UPDATE = Probe("update", "What is the budget for rooms?", ("350",), "300")
TOLD = [
    ("The budget for rooms is 350 euros.", "clean"),
    ("The budget for rooms is 300 euros.", "stale"),
    ("We like lighthouses.", "none"),
    ("The budget for rooms is 300 euros.\nThe budget for rooms is 350 euros.", "unordered"),
    (
        "Newest first; [n] is the message.\nThe budget for rooms is 350 euros.\nThe budget for rooms is 300 euros.",
        "ordered",
    ),
    ("The budget for rooms is 300 euros (later [9]: 350).\nThe budget for rooms is 350 euros.", "ordered"),
]


@pytest.mark.parametrize(("text", "kind"), TOLD)
def test_how_an_updated_fact_is_told(text: str, kind: str) -> None:
    assert told_as(text, UPDATE) == kind


def test_the_earlier_value_is_the_one_of_the_same_shape_beside_the_question_s_words() -> None:
    said = "We leave on the 3rd. The budget for our rooms is $300 now."
    assert earlier(said, ["350"], "What is the budget for rooms?") == "300"
    assert earlier("We leave on the 3rd.", ["350"], "What is the budget for rooms?") == ""


@pytest.mark.parametrize("name", RESUMES)
@pytest.mark.parametrize("budget", [5, 20, 60, 500])
def test_simpler_ways_keep_their_budget(name: str, budget: int) -> None:
    text = RESUMES[name](TURNS, budget)
    assert QUARTERS.count(text) <= budget + 1
    if budget == 500:
        assert "lighthouse" in text


def test_bm25_gives_the_message_that_shares_most() -> None:
    assert bm25(TURNS, 40, "what is the budget for the rooms?").startswith("We want two rooms")
    assert bm25(TURNS, 40, "xylophone") == ""


def test_what_later_calls_need_is_what_they_name_and_stood_before() -> None:
    turns: list[dict[str, Any]] = [
        {"role": "user", "content": "look at src/app.py and user_name"},
        {"role": "assistant", "content": "", "tool_calls": [{"arguments": {"path": "src/app.py", "text": "new_name"}}]},
    ]
    assert needed(turns, 1) == {"src/app.py"}


def test_a_prefix_is_counted_from_the_request_before() -> None:
    grows = [
        [{"role": "user", "content": "a" * 400}],
        [{"role": "user", "content": "a" * 400}, {"role": "user", "content": "b"}],
    ]
    assert sent(grows)["cached"] > 0.4
    assert sent([grows[0], [{"role": "user", "content": "c" * 400}]])["cached"] < 0.1
