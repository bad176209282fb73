"""``SessionMemory``, the main class of the package: it records the messages of chats, extracts facts from them, and
returns these facts as a graph (facts and their relations) or as a resume block (a short text for a model)."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from functools import partial, update_wrapper
from inspect import cleandoc
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from tokenmizer_mw.chat.content_redaction import EventRedaction
from tokenmizer_mw.context.assembly import Context, Shortened
from tokenmizer_mw.context.loss_report import LossReport, loss_report
from tokenmizer_mw.context.recall import Recall, recall
from tokenmizer_mw.context.resume import Resume, build_resume, build_resumes, check_budget, earlier_facts
from tokenmizer_mw.context.savings import Savings
from tokenmizer_mw.context.tokens import MessageCounter
from tokenmizer_mw.errors import CallerError, ConfigError, StoreUnavailable, UnknownSession, name_type
from tokenmizer_mw.graph.explanation import Why, why
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.search import SearchHit, find_fitting, find_open_work, former_nodes, search
from tokenmizer_mw.graph.views import Diff, as_valid, diff, without_withdrawn_words
from tokenmizer_mw.model.event import Checkpointed, Event, NodeEdited
from tokenmizer_mw.model.message import Message, Written, short_repr
from tokenmizer_mw.model.node import Node, Status
from tokenmizer_mw.model.session import LOCAL_TENANT, Moment, SessionKey, project_of, siblings
from tokenmizer_mw.model.usage import UsageRecord
from tokenmizer_mw.runtime.offload import CALLS, offload
from tokenmizer_mw.safety.fence import nonce_for
from tokenmizer_mw.session import RecordedEdit, SessionState, append_messages, fold, joining
from tokenmizer_mw.session.arguments import (
    Day,
    as_seconds,
    check_arguments,
    read_day,
    require_budget,
    require_functions,
    require_groups,
    require_key,
    require_numbers,
    require_place,
    require_written,
)
from tokenmizer_mw.session.edit_results import AddedFact, FactEdit, UndoneEdit
from tokenmizer_mw.session.manual_edits import (
    add_fact,
    can_be_completed,
    complete_fact,
    correct_fact,
    date_fact,
    edits_in_force,
    find_added_fact,
    find_fact,
    is_replaced,
    kind_of_text,
    mark_fact,
    newest_number,
    pin_fact,
    separate_fact,
    separate_reason,
    undo_edit,
)
from tokenmizer_mw.session.naming import NamedSession, bind_session
from tokenmizer_mw.session.reminder import CarriedReminder
from tokenmizer_mw.session.state import fold_until_message
from tokenmizer_mw.session.transcript_edits import Change, HistoryMessages, edit_transcript
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.address import without_password
from tokenmizer_mw.store.ledger import By
from tokenmizer_mw.store.log import EventLog, Place, SessionInfo, number_at, pages
from tokenmizer_mw.store.open import open_log
from tokenmizer_mw.wire.messages import history

if TYPE_CHECKING:
    from tokenmizer_mw.chat.service import SessionService
    from tokenmizer_mw.saving.cache.answers import Answers
    from tokenmizer_mw.saving.compress.neural import Shrink
    from tokenmizer_mw.session.refinement.client import Complete
    from tokenmizer_mw.session.refinement.plan import Refinement

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A named point in a session, to compare later states with.

    - ``id``: the name, unique in the session.
    - ``seq``: the number of its event in the session's log (the list of all stored events, numbered from 1).
    - ``diff``: what changed in the graph (the session's facts and relations) since the previous checkpoint, or since
      the start of the session.
    - ``tokens``: the token count of the resume block (the summary for a model) at this point.
    """

    id: str
    seq: int
    diff: Diff
    tokens: int

    def __repr__(self) -> str:
        return short_repr(self, f"{self.id}, event {self.seq}, {self.tokens} tokens, {self.diff!r}")


def _off_the_loop(
    method: Callable[Concatenate[SessionMemory, P], R],
) -> Callable[Concatenate[SessionMemory, P], Coroutine[Any, Any, R]]:
    async def run(self: SessionMemory, /, *args: P.args, **kwargs: P.kwargs) -> R:
        call: Callable[..., R] = getattr(self, method.__name__)  # with the check of its arguments
        return await offload(partial(call, *args, **kwargs), CALLS)

    update_wrapper(run, method)  # its signature is the method's, also for those who look at run time
    run.__name__, run.__qualname__ = f"a{method.__name__}", f"SessionMemory.a{method.__name__}"
    run.__doc__ = (
        f"``{method.__name__}`` in a worker thread of this package, for use on an event loop.\n\n"
        f"{cleandoc(method.__doc__ or '')}"
    )
    return run


