"""What a session is for, when its first message tells it in more than one sentence."""

from __future__ import annotations

import pytest

from tokenmizer_mw.model.node import NodeType, Status

from .talks import labels, talk


@pytest.mark.parametrize(
    ("opening", "goal"),
    [
        ("The label printer jams on long names. Please fix it.", "The label printer jams on long names"),
        ("Hi! I never did databases. I want a small catalogue for my stamps.", "a small catalogue for my stamps"),
        ("6 vans, 2 drivers, one depot. Our company has to plan the routes better.", "plan the routes better"),
        ("Our choir wants to sell tickets online. Can you help me with this?", "wants to sell tickets online"),
        ("Optimise the export. The file format must not change.", "The file format must not change"),
        ("Is there an easy way to stop the scheduler from running twice?", "stop the scheduler from running twice"),
    ],
)
def test_a_goal_is_told_by_the_sentence_that_names_it(opening: str, goal: str) -> None:
    (found,) = labels(talk(f"u: {opening}"), NodeType.GOAL)
    assert goal in found


def test_a_symptom_that_is_the_goal_is_an_error_as_well() -> None:
    graph = talk("u: The label printer fails on long names")
    assert labels(graph, NodeType.ERROR, Status.ACTIVE) == ["The label printer fails on long names"]


def test_a_question_that_wants_something_stays_the_goal() -> None:
    asked = "u: Any idea why the nightly backup of the photo archive is empty?"
    (goal,) = labels(talk(asked, "a: Yes.", "u: Add a checksum to every archive that is written"), NodeType.GOAL)
    assert "nightly backup" in goal
