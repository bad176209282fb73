"""A session through the pipeline, and its graph as labels."""

from __future__ import annotations

from benchmarks.extraction import extracted
from benchmarks.extraction_figures import figures, groups, matcher_for, scored
from benchmarks.extraction_lines import faults_of, table
from benchmarks.labelled import Corpus, Labelled, read
from benchmarks.readout import labels_of
from benchmarks.scoring import FREE, RESEARCH
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import NodeAdded, StatusChanged
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Source, Status, Trust


def _session(id: str = "one") -> Labelled:
    call = {"id": "c1", "name": "Write", "arguments": {"file_path": "src/pool.py", "content": "x = 1\n"}}
    return read(
        {
            "id": id,
            "language": "en",
            "turns": [
                {"role": "user", "content": "Add a connection pool to src/pool.py"},
                {"role": "assistant", "content": "", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c1", "content": "File created successfully"},
            ],
            "labels": {"files": ["src/pool.py"], "errors": [{"label": "pool exhausted", "resolved": False}]},
            "evidence": {"files": ["src/pool.py"]},
            "negatives": [
                {"category": "goal", "text": "drink tea", "quote": "tea", "turn": 0},
                {"category": "decisions", "text": "drink coffee", "quote": "coffee", "turn": 0},
            ],
        }
    )


def test_tool_calls_reach_the_graph_and_each_turn_has_its_cost() -> None:
    labels, costs = extracted(_session())
    assert "src/pool.py" in labels["files"]
    assert len(costs) == 3


def test_figures_groups_and_lines() -> None:
    corpus = Corpus("set", [_session("one"), _session("two"), _session("three")], True)
    rows = [scored(session, {"files": ["src/pool.py"], "goal": ["tea"]}, FREE, [1.0]) for session in corpus.sessions]
    found = figures(corpus, rows, samples=20)
    assert found["lenient"]["categories"]["files"]["f1"] == 1.0
    assert found["lenient"]["categories"]["errors"]["recall"] == 0.0
    assert found["by"]["language"]["en"]["sessions"] == 3
    assert found["cpu_ms"]["median"] == 1.0
    assert found["parts"].keys() == {"with tools"}
    assert found["negatives"] == {"taken": 3, "of": 6}
    assert groups(rows[:2], "language") == {}
    assert any(line.split()[:1] == ["files"] for line in table("set", found))
    said = list(faults_of(rows, 1))
    expected = [["spurious", "goal"], ["missed", "errors"], *[["taken", "goal"]] * 3]
    assert [line.split()[:2] for line in said] == expected


def test_sets_without_evidence_are_matched_as_published() -> None:
    assert matcher_for(Corpus("set", [], False)) is RESEARCH
    assert matcher_for(Corpus("set", [], True)) is FREE


def test_a_graph_is_read_out_as_a_resume_would_say_it() -> None:
    graph = SessionGraph()
    said = Source(1, "user")
    offered = Source(2, "assistant", trust=Trust.PROPOSED)
    choice = DecisionKind.CHOICE
    for node in (
        Node("t1", NodeType.TASK, "add retries", Status.COMPLETED, said),
        Node("t2", NodeType.TASK, "write docs", Status.PENDING, said),
        Node("t3", NodeType.TASK, "restart the server", Status.PENDING, offered),
        Node("d1", NodeType.DECISION, "use Redis", Status.ACTIVE, said, kind=choice),
        Node("d2", NodeType.DECISION, "use Mongo", Status.INVALIDATED, said, kind=choice),
        Node("d3", NodeType.DECISION, "perhaps Kafka", Status.PENDING, offered, kind=DecisionKind.OPTION),
        Node("e1", NodeType.ERROR, "timeout", Status.ACTIVE, said),
        Node("e2", NodeType.ERROR, "bad gateway", Status.ACTIVE, said),
        Node("f1", NodeType.FILE, "a.py", Status.ACTIVE, said),
    ):
        graph.apply(NodeAdded(node))
    graph.apply(StatusChanged("e2", Status.COMPLETED, 2))
    assert labels_of(graph) == {
        "tasks_done": ["add retries"],
        "tasks_pending": ["write docs", "restart the server"],
        "decisions": ["use Redis"],
        "rejected": ["use Mongo"],
        "superseded": [],
        "files": ["a.py"],
        "errors": ["[open] timeout", "[resolved] bad gateway"],
    }
