"""A background queue: one daemon thread, bounded, without duplicate tasks."""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final
from weakref import WeakSet

from tokenmizer_mw.runtime.forking import renew_in_child

Task = Callable[[], object]

DRAIN_SECONDS: Final = 5.0
"""How long the end of the process waits for a queue, unless told otherwise."""


class BackgroundQueue:
    """Runs tasks one after the other in a thread that starts with the first of them.

    Bounded are the number of waiting tasks and the bytes that they hold. A task that is put while one of the same
    name still waits is dropped: names stand for work that sees the newest state anyway. ``failed`` is called with
    what a task raised. A queue that nobody closed is closed when the process ends; that takes ``drain_seconds`` at
    most.
    """

    def __init__(
        self,
        *,
        capacity: int,
        size_max: int,
        failed: Callable[[BaseException], None],
        drain_seconds: float = DRAIN_SECONDS,
    ) -> None:
        self.drain_seconds = drain_seconds
        self._capacity = capacity
        self._size_max = size_max
        self._failed = failed
        self._closed = False
        self.renew_after_fork()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Start empty and without a thread: what waited is the parent's to do."""
        self._size = 0
        self._waiting: OrderedDict[Hashable, tuple[Task, int]] = OrderedDict()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._busy = False

    def put(self, name: Hashable, task: Task, size: int = 0) -> bool:
        """Queue a task that holds ``size`` bytes and return at once. False when the queue is full or closed: the task
        was not taken."""
        with self._changed:
            if not self._closed and name in self._waiting:
                return True
            full = len(self._waiting) >= self._capacity or self._size + size > self._size_max
            if self._closed or full:
                return False
            self._waiting[name] = (task, size)
            self._size += size
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="tokenmizer-background", daemon=True)
                self._busy = False
                self._thread.start()
                _working.add(self)
            self._changed.notify_all()
            return True

    def flush(self, seconds: float) -> bool:
        """Wait until nothing is queued or running, at most ``seconds``. True when that was reached."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while self._waiting or self._busy:
                left = deadline - time.monotonic()
                if left <= 0 or self._thread is None or not self._thread.is_alive():
                    return False
                self._changed.wait(left)
            return True

    def close(self, seconds: float) -> bool:
        """Take no more tasks, finish what is queued within ``seconds``, end the thread. True when all was done."""
        done = self.flush(seconds)
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._size = 0
            self._changed.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(max(0.0, seconds))
        return done

    def _run(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if self._closed and not self._waiting:
                    return
                _, (task, size) = self._waiting.popitem(last=False)
                self._size -= size
                self._busy = True
            try:
                task()
            except Exception as error:  # a task of one session must not end the work of all
                self._failed(error)


_working: Final[WeakSet[BackgroundQueue]] = WeakSet()
"""Queues with a thread in this process."""


def _close_all() -> None:
    """A thread that is inside a native library while the interpreter goes down would abort the process."""
    for queue in list(_working):
        queue.close(queue.drain_seconds)


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_working.clear)
