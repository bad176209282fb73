"""Decide whether and how a request is cut and compressed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from tokenmizer_mw.chat.content_redaction import ContentRedaction
from tokenmizer_mw.chat.session_access import SessionAccess
from tokenmizer_mw.context.assembly import Reminder, Shortened
from tokenmizer_mw.context.tokens import ATTACHMENT_TOKENS
from tokenmizer_mw.context.window import Rewrite, budget_for, cut_check_threshold, reason_not_to_cut, smallest_budget
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.terminal import one_line
from tokenmizer_mw.runtime.tracing import LimitedLog, span
from tokenmizer_mw.safety.fence import may_echo
from tokenmizer_mw.session import goes_on_from_block, tools_digest
from tokenmizer_mw.session.refinement.runner import RefinementRunner
from tokenmizer_mw.session.reminder import ReminderService, Shortening
from tokenmizer_mw.session.transcript_edits import HistoryMessages
from tokenmizer_mw.session.truncation import NOT_WORTH_IT, CutDecision, HeldCut, Spared, Truncation
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.resilience.bounded_log import patience
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.host_texts import is_side_call

if TYPE_CHECKING:
    from tokenmizer_mw.saving.compress.requests import Compression, CondensedRequest

_logger = logging.getLogger("tokenmizer_mw")

T = TypeVar("T")

_SOON: Final = 8
"""A cut counts as near once a request has this part (an eighth) of the size from which a cut is considered."""


class PreparedCut(NamedTuple):
    """What ``CutPreparation.prepare`` decided about a request.

    - ``rewrite``: how the request is shortened; ``None``: it is sent unchanged.
    - ``held``: the events of a new cut, which are recorded together with the request's messages and reply; ``None``:
      no new events.
    """

    rewrite: Rewrite | None
    held: HeldCut | None = None


class CutPreparation:
    """Decides how requests are shortened: old messages are replaced by a resume block, and what the newest message asks
    about them is added as a reminder.

    ``compression``, ``reminders``: return the services that shorten texts (``None`` if no compression stage is on) and
    that make reminders. ``soon``: runs work in the background under a name, and returns false when the queue is full.
    ``soon_from``: a request of at least so many bytes shows that its chat may be cut before long.
    """

    def __init__(
        self,
        settings: Settings,
        access: SessionAccess,
        redaction: ContentRedaction,
        *,
        compression: Callable[[], Compression | None],
        reminders: Callable[[], ReminderService],
        refinement: RefinementRunner,
        soon: Callable[[Hashable, Callable[[], object]], bool],
        log: LimitedLog,
        count: Callable[..., None],
    ) -> None:
        self._settings = settings
        self._access = access
        self._redaction = redaction
        self._find_compression = compression
        self._find_reminders = reminders
        self._refinement = refinement
        self._soon = soon
        self._limited_log = log
        self._log_once = LimitedLog(_logger, float("inf"))
        self._count = count
        self._least_looked_at = cut_check_threshold(smallest_budget(settings), settings)
        self.soon_from = self._least_looked_at // _SOON

    @property
    def compression(self) -> Compression | None:
        """The object that shortens the texts of requests with the compression stages of the settings; ``None`` if no
        stage is on."""
        return self._find_compression()

    @property
    def reminders(self) -> ReminderService:
        """The service that makes reminders. Raises ``StoreError`` if the store's secret cannot be read."""
        return self._find_reminders()

    def may_cut(self, body: bytes, linked: Sequence[bytes], models: Callable[[], Sequence[str]]) -> bool:
        """Whether the request ``body`` could be long enough for a cut. A quick check without I/O that may be true
        wrongly.

        No token is shorter than a byte, except for linked content such as images. ``linked``: byte strings that show
        that a body links to content; ``models``: returns the models that the request may name, none: any. It is only
        called for a body that is long enough for the model with the smallest window.
        """
        size = len(body)
        for name in linked:
            if body.rfind(name) >= 0:  # as fast as ``mentions``, for each request
                size += ATTACHMENT_TOKENS * body.count(name)
        if size <= self._least_looked_at:
            return False
        budgets = [budget_for(model, self._settings) for model in models()]
        return not budgets or size > cut_check_threshold(min(budgets), self._settings)

    def lacks_counter(self, size: int, model: str) -> bool:
        """Whether the token counter for ``model`` is not loaded, and a request of ``size`` bytes shows that its chat
        may be cut before long; sizes below ``soon_from`` never do."""
        settings = self._settings
        due = _SOON * size >= cut_check_threshold(budget_for(model, settings), settings)
        return due and not self._access.counters.has(model)

    def load_counter_later(self, model: str) -> None:
        """Load the token counter for ``model`` in the background.

        The table of a tokenizer takes a third of a second of CPU, for which the first cut of a process would wait, and
        70 MB of memory, which a process of short chats does without.
        """
        self._soon(("tokenizer", model), partial(self._access.counters.of, model))

    def prepare(self, key: SessionKey, request: ChatRequest, *, compacted: bool = False) -> PreparedCut:
        """Decide how ``request`` is shortened. Reads the store and records nothing; a new cut is recorded later, with
        the turn.

        ``compacted``: true if the client may have compacted its chat by itself. If the chat was compacted, a resume
        block is added before its history, in this request and in later ones.
        """
        if may_echo(request.text):
            compacted = compacted and not goes_on_from_block(request.messages)
            request = replace(request, messages=request.messages.through(self._redaction.remove_echoes))
        with span("cut", messages=len(request.messages)), patience(self._settings.store_wait_seconds):
            self._report_left_to_others(request)
            spared = None if self.compression is None else partial(self.compression.compression_shares, key, request)
            counter = self._access.counters.of(request.model)
            truncation = Truncation(
                self._access.derivation,
                key,
                request,
                counter,
                spared=spared,
                read_sentences=self._access.sentence_reader(key),
            )
            if is_side_call(request.messages):  # it fits the window like any other, but is no part of the chat
                return PreparedCut(self._access.sessions.read(key, lambda state: truncation.decide(state).rewrite))
            # A subagent has other tools than the session's longest request.
            if compacted and self._access.longest.has_tools(key, tools_digest(request)):
                truncation = replace(
                    truncation, recorded=lambda: self._access.transcript(self._access.read_messages(key))
                )
            draft = self._access.sessions.draft(key)
            decision = truncation.decide(draft)
            self._count_decision(key, truncation, decision)
            held = HeldCut.of(draft, decision.events) if decision.events else None
            rewrite = decision.rewrite
            if truncation.filled_share(rewrite) > 1:
                self.report_over_window(key)
            if rewrite is None:
                self.reminders.expect_cut(key)
                return PreparedCut(None, held)
            kept = range(rewrite.keep_from, len(request.messages))
            room = budget_for(request.model, self._settings) - counter.text(request.overhead)
            taken = truncation.count_taken(rewrite.block, [*request.staying(rewrite.keep_from), *kept])
            shortening = Shortening(key, request, kept, room - taken, counter)
            return PreparedCut(replace(rewrite, reminder=self.reminder(shortening, held)), held)

    def remind_compacted(self, key: SessionKey, request: ChatRequest, checkpoint: str, block: str) -> Reminder | None:
        """Return the reminder for a request whose older messages were replaced by ``block`` in the compaction made at
        ``checkpoint``, the id of a checkpoint. ``None`` if nothing is relevant, if the session has no such checkpoint,
        if reminders are off, or if the client application makes the call for itself (such as for a title). Reads the
        store.
        """
        if is_side_call(request.messages):
            return None
        with patience(self._settings.store_wait_seconds):
            found = self._access.sessions.read(key, lambda state: state.checkpoint_at(checkpoint))
            if found is None:
                return None
            counter = self._access.counters.of(request.model)
            kept = range(request.prefix, len(request.messages))
            taken = counter.text(request.overhead) + sum(counter.request_counts(request)) + counter.text(block)
            left = budget_for(request.model, self._settings) - taken
            cut = replace(found, block=block, anchor_turn=found.turn + 1)
            return self.reminder(Shortening(key, request, kept, left, counter, cut))

    def decide(self, key: SessionKey, truncation: Truncation) -> CutDecision:
        """Let ``truncation`` decide how its request is shortened, append the events of that decision to the log, and
        return the decision. No counter is incremented; the caller calls ``count_fit`` once it is known what is sent.
        Raises ``StoreError``."""
        return self._access.propose_cut(key, truncation.decide)

    def count_fit(self, key: SessionKey, truncation: Truncation, decision: CutDecision, fit: Shortened) -> None:
        """Increment the counters of a framework's request, and start a refinement if a cut is near and the settings ask
        for it.

        - ``truncation``: made the ``decision`` about the request.
        - ``fit``: what is sent of the request: which messages, and which resume block. If messages are left out and no
          block replaces them, that is counted (``cut_without_block``), and logged once per session.
        """
        leaves_out = truncation.leaves_out(fit)
        for name in decision.counted:
            if not (leaves_out and name == NOT_WORTH_IT):
                self._count(name)
        if fit.block:
            self._count("request_rewritten")
        elif leaves_out:
            self._count("cut_without_block")
            self._warn_without_block(key, truncation, fit)
        self._refinement.prepare_cut(key, lambda: truncation.filled_share(decision.rewrite))

    def _warn_without_block(self, key: SessionKey, truncation: Truncation, fit: Shortened) -> None:
        """Log once per session why a resume block has no room. Requests larger than the window are left out, because
        they have a log line of their own (``report_over_window``)."""
        window = budget_for(truncation.request.model, truncation.derivation.settings)
        fixed, kept = truncation.count_fixed(), truncation.count_kept(fit)
        if fixed + kept > window or not self._log_once.is_due(f"{key.tenant}\n{key.id}"):
            return
        _logger.warning(
            "old messages are left out, and a resume block has no room: of a window of %d tokens, system prompt, tool"
            " definitions and what is reserved take %d, the newest messages %d; use a larger window, or shorten the"
            " system prompt or the tool definitions (session %s)",
            window,
            fixed,
            kept,
            one_line(key.id),
        )

    def _count_decision(self, key: SessionKey, truncation: Truncation, decision: CutDecision) -> None:
        """Increment the counters of a decision, and have a model refine the session if a cut is near."""
        for name in decision.counted:
            self._count(name)
        if decision.rewrite is not None:
            self._count("request_rewritten")
        self._refinement.prepare_cut(key, lambda: truncation.filled_share(decision.rewrite))

    def reminder(self, shortening: Shortening, held: HeldCut | None = None) -> Reminder | None:
        """Return the reminder for a request that is sent without some of its messages. Returns ``None`` if reminders
        are off, if nothing is relevant, or if the search fails, which is counted. The caller counts the reminder once
        it is sent.

        ``shortening``: the request, the messages that it keeps, and the tokens that are left. ``held``: the request's
        cut, if it is not recorded yet.
        """
        if not self._settings.reminder_tokens:
            return None
        try:
            with span("remind"):
                service = self.reminders if held is None else self._reminders_with(shortening.key, held)
                return service.remind(shortening)
        except Exception as error:
            self._count("reminder_failed")
            _logger.warning("reminder_failed: %s; the request went on without", type(error).__name__)
            return None

    def _reminders_with(self, key: SessionKey, held: HeldCut) -> ReminderService:
        """The service that makes reminders, for a session whose newest messages and cut are not recorded yet."""

        def read_texts(key: SessionKey, view: Callable[[HistoryMessages], T], /) -> T:
            most = self._settings.passages_max
            return self._access.messages.read(key, lambda history: view(held.add_messages(history, most)))

        return self.reminders.reading(lambda key, view: view(held.state), read_texts)

    def report_over_window(self, key: SessionKey) -> None:
        """Count a request that is sent although it exceeds the model's context window, and log it once a minute per
        session.
        """
        self._count("window_exceeded")
        self._limited_log.warn(
            one_line(key.id),
            "a request is larger than the model's window and goes on: its newest message alone, or what may not be cut,"
            " does not fit (session %s)",
        )

    def _report_left_to_others(self, request: ChatRequest) -> None:
        """Count, and log once a minute, why a request that could be long enough for a cut is never cut."""
        reason = reason_not_to_cut(request)
        if reason:
            self._count(f"not_cut_{reason}")
            self._limited_log.warn(reason, "a transcript is not cut: the request leaves its history to others (%s)")

    def spared_results(self, key: SessionKey, request: ChatRequest) -> Spared | None:
        """Return a function that estimates which share of each message of ``request`` compression removes (0.0: none of
        it). ``request``: a framework's list of messages, in which only tool results are compressed. ``None`` if no
        compression stage is on.
        """
        return None if self.compression is None else partial(self.compression.spared_results, key, request.messages)

    def condense(
        self, key: SessionKey, request: ChatRequest, rewrite: Rewrite | None = None
    ) -> CondensedRequest | None:
        """Compress the texts of ``request`` as the settings say. Returns ``None`` if the request is to be sent
        uncompressed: compression is off, shortens nothing, or must not change this request. Counts the outcome.

        ``rewrite``: how the request is cut; messages that the cut leaves out are not compressed.
        """
        if self.compression is None:
            return None
        with span("compress", messages=len(request.messages)):
            found = self.compression.condense(key, request, self._access.counters.of(request.model).counter, rewrite)
        if isinstance(found, str):
            self._count(found, int(bool(found)))
            return None
        self._count("request_compressed")
        return found
