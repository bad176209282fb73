"""What is described before it is changed is not decided; a rule is told whole; what nobody put up is not ruled out."""

from __future__ import annotations

import pytest

from tests.extract.talks import labels, talk
from tokenmizer_mw.extract.finding import Segment, SegmentKind
from tokenmizer_mw.extract.present import is_present_state
from tokenmizer_mw.model.node import NodeType, Status

OPENING = ("u: Help me with the web shop backend.", "a: Sure, what do you need?")


def sentences(*texts: str) -> list[Segment]:
    return [Segment(SegmentKind.PROSE, text, at, at + 1) for at, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("said", "index"),
    [
        (("Currently the shop sends two kinds of mail.", "Refunds only get a plain text."), 1),
        (("Refunds only get a plain text.", "They should show the reason."), 0),
        (("Momentan bekommen alle dieselbe Mail.",), 0),
    ],
)
def test_what_there_is(said: tuple[str, ...], index: int) -> None:
    assert is_present_state(index, sentences(*said))


@pytest.mark.parametrize(
    ("said", "index"),
    [
        (("Refunds only get a plain text.",), 0),
        (("Currently there are two mails.", "I want one mail.", "Refunds get a plain text."), 2),
        (("We keep the plain text.", "They should stay short."), 0),
    ],
)
def test_what_is_settled(said: tuple[str, ...], index: int) -> None:
    assert not is_present_state(index, sentences(*said))


@pytest.mark.parametrize("said", ["bun run lint - no lint errors", "The report has no blank pages, good."])
def test_what_nobody_put_up_is_not_turned_down(said: str) -> None:
    assert labels(talk(*OPENING, f"u: {said}"), NodeType.DECISION) == []


def test_a_rule_is_told_with_both_halves() -> None:
    said = "The page must not only be fast, it should be perfect"
    assert labels(talk(f"u: {said}."), NodeType.DECISION, Status.ACTIVE) == [said]
