"""What happens to a session on the path of a request, and the work behind it: where the log meets the exchange."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, TypeVar

from tokenmizer_mw.chat.ended_call import Booked
from tokenmizer_mw.chat.exchange import Reason
from tokenmizer_mw.chat.totals import Books
from tokenmizer_mw.context.assembly import Context, Shortened
from tokenmizer_mw.context.compaction.native import Native
from tokenmizer_mw.context.compaction.seal import Seal
from tokenmizer_mw.context.compaction.standing import Compacted, CompactionWish, keep_from, open_words, told
from tokenmizer_mw.context.recall import PassageIndex
from tokenmizer_mw.context.resume import STANDING, STANDING_AND_OPEN
from tokenmizer_mw.context.resume.sentences import ReadSentences, message_sentences
from tokenmizer_mw.context.tokens import ATTACHMENT_TOKENS, MessageCounter, ModelCounters
from tokenmizer_mw.context.window import Rewrite, budget_for, could_exceed, left_to_others, looked_at, smallest_budget
from tokenmizer_mw.errors import (
    ConfigError,
    InvalidSession,
    RequestBlocked,
    StoreUnavailable,
    UnknownSession,
)
from tokenmizer_mw.model.event import (
    Checkpointed,
    Derived,
    Event,
    TurnClosed,
)
from tokenmizer_mw.model.message import Message, Outcome, Written
from tokenmizer_mw.model.reminder import Reminder
from tokenmizer_mw.model.session import LOCAL_TENANT, SESSION_ID_MAX, SessionKey
from tokenmizer_mw.runtime.background import BackgroundQueue
from tokenmizer_mw.runtime.forking import make_lock
from tokenmizer_mw.runtime.installing import install_hint
from tokenmizer_mw.runtime.terminal import one_line
from tokenmizer_mw.runtime.tracing import LimitedLog, span
from tokenmizer_mw.safety.fence import may_echo, unechoed, without_own_blocks
from tokenmizer_mw.safety.guard import NOTHING, Suspicion, judge
from tokenmizer_mw.safety.ingress import Ingress
from tokenmizer_mw.safety.redactors import redactor_of
from tokenmizer_mw.session import LongestRequests, SessionState, goes_on_from_block, joining, tools_digest
from tokenmizer_mw.session.derivation import Drawing
from tokenmizer_mw.session.log_cache import KeptMessages, KeptSessions, LogEnd
from tokenmizer_mw.session.refinement.client import Complete
from tokenmizer_mw.session.refinement.lent_models import LentModel
from tokenmizer_mw.session.refinement.plan import Refining
from tokenmizer_mw.session.refinement.runner import ModelPass
from tokenmizer_mw.session.reminder import (
    Carried,
    CarriedReminders,
    ReminderService,
    Shortening,
    add_question,
    reminded,
)
from tokenmizer_mw.session.snapshot_keeping import Snapshots
from tokenmizer_mw.session.transcript_edits import HistoryMessages
from tokenmizer_mw.session.truncation import BlockOrder, Cutting, Decided, SentPart
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.log import EventLog, Snapshot
from tokenmizer_mw.store.resilience.bounded_log import BoundedLog
from tokenmizer_mw.store.resilience.breaker import Breaker
from tokenmizer_mw.store.resilience.monitor import StoreMonitor
from tokenmizer_mw.store.resilience.patience import patience
from tokenmizer_mw.store.resilience.spool import SpooledTurn, TurnSpool
from tokenmizer_mw.store.resilience.waiting import Submit, await_submitted, wait_until_settled
from tokenmizer_mw.wire.dialect import ChatRequest, Reply
from tokenmizer_mw.wire.history import History, history_of
from tokenmizer_mw.wire.host_texts import is_side_call
from tokenmizer_mw.wire.known import KnownRequests
from tokenmizer_mw.wire.messages import history, request_of
from tokenmizer_mw.wire.unread import mentions

if TYPE_CHECKING:
    from tokenmizer_mw.context.passage_embedding import Mark, PassageEmbedding
    from tokenmizer_mw.saving.cache.answers import Answers
    from tokenmizer_mw.saving.compress.neural import Shrink
    from tokenmizer_mw.saving.compress.requests import CondensedRequest
    from tokenmizer_mw.saving.compress.sessions import Compression

T = TypeVar("T")

SENTENCES_STEP: Final = 20_000
"""Characters whose sentences are read at a time in the background, some 8 ms of CPU time."""

COMPACTION_SECONDS: Final = 5.0
"""How long a compaction waits for the store: clients that ask for one expect a call of a model."""

_COMPACTION_SHARE: Final = 0.2
"""Share of a client's threshold that the block of a compaction may take."""

FINISH_REASON_MAX: Final = 64
"""Characters of what a provider says about the end of a reply that are kept."""

