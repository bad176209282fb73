"""The protocol of every store: an append-only event log per session."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final, Protocol

from tokenmizer_mw.errors import CallerError, InvalidSession
from tokenmizer_mw.model.event import Event, ReadDetail, Recorded
from tokenmizer_mw.model.message import short_repr
from tokenmizer_mw.model.session import SESSION_ID_MAX, SessionKey

Clock = Callable[[], float]
"""A function that returns the current time in seconds since the epoch. Stores take ``recorded_at`` only from it."""

Rewriting = Callable[[Recorded], Event | None]
"""A function that ``EventLog.rewrite`` calls with each recorded event. It returns the event to store in its place, the
same event to change nothing, or ``None`` to erase it."""

SECRET_BYTES: Final = 32
"""Length of a store's secret (``EventLog.secret``), in bytes."""


Place = tuple[float, str]
"""A position in a listing of sessions, given by the session there: when it was updated, in seconds since the epoch, and
its id."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session in a listing. ``created_at`` and ``updated_at``: times of its first and newest event, in seconds since
    the epoch. ``seq``: number of the newest event."""

    key: SessionKey
    seq: int
    created_at: float
    updated_at: float

    def __repr__(self) -> str:
        updated = datetime.fromtimestamp(self.updated_at, UTC).isoformat(sep=" ", timespec="minutes")
        return short_repr(self, f"{self.key.id!r} of {self.key.tenant!r}, {self.seq} events, updated {updated}")

    @property
    def id(self) -> str:
        """The session's id in its tenant, which the methods of ``SessionMemory`` take as ``session_id``."""
        return self.key.id

    @property
    def place(self) -> Place:
        """The session's position in the listing. Pass it as ``after`` to list the sessions that follow."""
        return self.updated_at, self.key.id


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The stored state of a session after event ``seq``, which was recorded at ``recorded_at``. It saves reading the
    events before it.

    ``payload``: the state as bytes. ``fold_version``, below 2**32: identifies the code that built the state from the
    events. A store keeps both unchanged and does not interpret them.
    """

    seq: int
    recorded_at: float
    fold_version: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class PassageRows:
    """Embedding vectors of a session's passages (paragraphs of its messages), for search by meaning. They were computed
    when the session's newest event was ``seq``, recorded at ``recorded_at``.

    ``model``: name of the model that computed them. ``rows``: maps the digest of each passage to the bytes of its
    vector. A store keeps them unchanged and does not interpret them.
    """

    seq: int
    recorded_at: float
    model: str
    rows: Mapping[bytes, bytes]


class EventLog(Protocol):
    """Protocol of a store: append-only events per session. Synchronous, and safe to call from several threads and
    processes.

    Appended events are durable when the call returns. All methods raise ``StoreUnavailable`` when the store cannot be
    reached, read or written, ``StoreCorrupt`` or ``StoreTooNew`` when its contents cannot be understood, and
    ``InvalidSession`` for a key that is not ``valid()``.
    """

    def append(self, session: SessionKey, events: Sequence[Event], *, expected_seq: int) -> list[Recorded]:
        """Append ``events`` after event ``expected_seq`` (0 for a new session), all or none.

        Returns them with their sequence numbers and times. An empty list does nothing. Raises ``Conflict`` when the
        last event of the log is not ``expected_seq``: read the new events and try again.
        """

    def read(
        self, session: SessionKey, *, after: int = 0, upto: int | None = None, detail: ReadDetail = "all"
    ) -> list[Recorded]:
        """Return the events with ``after < seq <= upto``, in order; ``upto`` of ``None``: to the end. An unknown
        session has no events.

        ``detail``: what the caller needs, so that a store can be faster. "all": everything. "graph", "messages",
        "nodes" and "numbers": events that are not needed for this may be missing, and messages may lack their content.
        """

    def snapshot(self, session: SessionKey) -> Snapshot | None:
        """Return the stored snapshot of a session's state; ``None`` if there is none.

        A snapshot saves reading all events when a session is opened. ``load`` (which imports events), ``rewrite``,
        ``forget`` and ``erase`` delete it in the same step, because it no longer fits the events.
        """

    def keep_snapshot(self, session: SessionKey, snapshot: Snapshot) -> bool:
        """Store a snapshot of a session's state, replacing the previous one. Returns whether it was stored.

        Returns ``False`` and does nothing if the session has no event with the snapshot's number and time (it was
        erased), if the session was rewritten after that event, or if the stored snapshot has the same fold version and
        is not older.
        """

    def passage_rows(self, session: SessionKey, model: str) -> dict[bytes, bytes]:
        """Return the stored embedding vectors of a session's passages (paragraphs of its messages), as bytes by passage
        digest, in the order in which they were stored. Empty if there are none.

        ``model``: the name of the model that computed the vectors; those of other models are not returned.

        ``load``, ``rewrite``, ``forget`` and ``erase`` delete them in the same step.
        """

    def keep_passage_rows(self, session: SessionKey, passages: PassageRows, *, most: int) -> bool:
        """Store further vectors of a session's passages. Returns whether they were stored.

        A passage that already has a vector of the same model keeps it. Vectors of other models are deleted. At most
        ``most`` vectors of the session are kept: the ones stored first are deleted. Returns ``False`` and does nothing
        if the session has no event with the number and time in ``passages`` (it was erased), or if it was rewritten
        after that event.
        """

    def sessions(self, tenant: str, *, after: Place | None = None, limit: int | None = None) -> list[SessionInfo]:
        """Return the sessions of a tenant, the most recently updated first, equal times by id.

        - ``after``: ``SessionInfo.place`` of the last session of the previous page; ``None``: start with the first.
        - ``limit``: maximum number of sessions; ``None``: all.

        Raises ``InvalidSession`` for an invalid tenant, and for a place that no session can have.
        """

    def tenants(self) -> list[str]:
        """Return the tenants that have sessions, sorted by name; ``[]`` if there are none."""

    def load(self, session: SessionKey, events: Sequence[Recorded], *, expected_seq: int) -> None:
        """Restore events from an export or another store with their original numbers and times, after event
        ``expected_seq``, all or none.

        Numbers must increase and may have gaps; times must not decrease, nor be earlier than that of event
        ``expected_seq``. An empty list does nothing. Raises ``Conflict`` when the last event of the log is not
        ``expected_seq``, and ``CallerError`` for events in another order.
        """

    def forget(self, session: SessionKey) -> int:
        """Erase a session so that nothing of it is left in the store's files. Returns how many events it had; 0 if it
        did not exist.

        Also raises ``StoreUnavailable`` if the session is erased, but copies of its data could not be removed from the
        files yet.
        """

    def erase(self, sessions: Iterable[SessionKey], *, unless_since: float | None = None) -> list[SessionKey]:
        """Erase many sessions in one step, at about the cost of one. Returns the sessions that were erased, without
        those that did not exist. Also raises ``StoreUnavailable`` if they are erased, but copies of their data could
        not be removed from the files yet.

        ``unless_since``: sessions with an event recorded at this time (seconds since the epoch) or later are kept and
        not returned; ``None``: all of ``sessions`` that exist are erased.
        """

    def rewrite(self, session: SessionKey, change: Rewriting) -> int:
        """Replace the contents of stored events, for example to remove secrets. Returns how many events changed; 0 if
        the session does not exist.

        ``change`` is called with each event. It returns the event to store in its place, the same event to change
        nothing, or ``None`` to erase it. Events keep their numbers and times, and the number of an erased event stays
        unused. The old contents are removed from the store's files. If anything changed, a
        ``Rewritten`` event is appended in the same step, so that other processes build the session's state again. If
        ``change`` raises, its error is passed on and nothing changes.
        """

    def secret(self) -> bytes:
        """Return the store's secret: ``SECRET_BYTES`` random bytes, created with the store and the same for all its
        users. It is used to sign data."""

    def close(self) -> None:
        """Release files and threads; further calls raise ``StoreUnavailable``. Closing twice is harmless."""


def pages(log: EventLog, tenant: str, size: int) -> Iterator[SessionInfo]:
    """Yield the tenant's sessions, the most recently updated first, reading ``size`` at a time, for callers that may
    stop early. A session that is updated during the iteration moves to the front of the listing and may be missed."""
    page = log.sessions(tenant, limit=size)
    while page:
        yield from page
        page = log.sessions(tenant, after=page[-1].place, limit=size) if len(page) == size else []


def number_at(log: EventLog, session: SessionKey, seconds: float, last: int) -> int:
    """Return the number of the last event of a session that was recorded at ``seconds`` or earlier; 0 if there is none.

    ``last``: number of the newest event. Reads about log2(last) events, more where events were erased.
    """
    low, high = 0, last
    while low < high:
        middle = (low + high + 1) // 2
        found = _first_from(log, session, middle, high)
        if found is not None and found.recorded_at <= seconds:
            low = found.seq
        else:
            high = middle - 1
    return low


def _first_from(log: EventLog, session: SessionKey, start: int, end: int) -> Recorded | None:
    """Return the first event with a number from ``start`` to ``end``; ``None`` if all of these were erased."""
    count = 1
    while start <= end:
        found = log.read(session, after=start - 1, upto=min(end, start + count - 1))
        if found:
            return found[0]
        start, count = start + count, 2 * count
    return None


def require_valid(session: SessionKey) -> None:
    """Raise ``InvalidSession`` unless tenant and id of ``session`` are texts of 1 to 256 printable characters."""
    if not session.valid():
        raise InvalidSession(
            f"a tenant and a session id are 1 to {SESSION_ID_MAX} printable characters, without control characters"
        )


def require_all_valid(sessions: Iterable[SessionKey]) -> list[SessionKey]:
    """Return the keys in their order, without repetitions. Raises ``InvalidSession`` if the tenant or id of one is not
    a text of 1 to 256 printable characters."""
    keys = list(dict.fromkeys(sessions))
    for key in keys:
        require_valid(key)
    return keys


def require_valid_tenant(tenant: str) -> None:
    """Raise ``InvalidSession`` unless ``tenant`` is a text of 1 to 256 printable characters."""
    require_valid(SessionKey(tenant, "any"))


def require_place(tenant: str, after: Place | None) -> None:
    """Raise ``InvalidSession`` for an invalid tenant, or for a position in a listing that no session can have.
    ``after`` of ``None`` is the start of the listing."""
    at, session = after if after is not None else (0.0, "any")
    require_valid(SessionKey(tenant, session))
    if not math.isfinite(at):
        raise InvalidSession("a place in a listing is a finite time and a session id")


def require_order(events: Sequence[Recorded], expected_seq: int) -> None:
    """Raise ``CallerError`` unless the numbers of ``events`` are above ``expected_seq`` and increase, and their times
    are finite and never decrease."""
    seqs = [expected_seq, *(event.seq for event in events)]
    times = [event.recorded_at for event in events]
    if any(later <= earlier for earlier, later in pairwise(seqs)):
        raise CallerError("the numbers of events grow")
    if not all(map(math.isfinite, times)) or any(later < earlier for earlier, later in pairwise(times)):
        raise CallerError(_TIMES)


def require_not_before(events: Sequence[Recorded], recorded_at: float) -> None:
    """Raise ``CallerError`` if the first of ``events`` is earlier than ``recorded_at``, the time of the session's last
    event."""
    if events[0].recorded_at < recorded_at:
        raise CallerError(_TIMES)


_TIMES: Final = "the times of events are finite and never go back"
