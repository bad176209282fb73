"""The generic cell rate algorithm (GCRA): a rate limit whose only state is one point in time.

A limit of ``amount`` per ``period`` seconds is a bucket of that size which drains evenly. ``drained_at`` is the time at
which the bucket will be empty if nothing more is taken; the later it is, the fuller the bucket. There is no window at
whose edge twice the amount gets through, any cost takes the same two additions, and a cost that is known only
afterwards may exceed the limit: then nothing is accepted until that has drained.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MINUTE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Limit:
    """At most ``amount`` per ``period`` seconds; the whole amount may be taken at once. ``unit`` names what is
    counted."""

    unit: str
    amount: int
    period: float = MINUTE


@dataclass(frozen=True, slots=True)
class RateState:
    """State of a limit: ``remaining`` amount, ``reset`` (seconds until the bucket is empty again) and ``wait`` (seconds
    until the refused amount would be accepted)."""

    limit: Limit
    remaining: int
    reset: float
    wait: float


def take(limit: Limit, drained_at: float | None, now: float, cost: int = 1) -> float | RateState:
    """Take ``cost`` from the limit: return the new ``drained_at``, or the ``RateState`` if the cost does not fit.

    A cost of 0 asks whether anything fits at all. ``drained_at`` of ``None`` means that nothing was taken yet.
    """
    level = max(drained_at or now, now)
    each = limit.period / limit.amount
    wait = level + max(cost, 1) * each - now - limit.period
    # What one rounding error makes of an exact fit is no reason to refuse.
    if wait > each * 1e-6:
        return standing(limit, level, now, wait)
    return level + cost * each


def charge(limit: Limit, drained_at: float | None, now: float, cost: int) -> float:
    """Return the new ``drained_at`` after ``cost`` was used, even if that exceeds the limit."""
    return max(drained_at or now, now) + cost * limit.period / limit.amount


def standing(limit: Limit, drained_at: float, now: float, wait: float) -> RateState:
    """Return the ``RateState`` of the limit."""
    reset = max(drained_at - now, 0.0)
    free = (1.0 - reset / limit.period) * limit.amount
    return RateState(limit, max(int(free + 1e-6), 0), reset, wait)
