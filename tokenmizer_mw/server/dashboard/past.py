"""Past graphs of a session, as recorded at a time, cached for the time slider.

Reading a long log is the expensive part; its events about facts are read once, and folding stops at the requested time.
The last few requested sessions are cached.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.event import Checkpointed, MessageRecorded, Recorded, Refined, Reminded, Rewritten, TurnClosed
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.forking import make_lock
from tokenmizer_mw.session import SessionState

KEPT_MAX: Final = 2
"""Sessions whose pasts are kept."""

FORKS: Final = 8
"""Points of a session from which folding goes on."""

_NOT_FACTS: Final = (MessageRecorded, TurnClosed, Checkpointed, Refined, Reminded)


@dataclass(slots=True)
class _Past:
    events: list[Recorded]
    seq: int
    last: Recorded | None
    states: dict[int, SessionGraph] = field(default_factory=dict)

    @property
    def times(self) -> list[float]:
        return [event.recorded_at for event in self.events]


class Pasts:
    """Cache of past graphs of sessions. Thread-safe."""

    def __init__(self) -> None:
        self._kept: OrderedDict[SessionKey, _Past] = OrderedDict()
        self._guard = make_lock()

    def at(self, memory: SessionMemory, key: SessionKey, seconds: float) -> SessionGraph:
        """Return the graph as recorded at a time (seconds since the epoch). The caller must not change it."""
        with self._guard:
            past = self._refresh(memory, key)
            return self._fold_until(past, bisect_right(past.times, seconds))

    def upto(self, memory: SessionMemory, key: SessionKey, seq: int) -> SessionGraph:
        """Return the graph after event ``seq`` of the log. The caller must not change it."""
        with self._guard:
            past = self._refresh(memory, key)
            return self._fold_until(past, bisect_right(past.events, seq, key=lambda event: event.seq))

    def forget(self, key: SessionKey) -> None:
        """Drop a session that was erased from the cache."""
        with self._guard:
            self._kept.pop(key, None)

    def _refresh(self, memory: SessionMemory, key: SessionKey) -> _Past:
        past = self._kept.get(key)
        if past is not None and past.last is not None:
            tail = memory.log.read(key, after=past.seq - 1)
            same = bool(tail) and tail[0].recorded_at == past.last.recorded_at and tail[0].seq == past.seq
            if same and not any(isinstance(one.event, Rewritten) for one in tail[1:]):
                self._add(past, tail[1:])
                self._kept.move_to_end(key)
                return past
        past = _Past([], 0, None)
        self._add(past, memory.log.read(key))
        self._kept[key] = past
        while len(self._kept) > KEPT_MAX:
            self._kept.popitem(last=False)
        return past

    def _add(self, past: _Past, news: list[Recorded]) -> None:
        if news:
            past.events += [one for one in news if not isinstance(one.event, _NOT_FACTS)]
            past.seq, past.last = news[-1].seq, news[-1]

    def _fold_until(self, past: _Past, count: int) -> SessionGraph:
        """The graph after the first ``count`` events about facts; forks of it are kept on the way."""
        step = max(256, len(past.events) // FORKS)
        start = max((at for at in past.states if at <= count), default=0)
        state = SessionState(graph=past.states[start].copy() if start else SessionGraph())
        for place in range(start, count):
            if place and place % step == 0 and place not in past.states:
                past.states[place] = state.graph.copy()
            state.apply(past.events[place])
        return state.graph
