"""Cases of replaced choices: read, and judged on graphs made by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from benchmarks.scoring import free_tokens
from benchmarks.transitions import Case, Link, Verdict, cases, shares, verdict
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import DecisionReplaced, NodeAdded
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Source, Status, Transition

CASE = Case(
    "one",
    "replace",
    ({"role": "user", "content": "x"},),
    holds=(("Postgres", "PostgreSQL"),),
    gone=(("MongoDB",),),
    links=(Link(("MongoDB",), ("Postgres", "PostgreSQL"), "we need transactions"),),
)


def _choice(id: str, label: str) -> NodeAdded:
    return NodeAdded(Node(id, NodeType.DECISION, label, Status.ACTIVE, Source(1, "user"), kind=DecisionKind.CHOICE))


def _graph(*labels: str, reason: str | None = None) -> SessionGraph:
    """Choices in this order; with a reason, the first is replaced by the second."""
    graph = SessionGraph()
    for at, label in enumerate(labels):
        graph.apply(_choice(f"d{at}", label))
    if reason is not None:
        graph.apply(DecisionReplaced(Transition("d0", "d1", 2, reason)))
    return graph


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (_graph("use MongoDB", "PostgreSQL", reason="we need real transactions"), Verdict(True, True, (True,), 0)),
        (_graph("use MongoDB", "PostgreSQL", reason=""), Verdict(True, True, (False,), 0)),
        (_graph("use MongoDB", "PostgreSQL"), Verdict(False, False, (False,), 0)),
        (_graph("use files", "PostgreSQL", reason="slow"), Verdict(True, False, (False,), 1)),
        (_graph("Postgres instead of MongoDB"), Verdict(True, False, (False,), 0)),
        (_graph(), Verdict(False, False, (False,), 0)),
    ],
)
def test_verdicts(graph: SessionGraph, expected: Verdict) -> None:
    assert verdict(CASE, graph) == expected


def test_where_nothing_was_replaced_no_transition_is_right() -> None:
    quiet = replace(CASE, links=(), gone=())
    assert verdict(quiet, _graph("Postgres")) == Verdict(True, True, (), 0)
    assert verdict(quiet, _graph()) == Verdict(False, False, (), 0)
    assert verdict(quiet, _graph("MongoDB", "Postgres", reason="")) == Verdict(True, False, (), 1)


def test_shares() -> None:
    found = shares([Verdict(True, True, (True, False), 0), Verdict(True, False, (), 2)])
    expected = {"cases": 2, "current": 1.0, "predecessor": 0.5, "reasons": 2, "reason": 0.5, "unfounded": 2}
    assert found == expected


def test_the_cases_are_many_and_varied() -> None:
    told = cases()
    kinds = Counter(case.kind for case in told)
    assert len({case.id for case in told}) == len(told) >= 60
    assert set(kinds) == {"replace", "chain", "back", "partial", "both", "correction", "none"}
    assert min(kinds.values()) >= 6


def test_the_cases_speak_of_their_values() -> None:
    for case in cases():
        said = free_tokens(" ".join(turn["content"] for turn in case.turns))
        values = [*case.holds, *case.gone, *(value for link in case.links for value in (link.old, link.new))]
        assert all(any(free_tokens(spelling) <= said for spelling in value) for value in values), case.id
        assert all(free_tokens(link.why) <= said for link in case.links), case.id
        assert (case.kind in ("none", "both")) <= (not case.links), case.id