@check_arguments(
    {"Change": "Callable", "Complete": "Callable", "MessageCounter": MessageCounter, "Resume": Resume},
    unchecked=(
        "Iterable[Message | Mapping[str, Any]]",  # read by ``history``
        "Iterable[Written]",
        "Iterable[int] | int",
        "str | SessionKey",
        "Place",
        "Day",
        "By | Collection[By]",
    ),
)
class SessionMemory:
    """The session memory of an application. It records the chats of sessions, extracts facts from them (decisions,
    rules, tasks and so on), and returns:

    - graphs: the facts of a session and their relations,
    - resume blocks: short texts with the most important facts, which replace old messages in a prompt,
    - recall: facts and quoted messages that answer a question.

    A *cut* replaces the old messages of a request by a resume block when the model's context window is full.

    Make one with ``SessionMemory.open``. Safe for threads and, with a store on disk, for processes. ``tenant``
    separates sessions: the same id in two tenants names two sessions. Middleware, transports and the proxy use the
    attribute ``service``. Most methods have an asynchronous form with the prefix ``a`` (``arecord``, ``aresume``),
    which runs the method in a worker thread.

    All methods raise ``InvalidSession`` for an unusable id or tenant, ``CallerError`` for an argument of a wrong type
    or a negative number, and ``StoreError`` when the store fails or after ``close``. Methods that read a session raise
    ``UnknownSession`` when it has no events, unless their text says otherwise. Times (``Moment``) are seconds since the
    epoch, or dates with a time, also as ISO 8601 text; one without a zone is local time.
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
        _require_settings(settings)
        require_functions(complete=complete, embed=embed)
        from tokenmizer_mw.chat.service import SessionService  # most of the package: whoever opens a memory needs it

        self.service: SessionService = SessionService(
            log, settings or Settings(), complete=complete, embed=embed, url=url
        )
        self._access = self.service.access
        self._redaction = self.service.redaction
        self._shown = without_password(url) or type(log).__name__

    @property
    def settings(self) -> Settings:
        """The settings that the memory was opened with; the defaults if it was opened without any."""
        return self.service.settings

    @property
    def answers(self) -> Answers | None:
        """The cache of model responses, for example to delete its entries; ``None`` when ``Settings.cache`` is off."""
        return self.service.answers

    @property
    def shrink(self) -> Shrink | None:
        """The function that shortens prose for the compression stage "neural", for example with a small model. It takes
        a text and returns it in fewer words. ``None``: that stage does nothing. Set it before the first request; later
        changes have no effect. Setting anything but a function or ``None`` raises ``ConfigError``."""
        return self.service.shrink

    @shrink.setter
    def shrink(self, shrink: Shrink | None) -> None:
        require_functions(shrink=shrink)
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
        """Open a memory on the store at ``url``.

        - ``url``: ``memory://``, ``sqlite:///relative.db``, ``sqlite:////absolute.db`` or
          ``postgresql://user@host:port/database``. ``settings``: ``None`` for the defaults.
        - ``complete``: function that sends messages to a model, for ``refine``; ``None``: the provider that the
          settings name, if any.
        - ``embed``: function that turns a list of texts into one vector (row) per text. The response cache uses it
          instead of ``Settings.cache_model``; recall and reminders use it instead of ``Settings.embeddings``.

        Raises ``ConfigError`` for an invalid address, and ``StoreError`` when the store cannot be opened. A ``with`` or
        ``async with`` block closes the memory at its end.
        """
        if not isinstance(url, str):
            raise ConfigError(f"a store's address is text, not {name_type(url)}")
        _require_settings(settings)
        require_functions(complete=complete, embed=embed)
        with ExitStack() as opened:  # closed again if one of the next steps fails
            log = open_log(url)
            opened.callback(log.close)
            log.secret()  # whoever opens gets the error: no chat runs yet that would go on without the store
            memory = cls(log, settings, complete=complete, embed=embed, url=url)
            opened.callback(memory.close)
            memory._load_rules()
            opened.pop_all()
        return memory

    def _load_rules(self) -> None:
        """Load the redaction rules, the extraction code and the sentence model of ``Settings.semantic`` (if one is set)
        now, so that the first request does not wait for them."""
        _ = self.service.redaction.redactor
        import tokenmizer_mw.extract.derive  # noqa: F401

        if self.settings.semantic is not None:
            from tokenmizer_mw.extract.score.classifier_findings import model_of

            model_of(self.settings)

    def __repr__(self) -> str:
        return short_repr(self, self._shown)

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
        """Add the messages of ``messages`` that the session does not have yet, and extract facts from them. A session
        that does not exist is created.

        Returns the number of new messages. Idempotent: resending the whole transcript adds nothing. System messages are
        left out, and secrets are redacted.

        - ``messages``: OpenAI- or Anthropic-shaped dicts, or ``Message`` objects, oldest first.
        - ``excerpt``: true if ``messages`` are consecutive messages from anywhere in the transcript, not all of it.
          They are not added if the session already has them in this order, or if the session was written with ``add``.
        - ``later``: true to return as soon as the messages are durable (written to the store), and extract their facts
          in the background. Methods that need the facts extract them first. False extracts them before the call
          returns, unless another thread is extracting facts of this session: then that thread does it, and the call
          does not wait for it.

        Raises ``InvalidMessage`` when a new message, or one of the last few before the new ones, is not a chat message;
        then nothing is added. If the store fails after the messages are stored, nothing is raised: their facts are
        extracted later.
        """
        key = self._access.key_of(session_id, tenant)
        spoken = history(messages).without_system().through(self._redaction.remove_echoes)
        if self._redaction.redactor is not None:
            spoken = spoken.through(self._redaction.redactor.message)
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
        """Extract the facts of stored messages that have none yet. If the store is unavailable, nothing is raised: the
        counter ``extraction_not_kept`` goes up, and the facts are extracted later."""
        try:
            self.service.extraction.extract(key)
        except StoreUnavailable:
            self.service.count("extraction_not_kept")

    def add(self, session_id: str, messages: Iterable[Written], *, tenant: str = LOCAL_TENANT) -> None:
        """Append messages to a session, all or none, even if it already has equal messages. For frameworks that keep
        their chat history in this memory.

        The messages are durable (written to the store) when the call returns; ``SessionMemory.messages`` returns them.
        Their facts are extracted in the background, or by the first method that needs them. Secrets are redacted in
        each message and in the original JSON text that is stored with it.

        ``messages``: ``Written`` objects (a message with the JSON text of its framework), oldest first; system messages
        are stored, too. An empty list does nothing. Raises ``InvalidMessage`` for anything else; then nothing is added.
        """
        key = self._access.key_of(session_id, tenant)
        joined = [self._redaction.redact_written(written) for written in require_written(messages)]
        self._access.record(key, lambda state: list(append_messages(state, joined)))
        if joined:
            self.service.extraction.schedule(key)

    def revise(self, session_id: str, change: Change, *, tenant: str = LOCAL_TENANT) -> None:
        """Replace the transcript of a session that was written with ``add``, all or nothing.

        ``change`` is called with the current messages, as ``SessionMemory.messages`` returns them, and returns the new
        list: messages to keep, with their numbers, and new messages with number 0. It gets ``[]`` for a session without
        messages. It may call any method of the memory. It is called again if another writer changed the session
        meanwhile. An error that it raises is passed on, and nothing changes then. If a message is new or has moved, it
        and all messages after it are withdrawn and added again with new numbers.

        Messages that ``change`` leaves out are withdrawn: ``SessionMemory.messages`` no longer returns them. The facts
        from the first withdrawn message on are extracted again without them, and manual edits made after it are lost.
        Withdrawn messages stay in the event log until ``forget``. Messages returned with ``archived`` set are no longer
        sent to the model; their facts stay. Raises ``InvalidMessage`` for anything in the list that is not a
        ``Written``.
        """
        key = self._access.key_of(session_id, tenant)

        def clean_change(history: Sequence[Written]) -> Sequence[Written]:
            changed = require_written(change(history))
            return [one if one.number else self._redaction.redact_written(one) for one in changed]

        def decide(state: SessionState) -> list[Event]:
            return edit_transcript(state, self.log.read(key, upto=state.seq), clean_change, self._access.derivation)

        self._access.propose(key, decide)
        self.service.extraction.schedule(key)

    def remember(
        self,
        session_id: str,
        text: str,
        kind: str | None = None,
        *,
        reason: str = "",
        create: bool = False,
        tenant: str = LOCAL_TENANT,
    ) -> AddedFact:
        """Add a fact by hand and return it. The addition counts as a manual edit, which ``undo`` can undo.

        The result is a ``Node`` with more fields: ``number`` of the edit, the facts that it ``replaced``, ``similar``
        facts that stay in force and that it may contradict, and ``text`` if the fact has other words than the text.

        - ``text``: one statement, such as "database: SQLite". The new fact replaces a known fact that has another value
          for the same thing ("PostgreSQL 16" replaces "PostgreSQL 15" and "SQLite"), and one that the text names after
          "instead of". A new choice keeps what else the replaced fact states: "PostgreSQL instead of SQLite" makes
          "Django with PostgreSQL" of "Django with SQLite". A fact that is already known and current is not added twice:
          it is returned, with the number of the edit that added it, 0 if the fact comes from the messages.
        - ``reason``: of the fact; without it, a choice has the reason that its text gives ("because of locks").
        - ``kind``: "rule", "choice" (also "decision"), "preference", "goal", "task" or "environment"; ``None``: "rule"
          or "preference" if the text is worded as one ("Never push to main"), else "choice".
        - ``create``: create the session if it has no events.

        Raises ``UnknownSession`` when the session has no events and ``create`` is false, and ``CallerError`` for a text
        that is empty or longer than 200 characters, and for another kind.
        """
        find_key = self._access.key_of if create else self._access.existing_key
        key = find_key(session_id, tenant)
        text, reason = self._redaction.redact_text(text), self._redaction.redact_text(reason)
        kind = kind_of_text(text) if kind is None else kind
        text, reason = separate_reason(text, kind, reason)
        self.service.extraction.extract(key)  # what was said before has its facts first

        def find_added(state: SessionState) -> AddedFact | None:
            found = find_added_fact(state, text, kind)
            return AddedFact.of(state, found, text) if found is not None else None

        node = self._access.sessions.update_and_view(
            key, partial(add_fact, text=text, kind=kind, reason=reason), find_added
        )
        if node is None:
            raise UnknownSession(f"session {session_id!r} was erased meanwhile")
        return node

    def invalidate(
        self, session_id: str, node_id: str, reason: str, *, never_true: bool = False, tenant: str = LOCAL_TENANT
    ) -> FactEdit:
        """Declare a fact wrong by hand. Resume blocks then list a decision or a task as rejected, so that no model
        proposes it again; they no longer state a fact of another type. What the fact had replaced is in force again
        (``restored``). Returns the fact before and after, and the number of the edit; 0 if the fact is already declared
        wrong.

        - ``node_id``: the fact's id, such as "decision-3"; its label or value; several of its words that no other fact
          has together; or a description most of whose words are the fact's. Words mean a fact in force (not replaced,
          rejected or archived); they mean another one only if none in force fits.
        - ``reason``: why the fact is wrong; it is recorded, and resume blocks state it. Secrets in it are redacted.
        - ``never_true``: withdraw the fact, because it never was true (misread, or nobody decided it). Then no block,
          reminder or recall shows it to a model; ``why`` and the list of edits still do, and ``undo`` brings it back.

        Raises ``UnknownNode``, whose message names the nearest facts, if no fact or more than one matches.
        """
        reason = self._redaction.redact_text(reason)
        mark = partial(mark_fact, status=Status.INVALIDATED, reason=reason, never_true=never_true)
        return self._edit(session_id, node_id, tenant, mark)

    def complete(self, session_id: str, node_id: str, reason: str = "", *, tenant: str = LOCAL_TENANT) -> FactEdit:
        """Record by hand that a task is done, an error is fixed, or a goal is reached. Resume blocks then list the fact
        as done. Returns the fact before and after, and the number of the edit; 0 if the fact was done already or is no
        longer in force (was replaced, rejected or archived).

        - ``node_id``: the fact's id, such as "task-2"; its label or value; or words that fit no other fact as well.
          Words mean unfinished work; they mean another fact only if no unfinished work fits.
        - ``reason``: recorded with the edit; "" for none. Secrets in it are redacted.

        Raises ``UnknownNode`` if no fact or more than one matches, and ``CallerError`` if the fact is no task, error or
        goal.
        """
        complete = partial(complete_fact, reason=self._redaction.redact_text(reason))
        return self._edit(session_id, node_id, tenant, complete, partial(find_fact, prefers=can_be_completed))

    def archive(self, session_id: str, node_id: str, reason: str = "", *, tenant: str = LOCAL_TENANT) -> FactEdit:
        """Archive a fact by hand: it is still true, but resume blocks no longer show it. Returns the fact before and
        after, and the number of the edit; 0 if the fact is archived already.

        ``node_id``: the fact's id, such as "decision-3"; its label or value; or words that fit no other fact as well.
        ``reason``: recorded with the edit; "" for none. Raises ``UnknownNode`` if no fact or more than one matches.
        """
        mark = partial(mark_fact, status=Status.ARCHIVED, reason=self._redaction.redact_text(reason))
        return self._edit(session_id, node_id, tenant, mark)

    def separate(self, session_id: str, node_id: str, reason: str = "", *, tenant: str = LOCAL_TENANT) -> FactEdit:
        """Record by hand that one fact was wrongly taken for a replacement of another: the two have nothing to do with
        each other. The replaced fact is in force again, the fact that had replaced it stays in force, and nothing shows
        a replacement any more. ``undo`` restores the replacement.

        Returns the replaced fact before and after, and the number of the edit.

        - ``node_id``: the id of the replaced fact, such as "decision-3"; its label or value; or words that fit no other
          fact as well. Words mean a replaced fact; they mean another fact only if no replaced one fits.
        - ``reason``: recorded with the edit; "" for none.

        Raises ``UnknownNode`` if no fact or more than one matches, and ``CallerError`` for a fact that was not
        replaced; if that fact replaced others, the message names them.
        """
        separate = partial(separate_fact, reason=self._redaction.redact_text(reason))
        return self._edit(session_id, node_id, tenant, separate, partial(find_fact, prefers=is_replaced))

    def pin(self, session_id: str, node_id: str, pinned: bool = True, *, tenant: str = LOCAL_TENANT) -> FactEdit:
        """Pin a fact, or unpin it with ``pinned=False``. Resume blocks put pinned facts directly after the standing
        rules. A pinned fact is never pruned (removed because the session has more than ``Settings.nodes_max`` facts).
        Returns the fact before and after, and the number of the edit; 0 if nothing changed.

        ``node_id``: the fact's id, such as "decision-3"; its label or value; or words that fit no other fact as well.
        Raises ``UnknownNode`` if no fact or more than one matches.
        """
        return self._edit(session_id, node_id, tenant, partial(pin_fact, on=pinned))

    def correct(
        self,
        session_id: str,
        node_id: str,
        *,
        label: str | None = None,
        detail: str | None = None,
        reason: str = "",
        tenant: str = LOCAL_TENANT,
    ) -> FactEdit:
        """Change the wording of a fact by hand; its value is parsed again from the new label.

        The fact stays a value of the same thing (its ``slot``, such as "database"), unless the new label says that it
        is a value of something else ("queue: Kafka"); the result's ``effects`` and ``str`` say so then.

        Returns the fact before and after, and the number of the edit; 0 if nothing changed. ``str`` of the result shows
        the new wording and the old one.

        - ``node_id``: the fact's id, such as "decision-3"; its label or value; or words that fit no other fact as well.
        - ``label``: the new statement, such as "database: PostgreSQL"; ``detail``: the new explanation, such as the
          reason of a decision. ``None`` leaves one as it is.
        - ``reason``: why the wording is changed, for the list of edits; "" for none.

        Raises ``UnknownNode`` if no fact or more than one matches, and ``CallerError`` for a label that is empty or
        longer than 200 characters, if ``label`` and ``detail`` are both ``None``, or when another fact in force is
        already the value of the thing that the new label names.
        """
        redact = self._redaction.redact_text
        label, detail = (text if text is None else redact(text) for text in (label, detail))
        change = partial(correct_fact, label=label, detail=detail, reason=redact(reason))
        return self._edit(session_id, node_id, tenant, change)

    def _edit(
        self,
        session_id: str,
        node_id: str,
        tenant: str,
        change: Callable[[SessionState, Node], list[Event]],
        find: Callable[[SessionState, str], Node] = find_fact,
    ) -> FactEdit:
        """Find the fact that ``node_id`` names with ``find``, append the events that ``change`` returns for it, and
        return the edit. Raises ``UnknownSession``, and what ``find`` and ``change`` raise."""
        key = self._access.existing_key(session_id, tenant)
        self._extract_now(key)  # what was said before has its facts first
        fact: Node | None = None
        number = 0
        past: set[str] = set()

        def decide(state: SessionState) -> list[Event]:
            nonlocal fact, number, past
            fact = find(state, node_id)
            past = _ids_not_in_force(state)
            events = change(state, fact)
            number = next((event.number for event in events if isinstance(event, NodeEdited)), 0)
            return events

        def view(state: SessionState) -> tuple[Node | None, tuple[Node, ...]]:
            after = state.graph.get(fact.id) if fact is not None else None
            return after, tuple(_restored_nodes(state.graph, past, besides=after))

        after, restored = self._access.sessions.update_and_view(key, decide, view)
        if fact is None or after is None:
            raise UnknownSession(f"session {session_id!r} was erased meanwhile")
        return FactEdit(number, fact, after, restored)

    def undo(self, session_id: str, number: int | None = None, *, tenant: str = LOCAL_TENANT) -> UndoneEdit:
        """Undo a manual edit of the session's facts. Returns the fact before and after, the number of the edit that was
        ``undone``, the ``number`` of the undo, and the facts that are in force again (``restored``).

        ``number``: the edit's number; ``None``: the newest edit that is not undone and is not an undo. The undo is
        recorded as a manual edit with a number of its own; it can be undone by that number. Undoing an addition
        archives the added fact and restores the fact that it replaced.

        Raises ``CallerError``, whose message gives the reason, when there is no such edit or it cannot be undone, for
        example because the same fact was changed later.
        """
        key = self._access.existing_key(session_id, tenant)
        fact: Node | None = None
        undone = back = 0
        past: set[str] = set()

        def decide(state: SessionState) -> list[Event]:
            nonlocal fact, undone, back, past
            undone = newest_number(list(state.edits.values())) if number is None else number
            events = undo_edit(state, undone)
            fact = state.graph.get(state.edits[undone].edit.id)
            back = next(event.number for event in events if isinstance(event, NodeEdited))
            past = _ids_not_in_force(state)
            return events

        graph = self._access.sessions.update_and_view(key, decide, lambda state: state.graph.copy())
        if fact is None or (after := graph.get(fact.id)) is None:
            raise UnknownSession(f"session {session_id!r} was erased meanwhile")
        return UndoneEdit(back, fact, after, tuple(_restored_nodes(graph, past, besides=after)), undone)

    def edits(self, session_id: str, *, tenant: str = LOCAL_TENANT) -> list[RecordedEdit]:
        """Return the changes of a session's facts by hand (``remember``, ``invalidate``, ``undo`` and so on), oldest
        first; ``[]`` if there are none. ``to_dict`` of one returns plain values for JSON."""
        return self.view(session_id, lambda state: list(state.edits.values()), tenant=tenant)

    def date(
        self,
        session_id: str,
        node_id: str,
        *,
        valid_from: Moment | None = None,
        valid_until: Moment | None = None,
        tenant: str = LOCAL_TENANT,
    ) -> FactEdit:
        """Set the period in which a fact is valid (true in the real world) by hand. Both ends are set: ``None`` removes
        an earlier date. Returns the fact before and after, and the number of the edit; 0 if nothing changed.

        - ``node_id``: the fact's id, such as "decision-3"; its label or value; or words that fit no other fact as well.
        - ``valid_from``: start; ``None``: the time at which the fact was recorded.
        - ``valid_until``: end; ``None``: the time at which the fact was replaced, if it was.

        ``edits`` lists the change, and ``undo`` restores the earlier dates. Raises ``UnknownNode`` if no fact or more
        than one matches, and ``CallerError`` when the end is before the start, or a time is infinite.
        """
        start, end = (None if moment is None else as_seconds(moment) for moment in (valid_from, valid_until))
        if not all(math.isfinite(time) for time in (start, end) if time is not None):
            raise CallerError("times are finite numbers of seconds")
        if start is not None and end is not None and end < start:
            raise CallerError("a fact cannot end before it begins")
        return self._edit(session_id, node_id, tenant, partial(date_fact, start=start, end=end))

    def checkpoint(self, session_id: str, *, tenant: str = LOCAL_TENANT) -> Checkpoint:
        """Add a checkpoint (a named point) to the session and return it. Its ``diff`` lists what changed since the
        previous checkpoint, or since the start of the session.

        The name is chosen here: "checkpoint-1", "checkpoint-2" and so on, numbered together with the checkpoints of
        cuts and compactions. Raises ``UnknownSession`` if the session has no events.
        """
        key = self._access.existing_key(session_id, tenant)
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
        """Erase a session permanently and return how many events it had; 0 if it did not exist.

        Messages of the session that are queued for writing are dropped, even when this raises ``StoreUnavailable``.
        That error can also mean that the session is erased and copies of it are left in the store's files; its message
        says so. Backups are not changed.
        """
        key = self._access.key_of(session_id, tenant)
        self.service.turns.spool.drop(key, self.settings.drain_seconds)
        try:
            return self.log.forget(key)
        finally:  # also when it raises because traces are left in the files
            self.service.forget([key])

    def forget_idle(self, since: Moment, *, tenant: str = LOCAL_TENANT) -> list[str]:
        """Erase permanently the tenant's sessions whose newest event is older than ``since``. Returns their ids; ``[]``
        if there are none.

        Raises ``StoreUnavailable`` if the store fails. That error can also mean that the sessions are erased and copies
        of them are left in the store's files; its message says so.
        """
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
        """Redact secrets in the stored events of a session with the current redaction rules, for example after adding a
        rule.

        Returns the number of events changed, 0 if none contained a secret. Other processes see the change when they
        next read the session. Raises ``ConfigError`` when redaction is off, and ``StoreUnavailable`` if the store
        fails; that error can also mean that the events are changed and old copies are left in the store's files.
        """
        key = self._access.existing_key(session_id, tenant)
        if self._redaction.redactor is None:
            raise ConfigError("redaction is switched off by the settings")
        redactor = self._redaction.redactor
        try:
            return self.log.rewrite(key, EventRedaction(redactor.message, redactor.text, redactor.document))
        finally:  # also when it raises because traces are left in the files
            self.service.drop(key)

    def refine(self, session_id: str, *, complete: Complete | None = None, tenant: str = LOCAL_TENANT) -> Refinement:
        """Refine the facts of a session with a model: the model lists facts, each one is checked against the messages,
        and the result is merged with the known facts. Blocks until the model has answered.

        ``complete``: function that asks the model; ``None``: the function or the provider that this memory was opened
        with. If the model fails, nothing changes and nothing is raised; ``Refinement.outcome`` of the result gives the
        reason. Raises ``ConfigError`` when no model is configured.
        """
        return self.service.refinement.refine(self._access.existing_key(session_id, tenant), complete)

    async def arefine(
        self, session_id: str, *, complete: Complete | None = None, tenant: str = LOCAL_TENANT
    ) -> Refinement:
        """Refine the facts of a session with a model, without blocking the event loop: the model lists facts, each one
        is checked against the messages, and the result is merged with the known facts.

        ``complete``: function that asks the model; it is called in a worker thread, and if it returns an awaitable,
        that is awaited on the calling loop. ``None``: the function or the provider that this memory was opened with. If
        the model fails, nothing changes and nothing is raised; ``Refinement.outcome`` of the result gives the reason.
        Raises ``ConfigError`` when no model is configured.
        """
        require_functions(complete=complete)
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
        reserved: int = 0,
        question: str = "",
        tenant: str = LOCAL_TENANT,
    ) -> Shortened | None:
        """Decide how a chat is shortened before it is sent to a model. For frameworks that have message objects instead
        of HTTP bodies.

        Returns ``None`` when the chat is sent as it is: while it has, with ``overhead`` and ``reserved``, at most the
        share ``Settings.cut_at`` of the window (with ``Settings.cut`` "economy", until a cut saves money). Otherwise a
        resume block replaces the old messages; later calls get the same block until the window is full again. If a
        single turn (a user message and everything that answers it) fills the window, its middle is left out, a quarter
        of the window at a time. If compression is on, tool results are shortened before messages are left out. Left-out
        content that the newest message asks about is added after that message as a reminder.

        - ``messages``: the whole chat, oldest first.
        - ``overhead``: other text in the request, such as tool definitions, to be counted.
        - ``window``: the model's context window in tokens; ``None`` derives it from ``model`` and the settings.
        - ``reserved``: tokens of the window that are needed for something else.
        - ``question``: what will be asked next, if the chat does not end with it.

        Reads the store when the chat may be too long. If it makes a cut, it also records the new messages. The session
        need not exist. Raises ``InvalidMessage`` for a message that is not a chat message, ``ConfigError`` for a
        ``window`` of 0, and ``RequestBlocked`` when the prompt-injection guard refuses the request (``Settings.guard``
        is "block").
        """
        return self.service.hosts.shorten(
            session_id,
            messages,
            model=model,
            overhead=overhead,
            window=window,
            reserved=reserved,
            question=question,
            tenant=tenant,
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
        """Select which part of a chat that was stored with ``add`` to send to a model, within ``limit - reserved``
        tokens.

        Returns the whole chat while it has, with ``reserved``, at most the share ``Settings.cut_at`` of ``limit`` (with
        ``Settings.cut`` "economy", until a cut saves money). After that it returns the newest messages unchanged, and a
        resume block in place of the older ones; later calls get the same block until the window is full again. If a
        single turn (a user message and everything that answers it) is too long, its middle is left out. The last
        message stays even if it alone exceeds the limit. Messages that ``revise`` archived are left out. If the setting
        ``compress`` switches on compression and the chat may be too long, tool results are shortened before messages
        are left out. Left-out content that the newest message asks about is returned as a reminder.

        - ``limit``: the model's context window in tokens; ``reserved``: tokens of it that are needed for something
          else.
        - ``counter``: counts tokens; ``None``: the counter for ``model``.
        - ``question``: what will be asked next, if the chat does not end with it.

        Returns an empty ``Context`` for an unknown session. Raises ``ConfigError`` for a ``limit`` of 0. The
        prompt-injection guard refuses nothing here.
        """
        return self.service.hosts.context(
            session_id, limit=limit, reserved=reserved, model=model, counter=counter, question=question, tenant=tenant
        )

    # -- reading ---------------------------------------------------------------------------------------------

    def graph(
        self,
        session_id: str,
        *,
        message: int | None = None,
        recorded_at: Moment | None = None,
        valid_at: Moment | None = None,
        tenant: str = LOCAL_TENANT,
    ) -> SessionGraph:
        """Return a copy of the session's graph: its facts and their relations.

        - ``message``: return the facts as they were after the message with this number (the first one is 1), with the
          changes by hand that were made before the next message; ``None``: as they are now.
        - ``recorded_at``: return the facts of the messages that were recorded at this time; ``None``: now. The graph is
          empty for a time before the session began.
        - ``valid_at``: return only facts that were true at this time, as known after ``message`` or at ``recorded_at``;
          ``None``: all facts.

        Raises ``CallerError`` for ``message`` together with ``recorded_at``, and when the session has no such message.
        """
        key = self._access.key_of(session_id, tenant)
        if message is not None and recorded_at is not None:
            raise CallerError("pass message or recorded_at, not both")
        if message is None and recorded_at is None:
            graph = self._access.view(key, lambda state: self._access.derivation.derived_graph(state).copy())
        else:
            past = self._fold_until(key, message, recorded_at)
            graph = self._access.derivation.derived_graph(past).copy()
        return graph if valid_at is None else as_valid(graph, as_seconds(valid_at))

    def _fold_until(self, key: SessionKey, message: int | None, recorded_at: Moment | None) -> SessionState:
        """Return the state of a session as it was at ``recorded_at``, or, if that is ``None``, its facts as they were
        after message number ``message``. Raises ``CallerError`` if there is no such message."""
        end, count = self._access.view(key, lambda state: (state.seq, len(state.transcript)))
        if recorded_at is not None:
            return fold(self.log.read(key, upto=number_at(self.log, key, as_seconds(recorded_at), end)))
        if not message or message > count:
            known = f"it has messages 1 to {count}" if count else "nothing was said in it yet"
            raise CallerError(f"session {key.id!r} has no message {message}: {known}")
        return fold_until_message(self.log.read(key, upto=end), message)

    def view(self, session_id: str, look: Callable[[SessionState], R], *, tenant: str = LOCAL_TENANT) -> R:
        """Extract missing facts, call ``look`` with a copy of the session state, and return its result. ``look`` may
        call any method of the memory; an error that it raises is passed on."""
        return look(self._access.view(self._access.key_of(session_id, tenant), SessionState.copy))

    def export(
        self,
        session_id: str,
        format: str = "html",
        *,
        message: int | None = None,
        recorded_at: Moment | None = None,
        valid_at: Moment | None = None,
        tenant: str = LOCAL_TENANT,
    ) -> str:
        """Return the session's graph as the text of a file.

        - ``format``: "html" (a page that draws the graph), "markdown" (also "md"), "d3" (also "json"; nodes and links),
          "canvas" (JSON Canvas) or "mermaid" (also "mmd").
        - ``message``: export the facts as they were after the message with this number. ``recorded_at``: those of the
          messages recorded at this time. ``valid_at``: only facts that were true at this time. ``None``: no such limit.

        At most ``Settings.export_nodes_max`` facts are exported, the most important ones. Raises ``CallerError`` for
        another format, for ``message`` together with ``recorded_at``, and when the session has no such message.
        """
        from tokenmizer_mw.graph.export.formats import format_named  # most of who remembers exports nothing

        write = format_named(format).write
        graph = self.graph(session_id, message=message, recorded_at=recorded_at, valid_at=valid_at, tenant=tenant)
        return write(graph, session_id, most=self.settings.export_nodes_max)

    def resume(
        self,
        session_id: str,
        level: str = "standard",
        *,
        budget: int | None = None,
        query: str | None = None,
        before: int | None = None,
        model: str = "",
        tenant: str = LOCAL_TENANT,
    ) -> Resume:
        """Build the resume block of a session: a short text with its most important facts, for a model. It is always as
        of now; for an earlier state use ``graph`` with ``message`` or ``recorded_at``.

        - ``level``: "critical" (100 tokens), "standard" (300) or "full" (600). Blocks in chats take
          ``Settings.block_tokens`` instead.
        - ``budget``: maximum number of tokens, instead of that of ``level``; at least 64.
        - ``query``: facts that match it come directly after the standing rules, which come first.
        - ``before``: number of the first message that the model gets in addition to the block. The block does not quote
          that message and later ones, and leaves out their facts, except goals, rules, and facts added or changed by
          hand. ``None``: the model gets the block alone.
        - ``model``: count tokens as this model does.

        If ``Settings.project_separator`` is set, rules, decisions and environment of the project's other sessions
        follow the session's own facts. If the session has no facts yet, open work of the other sessions follows, too.
        Returns an empty ``Resume`` when nothing is known or no fact fits.

        Raises ``BudgetTooSmall``, which names the smallest budget, ``CallerError`` for an unknown level, and
        ``UnknownSession`` when neither the session nor its project has events.
        """
        check_budget(budget)
        key = self._access.key_of(session_id, tenant)
        build = partial(build_resume, level=level, budget=budget, query=query)
        return self._build_from_session(key, build if before is None else partial(_build_before, before, build), model)

    def resumes(self, session_id: str, *, model: str = "", tenant: str = LOCAL_TENANT) -> dict[str, Resume]:
        """Build the resume blocks (short texts with the session's most important facts) of all levels: a dict with the
        keys "critical" (at most 100 tokens), "standard" (300) and "full" (600). This takes little more time than
        building one with ``resume``.

        ``model``: count tokens as this model does. A block is empty (its text is "") when nothing is known. Raises
        ``UnknownSession`` when neither the session nor its project has events.
        """
        return self._build_from_session(self._access.key_of(session_id, tenant), build_resumes, model)

    def _build_from_session(self, key: SessionKey, build: Callable[..., R], model: str) -> R:
        others = self._siblings(key)
        counter = self._access.counters.of(model).counter
        written, end = self._access.read_messages_until(key)
        transcript = self._access.transcript(written)
        explicit = self.settings.block_facts == "explicit"

        def view(state: SessionState) -> R:
            own = self._access.derivation.derived_graph(state)
            return build(
                own,
                counter=counter,
                nonce=nonce_for(self._redaction.secret, key, state.next_checkpoint),
                turn=len(state.transcript),
                earlier=earlier_facts(own, others, explicit=explicit) if others else (),
                transcript=transcript,
                handover=state.handover,
                edits=edits_in_force([one.edit for one in state.edits.values()]),
                explicit=explicit,
            )

        return self._access.view(key, view, expected=not others, end=end)

    def _siblings(self, key: SessionKey) -> list[tuple[str, SessionGraph]]:
        """Return id and graph of the other sessions of the project to which session ``key`` belongs, the one with the
        newest message first, at most ``Settings.project_sessions``. ``[]`` if ``Settings.project_separator`` is "" (the
        default) or does not occur in the session's id."""
        separator = self.settings.project_separator
        if not project_of(key.id, separator):
            return []
        listed = (info.key for info in pages(self.log, key.tenant, self.settings.page_max))
        keys = siblings(key, listed, separator, self.settings.project_sessions)
        derive = self._access.derivation.derived_graph

        def view(state: SessionState) -> tuple[float, SessionGraph]:
            return state.messaged_at or state.recorded_at, derive(state)

        found = [(other.id, *self._access.sessions.read(other, view)) for other in keys]
        found.sort(key=lambda one: -one[1])  # a manual edit updates a session, but does not go on with it
        return [(id, graph) for id, _, graph in found]

    def recall(
        self, session_id: str, query: str, *, budget: int = 200, model: str = "", tenant: str = LOCAL_TENANT
    ) -> Recall:
        """Return what the session says about ``query``: facts and quoted messages, within ``budget`` tokens.

        Values that were replaced later are marked as old. ``model``: count tokens as this model does. The result is
        empty (its text is "") when nothing matches or fits. Raises ``CallerError`` for an empty query.

        With a sentence model (``Settings.embeddings``), waits for the query's vector, for at most
        ``Settings.drain_seconds``.
        """
        require_budget(budget)
        _require_words(query)
        key = self._access.key_of(session_id, tenant)
        counter = self._access.counters.of(model).counter
        graph, edits = self._access.view(
            key,
            lambda state: (
                self._access.derivation.derived_graph(state).copy(),
                edits_in_force([one.edit for one in state.edits.values()]),
            ),
        )
        meaning = None
        if self.service.embedding is not None:
            self.service.embedding.restore(key)
            self.service.embedding.embed_passages_later(key)
            meaning = self.service.embedding.embed_question(query, self.settings.drain_seconds)

        def search_messages(stored: HistoryMessages) -> Recall:
            found = recall(
                graph,
                query,
                budget=budget,
                counter=counter,
                passages=stored.passages(self._redaction.remove_blocks, self.settings.passages_max),
                meaning=meaning,
                edits=edits,
            )
            return replace(found, times=_times_of(stored, found.turns))

        return self._access.messages.read(key, search_messages)

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
        """Build a reminder: text about ``question`` from messages that a cut removed from the model's context.

        It contains facts that the resume block does not state, and passages of the removed messages. Delimiters mark it
        as data for the model. Send it with the question. The reminder is recorded together with the session's next
        messages.

        - ``budget``: tokens at most; ``None``: ``Settings.reminder_tokens``. A reminder never takes more tokens than
          the cut saves.
        - ``beside``: the resume block in your request; ``None``: the block of the current cut.
        - ``before``: used with ``beside``: the number of the first message in your request (the session's first message
          is 1); ``None``: the request contains no messages.
        - ``model``: count tokens as this model does.

        Returns an empty ``Recall`` (its text is "") when nothing is relevant or fits, the question is empty, or no
        message was removed.
        """
        key = self._access.key_of(session_id, tenant)
        cut = self._access.view(key, lambda state: state.cut if beside is None else _block_of(state, beside, before))
        budget = self.settings.reminder_tokens if budget is None else budget
        require_budget(budget)
        part = (
            self.service.reminders.answer(key, cut, question, budget, self._access.counters.of(model))
            if cut and budget
            else None
        )
        if cut is None or part is None:
            return Recall("", 0)
        self._access.carried.put(key, [CarriedReminder(cut.id, part)])
        return Recall(part.text, part.tokens, part.nodes, part.messages)

    def why(self, session_id: str, text: str, *, tenant: str = LOCAL_TENANT) -> Why | None:
        """Explain a fact: its reason, its source and when it was said, manual corrections, the facts that it replaced
        and those that replaced it. Returns ``None`` when nothing matches.

        ``text``: the fact's id, label or value (current, or before a correction), or a description of the fact. If it
        fits other facts about equally well, ``Why.others`` has them. Raises ``CallerError`` for an empty text.
        """
        _require_words(text)
        graph = without_withdrawn_words(self.graph(session_id, tenant=tenant))
        edits = self._edits_in_force(session_id, tenant)
        fitting = find_fitting(graph, text, former_nodes(graph, edits))
        if not fitting:
            return None
        found = why(graph, fitting[0], edits, fitting[1:])
        key = self._access.key_of(session_id, tenant)
        return self._access.messages.read(key, lambda stored: replace(found, times=_times_of(stored, found.numbers)))

    def _edits_in_force(self, session_id: str, tenant: str) -> tuple[NodeEdited, ...]:
        return edits_in_force([one.edit for one in self.edits(session_id, tenant=tenant)])

    def search(
        self, session_id: str, text: str, limit: int = 5, *, k: int | None = None, tenant: str = LOCAL_TENANT
    ) -> list[SearchHit]:
        """Return at most ``limit`` facts that match ``text``, best first. ``k``: the former name of ``limit``, used in
        its place unless it is ``None``.

        Returns ``[]`` if no fact matches. Replaced facts are included. Facts that were corrected by hand are also found
        by their earlier wording. For a text that asks for open work ("open tasks") only open work is returned, if there
        is any; otherwise the text is searched like any other. Raises ``CallerError`` for an empty text.
        """
        _require_words(text)
        limit = limit if k is None else k
        graph = without_withdrawn_words(self.graph(session_id, tenant=tenant))
        if work := find_open_work(graph, text):
            return [SearchHit(node, 1 / place) for place, node in enumerate(work[:limit], 1)]
        return search(graph, text, k=limit, former=former_nodes(graph, self._edits_in_force(session_id, tenant)))

    def diff(self, session: str | SessionKey, after_seq: int, upto_seq: int, *, tenant: str = LOCAL_TENANT) -> Diff:
        """Return what changed in the graph between event ``after_seq`` (exclusive) and event ``upto_seq`` (inclusive)
        of the log; nothing if there are no events between them. ``upto_seq`` may be greater than the last number.

        ``session``: its id; or its key, which names the tenant, too, and for which an unknown session is an empty one
        instead of an error.
        """
        key = self._access.existing_key(session, tenant) if isinstance(session, str) else require_key(session)
        events = self.log.read(key, upto=upto_seq)
        start = bisect_right(events, after_seq, key=attrgetter("seq"))
        state = fold(events[:start])
        before = state.graph.copy()
        return diff(before, fold(events[start:], state).graph)

    def loss_report(self, session_id: str, *, tenant: str = LOCAL_TENANT) -> LossReport:
        """Report which facts the last cut removed from the model's context: those that neither its resume block nor a
        message that it kept, or a newer one, states. Also reports which of these facts later reminders stated. The
        report is empty if there was no cut."""
        key = self._access.key_of(session_id, tenant)
        return self._access.view(
            key,
            lambda state: loss_report(self._access.derivation.derived_graph(state), state.cut, state.recent_reminders),
        )

    def restore(self, session_id: str, turns: Iterable[int] | int, *, tenant: str = LOCAL_TENANT) -> list[Message]:
        """Return the messages with the numbers ``turns`` (the session's first message is 1), for example those that a
        loss report names. They are returned as they were recorded (secrets redacted), in the session's order. Unknown
        numbers are ignored."""
        wanted = require_numbers(turns)
        known = self._access.read_messages(self._access.existing_key(session_id, tenant))
        return [written.message for written in known if written.number in wanted]

    def messages(self, session_id: str, *, tenant: str = LOCAL_TENANT) -> list[Written]:
        """Return the messages of a session, oldest first, archived ones included, without those withdrawn by
        ``revise``.

        Messages stored with ``add`` are returned as they were written (secrets redacted). Returns ``[]`` for an unknown
        session.
        """
        return self._access.read_messages(self._access.key_of(session_id, tenant))

    def sessions(
        self, *, after: Place | None = None, limit: int | None = None, tenant: str = LOCAL_TENANT
    ) -> list[SessionInfo]:
        """List the tenant's sessions, the most recently updated first; ``[]`` if there are none.

        - ``after``: the ``place`` of the last session of the previous page; ``None`` starts with the first session.
        - ``limit``: maximum number of sessions; ``None``: all.
        """
        require_place(after)
        return self.log.sessions(tenant, after=after, limit=limit)

    @property
    def log(self) -> EventLog:
        """The event log of the store: the stored events of all sessions, for exports and backups."""
        return self._access.log

    def savings(
        self,
        session_id: str | None = None,
        *,
        model: str | None = None,
        since: Day | None = None,
        until: Day | None = None,
        by: By | Collection[By] = (),
        tenant: str = LOCAL_TENANT,
    ) -> Savings:
        """Return what model calls cost, and what each stage (cut, compression, cache and so on) saved, net of the
        provider's prompt cache. Calls are recorded only with ``Settings.savings``; the result has no rows if none was.

        - ``session_id``, ``model``: count only calls of this session or model; ``None``: all, including erased
          sessions.
        - ``since``, ``until``: first and last day, in UTC, such as "2026-11-21"; a time stands for its day in UTC;
          ``None``: no limit.
        - ``by``: group the sums by any of "session", "model" and "day".

        Calls are recorded in the background; call ``flush`` first to include those that just ended. Raises
        ``CallerError`` for an invalid day or group.
        """
        if session_id is not None:
            self._access.key_of(session_id, tenant)
        first, last = ("" if day is None or day == "" else read_day(day) for day in (since, until))
        groups = require_groups(by)
        return self.service.usage.savings(tenant, session_id, model=model, since=first, until=last, by=groups)

    def list_usage(self, session_id: str, *, limit: int = 50, tenant: str = LOCAL_TENANT) -> list[UsageRecord]:
        """Return cost and savings of the newest ``limit`` model calls of a session, newest first; ``[]`` if none was
        recorded, also for an unknown session."""
        return self.service.usage.calls(self._access.key_of(session_id, tenant), limit)

    def counters(self) -> dict[str, int]:
        """Return the event counters since this object was created, by name: how often a call ended in which way
        ("turn_complete"), how often a cut was made ("cut_made") and a request changed ("request_rewritten"), and why
        calls passed unchanged or were not recorded in full ("no_session")."""
        return self.service.counters.read()

    def session(self, session_id: str, *, tenant: str = LOCAL_TENANT) -> AbstractContextManager[None]:
        """Set the session context: model calls inside the ``with`` block belong to this session, unless a call names
        its own. The session need not exist. Raises ``InvalidSession`` at once for an unusable id.

        The context applies to tasks started in the block, but not to threads that you start yourself. If contexts are
        nested, the innermost applies.
        """
        self._access.key_of(session_id, tenant)
        return bind_session(self.service, partial(NamedSession, session_id, tenant))

    def flush(self, seconds: float | None = None) -> bool:
        """Wait until background work is done and queued messages are written, for at most ``seconds`` (``None``:
        ``Settings.drain_seconds``). Returns whether everything was done in time.

        A message that the store refuses for good is dropped and counted (``turn_lost``). The result may be true
        nevertheless.
        """
        return self.service.flush(seconds)

    def close(self) -> None:
        """Finish background work, for at most ``Settings.drain_seconds``, and close the store. Messages that could not
        be written in that time are lost and counted (``turn_lost``). Closing twice is harmless."""
        self.service.close()

    # The asynchronous siblings, a row each; ``arefine`` awaits a model and stands above.
    arecord = _off_the_loop(record)
    aadd = _off_the_loop(add)
    arevise = _off_the_loop(revise)
    acontext = _off_the_loop(context)
    aremember = _off_the_loop(remember)
    ainvalidate = _off_the_loop(invalidate)
    acomplete = _off_the_loop(complete)
    aarchive = _off_the_loop(archive)
    aseparate = _off_the_loop(separate)
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
    alist_usage = _off_the_loop(list_usage)
    aflush = _off_the_loop(flush)
    aclose = _off_the_loop(close)


def _require_settings(settings: object) -> None:
    if settings is not None and not isinstance(settings, Settings):
        how = "Settings(block_tokens=300) or Settings.load('settings.yaml')"
        raise ConfigError(f"settings is a Settings object, such as {how}, not {name_type(settings)}")


def _require_words(text: str) -> None:
    if not text.strip():
        raise CallerError("the text is empty: pass words, such as a fact's label or value, or a question")


def _ids_not_in_force(state: SessionState) -> set[str]:
    return {node.id for node in state.graph.nodes() if not node.current}


def _restored_nodes(graph: SessionGraph, past: set[str], *, besides: Node | None) -> Iterator[Node]:
    """Iterate over the facts that a manual edit brought back into force. ``past``: ids of the facts that were not in
    force before the edit. ``besides``: the edited fact, which is left out."""
    changed = besides.id if besides is not None else ""
    return (node for node in graph.nodes() if node.current and node.id in past and node.id != changed)


def _times_of(stored: HistoryMessages, numbers: Iterable[int]) -> dict[int, float]:
    """Return when the messages with these numbers were recorded, in seconds since the epoch, by number. Numbers of
    messages that are not in ``stored`` are left out."""
    return {number: stored.messages[number].recorded_at for number in numbers if number in stored.messages}


def _build_before(before: int, build: Callable[..., Resume], graph: SessionGraph, **parts: Any) -> Resume:
    """Build a block for a model that also gets the messages from number ``before`` on."""
    replaced = [(number, message) for number, message in parts["transcript"] if number < before]
    beside = frozenset(range(before, parts["turn"] + 1))
    return build(graph, **{**parts, "transcript": replaced}, beside=beside)


def _block_of(state: SessionState, resume: Resume, before: int | None) -> Checkpointed:
    """Return ``resume`` in the form of a cut that put it in place of the messages before number ``before`` (``None``:
    all messages)."""
    anchor = len(state.transcript) + 1 if before is None else before
    id = f"resume-{len(state.transcript)}"
    return Checkpointed(id, resume.turn, resume.tokens, resume.text, "", anchor, 0, resume.node_ids)
