"""A background queue: one daemon thread, bounded, without duplicate tasks."""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final, NamedTuple
from weakref import WeakSet

from tokenmizer_mw.runtime.forking import renew_in_child

Task = Callable[[], object]

LULL_SECONDS: Final = 0.01
"""Seconds without a new task that are a lull."""

LATER_SECONDS: Final = 1.0
"""Longest time that a task waits for a lull, in seconds."""

DRAIN_SECONDS: Final = 5.0
"""How long the end of the process waits for a queue, unless told otherwise."""


class _Waiting(NamedTuple):
    task: Task
    size: int
    put_at: float
    urgent: bool


class BackgroundQueue:
    """Runs tasks one after the other in a daemon thread that starts with the first task.

    The number of waiting tasks and the bytes that they hold are limited. A task is dropped if one with the same name
    still waits, because that one will see the newest state anyway. ``failed`` is called with the error of a task. A
    queue that is not closed is closed when the process ends, which takes at most ``drain_seconds``.

    Tasks of ``put_later`` wait for a pause (``LULL_SECONDS`` without a new task), but at most ``LATER_SECONDS``. So a
    busy process answers requests first, and tasks of the same name are merged. They do not wait while another task
    waits, if the queue is half full, or during a flush.
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
        """Start empty and without a thread in a forked child process; the parent runs the waiting tasks."""
        self._size = 0
        self._waiting: OrderedDict[Hashable, _Waiting] = OrderedDict()
        self._put_at = 0.0
        self._urgent = self._flushing = 0
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._busy = False

    def put(self, name: Hashable, task: Task, size: int = 0) -> bool:
        """Queue a task that holds ``size`` bytes, and return at once. Returns ``False`` when the queue is full or
        closed; the task is not run then.
        """
        return self._put(name, task, size, urgent=True)

    def put_later(self, name: Hashable, task: Task) -> bool:
        """Queue a task that is run at the next pause, see the class. Returns ``False`` when the queue is full or
        closed.
        """
        return self._put(name, task, 0, urgent=False)

    def _put(self, name: Hashable, task: Task, size: int, *, urgent: bool) -> bool:
        with self._changed:
            self._put_at = time.monotonic()
            if not self._closed and name in self._waiting:
                return True
            full = len(self._waiting) >= self._capacity or self._size + size > self._size_max
            if self._closed or full:
                return False
            self._waiting[name] = _Waiting(task, size, self._put_at, urgent)
            self._size += size
            self._urgent += urgent
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="tokenmizer-background", daemon=True)
                self._busy = False
                self._thread.start()
                _working.add(self)
            if len(self._waiting) == 1 or not self._may_rest():  # else the thread is not asleep, or rests
                self._changed.notify_all()
            return True

    def flush(self, seconds: float) -> bool:
        """Wait until no task is queued or running, at most ``seconds``. Returns whether that was reached."""
        deadline = time.monotonic() + seconds
        with self._changed:
            self._flushing += 1
            self._changed.notify_all()
            try:
                while self._waiting or self._busy:
                    left = deadline - time.monotonic()
                    if left <= 0 or self._thread is None or not self._thread.is_alive():
                        return False
                    self._changed.wait(left)
                return True
            finally:
                self._flushing -= 1

    def close(self, seconds: float) -> bool:
        """Accept no more tasks, finish the queued ones within ``seconds``, and end the thread. Returns whether all were
        finished.
        """
        done = self.flush(seconds)
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._size = self._urgent = 0
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
                self._await_lull()
                if not self._waiting:
                    return  # closed
                _, waiting = self._waiting.popitem(last=False)
                self._size -= waiting.size
                self._urgent -= waiting.urgent
                self._busy = True
            try:
                waiting.task()
            except Exception as error:  # a task of one session must not end the work of all
                self._failed(error)

    def _may_rest(self) -> bool:
        """Whether all that waits can wait for a lull."""
        half_full = len(self._waiting) * 2 >= self._capacity or self._size * 2 >= self._size_max
        return not (self._urgent or self._flushing or self._closed or half_full)

    def _await_lull(self) -> None:
        while self._waiting and self._may_rest():
            oldest = next(iter(self._waiting.values()))
            left = min(self._put_at + LULL_SECONDS, oldest.put_at + LATER_SECONDS) - time.monotonic()
            if left <= 0:
                return
            self._changed.wait(left)


_working: Final[WeakSet[BackgroundQueue]] = WeakSet()
"""Queues with a thread in this process."""


def _close_all() -> None:
    """A thread that is inside a native library while the interpreter goes down would abort the process."""
    for queue in list(_working):
        queue.close(queue.drain_seconds)


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_working.clear)
