"""Event log and usage ledger in memory, for tests and for sessions that need not outlive the process."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from secrets import token_bytes
from typing import cast

from tokenmizer_mw.errors import Conflict, StoreUnavailable
from tokenmizer_mw.model.event import Event, ReadDetail, Recorded, Rewritten
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.model.usage import Sum, UsageRecord, UsageSums
from tokenmizer_mw.runtime.forking import make_lock
from tokenmizer_mw.store.ledger import BY, BY_STAGE, By, day_of, plain_model, require_by, require_call
from tokenmizer_mw.store.log import (
    SECRET_BYTES,
    Clock,
    PassageRows,
    Place,
    Rewriting,
    SessionInfo,
    Snapshot,
    require_all_valid,
    require_not_before,
    require_order,
    require_place,
    require_valid,
    require_valid_tenant,
)

_Row = tuple[str, str, str, str]
"""The names that figures are stored under: session, model, stage and day, in the order of ``BY``."""


class MemoryLedger:
    """A ``UsageLedger`` in this process's memory. ``holds``: a function that returns whether the store has a session,
    and raises ``StoreUnavailable`` when the store is closed. Calls of a session that it does not have count only in the
    tenant's sums."""

    def __init__(self, holds: Callable[[SessionKey], bool]) -> None:
        self._holds = holds
        self._lock = make_lock()
        self._rows: dict[str, dict[_Row, UsageSums]] = {}
        self._calls: dict[SessionKey, list[UsageRecord]] = {}
        self._names: dict[str, set[str]] = {}

    def add(self, session: SessionKey, spent: UsageRecord) -> bool:
        """Add the cost and savings of one call. Returns whether it was added: not if the tenant already has a call
        named ``spent.call``. If the store does not have the session, the call counts only in the tenant's sums. Raises
        ``InvalidSession`` for an invalid session or name."""
        require_valid(session)
        require_call(spent)
        spent = replace(spent, model=plain_model(spent.model))
        held = self._holds(session)
        with self._lock:
            names = self._names.setdefault(session.tenant, set())
            if spent.call in names:
                return False
            names.add(spent.call)
            for stage, figures in spent.stages.items():
                self._put(session.tenant, (session.id if held else "", spent.model, stage, day_of(spent.at)), figures)
            if held:
                self._calls.setdefault(session, []).append(spent)
        return True

    def sums(
        self,
        tenant: str,
        *,
        by: Collection[By] = BY_STAGE,
        session: str | None = None,
        model: str | None = None,
        since: str = "",
        until: str = "",
    ) -> list[Sum]:
        """Return the summed cost and savings of the tenant's calls, grouped by the fields in ``by``; ``[]`` if there
        are none. ``session``, ``model``: only calls of this session id or model; ``None``: all. ``since``, ``until``:
        first and last day in UTC, such as "2026-11-21"; "": no limit. Raises ``CallerError`` for an unknown field."""
        require_valid_tenant(tenant)
        require_by(by)
        self._holds(SessionKey(tenant, "any"))  # raises if the store is closed
        found: dict[_Row, UsageSums] = {}
        with self._lock:
            rows = list(self._rows.get(tenant, {}).items())
        for row, figures in rows:
            wanted = session in (None, row[0]) and model in (None, row[1])
            if wanted and row[3] >= since and (not until or row[3] <= until):
                key = cast(_Row, tuple(value if name in by else "" for name, value in zip(BY, row, strict=True)))
                found[key] = found.get(key, UsageSums()) + figures
        return [Sum(*row, figures) for row, figures in sorted(found.items())]

    def calls(self, session: SessionKey, *, limit: int) -> list[UsageRecord]:
        """Return cost and savings of the newest ``limit`` calls of a session, newest first; ``[]`` for none, and for a
        ``limit`` below 1."""
        require_valid(session)
        self._holds(session)  # raises if the store is closed
        with self._lock:
            found = list(self._calls.get(session, ()))
        return sorted(found, key=lambda one: (one.at, one.call), reverse=True)[: max(0, limit)]

    def erase(self, sessions: Iterable[SessionKey]) -> None:
        """Remove the names of erased sessions from the ledger; their figures stay in the tenant's sums."""
        with self._lock:
            for key in sessions:
                self._calls.pop(key, None)
                rows = self._rows.get(key.tenant, {})
                for row in [row for row in rows if row[0] == key.id]:
                    self._put(key.tenant, ("", *row[1:]), rows.pop(row))

    def _put(self, tenant: str, row: _Row, figures: UsageSums) -> None:
        rows = self._rows.setdefault(tenant, {})
        rows[row] = rows.get(row, UsageSums()) + figures


