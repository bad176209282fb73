"""Layout of past graphs: facts stay where they are in the current picture. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from tokenmizer_mw.graph.export.layout import CARDS, Box, Lane, Layout, arrange
from tokenmizer_mw.model.node import Node, NodeType, Transition

COLUMNS: Final = 4
"""Cards in a row, at any time: a picture of this width needs no scaling on a desk."""


def places(nodes: Sequence[Node], steps: Iterable[Transition]) -> Layout:
    """Return the layout of ``nodes`` in a picture of their own."""
    return arrange(nodes, steps, columns=COLUMNS)


def hold_layout(now: Sequence[Node], steps: Iterable[Transition], then: Sequence[Node]) -> Layout:
    """Return the layout of the facts ``then`` within the picture of ``now``.

    Facts that are in both do not move. The others take positions in their lane whose facts did not exist then; facts
    without a position are placed below.
    """
    layout = places(now, steps)
    boxes, rest = _take_places(layout, {node.id: node.type for node in now}, then)
    counts = Counter(node.type for node in then if node.id in boxes)
    lanes = tuple(replace(lane, count=counts[lane.type]) for lane in layout.lanes if counts[lane.type])
    drop = layout.height + CARDS.between if lanes else 0
    below = places(rest, ())
    return Layout(
        boxes | {id: _lower_box(box, drop) for id, box in below.boxes.items()},
        (*lanes, *(Lane(lane.type, _lower_box(lane.box, drop), lane.count) for lane in below.lanes)),
        max(layout.width, below.width),
        drop + below.height if rest else layout.height,
    )


def _take_places(layout: Layout, types: dict[str, NodeType], then: Sequence[Node]) -> tuple[dict[str, Box], list[Node]]:
    """Who stands in which place of ``layout``, in reading order, and who in none."""
    there = {node.id for node in then}
    waiting: dict[NodeType, deque[Node]] = defaultdict(deque)
    for node in then:
        if node.id not in layout.boxes:
            waiting[node.type].append(node)
    boxes: dict[str, Box] = {}
    for id, box in layout.boxes.items():
        if id in there:
            boxes[id] = box
        elif others := waiting[types[id]]:
            boxes[others.popleft().id] = box
    return boxes, [node for others in waiting.values() for node in others]


def _lower_box(box: Box, by: int) -> Box:
    return replace(box, y=box.y + by)
