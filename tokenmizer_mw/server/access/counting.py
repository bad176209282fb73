"""Counting what is used: the port, and the counters of this process alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from .rate import Limit, RateState, charge, take


@dataclass(frozen=True, slots=True)
class Bucket:
    """A limit of somebody, by a name that is unique among all that are counted."""

    name: str
    limit: Limit


def bucket(group: str, owner: str, limit: Limit) -> Bucket:
    """The bucket of an owner. ``group`` is the tenant: what is counted for one request lies together by it."""
    return Bucket(f"{{{group}}}:{owner}:{limit.unit}", limit)


@dataclass(frozen=True, slots=True)
class Demand:
    """What a request wants to use: so much of each bucket (0: only that there is something left), and a ``place``
    among the streams that are under way, where ``place_max`` of them may be (0: no place is needed)."""

    buckets: tuple[tuple[Bucket, int], ...]
    group: str = ""
    place_max: int = 0


@dataclass(frozen=True, slots=True)
class Taken:
    """What a demand was given. ``place`` is to be given back ("" when there is none)."""

    place: str = ""
    group: str = ""


NOTHING: Final = Taken()
HERE: Final = "here"
"""The place of a stream that is counted in this process."""


@dataclass(frozen=True, slots=True)
class TooMuch:
    """What a demand was refused for; ``None``: too many streams are under way."""

    standing: RateState | None


class Counters(Protocol):
    """What is used, by buckets."""

    async def take(self, demand: Demand) -> Taken | TooMuch:
        """All that is demanded, or nothing of it."""

    async def settle(self, taken: Taken, charges: Sequence[tuple[Bucket, int]]) -> None:
        """The request is over: its place is free again, and this much more was used, whether it fits or not."""

    def answers(self) -> bool:
        """Whether what all share can be counted now. May block for as long as a count may take."""

    async def close(self) -> None:
        """Release connections. Closing twice is harmless."""


class ProcessCounters:
    """Counters of one process and one event loop; ``size`` of them at most: when there are more, those that are
    longest in use are forgotten, after those that are full."""

    def __init__(self, size: int = 10_000, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = size
        self._clock = clock
        self._drained: dict[str, float] = {}
        self._places: dict[str, int] = {}

    async def take(self, demand: Demand) -> Taken | TooMuch:
        """See ``Counters.take``."""
        return self.taken(demand)

    def taken(self, demand: Demand) -> Taken | TooMuch:
        """``take``, for those who need not wait."""
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
        self.settled(taken, charges)

    def settled(self, taken: Taken, charges: Sequence[tuple[Bucket, int]]) -> None:
        """``settle``, for those who need not wait."""
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
