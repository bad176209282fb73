"""Lay out the nodes of a graph in a picture: one box per type, older nodes before newer ones in it.

The same nodes always get the same places, and no two overlap. A picture of an earlier time uses the layout of the whole
graph, so that nodes do not move.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from tokenmizer_mw.graph.export.appearance import TYPES
from tokenmizer_mw.model.node import Node, NodeType, Transition

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Measures:
    """Sizes in pixels: of a card, the gaps between cards, the padding inside a lane, its heading, and the gaps between
    lanes. ``ratio``: the desired width of a picture divided by its height.
    """

    width: int = 220
    height: int = 66
    gap: int = 20
    padding: int = 14
    heading: int = 30
    between: int = 28
    ratio: float = 1.6

    @property
    def pitch_x(self) -> int:
        """Distance from the left edge of a card to that of the next one."""
        return self.width + self.gap

    @property
    def pitch_y(self) -> int:
        """Distance from the top edge of a card to that of the next one."""
        return self.height + self.gap


CARDS: Final = Measures()


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in whole pixels, measured from the upper left corner of the picture."""

    x: int
    y: int
    width: int
    height: int

    @property
    def right(self) -> int:
        """The first pixel to the right of the box."""
        return self.x + self.width

    @property
    def bottom(self) -> int:
        """The first pixel below the box."""
        return self.y + self.height

    def meets(self, other: Box) -> bool:
        """Whether the two boxes overlap."""
        across = self.x < other.right and other.x < self.right
        return across and self.y < other.bottom and other.y < self.bottom

    def holds(self, other: Box) -> bool:
        """Whether ``other`` lies within this box."""
        across = self.x <= other.x and other.right <= self.right
        return across and self.y <= other.y and other.bottom <= self.bottom


@dataclass(frozen=True, slots=True)
class Lane:
    """The box around all ``count`` nodes of one type."""

    type: NodeType
    box: Box
    count: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Positions of nodes. ``boxes``: by node id, in reading order; ``width`` and ``height``: size of the picture, 0
    without nodes.
    """

    boxes: Mapping[str, Box] = field(default_factory=dict)
    lanes: tuple[Lane, ...] = ()
    width: int = 0
    height: int = 0


def arrange(
    nodes: Iterable[Node],
    steps: Iterable[Transition] = (),
    *,
    measures: Measures = CARDS,
    columns: int | None = None,
) -> Layout:
    """Compute the positions of ``nodes``. Nodes that replaced one another (``steps``) are placed side by side, oldest
    first. ``columns``: maximum number of cards in a row; ``None``: the number that comes closest to the ratio of
    ``measures``.
    """
    lanes = in_order(nodes, steps)
    if not lanes:
        return Layout()
    across = columns or _columns([len(lane) for lane in lanes.values()], measures)
    boxes: dict[str, Box] = {}
    drawn: list[Lane] = []
    for type_, place in _pack_lanes({type_: len(lane) for type_, lane in lanes.items()}, across, measures):
        drawn.append(Lane(type_, place, len(lanes[type_])))
        boxes |= _cards(lanes[type_], place, measures)
    return Layout(boxes, tuple(drawn), max(lane.box.right for lane in drawn), max(lane.box.bottom for lane in drawn))


def in_order(nodes: Iterable[Node], steps: Iterable[Transition] = ()) -> dict[NodeType, list[Node]]:
    """Return the nodes by type, types in display order, nodes by the number of their message. Nodes that replaced one
    another follow each other.
    """
    by_type: dict[NodeType, list[Node]] = {type_: [] for type_ in TYPES}
    for node in nodes:
        by_type[node.type].append(node)
    turns = {node.id: node.source.turn for lane in by_type.values() for node in lane}
    root = _roots(turns, steps)
    for lane in by_type.values():
        places = {node.id: place for place, node in enumerate(lane)}
        lane.sort(key=lambda node: (turns[root[node.id]], places.get(root[node.id], 0), turns[node.id]))
    return {type_: lane for type_, lane in by_type.items() if lane}


def _roots(turns: Mapping[str, int], steps: Iterable[Transition]) -> dict[str, str]:
    """For every node the earliest one of those that it is bound to by replacing and being replaced."""
    root = {id: id for id in turns}

    def of(id: str) -> str:
        while root[id] != id:
            root[id] = root[root[id]]
            id = root[id]
        return id

    for step in steps:
        if step.old in root and step.new in root:
            first, second = sorted((of(step.old), of(step.new)), key=lambda id: turns[id])
            root[second] = first
    return {id: of(id) for id in turns}


def _columns(counts: Sequence[int], measures: Measures) -> int:
    """How many cards to put in a row: the number whose picture comes nearest to the wanted ratio."""

    def off(across: int) -> float:
        boxes = [box for _, box in _pack_lanes(dict(enumerate(counts)), across, measures)]
        width, height = max(box.right for box in boxes), max(box.bottom for box in boxes)
        return abs(math.log(width / height / measures.ratio))

    widest = min(max(counts), 2 + 4 * math.isqrt(sum(counts)))
    return min(range(1, max(widest, _shelf(counts)) + 1), key=off)


def _shelf(counts: Sequence[int]) -> int:
    """A number of columns at which small lanes stand side by side."""
    return min(sum(counts), 12)


def _pack_lanes(counts: Mapping[T, int], across: int, measures: Measures) -> Iterator[tuple[T, Box]]:
    """Lanes in their order from left to right, and in a new row where there is no room for another one."""
    frame = 2 * measures.padding
    most = across * measures.pitch_x - measures.gap + frame
    x = y = low = 0
    for name, count in counts.items():
        rows = math.ceil(count / across)
        width = math.ceil(count / rows) * measures.pitch_x - measures.gap + frame
        height = rows * measures.pitch_y - measures.gap + frame + measures.heading
        if x and x + width > most:
            x, y = 0, low + measures.between
        yield name, Box(x, y, width, height)
        x, low = x + width + measures.between, max(low, y + height)


def _cards(lane: Sequence[Node], place: Box, measures: Measures) -> Iterator[tuple[str, Box]]:
    """The places of a lane's nodes, from the top to the bottom and then to the right."""
    rows = (place.height - measures.heading - 2 * measures.padding + measures.gap) // measures.pitch_y
    left, top = place.x + measures.padding, place.y + measures.heading + measures.padding
    for index, node in enumerate(lane):
        column, row = divmod(index, rows)
        at = Box(left + column * measures.pitch_x, top + row * measures.pitch_y, measures.width, measures.height)
        yield node.id, at
