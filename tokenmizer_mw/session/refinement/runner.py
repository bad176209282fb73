"""Run refinements: on request, or in a background thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial

from tokenmizer_mw.context.tokens import TokenCounter
from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.model.event import Event, Refined
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.model.usage import Completion
from tokenmizer_mw.runtime.background import BackgroundQueue
from tokenmizer_mw.runtime.forking import make_lock, renew_in_child
from tokenmizer_mw.runtime.installing import install_hint
from tokenmizer_mw.runtime.offload import CALLS, offload
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.session.log_cache import CachedSessions
from tokenmizer_mw.session.naming import NamedSession, bind_session
from tokenmizer_mw.session.refinement.client import (
    Allowance,
    Attempts,
    Complete,
    Due,
    LentModel,
    ModelAnswer,
    ModelLending,
    Portal,
    ask,
    ask_on_loop,
)
from tokenmizer_mw.session.refinement.plan import (
    REFINED,
    Refinement,
    RefinementPrompt,
    RefinementWork,
    is_always_due,
    is_due_before_cut,
    is_outdated,
)
from tokenmizer_mw.session.refinement.reply import SCHEMA, RefinementReply
from tokenmizer_mw.session.transcript_edits import read_standing
from tokenmizer_mw.store.log import EventLog


class RefinementRunner:
    """Refines sessions: asks a model and appends the events of its reply. Thread-safe.

    - ``owner``: the memory's service; its session contexts do not apply while the model is asked.
    - ``refining``: returns the ``RefinementWork`` of the memory; ``counter``: returns its token counter.
    - ``extract``: extracts the facts that a session still lacks.
    - ``count``: adds to a counter; ``record_usage``: adds the cost of replies to the usage accounting.
    - ``complete``: asks the model; ``None``: the provider that the settings name, if any.
    """

    def __init__(
        self,
        owner: object,
        refining: Callable[[], RefinementWork],
        log: EventLog,
        sessions: CachedSessions,
        *,
        extract: Callable[[SessionKey], None],
        count: Callable[[str, int], None],
        record_usage: Callable[[SessionKey, Sequence[Completion], int], None],
        counter: Callable[[], TokenCounter],
        background: BackgroundQueue,
        complete: Complete | None = None,
    ) -> None:
        self._owner = owner
        self._get_refining = refining
        self._log = log
        self._sessions = sessions
        self._extract = extract
        self._count = count
        self._record_usage = record_usage
        self._counter = counter
        self._background = background
        self._complete = complete
        self._busy: set[SessionKey] = set()
        self._lock = make_lock()
        self._closing = threading.Event()
        self._lending: ModelLending | None = None
        self._portal = Portal()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Forget the running refinements in a forked child process; they go on in the parent."""
        self._busy.clear()
        self._closing = threading.Event()
        self.__dict__.pop("_attempts", None)
        self.__dict__.pop("_configured", None)  # its HTTP client has connections of the parent

    def refine(
        self, key: SessionKey, complete: Complete | None = None, attempts: Attempts[RefinementReply] | None = None
    ) -> Refinement:
        """Refine a session (have a model read it and list its facts) in the calling thread, and return what came of it;
        failures of the model are not raised.

        ``complete``: asks the model; ``None``: the configured model. ``attempts``: limits and retries; ``None``: those
        of the settings. Raises ``ConfigError`` when there is no model to ask.
        """
        asking = complete or self._configured
        with self._alone(key) as alone:
            question = self._question(key) if alone else Refinement("busy")
            if isinstance(question, Refinement):
                return self._count_outcome(question)
            with self._leave_session():
                answer = ask(asking, list(question.prompt.messages), attempts or self._attempts)
            return self._count_outcome(self._keep(key, question, answer))

    async def arefine(self, key: SessionKey, complete: Complete | None = None) -> Refinement:
        """Refine a session (have a model read it and list its facts) without blocking the event loop, and return what
        came of it; failures of the model are not raised.

        ``complete``: asks the model; it is called in a worker thread, and if it returns an awaitable, that is awaited
        on the calling loop. ``None``: the configured model. Raises ``ConfigError`` when there is no model to ask.
        """
        asking = complete or self._configured
        with self._alone(key) as alone:
            question = await offload(partial(self._question, key), CALLS) if alone else Refinement("busy")
            if isinstance(question, Refinement):
                return self._count_outcome(question)
            with self._leave_session():
                answer = await ask_on_loop(asking, list(question.prompt.messages), self._attempts)
            return self._count_outcome(await offload(partial(self._keep, key, question, answer), CALLS))

    def notice(self, key: SessionKey, events: Sequence[Event]) -> None:
        """Schedule a refinement of session ``key`` if the settings ask for one after ``events``, which were just
        recorded. Reads the session, but never waits for the model; does nothing without one."""
        if not self._is_unbidden or not events:
            return
        if self._sessions.read(key, lambda state: self._refining.is_due(state, events)):
            self._wants(key, is_always_due)

    def prepare_cut(self, key: SessionKey, filled: Callable[[], float]) -> None:
        """Schedule a refinement if a cut is near and the session was not refined since the last cut.

        ``filled``: returns the share of the context window that the session's current request fills. A cut is near if
        it is at least ``share_before_cut`` of the settings. Never waits for the model; does nothing without one.
        """
        share = self._refining.settings.share_before_cut
        if not share or not self._has_model or filled() < share:
            return
        if self._sessions.read(key, is_due_before_cut):
            self._wants(key, is_due_before_cut)

    def borrow(self) -> None:
        """From now on, use models lent by chat calls for sessions that have no other model."""
        self._lending = ModelLending(self._lenders_allowance)

    def lend(self, key: SessionKey, lent: LentModel) -> None:
        """Refine session ``key`` in the background with the model ``lent`` by a chat call that has just succeeded, if
        the session waits for a model. Makes one attempt. Never blocks; does nothing when the queue is full."""
        due = self._lending.take(key) if self._lending is not None else None
        if self._lending is None or due is None:
            return
        allowance = self._lending.allowance(lent.lender)
        if allowance.rests:
            self._count("refine_circuit_open", 1)
            return
        attempts = replace(self._attempts, allowance=allowance, most=1)
        self._later(key, due, lent.complete, attempts)

    def _wants(self, key: SessionKey, due: Due) -> None:
        if self._has_own_model:
            self._later(key, due)
        elif self._lending is not None:
            self._lending.want(key, due)

    def _later(
        self,
        key: SessionKey,
        due: Due,
        complete: Complete | None = None,
        attempts: Attempts[RefinementReply] | None = None,
    ) -> None:
        """Refine a session in the background if it is still ``due`` then. When the queue is full, that is counted, and
        nothing is done until the next occasion.

        ``complete``: asks the model; ``None``: the configured model. ``attempts``: limits and retries; ``None``: those
        of the settings.
        """
        if not self._background.put(key, partial(self._refine_if_due, key, due, complete, attempts)):
            self._count("refine_dropped_queue_full", 1)

    def _refine_if_due(
        self, key: SessionKey, due: Due, complete: Complete | None, attempts: Attempts[RefinementReply] | None
    ) -> None:
        """Refine a session unless a refinement that was queued before has made it needless."""
        if self._sessions.read(key, due):
            self.refine(key, complete, attempts)

    def flush(self, seconds: float) -> bool:
        """Wait until running refinements end, at most ``seconds``. Returns whether all are done."""
        return self._background.flush(seconds)

    def close(self, seconds: float) -> bool:
        """Start no more refinements, and wait at most ``seconds`` for running ones. Returns whether all are done."""
        self._closing.set()
        done = self._background.close(seconds)
        self._portal.close()
        endpoint = self.__dict__.get("_configured")
        if endpoint is not None and endpoint is not self._complete:
            endpoint.close()
        return done

    @property
    def _is_unbidden(self) -> bool:
        settings = self._refining.settings
        return bool(settings.llm_every or settings.llm_at_checkpoint) and self._has_model

    @property
    def _has_model(self) -> bool:
        return self._lending is not None or self._has_own_model

    @property
    def _has_own_model(self) -> bool:
        return bool(self._complete or self._refining.settings.llm_url)

    @cached_property
    def _refining(self) -> RefinementWork:
        return self._get_refining()

    @cached_property
    def _configured(self) -> Complete:
        if self._complete is not None:
            return self._complete
        settings = self._refining.settings
        if settings.llm_url is None:
            raise ConfigError("no model to ask: hand over complete=, or name one with llm_url and llm_model")
        try:
            from tokenmizer_mw.session.refinement.endpoint import Endpoint  # needs the HTTP client of an extra
        except ModuleNotFoundError as missing:
            raise ConfigError(f"llm_url needs {missing.name}: {install_hint('llm')}") from None
        return Endpoint(settings, SCHEMA)

    @cached_property
    def _attempts(self) -> Attempts[RefinementReply]:
        settings = self._refining.settings
        return Attempts(
            self._refining.read,
            self._allowance(settings.llm_failures_max),
            most=settings.llm_attempts,
            seconds=settings.llm_timeout,
            portal=self._portal,
            wait=self._closing.wait,
        )

    def _allowance(self, failures_max: int) -> Allowance:
        settings = self._refining.settings
        return Allowance(
            per_hour=settings.llm_calls_per_hour, failures_max=failures_max, rest_seconds=settings.llm_rest_seconds
        )

    def _lenders_allowance(self) -> Allowance:
        """Return the limits for the model of a client's chat calls. After one failed call it is not used for a while,
        because the client's own calls need it."""
        return self._allowance(failures_max=1)

    def _question(self, key: SessionKey) -> RefinementPrompt | Refinement:
        self._extract(key)
        counter = self._counter()
        history = read_standing(self._log.read(key))
        return self._sessions.read(key, lambda state: self._refining.question(key, state, history, counter))

    def _keep(self, key: SessionKey, question: RefinementPrompt, answer: ModelAnswer[RefinementReply]) -> Refinement:
        """Record the facts that the model stated, or only that it was asked. Returns the result for the caller."""
        self._count("refine_calls", answer.calls)
        self._record_usage(key, answer.completions, question.prompt.tokens)
        outcome = Refinement(answer.refused, calls=answer.calls, tokens=question.prompt.tokens, error=answer.error)

        def decide(state: SessionState) -> list[Event]:
            nonlocal outcome
            if is_outdated(question, self._log.read(key, after=question.seq - 1)):
                outcome = Refinement("outdated", calls=answer.calls, tokens=question.prompt.tokens)
                return []
            if answer.reply is None:
                return [Refined(state.refined, answer.calls)] if answer.calls else []
            events, counts = self._refining.events(state, question, answer.reply, answer.calls)
            outcome = Refinement(REFINED, counts, answer.calls, question.prompt.tokens)
            return events

        self._sessions.update(key, decide)
        return outcome

    def _count_outcome(self, refinement: Refinement) -> Refinement:
        self._count(f"refine_{refinement.outcome}", 1)
        for name, times in refinement.counts.items():
            self._count(f"refine_{name}", times)
        return refinement

    @contextmanager
    def _alone(self, key: SessionKey) -> Iterator[bool]:
        """Mark the session as being refined by this process while the context is active. Yields false if another thread
        refines it already."""
        with self._lock:
            alone = key not in self._busy
            self._busy.add(key)
        try:
            yield alone
        finally:
            if alone:
                with self._lock:
                    self._busy.discard(key)

    @contextmanager
    def _leave_session(self) -> Iterator[None]:
        """Call the model outside of any session in this block: the host's client may run through a transport of this
        package, which would record the call."""
        with bind_session(self._owner, lambda: NamedSession(None, ""), remembered=True):
            yield
