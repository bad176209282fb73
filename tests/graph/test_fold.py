"""The fold applies what events say; forks and copies keep their changes to themselves."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.graph.explanation import why
from tokenmizer_mw.graph.fold import POSTINGS_MAX, SessionGraph
from tokenmizer_mw.graph.search import search
from tokenmizer_mw.graph.text import label_key, words
from tokenmizer_mw.graph.views import as_valid, diff
from tokenmizer_mw.model.event import (
    DecisionReplaced,
    EdgeAdded,
    Event,
    NodeAdded,
    NodeRevised,
    NodesPruned,
    StatusChanged,
)
from tokenmizer_mw.model.node import DecisionKind, Edge, EdgeType, Node, NodeType, Source, Status, Transition, Trust


def node(
    id: str, label: str, type: NodeType = NodeType.DECISION, status: Status = Status.ACTIVE, **more: object
) -> Node:
    return Node(id, type, label, status, Source(turn=1, role="user", quote=f"quote of {label}"), **more)  # type: ignore[arg-type]


def built(*events: Event) -> SessionGraph:
    graph = SessionGraph()
    for at, event in enumerate(events):
        graph.apply(event, float(at))
    return graph


SQLITE = node("decision-1", "SQLite for storage", slot="database", value="sqlite")
POSTGRES = node("decision-2", "PostgreSQL for storage", slot="database", value="postgresql")
TASK = node("task-1", "write the migration", NodeType.TASK, Status.PENDING)
SWITCH = Transition("decision-1", "decision-2", trigger=4, reason="concurrent writes", evidence="it locks")


def test_lookups() -> None:
    graph = built(NodeAdded(SQLITE), NodeAdded(TASK))
    assert graph.find(NodeType.DECISION, "sqlite  FOR storage") == SQLITE
    assert graph.find(NodeType.TASK, "SQLite for storage") is None
    assert graph.in_slot("database") == SQLITE
    assert graph.in_slot("") is None
    assert graph.unfinished_nodes() == [TASK]
    assert [found.id for found, _ in graph.sharing_words("which storage?")] == ["decision-1"]
    assert graph.next_id(NodeType.TASK) == "task-2"
    assert graph.nodes("task", "pending") == [TASK]
    with pytest.raises(CallerError, match="nonsense"):
        graph.nodes("nonsense")


def test_a_replaced_decision() -> None:
    graph = built(NodeAdded(SQLITE), NodeAdded(POSTGRES), DecisionReplaced(SWITCH))
    assert graph.get("decision-1").status is Status.SUPERSEDED  # type: ignore[union-attr]
    assert graph.in_slot("database") == POSTGRES
    assert graph.transitions() == [SWITCH]
    assert graph.edges("supersedes") == [Edge("decision-2", EdgeType.SUPERSEDES, "decision-1", 4)]
    assert graph.life("decision-1").closed == 2.0


def test_work_closes_and_reopens() -> None:
    graph = built(NodeAdded(TASK), StatusChanged("task-1", Status.COMPLETED, 5))
    assert graph.unfinished_nodes() == []
    graph.apply(StatusChanged("task-1", Status.IN_PROGRESS, 6, quote="it still fails"))
    assert [n.id for n in graph.unfinished_nodes()] == ["task-1"]
    assert graph.life("task-1").touched == 6


def test_nodes_are_found_by_kind_and_by_the_words_that_pages_show() -> None:
    rule = node("decision-1", "Never push to main", kind=DecisionKind.RULE)
    old = node("decision-2", "queue: RabbitMQ", kind=DecisionKind.CHOICE, status=Status.SUPERSEDED)
    graph = built(NodeAdded(rule), NodeAdded(old))
    assert graph.nodes("rule") == graph.nodes(DecisionKind.RULE, "active") == [rule]
    assert graph.nodes(status="replaced") == graph.nodes("choice", Status.SUPERSEDED) == [old]
    assert "replaced" in repr(old)
    with pytest.raises(CallerError, match=r"environment.*rule"):
        graph.nodes("rules")
    with pytest.raises(CallerError, match="replaced"):
        graph.nodes(status="gone")


def test_pruning_takes_nodes_and_their_edges_but_no_transitions() -> None:
    edge = Edge("task-1", EdgeType.IMPLEMENTS, "decision-2")
    graph = built(NodeAdded(SQLITE), NodeAdded(POSTGRES), NodeAdded(TASK), EdgeAdded(edge), DecisionReplaced(SWITCH))
    graph.apply(NodesPruned(("task-1", "unknown")))
    assert graph.get("task-1") is None
    assert graph.find(NodeType.TASK, TASK.label) is None
    assert edge not in graph.edges()
    assert graph.transitions() == [SWITCH]
    assert graph.next_id(NodeType.TASK) == "task-2", "an id is never used twice"


def test_events_about_unknown_nodes_change_nothing() -> None:
    graph = built(StatusChanged("gone", Status.FAILED), NodeRevised("gone", {"label": "x"}))
    assert len(graph) == 0


def test_as_recorded_and_as_valid_are_two_questions() -> None:
    corrected = node("environment-1", "port 8080", NodeType.ENVIRONMENT, valid_from=-100.0, valid_until=50.0)
    graph = built(NodeAdded(SQLITE), NodeAdded(POSTGRES), DecisionReplaced(SWITCH), NodeAdded(corrected))
    assert {n.id for n in as_valid(graph, 0.5).nodes()} == {"decision-1", "environment-1"}
    assert as_valid(graph, 0.5).get("decision-1").status is Status.ACTIVE  # type: ignore[union-attr]
    assert {n.id for n in as_valid(graph, 10.0).nodes()} == {"decision-2", "environment-1"}
    assert {n.id for n in as_valid(graph, 60.0).nodes()} == {"decision-2"}


def test_what_was_true_follows_a_fact_through_its_life() -> None:
    back = Transition("decision-2", "decision-1", trigger=8, reason="too heavy")
    graph = SessionGraph()
    log = [
        (10.0, NodeAdded(SQLITE)),
        (10.0, NodeAdded(TASK)),
        (20.0, NodeAdded(POSTGRES)),
        (20.0, DecisionReplaced(SWITCH)),
        (30.0, StatusChanged("task-1", Status.COMPLETED, 7)),
        (40.0, DecisionReplaced(back)),
        (40.0, StatusChanged("decision-1", Status.ACTIVE, 8, quote="back to SQLite")),
    ]
    for at, event in log:
        graph.apply(event, at)
    held = {at: {n.id: n.status.value for n in as_valid(graph, at).nodes()} for at in (5.0, 15.0, 25.0, 35.0, 45.0)}
    assert held == {
        5.0: {},
        15.0: {"decision-1": "active", "task-1": "pending"},
        25.0: {"task-1": "pending", "decision-2": "active"},
        35.0: {"task-1": "completed", "decision-2": "active"},
        45.0: {"decision-1": "active", "task-1": "completed"},
    }
    assert [as_valid(graph, at).transitions() for at in (15.0, 25.0, 45.0)] == [[], [SWITCH], [SWITCH, back]]
    assert as_valid(graph, 25.0).in_slot("database") == POSTGRES


def test_diff_and_why() -> None:
    before = built(NodeAdded(SQLITE), NodeAdded(TASK))
    after = before.copy()
    for event in (NodeAdded(POSTGRES), DecisionReplaced(SWITCH), NodesPruned(("task-1",))):
        after.apply(event, 9.0)
    change = diff(before, after)
    assert [n.id for n in change.added] == ["decision-2"]
    assert [(old.status, new.status) for old, new in change.changed] == [(Status.ACTIVE, Status.SUPERSEDED)]
    assert [n.id for n in change.removed] == ["task-1"]
    assert change.transitions == (SWITCH,)
    assert not diff(after, after)
    reasons = why(after, POSTGRES)
    assert "SQLite for storage -> PostgreSQL for storage: concurrent writes" in reasons.text
    json.dumps([change.to_dict(), reasons.to_dict(), after.to_dict()])


def test_why_survives_a_circle() -> None:
    back = Transition("decision-2", "decision-1", trigger=8, reason="too heavy")
    graph = built(NodeAdded(SQLITE), NodeAdded(POSTGRES), DecisionReplaced(SWITCH), DecisionReplaced(back))
    graph.apply(StatusChanged("decision-1", Status.ACTIVE, 8))
    assert [step.trigger for _, step, _ in why(graph, SQLITE).chain] == [4, 8]


def test_search_prefers_what_holds() -> None:
    graph = built(NodeAdded(SQLITE), NodeAdded(POSTGRES), DecisionReplaced(SWITCH), NodeAdded(TASK))
    assert [hit.node.id for hit in search(graph, "storage", k=5)] == ["decision-2", "decision-1"]
    assert search(graph, "nothing of this", k=5) == []
    assert search(SessionGraph(), "storage") == []


def test_look_up_of_similar_labels_stays_capped() -> None:
    graph = built(*(NodeAdded(node(f"task-{n}", f"common word {n}", NodeType.TASK)) for n in range(POSTINGS_MAX * 3)))
    assert len(graph.sharing_words("common")) == POSTINGS_MAX


LABEL_WORDS = [
    ("api/auth.py and config", {"api/auth.py", "api", "auth", "py", "config"}),
    ("The HTTP-only cookie", {"http-only", "http", "only", "cookie"}),
    ("数据库迁移", {"数据", "据库", "库迁", "迁移"}),
    ("", set()),
]


@pytest.mark.parametrize(("label", "expected"), LABEL_WORDS)
def test_words(label: str, expected: set[str]) -> None:
    assert words(label) == expected


def test_keys_keep_the_case_of_paths_only() -> None:
    assert label_key(NodeType.FILE, "README.md") != label_key(NodeType.FILE, "readme.md")
    assert label_key(NodeType.TASK, "Add  Tests.") == label_key(NodeType.TASK, "add tests.")


LABELS = st.sampled_from(["use redis", "use sqlite", "add tests", "api/auth.py", "fix login", "port 8080"])
TYPES = st.sampled_from(list(NodeType))
STATUSES = st.sampled_from(list(Status))


@st.composite
def logs(draw: st.DrawFn) -> list[Event]:
    events: list[Event] = []
    ids: list[str] = []
    for _ in range(draw(st.integers(1, 25))):
        kind = draw(st.sampled_from(["add", "move", "revise", "replace", "prune", "edge"])) if ids else "add"
        some = st.sampled_from(ids) if ids else st.just("")
        if kind == "add":
            ids.append(f"n-{len(ids)}")
            slot = draw(st.sampled_from(["", "database", "port"]))
            events.append(NodeAdded(node(ids[-1], draw(LABELS), draw(TYPES), draw(STATUSES), slot=slot)))
        elif kind == "move":
            events.append(StatusChanged(draw(some), draw(STATUSES), draw(st.integers(1, 9))))
        elif kind == "revise":
            events.append(NodeRevised(draw(some), {"label": draw(LABELS)}, draw(st.integers(1, 9))))
        elif kind == "replace":
            events.append(DecisionReplaced(Transition(draw(some), draw(some), draw(st.integers(1, 9)))))
        elif kind == "prune":
            events.append(NodesPruned((draw(some),)))
        else:
            events.append(EdgeAdded(Edge(draw(some), EdgeType.RELATED_TO, draw(some))))
    return events


@given(logs(), st.integers(0, 25))
def test_a_fork_reads_like_the_whole_and_leaves_its_base_alone(events: list[Event], split: int) -> None:
    base = built(*events[:split])
    before = base.to_dict()
    fork = base.fork()
    for at, event in enumerate(events[split:], start=split):
        fork.apply(event, float(at))
    whole = built(*events)
    assert base.to_dict() == before
    assert {n.id: n for n in fork.nodes()} == {n.id: n for n in whole.nodes()}
    assert set(fork.edges()) == set(whole.edges())
    assert fork.transitions() == whole.transitions()
    assert {n.id for n in fork.unfinished_nodes()} == {n.id for n in whole.unfinished_nodes()}
    for label in ("use redis", "api/auth.py"):
        assert fork.sharing_words(label) == whole.sharing_words(label)
    assert fork.in_slot("database") == whole.in_slot("database")


def test_unknown_names_of_kinds_are_the_callers_error() -> None:
    graph = SessionGraph()
    with pytest.raises(CallerError, match="decision"):
        graph.nodes("decisionz")
    with pytest.raises(CallerError, match="replaced"):
        graph.nodes(status="gone")
    with pytest.raises(CallerError):
        graph.edges("near")


def test_a_change_of_status_changes_nothing_else() -> None:
    source = Source(3, "user", "we use redis", Trust.ADOPTED, (0, 12))
    node = Node(
        *("decision-1", NodeType.DECISION, "use redis", Status.PENDING, source, 0.7),
        *("because", DecisionKind.CHOICE, "cache", "redis", 2, 1.5, 9.5, True),
    )
    graph = SessionGraph()
    graph.apply(NodeAdded(node))
    graph.apply(StatusChanged("decision-1", Status.ACTIVE, 4))
    assert graph.get("decision-1") == replace(node, status=Status.ACTIVE)
