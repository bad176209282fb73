"""The generic cell rate algorithm: a limit whose whole memory is one moment.

A limit of ``amount`` in ``period`` seconds is a bucket of that size which drains evenly. ``full_at`` is the moment at
which it will be empty again, if nothing comes: how far it lies ahead tells how full the bucket is. There is no window
at whose edge twice the amount gets through, any cost takes the same two additions, and a cost that is known only
afterwards may be charged beyond the brim: then nothing more is let in until the debt has drained.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MINUTE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Limit:
    """``amount`` in ``period`` seconds, all at once at most. ``unit`` names what is counted."""

    unit: str
    amount: int
    period: float = MINUTE


@dataclass(frozen=True, slots=True)
class RateState:
    """How a limit stands: ``remaining`` of its amount now; empty again after ``reset`` seconds; ``wait``: seconds
    after which what was refused is let in."""

    limit: Limit
    remaining: int
    reset: float
    wait: float


def take(limit: Limit, drained_at: float | None, now: float, cost: int = 1) -> float | RateState:
    """The moment to remember when ``cost`` more fits in, or how the limit stands when it does not.

    A cost of 0 asks whether anything fits in at all. ``drained_at`` of ``None``: nothing was taken yet.
    """
    level = max(drained_at or now, now)
    each = limit.period / limit.amount
    wait = level + max(cost, 1) * each - now - limit.period
    # What one rounding error makes of an exact fit is no reason to refuse.
    if wait > each * 1e-6:
        return standing(limit, level, now, wait)
    return level + cost * each


def charge(limit: Limit, drained_at: float | None, now: float, cost: int) -> float:
    """The moment to remember after ``cost`` was used, whether it fits or not."""
    return max(drained_at or now, now) + cost * limit.period / limit.amount


def standing(limit: Limit, drained_at: float, now: float, wait: float) -> RateState:
    """How the limit stands."""
    reset = max(drained_at - now, 0.0)
    free = (1.0 - reset / limit.period) * limit.amount
    return RateState(limit, max(int(free + 1e-6), 0), reset, wait)
