"""Usage counters for rate limits: the protocol, and an implementation for a single process."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from .rate import Limit, RateState, charge, take


@dataclass(frozen=True, slots=True)
class Bucket:
    """A rate limit of one owner. ``name`` is unique among all counted buckets."""

    name: str
    limit: Limit


def bucket(group: str, owner: str, limit: Limit) -> Bucket:
    """Return the bucket of an owner. Buckets of one ``group`` (the tenant) are stored together."""
    return Bucket(f"{{{group}}}:{owner}:{limit.unit}", limit)


@dataclass(frozen=True, slots=True)
class Demand:
    """What a request needs from the counters.

    ``buckets``: pairs of a bucket and the amount to take; 0 only checks that the bucket is not used up. ``group``: the
    tenant. ``place_max``: how many streams the group may have open at once; 0 if the request needs no stream slot.
    """

    buckets: tuple[tuple[Bucket, int], ...]
    group: str = ""
    place_max: int = 0


@dataclass(frozen=True, slots=True)
class Taken:
    """What was granted for a demand. ``place``: the stream slot, which ``settle`` frees again ("" if none was
    taken)."""

    place: str = ""
    group: str = ""


NOTHING: Final = Taken()
HERE: Final = "here"
"""The place of a stream that is counted in this process."""


@dataclass(frozen=True, slots=True)
class TooMuch:
    """A refused demand. ``standing``: state of the exhausted limit; ``None`` if too many streams are open."""

    standing: RateState | None


class Counters(Protocol):
    """Protocol of usage counters, by bucket."""

    async def take(self, demand: Demand) -> Taken | TooMuch:
        """Take everything that is demanded, or nothing: returns ``TooMuch`` if any limit would be exceeded."""

    async def settle(self, taken: Taken, charges: Sequence[tuple[Bucket, int]]) -> None:
        """End a request: free its stream slot and charge more usage, even beyond the limit."""

    def answers(self) -> bool:
        """Return whether the shared counters can be reached. May block as long as one count may take."""

    async def close(self) -> None:
        """Release connections. Closing twice is harmless."""


class ProcessCounters:
    """Counters of one process and one event loop.

    At most ``size`` buckets are stored. Beyond that, drained buckets are dropped first, then the ones added earliest.
    """

    def __init__(self, size: int = 10_000, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = size
        self._clock = clock
        self._drained: dict[str, float] = {}
        self._places: dict[str, int] = {}

    async def take(self, demand: Demand) -> Taken | TooMuch:
        """See ``Counters.take``."""
        return self.take_now(demand)

    def take_now(self, demand: Demand) -> Taken | TooMuch:
        """Synchronous form of ``take``."""
        now = self._clock()
        levels: list[tuple[str, float]] = []
        for wanted, cost in demand.buckets:
            level = take(wanted.limit, self._drained.get(wanted.name), now, cost)
            if isinstance(level, RateState):
                return TooMuch(level)
            if cost:
                levels.append((wanted.name, level))
        if demand.place_max and not self._take_place(demand.group, demand.place_max):
            return TooMuch(None)
        self._drained.update(levels)
        if len(self._drained) > self._size:
            self._make_room(now)
        return Taken(HERE, demand.group) if demand.place_max else NOTHING

    async def settle(self, taken: Taken, charges: Sequence[tuple[Bucket, int]]) -> None:
        """See ``Counters.settle``."""
        self.settle_now(taken, charges)

    def settle_now(self, taken: Taken, charges: Sequence[tuple[Bucket, int]]) -> None:
        """Synchronous form of ``settle``."""
        if taken.place:
            left = self._places.pop(taken.group, 1) - 1
            if left > 0:
                self._places[taken.group] = left
        now = self._clock()
        for used, cost in charges:
            self._drained[used.name] = charge(used.limit, self._drained.get(used.name), now, cost)
        if len(self._drained) > self._size:
            self._make_room(now)

    def answers(self) -> bool:
        """See ``Counters.answers``."""
        return True

    async def close(self) -> None:
        """See ``Counters.close``."""

    def _take_place(self, group: str, most: int) -> bool:
        used = self._places.get(group, 0)
        if used >= most:
            return False
        self._places[group] = used + 1
        return True

    def _make_room(self, now: float) -> None:
        self._drained = {name: at for name, at in self._drained.items() if at > now}
        while len(self._drained) > self._size * 3 // 4:
            del self._drained[next(iter(self._drained))]
