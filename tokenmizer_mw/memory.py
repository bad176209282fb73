"""SessionMemory: the public face, and the only place where the log meets the exchange."""

from __future__ import annotations

import hashlib
import logging
import math
import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import anyio.to_thread

from tokenmizer_mw.background import BackgroundQueue
from tokenmizer_mw.binding import Named, bound
from tokenmizer_mw.cutting import Cutting, Decided
from tokenmizer_mw.drawing import Drawing
from tokenmizer_mw.errors import CallerError, ConfigError, InvalidSession, StoreUnavailable, UnknownNode, UnknownSession
from tokenmizer_mw.fence import nonce_for
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.search import Hit, described, search
from tokenmizer_mw.graph.views import Diff, Why, as_valid, diff, why
from tokenmizer_mw.guard import NOTHING, Suspicion, judge
from tokenmizer_mw.ingress import Ingress
from tokenmizer_mw.kept import KeptSessions
from tokenmizer_mw.loss import LossReport, loss_report
from tokenmizer_mw.model.event import (
    Checkpointed,
    Derived,
    Event,
    MessageRecorded,
    NodeRevised,
    StatusChanged,
    TurnClosed,
)
from tokenmizer_mw.model.message import Message, Outcome
from tokenmizer_mw.model.node import Node, Status, may_move
from tokenmizer_mw.model.session import LOCAL_TENANT, SESSION_ID_MAX, SessionKey
from tokenmizer_mw.recall import Excerpt, Recall, recall
from tokenmizer_mw.redact import Redactor
from tokenmizer_mw.resume import Resume, build_resume
from tokenmizer_mw.retouch import Retouch
from tokenmizer_mw.session import SessionState, fold, joining
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.log import EventLog, SessionInfo
from tokenmizer_mw.store.open import open_log
from tokenmizer_mw.tokens import ATTACHMENT_TOKENS, ModelCounters
from tokenmizer_mw.window import Rewrite, budget_for, smallest_budget
from tokenmizer_mw.wire.dialect import ChatRequest, Reply
from tokenmizer_mw.wire.history import History, history_of
from tokenmizer_mw.wire.known import KnownRequests
from tokenmizer_mw.wire.messages import history
from tokenmizer_mw.wire.unread import mentions

P = ParamSpec("P")
R = TypeVar("R")

