"""FIFO queues of items to write, one per session, bounded in number and bytes. Pure; callers bring a lock."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Generic, TypeVar

from tokenmizer_mw.model.session import SessionKey

Item = TypeVar("Item")


class Lanes(Generic[Item]):
    """Queues of items to write, one FIFO queue (lane) per session.

    - A lane is ready (its first item may be taken), taken (somebody writes its first item) or resting (its first item
      failed and waits for ``wake``).
    - ``count_max``: most items in all lanes together; ``size_max``: most bytes of these items.
    """

    def __init__(self, count_max: int, size_max: int) -> None:
        self.count = 0
        self.size = 0
        self._count_max = count_max
        self._size_max = size_max
        self._lanes: dict[SessionKey, deque[tuple[Item, int]]] = {}
        self.ready: OrderedDict[SessionKey, None] = OrderedDict()
        """Sessions of ready lanes, the one that has been ready longest first."""
        self.resting: OrderedDict[SessionKey, None] = OrderedDict()
        """Sessions of resting lanes, the one that has rested longest first."""

    def put(self, key: SessionKey, item: Item, size: int) -> bool:
        """Append an item of ``size`` bytes to the lane (queue) of the session ``key``. Returns ``False``, and appends
        nothing, if all lanes together would then exceed ``count_max`` or ``size_max``."""
        if self.count >= self._count_max or self.size + size > self._size_max:
            return False
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = deque()
            self.ready[key] = None
        lane.append((item, size))
        self.count += 1
        self.size += size
        return True

    def take(self) -> tuple[SessionKey, Item] | None:
        """Take the lane (queue of a session) that has been ready longest, and return its session and its first item;
        ``None`` if no lane is ready.

        The item stays in the lane. Nobody else can take the lane until ``remove_first`` or, after a failure, ``rest``
        was called for the session.
        """
        if not self.ready:
            return None
        key, _ = self.ready.popitem(last=False)
        return key, self._lanes[key][0][0]

    def remove_first(self, key: SessionKey) -> None:
        """Remove the first item of a taken lane, after it was written or given up. The lane is ready again if it has
        another item; otherwise it is deleted."""
        lane = self._lanes[key]
        _, size = lane.popleft()
        self.count -= 1
        self.size -= size
        if lane:
            self.ready[key] = None
        else:
            del self._lanes[key]

    def rest(self, key: SessionKey) -> None:
        """Let a taken lane (queue of a session) rest after its first item failed, until ``wake``. The item stays
        first."""
        self.resting[key] = None

    def wake(self, most: int | None = None) -> None:
        """Make resting lanes (queues of sessions) ready, the one that has rested longest first; at most ``most``
        (``None``: all)."""
        while self.resting and most != 0:
            key, _ = self.resting.popitem(last=False)
            self.ready[key] = None
            most = most - 1 if most is not None else None

    def is_taken(self, key: SessionKey) -> bool:
        """Whether the lane (queue) of a session is taken: its first item is being written. False for a session without
        items."""
        return key in self._lanes and key not in self.ready and key not in self.resting

    def taken_item(self, key: SessionKey) -> Item | None:
        """Return the item of session ``key`` that is being written now; ``None`` if none is. The item stays in its
        lane."""
        return self._lanes[key][0][0] if self.is_taken(key) else None

    def drop(self, key: SessionKey) -> list[Item]:
        """Remove and return the items of a session, except one that is being written; ``[]`` for none."""
        lane = self._lanes.get(key)
        if lane is None:
            return []
        first = [lane.popleft()] if self.is_taken(key) else []
        left = [item for item, _ in lane]
        self.count -= len(lane)
        self.size -= sum(size for _, size in lane)
        if first:
            self._lanes[key] = deque(first)
        else:
            del self._lanes[key]
            self.ready.pop(key, None)
            self.resting.pop(key, None)
        return left

    def clear(self) -> list[Item]:
        """Remove all items of ready and resting lanes, and return them. Taken lanes, whose first item is being written,
        keep all their items."""
        return [item for key in [*self.ready, *self.resting] for item in self.drop(key)]
