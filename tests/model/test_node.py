"""The vocabulary: what the paper counts, and the table of legal moves."""

from __future__ import annotations

import pytest

from tokenmizer_mw.model.node import LIFECYCLE, REOPENINGS, EdgeType, NodeType, Status, may_move
from tokenmizer_mw.model.session import SESSION_ID_MAX, SessionKey


def test_the_counts_of_the_paper() -> None:
    assert (len(NodeType), len(EdgeType), len(Status)) == (14, 7, 8)
    assert Status("modified") is Status.SUPERSEDED
    with pytest.raises(ValueError):
        Status("nonsense")


def test_every_status_has_its_row() -> None:
    assert set(LIFECYCLE) == set(Status)
    for status, targets in REOPENINGS.items():
        assert not targets & LIFECYCLE[status], "a reopening is what the lifecycle does not allow"
        assert status not in targets


MOVES = [
    (Status.PENDING, Status.IN_PROGRESS, True, True),
    (Status.PENDING, Status.COMPLETED, True, True),
    (Status.IN_PROGRESS, Status.PENDING, False, True),
    (Status.COMPLETED, Status.IN_PROGRESS, False, True),
    (Status.COMPLETED, Status.SUPERSEDED, True, True),
    (Status.SUPERSEDED, Status.ACTIVE, False, True),
    (Status.SUPERSEDED, Status.COMPLETED, False, False),
    (Status.ARCHIVED, Status.FAILED, False, False),
    (Status.ACTIVE, Status.ACTIVE, False, False),
]


@pytest.mark.parametrize(("old", "new", "plain", "with_evidence"), MOVES)
def test_may_move(old: Status, new: Status, plain: bool, with_evidence: bool) -> None:
    assert may_move(old, new, evidence=False) is plain
    assert may_move(old, new, evidence=True) is with_evidence


IDS = [
    ("a", True),
    ("../../etc/passwd", True),
    ("x" * SESSION_ID_MAX, True),
    ("x" * (SESSION_ID_MAX + 1), False),
    ("", False),
    ("a\x00b", False),
    ("a\nb", False),
    ("a\ud800", False),
    (7, False),
]


@pytest.mark.parametrize(("id", "valid"), IDS)
def test_session_ids(id: str, valid: bool) -> None:
    assert SessionKey("local", id).valid() is valid
    assert SessionKey(id, "s").valid() is valid