_logger = logging.getLogger("tokenmizer_mw")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A named point of a session: its place in the log, what changed since the one before, tokens of its resume."""

    id: str
    seq: int
    diff: Diff
    tokens: int


def _off_the_loop(
    method: Callable[Concatenate[SessionMemory, P], R],
) -> Callable[Concatenate[SessionMemory, P], Coroutine[Any, Any, R]]:
    async def run(self: SessionMemory, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await anyio.to_thread.run_sync(partial(method, self, *args, **kwargs))

    run.__name__, run.__qualname__ = f"a{method.__name__}", f"SessionMemory.a{method.__name__}"
    run.__doc__ = f"``{method.__name__}`` in a worker thread, for use on an event loop."
    return run


class SessionMemory:
    """The memory of an application: sessions in, graphs and resume blocks out.

    Safe for threads and, with a store on disk, for processes. ``tenant`` partitions sessions; the same id in two
    tenants names two sessions. ``known`` holds recent requests for whoever reads the next ones. All methods raise
    ``InvalidSession`` for unusable ids and ``StoreError`` when the store fails; those that read a session raise
    ``UnknownSession`` when it has no events.
    """

    def __init__(self, log: EventLog, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.known = KnownRequests(self.settings.known_requests_max, threading.Lock())
        self._log = log
        self._kept = KeptSessions(log, capacity=self.settings.sessions_cached)
        self._counts: Counter[str] = Counter()
        self._counts_lock = threading.Lock()
        self._least_budget = smallest_budget(self.settings)
        self._counters = ModelCounters(self.settings.tokenizer_dir)
        self._background = BackgroundQueue(
            capacity=self.settings.queue_max,
            size_max=self.settings.queue_bytes,
            failed=self._background_failed,
            drain_seconds=self.settings.drain_seconds,
        )

    @classmethod
    def open(cls, url: str = "memory://", settings: Settings | None = None) -> SessionMemory:
        """Memory on the store at ``url``: ``memory://``, ``sqlite:///relative.db`` or ``sqlite:////absolute.db``.

        Raises ``ConfigError`` for an address that is not understood and ``StoreError`` when it cannot be opened.
        """
        if not isinstance(url, str):
            raise ConfigError(f"a store's address is text, not a {type(url).__name__}")
        memory = cls(open_log(url), settings)
        _ = memory.ingress  # the first look into the store and at the rules: better now than at the first request
        return memory

    # -- writing ---------------------------------------------------------------------------------------------

    def record(
        self, session_id: str, messages: Iterable[Message | Mapping[str, Any]], *, tenant: str = LOCAL_TENANT
    ) -> int:
        """Add what is new in ``messages`` (OpenAI- or Anthropic-shaped dicts, or ``Message``) and draw its facts.

        Returns the number of messages that were new. Idempotent: resending the history adds nothing. Raises
        ``InvalidMessage`` when one of those looked at (the new ones and a few before) is not a message; then none is
        added.
        """
        spoken = history(messages).spoken()
        if self.ingress is not None:
            spoken = spoken.through(self.ingress.message)
        added = 0

        def decide(state: SessionState) -> list[Event]:
            nonlocal added
            news = joining(state.transcript, spoken)
            added = len(news)
            return [*news, *self._drawing.facts(state, news)]

        self._update(self._key(session_id, tenant), decide)
        return added

    def invalidate(self, session_id: str, node_id: str, reason: str, *, tenant: str = LOCAL_TENANT) -> None:
        """Declare a fact wrong, by hand: resumes show it as a warning. Raises ``UnknownNode``."""
        key = self._known(session_id, tenant)

        def decide(state: SessionState) -> list[Event]:
            node = _node(state, node_id)
            if not may_move(node.status, Status.INVALIDATED, evidence=True):
                return []
            return [StatusChanged(node_id, Status.INVALIDATED, len(state.transcript), reason)]

        self._kept.update(key, decide)

    def date(
        self,
        session_id: str,
        node_id: str,
        *,
        valid_from: float | None = None,
        valid_until: float | None = None,
        tenant: str = LOCAL_TENANT,
    ) -> None:
        """Correct when a fact was true, in seconds since the epoch; ``None``: from when it was recorded, and until it
        was replaced. What was believed before stays on record. Raises ``UnknownNode``, and ``CallerError`` when the
        end lies before the start."""
        if not all(math.isfinite(time) for time in (valid_from, valid_until) if time is not None):
            raise CallerError("times are finite numbers of seconds")
        if valid_from is not None and valid_until is not None and valid_until < valid_from:
            raise CallerError("a fact cannot end before it begins")
        key = self._extracted(session_id, tenant)
        changes = {"valid_from": valid_from, "valid_until": valid_until}

        def decide(state: SessionState) -> list[Event]:
            _node(state, node_id)
            return [NodeRevised(node_id, changes, len(state.transcript))]

        self._kept.update(key, decide)

    def checkpoint(self, session_id: str, *, tenant: str = LOCAL_TENANT) -> Checkpoint:
        """Mark this point of the session; ``diff`` is what changed since the checkpoint before (or since the start)."""
        key = self._extracted(session_id, tenant)
        resume = self.resume(session_id, tenant=tenant)
        made: Checkpointed | None = None

        def decide(state: SessionState) -> list[Event]:
            nonlocal made
            made = Checkpointed(state.next_checkpoint, len(state.transcript), resume.tokens)
            return [made]

        self._kept.update(key, decide)
        marks = self._kept.read(key, lambda state: list(state.checkpoints))
        place = next(mark for mark in reversed(marks) if mark.checkpoint == made)
        before = max((mark.seq for mark in marks if mark.seq < place.seq), default=0)
        return Checkpoint(place.checkpoint.id, place.seq, self.diff(key, before, place.seq), resume.tokens)

    def forget(self, session_id: str, *, tenant: str = LOCAL_TENANT) -> int:
        """Erase a session for good. Returns the number of events erased; 0 when there was none."""
        key = self._key(session_id, tenant)
        erased = self._log.forget(key)
        self.known.clear()
        if self.ingress is not None:
            self.ingress.forget()
        self._counters.clear()
        self._kept.drop(key)
        return erased

    def redact_stored(self, session_id: str, *, tenant: str = LOCAL_TENANT) -> int:
        """Take out of a session what the rules of today find in what was kept before they were there. Returns the
        number of events changed. Other processes that have the session at hand see it after a restart."""
        key = self._known(session_id, tenant)
        if self.ingress is None:
            raise ConfigError("redaction is switched off by the settings")
        changed = self._log.rewrite(key, Retouch(self.ingress.message, self.ingress.text))
        self._kept.drop(key)
        return changed

    # -- reading ---------------------------------------------------------------------------------------------

    def graph(
        self,
        session_id: str,
        *,
        recorded_at: float | None = None,
        valid_at: float | None = None,
        tenant: str = LOCAL_TENANT,
    ) -> SessionGraph:
        """The session's graph; the caller may keep it.

        ``recorded_at`` (seconds since the epoch): as believed then. ``valid_at``: what was true then, as believed
        now or at ``recorded_at``.
        """
        key = self._extracted(session_id, tenant)
        if recorded_at is None:
            graph = self._kept.read(key, lambda state: self._drawing.believed(state).copy())
        else:
            graph = fold([event for event in self._log.read(key) if event.recorded_at <= recorded_at]).graph
        return graph if valid_at is None else as_valid(graph, valid_at)

    def resume(
        self,
        session_id: str,
        level: str = "standard",
        *,
        budget: int | None = None,
        query: str | None = None,
        model: str = "",
        tenant: str = LOCAL_TENANT,
    ) -> Resume:
        """The resume block: ``level`` is "critical" (100 tokens), "standard" (300) or "full" (600); ``budget``
        overrides it. Standing rules come first, then facts that ``query`` asks for. Counted as ``model`` counts. A
        budget that holds the fence but no fact gives an empty ``Resume``.

        Raises ``BudgetTooSmall`` (it names the smallest budget) and, for an unknown level, ``CallerError``.
        """
        key = self._extracted(session_id, tenant)
        counter = self._counters.of(model).counter

        def view(state: SessionState) -> Resume:
            return build_resume(
                self._drawing.believed(state),
                level=level,
                budget=budget,
                counter=counter,
                nonce=nonce_for(self._secret, key, state.next_checkpoint),
                query=query,
                turn=len(state.transcript),
            )

        return self._kept.read(key, view)

    def recall(
        self, session_id: str, query: str, *, budget: int = 200, model: str = "", tenant: str = LOCAL_TENANT
    ) -> Recall:
        """What the session says about ``query``, within ``budget`` tokens, old values marked as old."""
        key = self._extracted(session_id, tenant)
        excerpts = [
            Excerpt(event.event.turn, event.event.message.role.value, event.event.message.text)
            for event in self._log.read(key)
            if isinstance(event.event, MessageRecorded)
        ]
        counter = self._counters.of(model).counter
        return self._kept.read(
            key,
            lambda state: recall(
                self._drawing.believed(state), query, budget=budget, counter=counter, excerpts=excerpts
            ),
        )

    def why(self, session_id: str, text: str, *, tenant: str = LOCAL_TENANT) -> Why | None:
        """Why the fact that ``text`` names by its id, label or value, or else describes, is so; ``None`` when nothing
        matches."""
        graph = self.graph(session_id, tenant=tenant)
        node = described(graph, text)
        return why(graph, node) if node is not None else None

    def search(self, session_id: str, text: str, k: int = 5, *, tenant: str = LOCAL_TENANT) -> list[Hit]:
        """The ``k`` facts that share most with ``text``, best first, replaced ones included."""
        return search(self.graph(session_id, tenant=tenant), text, k=k)

    def diff(self, key: SessionKey, after_seq: int, upto_seq: int) -> Diff:
        """What changed in the graph between two places of the log."""
        events = self._log.read(key, upto=upto_seq)
        return diff(fold([event for event in events if event.seq <= after_seq]).graph, fold(events).graph)

    def loss_report(self, session_id: str, *, tenant: str = LOCAL_TENANT) -> LossReport:
        """What the last cut took out of the context and the resume block does not carry. Empty without a cut."""
        key = self._extracted(session_id, tenant)
        return self._kept.read(key, lambda state: loss_report(self._drawing.believed(state), state.cut))

    def restore(self, session_id: str, turns: Iterable[int], *, tenant: str = LOCAL_TENANT) -> list[Message]:
        """The messages with these numbers, word for word, in order: what a loss report names can be put back."""
        wanted = set(turns)
        events = [recorded.event for recorded in self._log.read(self._known(session_id, tenant))]
        return [event.message for event in events if isinstance(event, MessageRecorded) and event.turn in wanted]

    def sessions(self, *, tenant: str = LOCAL_TENANT) -> list[SessionInfo]:
        """The tenant's sessions, the most recently updated first."""
        return self._log.sessions(tenant)

    def counters(self) -> dict[str, int]:
        """How often what happened since this object was made: turns by outcome ("turn_complete"), "cut_made",
        "request_rewritten", and why calls passed untouched or less was remembered than was sent."""
        with self._counts_lock:
            return dict(self._counts)

    def session(self, session_id: str, *, tenant: str = LOCAL_TENANT) -> AbstractContextManager[None]:
        """Bind outgoing calls made inside ``with`` to a session, for calls that name none themselves.

        The binding follows tasks, not threads that are started by hand. Bindings nest; the innermost counts.
        """
        self._key(session_id, tenant)
        return bound(self, partial(Named, session_id, tenant))

    # -- the request path ------------------------------------------------------------------------------------

    def may_cut(self, body: bytes, linked: Sequence[bytes] = (), models: Sequence[str] = ()) -> bool:
        """Whether a request of these bytes could be long enough for a cut, whichever of ``models`` it is for (none:
        any at all). A bound without I/O: no token is shorter than a byte, but for parts whose content lies elsewhere,
        which the members ``linked`` give away."""
        budget = min([budget_for(model, self.settings) for model in models]) if models else self._least_budget
        room = budget * self.settings.cut_at - len(body)
        if room < 0:
            return True
        return room < ATTACHMENT_TOKENS * sum(body.count(name) for name in linked if mentions(body, name))

    def prepare(self, key: SessionKey, request: ChatRequest) -> Rewrite | None:
        """How ``request`` is to be shortened, or ``None`` to send it as it is. Reads the store, may record a cut."""
        cutting = Cutting(self._drawing, key, request, self._counters.of(request.model))
        decided = Decided()

        def decide(state: SessionState) -> list[Event]:
            nonlocal decided
            decided = cutting.decide(state)
            return list(decided.events)

        self._update(key, decide)
        for name in decided.counted:
            self.count(name)
        if decided.rewrite is not None:
            self.count("request_rewritten")
        return decided.rewrite

    def commit(self, key: SessionKey, messages: Sequence[Message], reply: Reply | None) -> None:
        """Make a turn durable: the new messages, the reply's, and how it ended. No facts are drawn yet."""
        reply = self._clean(reply)
        told = messages if isinstance(messages, History) else history_of(messages)
        if reply is not None and reply.message is not None:
            told = told.followed_by(reply.message)
        spoken = told.spoken()

        def decide(state: SessionState) -> list[Event]:
            news: list[Event] = list(joining(state.transcript, spoken, part=spoken.part))
            if reply is None or not (news or reply.outcome is Outcome.ERROR):
                return news
            turn = len(state.transcript) + len(news)
            return [*news, TurnClosed(turn, reply.outcome, reply.finish_reason, reply.usage)]

        self._kept.update(key, decide)
        if reply is not None:
            self.count(f"turn_{reply.outcome.value}")

    def attempt(self, key: SessionKey, request: ChatRequest) -> Suspicion:
        """What is suspicious about what the request says for the first time, or says last. Reads the store."""
        spoken = request.messages.spoken()
        start = self._kept.read(key, lambda state: state.transcript.first_new(spoken, part=spoken.part)[0])
        news = spoken[max(0, min(start, len(spoken) - 1)) :]
        return max(map(judge, news), key=lambda found: found.score, default=NOTHING)

    def later(self, work: Callable[[], object], size: int = 0) -> None:
        """Run ``work``, which holds ``size`` bytes, in the background. Never blocks; when the queue is full, ``work``
        is dropped and counted."""
        if not self._background.put(object(), work, size):
            self.count("dropped_queue_full")

    def extract_later(self, key: SessionKey) -> None:
        """Draw the facts of what was committed, in the background. Never blocks; when the queue is full the next
        look at the session does the work."""
        if not self._background.put(key, partial(self.extract, key)):
            self.count("extraction_deferred_queue_full")

    def extract(self, key: SessionKey) -> None:
        """Draw the facts of all messages that were committed and not looked at yet."""
        self._update(key, self._drawing.facts)

    def count(self, reason: str, times: int = 1) -> None:
        """Add to the counter ``reason``."""
        if times:
            with self._counts_lock:
                self._counts[reason] += times

    def flush(self, seconds: float | None = None) -> bool:
        """Wait for the work in the background, at most ``seconds`` (default: the setting). True when all is done."""
        return self._background.flush(self.settings.drain_seconds if seconds is None else seconds)

    def close(self) -> None:
        """Finish the work in the background within the time that the settings give, and release the store."""
        if not self._background.close(self.settings.drain_seconds):
            self.count("closed_with_work_left")
        self._log.close()

    arecord = _off_the_loop(record)
    ainvalidate = _off_the_loop(invalidate)
    adate = _off_the_loop(date)
    acheckpoint = _off_the_loop(checkpoint)
    aforget = _off_the_loop(forget)
    aredact_stored = _off_the_loop(redact_stored)
    agraph = _off_the_loop(graph)
    aresume = _off_the_loop(resume)
    arecall = _off_the_loop(recall)
    awhy = _off_the_loop(why)
    asearch = _off_the_loop(search)
    aloss_report = _off_the_loop(loss_report)
    arestore = _off_the_loop(restore)
    asessions = _off_the_loop(sessions)
    aflush = _off_the_loop(flush)
    aclose = _off_the_loop(close)

    # -- inside ----------------------------------------------------------------------------------------------

    @cached_property
    def ingress(self) -> Ingress | None:
        """Where secrets are taken out; ``None`` when the settings keep them. Raises ``ConfigError`` for rules that
        cannot be used."""
        settings = self.settings
        if not settings.redact:
            return None
        return Ingress(
            _redactor(settings, self._secret),
            beginnings_max=settings.sessions_cached,
            bytes_max=settings.known_requests_max,
            lock=threading.Lock(),
        )

    @cached_property
    def _secret(self) -> bytes:
        return self._log.secret()

    @cached_property
    def _drawing(self) -> Drawing:
        return Drawing(self.settings, self._secret)

    def _clean(self, reply: Reply | None) -> Reply | None:
        """``reply`` as it may be kept."""
        if reply is None or reply.message is None or self.ingress is None:
            return reply
        message = self.ingress.message(reply.message)
        if message is reply.message:
            return reply
        self.count("reply_redacted")
        return replace(reply, message=message)

    def _update(self, key: SessionKey, decide: Callable[[SessionState], list[Event]]) -> None:
        """Let ``decide`` say what facts there are, and count what was suspicious about the messages they are from."""
        last: list[Event] = []

        def deciding(state: SessionState) -> list[Event]:
            nonlocal last
            last = decide(state)
            return last

        self._kept.update(key, deciding)
        for event in last:
            if isinstance(event, Derived):
                self.count("guard_flagged", len(event.flagged))

    def _background_failed(self, error: BaseException) -> None:
        self.count("background_failed")
        _logger.warning("background work failed: %s", type(error).__name__)

    def _extracted(self, session_id: str, tenant: str) -> SessionKey:
        """The key of a session that exists, with all its facts drawn, if the store takes them."""
        key = self._known(session_id, tenant)
        try:
            self.extract(key)
        except StoreUnavailable:
            self.count("extraction_not_kept")
        return key

    def _known(self, session_id: str, tenant: str) -> SessionKey:
        key = self._key(session_id, tenant)
        if self._kept.read(key, lambda state: state.seq) == 0:
            self._kept.drop(key)
            raise UnknownSession(f"no session {session_id!r}")
        return key

    def _key(self, session_id: str, tenant: str) -> SessionKey:
        key = SessionKey(tenant, session_id)
        if not key.valid():
            raise InvalidSession(f"a session id and a tenant are 1 to {SESSION_ID_MAX} printable characters")
        return key


def _redactor(settings: Settings, secret: bytes) -> Redactor:
    """The redactor of an installation: its placeholders stay the same for as long as its store lives."""
    key = hashlib.blake2b(b"redaction", key=secret, digest_size=32).digest()
    if settings.redact_rules is None:
        return Redactor(pii=settings.redact_pii, key=key)
    from tokenmizer_mw.redact.config import load  # YAML is only for those who have rules of their own

    try:
        told = load(Path(settings.redact_rules).read_text(encoding="utf-8"))
    except (ConfigError, OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{settings.redact_rules}: {getattr(error, 'strerror', None) or error}") from None
    return Redactor(told.rules, allow=told.allow, pii=told.pii or settings.redact_pii, key=key)


def _node(state: SessionState, node_id: str) -> Node:
    node = state.graph.get(node_id)
    if node is None:
        raise UnknownNode(f"the session has no node {node_id[:60]!r}")
    return node
