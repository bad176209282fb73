"""A time limit for how long a chat call waits for the store in all (its *patience*), and an event log that applies it:
a call that takes too long raises, and continues in its own thread. Time spent on computation does not count.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Final, TypeVar

from tokenmizer_mw.errors import StoreUnavailable
from tokenmizer_mw.model.event import Event, ReadDetail, Recorded
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.offload import WorkerPool
from tokenmizer_mw.store.log import EventLog, PassageRows, Snapshot
from tokenmizer_mw.store.resilience.monitor import StoreMonitor


class Patience:
    """The remaining time, in seconds, that one chat call may wait for the store. Not shared between threads."""

    __slots__ = ("left",)

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    @contextmanager
    def spend(self) -> Iterator[None]:
        """Subtract the duration of the ``with`` block from ``left``, the remaining seconds, which never get below
        0."""
        start = time.monotonic()
        try:
            yield
        finally:
            self.left = max(0.0, self.left - (time.monotonic() - start))


_current: Final[ContextVar[Patience | None]] = ContextVar("tokenmizer_patience", default=None)
"""The patience of the chat call that the current code handles; ``None`` outside of one: no limit."""


@contextmanager
def patience(seconds: float | None) -> Iterator[None]:
    """Let everything inside the block wait for the store for at most ``seconds`` in all; ``None``: no limit. Inside
    another block with a limit, the outer limit stays and ``seconds`` is ignored; ``None`` lifts the outer limit for
    the inner block."""
    if seconds is not None and _current.get() is not None:
        yield
        return
    token = _current.set(None if seconds is None else Patience(seconds))
    try:
        yield
    finally:
        _current.reset(token)


def drop_patience() -> None:
    """Remove the time limit that ``patience`` set, for code that runs in this context from here on."""
    _current.set(None)


def acquire(lock: threading.Lock | threading.RLock | threading.Condition) -> None:
    """Acquire a lock that other threads may hold while they wait for the store.

    Raises ``StoreUnavailable`` (cause "late") when the patience of a chat call ends before the lock is free. Outside of
    ``patience``, waits without limit.
    """
    current = _current.get()
    if current is None:
        lock.acquire()
    elif not lock.acquire(blocking=False):
        with current.spend():
            free = lock.acquire(timeout=current.left)
        if not free:
            raise StoreUnavailable("the session is in use, and the deadline has passed", cause="late")


@contextmanager
def hold(lock: threading.Lock | threading.RLock | threading.Condition) -> Iterator[None]:
    """Hold a lock during a ``with`` block. Raises ``StoreUnavailable`` (cause "late") when the patience of a chat call,
    the time that it may wait for the store, ends before the lock is free. Outside of ``patience``, waits without
    limit."""
    acquire(lock)
    try:
        yield
    finally:
        lock.release()


T = TypeVar("T")

THREADS_MAX: Final = 32
"""How many calls to the store can run at the same time for chats that wait for them."""

_CALLS: Final = WorkerPool("store-call", THREADS_MAX)


class BoundedLog:
    """The event log that chat calls use: ``log`` with a time limit.

    Inside ``with patience(seconds)``, a call raises ``StoreUnavailable`` (cause "late") when the time is over, and at
    once while the circuit breaker is open (the store did not answer before). The operation may still be executed: an
    append that was given up can be in the log later. Outside of it, calls wait as ``log`` does. Every
    ``StoreUnavailable`` is reported to ``monitor``, except that of a closed store. Only successful writes are reported
    as success, because a database that is locked or full can still be read. Methods that no chat waits for, such as
    ``sessions`` and ``forget``, are those of ``log`` itself, without limit and reports.
    """

    def __init__(self, log: EventLog, monitor: StoreMonitor) -> None:
        self._log = log
        self.monitor = monitor
        self._under_way: dict[object, float] = {}
        # No chat waits for these.
        self.sessions, self.tenants, self.load = log.sessions, log.tenants, log.load
        self.forget, self.erase, self.rewrite, self.close = log.forget, log.erase, log.rewrite, log.close

    @property
    def place(self) -> str:
        """Where the store is, for messages to people: the path of the file, or host and database; "" if unknown, as for
        a store in memory."""
        return str(getattr(self._log, "place", ""))

    def longest_wait(self) -> float:
        """Return how many seconds ago the oldest running call started; 0.0 when none is running."""
        started = list(self._under_way.values())
        return time.monotonic() - min(started) if started else 0.0

    def append(self, session: SessionKey, events: Sequence[Event], *, expected_seq: int) -> list[Recorded]:
        """Append ``events`` to a session after its event ``expected_seq`` (0 for a new session), all or none. Returns
        them with their numbers and times; ``[]`` if there are none. Raises ``Conflict`` if the session's last event has
        another number, and ``StoreError`` if the store fails."""
        if _current.get() is None:
            token, start = object(), time.monotonic()
            self._under_way[token] = start
            try:
                recorded = self._log.append(session, events, expected_seq=expected_seq)
            except StoreUnavailable as error:
                self._note_failure(error)
                raise
            finally:
                del self._under_way[token]
            self.monitor.note_answer(time.monotonic() - start)
            return recorded
        return self._run_bounded(partial(self._log.append, session, events, expected_seq=expected_seq), writes=True)

    def read(
        self, session: SessionKey, *, after: int = 0, upto: int | None = None, detail: ReadDetail = "all"
    ) -> list[Recorded]:
        """Return the events of a session with ``after < seq <= upto``, in order; ``upto`` of ``None``: to the end.
        ``[]`` for an unknown session. ``detail``: with less than "all", events that are not needed may be missing, and
        messages may lack their content."""
        return self._run_bounded(partial(self._log.read, session, after=after, upto=upto, detail=detail))

    def snapshot(self, session: SessionKey) -> Snapshot | None:
        """Return the stored snapshot of a session (its state after some event as bytes, which saves reading the events
        before it); ``None`` if there is none."""
        return self._run_bounded(partial(self._log.snapshot, session))

    def keep_snapshot(self, session: SessionKey, snapshot: Snapshot) -> bool:
        """Store a snapshot of a session's state, replacing the previous one. Returns whether it was stored: not if the
        session was erased or rewritten since the snapshot's event, or if the stored one has the same fold version and
        is not older."""
        return self._run_bounded(partial(self._log.keep_snapshot, session, snapshot), writes=True)

    def passage_rows(self, session: SessionKey, model: str) -> dict[bytes, bytes]:
        """Return the embedding vectors that ``model`` computed for a session's passages (paragraphs of its messages),
        as bytes by the digest of the passage; ``{}`` if there are none."""
        return self._run_bounded(partial(self._log.passage_rows, session, model))

    def keep_passage_rows(self, session: SessionKey, passages: PassageRows, *, most: int) -> bool:
        """Store further embedding vectors of a session's passages (paragraphs of its messages). Only the ``most``
        newest are kept, and those of other models are deleted. Returns whether they were stored: not if the session was
        erased or rewritten since they were computed."""
        return self._run_bounded(partial(self._log.keep_passage_rows, session, passages, most=most), writes=True)

    def secret(self) -> bytes:
        """Return the store's secret: random bytes, created with the store and the same for all its users. It is used to
        sign data."""
        return self._run_bounded(self._log.secret)

    def _run_bounded(self, call: Callable[[], T], *, writes: bool = False) -> T:
        current = _current.get()
        if current is None:
            return self._run_watched(call, writes)
        if self.monitor.is_open:
            raise self._late("the store has not answered lately")
        future: Future[T] = Future()
        _CALLS.put((partial(_run, future, partial(self._run_watched, call, writes)), copy_context(), None))
        return self._await_result(future, current)

    def _await_result(self, future: Future[T], current: Patience) -> T:
        try:
            with current.spend():
                return future.result(current.left)
        except TimeoutError:
            if future.cancel() or not future.done():
                self.monitor.late(self.place)
                raise self._late("the store did not answer before the deadline") from None
            return future.result()

    def _run_watched(self, call: Callable[[], T], writes: bool) -> T:
        """Run a call and report its outcome to the monitor. ``append`` has the same code inline, because it runs for
        each turn."""
        token, start = object(), time.monotonic()
        self._under_way[token] = start
        try:
            result = call()
        except StoreUnavailable as error:
            self._note_failure(error)
            raise
        finally:
            del self._under_way[token]
        if writes:
            self.monitor.note_answer(time.monotonic() - start)
        return result

    def _note_failure(self, error: StoreUnavailable) -> None:
        if error.cause != "closed":
            self.monitor.note_failure(error)

    def _late(self, message: str) -> StoreUnavailable:
        return StoreUnavailable(message, cause="late", place=self.place)


def _run(future: Future[T], call: Callable[[], T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = call()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)
