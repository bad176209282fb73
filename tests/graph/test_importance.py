import pytest

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.views import HALF_LIFE, importances
from tokenmizer_mw.model.event import EdgeAdded, NodeAdded, NodeRevised
from tokenmizer_mw.model.node import DecisionKind, Edge, EdgeType, Node, NodeType, Source, Status


def graph_of(*nodes: tuple[str, NodeType, int, float]) -> SessionGraph:
    graph = SessionGraph()
    for id, type_, turn, confidence in nodes:
        graph.apply(NodeAdded(Node(id, type_, id, Status.ACTIVE, Source(turn, "user"), confidence)))
    return graph


HIGHER = [
    ("type", graph_of(("a", NodeType.GOAL, 1, 1.0), ("b", NodeType.CONCEPT, 1, 1.0))),
    ("recency", graph_of(("a", NodeType.FILE, 90, 1.0), ("b", NodeType.FILE, 1, 1.0))),
    ("confidence", graph_of(("a", NodeType.FILE, 1, 0.9), ("b", NodeType.FILE, 1, 0.5))),
]


@pytest.mark.parametrize("why, graph", HIGHER)
def test_what_raises_importance(why: str, graph: SessionGraph) -> None:
    found = importances(graph, 90)
    assert found["a"] > found["b"] > 0


def test_references_raise_importance() -> None:
    graph = graph_of(("a", NodeType.FILE, 5, 1.0), ("b", NodeType.FILE, 5, 1.0), ("c", NodeType.FILE, 5, 1.0))
    before = importances(graph)
    graph.apply(EdgeAdded(Edge("a", EdgeType.RELATED_TO, "c")))
    graph.apply(NodeRevised("b", {"detail": "said again"}, 5))
    after = importances(graph)
    assert all(after[id] > before[id] for id in "abc")


def test_the_newest_turn_stands_for_an_unknown_one() -> None:
    graph = graph_of(("a", NodeType.FILE, 1, 1.0), ("b", NodeType.FILE, 1 + HALF_LIFE, 1.0))
    assert importances(graph) == importances(graph, 1 + HALF_LIFE)
    assert importances(graph)["a"] == pytest.approx(0.75 * importances(graph)["b"])


def test_no_nodes() -> None:
    assert importances(SessionGraph()) == {}


def test_rules_do_not_age() -> None:
    graph = SessionGraph()
    for kind in DecisionKind:
        graph.apply(NodeAdded(Node(kind, NodeType.DECISION, kind, Status.ACTIVE, Source(1, "user"), kind=kind)))
    aged = {kind: importances(graph, 200)[kind] / importances(graph, 1)[kind] for kind in DecisionKind}
    assert aged.pop(DecisionKind.RULE) == 1
    assert max(aged.values()) < 0.6