@dataclass(slots=True)
class _Session:
    created_at: float
    updated_at: float
    seq: int = 0
    events: list[Recorded] = field(default_factory=list)
    snapshot: Snapshot | None = None
    model: str = ""
    passages: dict[bytes, bytes] = field(default_factory=dict)

    def add(self, events: Sequence[Event], now: float) -> list[Recorded]:
        """Append events and return them with their numbers and times. If the clock went back, they get the time of the
        last event."""
        self.updated_at = max(now, self.updated_at)
        added = [Recorded(seq, self.updated_at, event) for seq, event in enumerate(events, self.seq + 1)]
        self.events += added
        self.seq += len(added)
        return added

    def keep(self, snapshot: Snapshot) -> bool:
        """Store a snapshot if it fits these events, and is newer than the stored one or of another fold version.
        Returns whether it was stored."""
        before = self.snapshot
        older = before is None or before.fold_version != snapshot.fold_version or before.seq < snapshot.seq
        accepted = older and self._is_current(snapshot.seq, snapshot.recorded_at)
        if accepted:
            self.snapshot = snapshot
        return accepted

    def keep_passages(self, passages: PassageRows, most: int) -> bool:
        """Store vectors if the event at which they were computed is still there and nothing was rewritten since. Only
        the newest ``most`` are kept. Returns whether they were stored."""
        if not self._is_current(passages.seq, passages.recorded_at):
            return False
        before = self.passages if self.model == passages.model else {}
        merged = [*before.items(), *(row for row in passages.rows.items() if row[0] not in before)]
        self.model, self.passages = passages.model, dict(merged[max(0, len(merged) - most) :])
        return True

    def drop_derived(self) -> None:
        """Delete the snapshot and the passage vectors of the session, which were computed from its events."""
        self.snapshot, self.model, self.passages = None, "", {}

    def _is_current(self, seq: int, recorded_at: float) -> bool:
        """Whether the session has an event ``seq`` of that time, and was not rewritten after it."""
        found = self.events[bisect_right(self.events, seq - 1, key=_seq) :]
        there = bool(found) and (found[0].seq, found[0].recorded_at) == (seq, recorded_at)
        return there and not any(isinstance(one.event, Rewritten) for one in found[1:])


