"""What becomes of an error when nobody says that it is fixed."""

from __future__ import annotations

import pytest

from tokenmizer_mw.extract.finding import Finding
from tokenmizer_mw.extract.ledger import Ledger
from tokenmizer_mw.extract.recovering import slipped
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import NodeType, Status, Trust

from .talks import labels, talk

WRONG = "u: The label printer fails on long names"
WORKED = "a: The width was too small.\n```python\nwidth = 80\n```"


def test_an_error_is_past_when_the_talk_goes_on() -> None:
    graph = talk(WRONG, WORKED, "u: Add a preview of the label to the settings page")
    assert labels(graph, NodeType.ERROR, Status.COMPLETED) == ["The label printer fails on long names"]


@pytest.mark.parametrize(
    "later",
    [
        "still broken",
        "the label printer fails on long names here too",
        "which version of the label printer do long names need?",
    ],
)
def test_an_error_that_is_spoken_of_again_stays_open(later: str) -> None:
    assert labels(talk(WRONG, WORKED, f"u: {later}"), NodeType.ERROR, Status.ACTIVE)


@pytest.mark.parametrize("answer", ["a: Which printer is it?", f"{WORKED}\nShall I widen it?", "a: Hm."])
def test_an_error_that_nobody_worked_on_stays_open(answer: str) -> None:
    graph = talk(WRONG, answer, "u: Add a preview to the settings page")
    assert labels(graph, NodeType.ERROR, Status.ACTIVE) == ["The label printer fails on long names"]


def test_of_two_errors_the_one_that_is_not_told_again_is_past() -> None:
    graph = talk(WRONG, WORKED, "u: Saving a template crashes the editor")
    assert labels(graph, NodeType.ERROR, Status.ACTIVE) == ["Saving a template crashes the editor"]


@pytest.mark.parametrize(
    ("label", "left"),
    [
        ("String to replace not found in file: page.tsx", Status.COMPLETED),
        ("error: unexpected argument '-A' found", Status.COMPLETED),
        ("bash: dotnet: command not found", Status.ACTIVE),
        ("failing test: cart > adds an item", Status.ACTIVE),
    ],
)
def test_a_call_that_was_wrong_is_past_when_the_work_ends(label: str, left: Status) -> None:
    ledger = Ledger(SessionGraph())
    ledger.read(2, "tool", 1, 1)
    ledger.add(Finding(NodeType.ERROR, label, Status.ACTIVE, Trust.STRUCTURE, 0.95, quote=label))
    ledger.read(3, "assistant", 1, 2)
    slipped(ledger)
    assert [node.status for node in ledger.graph.nodes(NodeType.ERROR)] == [left]


def test_the_telling_line_of_what_a_user_pastes_is_an_error() -> None:
    pasted = "u: last night again\n```\nINFO: starting copy of disk 7\nERROR: disk 7 copy failed - got timeout\n```"
    assert labels(talk(pasted), NodeType.ERROR) == ["ERROR: disk 7 copy failed - got timeout"]


@pytest.mark.parametrize(
    ("pasted", "label"),
    [
        ("FAILED  Tests\\SeatTest > two guests\nSQLSTATE[40001]: 1213 Deadlock found", "1213 Deadlock found"),
        ("SeatTest > two guests() FAILED\n    java.lang.AssertionError: expected:<1>", "AssertionError: expected"),
    ],
)
def test_a_failing_test_is_told_with_its_cause(pasted: str, label: str) -> None:
    (found,) = labels(talk(f"u: not yet\n```\n{pasted}\n```"), NodeType.ERROR)
    assert "two guests" in found
    assert label in found


def test_what_stands_above_a_log_says_what_fails() -> None:
    said = "u: saving the third export:\n```\nTypeError: cannot read properties of null\n```"
    assert labels(talk(said), NodeType.ERROR) == ["saving the third export: TypeError: cannot read properties of null"]
    said = "u: the console says:\n```\nTypeError: cannot read properties of null\n```"
    assert labels(talk(said), NodeType.ERROR) == ["TypeError: cannot read properties of null"]


@pytest.mark.parametrize("said", ["a deadlock", "出错了", "아직 버그가 있다"])
def test_a_complaint_that_says_nothing_else_is_about_what_was_done_last(said: str) -> None:
    graph = talk("u: Add a retry to the webhook sender", "a: I added the retry to the webhook sender.", f"u: {said}")
    assert labels(graph, NodeType.ERROR) == []
