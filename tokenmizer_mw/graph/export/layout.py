"""Lay out a graph as a picture: a card for each node, a lane (a box with the cards) for each type, older nodes before
newer ones, and lines between the cards for relations. Lanes that stand side by side form a shelf.

The same nodes always get the same places, and no two overlap. A picture of an earlier time can use the layout of the
whole graph, so that nodes do not move.

Lines run through the gaps between cards, so that none crosses a card. The lanes of a shelf have the same upper edge, so
their rows and the gaps between these line up. A line leaves a card sideways into the gap beside its column, follows
gaps between rows or shelves, and enters the other card from the side. Between shelves that are not neighbours it
follows the left edge of the picture where cards are in its way.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, TypeVar

from tokenmizer_mw.graph.export.appearance import TYPES
from tokenmizer_mw.model.node import Node, NodeType, Transition

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Measures:
    """Sizes in pixels.

    - ``width``, ``height``: of a card; ``gap``: between cards.
    - ``padding``: inside a lane, around its cards; ``heading``: height of the lane's heading; ``between``: between
      lanes.
    - ``ratio``: not a size, but the desired width of a picture divided by its height.
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
        """Whether the two boxes overlap. Boxes that only touch do not."""
        across = self.x < other.right and other.x < self.right
        return across and self.y < other.bottom and other.y < self.bottom

    def holds(self, other: Box) -> bool:
        """Whether ``other`` lies within this box; their edges may coincide."""
        across = self.x <= other.x and other.right <= self.right
        return across and self.y <= other.y and other.bottom <= self.bottom


@dataclass(frozen=True, slots=True)
class Lane:
    """The box around the cards of all ``count`` nodes of one type, its heading included."""

    type: NodeType
    box: Box
    count: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Positions of nodes. ``boxes``: the box of each node's card, by node id, in reading order; ``lanes``: the box of
    each type that has nodes; ``width`` and ``height``: size of the picture in pixels, 0 without nodes."""

    boxes: Mapping[str, Box] = field(default_factory=dict)
    lanes: tuple[Lane, ...] = ()
    width: int = 0
    height: int = 0


def arrange(
    nodes: Iterable[Node], steps: Iterable[Transition] = (), *, measures: Measures = CARDS, columns: int | None = None
) -> Layout:
    """Compute the positions of ``nodes``. Nodes of a type that replaced one another (``steps``) follow each other,
    oldest first.

    ``columns``: maximum number of cards in a row; ``None``: the number with which the picture comes closest to the
    ratio of ``measures``.
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
    """Return the nodes by type: types in display order, those without nodes left out; nodes by the number of the
    message that states them. Nodes of a type that replaced one another (``steps``) follow each other, at the place of
    the oldest."""
    by_type: dict[NodeType, list[Node]] = {type_: [] for type_ in TYPES}
    for node in nodes:
        by_type[node.type].append(node)
    numbers = {node.id: node.source.turn for lane in by_type.values() for node in lane}
    root = _roots(numbers, steps)
    for lane in by_type.values():
        places = {node.id: place for place, node in enumerate(lane)}
        lane.sort(key=lambda node: (numbers[root[node.id]], places.get(root[node.id], 0), numbers[node.id]))
    return {type_: lane for type_, lane in by_type.items() if lane}


def _roots(numbers: Mapping[str, int], steps: Iterable[Transition]) -> dict[str, str]:
    """Return for the id of every node the id of the earliest node that it is connected with by replacements."""
    root = {id: id for id in numbers}

    def of(id: str) -> str:
        while root[id] != id:
            root[id] = root[root[id]]
            id = root[id]
        return id

    for step in steps:
        if step.old in root and step.new in root:
            first, second = sorted((of(step.old), of(step.new)), key=lambda id: numbers[id])
            root[second] = first
    return {id: of(id) for id in numbers}


