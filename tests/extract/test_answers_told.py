"""What is said behind a question of the assistant, and does not answer it."""

from __future__ import annotations

import pytest

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.model.node import NodeType, Status

TALK = (
    ("user", "Build a page on which people rent our canoes. Prices in euros."),
    ("assistant", "The page is up. Should bookings need a confirmation by mail, or are they valid at once?"),
)


def decisions_after(message: str) -> list[str]:
    talk = [*TALK, ("user", message)]
    turns = [{"role": role, "content": text} for role, text in talk]
    with SessionMemory.open("memory://") as memory:
        for end in range(1, len(turns) + 1):
            memory.record("canoes", turns[:end])
        nodes = memory.graph("canoes").nodes(NodeType.DECISION)
        return [node.label for node in nodes if node.source.turn == len(turns) and node.status is Status.ACTIVE]


@pytest.mark.parametrize(
    "message",
    [
        "My aunt adores your calendar.",
        "The harbour master walked by with his dog.",
        "Sitting by the lake with wet feet. The gulls stole half of my lunch.",
        "Back to work, the rain has stopped.",
        "Why euros and not francs? Not complaining.",
        "Why euros and not francs, by the way? Asking, not ordering.",
        "Read all of it on the train, no remarks.",
    ],
)
def test_stories_answer_no_question(message: str) -> None:
    assert decisions_after(message) == []


@pytest.mark.parametrize("message", ["By mail.", "Valid at once, please.", "A confirmation by mail."])
def test_answers_are_still_read(message: str) -> None:
    assert any("mail" in label or "at once" in label for label in decisions_after(message))


@pytest.mark.parametrize("message", ["Not complaining, just curious.", "Nothing built yet, not finished."])
def test_what_somebody_is_not_doing_turns_nothing_down(message: str) -> None:
    turns = [{"role": role, "content": text} for role, text in [*TALK, ("user", message)]]
    with SessionMemory.open("memory://") as memory:
        memory.record("canoes", turns)
        nodes = memory.graph("canoes").nodes(NodeType.DECISION)
        assert [node.label for node in nodes if node.status is Status.INVALIDATED] == []