_PATH_SHOWN: Final = 120
_logger = logging.getLogger("tokenmizer_mw")


class RequestPath:
    """A memory as the shells see it: requests shortened, turns made durable, facts drawn in the background."""

    def __init__(
        self,
        log: EventLog,
        settings: Settings | None = None,
        *,
        complete: Complete | None = None,
        embed: Callable[[list[str]], Any] | None = None,
        url: str = "",
    ) -> None:
        self.settings = settings or Settings()
        self.known = KnownRequests(self.settings.known_requests_max, make_lock())
        self._log = log
        self._counts: Counter[str] = Counter()
        self._counts_lock = make_lock()
        self._limited_log = LimitedLog(_logger)
        self.store_monitor = StoreMonitor(Breaker(self.settings.store_failures_max), self.settings.store_wait_seconds)
        self._bounded_log = BoundedLog(log, self.store_monitor)
        self.spool = self._made_spool()
        self.longest = LongestRequests(self.settings.sessions_cached, make_lock())
        self._least_budget = smallest_budget(self.settings)
        self._counters = ModelCounters(self.settings.tokenizer_dir)
        self.books = Books(log, self.settings, self._counters, self.count)
        self._background = BackgroundQueue(
            capacity=self.settings.queue_max,
            size_max=self.settings.queue_bytes,
            failed=self._background_failed,
            drain_seconds=self.settings.drain_seconds,
        )
        self._kept = self._made_kept()
        self._texts = KeptMessages(log, capacity=self.settings.sessions_cached, most=self.settings.messages_cached)
        self._model_pass = self._made_model_pass(complete)
        self.shrink: Shrink | None = None
        self.answers = self._made_answers(embed, url)
        self.embedding = self._made_embedding(embed)

    # -- the request path ------------------------------------------------------------------------------------

    def may_cut(self, body: bytes, linked: Sequence[bytes] = (), models: Sequence[str] = ()) -> bool:
        """Whether a request of these bytes could be long enough for a cut, whichever of ``models`` it is for (none:
        any at all). A bound without I/O: no token is shorter than a byte, but for parts whose content lies elsewhere,
        which the members ``linked`` give away."""
        budget = min([budget_for(model, self.settings) for model in models]) if models else self._least_budget
        room = looked_at(budget, self.settings) - len(body)
        if room < 0:
            return True
        return room < ATTACHMENT_TOKENS * sum(body.count(name) for name in linked if mentions(body, name))

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
        told = history(messages).through(self._unechoed)
        with patience(self.settings.store_wait_seconds):
            return self._shortened(self._key(session_id, tenant), told, model, overhead, window, question)

    def _shortened(
        self, key: SessionKey, told: History, model: str, overhead: str, window: int | None, question: str
    ) -> Shortened | None:
        settings = self.settings if window is None else self.settings.with_(context_window=window)
        long = could_exceed(request_of(told, model=model, overhead=overhead), settings)
        if self.ingress is not None:
            told = told.through(self.ingress.message)
        request = request_of(told, model=model, overhead=overhead)
        if settings.guard == "block":
            self._refuse(key, request)
        if not long:
            return None
        drawing = replace(self._drawing, settings=settings)
        cutting = Cutting(
            drawing,
            key,
            request,
            self._counters.of(model),
            spared=self._spared_results(key, request),
            read_sentences=self._read_sentences(key),
        )
        rewrite = self._decided(key, cutting)
        fit = self._fit(cutting, rewrite, int(budget_for(model, settings) * settings.cut_at))
        if not fit.block and not fit.results and len(fit.kept) == len(told) - request.prefix:
            self._expect_cut(key)
            return None
        left = budget_for(model, settings) - self._counters.of(model).text(overhead)
        return replace(fit, reminder=self._host_reminder(cutting, rewrite, fit, left, question))

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
        key = self._key(session_id, tenant)
        told = [one for one in self._written(key) if not one.archived]
        if not told:
            return Context()
        settings = self.settings.with_(context_window=limit)
        drawing = replace(self._drawing, settings=settings)
        request = request_of(history_of([one.message for one in told]), model=model)
        numbers = [one.number for one in told]
        cutting = Cutting(
            drawing,
            key,
            request,
            counter or self._counters.of(model),
            numbers,
            reserved,
            spared=self._spared_results(key, request) if could_exceed(request, settings) else None,
            read_sentences=self._read_sentences(key),
        )
        rewrite = self._decided(key, cutting)
        fit = self._fit(cutting, rewrite, limit)
        reminder = self._host_reminder(cutting, rewrite, fit, limit - reserved, question)
        return cutting.context(told, replace(fit, reminder=reminder))

    def prepare(self, key: SessionKey, request: ChatRequest, *, compacted: bool = False) -> Rewrite | None:
        """How ``request`` is to be shortened, or ``None`` to send it as it is. Reads the store, may record a cut.

        ``compacted``: the client may have compacted its chat by itself. Where it has, a block is put in front of the
        history, in this request and in the later ones.
        """
        if may_echo(request.text):
            compacted = compacted and not goes_on_from_block(request.messages)
            request = replace(request, messages=request.messages.through(self._unechoed))
        with span("cut", messages=len(request.messages)), patience(self.settings.store_wait_seconds):
            self._report_left_to_others(request)
            spared = self._spared(key, request)
            counter = self._counters.of(request.model)
            cutting = Cutting(
                self._drawing, key, request, counter, spared=spared, read_sentences=self._read_sentences(key)
            )
            if is_side_call(request.messages):  # it fits the window like any other, but is no part of the chat
                return self._kept.read(key, lambda state: cutting.decide(state).rewrite)
            if compacted and self._is_same_agent(key, request):
                cutting = replace(cutting, recorded=lambda: self._transcript(self._written(key)))
            rewrite = self._decided(key, cutting)
            if rewrite is None:
                self._expect_cut(key)
                return None
            kept = range(rewrite.keep_from, len(request.messages))
            room = budget_for(request.model, self.settings) - counter.text(request.overhead)
            shortening = Shortening(key, request, kept, room - cutting.taken(rewrite.block, kept), counter)
            return replace(rewrite, reminder=self._reminder(shortening))

    def compact(self, key: SessionKey, request: ChatRequest, wish: CompactionWish) -> Compacted | None:
        """The compaction of a request that asks for one, on record with what is new in the session; ``None`` where
        none is due, where it would not help, or where there is nothing to say. Reads the store. Raises
        ``RequestBlocked`` for what the guard refuses, where the settings let it."""
        clean = request.messages.through(self._unechoed).through(self._cleaned_message)
        request = replace(request, messages=clean)
        if self.settings.guard == "block":
            self._refuse(key, request)
        with span("compact", messages=len(clean)), patience(COMPACTION_SECONDS):
            counter, settings = self._counters.of(request.model), self.settings
            counts, overhead = counter.request_counts(request), counter.text(request.overhead)
            taken = overhead + sum(counts) + counter.text(wish.held)
            start: int | None = len(counts)
            budget = settings.compaction_tokens
            if wish.above is not None:
                above = min(wish.above, budget_for(request.model, settings) * settings.cut_at)
                if taken <= above:
                    return None
                if request.binds:  # what the model thinks next is valid only behind this very history
                    self.count("compaction_bound")
                    return None
                budget = min(budget, int(above * _COMPACTION_SHARE))
                room = above - overhead - sum(counts[: request.prefix]) - 2 * budget
                start = keep_from(request, counts, room)
            if start is None:
                self.count("compaction_no_room")
                return None
            cutting = Cutting(self._drawing, key, request, counter, read_sentences=self._read_sentences(key))
            sections = STANDING_AND_OPEN if wish.beside else None
            made = self._compacted(key, cutting, BlockOrder(budget, wish.query, sections))
        if made is None:
            return None
        words = open_words(request, budget, wish.open)
        text = told(made.block, words)
        goes_on = start < len(counts) and request.messages[start].opens_turn
        return Compacted(made.id, made.block, text, words, made.block if goes_on else text, start, taken)

    def follow_native(self, key: SessionKey, request: ChatRequest, native: Native) -> str:
        """The block that follows a compaction which a provider made: the same in every request that holds it. "" where
        the session has nothing to say, and where what the model thought is bound to a history without it. Reads the
        store."""

        def read(state: SessionState) -> tuple[int, str | None]:
            return state.seq, state.block_at(native.checkpoint)

        seq, block = self._kept.read(key, read)
        if block is not None:
            return block
        if seq == 0:
            self._kept.drop(key)
            return ""
        if request.bound > native.place:
            self.count("compaction_bound")
            return ""
        clean = request.messages.through(self._unechoed).through(self._cleaned_message)
        request, settings = replace(request, messages=clean), self.settings
        whole = settings.compaction == "both"
        budget = settings.compaction_tokens if whole else settings.block_tokens
        order = BlockOrder(budget, sections=STANDING_AND_OPEN if whole else STANDING, id=native.checkpoint)
        with span("compact", messages=len(clean)), patience(settings.store_wait_seconds):
            counter = self._counters.of(request.model)
            self._compacted(key, Cutting(self._drawing, key, request, counter), order)
            return self._kept.read(key, read)[1] or ""

    def counter_of(self, model: str) -> MessageCounter:
        """What counts tokens as ``model`` does."""
        return self._counters.of(model)

    def _compacted(self, key: SessionKey, cutting: Cutting, order: BlockOrder) -> Checkpointed | None:
        decided = Decided()

        def decide(state: SessionState) -> list[Event]:
            nonlocal decided
            known = bool(order.id) and state.block_at(order.id) is not None
            decided = Decided() if known else cutting.compact(state, order)
            return list(decided.events)

        self._propose(key, decide)
        for name in decided.counted:
            self.count(name)
        last = decided.events[-1] if decided.events else None
        return last if isinstance(last, Checkpointed) else None

    def _host_reminder(
        self, cutting: Cutting, rewrite: Rewrite | None, fit: Shortened, room: int, question: str
    ) -> Reminder | None:
        """What a host's request, sent as ``fit`` says within ``room`` tokens, carries of what was left out of it. It is
        on record with the next messages of the session."""
        request = add_question(cutting.request, self._cleaned_text(question))
        if not fit.block or request is None or not self.settings.reminder_tokens:
            return None
        is_asked_next = request is not cutting.request
        kept = (*fit.kept, len(cutting.request.messages)) if is_asked_next else fit.kept
        out = self._kept.read(cutting.key, lambda state: cutting.left_out(state, rewrite, fit))
        left = room - cutting.taken(fit.block, fit.kept, fit.results)
        reminder = self._reminder(Shortening(cutting.key, request, kept, left, cutting.counter, out.cut, out.sent))
        if reminder is not None and reminder.new is not None:
            self._carried.put(cutting.key, [Carried(reminder.cut, reminder.new)])
        return reminder

    def _expect_cut(self, key: SessionKey) -> None:
        self._reminders.expect_cut(key)

    def _reminder(self, shortening: Shortening) -> Reminder | None:
        """What a request carries of what was left out of it; ``None`` for nothing, and where this fails."""
        if not self.settings.reminder_tokens:
            return None
        try:
            with span("remind"):
                reminder = self._reminders.remind(shortening)
        except Exception as error:
            self.count("reminder_failed")
            _logger.warning("reminder_failed: %s; the request went on without", type(error).__name__)
            return None
        if reminder is not None:
            self.count("reminder_sent")
        return reminder

    def _is_same_agent(self, key: SessionKey, request: ChatRequest) -> bool:
        """Whether the session's longest request offered the same tools: a subagent has others."""
        return self.longest.has_tools(key, tools_digest(request), unknown=True)

    def _transcript(self, written: Iterable[Written]) -> list[tuple[int, Message]]:
        """Messages with their numbers, without blocks of ours and without archived ones."""
        return [(one.number, without_own_blocks(one.message, self._secret)) for one in written if not one.archived]

    def _report_left_to_others(self, request: ChatRequest) -> None:
        """Count, and log once a minute, why a request that could be long enough for a cut is never cut."""
        reason = left_to_others(request)
        if reason:
            self.count(f"not_cut_{reason}")
            self._limited_log.warn(reason, "a transcript is not cut: the request leaves its history to others (%s)")

    def _spared(self, key: SessionKey, request: ChatRequest) -> Callable[[SentPart], Sequence[float]] | None:
        """Tells the shares of messages that compression takes out; ``None`` where none is switched on."""
        compression = self._compression
        if compression is None:
            return None
        return lambda part: compression.spared(key, request, part.start, part.through)

    def _spared_results(self, key: SessionKey, request: ChatRequest) -> Callable[[SentPart], Sequence[float]] | None:
        """``_spared`` for the messages of a host, of which only the results of tools give way."""
        compression = self._compression
        if compression is None:
            return None
        return lambda part: compression.spared_results(key, request.messages, part.start, part.through)

    def _fit(self, cutting: Cutting, rewrite: Rewrite | None, limit: int) -> Shortened:
        """The messages of a host within ``limit`` tokens, with shorter results where compression is switched on."""
        fit = self._kept.read(cutting.key, lambda state: cutting.fit(state, rewrite, limit))
        if self._compression is None or cutting.spared is None:
            return fit
        through = rewrite.through if rewrite is not None else None
        messages = cutting.request.messages
        with span("compress", messages=len(messages)):
            results = self._compression.shorter_results(cutting.key, messages, fit.kept, through)
        self.count("request_compressed", int(bool(results)))
        return replace(fit, results=results)

    def condense(
        self, key: SessionKey, request: ChatRequest, rewrite: Rewrite | None = None
    ) -> CondensedRequest | None:
        """``request`` with shorter texts, as the settings say; ``None`` to send it as it is. ``rewrite`` is how it is
        cut, too: what is left out then is not looked at."""
        if self._compression is None:
            return None
        with span("compress", messages=len(request.messages)):
            found = self._compression.condense(key, request, self._counters.of(request.model).counter, rewrite)
        if isinstance(found, str):
            self.count(found, int(bool(found)))
            return None
        self.count("request_compressed")
        return found

    def _decided(self, key: SessionKey, cutting: Cutting) -> Rewrite | None:
        """What ``cutting`` decides, carried out and counted."""
        decided = Decided()

        def decide(state: SessionState) -> list[Event]:
            nonlocal decided
            decided = cutting.decide(state)
            return list(decided.events)

        self._propose(key, decide)
        for name in decided.counted:
            self.count(name)
        if decided.rewrite is not None:
            self.count("request_rewritten")
        self._model_pass.prepare_cut(key, lambda: cutting.filled(decided.rewrite))
        return decided.rewrite

    def commit(self, key: SessionKey, messages: Sequence[Message], reply: Reply | None) -> bool:
        """Make a turn durable: the new messages, the reply's, and how it ended. No facts are drawn yet.

        Returns whether it is durable. Where the store does not answer before the deadline, it is not yet, and is
        written later.
        """
        return self.wait_for(self.submit(key, messages, reply))

    def submit(
        self,
        key: SessionKey,
        messages: Sequence[Message],
        reply: Reply | None,
        *,
        size: int | None = None,
        after: Callable[[], None] = lambda: None,
        reminder: Reminder | None = None,
    ) -> SpooledTurn:
        """Have a turn made durable, without waiting for it: redact the reply, then hand all of it to the spool.

        ``size``: bytes that the turn holds in memory, ``None``: the characters of its messages. ``after`` is called in
        another thread once it is durable; ``reminder`` is what the request carried. What does not fit into the spool
        is counted and not kept. Of a host's own call (a title, a summary to go on from) nothing is recorded, and
        ``side_call`` is counted.
        """
        if is_side_call(messages):
            self.count("side_call")
            after()
            nothing = SpooledTurn(lambda: None, after)
            nothing.settle(True)
            return nothing
        reply = self._clean(reply)
        transcript = (messages if isinstance(messages, History) else history_of(messages)).through(self._unechoed)
        if reply is not None and reply.message is not None:
            transcript = transcript.followed_by(reply.message)
        spoken = transcript.spoken()

        def decide(state: SessionState) -> list[Event]:
            news: list[Event] = list(joining(state.transcript, spoken, part=spoken.part))
            if reply is None or not (news or reply.outcome is Outcome.ERROR):
                return news
            turn = len(state.transcript) + len(news)
            news += reminded(turn, reminder)
            return [*news, TurnClosed(turn, reply.outcome, reply.finish_reason, reply.usage)]

        def write() -> None:
            with patience(None), span("commit"):
                self._kept.update(key, decide)
            if reply is not None:
                self.count(f"turn_{reply.outcome.value}")

        turn = SpooledTurn(write, after)
        held = sum(len(message.text) for message in transcript) if size is None else size
        self.spool.put(key, turn, held)
        return turn

    def wait_for(self, turn: SpooledTurn | None) -> bool:
        """Wait until a turn is durable, at most until the deadline. Returns whether it is; False for ``None``. Blocks.

        While the store is known not to answer, this does not wait.
        """
        if turn is None:
            return False
        return self._in_time(turn, wait_until_settled(turn, self._seconds_to_wait))

    async def await_for(self, submit: Submit) -> bool:
        """``wait_for`` the turn of ``submit``, which runs in a worker thread, on an event loop."""
        turn = await await_submitted(submit, self._seconds_to_wait)
        return turn is not None and self._in_time(turn, turn.is_written)

    @property
    def _seconds_to_wait(self) -> float:
        return 0.0 if self.store_monitor.is_open else self.settings.store_wait_seconds

    def _in_time(self, turn: SpooledTurn, written: bool) -> bool:
        """Count a turn that a chat does not wait for any longer."""
        if not written and turn.release():
            self.count("turn_spooled")
            if self._bounded_log.longest_wait() * 2 > self.settings.store_wait_seconds:
                self.store_monitor.late(self._bounded_log.place)
        return written

    def attempt(self, key: SessionKey, request: ChatRequest) -> Suspicion:
        """What is suspicious about what the request says for the first time, or says last. Reads the store."""
        spoken = request.messages.spoken()
        with patience(self.settings.store_wait_seconds):
            start = self._kept.read(key, lambda state: state.transcript.first_new(spoken, part=spoken.part)[0])
        news = spoken[max(0, min(start, len(spoken) - 1)) :]
        return max(map(judge, news), key=lambda found: found.score, default=NOTHING)

    def _refuse(self, key: SessionKey, request: ChatRequest) -> None:
        """Raise ``RequestBlocked`` for a suspicious request; it is on record, so that it is not news for ever."""
        suspicion = self.attempt(key, request)
        if suspicion.flagged:
            self.commit(key, request.messages, Reply(None, Outcome.ERROR))
            self.count("request_blocked")
            raise RequestBlocked(suspicion.signals)

    def later(self, work: Callable[[], object], size: int = 0) -> bool:
        """Run ``work``, which holds ``size`` bytes, in the background. Never blocks; when the queue is full, ``work``
        is dropped and counted, and this returns False."""
        taken = self._background.put(object(), work, size)
        if not taken:
            self.count("dropped_queue_full")
        return taken

    def book_later(self, key: SessionKey, call: Booked, size: int) -> None:
        """Put a call that ended into the books, in the background. It holds ``size`` bytes. Never blocks."""
        book = self.books.entry(call)
        if book is not None and not self._background.put(object(), partial(book, key), size):
            self.count("savings_not_kept")

    def extract_later(self, key: SessionKey) -> None:
        """Draw the facts of what was committed, in the background. Never blocks; when the queue is full the next
        look at the session does the work."""
        if not self._background.put(key, partial(self.extract, key)):
            self.count("extraction_deferred_queue_full")

    def extract(self, key: SessionKey) -> None:
        """Draw the facts of all messages that were committed and not looked at yet. Where another thread is at it,
        this returns at once, and that one does these messages as well."""
        self._extracted(key, nothing, wait=False)
        if self.settings.reminder_tokens:
            self._reminders.warm(key)
        if self._reminders.expects_cut(key):
            while self._texts.read(key, self._prepare_sentences):
                pass
        if self.embedding is not None:
            self.embedding.embed_passages_later(key)

    def _prepare_sentences(self, told: HistoryMessages) -> bool:
        """Whether there is more of a session to read before a cut needs it."""
        return told.prepare_sentences(partial(without_own_blocks, secret=self._secret), SENTENCES_STEP)

    def _read_sentences(self, key: SessionKey) -> ReadSentences:
        """What gives the sentences of a session's messages, those first that were read after earlier calls."""
        told = self._texts.at_hand(key)
        return message_sentences if told is None else told.prepared.read

    def borrow_models(self) -> None:
        """Chat calls lend models from now on: one is asked where refinement is due and no other model is named."""
        self._model_pass.borrow()

    def lend_model(self, key: SessionKey, lent: LentModel) -> None:
        """A chat call of the session has ended, and lends a model, which is asked if one is wanted. Never blocks."""
        self._model_pass.lend(key, lent)

    def unreadable(self, path: str, why: str) -> None:
        """Count a request that is none in the dialect of its route, and log that: a route once in a minute."""
        self.count(Reason.MALFORMED_REQUEST.value)
        subject = f"{one_line(path)[:_PATH_SHOWN]}: {why.partition(':')[0]}"
        self._limited_log.warn(subject, "a request passes and is not remembered, since it cannot be read (%s)")

    def count(self, reason: str, times: int = 1) -> None:
        """Add to the counter ``reason``."""
        if times:
            with self._counts_lock:
                self._counts[reason] += times

    def flush(self, seconds: float | None = None) -> bool:
        """Wait for the work in the background, at most ``seconds`` (default: the setting). True when all is done: also
        the turns in the spool are written."""
        limit = self.settings.drain_seconds if seconds is None else seconds
        deadline = time.monotonic() + limit

        def left() -> float:
            return max(0.0, deadline - time.monotonic())

        done = self._background.flush(left()) and self.spool.flush(left())
        # What was written has its facts derived, what was broken off is spooled: each makes work for the other.
        while done and not (self._background.flush(0) and self.spool.flush(0)):
            done = self._background.flush(left()) and self.spool.flush(left())
        if self.embedding is not None:
            done = self.embedding.flush(left()) and done
        return done and self._model_pass.flush(left())

    def close(self) -> None:
        """Finish the work in the background within the time that the settings give, and release the store. Turns that
        could not be written by then are lost, and counted."""
        deadline = time.monotonic() + self.settings.drain_seconds
        self._background.flush(self.settings.drain_seconds)
        if self.embedding is not None:
            self.embedding.close(max(0.0, deadline - time.monotonic()))
        drained = self.spool.close(max(0.0, deadline - time.monotonic()))
        drained = self._background.close(max(0.0, deadline - time.monotonic())) and drained
        if not (self._model_pass.close(max(0.0, deadline - time.monotonic())) and drained):
            self.count("closed_with_work_left")
        if self.answers is not None:
            self.answers.close()
        self._log.close()

    # -- inside ----------------------------------------------------------------------------------------------

    @cached_property
    def ingress(self) -> Ingress | None:
        """Where secrets are taken out; ``None`` when the settings keep them. Raises ``ConfigError`` for rules that
        cannot be used."""
        settings = self.settings
        if not settings.redact:
            return None
        return Ingress(
            redactor_of(settings, self._secret),
            beginnings_max=settings.sessions_cached,
            bytes_max=settings.known_requests_max,
            lock=make_lock(),
        )

    @cached_property
    def _compression(self) -> Compression | None:
        """What makes texts shorter; ``None`` where no stage is switched on."""
        if not self.settings.compress_named:
            return None
        from tokenmizer_mw.saving.compress.sessions import Compression  # what is off costs nothing, not even its import

        return Compression(
            self.settings,
            shrink=self.shrink,
            failed=lambda stage: self.count(f"compress_{stage}_failed"),
            lock=make_lock(),
        )

    @property
    def is_ready(self) -> bool:
        """Whether the rules of redaction are there already; else a request has to wait for them, and for the store."""
        return not self.settings.redact or "ingress" in self.__dict__

    def seal(self) -> Seal:
        """What closes and opens the compactions of this installation. Reads the store once."""
        return Seal(self._secret)

    @cached_property
    def _secret(self) -> bytes:
        return self._bounded_log.secret()

    @cached_property
    def _carried(self) -> CarriedReminders:
        return CarriedReminders(self.settings.sessions_cached, make_lock())

    @cached_property
    def _reminders(self) -> ReminderService:
        return ReminderService(
            self.settings,
            self._secret,
            states=self._kept.read,
            texts=self._texts.read,
            count=self.count,
            embed=self.embedding.embed_question if self.embedding is not None else None,
            lock=make_lock(),
        )

    def _made_embedding(self, embed: Callable[[list[str]], Any] | None) -> PassageEmbedding | None:
        """What gives passages and questions their vectors, where a sentence model is configured. Raises ``ConfigError``
        where that cannot be used."""
        if embed is None and self.settings.embeddings is None:
            return None
        if find_spec("numpy") is None:
            raise ConfigError(f"embeddings and embed need numpy: {install_hint('embeddings')}")
        from tokenmizer_mw.context.passage_embedding import PassageEmbedding  # most applications have no sentence model
        from tokenmizer_mw.context.sentence_model import find_model, host_model

        model = host_model(embed) if embed is not None else find_model(self.settings.embeddings or "")
        return PassageEmbedding(model, self.settings, log=self._log, read=self._read_passages, count=self.count)

    def _read_passages(self, key: SessionKey, look: Callable[[PassageIndex, Mark], T]) -> T:
        clean = partial(without_own_blocks, secret=self._secret)

        def view(told: HistoryMessages) -> T:
            return look(told.passages(clean, self.settings.passages_max), (told.seq, told.recorded_at))

        return self._texts.read(key, view)

    @cached_property
    def _drawing(self) -> Drawing:
        return Drawing(self.settings, self._secret)

    def _made_answers(self, embed: Callable[[list[str]], Any] | None, url: str) -> Answers | None:
        """The cache, where the settings switch it on. Raises ``ConfigError`` where it cannot be used."""
        if self.settings.cache == "off":
            return None
        from tokenmizer_mw.saving.cache.answers import Answers  # most applications have none

        return Answers(_CacheHost(self), self.settings, beside=url, embed=embed)

    def _made_spool(self) -> TurnSpool:
        settings, nobody = self.settings, SessionKey("tokenmizer.health", "probe")
        nothing = Snapshot(1, 0.0, 0, b"")
        return TurnSpool(
            self.store_monitor,
            turns_max=settings.spool_turns,
            bytes_max=settings.spool_bytes,
            # A session that nobody has keeps no snapshot, but the store must be ready to write one.
            probe=lambda: self._bounded_log.keep_snapshot(nobody, nothing),
            count=self.count,
            rest_seconds=settings.store_rest_seconds,
            drain_seconds=settings.drain_seconds,
        )

    def _made_kept(self) -> KeptSessions:
        settings = self.settings
        return KeptSessions(
            self._bounded_log,
            capacity=settings.sessions_cached,
            events_max=settings.events_cached,
            snapshots=Snapshots(
                settings.snapshot_every,
                settings.snapshot_max,
                later=self._background.put,
                count=self.count,
            ),
        )

    def _made_model_pass(self, complete: Complete | None) -> ModelPass:
        settings = self.settings
        return ModelPass(
            self,
            lambda: Refining(settings, self._secret, self._cleaned_message, self._cleaned_text),
            self._log,
            self._kept,
            extract=self.extract,
            count=self.count,
            book=self.books.add_refinement,
            counter=lambda: self._counters.of(settings.llm_model).counter,
            background=BackgroundQueue(
                capacity=settings.queue_max,
                size_max=settings.queue_bytes,
                failed=self._background_failed,
                drain_seconds=settings.drain_seconds,
            ),
            complete=complete,
        )

    def _unechoed(self, message: Message) -> Message:
        """``message`` without reminders of ours that a client sends back."""
        return unechoed(message, self._secret)

    def _cleaned_message(self, message: Message) -> Message:
        return message if self.ingress is None else self.ingress.message(message)

    def _cleaned_text(self, text: str) -> str:
        return text if self.ingress is None else self.ingress.text(text)

    def _clean(self, reply: Reply | None) -> Reply | None:
        """``reply`` as it may be kept."""
        if reply is None:
            return None
        finish_reason = self._cleaned_text(reply.finish_reason[:FINISH_REASON_MAX])
        message = reply.message if reply.message is None else self._cleaned_message(reply.message)
        if message is reply.message and finish_reason == reply.finish_reason:
            return reply
        self.count("reply_redacted")
        return replace(reply, message=message, finish_reason=finish_reason)

    def _cleaned(self, written: Written) -> Written:
        """``written`` as it may be kept."""
        if self.ingress is None:
            return written
        message, original = self.ingress.message(written.message), self.ingress.document(written.original)
        return replace(written, message=message, original=original)

    def _written(self, key: SessionKey) -> list[Written]:
        return self._written_until(key)[0]

    def _written_until(self, key: SessionKey) -> tuple[list[Written], LogEnd]:
        """The messages of a session, and where its log ends."""
        found, end = self._texts.read(key, lambda told: (list(told.messages.values()), (told.seq, told.recorded_at)))
        if not found:
            self._texts.drop(key)
        return found, end

    def _drop(self, key: SessionKey) -> None:
        """Nothing of a session is at hand afterwards."""
        self._kept.drop(key)
        self._texts.drop(key)
        self.longest.drop(key)
        self._carried.take(key)

    def _update(self, key: SessionKey, decide: Callable[[SessionState], list[Event]]) -> None:
        """Append what ``decide``, which is quick, makes of the session."""
        with self._noticed(key, decide) as deciding:
            self._kept.update(key, deciding)

    def _recorded(self, key: SessionKey, decide: Callable[[SessionState], list[Event]]) -> None:
        """``_update`` with the messages that ``decide`` gives, and what the request that they answer carried."""
        waiting = self._carried.take(key)
        added = 0

        def deciding(state: SessionState) -> list[Event]:
            nonlocal added
            news = decide(state)
            added = len(news)
            return [*news, *(one.event(len(state.transcript) + added) for one in waiting if added)]

        try:
            self._update(key, deciding)
        except BaseException:
            added = 0
            raise
        finally:
            if not added:
                self._carried.put(key, waiting)

    def _propose(self, key: SessionKey, decide: Callable[[SessionState], list[Event]]) -> None:
        """Append what ``decide`` makes of the session; it runs outside the session's lock, on a copy."""
        with self._noticed(key, decide) as deciding:
            self._kept.propose(key, deciding, nothing)

    def _extracted(
        self, key: SessionKey, view: Callable[[SessionState], T], *, wait: bool = True, end: LogEnd | None = None
    ) -> T:
        """``view`` of the session with the facts of all messages; without ``wait`` those that another thread is about
        to derive may be missing."""
        with span("extract"), self._noticed(key, self._drawing.facts) as derive:
            return self._kept.extract(key, derive, view, wait=wait, end=end)

    @contextmanager
    def _noticed(
        self, key: SessionKey, decide: Callable[[SessionState], list[Event]]
    ) -> Iterator[Callable[[SessionState], list[Event]]]:
        """``decide``; afterwards what was suspicious about messages is counted, and the model pass hears of the
        events."""
        last: list[Event] = []

        def deciding(state: SessionState) -> list[Event]:
            nonlocal last
            last = decide(state)
            return last

        try:
            yield deciding
        finally:
            for event in last:
                if isinstance(event, Derived):
                    self.count("guard_flagged", len(event.flagged))
            self._model_pass.notice(key, last)

    def _background_failed(self, error: BaseException) -> None:
        self.count("background_failed")
        if isinstance(error, StoreUnavailable):
            self.store_monitor.report(error.cause or type(error).__name__, error.place)
            return
        _logger.warning("background work failed: %s", type(error).__name__)

    def _viewed(
        self, key: SessionKey, view: Callable[[SessionState], T], *, expected: bool = True, end: LogEnd | None = None
    ) -> T:
        """``view`` of a session with all its facts drawn, if the store takes them, at one look at the log: at none when
        the caller has just found it to end at ``end``, and the session at hand stands there. Raises ``UnknownSession``
        when one that is ``expected`` is not there."""

        def seen(state: SessionState) -> T:
            if expected and state.seq == 0:
                raise UnknownSession(f"no session {key.id!r}")
            return view(state)

        try:
            return self._extracted(key, seen, end=end)
        except StoreUnavailable:
            self.count("extraction_not_kept")
            return self._kept.read(key, seen)
        except UnknownSession:
            self._kept.drop(key)
            raise

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


def nothing(state: SessionState) -> None:
    """The view of a caller that needs none."""


class _CacheHost:
    """What the cache asks of the memory around it."""

    def __init__(self, path: RequestPath) -> None:
        self._path = path
        self.count = path.count

    def later(self, work: Callable[[], object], size: int) -> bool:
        """Do ``work`` in the background; false when there is no room for it."""
        return self._path._background.put(object(), work, size)

    def clean(self, text: str) -> bool:
        """Whether there is no secret in ``text``, as far as secrets are looked for."""
        return self._path._cleaned_text(text) is text