def _columns(counts: Sequence[int], measures: Measures) -> int:
    """Return how many cards to put in a row, so that the picture comes nearest to the desired ratio of width and
    height."""

    def off(across: int) -> float:
        boxes = [box for _, box in _pack_lanes(dict(enumerate(counts)), across, measures)]
        width, height = max(box.right for box in boxes), max(box.bottom for box in boxes)
        return abs(math.log(width / height / measures.ratio))

    widest = min(max(counts), 2 + 4 * math.isqrt(sum(counts)))
    beside = min(sum(counts), 12)  # columns at which small lanes stand side by side
    return min(range(1, max(widest, beside) + 1), key=off)


def _pack_lanes(counts: Mapping[T, int], across: int, measures: Measures) -> Iterator[tuple[T, Box]]:
    """Yield each lane's box: lanes stand side by side in their order, and a new shelf begins where the next one has no
    room."""
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
    """Yield the box of each node of a lane, column by column from top to bottom."""
    rows = (place.height - measures.heading - 2 * measures.padding + measures.gap) // measures.pitch_y
    left, top = place.x + measures.padding, place.y + measures.heading + measures.padding
    for index, node in enumerate(lane):
        column, row = divmod(index, rows)
        at = Box(left + column * measures.pitch_x, top + row * measures.pitch_y, measures.width, measures.height)
        yield node.id, at


Route = list[tuple[int, int]]
"""The corners of a line as (x, y) in pixels, from the source to the target; each part between two corners is horizontal
or vertical."""

_HALF: Final = CARDS.gap // 2
_CORNER: Final = 5
"""The radius of a corner, in pixels."""

_SHIFTS: Final = (0, 3, -3, 6, -6)
"""Pixels by which lines in the same gap are shifted, so that they do not cover each other."""

_WORD_HEIGHT: Final = 14
_SPACE: Final = 3
"""Pixels of free space to the left and to the right of a word."""


def route_edges(pairs: Iterable[tuple[str, str]], layout: Layout) -> list[Route]:
    """Return a route (the points through which a line runs) for each of ``pairs``, in their order. A pair is a source
    and a target: node ids of ``layout.boxes``. The layout must have the sizes of ``CARDS``."""
    shelves = sorted({lane.box.y for lane in layout.lanes})
    rows = [[box for box in layout.boxes.values() if _shelf_of(shelves, box) == place] for place in range(len(shelves))]
    router = _Router(shelves, [sorted({(box.x, box.right) for box in row}) for row in rows])
    return [router.route(layout.boxes[source], layout.boxes[target]) for source, target in pairs]


def _shelf_of(shelves: Sequence[int], box: Box) -> int:
    return bisect_right(shelves, box.y) - 1


