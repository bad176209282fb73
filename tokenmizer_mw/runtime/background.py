"""A background queue: one daemon thread runs tasks one after the other; their number is limited, and a task that waits
is not queued twice."""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final, NamedTuple
from weakref import WeakSet

from tokenmizer_mw.runtime.forking import renew_in_child

Task = Callable[[], object]

PAUSE_SECONDS: Final = 0.1
"""Default of ``Pauses.seconds``."""

LATER_SECONDS: Final = 10.0
"""Default of ``Pauses.longest``."""

DRAIN_SECONDS: Final = 5.0
"""Default of ``BackgroundQueue``: longest time in seconds that the end of the process waits for a queue."""


class _Waiting(NamedTuple):
    task: Task
    size: int


@dataclass(slots=True)
class _Later:
    """A task that waits for a pause. ``put_at``: when it was queued first, in seconds of the monotonic clock;
    ``times``: how often ``put_later`` was called for it."""

    task: Task
    put_at: float
    times: int = 1


@dataclass(frozen=True, slots=True)
class Pauses:
    """When tasks of ``BackgroundQueue.put_later`` run.

    - ``seconds``: a pause is this long without a new task; tasks wait for one.
    - ``longest``: longest time in seconds that a task waits for a pause.
    - ``tasks_max``, ``times_max``: with more waiting tasks, or more calls of ``put_later`` for them, no task waits for
      a pause.
    - ``missed``: called when a task runs although there was no pause.
    """

    seconds: float = PAUSE_SECONDS
    longest: float = LATER_SECONDS
    tasks_max: int = 128
    times_max: int = 2_000
    missed: Callable[[], None] = lambda: None


