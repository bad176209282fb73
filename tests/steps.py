"""How work grows with its input, told by steps and by CPU time; never by how fast this machine is."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Final

Work = Callable[[str], object]

TRIALS: Final = 4
"""How often times are taken again while their ratio looks bad: other work on the machine only ever adds to them."""

SHORT: Final = 0.004
"""Seconds under which a time tells nothing."""


def repeated(unit: str, size: int) -> str:
    """``size`` characters of a unit over and over."""
    return (unit * (size // len(unit) + 1))[:size]


def count_calls(work: Callable[[], object]) -> int:
    """How many functions, of Python and of C, ``work`` calls: the same on every machine, however loaded."""
    calls = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


def call_growth(work: Work, unit: str, size: int) -> float:
    """How many times the calls on ``size`` characters of a unit those on twice as many are."""
    small, large = repeated(unit, size), repeated(unit, 2 * size)
    work(small)  # what is made once, now
    return count_calls(lambda: work(large)) / max(1, count_calls(lambda: work(small)))


def cpu_growth(work: Work, unit: str, size: int) -> float:
    """The same for CPU time; 1.0 where it is too short to tell. The least of some trials."""
    small, large = repeated(unit, size), repeated(unit, 2 * size)
    least = _ratio(work, small, large)
    for _ in range(TRIALS):
        if least <= 2.4:
            break
        least = min(least, _ratio(work, small, large))
    return least


def _ratio(work: Work, small: str, large: str) -> float:
    first, second = _seconds(work, small), _seconds(work, large)
    return second / first if second > SHORT else 1.0


def _seconds(work: Work, text: str) -> float:
    best = float("inf")
    gc.disable()  # its passes over all that is alive come at random
    try:
        for _ in range(3):
            start = time.process_time()
            work(text)
            best = min(best, time.process_time() - start)
    finally:
        gc.enable()
    return best