class _Router:
    """Finds the routes of lines. ``shelves``: the upper edge of each shelf; ``columns``: for each shelf the left and
    right edges of its cards."""

    def __init__(self, shelves: Sequence[int], columns: Sequence[Sequence[tuple[int, int]]]) -> None:
        self._shelves = shelves
        self._columns = columns
        self._used: Counter[int] = Counter()

    def route(self, source: Box, target: Box) -> Route:
        left, right = sorted((source, target), key=lambda box: box.x)
        middle = source.y + source.height // 2
        if source.y == target.y and right.x - left.right == CARDS.gap:
            ends = (source.right, target.x) if source is left else (source.x, target.right)
            return [(end, middle) for end in ends]
        leave, arrive = _gaps(source, target)
        shift = _SHIFTS[self._used[leave] % len(_SHIFTS)]
        self._used[leave] += 1
        start = (source.right if leave > source.x else source.x, middle + shift)
        end = (target.right if arrive > target.x else target.x, target.y + target.height // 2 - shift)
        path = [(leave, 0), *self._between(source, target, leave, arrive), (arrive, 0)]
        shifted = [(x + shift, y + shift if y else y) for x, y in path]
        shifted[0] = (shifted[0][0], start[1])
        shifted[-1] = (shifted[-1][0], end[1])
        return _without_repeats([start, *shifted, end])

    def _between(self, source: Box, target: Box, leave: int, arrive: int) -> Route:
        """Return the corners of a line between the gap beside the source (x is ``leave``) and the gap beside the target
        (x is ``arrive``)."""
        one, other = _shelf_of(self._shelves, source), _shelf_of(self._shelves, target)
        if one == other:
            if leave == arrive:
                return []
            row = target.bottom + _HALF if target.y < source.y else target.y - _HALF
            return [(leave, row), (arrive, row)]
        first, last = (one + 1, other) if one < other else (one, other + 1)
        away, back = self._above(first), self._above(last)
        crossed = range(min(first, last), max(first, last))
        across = arrive if self._is_free(arrive, crossed) else CARDS.padding - _HALF
        return [(leave, away), (across, away), (across, back), (arrive, back)]

    def _above(self, shelf: int) -> int:
        return self._shelves[shelf] - CARDS.between // 2

    def _is_free(self, x: int, shelves: range) -> bool:
        return not any(begin <= x <= end for shelf in shelves for begin, end in self._columns[shelf])


def _gaps(source: Box, target: Box) -> tuple[int, int]:
    """Return the middles of the gaps by which a line leaves and arrives: on the sides that face each other."""
    if source.x < target.x:
        return source.right + _HALF, target.x - _HALF
    if source.x > target.x:
        return source.x - _HALF, target.right + _HALF
    return source.right + _HALF, target.right + _HALF


def _without_repeats(route: Route) -> Route:
    return [route[0], *(after for before, after in pairwise(route) if before != after)]


def path_of(route: Route) -> str:
    """Return the line through the points of ``route`` as the data of an SVG path with rounded corners."""
    parts = [f"M{route[0][0]} {route[0][1]}"]
    for before, corner, after in zip(route, route[1:], route[2:], strict=False):
        radius = min(_CORNER, _distance(before, corner) // 2, _distance(corner, after) // 2)
        begin, end = _move_toward(corner, before, radius), _move_toward(corner, after, radius)
        parts.append(f"L{begin[0]} {begin[1]}Q{corner[0]} {corner[1]} {end[0]} {end[1]}")
    return "".join([*parts, f"L{route[-1][0]} {route[-1][1]}"])


def _distance(one: tuple[int, int], other: tuple[int, int]) -> int:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def _move_toward(one: tuple[int, int], other: tuple[int, int], by: int) -> tuple[int, int]:
    def step(here: int, there: int) -> int:
        return here + max(-by, min(by, there - here))

    return step(one[0], other[0]), step(one[1], other[1])


def place_word(route: Route, layout: Layout, width: int, taken: Sequence[Box]) -> Box | None:
    """Return a box on ``route``, or near it between two rows of cards, for a word of ``width`` pixels that overlaps
    none of the boxes ``taken``; ``None`` if there is no room."""
    width += 2 * _SPACE
    for x, y in _places(route, layout):
        left = max(0, min(layout.width - width, x - width // 2))
        place = Box(left, y - _WORD_HEIGHT // 2, width, _WORD_HEIGHT)
        if not any(place.meets(other) for other in taken):
            return place
    return None


def _places(route: Route, layout: Layout) -> Iterable[tuple[int, int]]:
    """Yield points on the route or near it that lie between rows of cards: first on its horizontal parts."""
    parts = list(pairwise(route))
    for (x1, y1), (x2, y2) in sorted(parts, key=lambda part: -_distance(*part)):
        if y1 == y2 and abs(x1 - x2) > CARDS.gap:
            yield (x1 + x2) // 2, y1
    rows = sorted({box.bottom + _HALF for box in layout.boxes.values()})
    for (x1, y1), (_, y2) in parts:
        yield from ((x1, row) for row in rows if min(y1, y2) <= row <= max(y1, y2))
    x, y = route[-1]
    yield from ((x, row) for row in rows[bisect_right(rows, y) :][:1])
