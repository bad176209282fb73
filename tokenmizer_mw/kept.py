"""Folded sessions kept in process: refreshed by reading the log's tail, written through it, retried on conflict."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from tokenmizer_mw.errors import Conflict
from tokenmizer_mw.model.event import Event, Recorded, Rewritten
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.store.log import EventLog
from tokenmizer_mw.tracing import span

T = TypeVar("T")

ATTEMPTS_MAX: Final = 1_000
"""Conflicts in a row after which an update gives up; each one means that another writer made progress."""


@dataclass(slots=True)
class _Kept:
    lock: threading.RLock = field(default_factory=threading.RLock)
    state: SessionState | None = None


class KeptSessions:
    """The only place where folded sessions change. Safe for threads; other processes meet us in the log."""

    def __init__(self, log: EventLog, *, capacity: int) -> None:
        self._log = log
        self._capacity = capacity
        self._sessions: OrderedDict[SessionKey, _Kept] = OrderedDict()
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
            kept.state = None  # as in _refreshed
            for event in recorded:
                state.apply(event)
            kept.state = state
            return state
        raise Conflict(f"gave up after {ATTEMPTS_MAX} conflicts on one session")

    def drop(self, key: SessionKey) -> None:
        """Forget what is kept of a session; the next use reads the log anew."""
        with self._guard:
            self._sessions.pop(key, None)

    def _refreshed(self, key: SessionKey, kept: _Kept) -> SessionState:
        state, news = self._tail(key, kept.state or SessionState())
        kept.state = None  # should folding fail half-way, the next use starts from the log
        for event in news:
            state.apply(event)
        kept.state = state
        return state

    def _tail(self, key: SessionKey, state: SessionState) -> tuple[SessionState, list[Recorded]]:
        """The events behind ``state``. The last one that it has is read again: when the log does not know it any
        more, another process has erased the session, and the state starts anew; so it does when what it was folded
        from was changed."""
        if state.seq == 0:
            return state, self._log.read(key)
        tail = self._log.read(key, after=state.seq - 1)
        known = tail and (tail[0].seq, tail[0].recorded_at) == (state.seq, state.recorded_at)
        if known and not any(isinstance(news.event, Rewritten) for news in tail[1:]):
            return state, tail[1:]
        return SessionState(), self._log.read(key)

    def _get(self, key: SessionKey) -> _Kept:
        with self._guard:
            kept = self._sessions.get(key)
            if kept is None:
                kept = self._sessions[key] = _Kept()
                if len(self._sessions) > self._capacity:
                    self._sessions.popitem(last=False)
            else:
                self._sessions.move_to_end(key)
            return kept
