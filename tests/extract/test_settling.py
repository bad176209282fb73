"""Open work is closed by sentences that speak of it as done by the way."""

from __future__ import annotations

import pytest

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.model.node import NodeType, Status

from .talks import RULES_ONLY

OPENING = "Please help me to move our club to a new server."
LEFT = "remaining: calendar, wiki, the mailing lists. the old backups I'll delete on Sunday"


def states(*talk: str) -> dict[str, Status]:
    """The work of a talk of a user and an assistant, in turns, with its state."""
    memory = SessionMemory.open("memory://", RULES_ONLY)
    roles = ("user", "assistant")
    memory.record("s", [{"role": roles[at % 2], "content": text} for at, text in enumerate(talk)])
    found = {node.label: node.status for node in memory.graph("s").nodes(NodeType.TASK)}
    memory.close()
    return found


@pytest.mark.parametrize(
    ("said", "task"),
    [
        ("wiki is done btw.", "wiki"),
        ("calendar migrated (export, import, checked two months).", "calendar"),
        ("wiki works now, all pages there", "wiki"),
    ],
)
def test_what_is_spoken_of_as_done_is_closed(said: str, task: str) -> None:
    found = states(OPENING, "Fine, one after the other.", LEFT, "Noted.", said)
    assert {state for label, state in found.items() if task in label} == {Status.COMPLETED}


@pytest.mark.parametrize(
    "said",
    [
        "the wiki is not done yet",
        "the wiki runs on the old server",
        "Anna works on the wiki for the server",
        "the wiki has the calendar in a frame",
        "is the wiki done?",
        "once the wiki is done we tell everyone",
        "the printer is done for",
        "the wiki failed twice",
    ],
)
def test_what_is_not_said_to_be_done_stays_open(said: str) -> None:
    assert states(OPENING, "Fine, one after the other.", LEFT, "Noted.", said)["wiki"] is Status.PENDING


def test_what_is_dropped_is_not_done() -> None:
    found = states(OPENING, "Fine, one after the other.", LEFT, "Noted.", "calendar is off the list now")
    assert found["calendar"] is Status.ARCHIVED
