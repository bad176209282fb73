from __future__ import annotations

from itertools import combinations

import pytest

from tests.export.graphs import added, booking, crowd, graph_of
from tokenmizer_mw.graph.export.layout import Layout, Measures, arrange
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import DecisionReplaced
from tokenmizer_mw.model.node import NodeType, Transition


def laid_out(graph: SessionGraph, **how: object) -> Layout:
    return arrange(graph.nodes(), graph.transitions(), **how)  # type: ignore[arg-type]


def test_nothing_takes_no_room() -> None:
    assert laid_out(SessionGraph()) == Layout()


@pytest.mark.parametrize("count", [1, 2, 13, 14, 15, 100, 500])
def test_cards_do_not_overlap_and_stand_in_the_lane_of_their_type(count: int) -> None:
    graph = crowd(count)
    found = laid_out(graph)
    assert set(found.boxes) == {node.id for node in graph.nodes()}
    assert not [pair for pair in combinations(found.boxes.values(), 2) if pair[0].meets(pair[1])]
    assert not [pair for pair in combinations(found.lanes, 2) if pair[0].box.meets(pair[1].box)]
    lanes = {lane.type: lane for lane in found.lanes}
    assert all(lanes[node.type].box.holds(found.boxes[node.id]) for node in graph.nodes())
    assert sum(lane.count for lane in found.lanes) == count


@pytest.mark.parametrize("count", [30, 200, 500, 2000])
def test_a_picture_is_about_as_wide_as_a_screen(count: int) -> None:
    found = laid_out(crowd(count))
    assert 1.0 < found.width / found.height < 2.6


def test_most_of_a_large_picture_is_cards() -> None:
    found = laid_out(crowd(500))
    cards = sum(box.width * box.height for box in found.boxes.values())
    assert cards > 0.5 * found.width * found.height


def test_the_same_graph_gives_the_same_picture() -> None:
    assert laid_out(crowd(200)) == laid_out(crowd(200))


def test_time_runs_down_and_to_the_right() -> None:
    graph = graph_of([added(f"task-{turn}", f"step {turn}", turn=turn) for turn in (3, 1, 2, 4)])
    found = laid_out(graph, columns=2)
    at = {id: (box.x, box.y) for id, box in found.boxes.items()}
    assert sorted(at, key=lambda id: at[id]) == ["task-1", "task-2", "task-3", "task-4"]
    assert at["task-1"][0] == at["task-2"][0] < at["task-3"][0]


def test_what_replaced_one_another_stands_side_by_side() -> None:
    graph = graph_of(
        [
            *(added(f"decision-{turn}", f"choice {turn}", turn=turn) for turn in range(1, 7)),
            DecisionReplaced(Transition("decision-1", "decision-6", 6)),
            DecisionReplaced(Transition("decision-6", "decision-3", 7)),
        ]
    )
    order = list(laid_out(graph).boxes)
    assert order == ["decision-1", "decision-3", "decision-6", "decision-2", "decision-4", "decision-5"]


def test_a_circle_of_replacements_ends() -> None:
    graph = graph_of(
        [
            added("decision-1", "tabs"),
            added("decision-2", "spaces"),
            DecisionReplaced(Transition("decision-1", "decision-2", 2)),
            DecisionReplaced(Transition("decision-2", "decision-1", 3)),
        ]
    )
    assert len(laid_out(graph).boxes) == 2


def test_lanes_come_in_the_order_for_people() -> None:
    types = [lane.type for lane in laid_out(booking()).lanes]
    assert types[:3] == [NodeType.GOAL, NodeType.DECISION, NodeType.TASK]
    assert len(types) == 14


def test_cards_of_another_size() -> None:
    found = laid_out(crowd(50), measures=Measures(width=320, height=140))
    assert {(box.width, box.height) for box in found.boxes.values()} == {(320, 140)}
    assert not [pair for pair in combinations(found.boxes.values(), 2) if pair[0].meets(pair[1])]
