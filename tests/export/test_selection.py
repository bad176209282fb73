from __future__ import annotations

from tests.export.graphs import added, booking, crowd, graph_of
from tokenmizer_mw.graph.export.selection import chain_replacements, select_facts
from tokenmizer_mw.graph.views import importances
from tokenmizer_mw.model.event import DecisionReplaced
from tokenmizer_mw.model.node import NodeType, Transition


def test_all_of_a_small_graph_is_shown() -> None:
    graph = booking()
    chosen = select_facts(graph)
    assert {node.id for node in chosen.nodes} == {node.id for node in graph.nodes()}
    assert (list(chosen.edges), list(chosen.steps)) == (graph.edges(), graph.transitions())
    assert chosen.left_out == 0
    assert max(chosen.weights.values()) == 1.0
    assert min(chosen.weights.values()) > 0


def test_of_a_large_graph_the_most_important_facts_and_what_is_between_them() -> None:
    graph = crowd(200)
    chosen = select_facts(graph, 40)
    here = {node.id for node in chosen.nodes}
    assert (len(here), chosen.left_out) == (40, 160)
    assert all(edge.source in here and edge.target in here for edge in chosen.edges)
    weights = importances(graph)
    replaced = {step.old for step in graph.transitions()}
    least = min(weights[id] for id in here - replaced)
    assert all(weights[node.id] <= least for node in graph.nodes() if node.id not in here | replaced)


def test_what_a_shown_fact_replaced_is_shown_too() -> None:
    graph = graph_of(
        [
            added("decision-1", "CSV", turn=1),
            *(added(f"decision-{turn}", f"choice {turn}", turn=turn) for turn in range(2, 60)),
            added("decision-60", "SQLite", turn=60),
            added("decision-61", "PostgreSQL", turn=200),
            DecisionReplaced(Transition("decision-1", "decision-60", 60)),
            DecisionReplaced(Transition("decision-60", "decision-61", 200)),
        ]
    )
    assert {"decision-1", "decision-60", "decision-61"} <= {node.id for node in select_facts(graph, 5).nodes}


def test_types_come_in_their_order() -> None:
    assert list(select_facts(booking()).by_type())[:3] == [NodeType.GOAL, NodeType.DECISION, NodeType.TASK]


def step(old: str, new: str, turn: int) -> Transition:
    return Transition(f"decision-{old}", f"decision-{new}", turn)


def test_stories_are_chains_by_their_first_step() -> None:
    first, second, other = step("a", "b", 3), step("b", "c", 9), step("x", "y", 5)
    assert chain_replacements([second, other, first]) == [[first, second], [other]]
    assert chain_replacements([]) == []


def test_two_stories_that_meet_are_one() -> None:
    one, two, both = step("a", "b", 1), step("x", "y", 2), step("b", "y", 3)
    after = step("y", "z", 4)
    assert chain_replacements([one, two, both, after]) == [[one, two, both, after]]