class MemoryLog:
    """An ``EventLog`` in this process's memory, which ends with the process. Safe to call from several threads.
    ``clock``: returns the time of new events, in seconds since the epoch."""

    def __init__(self, clock: Clock = time.time) -> None:
        self._clock = clock
        self._lock = make_lock()
        self._sessions: dict[SessionKey, _Session] | None = {}
        self._secret = token_bytes(SECRET_BYTES)
        self.ledger = MemoryLedger(self._holds)

    def append(self, session: SessionKey, events: Sequence[Event], *, expected_seq: int) -> list[Recorded]:
        """Append ``events`` to a session after its event ``expected_seq`` (0 for a new session), all or none. Returns
        them with their numbers and times; ``[]`` if there are none. Raises ``Conflict`` if the session's last event has
        another number, and ``StoreError`` if the store fails."""
        require_valid(session)
        with self._lock:
            sessions = self._open_sessions()
            if not events:
                return []
            entry = _session_behind(sessions, session, expected_seq)
            now = self._clock()
            if entry is None:
                entry = sessions[session] = _Session(now, now)
            return entry.add(events, now)

    def read(
        self, session: SessionKey, *, after: int = 0, upto: int | None = None, detail: ReadDetail = "all"
    ) -> list[Recorded]:
        """Return the events of a session with ``after < seq <= upto``, in order; ``upto`` of ``None``: to the end.
        ``[]`` for an unknown session. ``detail``: with less than "all", events that are not needed may be missing, and
        messages may lack their content."""
        require_valid(session)
        with self._lock:
            entry = self._open_sessions().get(session)
            if entry is None:
                return []
            start = bisect_right(entry.events, after, key=_seq)
            end = None if upto is None else bisect_right(entry.events, upto, key=_seq)
            return entry.events[start:end]

    def snapshot(self, session: SessionKey) -> Snapshot | None:
        """Return the stored snapshot of a session (its state after some event as bytes, which saves reading the events
        before it); ``None`` if there is none."""
        require_valid(session)
        with self._lock:
            entry = self._open_sessions().get(session)
            return entry.snapshot if entry else None

    def keep_snapshot(self, session: SessionKey, snapshot: Snapshot) -> bool:
        """Store a snapshot of a session's state, replacing the previous one. Returns whether it was stored: not if the
        session was erased or rewritten since the snapshot's event, or if the stored one has the same fold version and
        is not older."""
        require_valid(session)
        with self._lock:
            entry = self._open_sessions().get(session)
            return entry.keep(snapshot) if entry else False

    def passage_rows(self, session: SessionKey, model: str) -> dict[bytes, bytes]:
        """Return the embedding vectors that ``model`` computed for a session's passages (paragraphs of its messages),
        as bytes by the digest of the passage; ``{}`` if there are none."""
        require_valid(session)
        with self._lock:
            entry = self._open_sessions().get(session)
            return dict(entry.passages) if entry and entry.model == model else {}

    def keep_passage_rows(self, session: SessionKey, passages: PassageRows, *, most: int) -> bool:
        """Store further embedding vectors of a session's passages (paragraphs of its messages). Only the ``most``
        newest are kept, and those of other models are deleted. Returns whether they were stored: not if the session was
        erased or rewritten since they were computed."""
        require_valid(session)
        with self._lock:
            entry = self._open_sessions().get(session)
            return entry.keep_passages(passages, most) if entry else False

    def sessions(self, tenant: str, *, after: Place | None = None, limit: int | None = None) -> list[SessionInfo]:
        """Return the sessions of a tenant, the most recently updated first; ``[]`` if there are none. ``after``:
        ``SessionInfo.place`` of the last session of the previous page; ``None``: begin with the first. ``limit``:
        maximum number of sessions; ``None``: all."""
        require_place(tenant, after)
        with self._lock:
            found = [
                SessionInfo(key, entry.seq, entry.created_at, entry.updated_at)
                for key, entry in self._open_sessions().items()
                if key.tenant == tenant
            ]
        ranked = sorted((-info.updated_at, info.key.id, info) for info in found)
        start = bisect_right(ranked, (-after[0], after[1]), key=lambda one: one[:2]) if after is not None else 0
        end = None if limit is None else start + max(0, limit)
        return [info for _, _, info in ranked[start:end]]

    def tenants(self) -> list[str]:
        """Return the tenants that have sessions, sorted by name; ``[]`` if there are none."""
        with self._lock:
            return sorted({key.tenant for key in self._open_sessions()})

    def load(self, session: SessionKey, events: Sequence[Recorded], *, expected_seq: int) -> None:
        """Restore ``events`` of a session with their original numbers and times after its event ``expected_seq`` (0 for
        a new session), all or none. Raises ``Conflict`` if the session's last event has another number, and
        ``CallerError`` for events whose numbers or times are out of order."""
        require_valid(session)
        require_order(events, expected_seq)
        with self._lock:
            sessions = self._open_sessions()
            if not events:
                return
            entry = _session_behind(sessions, session, expected_seq)
            if entry is None:
                entry = sessions[session] = _Session(events[0].recorded_at, 0.0)
            else:
                require_not_before(events, entry.updated_at)
            entry.events += events
            entry.seq, entry.updated_at = events[-1].seq, events[-1].recorded_at
            entry.drop_derived()

    def forget(self, session: SessionKey) -> int:
        """Erase a session. Returns how many events it had; 0 if it did not exist."""
        require_valid(session)
        with self._lock:
            entry = self._open_sessions().pop(session, None)
        self.ledger.erase([session])
        return len(entry.events) if entry else 0

    def erase(self, sessions: Iterable[SessionKey], *, unless_since: float | None = None) -> list[SessionKey]:
        """Erase many sessions in one step, at about the cost of one. Returns those that existed and were erased.
        ``unless_since``: sessions with an event at this time (seconds since the epoch) or later are kept; ``None``:
        none is kept."""
        keys = require_all_valid(sessions)
        with self._lock:
            stored = self._open_sessions()
            found = [key for key in keys if key in stored]
            gone = [key for key in found if unless_since is None or stored[key].updated_at < unless_since]
            for key in gone:
                del stored[key]
        self.ledger.erase(gone)
        return gone

    def rewrite(self, session: SessionKey, change: Rewriting) -> int:
        """Replace or erase the contents of a session's events, for example to remove secrets. ``change`` gets each
        event and returns the one to store in its place, the same one for no change, or ``None`` to erase it; it must
        not use this log. Returns how many events changed; 0 for an unknown session."""
        require_valid(session)
        with self._lock:
            entry = self._open_sessions().get(session)
            if entry is None:
                return 0
            pairs = [(old, change(old)) for old in entry.events]
            changed = sum(1 for old, new in pairs if new != old.event)
            if changed:
                entry.events = [Recorded(old.seq, old.recorded_at, new) for old, new in pairs if new is not None]
                entry.add([Rewritten(changed)], self._clock())
                entry.drop_derived()
        return changed

    def secret(self) -> bytes:
        """Return the store's secret: random bytes, created with the store and the same for all its users. It is used to
        sign data."""
        with self._lock:
            self._open_sessions()
            return self._secret

    def close(self) -> None:
        """Delete all sessions; further calls raise ``StoreUnavailable``. Closing twice is harmless."""
        with self._lock:
            self._sessions = None

    def _holds(self, session: SessionKey) -> bool:
        with self._lock:
            return session in self._open_sessions()

    def _open_sessions(self) -> dict[SessionKey, _Session]:
        if self._sessions is None:
            raise StoreUnavailable("the log in memory is closed", cause="closed", place="memory")
        return self._sessions


def _session_behind(sessions: dict[SessionKey, _Session], session: SessionKey, expected_seq: int) -> _Session | None:
    entry = sessions.get(session)
    if (found := entry.seq if entry else 0) != expected_seq:
        raise Conflict(f"the session's log ends at {found}, not at {expected_seq}")
    return entry


def _seq(recorded: Recorded) -> int:
    return recorded.seq
