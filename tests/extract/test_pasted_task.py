"""The title of a task that a client pastes into the first message becomes the session's goal."""

from __future__ import annotations

import pytest

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.extract.candidates.pasted_task import find_task_title
from tokenmizer_mw.model.node import NodeType

HANDED = [
    (
        "We're solving the following issue within our repository. Here's the issue text:\nISSUE:\n"
        "Rounding of durations loses a millisecond\nHi there!\n\nI see 344 where 345 is right.",
        "Rounding of durations loses a millisecond",
    ),
    (
        "<pr_description>\nConsider the following PR description:\nExport drops the last page\nConsider this:\n"
        "</pr_description>",
        "Export drops the last page",
    ),
    (
        "I've uploaded a repository. Consider the following issue description:\n\n<issue_description>\n"
        "# The parser hangs on empty files\n\nExpected: no hang.\n</issue_description>\n\nYour task is to make the"
        " minimal changes so that the <issue_description> is satisfied.",
        "The parser hangs on empty files",
    ),
]


@pytest.mark.parametrize("text, title", HANDED)
def test_the_title_of_a_task_that_is_handed_over_is_the_goal(text: str, title: str) -> None:
    with SessionMemory.open("memory://") as memory:
        memory.record("s", [{"role": "user", "content": text}])
        goals = [node for node in memory.graph("s").nodes() if node.type is NodeType.GOAL]
        assert [goal.label for goal in goals] == [title]
        assert title in goals[0].source.quote


@pytest.mark.parametrize(
    "text",
    [
        "Here's the plan:\n1. write the parser for dates\n2. test it",
        "The following issue:",
        "We talked about the following issue: none.\nNow write a parser for dates.",
        "Here's the issue text:\nshort one",
        "",
    ],
)
def test_other_messages_hand_over_no_task(text: str) -> None:
    assert find_task_title(text) is None


def test_a_title_stands_at_its_place() -> None:
    text = "Here is the bug report:\n\n  ## Login fails for users with umlauts\nsteps"
    found = find_task_title(text)
    assert found is not None
    assert text[found.start : found.end].endswith("umlauts")
    assert found.text == "Login fails for users with umlauts"


def test_a_problem_in_a_running_session_is_an_error_not_a_title() -> None:
    with SessionMemory.open("memory://") as memory:
        said = ["Build a booking site for our village hall with FastAPI.", "Done: the skeleton is there."]
        said.append("I have the following problem:\nthe login page crashes when a name has umlauts")
        turns = [
            {"role": role, "content": text} for role, text in zip(("user", "assistant", "user"), said, strict=True)
        ]
        memory.record("s", turns)
        errors = [node.label for node in memory.graph("s").nodes(NodeType.ERROR)]
        assert errors == ["the login page crashes when a name has umlauts"]
