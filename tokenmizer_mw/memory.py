"""SessionMemory: the public face."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from tokenmizer_mw.chat.service import SessionService
from tokenmizer_mw.chat.session_access import no_view
from tokenmizer_mw.context.assembly import Context, Shortened
from tokenmizer_mw.context.costs.report import Savings
from tokenmizer_mw.context.loss_report import LossReport, loss_report
from tokenmizer_mw.context.recall import Recall, recall
from tokenmizer_mw.context.resume import Resume, build_resume, build_resumes, earlier_facts
from tokenmizer_mw.context.tokens import MessageCounter
from tokenmizer_mw.errors import (
    CallerError,
    ConfigError,
    StoreUnavailable,
    UnknownNode,
    UnknownSession,
)
from tokenmizer_mw.extract.guessing import model_of
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.search import SearchHit, described, search
from tokenmizer_mw.graph.views import Diff, Why, as_valid, diff, why
from tokenmizer_mw.model.event import (
    Checkpointed,
    Event,
    NodeRevised,
)
from tokenmizer_mw.model.message import Message, Written
from tokenmizer_mw.model.moment import Moment, as_seconds
from tokenmizer_mw.model.node import Node, Status
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.model.spending import Spent
from tokenmizer_mw.runtime.offload import CALLS, offload
from tokenmizer_mw.safety.fence import nonce_for
from tokenmizer_mw.safety.labels import flatten
from tokenmizer_mw.session import Edited, SessionState, appended, fold, joining
from tokenmizer_mw.session.current import NamedSession, bound
from tokenmizer_mw.session.manual_edits import KINDS, corrected, marked, remembered, undone
from tokenmizer_mw.session.manual_edits import pinned as pin
from tokenmizer_mw.session.project import project_of, siblings
from tokenmizer_mw.session.refinement.client import Complete
from tokenmizer_mw.session.refinement.plan import Refinement
from tokenmizer_mw.session.reminder import Carried
from tokenmizer_mw.session.text_rewrite import Retouch
from tokenmizer_mw.session.transcript_edits import Change, HistoryMessages, revised
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.ledger import By, require_day
from tokenmizer_mw.store.log import EventLog, Place, SessionInfo, pages
from tokenmizer_mw.store.open import open_log
from tokenmizer_mw.wire.messages import history

if TYPE_CHECKING:
    from tokenmizer_mw.saving.cache.answers import Answers
    from tokenmizer_mw.saving.compress.neural import Shrink

P = ParamSpec("P")
R = TypeVar("R")


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
        return await offload(partial(method, self, *args, **kwargs), CALLS)

    run.__name__, run.__qualname__ = f"a{method.__name__}", f"SessionMemory.a{method.__name__}"
    run.__doc__ = f"``{method.__name__}`` in a worker thread of this package, for use on an event loop."
    return run


class SessionMemory:
    """The memory of an application: sessions in, graphs and resume blocks out.

    Safe for threads and, with a store on disk, for processes. ``tenant`` partitions sessions; the same id in two
    tenants names two sessions. ``service`` is what carries chats: middleware and transports use it. All methods raise
    ``InvalidSession`` for unusable ids and ``StoreError`` when the store fails; those that read a session raise
    ``UnknownSession`` when it has no events.
    """

    def __init__(
        self,
        log: EventLog,
        settings: Settings | None = None,
        *,
        complete: Complete | None = None,
        embed: Callable[[list[str]], Any] | None = None,
        url: str = "",
    ) -> None:
        self.service = SessionService(log, settings or Settings(), complete=complete, embed=embed, url=url)
        self._access = self.service.access
        self._redaction = self.service.redaction

    @property
    def settings(self) -> Settings:
        """The settings that it was opened with."""
        return self.service.settings

    @property
    def answers(self) -> Answers | None:
        """The cache of answers, for purging it; ``None`` where the settings switch none on."""
        return self.service.answers

    @property
    def shrink(self) -> Shrink | None:
        """What compresses texts by a model, ``None`` for nothing. It is set before the first request."""
        return self.service.shrink

    @shrink.setter
    def shrink(self, shrink: Shrink) -> None:
        self.service.shrink = shrink

    @classmethod
    def open(
        cls,
        url: str = "memory://",
        settings: Settings | None = None,
        *,
        complete: Complete | None = None,
        embed: Callable[[list[str]], Any] | None = None,
    ) -> SessionMemory:
        """Memory on the store at ``url``: ``memory://``, ``sqlite:///relative.db``, ``sqlite:////absolute.db`` or
        ``postgresql://user@host:port/database``. ``complete`` asks a model for ``refine``, in place of the one that the
        settings may name. ``embed`` makes vectors of texts, a row each: for the cache, in place of the model that
        ``Settings.cache_model`` names, and for recall and reminders, in place of that of ``Settings.embeddings``.

        Raises ``ConfigError`` for an address that is not understood and ``StoreError`` when it cannot be opened. In a
        ``with`` block (or ``async with``) the memory is closed at its end.
        """
        if not isinstance(url, str):
            raise ConfigError(f"a store's address is text, not a {type(url).__name__}")
        memory = cls(open_log(url), settings, complete=complete, embed=embed, url=url)
        _ = (
            memory.service.redaction.ingress
        )  # the first look into the store and at the rules: better now than at the first request
        if memory.settings.semantic is not None:
            model_of(memory.settings)
        return memory

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.aclose()

    # -- writing ---------------------------------------------------------------------------------------------

    def record(
        self,
        session_id: str,
        messages: Iterable[Message | Mapping[str, Any]],
        *,
        excerpt: bool = False,
        later: bool = False,
        tenant: str = LOCAL_TENANT,
    ) -> int:
        """Add what is new in ``messages`` (OpenAI- or Anthropic-shaped dicts, or ``Message``) and draw its facts.

        Returns the number of messages that were new. Idempotent: resending the history adds nothing. ``excerpt``: these
        are some consecutive ones from anywhere in it, and nothing is new when the session has them in that order, or
        when the chat is kept here anyway (see ``add``). Raises ``InvalidMessage`` when one of those looked at (the new
        ones and a few before) is not a message; then none is added. ``later``: they are durable when the call returns,
        and their facts are drawn in the background, at the latest when somebody asks for them. So are they when another
        thread is drawing facts of this session: no call waits for that.
        """
        key = self._access.key_of(session_id, tenant)
        spoken = history(messages).spoken().through(self._redaction.remove_echoes)
        if self._redaction.ingress is not None:
            spoken = spoken.through(self._redaction.ingress.message)
        added = 0

        def decide(state: SessionState) -> list[Event]:
            nonlocal added
            known = excerpt and (state.kept or state.transcript.holds(spoken))
            news = [] if known else joining(state.transcript, spoken)
            added = len(news)
            return list(news)

        self._access.record(key, decide)
        if not later:
            self._extract_now(key)
        elif added:
            self.service.extraction.schedule(key)
        return added

    def _extract_now(self, key: SessionKey) -> None:
        """``extract`` for messages that are durable already: a store that takes no facts is counted, not raised."""
        try:
            self.service.extraction.extract(key)
        except StoreUnavailable:
            self.service.count("extraction_not_kept")

    def add(self, session_id: str, messages: Iterable[Written], *, tenant: str = LOCAL_TENANT) -> None:
        """Append messages in one piece, also such as the session has already: for whoever keeps the chat here.

        They are durable when the call returns; their facts are drawn in the background, at the latest when somebody
        asks for them. ``messages`` gives them back. Secrets are taken out of both forms of a message.
        """
        key, told = (
            self._access.key_of(session_id, tenant),
            [self._redaction.redact_written(written) for written in messages],
        )
        self._access.record(key, lambda state: list(appended(state, told)))
        if told:
            self.service.extraction.schedule(key)

    def revise(self, session_id: str, change: Change, *, tenant: str = LOCAL_TENANT) -> None:
        """Make what ``change`` returns the history of a session whose chat is kept here, in one piece.

        ``change`` gets what ``messages`` gives, and may be called again when somebody else was faster; it may call any
        method of the memory. What it leaves
        out is withdrawn: no longer given back, and from there on the graph is drawn anew without it, which undoes later
        corrections made by hand. What it returns as ``archived`` keeps its facts. What was withdrawn stays in the log
        until ``forget``.
        """
        key = self._access.key_of(session_id, tenant)

        def cleaned(history: Sequence[Written]) -> Sequence[Written]:
            return [one if one.number else self._redaction.redact_written(one) for one in change(history)]

        def decide(state: SessionState) -> list[Event]:
            return revised(state, self.log.read(key, upto=state.seq), cleaned, self._access.derivation)

        self._access.propose(key, decide)
        self.service.extraction.schedule(key)

    def remember(
        self,
        session_id: str,
        text: str,
        kind: str = "rule",
        *,
        reason: str = "",
        create: bool = False,
        tenant: str = LOCAL_TENANT,
    ) -> Node:
        """Add a fact by hand: a "rule", "choice", "preference", "goal", "task" or "environment". Where its words are
        another value of what is known ("database: SQLite"), it takes that one's place; what is known and holds is not
        added twice. ``create``: a session that is not there is begun. Returns the fact. Raises ``UnknownSession`` where
        it is not to be, and ``CallerError`` for a text that says nothing and for another kind."""
        find_key = self._access.key_of if create else self._access.existing_key
        key = find_key(session_id, tenant)
        text, reason = self._redaction.redact_text(text), self._redaction.redact_text(reason)
        self.service.extraction.extract(key)  # what was said before has its facts first
        node = self._access.sessions.updated(
            key,
            lambda state: remembered(state, text, kind, reason),
            lambda state: state.graph.find(KINDS[kind][0], flatten(text)),
        )
        if node is None:
            raise UnknownSession(f"session {session_id!r} was erased meanwhile")
        return node

    def invalidate(self, session_id: str, node_id: str, reason: str, *, tenant: str = LOCAL_TENANT) -> None:
        """Declare a fact wrong, by hand: resumes show it as a warning. ``node_id`` is its id, or its label
        or value, as for ``why``; so it is in ``archive``, ``pin`` and ``correct``. Raises ``UnknownNode``."""
        key, reason = self._access.existing_key(session_id, tenant), self._redaction.redact_text(reason)
        self._access.sessions.update(key, lambda state: marked(state, node_id, Status.INVALIDATED, reason))

    def archive(self, session_id: str, node_id: str, reason: str = "", *, tenant: str = LOCAL_TENANT) -> None:
        """Put a fact away by hand: it is true, and of no interest any more. Raises ``UnknownNode``."""
        key, reason = self._access.existing_key(session_id, tenant), self._redaction.redact_text(reason)
        self._access.sessions.update(key, lambda state: marked(state, node_id, Status.ARCHIVED, reason))

    def pin(self, session_id: str, node_id: str, pinned: bool = True, *, tenant: str = LOCAL_TENANT) -> None:
        """Have resumes tell a fact before others (behind the standing rules), and keep it from being pruned; or no
        longer. Raises ``UnknownNode``."""
        key = self._access.existing_key(session_id, tenant)
        self._access.sessions.update(key, lambda state: pin(state, node_id, pinned))

    def correct(
        self,
        session_id: str,
        node_id: str,
        *,
        label: str | None = None,
        detail: str | None = None,
        reason: str = "",
        tenant: str = LOCAL_TENANT,
    ) -> None:
        """Put a fact into other words by hand; ``None`` leaves them as they are. What they say is its value is read
        anew. Raises ``UnknownNode``, and ``CallerError`` for a label that says nothing, or a value that another fact
        has the place of."""
        key, reason = self._access.existing_key(session_id, tenant), self._redaction.redact_text(reason)
        label, detail = (text if text is None else self._redaction.redact_text(text) for text in (label, detail))
        self._access.sessions.update(key, lambda state: corrected(state, node_id, label, detail, reason))

    def undo(self, session_id: str, number: int, *, tenant: str = LOCAL_TENANT) -> None:
        """Take a change by hand back, by its number; that is a change by hand, too. Raises ``CallerError`` when there
        is none, or when something else stands against it; the message says what."""
        key = self._access.existing_key(session_id, tenant)
        self._access.sessions.update(key, lambda state: undone(state, number))

    def edits(self, session_id: str, *, tenant: str = LOCAL_TENANT) -> list[Edited]:
        """The changes by hand, oldest first."""
        return self.view(session_id, lambda state: list(state.edits.values()), tenant=tenant)

    def date(
        self,
        session_id: str,
        node_id: str,
        *,
        valid_from: Moment | None = None,
        valid_until: Moment | None = None,
        tenant: str = LOCAL_TENANT,
    ) -> None:
        """Correct when a fact was true; ``None``: from when it was recorded, and until it was replaced. What was
        believed before stays on record. Raises ``UnknownNode``, and ``CallerError`` when the end lies before the
        start."""
        start, end = (None if moment is None else as_seconds(moment) for moment in (valid_from, valid_until))
        if not all(math.isfinite(time) for time in (start, end) if time is not None):
            raise CallerError("times are finite numbers of seconds")
        if start is not None and end is not None and end < start:
            raise CallerError("a fact cannot end before it begins")
        key = self._access.key_of(session_id, tenant)
        self._access.view(key, no_view)
        changes = {"valid_from": start, "valid_until": end}

        def decide(state: SessionState) -> list[Event]:
            _node(state, node_id)
            return [NodeRevised(node_id, changes, len(state.transcript))]

        self._access.sessions.update(key, decide)

    def checkpoint(self, session_id: str, *, tenant: str = LOCAL_TENANT) -> Checkpoint:
        """Mark this point of the session; ``diff`` is what changed since the checkpoint before (or since the start)."""
        key = self._access.key_of(session_id, tenant)
        resume = self.resume(session_id, tenant=tenant)
        made: Checkpointed | None = None

        def decide(state: SessionState) -> list[Event]:
            nonlocal made
            made = Checkpointed(state.next_checkpoint, len(state.transcript), resume.tokens)
            return [made]

        self._access.sessions.update(key, decide)
        self.service.refinement.notice(key, [made] if made is not None else [])
        marks = self._access.sessions.read(key, lambda state: list(state.checkpoints))
        place = next(mark for mark in reversed(marks) if mark.checkpoint == made)
        before = max((mark.seq for mark in marks if mark.seq < place.seq), default=0)
        return Checkpoint(place.checkpoint.id, place.seq, self.diff(key, before, place.seq), resume.tokens)

    def forget(self, session_id: str, *, tenant: str = LOCAL_TENANT) -> int:
        """Erase a session for good. Returns the number of events erased; 0 when there was none. Turns of it that wait
        for a store that does not answer are given up, also where this raises ``StoreUnavailable``."""
        key = self._access.key_of(session_id, tenant)
        self.service.turns.spool.drop(key, self.settings.drain_seconds)
        try:
            return self.log.forget(key)
        finally:  # also when it raises because traces are left in the files
            self.service.forget([key])

    def forget_idle(self, since: Moment, *, tenant: str = LOCAL_TENANT) -> list[str]:
        """Erase the tenant's sessions that nothing was added to since then, for good. Returns their ids."""
        last = as_seconds(since)
        idle = [info.key for info in self.log.sessions(tenant) if info.updated_at < last]
        if not idle:
            self.service.forget([])
            return []
        try:
            erased = self.log.erase(idle, unless_since=last)
        finally:  # what is not erased is read from the log anew
            self.service.forget(idle)
        return [key.id for key in erased]

    def redact_stored(self, session_id: str, *, tenant: str = LOCAL_TENANT) -> int:
        """Take out of a session what the rules of today find in what was kept before they were there. Returns the
        number of events changed. Other processes that have the session at hand notice with their next look at it."""
        key = self._access.existing_key(session_id, tenant)
        if self._redaction.ingress is None:
            raise ConfigError("redaction is switched off by the settings")
        door = self._redaction.ingress
        try:
            return self.log.rewrite(key, Retouch(door.message, door.text, door.document))
        finally:  # also when it raises because traces are left in the files
            self.service.drop(key)

    def refine(self, session_id: str, *, complete: Complete | None = None, tenant: str = LOCAL_TENANT) -> Refinement:
        """Let a model read the session and state how it stands; what it states is checked against the messages, and
        joined with the facts. ``complete`` asks the model, here in place of the usual one.

        Whatever goes wrong with the model changes nothing; ``outcome`` says it. Raises ``ConfigError`` when there is no
        model to ask.
        """
        return self.service.refinement.refine(self._access.existing_key(session_id, tenant), complete)

    async def arefine(
        self, session_id: str, *, complete: Complete | None = None, tenant: str = LOCAL_TENANT
    ) -> Refinement:
        """``refine`` from an event loop, on which an asynchronous ``complete`` is awaited."""
        key = await offload(partial(self._access.existing_key, session_id, tenant), CALLS)
        return await self.service.refinement.arefine(key, complete)

    # -- requests ------------------------------------------------------------------------------------------------

    def shorten(
        self,
        session_id: str,
        messages: Iterable[Message | Mapping[str, Any]],
        *,
        model: str = "",
        overhead: str = "",
        window: int | None = None,
        question: str = "",
        tenant: str = LOCAL_TENANT,
    ) -> Shortened | None:
        """How a chat of ``messages`` is to be shortened before a model sees it, for hosts without bytes to rewrite.

        ``None``: it goes out as it is. Else its old messages give way to a block, now and in every later call, until
        the window fills again; a turn that fills the window by itself loses its middle, a quarter of a window at a
        time. Where compression is switched on, results of tools say less before messages are left out. ``overhead`` is
        the text of what else fills the context, ``window`` the tokens that the model takes in, where the host knows
        better than ``model`` tells. What was left out and the newest message asks for comes back
        as a reminder behind that message; ``question`` is what will be asked next where the chat does not end with it.
        Reads the store when the chat could be too long; a cut records what is new. Raises ``RequestBlocked`` for what
        the guard refuses, where the settings let it.
        """
        return self.service.hosts.shorten(
            session_id, messages, model=model, overhead=overhead, window=window, question=question, tenant=tenant
        )

    def context(
        self,
        session_id: str,
        *,
        limit: int,
        reserved: int = 0,
        model: str = "",
        counter: MessageCounter | None = None,
        question: str = "",
        tenant: str = LOCAL_TENANT,
    ) -> Context:
        """What of a chat that is kept here goes to a model, within ``limit`` tokens less those ``reserved`` for others.

        All of it as long as it fits; then the newest messages word for word and a resume block for the older ones, the
        same in every call until the window fills again. A turn that is too long by itself loses its middle; what ends
        the chat stays even when it alone exceeds the limit. Where compression is switched on and the chat could be too
        long, results of tools say less before messages are left out. Counted by ``counter``, or as ``model`` counts.
        Archived messages are not in it. What was left out and the newest message asks for comes back as a reminder;
        ``question`` is what will be asked next where the chat does not end with it.
        """
        return self.service.hosts.context(
            session_id,
            limit=limit,
            reserved=reserved,
            model=model,
            counter=counter,
            question=question,
            tenant=tenant,
        )

    # -- reading ---------------------------------------------------------------------------------------------

    def graph(
        self,
        session_id: str,
        *,
        recorded_at: Moment | None = None,
        valid_at: Moment | None = None,
        tenant: str = LOCAL_TENANT,
    ) -> SessionGraph:
        """The session's graph; the caller may keep it.

        ``recorded_at``: as believed then. ``valid_at``: what was true then, as believed now or at ``recorded_at``.
        """
        key = self._access.key_of(session_id, tenant)
        if recorded_at is None:
            graph = self._access.view(key, lambda state: self._access.derivation.believed(state).copy())
        else:
            self._access.view(key, no_view)
            last = as_seconds(recorded_at)
            graph = fold([event for event in self.log.read(key) if event.recorded_at <= last]).graph
        return graph if valid_at is None else as_valid(graph, as_seconds(valid_at))

    def view(self, session_id: str, look: Callable[[SessionState], R], *, tenant: str = LOCAL_TENANT) -> R:
        """What ``look`` makes of the folded session, with all facts drawn. ``look`` gets a copy, and may call any
        method of the memory."""
        return look(self._access.view(self._access.key_of(session_id, tenant), SessionState.copy))

    def export(
        self,
        session_id: str,
        format: str = "html",
        *,
        recorded_at: Moment | None = None,
        valid_at: Moment | None = None,
        tenant: str = LOCAL_TENANT,
    ) -> str:
        """The session's graph as the text of a file: "html", "markdown", "d3", "canvas" or "mermaid".
        At most ``Settings.export_nodes_max`` facts, the most important ones. ``recorded_at`` and ``valid_at`` as for
        ``graph``. Raises ``CallerError`` for another format."""
        from tokenmizer_mw.graph.export.formats import format_named  # most of who remembers exports nothing

        write = format_named(format).write
        graph = self.graph(session_id, recorded_at=recorded_at, valid_at=valid_at, tenant=tenant)
        return write(graph, session_id, most=self.settings.export_nodes_max)

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
        budget that holds the fence but no fact gives an empty ``Resume``. Where ``Settings.project_separator`` is set,
        the rules, decisions and environment of the project's other sessions are offered behind the session's own.

        Raises ``BudgetTooSmall`` (it names the smallest budget), for an unknown level ``CallerError``, and for a
        session that is not known ``UnknownSession``, unless its project is.
        """
        key = self._access.key_of(session_id, tenant)
        return self._resumed(key, partial(build_resume, level=level, budget=budget, query=query), model)

    def resumes(self, session_id: str, *, model: str = "", tenant: str = LOCAL_TENANT) -> dict[str, Resume]:
        """The resume blocks of all levels, by their names, at little more than the cost of one. Raises as ``resume``
        does."""
        return self._resumed(self._access.key_of(session_id, tenant), build_resumes, model)

    def _resumed(self, key: SessionKey, build: Callable[..., R], model: str) -> R:
        others = self._siblings(key)
        counter = self._access.counters.of(model).counter
        written, end = self._access.read_messages_until(key)
        transcript = self._access.transcript(written)

        def view(state: SessionState) -> R:
            own = self._access.derivation.believed(state)
            return build(
                own,
                counter=counter,
                nonce=nonce_for(self._redaction.secret, key, state.next_checkpoint),
                turn=len(state.transcript),
                earlier=earlier_facts(own, others) if others else (),
                transcript=transcript,
                handover=state.handover,
            )

        return self._access.view(key, view, expected=not others, end=end)

    def _siblings(self, key: SessionKey) -> list[tuple[str, SessionGraph]]:
        """The other sessions of a project with their graphs, the most recently updated first; [] by default."""
        if not project_of(key.id, self.settings.project_separator):
            return []
        listed = (info.key for info in pages(self.log, key.tenant, self.settings.page_max))
        keys = siblings(key, listed, self.settings)
        believed = self._access.derivation.believed
        return [(other.id, self._access.sessions.read(other, believed)) for other in keys]

    def recall(
        self, session_id: str, query: str, *, budget: int = 200, model: str = "", tenant: str = LOCAL_TENANT
    ) -> Recall:
        """What the session says about ``query``, within ``budget`` tokens, old values marked as old."""
        return self._recalled(self._access.key_of(session_id, tenant), query, budget, model)

    def remind(
        self,
        session_id: str,
        question: str,
        *,
        budget: int | None = None,
        beside: Resume | None = None,
        before: int | None = None,
        model: str = "",
        tenant: str = LOCAL_TENANT,
    ) -> Recall:
        """What the session says about ``question`` that a context no longer holds: facts that its block does not state,
        and passages of messages that were left out, within ``budget`` tokens (by default those of the settings) and
        less than leaving them out saves. Fenced as data for a model, for the request with the question: it is on record
        with the next messages. Empty where nothing is relevant, and where nothing was left out.

        The block is that of the cut in force, or ``beside``, the block of a host that sends only the messages from
        number ``before`` on, or none of them.
        """
        key = self._access.key_of(session_id, tenant)
        cut = self._access.view(key, lambda state: state.cut if beside is None else _block_of(state, beside, before))
        budget = self.settings.reminder_tokens if budget is None else budget
        part = (
            self.service.reminders.answer(key, cut, question, budget, self._access.counters.of(model))
            if cut and budget
            else None
        )
        if cut is None or part is None:
            return Recall("", 0)
        self._access.carried.put(key, [Carried(cut.id, part)])
        return Recall(part.text, part.tokens, part.nodes, part.messages)

    def _recalled(self, key: SessionKey, query: str, budget: int, model: str) -> Recall:
        """What is recalled of the whole session."""
        counter = self._access.counters.of(model).counter
        graph = self._access.view(key, lambda state: self._access.derivation.believed(state).copy())
        meaning = None
        if self.service.embedding is not None:
            self.service.embedding.restore(key)
            self.service.embedding.embed_passages_later(key)
            meaning = self.service.embedding.embed_question(query, self.settings.drain_seconds)

        def found(told: HistoryMessages) -> Recall:
            return recall(
                graph,
                query,
                budget=budget,
                counter=counter,
                passages=told.passages(self._redaction.remove_blocks, self.settings.passages_max),
                meaning=meaning,
            )

        return self._access.messages.read(key, found)

    def why(self, session_id: str, text: str, *, tenant: str = LOCAL_TENANT) -> Why | None:
        """Why the fact that ``text`` names by its id, label or value, or else describes, is so; ``None`` when nothing
        matches."""
        graph = self.graph(session_id, tenant=tenant)
        node = described(graph, text)
        return why(graph, node) if node is not None else None

    def search(self, session_id: str, text: str, k: int = 5, *, tenant: str = LOCAL_TENANT) -> list[SearchHit]:
        """The ``k`` facts that share most with ``text``, best first, replaced ones included."""
        return search(self.graph(session_id, tenant=tenant), text, k=k)

    def diff(self, key: SessionKey, after_seq: int, upto_seq: int) -> Diff:
        """What changed in the graph between two places of the log."""
        events = self.log.read(key, upto=upto_seq)
        return diff(fold([event for event in events if event.seq <= after_seq]).graph, fold(events).graph)

    def loss_report(self, session_id: str, *, tenant: str = LOCAL_TENANT) -> LossReport:
        """What the last cut took out of the context and the resume block does not carry, and what of it reminders told
        since. Empty without a cut."""
        key = self._access.key_of(session_id, tenant)
        return self._access.view(
            key,
            lambda state: loss_report(self._access.derivation.believed(state), state.cut, state.recent_reminders),
        )

    def restore(self, session_id: str, turns: Iterable[int], *, tenant: str = LOCAL_TENANT) -> list[Message]:
        """The messages with these numbers, word for word, in order: what a loss report names can be put back."""
        wanted = set(turns)
        known = self._access.read_messages(self._access.existing_key(session_id, tenant))
        return [written.message for written in known if written.number in wanted]

    def messages(self, session_id: str, *, tenant: str = LOCAL_TENANT) -> list[Written]:
        """The messages of a session in the order in which they joined, those of ``add`` as they were written, without
        those that ``revise`` withdrew. [] for a session that has none, or is not known."""
        return self._access.read_messages(self._access.key_of(session_id, tenant))

    def sessions(
        self, *, after: Place | None = None, limit: int | None = None, tenant: str = LOCAL_TENANT
    ) -> list[SessionInfo]:
        """The tenant's sessions, the most recently updated first: those behind ``after``, the ``place`` of the last one
        seen, at most ``limit``."""
        return self.log.sessions(tenant, after=after, limit=limit)

    @property
    def log(self) -> EventLog:
        """The store itself, for exports and backups."""
        return self._access.log

    def savings(
        self,
        session_id: str | None = None,
        *,
        model: str | None = None,
        since: str = "",
        until: str = "",
        by: Collection[By] = (),
        tenant: str = LOCAL_TENANT,
    ) -> Savings:
        """What calls cost and what each stage saved of it, net of the provider's prompt cache, where the settings keep
        books: of one session or of all, also erased ones, of one model or of all, on the days (UTC, "2026-11-21") from
        ``since`` up to and including ``until``; "": without bound. ``by`` tells sums apart by "session", "model" and
        "day", too. Calls that just ended are in it after ``flush``. Raises ``CallerError`` for what is no day.
        """
        if session_id is not None:
            self._access.key_of(session_id, tenant)
        for day in filter(None, (since, until)):
            require_day(day)
        return self.service.books.savings(tenant, session_id, model=model, since=since, until=until, by=by)

    def spent(self, session_id: str, *, limit: int = 50, tenant: str = LOCAL_TENANT) -> list[Spent]:
        """What the newest calls of a session cost, and what each stage saved, the newest first; [] where none was
        booked."""
        return self.service.books.calls(self._access.key_of(session_id, tenant), limit)

    def counters(self) -> dict[str, int]:
        """How often what happened since this object was made: turns by outcome ("turn_complete"), "cut_made",
        "request_rewritten", and why calls passed untouched or less was remembered than was sent."""
        return self.service.counters.read()

    def session(self, session_id: str, *, tenant: str = LOCAL_TENANT) -> AbstractContextManager[None]:
        """Bind outgoing calls made inside ``with`` to a session, for calls that name none themselves.

        The binding follows tasks, not threads that are started by hand. Bindings nest; the innermost counts.
        """
        self._access.key_of(session_id, tenant)
        return bound(self.service, partial(NamedSession, session_id, tenant))

    def flush(self, seconds: float | None = None) -> bool:
        """Wait for the work in the background, at most ``seconds`` (default: the setting). True when all is done: also
        the turns in the spool are written."""
        return self.service.flush(seconds)

    def close(self) -> None:
        """Finish the work in the background within the time that the settings give, and release the store. Turns that
        could not be written by then are lost, and counted."""
        self.service.close()

    arecord = _off_the_loop(record)
    aadd = _off_the_loop(add)
    arevise = _off_the_loop(revise)
    acontext = _off_the_loop(context)
    aremember = _off_the_loop(remember)
    ainvalidate = _off_the_loop(invalidate)
    aarchive = _off_the_loop(archive)
    apin = _off_the_loop(pin)
    acorrect = _off_the_loop(correct)
    aundo = _off_the_loop(undo)
    aedits = _off_the_loop(edits)
    adate = _off_the_loop(date)
    acheckpoint = _off_the_loop(checkpoint)
    aforget = _off_the_loop(forget)
    aredact_stored = _off_the_loop(redact_stored)
    agraph = _off_the_loop(graph)
    aexport = _off_the_loop(export)
    aresume = _off_the_loop(resume)
    arecall = _off_the_loop(recall)
    aremind = _off_the_loop(remind)
    awhy = _off_the_loop(why)
    asearch = _off_the_loop(search)
    aloss_report = _off_the_loop(loss_report)
    arestore = _off_the_loop(restore)
    amessages = _off_the_loop(messages)
    ashorten = _off_the_loop(shorten)
    asessions = _off_the_loop(sessions)
    asavings = _off_the_loop(savings)
    aspent = _off_the_loop(spent)
    aflush = _off_the_loop(flush)
    aclose = _off_the_loop(close)


def _block_of(state: SessionState, resume: Resume, before: int | None) -> Checkpointed:
    """``resume`` as what stands for the messages before number ``before``, or for all."""
    anchor = len(state.transcript) + 1 if before is None else before
    id = f"resume-{len(state.transcript)}"
    return Checkpointed(id, resume.turn, resume.tokens, resume.text, "", anchor, 0, resume.node_ids)


def _node(state: SessionState, node_id: str) -> Node:
    node = state.graph.get(node_id)
    if node is None:
        raise UnknownNode(f"the session has no node {node_id[:60]!r}")
    return node
