"""Rate limits as counters: the generic cell rate algorithm (GCRA), and its counters for one process.

A limit of ``amount`` per ``period`` seconds works like a bucket of that size which drains evenly. The only stored state
is ``drained_at``, the time at which the bucket will be empty if nothing more is taken: the later it is, the fuller the
bucket is now. Compared with counting per minute, twice the amount cannot get through at the edge of two minutes. A cost
that is known only afterwards may exceed the limit; nothing more is accepted until the excess has drained.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

MINUTE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Limit:
    """A rate limit: at most ``amount`` per ``period`` seconds on average. The whole amount may be taken at once.
    ``unit`` names what is counted, such as "tokens"."""

    unit: str
    amount: int
    period: float = MINUTE


@dataclass(frozen=True, slots=True)
class RateState:
    """How much of a limit is left at some time.

    - ``remaining``: amount that can be taken at once.
    - ``reset``: seconds until the whole ``limit.amount`` can be taken again, if nothing is taken before.
    - ``wait``: seconds until the amount that was refused can be taken.
    """

    limit: Limit
    remaining: int
    reset: float
    wait: float


def take_amount(limit: Limit, drained_at: float | None, now: float, cost: int = 1) -> float | RateState:
    """Compute what taking ``cost`` from the limit results in. Returns the new ``drained_at``, which the caller must
    store, if the cost fits; if not, returns the ``RateState``, and nothing is taken.

    ``drained_at``: the time at which nothing of the limit will be in use, in seconds on the same clock as ``now``;
    ``None`` if nothing was taken yet. A cost of 0 takes nothing, but is refused if not even a cost of 1 would fit.
    """
    level = max(drained_at or now, now)
    each = limit.period / limit.amount
    wait = level + max(cost, 1) * each - now - limit.period
    # What one rounding error makes of an exact fit is no reason to refuse.
    if wait > each * 1e-6:
        return rate_state(limit, level, now, wait)
    return level + cost * each


def charge(limit: Limit, drained_at: float | None, now: float, cost: int) -> float:
    """Return the new ``drained_at`` of a limit after ``cost`` was used, even if that exceeds the limit. The caller must
    store it.

    ``drained_at``: the time at which nothing of the limit would be in use, in seconds on the same clock as ``now``;
    ``None`` if nothing was taken yet.
    """
    return max(drained_at or now, now) + cost * limit.period / limit.amount


def rate_state(limit: Limit, drained_at: float, now: float, wait: float) -> RateState:
    """Return how much of a limit is left at the time ``now``.

    ``drained_at``: the time at which nothing of the limit will be in use, in seconds on the same clock as ``now``.
    ``wait`` becomes ``RateState.wait`` unchanged.
    """
    reset = max(drained_at - now, 0.0)
    free = (1.0 - reset / limit.period) * limit.amount
    return RateState(limit, max(int(free + 1e-6), 0), reset, wait)


@dataclass(frozen=True, slots=True)
class Bucket:
    """Identifies the counter of a rate limit for one owner (a tenant, a key or a host). ``name`` is unique among all
    counters."""

    name: str
    limit: Limit


def name_places(group: str, owner: str) -> str:
    """Return the name of the counter of the chat calls that ``owner`` has open. ``group``: the tenant, as in
    ``bucket``."""
    return f"{{{group}}}:{owner}:streams"


def bucket(group: str, owner: str, limit: Limit) -> Bucket:
    """Return the counter of ``limit`` for ``owner``, such as "tenant", "key:<id>" or "host". ``group``: the tenant (or
    the host) that it belongs to. A Redis cluster stores all counters of one group on the same node."""
    return Bucket(f"{{{group}}}:{owner}:{limit.unit}", limit)


@dataclass(frozen=True, slots=True)
class Demand:
    """What a request takes from the counters before it starts.

    - ``buckets``: pairs of a counter and the amount to take; the amount 0 only checks that the limit is not used up.
    - ``places``: pairs of a name and a number: the counter of open calls in which the request takes a slot, and how
      many calls may be open at the same time.
    """

    buckets: tuple[tuple[Bucket, int], ...]
    places: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Taken:
    """What a request took from the counters. The caller passes it to ``settle`` when the request ends.

    ``place``: identifies the slot of an open call, which ``settle`` frees again; "" if no slot was taken. ``places``:
    names of the counters in which the slot was taken.
    """

    place: str = ""
    places: tuple[str, ...] = ()


NOTHING: Final = Taken()

HERE: Final = "here"
"""Value of ``Taken.place`` if the open call is counted in this process, not in Redis."""


@dataclass(frozen=True, slots=True)
class TooMuch:
    """Result for a demand that was refused. ``standing``: state of the exhausted limit; ``None`` if the reason is that
    too many calls are open."""

    standing: RateState | None


class Counters(Protocol):
    """Protocol of the counters behind rate limits, in one process or shared by several."""

    async def take(self, demand: Demand) -> Taken | TooMuch:
        """Take everything that ``demand`` asks for and return what was taken. If any limit would be exceeded, take
        nothing and return ``TooMuch``.

        The caller must pass what was taken to ``settle`` when the request ends. Until then the slot of its open call
        stays taken.
        """

    async def settle(self, taken: Taken, charges: Sequence[tuple[Bucket, int]]) -> None:
        """End a request: free the slot of its open call, and charge the costs that are known only now.

        ``taken``: what ``take`` returned for the request. ``charges``: pairs of a counter and an amount, which is
        charged even if that exceeds the limit.
        """

    def answers(self) -> bool:
        """Return whether the counters can be reached. Blocks while it asks a shared store, at most for the timeout of
        one call."""

    async def close(self) -> None:
        """Close the connections to a shared store, if there are any. Closing twice is harmless."""


class ProcessCounters:
    """Counters in the memory of one process, for one event loop.

    ``size``: maximum number of rate-limit counters that are stored. If there are more, those with nothing in use are
    dropped first, then the ones added earliest. ``clock``: returns seconds from any fixed starting point.
    """

    def __init__(self, size: int = 10_000, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = size
        self._clock = clock
        self._drained: dict[str, float] = {}
        self._places: dict[str, int] = {}

    async def take(self, demand: Demand) -> Taken | TooMuch:
        """Take everything that ``demand`` asks for and return what was taken. If any limit would be exceeded, take
        nothing and return ``TooMuch``.

        The caller must pass what was taken to ``settle`` when the request ends. Until then the slot of its open call
        stays taken.
        """
        return self.take_now(demand)

    def take_now(self, demand: Demand) -> Taken | TooMuch:
        """Do the same as ``take``, but as a plain function without ``await``. What was taken is given back with
        ``settle`` or ``settle_now``."""
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
        """End a request: free the slot of its open call (``taken``), and add each amount of ``charges`` to its counter,
        even if that exceeds the limit."""
        self.settle_now(taken, charges)

    def settle_now(self, taken: Taken, charges: Sequence[tuple[Bucket, int]]) -> None:
        """Do the same as ``settle``, but as a plain function without ``await``."""
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
