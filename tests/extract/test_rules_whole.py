"""A rule is told whole; what nobody put up is not ruled out."""

from __future__ import annotations

import pytest

from tests.extract.talks import labels, talk
from tokenmizer_mw.model.node import NodeType, Status

OPENING = ("u: Help me with the web shop backend.", "a: Sure, what do you need?")


@pytest.mark.parametrize("said", ["bun run lint - no lint errors", "The report has no blank pages, good."])
def test_what_nobody_put_up_is_not_turned_down(said: str) -> None:
    assert labels(talk(*OPENING, f"u: {said}"), NodeType.DECISION) == []


def test_a_rule_is_told_with_both_mixed_status() -> None:
    said = "The page must not only be fast, it should be perfect"
    assert labels(talk(f"u: {said}."), NodeType.DECISION, Status.ACTIVE) == [said]
