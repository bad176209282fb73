"""What a list shows about a session."""

from __future__ import annotations

import pytest

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.operations.summaries import summarize_session


@pytest.mark.parametrize(
    ("goal", "title"),
    [
        ("finish the tax migration", "Finish the tax migration"),
        ("finish the migration by March (now: finish the migration by April)", "Finish the migration by April"),
        ("iOS app for the hall", "iOS app for the hall"),
        ("setup.py without warnings", "setup.py without warnings"),
    ],
)
def test_a_title_is_the_goal_as_it_is_now(goal: str, title: str) -> None:
    with SessionMemory.open() as memory:
        memory.remember("s", goal, "goal", create=True)
        shown = summarize_session(memory, SessionKey(LOCAL_TENANT, "s"))
        assert (shown.title, shown.goal) == (title, goal)