class BackgroundQueue:
    """Runs tasks one after the other in a daemon thread that starts with the first task.

    - ``capacity``, ``size_max``: largest number of waiting tasks, and of bytes that they hold.
    - ``failed``: called with the error that a task raised; the next task runs nevertheless.
    - ``drain_seconds``: a queue that is not closed is closed when the process ends; this takes at most so long.
    - ``pauses``: when tasks of ``put_later`` run; ``None``: ``Pauses()``.

    A task whose name a waiting task has already is dropped, because the waiting one will see the newest state anyway.

    Tasks of ``put_later`` wait for a pause, a time (``pauses.seconds``) in which no task is queued, so that a busy
    process answers requests first. They wait at most ``pauses.longest`` seconds, and not at all if the queue is half
    full or during a flush. Tasks of ``put`` overtake them.
    """

    def __init__(
        self,
        *,
        capacity: int,
        size_max: int,
        failed: Callable[[BaseException], None],
        drain_seconds: float = DRAIN_SECONDS,
        pauses: Pauses | None = None,
    ) -> None:
        self.drain_seconds = drain_seconds
        self._capacity = capacity
        self._size_max = size_max
        self._failed = failed
        self._pauses = pauses or Pauses()
        self._closed = False
        self.renew_after_fork()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Empty the queue and forget its thread. Called automatically in a forked child process, where the thread does
        not exist; the parent process runs the waiting tasks."""
        self._size = 0
        self._waiting: OrderedDict[Hashable, _Waiting] = OrderedDict()
        self._later: OrderedDict[Hashable, _Later] = OrderedDict()
        self._later_times = 0
        self._put_at = 0.0
        self._flushing = 0
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._busy = False

    def put(self, name: Hashable, task: Task, size: int = 0) -> bool:
        """Queue a task that holds ``size`` bytes, and return at once. If a task of this name from an earlier ``put``
        waits already, that one runs instead of ``task``. Returns ``True`` in both cases; ``False`` if the queue is full
        or closed, and ``task`` does not run."""
        with self._changed:
            self._put_at = time.monotonic()
            if not self._closed and name in self._waiting:
                return True
            if self._is_full() or self._size + size > self._size_max:
                return False
            self._waiting[name] = _Waiting(task, size)
            self._size += size
            self._start()
            self._changed.notify_all()
            return True

    def put_later(self, name: Hashable, task: Task) -> bool:
        """Queue a task to run at the next pause (a short time in which no task is queued), and return at once. If a
        task of this name from an earlier ``put_later`` waits already, that one runs instead of ``task``. Returns
        ``True`` in both cases; ``False`` if the queue is full or closed, and ``task`` does not run."""
        with self._changed:
            self._put_at = time.monotonic()
            known = self._later.get(name)
            if known is not None:
                known.times += 1
            elif self._is_full():
                return False
            else:
                self._later[name] = _Later(task, self._put_at)
                self._start()
            self._later_times += 1
            if len(self._later) == 1 or not self._may_rest():  # else the thread is not asleep, or rests
                self._changed.notify_all()
            return True

    def flush(self, seconds: float) -> bool:
        """Wait until no task is queued or running, at most ``seconds``. Returns whether that was reached in time."""
        deadline = time.monotonic() + seconds
        with self._changed:
            self._flushing += 1
            self._changed.notify_all()
            try:
                while self._waiting or self._later or self._busy:
                    left = deadline - time.monotonic()
                    if left <= 0 or self._thread is None or not self._thread.is_alive():
                        return False
                    self._changed.wait(left)
                return True
            finally:
                self._flushing -= 1

    def close(self, seconds: float) -> bool:
        """Finish the queued tasks within ``seconds``, drop the rest, accept no more, and end the thread. Returns
        whether all were finished.
        """
        done = self.flush(seconds)
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._later.clear()
            self._size = self._later_times = 0
            self._changed.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(max(0.0, seconds))
        return done

    def _is_full(self) -> bool:
        return self._closed or len(self._waiting) + len(self._later) >= self._capacity

    def _start(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="tokenmizer-background", daemon=True)
            self._busy = False
            self._thread.start()
            _working.add(self)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                while not (self._waiting or self._closed or self._is_later_due()):
                    self._changed.wait(self._seconds_left() if self._later else None)
                task = self._take()
                if task is None:
                    return  # closed
                self._busy = True
            try:
                task()
            except Exception as error:  # a task of one session must not end the work of all
                self._failed(error)

    def _take(self) -> Task | None:
        """Remove the next task from the queue and return it: one of ``put``, else one of ``put_later``, the oldest
        first; ``None`` if there is none. Calls ``Pauses.missed`` if the task did not get its pause."""
        if self._waiting:
            _, waiting = self._waiting.popitem(last=False)
            self._size -= waiting.size
            return waiting.task
        if not self._later:
            return None
        if not self._flushing and time.monotonic() - self._put_at < self._pauses.seconds:
            self._pauses.missed()
        _, later = self._later.popitem(last=False)
        self._later_times -= later.times
        return later.task

    def _may_rest(self) -> bool:
        """Whether the tasks of ``put_later`` may still wait for a pause: no flush runs, the queue is less than half
        full, and neither limit of ``Pauses`` (``tasks_max``, ``times_max``) is exceeded."""
        half_full = (len(self._waiting) + len(self._later)) * 2 >= self._capacity
        many = len(self._later) > self._pauses.tasks_max or self._later_times > self._pauses.times_max
        return not (self._flushing or half_full or many)

    def _is_later_due(self) -> bool:
        return bool(self._later) and (not self._may_rest() or self._seconds_left() <= 0)

    def _seconds_left(self) -> float:
        oldest = next(iter(self._later.values()))
        until = min(self._put_at + self._pauses.seconds, oldest.put_at + self._pauses.longest)
        return until - time.monotonic()


_working: Final[WeakSet[BackgroundQueue]] = WeakSet()
"""Queues that started a thread in this process."""


def _close_all() -> None:
    """Close all queues at the end of the process: a thread inside a native library would abort the interpreter then."""
    for queue in list(_working):
        queue.close(queue.drain_seconds)


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_working.clear)
