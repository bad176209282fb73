"""Group commit without a thread of its own: the first caller writes the items of all waiting callers.

A commit costs more than its contents, so items that arrive during one commit are written together by the next. A caller
that finds no write in progress leads: it takes all waiting items, including its own, writes them, and wakes their
callers. Then the first of the callers that arrived meanwhile leads. A caller without competition never changes threads,
and items are written in order of arrival.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

Item = TypeVar("Item")


class _Waiter(Generic[Item]):
    __slots__ = ("done", "item", "turn")

    def __init__(self, item: Item) -> None:
        self.item = item
        self.done = False
        self.turn = Lock()
        self.turn.acquire()


class GroupCommit(Generic[Item]):
    """Collects items that several threads submit at the same time, and calls ``write`` with all of them at once, in the
    order in which they came. Only one call of ``write`` runs at a time."""

    def __init__(self, write: Callable[[list[Item]], None]) -> None:
        self._write = write
        self._mutex = Lock()
        self._line: list[_Waiter[Item]] = []
        self._leader: _Waiter[Item] | None = None

    def submit(self, item: Item) -> None:
        """Wait until ``write`` was called with ``item``, for as long as that takes.

        One of the waiting callers leads: it calls ``write`` with the items of all. An error raised by ``write`` is
        raised in that caller; the items of the others are written again by the next leader. ``write`` should store the
        outcome of a single item in the item.
        """
        waiter = _Waiter(item)
        with self._mutex:
            self._line.append(waiter)
            if leads := self._leader is None:
                self._leader = waiter
        if not leads:
            self._wait(waiter)
            if waiter.done:
                return
        self._lead(waiter)

    def _wait(self, waiter: _Waiter[Item]) -> None:
        try:
            waiter.turn.acquire()
        except BaseException:  # KeyboardInterrupt: an appointed leader that leaves must not stop the line
            with self._mutex:
                self._line = [other for other in self._line if other is not waiter]
                appointed = self._leader is waiter
            if appointed:
                self._hand_over([], waiter)
            raise

    def _lead(self, leader: _Waiter[Item]) -> None:
        with self._mutex:
            batch, self._line = self._line, []
        try:
            self._write([waiter.item for waiter in batch])
            for waiter in batch:
                waiter.done = True
        finally:
            self._hand_over(batch, leader)

    def _hand_over(self, batch: list[_Waiter[Item]], leader: _Waiter[Item]) -> None:
        with self._mutex:
            self._line = [waiter for waiter in batch if not waiter.done and waiter is not leader] + self._line
            self._leader = self._line[0] if self._line else None
            woken = [waiter for waiter in batch if waiter.done]
            if self._leader is not None:
                woken.append(self._leader)
        for waiter in woken:
            waiter.turn.release()
