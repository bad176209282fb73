"""Folded sessions kept in process: refreshed by reading the log's tail, written through it, retried on conflict.

What is not at hand is folded from the log. Where that is long, folding starts at a snapshot, which was kept in the
background: it is checked against the log like what is at hand, and whatever is wrong with it, the log is folded.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from tokenmizer_mw.errors import Conflict, StoreCorrupt, StoreError
from tokenmizer_mw.model.event import Event, Recorded, Rewritten
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.snapshot import SnapshotTooLarge, UnreadableSnapshot, fold_version, state_of, written
from tokenmizer_mw.store.log import EventLog, Snapshot
from tokenmizer_mw.tracing import span

T = TypeVar("T")

ATTEMPTS_MAX: Final = 1_000
"""Conflicts in a row after which an update gives up; each one means that another writer made progress."""


SHARE: Final = 32
"""A snapshot is worth its while when the session has grown by this part of itself: then all the snapshots of a session
cost the same for each event, however long it gets."""


@dataclass(frozen=True, slots=True)
class Snapshots:
    """When snapshots are kept: after ``every`` so many events (0: never), where a session takes no more than ``most``
    bytes. ``later`` does such work in the background, under a name; ``count`` counts what became of it."""

    every: int
    most: int
    later: Callable[[Hashable, Callable[[], None]], object]
    count: Callable[[str], object]

    def due(self, end: int, last: int) -> bool:
        """Whether a session that ends at event ``end`` should have one, when the last one was of event ``last``."""
        return 0 < self.every <= end - last and SHARE * (end - last) >= end


@dataclass(slots=True)
class _Kept:
    """A session at hand. ``last``: the event that its last snapshot is of, tried ones included; ``events``: how many
    events it counts for."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    state: SessionState | None = None
    last: int = 0
    events: int = 0


