"""In-process cache of folded sessions: refreshed from new events, written through to the store, retried on conflict.

Folding a session means applying its events in order to get its state. A session that is not cached is folded from its
log. If the log is long, folding starts at a snapshot (a stored state), and new snapshots are stored in the background.
A snapshot is checked against the log; an unusable one is ignored and the whole log is folded.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Final, Generic, Protocol, TypeVar

from tokenmizer_mw.errors import Conflict
from tokenmizer_mw.model.event import Checkpointed, Event, MessageRecorded, Recorded, Rewritten, TurnClosed
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.forking import make_lock, renew_in_child
from tokenmizer_mw.runtime.tracing import span
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.session.snapshot import SnapshotPolicy
from tokenmizer_mw.session.transcript_edits import HistoryMessages
from tokenmizer_mw.store.log import EventLog
from tokenmizer_mw.store.resilience.bounded_log import acquire, hold


class FoldedState(Protocol):
    """A state that is built by applying the events of a log one after the other (folding). ``seq`` and ``recorded_at``:
    number and time of the last event that was applied."""

    seq: int
    recorded_at: float

    def apply(self, recorded: Recorded) -> None:
        """Change the state by the next event of the session's log."""


T = TypeVar("T")
F = TypeVar("F", bound=FoldedState)

LogEnd = tuple[int, float]
"""Number and time of the last event of a log; (0, 0.0) for an empty one."""

_NOT_JUDGED: Final = (MessageRecorded, TurnClosed, Checkpointed)
"""Events that change no fact: facts that were derived from the session before them still hold."""

ATTEMPTS_MAX: Final = 1_000
"""Conflicts in a row after which an update gives up. Each one means that another writer appended something."""

_GAVE_UP: Final = f"gave up after {ATTEMPTS_MAX} conflicts on one session"


@dataclass(slots=True)
class _CachedSession(Generic[F]):
    """A session in the cache.

    - ``last``: number of the event at which its last snapshot was made or tried. ``weight``: its share of the cache's
      limit.
    - ``extracting``: an object that stands for the thread that derives facts outside the lock, and notifies ``lock``
      when it is done; ``None``: no thread does.
    - ``judged``: number of the last event that is more than a message, so that derived facts may depend on it.
    - ``start``: a new object each time that folding starts anew.
    """

    lock: threading.Condition = field(default_factory=threading.Condition)
    state: F | None = None
    last: int = 0
    weight: int = 0
    extracting: object = None
    judged: int = 0
    start: object = field(default_factory=object)


