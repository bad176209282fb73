"""Fill a token budget with facts.

Parts of facts (a label, then its reason) form one sequence, and every budget gets a beginning of it; therefore a bigger
budget carries all that a smaller one does. At fixed steps of the budget, parts that do not fit are skipped for shorter
ones after them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from .facts import ResumeFact
from .sections import Section

STEPS: Final = (100, 300, 600, 1_200, 2_400, 4_800, 9_600)
_MISSES_MAX: Final = 40


class FactPart(NamedTuple):
    """A part of fact number ``fact``: its label (``part`` 0), or its reason in brackets (``part`` 1)."""

    fact: int
    part: int


Cost = Callable[[FactPart, bool], int]
"""Tokens of a piece, with what separates it from the piece before: when it opens its section, the section's head."""


def pieces_of(facts: Sequence[ResumeFact]) -> list[FactPart]:
    """All pieces, in the order of the facts; of goals, work in hand and rules at the beginning the labels come before
    what stands behind any of them."""
    bare = next((index for index, fact in enumerate(facts) if fact.section not in _LABELS_FIRST), len(facts))
    labels = [FactPart(index, 0) for index in range(bare)]
    labels += [FactPart(index, 1) for index in range(bare) if facts[index].why]
    rest = range(bare, len(facts))
    return labels + [FactPart(index, part) for index in rest for part in ((0, 1) if facts[index].why else (0,))]


_LABELS_FIRST: Final = frozenset({Section.GOAL, Section.DOING, Section.RULES})


def sequence(facts: Sequence[ResumeFact], budget: int, fixed: int, cost: Cost) -> list[FactPart]:
    """The pieces that fit into ``budget`` tokens beside ``fixed`` ones, in the order in which they were taken."""
    filling = _Filling(facts, fixed, cost)
    for step in STEPS:
        if step <= budget:
            filling.fill(step, misses=_MISSES_MAX)
    filling.fill(budget, misses=0)
    return filling.taken


class _Filling:
    def __init__(self, facts: Sequence[ResumeFact], used: int, cost: Cost) -> None:
        self.taken: list[FactPart] = []
        self._facts = facts
        self._left = pieces_of(facts)
        self._used = used
        self._cost = cost
        self._labels: set[int] = set()
        self._open: set[Section] = set()

    def fill(self, budget: int, misses: int) -> None:
        """Take what fits into ``budget``; stop after ``misses`` pieces that do not."""
        left: list[FactPart] = []
        waiting = iter(self._left)
        for piece in waiting:
            if self._takes(piece, budget):
                continue
            left.append(piece)
            misses -= piece.part == 0 or piece.fact in self._labels
            if misses < 0:
                break
        self._left = [*left, *waiting]

    def _takes(self, piece: FactPart, budget: int) -> bool:
        if piece.part and piece.fact not in self._labels:
            return False
        section = self._facts[piece.fact].section
        cost = self._cost(piece, section not in self._open)
        if self._used + cost > budget:
            return False
        self._used += cost
        self._open.add(section)
        self._labels.add(piece.fact)
        self.taken.append(piece)
        return True


def beginnings(taken: Sequence[FactPart]) -> Iterator[Sequence[FactPart]]:
    """``taken``, then without its last piece, and so on down to one piece."""
    return (taken[:length] for length in range(len(taken), 0, -1))
