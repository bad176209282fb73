"""Requests of frameworks that pass messages instead of HTTP bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tokenmizer_mw.chat.content_redaction import ContentRedaction
from tokenmizer_mw.chat.cuts import CutPreparation
from tokenmizer_mw.chat.request_guard import RequestGuard
from tokenmizer_mw.chat.session_access import SessionAccess
from tokenmizer_mw.context.assembly import Context, Reminder, Shortened
from tokenmizer_mw.context.tokens import MessageCounter
from tokenmizer_mw.context.window import Rewrite, budget_for, could_exceed
from tokenmizer_mw.model.message import Message
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.runtime.tracing import span
from tokenmizer_mw.session.reminder import CarriedReminder, Shortening, add_question
from tokenmizer_mw.session.truncation import Truncation
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.resilience.bounded_log import patience
from tokenmizer_mw.wire.history import History, history_of
from tokenmizer_mw.wire.messages import history, request_of


@dataclass(eq=False, slots=True)
class HostRequests:
    """Shortens chats of frameworks that have message objects instead of HTTP bodies, or composes the context from
    stored messages.
    """

    _settings: Settings
    _access: SessionAccess
    _redaction: ContentRedaction
    _cuts: CutPreparation
    _guard: RequestGuard
    _count: Callable[..., None]

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
        """Decide how a framework's chat is shortened before it is sent to a model.

        Returns ``None`` when the chat is sent as it is: while it has, with ``overhead`` and ``reserved``, at most the
        share ``Settings.cut_at`` of the window (with ``Settings.cut`` "economy", until a cut saves money). Otherwise
        the result names the messages that are sent, the resume block that replaces the others, and a reminder. A new
        cut is recorded together with the new messages.

        - ``messages``: the whole chat, oldest first. ``overhead``: other text of the request, counted as well.
        - ``window``: the model's context window in tokens; ``None``: derived from ``model`` and the settings.
          ``reserved``: tokens of it that must stay free.
        - ``question``: what will be asked next, if the chat does not end with it; "" for nothing.

        Raises ``InvalidMessage`` for anything that is not a chat message, ``ConfigError`` for a ``window`` of 0, and
        ``RequestBlocked`` when the guard refuses the request.
        """
        transcript = history(messages).through(self._redaction.remove_echoes)
        with patience(self._settings.store_wait_seconds):
            return self._shorten_transcript(
                self._access.key_of(session_id, tenant), transcript, model, overhead, window, reserved, question
            )

    def _shorten_transcript(
        self,
        key: SessionKey,
        transcript: History,
        model: str,
        overhead: str,
        window: int | None,
        reserved: int,
        question: str,
    ) -> Shortened | None:
        settings = self._settings if window is None else self._settings.with_window(window)
        long = could_exceed(request_of(transcript, model=model, overhead=overhead), settings, reserved=reserved)
        if self._redaction.redactor is not None:
            transcript = transcript.through(self._redaction.redactor.message)
        request = request_of(transcript, model=model, overhead=overhead)
        if self._guard.blocks:
            self._guard.refuse_suspicious(key, request)
        if not long:
            return None
        derivation = replace(self._access.derivation, settings=settings)
        truncation = Truncation(
            derivation,
            key,
            request,
            self._access.counters.of(model),
            reserved=reserved,
            spared=self._cuts.spared_results(key, request),
            read_sentences=self._access.sentence_reader(key),
        )
        decision = self._cuts.decide(key, truncation)
        rewrite = decision.rewrite
        fit = self._fit(truncation, rewrite, int(budget_for(model, settings) * settings.cut_at))
        self._cuts.count_fit(key, truncation, decision, fit)
        if reserved + truncation.count_taken(fit.block, fit.kept, fit.results) > budget_for(model, settings):
            self._cuts.report_over_window(key)
        if not fit.block and not fit.results and len(fit.kept) == len(transcript) - request.prefix:
            self._cuts.reminders.expect_cut(key)
            return None
        left = budget_for(model, settings) - reserved - self._access.counters.of(model).text(overhead)
        return replace(fit, reminder=self._host_reminder(truncation, rewrite, fit, left, question))

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
        """Select which part of a chat that was stored with ``SessionMemory.add`` is sent to a model.

        Returns the whole chat while it has, with ``reserved``, at most the share ``Settings.cut_at`` of ``limit`` (with
        ``Settings.cut`` "economy", until a cut saves money). After that it returns the newest messages, and a resume
        block in place of the older ones. An empty ``Context`` for a session without messages.

        - ``limit``: the model's context window in tokens; ``reserved``: tokens of it that must stay free.
        - ``model``: name of the model; ``counter``: counts tokens; ``None``: the counter for ``model``.
        - ``question``: what will be asked next, if the chat does not end with it; "" for nothing.

        Raises ``ConfigError`` for a ``limit`` of 0.
        """
        key = self._access.key_of(session_id, tenant)
        recorded = [one for one in self._access.read_messages(key) if not one.archived]
        if not recorded:
            return Context()
        settings = self._settings.with_window(limit)
        derivation = replace(self._access.derivation, settings=settings)
        request = request_of(history_of([one.message for one in recorded]), model=model)
        numbers = [one.number for one in recorded]
        truncation = Truncation(
            derivation,
            key,
            request,
            counter or self._access.counters.of(model),
            numbers,
            reserved,
            spared=self._cuts.spared_results(key, request) if could_exceed(request, settings) else None,
            read_sentences=self._access.sentence_reader(key),
        )
        decision = self._cuts.decide(key, truncation)
        rewrite = decision.rewrite
        fit = self._fit(truncation, rewrite, limit)
        self._cuts.count_fit(key, truncation, decision, fit)
        reminder = self._host_reminder(truncation, rewrite, fit, limit - reserved, question)
        return truncation.context(recorded, replace(fit, reminder=reminder))

    def _fit(self, truncation: Truncation, rewrite: Rewrite | None, limit: int) -> Shortened:
        """Return which messages of a framework's chat are sent, within ``limit`` tokens, with shortened tool results if
        compression is on."""
        fit = self._access.sessions.read(truncation.key, lambda state: truncation.fit(state, rewrite, limit))
        if self._cuts.compression is None or truncation.spared is None:
            return fit
        through = rewrite.through if rewrite is not None else None
        messages = truncation.request.messages
        with span("compress", messages=len(messages)):
            results = self._cuts.compression.shorter_results(truncation.key, messages, fit.kept, through)
        self._count("request_compressed", int(bool(results)))
        return replace(fit, results=results)

    def _host_reminder(
        self, truncation: Truncation, rewrite: Rewrite | None, fit: Shortened, room: int, question: str
    ) -> Reminder | None:
        """Return the reminder for a framework's request that is sent as ``fit`` says; ``None`` for none. ``room``:
        tokens that the whole request may take. The reminder is recorded with the next messages of the session."""
        request = add_question(truncation.request, self._redaction.redact_text(question))
        if not fit.block or request is None or not self._settings.reminder_tokens:
            return None
        is_asked_next = request is not truncation.request
        kept = (*fit.kept, len(truncation.request.messages)) if is_asked_next else fit.kept
        cut, sent = self._access.sessions.read(truncation.key, lambda state: truncation.left_out(state, rewrite, fit))
        left = room - truncation.count_taken(fit.block, fit.kept, fit.results)
        reminder = self._cuts.reminder(Shortening(truncation.key, request, kept, left, truncation.counter, cut, sent))
        self._count("reminder_sent", int(reminder is not None))
        if reminder is not None and reminder.new is not None:
            self._access.carried.put(truncation.key, [CarriedReminder(reminder.cut, reminder.new)])
        return reminder