class SessionCache(Generic[F]):
    """Caches the state of recently used sessions. Thread-safe. Events of other processes are noticed by reading the
    log.

    - ``new``: makes the state of a session without events; ``weight``: returns the size of a state.
    - ``capacity``: most sessions that are cached. ``most``: limit for the sum of their weights, ``None`` for none; the
      sessions that were used longest ago are removed first, never the one in use.
    """

    def __init__(
        self, log: EventLog, *, new: Callable[[], F], weight: Callable[[F], int], capacity: int, most: int | None
    ) -> None:
        self._log = log
        self._new = new
        self._weight = weight
        self._capacity = capacity
        self._most = most
        self._sessions: OrderedDict[SessionKey, _CachedSession[F]] = OrderedDict()
        self._total = 0
        self._guard = make_lock()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Empty the cache in a forked child process: a thread of the parent may have been changing a session during the
        fork."""
        self._sessions = OrderedDict()
        self._total = 0

    def read(self, key: SessionKey, view: Callable[[F], T]) -> T:
        """Return ``view(state)`` for the state that follows from the session's log now. ``view`` must not store the
        state."""
        cached = self._get(key)
        with hold(cached.lock):
            return view(self._refresh(key, cached))

    def at_hand(self, key: SessionKey) -> F | None:
        """Return the cached state of a session without reading the log; ``None`` if it is not cached. The caller must
        not change it; other threads may be changing it."""
        cached = self._sessions.get(key)
        return cached.state if cached is not None else None

    def drop(self, key: SessionKey) -> None:
        """Remove a session from the cache, if it is there; its next use reads the log. The log does not change."""
        with self._guard:
            self._leave(self._sessions.pop(key, None))

    def _refresh(self, key: SessionKey, cached: _CachedSession[F]) -> F:
        return self._fold(key, cached, *self._tail(key, cached))

    def _fold(self, key: SessionKey, cached: _CachedSession[F], state: F, news: Sequence[Recorded]) -> F:
        cached.state = None  # should folding fail half-way, the next use starts from the log
        for event in news:
            state.apply(event)
            if not isinstance(event.event, _NOT_JUDGED):
                cached.judged = event.seq
        cached.state = state
        self._weigh(key, cached, self._weight(state))
        return state

    def _tail(self, key: SessionKey, cached: _CachedSession[F]) -> tuple[F, list[Recorded]]:
        """Return the cached state of a session and the events after it.

        The last event that the state has is read again. If the log does not have it any more, another process has
        erased the session. Then, and if events were rewritten since, the state is empty and the events are all events
        of the log.
        """
        state = cached.state or self._starting_state(key, cached)
        if state.seq == 0:
            return state, self._read_all(key)
        tail = self._log.read(key, after=state.seq - 1)
        known = tail and (tail[0].seq, tail[0].recorded_at) == (state.seq, state.recorded_at)
        if known and not any(isinstance(news.event, Rewritten) for news in tail[1:]):
            return state, tail[1:]
        cached.last = cached.judged = 0
        cached.start = object()
        return self._new(), self._read_all(key)

    def _read_all(self, key: SessionKey) -> list[Recorded]:
        """Return the events from which the state of a session is built, at least the last one of its log."""
        return self._log.read(key)

    def _starting_state(self, key: SessionKey, cached: _CachedSession[F]) -> F:
        """Return the state at which folding starts, with events before it already applied or without any."""
        return self._new()

    def _weigh(self, key: SessionKey, cached: _CachedSession[F], weight: int) -> None:
        """Note the weight of a session, and remove the sessions that were used longest ago if the sum is too large."""
        with self._guard:
            if self._sessions.get(key) is not cached:
                return
            self._total += weight - cached.weight
            cached.weight = weight
            while self._most is not None and self._total > self._most and len(self._sessions) > 1:
                self._leave(self._sessions.popitem(last=False)[1])

    def _leave(self, cached: _CachedSession[F] | None) -> None:
        if cached is not None:
            self._total -= cached.weight

    def _get(self, key: SessionKey) -> _CachedSession[F]:
        with self._guard:
            cached = self._sessions.get(key)
            if cached is None:
                cached = self._sessions[key] = _CachedSession()
                if len(self._sessions) > self._capacity:
                    self._leave(self._sessions.popitem(last=False)[1])
            else:
                self._sessions.move_to_end(key)
            return cached


class CachedMessages(SessionCache[HistoryMessages]):
    """Cache of the messages of recently used sessions. ``capacity``: maximum number of sessions; ``most``: about how
    many characters their messages and search indexes may take together. The sessions that were used longest ago are
    removed first."""

    def __init__(self, log: EventLog, *, capacity: int, most: int) -> None:
        super().__init__(log, new=HistoryMessages, weight=attrgetter("weight"), capacity=capacity, most=most)

    def _read_all(self, key: SessionKey) -> list[Recorded]:
        return self._log.read(key, detail="messages")


class CachedSessions(SessionCache[SessionState]):
    """Cache of session states, and the only place where they change.

    It holds at most ``capacity`` states, with at most ``events_max`` events in sum (``None``: no limit), because memory
    grows with the events of a session; a single longer session stays while it is used. ``snapshots``: when snapshots
    are stored; ``None``: never.
    """

    def __init__(
        self, log: EventLog, *, capacity: int, events_max: int | None = None, snapshots: SnapshotPolicy | None = None
    ) -> None:
        super().__init__(log, new=SessionState, weight=attrgetter("seq"), capacity=capacity, most=events_max)
        self._snapshots = snapshots

    def update(self, key: SessionKey, decide: Callable[[SessionState], Sequence[Event]]) -> None:
        """Append the events that ``decide`` returns for the session; nothing if it returns none.

        ``decide`` gets the session's state, which it must not change, and runs under the session's lock: it must not
        call back into the memory. It must be pure, because it is called again if the state was stale or another
        process wrote. The events of its last call, which sees the current state, are appended. Raises ``Conflict`` if
        other writers were faster ``ATTEMPTS_MAX`` times, and ``StoreError`` if the store fails.
        """
        self.update_and_view(key, decide, lambda state: None)

    def update_and_view(
        self, key: SessionKey, decide: Callable[[SessionState], Sequence[Event]], view: Callable[[SessionState], T]
    ) -> T:
        """Append the events that ``decide`` returns for the session, then return the result of ``view``, which gets the
        session's state with these events.

        If ``decide`` returns none, nothing is appended, and ``view`` gets the current state. Both functions run under
        the session's lock and must neither change nor store the state. ``decide`` must be pure, because it is called
        again if the state was stale or another process wrote. Raises ``Conflict`` if other writers were faster
        ``ATTEMPTS_MAX`` times, and ``StoreError`` if the store fails.
        """
        cached = self._get(key)
        acquire(cached.lock)  # no ``with hold``: each turn goes through here, and a generator costs as much as a lock
        try:
            fresh = cached.state is None
            state = cached.state or self._refresh(key, cached)
            for _ in range(ATTEMPTS_MAX):
                events = decide(state)
                if not events:
                    seen, was = state, state.seq
                    state = seen if fresh else self._refresh(key, cached)
                    if state is seen and state.seq == was:
                        return view(state)
                    fresh = True
                    continue
                try:
                    with span("append", events=len(events)):
                        recorded = self._log.append(key, events, expected_seq=state.seq)
                except Conflict:
                    state, fresh = self._refresh(key, cached), True
                    continue
                return view(self._fold(key, cached, state, recorded))
        finally:
            cached.lock.release()
        raise Conflict(_GAVE_UP)

    def draft(self, key: SessionKey) -> SessionState:
        """Return a copy of the session as its log is now, which the caller may change."""
        cached = self._get(key)
        with hold(cached.lock):
            return self._refresh(key, cached).copy()

    def propose(self, key: SessionKey, decide: Callable[[SessionState], Sequence[Event]]) -> None:
        """Append the events that ``decide`` returns for the session; nothing if it returns none. Unlike in ``update``,
        ``decide`` may take long and may call back into the memory.

        ``decide`` gets a copy of the session, which it may change, and runs without the lock, so that other threads can
        write meanwhile. If one did, the events are discarded and ``decide`` is called again with a new copy. Raises
        ``Conflict`` after ``ATTEMPTS_MAX`` such calls, and ``StoreError`` if the store fails.
        """
        cached = self._get(key)
        for _ in range(ATTEMPTS_MAX):
            with hold(cached.lock):
                draft = (cached.state or self._refresh(key, cached)).copy()
            events = decide(draft)
            with hold(cached.lock):
                state = self._refresh(key, cached)
                if (state.seq, state.recorded_at) != (draft.seq, draft.recorded_at):
                    continue
                if not events or self._append(key, cached, events, draft.seq) is not None:
                    return
        raise Conflict(_GAVE_UP)

    def extract(
        self,
        key: SessionKey,
        derive: Callable[[SessionState], Sequence[Event]],
        view: Callable[[SessionState], T],
        *,
        wait: bool = True,
        end: LogEnd | None = None,
    ) -> T:
        """Extract the facts of messages that have none yet, and return ``view`` of the session.

        ``derive`` returns the events with the facts; it is called until no message is left. It gets a copy of the
        session and runs without its lock. One thread derives at a time.

        - ``wait``: wait for another thread that derives; ``False``: return without the facts that it is deriving.
        - ``end``: the end of the log as the caller has just read it. A cached session that ends there is not refreshed.
          ``None``: the log is read.
        """
        cached = self._get(key)
        with hold(cached.lock):
            while True:
                state = self._refresh_unextracted(key, cached, end)
                if not state.unextracted or (cached.extracting is not None and not wait):
                    return view(state)
                if cached.extracting is None:
                    break
                cached.lock.wait()
            mine = cached.extracting = object()
        try:
            return self._extract(key, cached, derive, view)
        finally:
            with hold(cached.lock):
                if cached.extracting in (mine, None):
                    cached.extracting = None
                    cached.lock.notify_all()

    def _extract(
        self,
        key: SessionKey,
        cached: _CachedSession[SessionState],
        derive: Callable[[SessionState], Sequence[Event]],
        view: Callable[[SessionState], T],
    ) -> T:
        for _ in range(ATTEMPTS_MAX):
            with hold(cached.lock):
                state = self._refresh_unextracted(key, cached)
                if not state.unextracted:
                    cached.extracting = None  # in one step with the look: a message that comes later starts anew
                    return view(state)
                state.graph.index_words()  # of a draft, which is dropped, the index would be made for each message
                draft, start = state.copy(), cached.start
            events = derive(draft)
            with hold(cached.lock):
                state = self._refresh(key, cached)  # the session may have been erased, and recorded anew
                while cached.start is start and cached.judged <= draft.seq:
                    done = self._append(key, cached, events, state.seq)
                    if done is None:
                        state = self._refresh(key, cached)
                    elif done.unextracted:
                        break
                    else:  # the log ended where it was appended to: there is nothing to read
                        cached.extracting = None
                        return view(done)
        raise Conflict(_GAVE_UP)

    def _refresh_unextracted(
        self, key: SessionKey, cached: _CachedSession[SessionState], end: LogEnd | None = None
    ) -> SessionState:
        """Return the cached state of a session if it has messages whose facts are not extracted yet, or if it ends at
        ``end``; else refresh it from the log."""
        state = cached.state
        if state is not None and (state.unextracted or (state.seq, state.recorded_at) == end):
            return state
        return self._refresh(key, cached)

    def _append(
        self, key: SessionKey, cached: _CachedSession[SessionState], events: Sequence[Event], expected_seq: int
    ) -> SessionState | None:
        """Append ``events`` after event ``expected_seq`` and return the session's state with them; ``None`` if another
        writer was faster."""
        try:
            with span("append", events=len(events)):
                recorded = self._log.append(key, events, expected_seq=expected_seq)
        except Conflict:
            self._refresh(key, cached)
            return None
        state = cached.state
        if state is None or state.seq != expected_seq:
            return self._refresh(key, cached)
        return self._fold(key, cached, state, recorded)

    def _starting_state(self, key: SessionKey, cached: _CachedSession[SessionState]) -> SessionState:
        found = self._snapshots.state(self._log, key) if self._snapshots is not None else None
        cached.last = cached.judged = found.seq if found is not None else 0
        cached.start = object()
        return found or self._new()

    def _fold(
        self, key: SessionKey, cached: _CachedSession[SessionState], state: SessionState, news: Sequence[Recorded]
    ) -> SessionState:
        super()._fold(key, cached, state, news)
        snapshots = self._snapshots
        if snapshots is not None and snapshots.due(state.seq, cached.last):
            cached.last = state.seq
            snapshots.later(("snapshot", key), partial(self._keep_snapshot, snapshots, key))
        return state

    def _keep_snapshot(self, snapshots: SnapshotPolicy, key: SessionKey) -> None:
        """Store a snapshot of the current state of a session, if the session is still cached."""
        with self._guard:
            cached = self._sessions.get(key)
        if cached is None:
            return
        with hold(cached.lock):
            state = cached.state.copy() if cached.state is not None else None
        if state is not None:
            snapshots.keep(self._log, key, state)
