"""Route the relations of a drawing through the gaps between its cards, so that no line crosses a card.

Lanes of one shelf have the same upper edge, so their rows and the gaps between these line up. A line leaves a card
sideways into the gap beside its column, follows gaps between rows or shelves, and enters the other card from the side.
Between shelves that are not neighbours it follows the left edge of the picture where cards are in its way.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from tokenmizer_mw.graph.export.layout import CARDS, Box, Layout

Route = list[tuple[int, int]]
"""The corners of a line, from the source to the target; each part is horizontal or vertical."""

_HALF: Final = CARDS.gap // 2
_CORNER: Final = 5
"""The radius of a corner, in pixels."""

_SHIFTS: Final = (0, 3, -3, 6, -6)
"""Pixels by which lines in the same gap stand beside each other."""

_WORD_HEIGHT: Final = 14
_SPACE: Final = 3
"""Pixels between a word and what is left and right of it."""


def route_edges(pairs: Iterable[tuple[str, str]], layout: Layout) -> list[Route]:
    """Return a route for each pair of source and target, ids of boxes of ``layout``."""
    shelves = sorted({lane.box.y for lane in layout.lanes})
    rows = [[box for box in layout.boxes.values() if _shelf(shelves, box) == place] for place in range(len(shelves))]
    router = _Router(shelves, [sorted({(box.x, box.right) for box in row}) for row in rows])
    return [router.route(layout.boxes[source], layout.boxes[target]) for source, target in pairs]


def _shelf(shelves: Sequence[int], box: Box) -> int:
    return bisect_right(shelves, box.y) - 1


class _Router:
    """``shelves``: the upper edges of shelves; ``columns``: where the cards of each begin and end."""

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
        """Return the corners from the gap beside the source to the gap beside the target."""
        one, other = _shelf(self._shelves, source), _shelf(self._shelves, target)
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
    """Return the line as an SVG path with rounded corners."""
    parts = [f"M{route[0][0]} {route[0][1]}"]
    for before, corner, after in zip(route, route[1:], route[2:], strict=False):
        radius = min(_CORNER, _distance(before, corner) // 2, _distance(corner, after) // 2)
        begin, end = _toward(corner, before, radius), _toward(corner, after, radius)
        parts.append(f"L{begin[0]} {begin[1]}Q{corner[0]} {corner[1]} {end[0]} {end[1]}")
    return "".join([*parts, f"L{route[-1][0]} {route[-1][1]}"])


def _distance(one: tuple[int, int], other: tuple[int, int]) -> int:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def _toward(one: tuple[int, int], other: tuple[int, int], by: int) -> tuple[int, int]:
    def step(here: int, there: int) -> int:
        return here + max(-by, min(by, there - here))

    return step(one[0], other[0]), step(one[1], other[1])


def place_word(route: Route, layout: Layout, width: int, taken: Sequence[Box]) -> Box | None:
    """Return a box of that width for a word on the route, that meets none of ``taken``; ``None`` if there is none."""
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
