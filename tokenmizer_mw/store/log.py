"""The protocol of every store: an append-only event log per session."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Protocol

from tokenmizer_mw.errors import CallerError, InvalidSession
from tokenmizer_mw.model.event import Event, Recorded
from tokenmizer_mw.model.session import SESSION_ID_MAX, SessionKey

Clock = Callable[[], float]
"""Seconds since the epoch. The only source of ``recorded_at``."""

Rewriting = Callable[[Recorded], Event | None]
"""For each recorded event its replacement, itself to keep it, or ``None`` to erase what it holds."""

SECRET_BYTES: Final = 32
"""Length of a store's secret."""


Place = tuple[float, str]
"""A place in a listing of sessions: when one was updated, in seconds since the epoch, and its id."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session in a listing. Times are seconds since the epoch; ``seq`` is the number of its newest event."""

    key: SessionKey
    seq: int
    created_at: float
    updated_at: float

    @property
    def place(self) -> Place:
        """The position in the listing; pass it as ``after`` to get the sessions that follow."""
        return self.updated_at, self.key.id


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A folded session up to event ``seq``, recorded at ``recorded_at``, as bytes (``payload``).

    ``fold_version``, below 2**32, names the code that folded it. A store keeps both unchanged and interprets neither.
    """

    seq: int
    recorded_at: float
    fold_version: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class PassageRows:
    """Vectors of a session's passages, computed when event ``seq``, recorded at ``recorded_at``, was its newest.

    ``model``: name of the model that computed them. ``rows``: each vector's bytes by the digest of its passage. A store
    keeps them unchanged and interprets none.
    """

    seq: int
    recorded_at: float
    model: str
    rows: Mapping[bytes, bytes]


class EventLog(Protocol):
    """Append-only events per session; sync, and safe to call from several threads and processes.

    What is appended is durable when the call returns. All methods raise ``StoreUnavailable`` when the store cannot
    be reached, read or written, ``StoreCorrupt`` or ``StoreTooNew`` when its contents cannot be understood, and
    ``InvalidSession`` for a key that is not ``valid()``.
    """

    def append(self, session: SessionKey, events: Sequence[Event], *, expected_seq: int) -> list[Recorded]:
        """Append ``events`` after event ``expected_seq`` (0 for a new session), all or none.

        Returns them with their sequence numbers and times. An empty list does nothing. Raises ``Conflict`` when the log
        does not end at ``expected_seq``: read the new events and try again.
        """

    def read(self, session: SessionKey, *, after: int = 0, upto: int | None = None) -> list[Recorded]:
        """The events with ``after < seq <= upto``, in order; to the end when ``upto`` is ``None``.

        An unknown session has no events.
        """

    def snapshot(self, session: SessionKey) -> Snapshot | None:
        """Return the snapshot stored last; ``None`` if there is none.

        ``load``, ``rewrite``, ``forget`` and ``erase`` delete it in the same step.
        """

    def keep_snapshot(self, session: SessionKey, snapshot: Snapshot) -> bool:
        """Store a snapshot in place of the one before.

        Returns ``False`` and does nothing when the session no longer has event ``seq`` of that time, when it was
        rewritten since, or when the stored snapshot has the same fold version and is not older.
        """

    def passage_rows(self, session: SessionKey, model: str) -> dict[bytes, bytes]:
        """What ``keep_passage_rows`` kept for ``model``, in the order in which it was kept.

        ``load``, ``rewrite``, ``forget`` and ``erase`` leave none, in the same step.
        """

    def keep_passage_rows(self, session: SessionKey, passages: PassageRows, *, most: int) -> bool:
        """Add vectors to those that are kept. Those of other models are deleted, and of more than ``most`` the ones
        that were kept first.

        False, and nothing done, when the session has no event ``seq`` of that time any more, or when it was rewritten
        since.
        """

    def sessions(self, tenant: str, *, after: Place | None = None, limit: int | None = None) -> list[SessionInfo]:
        """Return the sessions of a tenant, the most recently updated first, equal times by id.

        - ``after``: ``SessionInfo.place`` of the last session of the page before; ``None``: from the first.
        - ``limit``: sessions at most; ``None``: all.

        Raises ``InvalidSession`` for a place that no session can have.
        """

    def tenants(self) -> list[str]:
        """Return the tenants that have sessions, sorted by name."""

    def load(self, session: SessionKey, events: Sequence[Recorded], *, expected_seq: int) -> None:
        """Restore events with their numbers and times, after number ``expected_seq``, all or none.

        Numbers must increase and may have gaps; times must not decrease. Raises ``Conflict`` as ``append`` does, and
        ``CallerError`` for events in another order.
        """

    def forget(self, session: SessionKey) -> int:
        """Erase a session so that nothing of it is left in the store's files. Returns how many events it had."""

    def erase(self, sessions: Iterable[SessionKey], *, unless_since: float | None = None) -> list[SessionKey]:
        """``forget`` for many sessions in one piece, at about the cost of one. Returns those that were there.

        A session with an event recorded at ``unless_since`` (seconds since the epoch) or later is left alone.
        """

    def rewrite(self, session: SessionKey, change: Rewriting) -> int:
        """Replace the contents of events, such as secrets, and keep their numbers and times. Returns how many events
        changed.

        The old contents are removed from the store's files. ``change`` returns ``None`` to erase an event; its number
        stays unused. If anything changed, a ``Rewritten`` event is appended in the same step, so that other processes
        fold the session again.
        """

    def secret(self) -> bytes:
        """``SECRET_BYTES`` random bytes, made with the store and the same for all who use it: a key to sign with."""

    def close(self) -> None:
        """Release files and threads; further calls raise ``StoreUnavailable``. Closing twice is harmless."""


def pages(log: EventLog, tenant: str, size: int) -> Iterator[SessionInfo]:
    """The listing of a tenant's sessions, read ``size`` at a time: for whoever may stop early. A session that is
    updated meanwhile has its place at the front, and is not met if it was not before."""
    page = log.sessions(tenant, limit=size)
    while page:
        yield from page
        page = log.sessions(tenant, after=page[-1].place, limit=size) if len(page) == size else []


def require_valid(session: SessionKey) -> None:
    """Raise ``InvalidSession`` for a key that no store keeps."""
    if not session.valid():
        raise InvalidSession(
            f"a tenant and a session id are 1 to {SESSION_ID_MAX} printable characters, without control characters"
        )


def require_valid_tenant(tenant: str) -> None:
    """Raise ``InvalidSession`` for a tenant that no store keeps."""
    require_valid(SessionKey(tenant, "any"))


def require_place(tenant: str, after: Place) -> None:
    """Raise ``InvalidSession`` for a tenant that no store keeps, or a place that no session of one can have."""
    require_valid(SessionKey(tenant, after[1]))
    if not math.isfinite(after[0]):
        raise InvalidSession("a place in a listing is a finite time and a session id")


def require_order(events: Sequence[Recorded], expected_seq: int) -> None:
    """Raise ``CallerError`` for events that cannot stand in a log, one behind the other, after ``expected_seq``."""
    seqs = [expected_seq, *(event.seq for event in events)]
    times = [event.recorded_at for event in events]
    if any(later <= earlier for earlier, later in pairwise(seqs)):
        raise CallerError("the numbers of events grow")
    if not all(map(math.isfinite, times)) or any(later < earlier for earlier, later in pairwise(times)):
        raise CallerError("the times of events are finite and never go back")