class KeptSessions:
    """The only place where folded sessions change. Safe for threads; other processes meet us in the log.

    At hand are the ``capacity`` sessions used last, and fewer where together they have more than ``events_max`` events:
    what a session takes grows with them. The one in use is always among them.
    """

    def __init__(
        self, log: EventLog, *, capacity: int, events_max: int | None = None, snapshots: Snapshots | None = None
    ) -> None:
        self._log = log
        self._capacity = capacity
        self._events_max = events_max
        self._snapshots = snapshots
        self._sessions: OrderedDict[SessionKey, _Kept] = OrderedDict()
        self._events = 0
        self._guard = threading.Lock()

    def read(self, key: SessionKey, view: Callable[[SessionState], T]) -> T:
        """``view`` of the session as the log has it now. ``view`` must not keep the state it is given."""
        kept = self._get(key)
        with kept.lock:
            return view(self._refreshed(key, kept))

    def update(self, key: SessionKey, decide: Callable[[SessionState], Sequence[Event]]) -> None:
        """Append what ``decide`` makes of the session; decide again when somebody else was faster.

        ``decide`` must be pure: it may see a state that other writers have left behind, and is then called again.
        Its last call sees the state that counts: what it says about a stale one is never the end of it.
        """
        self.updated(key, decide, lambda state: None)

    def updated(
        self, key: SessionKey, decide: Callable[[SessionState], Sequence[Event]], view: Callable[[SessionState], T]
    ) -> T:
        """``view`` of the session after ``update``, without another look at the log. ``view`` as in ``read``."""
        kept = self._get(key)
        with kept.lock:
            return view(self._decided(key, kept, decide))

    def _decided(self, key: SessionKey, kept: _Kept, decide: Callable[[SessionState], Sequence[Event]]) -> SessionState:
        fresh = kept.state is None
        state = kept.state or self._refreshed(key, kept)
        for _ in range(ATTEMPTS_MAX):
            events = decide(state)
            if not events:
                seen, was = state, state.seq
                state = seen if fresh else self._refreshed(key, kept)
                if state is seen and state.seq == was:
                    return state
                fresh = True
                continue
            try:
                with span("append", events=len(events)):
                    recorded = self._log.append(key, events, expected_seq=state.seq)
            except Conflict:
                state, fresh = self._refreshed(key, kept), True
                continue
            return self._folded(key, kept, state, recorded)
        raise Conflict(f"gave up after {ATTEMPTS_MAX} conflicts on one session")

    def drop(self, key: SessionKey) -> None:
        """Forget what is kept of a session; the next use reads the log anew."""
        with self._guard:
            self._leave(self._sessions.pop(key, None))

    def _refreshed(self, key: SessionKey, kept: _Kept) -> SessionState:
        return self._folded(key, kept, *self._tail(key, kept))

    def _folded(self, key: SessionKey, kept: _Kept, state: SessionState, news: Sequence[Recorded]) -> SessionState:
        kept.state = None  # should folding fail half-way, the next use starts from the log
        for event in news:
            state.apply(event)
        kept.state = state
        self._weigh(key, kept, state.seq)
        snapshots = self._snapshots
        if snapshots is not None and snapshots.due(state.seq, kept.last):
            kept.last = state.seq
            snapshots.later(("snapshot", key), partial(self._keep_snapshot, snapshots, key))
        return state

    def _tail(self, key: SessionKey, kept: _Kept) -> tuple[SessionState, list[Recorded]]:
        """The session so far, and the events behind it. The last one that it has is read again: when the log does not
        know it any more, another process has erased the session, and the state starts anew; so it does when what it was
        folded from was changed."""
        state = kept.state or self._started(key, kept)
        if state.seq == 0:
            return state, self._log.read(key)
        tail = self._log.read(key, after=state.seq - 1)
        known = tail and (tail[0].seq, tail[0].recorded_at) == (state.seq, state.recorded_at)
        if known and not any(isinstance(news.event, Rewritten) for news in tail[1:]):
            return state, tail[1:]
        kept.last = 0
        return SessionState(), self._log.read(key)

    def _started(self, key: SessionKey, kept: _Kept) -> SessionState:
        """The state in the session's snapshot; a new one where there is none, or none that can be used."""
        snapshots, kept.last = self._snapshots, 0
        if snapshots is None or not snapshots.every:
            return SessionState()
        try:
            found = self._log.snapshot(key)
            if found is None or found.fold_version != fold_version():
                return SessionState()
            with span("snapshot", bytes=len(found.payload)):
                state = state_of(key, found.payload, most=snapshots.most)
        except (StoreCorrupt, UnreadableSnapshot):
            snapshots.count("snapshot_unreadable")
            return SessionState()
        kept.last = state.seq
        return state

    def _keep_snapshot(self, snapshots: Snapshots, key: SessionKey) -> None:
        """Keep a snapshot of what is at hand. The store takes none of a session that was rewritten or erased since."""
        with self._guard:
            kept = self._sessions.get(key)
        if kept is None:
            return
        with kept.lock:
            state = kept.state.copy() if kept.state is not None else SessionState()
        try:
            payload = written(key, state, most=snapshots.most)
            done = self._log.keep_snapshot(key, Snapshot(state.seq, state.recorded_at, fold_version(), payload))
        except SnapshotTooLarge:
            snapshots.count("snapshot_too_large")
        except StoreError:
            snapshots.count("snapshot_failed")
        else:
            snapshots.count("snapshot_kept" if done else "snapshot_outdated")

    def _weigh(self, key: SessionKey, kept: _Kept, events: int) -> None:
        """Note how many events a session has, and let go of those used longest ago where that is too many."""
        with self._guard:
            if self._sessions.get(key) is not kept:
                return
            self._events += events - kept.events
            kept.events = events
            most = self._events_max
            while most is not None and self._events > most and len(self._sessions) > 1:
                self._leave(self._sessions.popitem(last=False)[1])

    def _leave(self, kept: _Kept | None) -> None:
        if kept is not None:
            self._events -= kept.events

    def _get(self, key: SessionKey) -> _Kept:
        with self._guard:
            kept = self._sessions.get(key)
            if kept is None:
                kept = self._sessions[key] = _Kept()
                if len(self._sessions) > self._capacity:
                    self._leave(self._sessions.popitem(last=False)[1])
            else:
                self._sessions.move_to_end(key)
            return kept
