"""Where facts stand in pictures of earlier times."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from tests.export.graphs import crowd
from tokenmizer_mw.graph.export.layout import Layout, arrange
from tokenmizer_mw.model.node import Node
from tokenmizer_mw.server.dashboard.caches import COLUMNS, hold_layout

NODES = crowd(40).nodes()

some = st.lists(st.sampled_from(NODES), unique_by=lambda node: node.id)


@given(some, some)
def test_what_both_pictures_show_does_not_move(now: list[Node], then: list[Node]) -> None:
    before, after = hold_layout(now, (), then), arrange(now, (), columns=COLUMNS)
    assert set(before.boxes) == {node.id for node in then}
    for id in before.boxes.keys() & after.boxes.keys():
        assert before.boxes[id] == after.boxes[id]
    sound(before, then)


def sound(layout: Layout, nodes: list[Node]) -> None:
    """Each fact in a lane of its type, none above another, all within the picture."""
    types = {node.id: node.type for node in nodes}
    for one, other in combinations(layout.boxes.values(), 2):
        assert not one.meets(other)
    for id, box in layout.boxes.items():
        assert any(lane.type is types[id] and lane.box.holds(box) for lane in layout.lanes)
        assert box.right <= layout.width
        assert box.bottom <= layout.height
    assert sum(lane.count for lane in layout.lanes) == len(nodes)
    assert len({box.x for box in layout.boxes.values()}) <= 4 * COLUMNS
