"""The log in memory: for tests, for trying things out, and for sessions that need not outlive the process."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from secrets import token_bytes
from threading import Lock

from tokenmizer_mw.errors import Conflict, StoreUnavailable
from tokenmizer_mw.model.event import Event, Recorded
from tokenmizer_mw.model.session import SessionKey

from .log import SECRET_BYTES, Clock, Rewriting, SessionInfo, require_valid, require_valid_tenant


@dataclass(slots=True)
class _Session:
    created_at: float
    updated_at: float
    seq: int = 0
    events: list[Recorded] = field(default_factory=list)


class MemoryLog:
    """An ``EventLog`` in this process's memory, gone with it. Safe to call from several threads."""

    def __init__(self, clock: Clock = time.time) -> None:
        self._clock = clock
        self._lock = Lock()
        self._sessions: dict[SessionKey, _Session] | None = {}
        self._secret = token_bytes(SECRET_BYTES)

    def append(self, session: SessionKey, events: Sequence[Event], *, expected_seq: int) -> list[Recorded]:
        """See ``EventLog.append``."""
        require_valid(session)
        with self._lock:
            sessions = self._opened()
            if not events:
                return []
            kept = sessions.get(session)
            found = kept.seq if kept else 0
            if found != expected_seq:
                raise Conflict(f"the session's log ends at {found}, not at {expected_seq}")
            now = self._clock()
            if kept is None:
                kept = sessions[session] = _Session(now, now)
            kept.updated_at = max(now, kept.updated_at)
            added = [Recorded(seq, kept.updated_at, event) for seq, event in enumerate(events, found + 1)]
            kept.events += added
            kept.seq += len(added)
            return added

    def read(self, session: SessionKey, *, after: int = 0, upto: int | None = None) -> list[Recorded]:
        """See ``EventLog.read``."""
        require_valid(session)
        with self._lock:
            kept = self._opened().get(session)
            if kept is None:
                return []
            start = bisect_right(kept.events, after, key=_seq)
            end = None if upto is None else bisect_right(kept.events, upto, key=_seq)
            return kept.events[start:end]

    def sessions(self, tenant: str) -> list[SessionInfo]:
        """See ``EventLog.sessions``."""
        require_valid_tenant(tenant)
        with self._lock:
            found = [
                SessionInfo(key, kept.seq, kept.created_at, kept.updated_at)
                for key, kept in self._opened().items()
                if key.tenant == tenant
            ]
        return sorted(found, key=lambda info: (-info.updated_at, info.key.id))

    def forget(self, session: SessionKey) -> int:
        """See ``EventLog.forget``."""
        require_valid(session)
        with self._lock:
            kept = self._opened().pop(session, None)
        return len(kept.events) if kept else 0

    def rewrite(self, session: SessionKey, change: Rewriting) -> int:
        """See ``EventLog.rewrite``. ``change`` must not use this log."""
        require_valid(session)
        with self._lock:
            kept = self._opened().get(session)
            if kept is None:
                return 0
            pairs = [(old, change(old)) for old in kept.events]
            kept.events = [Recorded(old.seq, old.recorded_at, new) for old, new in pairs if new is not None]
        return sum(1 for old, new in pairs if new != old.event)

    def secret(self) -> bytes:
        """See ``EventLog.secret``."""
        with self._lock:
            self._opened()
            return self._secret

    def close(self) -> None:
        """See ``EventLog.close``. Everything is gone afterwards."""
        with self._lock:
            self._sessions = None

    def _opened(self) -> dict[SessionKey, _Session]:
        if self._sessions is None:
            raise StoreUnavailable("the log in memory is closed")
        return self._sessions


def _seq(recorded: Recorded) -> int:
    return recorded.seq
