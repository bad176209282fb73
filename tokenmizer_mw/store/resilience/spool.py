"""A queue (spool) that writes the turns of chats in its own threads, in order within a session, and retries when the
store answers again. A turn is what one chat call adds to its session.

A chat waits for its turn until the deadline. Turns that are not written by then stay in memory, up to a limit, and are
written as soon as the store answers. Writing must be idempotent, because a write that was given up may have been
executed. A process that is killed loses the turns in the queue.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
from collections.abc import Callable
from contextvars import Context, copy_context
from functools import partial
from typing import Final
from weakref import WeakSet

from tokenmizer_mw.errors import StoreUnavailable
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.forking import make_brief_lock
from tokenmizer_mw.runtime.offload import TURNS, WRITERS_MAX
from tokenmizer_mw.store.resilience.lanes import Lanes
from tokenmizer_mw.store.resilience.monitor import StoreMonitor

FAILURES_MAX: Final = 20
"""A turn is given up after this many failed attempts between which the store accepted other turns."""

CLOSING_REST_SECONDS: Final = 0.1
"""Seconds between two attempts to write while the spool is being closed."""

_log = logging.getLogger("tokenmizer_mw")


class SpooledTurn:
    """A turn in the queue. ``write``: a function that writes it; ``after``: a function that is called once it is
    written.

    - ``is_settled``: whether nobody needs to wait for it any more: it is durable, the first attempt to write it failed,
      or it was given up. ``is_written``: whether it was durable when it was settled.
    - ``is_spooled``: whether the spool has accepted the turn and not given it up.
    - ``is_dropped``: set when its session is being erased: the turn is then given up if the attempt under way fails.
    - ``go_on``: a function that the thread which queued the turn must call next, because it then writes queued turns;
      ``None``: nothing to call.
    - ``failures``: failed attempts that count for ``FAILURES_MAX``; ``others``: how many turns the spool had written at
      the last of them.

    It is written in the context (``contextvars``) in which it was made.
    """

    __slots__ = (
        "_calls", "_lock", "_released", "after", "context", "failures", "go_on", "is_dropped", "is_settled",
        "is_spooled", "is_written", "others", "write",
    )  # fmt: skip

    def __init__(self, write: Callable[[], None], after: Callable[[], None]) -> None:
        self.write = write
        self.after = after
        self.context: Context = copy_context()
        self.go_on: Callable[[], None] | None = None
        self.is_spooled = True
        self.is_dropped = False
        self.failures = 0
        self.others = 0
        self._released = False
        self._lock = make_brief_lock()
        self.is_written = self.is_settled = False
        self._calls: list[Callable[[], None]] = []

    def settle(self, written: bool) -> None:
        """Mark the turn as settled and wake the callers that wait for it. ``written``: whether it is durable. Only the
        first call counts: ``is_written`` stays false if the turn is written after a first attempt that failed."""
        with self._lock:
            if self.is_settled:
                return
            self.is_written, self.is_settled = written, True
            calls, self._calls = self._calls, []
        for call in calls:
            call()

    def when_settled(self, call: Callable[[], None]) -> None:
        """Call ``call`` once the turn is settled: in the thread that settles it, or at once if it is settled already.
        ``call`` must not wait, because the thread that wrote the turn writes others next."""
        with self._lock:
            if not self.is_settled:
                self._calls.append(call)
                return
        call()

    def wait(self, seconds: float) -> bool:
        """Wait for at most ``seconds`` until the turn is durable. Returns whether it is. Blocks."""
        settled = threading.Event()
        self.when_settled(settled.set)
        settled.wait(seconds)
        return self.is_written

    def release(self) -> bool:
        """Report that no caller waits for the turn any longer. Returns true if this is the first call and the turn was
        queued and not given up."""
        first, self._released = not self._released, True
        return first and self.is_spooled


class TurnSpool:
    """Queue of turns to be written to the store, by threads that start when needed.

    Turns of one session are written in order. If the store fails, they stay queued. Every ``rest_seconds`` one session
    is tried again, the one that failed longest ago first. If none waits and the circuit breaker is open, ``probe`` is
    called instead.

    - ``turns_max``, ``bytes_max``: limits of all queued turns together.
    - ``probe``: a cheap call of the store that writes nothing.
    - ``count``: increments the counter of this name.
    - ``drain_seconds``: time limit for writing what is queued when the process ends and ``close`` was not called.

    Only ``drop``, ``flush`` and ``close`` wait for the store, each at most the seconds it is given.
    """

    def __init__(
        self,
        monitor: StoreMonitor,
        *,
        turns_max: int,
        bytes_max: int,
        probe: Callable[[], object],
        count: Callable[[str], None],
        rest_seconds: float,
        drain_seconds: float,
    ) -> None:
        self.drain_seconds = drain_seconds
        self._rest_seconds = rest_seconds
        self._monitor = monitor
        self._bounds = (turns_max, bytes_max)
        self._probe = probe
        self._count = count
        self._closed = self._ended = False
        self._renew()
        _spools.add(self)

    def _renew(self) -> None:
        """Start with empty queues. In a forked child process, the turns that were queued are for its parent to
        write."""
        self._monitor.renew()
        self._lanes: Lanes[SpooledTurn] = Lanes(*self._bounds)
        self._changed = threading.Condition()
        self._writers = 0
        self._written = 0
        self._prober: threading.Thread | None = None

    @property
    def waiting(self) -> int:
        """Number of turns in the queue that are not written yet, including one that is being written."""
        return self._lanes.count

    def put(self, key: SessionKey, turn: SpooledTurn, size: int, *, writes: bool = False) -> bool:
        """Queue a turn of ``size`` bytes for writing. Returns ``False`` when there is no room, or after ``close``; the
        turn is then counted as lost, and settled. Raises ``RuntimeError`` if no thread can be started.

        ``writes``: true if the caller's thread may itself write turns and wait for the store. ``turn.go_on`` may then
        be set: the caller must call it next, and it writes queued turns in that thread.
        """
        with self._changed:
            taken = not self._closed and self._lanes.put(key, turn, size)
            if taken:
                self._start_writers(turn if writes else None)
        if not taken:
            turn.is_spooled = False
            self._report_lost(1, "the memory is closed" if self._closed else "the spool is full")
            turn.settle(False)
        return taken

    def drop(self, key: SessionKey, seconds: float) -> int:
        """Drop the queued turns of a session that is being erased, and return how many were dropped.

        If one of them is being written, waits for that at most ``seconds``, so that the caller erases it, too. It
        counts as dropped only if writing it failed meanwhile.
        """
        with self._changed:
            dropped = self._lanes.drop(key)
            taken = self._lanes.taken_item(key)
            if taken is not None:
                taken.is_dropped = True  # whoever writes it gives it up if the store does not take it
                self._changed.wait_for(lambda: self._lanes.taken_item(key) is not taken, seconds)
            dropped += self._lanes.drop(key)
            self._changed.notify_all()
        for turn in dropped:
            turn.is_spooled = False
            turn.settle(False)
        return len(dropped) + (taken is not None and not taken.is_spooled)

    def flush(self, seconds: float) -> bool:
        """Wait until all turns are written, at most ``seconds``. Returns whether they are."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._lanes.count, seconds)

    def close(self, seconds: float) -> bool:
        """Accept no more turns, write the queued ones within ``seconds``, and count the rest as lost. Returns true if
        none was lost."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self.flush(seconds)
        with self._changed:
            self._ended = True
            lost = self._lanes.clear()
            lost_count = len(lost) + self._lanes.count
            self._changed.notify_all()
        for turn in lost:
            turn.settle(False)
        if lost_count:
            self._report_lost(lost_count, "the process ended before the store answered")
        return not lost_count

    # -- writing ---------------------------------------------------------------------------------------------

    def _start_writers(self, turn: SpooledTurn | None = None) -> None:
        """Start a writer if a lane is ready and the circuit breaker is closed; start a prober if a lane rests.
        ``turn``: the turn whose thread becomes the writer; ``None``: another thread."""
        if self._monitor.is_open:
            self._lanes_rest()
        elif self._lanes.ready and self._writers < WRITERS_MAX:
            if turn is not None:
                turn.go_on = partial(self._write_ready, until=turn)
            else:
                TURNS.put((self._write_ready, Context(), None))
            self._writers += 1
        if self._lanes.resting:
            self._start_prober()

    def _lanes_rest(self) -> None:
        while (taken := self._lanes.take()) is not None:
            self._lanes.rest(taken[0])

    def _write_ready(self, until: SpooledTurn | None = None) -> None:
        """Write turns of ready lanes, one after the other, until there is none, the store fails, or the turn ``until``
        is settled. Another thread then goes on, so that the caller can wake the chat of ``until``; ``None``: no chat
        waits for this thread."""
        while True:
            with self._changed:
                if self._monitor.is_open:
                    self._lanes_rest()
                is_over = self._ended or (until is not None and until.is_settled)
                taken = self._lanes.take() if self._lanes.ready and not is_over else None
                if taken is None:
                    self._writers -= 1
                    if self._lanes.ready and not self._ended:
                        self._start_writers()
                    elif self._lanes.resting:
                        self._start_prober()
                    return
            self._write(*taken)

    def _write(self, key: SessionKey, turn: SpooledTurn) -> bool:
        """Write the first turn of a taken lane. Returns whether the lane moves on to the next turn: the turn was
        written, or given up."""
        try:
            turn.context.run(turn.write)
        except StoreUnavailable as error:
            return self._handle_failure(key, turn, error)
        except BaseException as error:
            return self._handle_refusal(key, turn, error)
        try:
            turn.context.run(turn.after)
        except Exception as error:
            self._count("commit_failed")
            _log.warning("after a turn was written: %s", type(error).__name__)
        with self._changed:
            self._written += 1
            self._lanes.remove_first(key)
            self._changed.notify_all()
        turn.settle(True)
        return True

    def _handle_failure(self, key: SessionKey, turn: SpooledTurn, error: StoreUnavailable) -> bool:
        """Handle that the store could not take a turn: it stays queued, and its lane rests. It is given up if its
        session is being erased, or after ``FAILURES_MAX`` failures. Returns whether it was given up."""
        with self._changed:
            if turn.is_dropped:
                turn.is_spooled = False
                self._lanes.remove_first(key)
                self._changed.notify_all()
                turn.settle(False)
                return True
            if self._written > turn.others:
                turn.failures += 1
                turn.others = self._written
            if turn.failures < FAILURES_MAX:
                self._lanes.rest(key)
                self._start_prober()
                self._changed.notify_all()
                turn.settle(False)
                return False
        return self._handle_refusal(key, turn, error)

    def _handle_refusal(self, key: SessionKey, turn: SpooledTurn, error: BaseException) -> bool:
        """Give up a turn that cannot be stored: ``error`` is no passing failure, or there were too many. It is removed
        from the queue, settled, and counted as lost. Returns true: the lane moves on to its next turn."""
        turn.is_spooled = False
        self._count("commit_failed")
        self._report_lost(1, getattr(error, "cause", "") or type(error).__name__, getattr(error, "place", ""))
        turn.settle(False)
        with self._changed:
            self._lanes.remove_first(key)
            self._changed.notify_all()
        return True

    def _report_lost(self, turns: int, reason: str, place: str = "") -> None:
        for _ in range(turns):
            self._count("turn_lost")
        self._monitor.report_lost(turns, reason, place)

    # -- probing ---------------------------------------------------------------------------------------------

    def _start_prober(self) -> None:
        if self._prober is None and not self._ended:
            prober = threading.Thread(target=self._probe_until_well, name="tokenmizer-probe", daemon=True)
            prober.start()
            self._prober = prober

    def _probe_until_well(self) -> None:
        """Try one resting lane every ``rest_seconds`` until the circuit breaker is closed; then wake all the others."""
        wrote = False
        while True:
            with self._changed:
                if self._ended or not (self._lanes.resting or self._monitor.is_open):
                    self._prober = None
                    return
                if not wrote:
                    self._rest()
                self._lanes.wake(1)
                taken = self._lanes.take()
            wrote = self._write(*taken) if taken is not None else self._probe_once()
            if not self._monitor.is_open:
                self._wake_all()

    def _rest(self) -> None:
        """Wait for ``rest_seconds``, but not longer than until the spool is being closed. While it is being closed,
        wait only for ``CLOSING_REST_SECONDS``."""
        if not self._closed:
            self._changed.wait_for(lambda: self._closed, self._rest_seconds)
        else:
            self._changed.wait_for(lambda: self._ended, CLOSING_REST_SECONDS)

    def _wake_all(self) -> None:
        with self._changed:
            self._lanes.wake()
            for _ in range(min(len(self._lanes.ready), WRITERS_MAX)):
                self._start_writers()

    def _probe_once(self) -> bool:
        try:
            self._probe()
        except Exception:  # the monitor has noted it
            return False
        return True


_spools: Final[WeakSet[TurnSpool]] = WeakSet()


def _close_all() -> None:
    for spool in list(_spools):
        if spool.waiting:
            spool.close(spool.drain_seconds)


def _renew_all() -> None:
    for spool in list(_spools):
        spool._renew()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
