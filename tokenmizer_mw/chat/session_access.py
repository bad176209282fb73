"""Read sessions, append events to them, and extract their facts. All parts of the service use this access."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TypeVar

from tokenmizer_mw.chat.content_redaction import ContentRedaction
from tokenmizer_mw.context.resume.sentences import ReadSentences, message_sentences
from tokenmizer_mw.context.tokens import ModelCounters
from tokenmizer_mw.errors import InvalidSession, StoreUnavailable, UnknownSession
from tokenmizer_mw.model.event import Derived, Event
from tokenmizer_mw.model.message import Message, Written
from tokenmizer_mw.model.session import SESSION_ID_MAX, SessionKey
from tokenmizer_mw.runtime.forking import DECISION_GATE, make_lock
from tokenmizer_mw.runtime.tracing import span
from tokenmizer_mw.safety.fence import without_own_blocks
from tokenmizer_mw.session import LongestRequests, SessionState
from tokenmizer_mw.session.log_cache import CachedMessages, CachedSessions, LogEnd
from tokenmizer_mw.session.reminder import CarriedReminders
from tokenmizer_mw.session.snapshot import SnapshotPolicy
from tokenmizer_mw.session.state import FactDerivation
from tokenmizer_mw.session.truncation import CutDecision
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.log import EventLog
from tokenmizer_mw.store.resilience.bounded_log import BoundedLog

T = TypeVar("T")


class SessionAccess:
    """The sessions of a store, with their caches.

    - ``notice``: called with a session's key and the events that were appended to it.
    - ``defer``: runs work in the background under a key; returns ``False`` when the queue is full.
    """

    def __init__(
        self,
        log: EventLog,
        settings: Settings,
        *,
        redaction: ContentRedaction,
        bounded_log: BoundedLog,
        counters: ModelCounters,
        notice: Callable[[SessionKey, Sequence[Event]], None],
        defer: Callable[[Hashable, Callable[[], object]], bool],
        count: Callable[..., None],
    ) -> None:
        self.log = log
        self.bounded_log = bounded_log
        self.counters = counters
        self.longest = LongestRequests(settings.sessions_cached, make_lock())
        self.sessions = CachedSessions(
            bounded_log,
            capacity=settings.sessions_cached,
            events_max=settings.events_cached,
            snapshots=SnapshotPolicy(settings.snapshot_every, settings.snapshot_max, later=defer, count=count),
        )
        self.messages = CachedMessages(log, capacity=settings.sessions_cached, most=settings.messages_cached)
        self._settings = settings
        self._redaction = redaction
        self._notice = notice
        self._count = count

    @cached_property
    def derivation(self) -> FactDerivation:
        """The object that extracts facts from messages, with the settings and the store's secret."""
        return FactDerivation(self._settings, self._redaction.secret)

    @cached_property
    def carried(self) -> CarriedReminders:
        """Reminders that requests contained, until they are recorded with the next messages."""
        return CarriedReminders(self._settings.sessions_cached, make_lock())

    def key_of(self, session_id: str, tenant: str) -> SessionKey:
        """Return the key of a session, its tenant and id; the session need not exist. Raises ``InvalidSession`` unless
        both are texts of 1 to 256 printable characters."""
        key = SessionKey(tenant, session_id)
        if not key.valid():
            raise InvalidSession(f"a session id and a tenant are 1 to {SESSION_ID_MAX} printable characters")
        return key

    def existing_key(self, session_id: str, tenant: str) -> SessionKey:
        """Return the key of a session, its tenant and id. Raises ``UnknownSession`` if the store has no events of the
        session, and ``InvalidSession`` unless both are texts of 1 to 256 printable characters."""
        key = self.key_of(session_id, tenant)
        if self.sessions.read(key, lambda state: state.seq) == 0:
            self.sessions.drop(key)
            raise UnknownSession(f"no session {session_id!r}")
        return key

    def read_messages(self, key: SessionKey) -> list[Written]:
        """Return the messages of a session, oldest first, archived ones included and withdrawn ones not; ``[]`` for an
        unknown session."""
        return self.read_messages_until(key)[0]

    def read_messages_until(self, key: SessionKey) -> tuple[list[Written], LogEnd]:
        """Return the messages of a session, oldest first (archived ones included, withdrawn ones not), and the end of
        its log: the number of its newest event, and when that was recorded in seconds since the epoch. ``[]`` and
        ``(0, 0.0)`` for an unknown session."""
        found, end = self.messages.read(
            key, lambda state: (list(state.messages.values()), (state.seq, state.recorded_at))
        )
        if not found:
            self.messages.drop(key)
        return found, end

    def transcript(self, written: Iterable[Written]) -> list[tuple[int, Message]]:
        """Return messages with their numbers, without own resume blocks and without archived messages."""
        return [
            (one.number, without_own_blocks(one.message, self._redaction.secret)) for one in written if not one.archived
        ]

    def sentence_reader(self, key: SessionKey) -> ReadSentences:
        """Return a function that splits a message of this session into sentences. Messages that were split in advance
        are taken from the cache.
        """
        history = self.messages.at_hand(key)
        return message_sentences if history is None else history.prepared.read

    def drop(self, key: SessionKey) -> None:
        """Remove a session from the caches of this process: state, messages, size of its longest request, and reminders
        that wait to be recorded. Nothing in the event log changes."""
        self.sessions.drop(key)
        self.messages.drop(key)
        self.longest.drop(key)
        self.carried.take(key)

    def update(self, key: SessionKey, decide: Callable[[SessionState], list[Event]]) -> None:
        """Append the events that ``decide`` returns for the session; none if it returns ``[]``.

        ``decide`` runs under the session's lock, and again after a conflict with another writer. It must be quick and
        pure, and must not change the state that it gets.
        """
        with self._notice_flags(key, decide) as deciding:
            self.sessions.update(key, deciding)

    def record(self, key: SessionKey, decide: Callable[[SessionState], list[Event]]) -> None:
        """Append the events that ``decide`` returns for new messages, and an event for each reminder that the answered
        request contained. If ``decide`` returns nothing, the reminders stay queued for the next call. ``decide``: as
        for ``update``."""
        waiting = self.carried.take(key)
        added = 0

        def deciding(state: SessionState) -> list[Event]:
            nonlocal added
            news = decide(state)
            added = len(news)
            return [*news, *(one.event(len(state.transcript) + added) for one in waiting if added)]

        try:
            self.update(key, deciding)
        except BaseException:
            added = 0
            raise
        finally:
            if not added:
                self.carried.put(key, waiting)

    def propose(self, key: SessionKey, decide: Callable[[SessionState], list[Event]]) -> None:
        """Append the events that ``decide`` returns. It gets a copy of the session and runs outside its lock; it runs
        again if another writer changed the session meanwhile."""
        with self._notice_flags(key, decide) as deciding:
            self.sessions.propose(key, deciding)

    def propose_cut(self, key: SessionKey, decide: Callable[[SessionState], CutDecision]) -> CutDecision:
        """Append the events of the decision that ``decide`` returns, and return the decision. ``decide`` gets a copy of
        the session and runs outside its lock; it runs again if another writer changed the session meanwhile."""
        decision = CutDecision()

        def events(state: SessionState) -> list[Event]:
            nonlocal decision
            decision = decide(state)
            return list(decision.events)

        self.propose(key, events)
        return decision

    def extract(
        self, key: SessionKey, view: Callable[[SessionState], T], *, wait: bool = True, end: LogEnd | None = None
    ) -> T:
        """Extract the facts of messages that have none yet, then return what ``view`` returns for the session's state.

        - ``wait``: whether to wait for another thread that is extracting facts of this session; false: ``view`` gets
          the session without the facts that the other thread is extracting.
        - ``end``: number and time of the log's newest event, if the caller has just read it. A cached session that ends
          there is not read again. ``None``: the log is read.

        Raises ``StoreUnavailable`` if the store cannot record the facts.
        """
        with span("extract"), self._notice_flags(key, self.derivation.facts) as derive:
            return self.sessions.extract(key, derive, view, wait=wait, end=end)

    @contextmanager
    def _notice_flags(
        self, key: SessionKey, decide: Callable[[SessionState], list[Event]]
    ) -> Iterator[Callable[[SessionState], list[Event]]]:
        """Yield a function that calls ``decide``. At the end of the ``with`` block, count the suspicious messages that
        its events flag, and report the events to the refinement."""
        last: list[Event] = []

        def deciding(state: SessionState) -> list[Event]:
            nonlocal last
            with DECISION_GATE:
                last = decide(state)
            return last

        try:
            yield deciding
        finally:
            for event in last:
                if isinstance(event, Derived):
                    self._count("guard_flagged", len(event.flagged))
            self._notice(key, last)

    def view(
        self, key: SessionKey, view: Callable[[SessionState], T], *, expected: bool = True, end: LogEnd | None = None
    ) -> T:
        """Return ``view(state)`` of the session, after extracting the facts of messages that have none yet.

        - If the store cannot record these facts, ``view`` gets the session without them.
        - ``expected``: raise ``UnknownSession`` if the session does not exist; ``False``: ``view`` gets an empty one.
        - ``end``: the end of the log, if the caller has just read it. A cached session that ends there is used without
          reading the log. ``None``: the log is read.
        """

        def view_existing(state: SessionState) -> T:
            if expected and state.seq == 0:
                raise UnknownSession(f"no session {key.id!r}")
            return view(state)

        try:
            return self.extract(key, view_existing, end=end)
        except StoreUnavailable:
            self._count("extraction_not_kept")
            return self.sessions.read(key, view_existing)
        except UnknownSession:
            self.sessions.drop(key)
            raise


def no_view(state: SessionState) -> None:
    """Return ``None``. It is passed as ``view`` by callers that only append events and need no result."""
