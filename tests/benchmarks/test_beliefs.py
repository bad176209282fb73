"""Beliefs: the benchmark's judgement on graphs made by hand, and a floor under its figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.beliefs import Case, faults_of, load_cases, run
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import DecisionReplaced, Event, NodeAdded
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Source, Status, Transition

FLOORS = {"keep": 0.8, "change": 0.48, "status": 0.8}
"""What the figures do not fall below; the bars are in the benchmark."""


def _node(id: str, type_: NodeType, label: str, status: Status, turn: int = 1) -> NodeAdded:
    kind = DecisionKind.CHOICE if type_ is NodeType.DECISION else None
    return NodeAdded(Node(id, type_, label, status, Source(turn, "user"), kind=kind))


def _graph(*events: Event) -> SessionGraph:
    graph = SessionGraph()
    for event in events:
        graph.apply(event)
    return graph


def _case(group: str, *expected: str) -> Case:
    return Case(group, (("user", "Redis for the queue"), ("assistant", "Fine.")), "message", expected, "en", "")


_OLD = _node("d1", NodeType.DECISION, "Redis for the queue", Status.ACTIVE)
_NEW = _node("d2", NodeType.DECISION, "Kafka", Status.ACTIVE, 3)
_REPLACED = DecisionReplaced(Transition("d1", "d2", 3, ""))


@pytest.mark.parametrize(
    ("case", "events", "expected"),
    [
        (_case("keep", "Redis"), (_OLD,), []),
        (_case("keep", "Redis|Valkey"), (_OLD, _NEW), ["new belief"]),
        (_case("keep", "Redis"), (), ["not told"]),
        (_case("keep", "Redis"), (_OLD, _NEW, _REPLACED), ["not told", "new belief", "replaced", "withdrawn"]),
        (_case("change", "Redis", "Kafka"), (_OLD, _NEW, _REPLACED), []),
        (_case("change", "Redis", "Kafka"), (_OLD, _NEW), ["stale"]),
        (_case("change", "Redis", "Kafka"), (_OLD,), ["not arrived", "stale"]),
        (_case("status", "vat", "errors"), (_node("e1", NodeType.ERROR, "test_vat fails", Status.ACTIVE),), []),
        (_case("status", "vat", "errors"), (_node("t1", NodeType.TEST, "test_vat", Status.FAILED),), []),
        (
            _case("status", "vat", "errors"),
            (_node("t1", NodeType.TASK, "vat", Status.COMPLETED),),
            ["missing", "contradicted"],
        ),
        (_case("status", "Q4", "pending"), (_node("t1", NodeType.TASK, "numbers for Q4", Status.PENDING),), []),
    ],
)
def test_faults(case: Case, events: tuple[Event, ...], expected: list[str]) -> None:
    assert faults_of(case, _graph(*events)) == expected


def test_cases_name_their_language_and_kind_or_are_english(tmp_path: Path) -> None:
    raw = {
        "bases": {"one": [["user", "hi"]]},
        "keep": [["one", "value", "message"], ["one", "value", "message", "fr", "question"]],
        "status": [["one", "message", "words", "errors", "de"]],
    }
    (tmp_path / "cases.json").write_text(json.dumps(raw), encoding="utf-8")
    cases = load_cases(tmp_path)
    assert [(case.message, case.expected, case.language, case.kind) for case in cases] == [
        ("message", ("value",), "en", ""),
        ("message", ("value",), "fr", "question"),
        ("message", ("words", "errors"), "de", ""),
    ]


@pytest.mark.nightly
def test_beliefs_do_not_fall_below_the_floor() -> None:
    groups = run()["figures"]["groups"]
    assert {group: one["right"] for group, one in groups.items() if one["right"] < FLOORS[group]} == {}
