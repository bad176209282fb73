"""Rate limits as counters: the generic cell rate algorithm (GCRA), and counters in one process.

The only state of a limit is one point in time. A limit of ``amount`` per ``period`` seconds is a bucket of that size
which drains evenly. ``drained_at`` is the time at which the bucket will be empty if nothing more is taken; the later it
is, the fuller the bucket. There is no window at whose edge twice the amount gets through, any cost takes the same two
additions, and a cost that is known only afterwards may exceed the limit: then nothing is accepted until that has
drained.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

MINUTE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Limit:
    """A rate limit: at most ``amount`` per ``period`` seconds; the whole amount may be taken at once. ``unit`` names
    what is counted, such as "tokens"."""

    unit: str
    amount: int
    period: float = MINUTE


@dataclass(frozen=True, slots=True)
class RateState:
    """How much of a limit is left.

    - ``remaining``: amount that can be taken now.
    - ``reset``: seconds until the whole ``limit.amount`` can be taken again, if nothing is taken before.
    - ``wait``: seconds until the amount that was refused can be taken.
    """

    limit: Limit
    remaining: int
    reset: float
    wait: float


def take_amount(limit: Limit, drained_at: float | None, now: float, cost: int = 1) -> float | RateState:
    """Take ``cost`` from the limit: return the new ``drained_at``, or the ``RateState`` if the cost does not fit.

    ``drained_at``: the time at which nothing of the limit will be in use, on the same clock as ``now``; ``None`` if
    nothing was taken yet. A cost of 0 asks whether anything fits at all.
    """
    level = max(drained_at or now, now)
    each = limit.period / limit.amount
    wait = level + max(cost, 1) * each - now - limit.period
    # What one rounding error makes of an exact fit is no reason to refuse.
    if wait > each * 1e-6:
        return rate_state(limit, level, now, wait)
    return level + cost * each


def charge(limit: Limit, drained_at: float | None, now: float, cost: int) -> float:
    """Return the new ``drained_at`` after ``cost`` was used, even if that exceeds the limit. See ``take_amount``."""
    return max(drained_at or now, now) + cost * limit.period / limit.amount


def rate_state(limit: Limit, drained_at: float, now: float, wait: float) -> RateState:
    """Return the state of a limit at the time ``now``.

    ``drained_at``: the time at which nothing of the limit will be in use, on the same clock as ``now``, in seconds.
    ``wait`` is passed on unchanged.
    """
    reset = max(drained_at - now, 0.0)
    free = (1.0 - reset / limit.period) * limit.amount
    return RateState(limit, max(int(free + 1e-6), 0), reset, wait)


@dataclass(frozen=True, slots=True)
class Bucket:
    """The counter of a rate limit for one owner (tenant, key or host). ``name`` is unique among all counters."""

    name: str
    limit: Limit


def name_places(group: str, owner: str) -> str:
    """Return the name of the counter of open calls of ``owner``. ``group``: see ``bucket``."""
    return f"{{{group}}}:{owner}:streams"


def bucket(group: str, owner: str, limit: Limit) -> Bucket:
    """Return the counter of a limit for ``owner`` (a tenant or key). Redis stores the counters of one ``group`` (the
    tenant) on the same node."""
    return Bucket(f"{{{group}}}:{owner}:{limit.unit}", limit)


@dataclass(frozen=True, slots=True)
class Demand:
    """What a request takes from the counters before it starts.

    ``buckets``: pairs of a counter and the amount to take; 0 only checks that the limit is not used up. ``places``: the
    counters of open calls in which it takes a slot, each with how many calls may be open at once.
    """

    buckets: tuple[tuple[Bucket, int], ...]
    places: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Taken:
    """What a request took from the counters. ``place``: the slot of its open call, which ``settle`` frees again ("" if
    none was taken); ``places``: the counters in which it was taken."""

    place: str = ""
    places: tuple[str, ...] = ()


NOTHING: Final = Taken()

HERE: Final = "here"
"""Value of ``Taken.place`` for an open call that this process counts."""


@dataclass(frozen=True, slots=True)
class TooMuch:
    """A demand that was refused. ``standing``: state of the exhausted limit; ``None`` if too many calls are open."""

    standing: RateState | None


class Counters(Protocol):
    """Protocol of the counters behind rate limits, in one process or shared."""

    async def take(self, demand: Demand) -> Taken | TooMuch:
        """Take everything that ``demand`` asks for, or nothing: returns ``TooMuch`` if any limit would be exceeded."""

    async def settle(self, taken: Taken, charges: Sequence[tuple[Bucket, int]]) -> None:
        """End a request: free the slot of its open call, and charge each counter the amount beside it, even beyond its
        limit."""

    def answers(self) -> bool:
        """Return whether the shared counters can be reached. May block as long as one count may take."""

    async def close(self) -> None:
        """Release connections. Closing twice is harmless."""


class ProcessCounters:
    """Counters of one process and one event loop.

    ``clock``: returns seconds from any starting point. At most ``size`` counters are stored. Beyond that, those with
    nothing in use are dropped first, then the ones added earliest.
    """

    def __init__(self, size: int = 10_000, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = size
        self._clock = clock
        self._drained: dict[str, float] = {}
        self._places: dict[str, int] = {}

    async def take(self, demand: Demand) -> Taken | TooMuch:
        """Take everything that ``demand`` asks for, or nothing. See ``Counters.take``."""
        return self.take_now(demand)

    def take_now(self, demand: Demand) -> Taken | TooMuch:
        """Do what ``take`` does, without ``await``."""
        now = self._clock()
        levels: list[tuple[str, float]] = []
        for wanted, cost in demand.buckets:
            level = take_amount(wanted.limit, self._drained.get(wanted.name), now, cost)
            if isinstance(level, RateState):
                return TooMuch(level)
            if cost:
                levels.append((wanted.name, level))
        if any(self._places.get(name, 0) >= most for name, most in demand.places):
            return TooMuch(None)
        for name, _ in demand.places:
            self._places[name] = self._places.get(name, 0) + 1
        self._drained.update(levels)
        if len(self._drained) > self._size:
            self._make_room(now)
        return Taken(HERE, tuple(name for name, _ in demand.places)) if demand.places else NOTHING

    async def settle(self, taken: Taken, charges: Sequence[tuple[Bucket, int]]) -> None:
        """End a request and charge its usage. See ``Counters.settle``."""
        self.settle_now(taken, charges)

    def settle_now(self, taken: Taken, charges: Sequence[tuple[Bucket, int]]) -> None:
        """Do what ``settle`` does, without ``await``."""
        for name in taken.places:
            left = self._places.pop(name, 1) - 1
            if left > 0:
                self._places[name] = left
        now = self._clock()
        for used, cost in charges:
            self._drained[used.name] = charge(used.limit, self._drained.get(used.name), now, cost)
        if len(self._drained) > self._size:
            self._make_room(now)

    def answers(self) -> bool:
        """Return true: the counters of this process can always be reached."""
        return True

    async def close(self) -> None:
        """Do nothing: there are no connections to release."""

    def _make_room(self, now: float) -> None:
        self._drained = {name: at for name, at in self._drained.items() if at > now}
        while len(self._drained) > self._size * 3 // 4:
            del self._drained[next(iter(self._drained))]
