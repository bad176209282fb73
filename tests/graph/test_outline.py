from __future__ import annotations

import pytest

from tokenmizer_mw.graph.export.documents import outline
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import DecisionReplaced, Event, NodeAdded, StatusChanged
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Source, Status, Transition


def node(id: str, label: str, status: Status = Status.ACTIVE, **more: object) -> NodeAdded:
    type_ = NodeType(id.partition("-")[0])
    return NodeAdded(Node(id, type_, label, status, Source(3, "user"), **more))  # type: ignore[arg-type]


def lines(*events: Event) -> list[str]:
    graph = SessionGraph()
    for event in events:
        graph.apply(event)
    return outline(graph)


def test_an_empty_graph_has_no_lines() -> None:
    assert lines() == []


def test_sections_facts_and_marks() -> None:
    assert lines(
        node("task-1", "write tests", Status.PENDING),
        node("task-2", "write code", Status.COMPLETED),
        node("task-3", "ship", Status.FAILED),
        node("goal-1", "a booking service"),
        node("decision-1", "ask before deleting", kind=DecisionKind.RULE),
        node("decision-2", "Flask", kind=DecisionKind.CHOICE, detail="known to all"),
    ) == [
        "goal (1)",
        "   *  a booking service (#3)",
        "decisions (2)",
        "   *  rule: ask before deleting (#3)",
        "   *  Flask - known to all (#3)",
        "tasks (3)",
        "  [ ] write tests (#3)",
        "  [x] write code (#3)",
        "  [!] ship (#3)",
    ]


def test_what_was_replaced_stands_under_what_replaced_it() -> None:
    assert lines(
        node("decision-1", "CSV"),
        node("decision-2", "SQLite"),
        DecisionReplaced(Transition("decision-1", "decision-2", 5)),
        node("decision-3", "PostgreSQL"),
        DecisionReplaced(Transition("decision-2", "decision-3", 9, reason="it locks")),
    ) == [
        "decisions (3)",
        "   *  PostgreSQL (#3)",
        "       replaced SQLite (#9): it locks",
        "       replaced CSV (#5)",
    ]


def test_ids_stand_behind_the_message_numbers() -> None:
    graph = SessionGraph()
    for event in (
        node("decision-1", "SQLite"),
        node("decision-2", "PostgreSQL"),
        DecisionReplaced(Transition("decision-1", "decision-2", 5)),
    ):
        graph.apply(event)
    assert outline(graph, ids=True)[1:] == [
        "   *  PostgreSQL (#3, decision-2)",
        "       replaced SQLite (#5, decision-1)",
    ]


def test_what_no_longer_holds_comes_last_with_its_reason() -> None:
    assert lines(
        node("decision-1", "MQTT"),
        StatusChanged("decision-1", Status.INVALIDATED, 7, "one more thing to watch"),
        node("decision-2", "HTTP"),
    ) == [
        "decisions (2)",
        "   *  HTTP (#3)",
        "   -  MQTT (#3), rejected: one more thing to watch",
    ]


def test_a_circle_of_replacements_ends() -> None:
    assert lines(
        node("decision-1", "REST"),
        node("decision-2", "gRPC"),
        DecisionReplaced(Transition("decision-1", "decision-2", 5)),
        DecisionReplaced(Transition("decision-2", "decision-1", 9)),
        StatusChanged("decision-1", Status.ACTIVE, 9),
    ) == [
        "decisions (2)",
        "   *  REST (#3)",
        "       replaced gRPC (#9)",
    ]


def test_one_fact_may_replace_several() -> None:
    assert lines(
        node("decision-1", "pip"),
        node("decision-2", "poetry"),
        node("decision-3", "uv"),
        DecisionReplaced(Transition("decision-1", "decision-3", 5)),
        DecisionReplaced(Transition("decision-2", "decision-3", 5)),
    ) == [
        "decisions (3)",
        "   *  uv (#3)",
        "       replaced poetry (#5)",
        "       replaced pip (#5)",
    ]


@pytest.mark.parametrize(
    ("paths", "shown"),
    [
        (["/home/ann/shop/src/app.py", "/home/ann/shop/tests/a.py"], ["below /home/ann/shop/)", "  src/app.py (#1)"]),
        (["/home/ann/app.py", "/etc/hosts"], ["files (2)", "  /etc/hosts (#1)"]),
        (["/home/ann/shop/app.py"], ["files (1)", "  /home/ann/shop/app.py (#1)"]),
    ],
)
def test_absolute_paths_are_shown_below_the_folder_that_they_share(paths: list[str], shown: list[str]) -> None:
    graph = SessionGraph()
    for number, path in enumerate(paths, 1):
        graph.apply(NodeAdded(Node(f"file-{number}", NodeType.FILE, path, Status.ACTIVE, Source(1, "user", path))))
    text = "\n".join(outline(graph))
    assert all(part in text for part in shown)
