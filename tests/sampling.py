"""Parameters and examples, of which the normal run takes a sample and ``make test-all`` takes all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, product
from typing import Any, Final

import pytest
from hypothesis import settings

NIGHTLY: Final = pytest.mark.nightly


def covering(*choices: Iterable[Any]) -> list[Any]:
    """Rows for ``pytest.mark.parametrize``: all combinations of the choices, most of them marked nightly. The others
    hold every pair of values of two choices; where there are only two choices, every value."""
    lists = [list(values) for values in choices]
    strength = 2 if len(lists) > 2 else 1
    rows = list(product(*(range(len(values)) for values in lists)))
    taken = _cover(rows, strength)
    return [
        pytest.param(
            *(values[at] for values, at in zip(lists, row, strict=True)), marks=() if row in taken else NIGHTLY
        )
        for row in rows
    ]


def sample(values: Sequence[Any], step: int) -> list[Any]:
    """All values; all but each ``step``-th, beginning with the first, are marked nightly."""
    return [pytest.param(value, marks=NIGHTLY if at % step else ()) for at, value in enumerate(values)]


def examples(most: int) -> settings:
    """Settings of a property test that needs more examples than others: a fifth of them in the normal run."""
    thorough = settings.get_current_profile_name() == "thorough"
    return settings(max_examples=most if thorough else max(10, most // 5))


def _cover(rows: Sequence[tuple[int, ...]], strength: int) -> set[tuple[int, ...]]:
    """Rows, few of them, that hold what all rows hold: as many values at once as ``strength`` says."""
    wanted = {part for row in rows for part in _parts(row, strength)}
    taken: set[tuple[int, ...]] = set()
    while wanted:
        best = max(rows, key=lambda row: len(wanted & _parts(row, strength)))
        taken.add(best)
        wanted -= _parts(best, strength)
    return taken


def _parts(row: tuple[int, ...], strength: int) -> set[tuple[tuple[int, int], ...]]:
    return set(combinations(enumerate(row), strength))
