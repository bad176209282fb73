"""What the tests of extraction share: how a function's cost grows with its input."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import pytest

from benchmarks.measure import forget_texts

ENOUGH = 0.4
"""Seconds after which a function is not run again: one that takes so long is told from noise by one run or two."""

Growth = Callable[[Callable[[str], object], str, int], float]


def _seconds(function: Callable[[str], object], text: str) -> float:
    best, spent = float("inf"), 0.0
    gc.disable()  # its passes over all that is alive come at random
    try:
        for _ in range(5):
            forget_texts()
            start = time.process_time()
            function(text)
            took = time.process_time() - start
            best, spent = min(best, took), spent + took
            if spent > ENOUGH:
                break
    finally:
        gc.enable()
    return best


def _ratio(function: Callable[[str], object], small: str, large: str) -> float:
    first, second = _seconds(function, small), _seconds(function, large)
    return second / first if second > 0.002 else 1.0


@pytest.fixture(scope="session")
def growth() -> Growth:
    """CPU time of ``function`` on 2n characters of a repeated unit, as a ratio to its time on n; 1.0 when it is too
    quick to tell. The least of five trials: other work on the machine only ever adds."""

    def measure(function: Callable[[str], object], unit: str, size: int) -> float:
        small, large = ((unit * (length // len(unit) + 1))[:length] for length in (size, 2 * size))
        least = _ratio(function, small, large)
        for _ in range(4):
            if least > 2.5:
                least = min(least, _ratio(function, small, large))
        return least

    return measure
