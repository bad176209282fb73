"""Prepare a chat call before it is forwarded: find its session, redact secrets, look for prompt injection, and cut it
if necessary.

CPU-bound work and work that waits for the store run in separate thread pools, so that neither delays the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.chat.content_redaction import ContentRedaction
from tokenmizer_mw.chat.cuts import CutPreparation
from tokenmizer_mw.chat.exchange import ChatExchange
from tokenmizer_mw.chat.reports import FailureReports
from tokenmizer_mw.chat.request_guard import RequestGuard
from tokenmizer_mw.chat.session_access import SessionAccess
from tokenmizer_mw.context.window import Rewrite
from tokenmizer_mw.errors import MalformedRequest, RequestBlocked
from tokenmizer_mw.runtime.offload import CPU, STORE, offload
from tokenmizer_mw.runtime.tracing import span
from tokenmizer_mw.session import tools_digest
from tokenmizer_mw.session.naming import Reason
from tokenmizer_mw.settings import Settings

if TYPE_CHECKING:
    from tokenmizer_mw.safety.request_redaction import Beginning
    from tokenmizer_mw.saving.compress.requests import CondensedRequest


QUICK_MAX: Final = 16 * 1024
"""Bytes of new text in a request up to which it may be redacted on an event loop."""

INLINE_MAX: Final = 32 * 1024
"""Bytes of a request body that may be read on the event loop; longer ones are read in a worker thread."""


@dataclass(eq=False, slots=True)
class ExchangeOpening:
    """Prepares chat calls, from their bytes to the body to forward.

    Raises only ``RequestBlocked``. Any other failure is counted and logged, and the chat continues:

    - If the check for prompt injection, the cut, the reminder or the compression fails, only that step is left out.
    - If the request cannot be parsed or its secrets cannot be redacted, and after any other error, the original bytes
      are forwarded, and the call is not recorded.
    """

    _settings: Settings
    _access: SessionAccess
    _redaction: ContentRedaction
    _cuts: CutPreparation
    _guard: RequestGuard
    _reports: FailureReports
    _count: Callable[..., None]

    def prepare(self, exchange: ChatExchange) -> bool:
        """Find the session of a call, redact secrets, check for prompt injection, and replace old messages by a resume
        block if the chat fills its share of the model's context window (or, with ``Settings.cut`` "economy", if that
        saves money). Compress the texts if the settings say so. Blocks.

        Returns whether the call is recorded; the body to forward is then ``exchange.forwarded``. ``False``: the
        original bytes pass, and a counter gives the reason. Raises ``RequestBlocked``.
        """
        try:
            with span("request", bytes=len(exchange.body)):
                return self._open_whole(exchange, exchange.may_name_session)
        except Exception as error:
            return self._pass_over(exchange, error)

    async def aprepare(self, exchange: ChatExchange) -> bool:
        """Do what ``prepare`` does, without blocking the event loop: slow steps run in worker threads."""
        try:
            with span("request", bytes=len(exchange.body)):
                in_body = exchange.may_name_session
                if not self._redaction.is_ready:
                    return await offload(partial(self._open_whole, exchange, in_body), STORE)
                if in_body and len(exchange.body) > INLINE_MAX:
                    opened = await offload(partial(self._open_and_clean, exchange, True), CPU)
                elif opened := self._identify(exchange, in_body):
                    known = self._find_beginning(exchange)
                    clean = partial(self._clean, exchange, known)
                    opened = clean() if self._is_quick(exchange, known) else await offload(clean, CPU)
                if opened and exchange.forwarded is None:
                    await offload(partial(self._decide, exchange), STORE)
                return opened
        except Exception as error:
            return self._pass_over(exchange, error)

    def _open_whole(self, exchange: ChatExchange, in_body: bool) -> bool:
        if not self._open_and_clean(exchange, in_body):
            return False
        if exchange.forwarded is None:
            self._decide(exchange)
        return True

    def _open_and_clean(self, exchange: ChatExchange, in_body: bool) -> bool:
        return self._identify(exchange, in_body) and self._clean(exchange, self._find_beginning(exchange))

    def _identify(self, exchange: ChatExchange, in_body: bool) -> bool:
        if exchange.find_session(in_body=in_body):
            return True
        self._count((exchange.reason or Reason.SESSION_INVALID).value)
        return False

    def _find_beginning(self, exchange: ChatExchange) -> Beginning | None:
        """Return what is cached of an earlier request of the session, if this one begins with the same bytes; ``None``
        if it does not. Only the rest must then be searched for secrets."""
        redactor = self._redaction.redactor
        return redactor.find_beginning(exchange.key, exchange.body) if redactor is not None else None

    def _is_quick(self, exchange: ChatExchange, known: Beginning | None) -> bool:
        """Whether ``_clean`` is quick enough for an event loop: at most ``QUICK_MAX`` new bytes must be redacted, and
        the request gets no block of an outer application and is not compressed."""
        if exchange.block or (self._settings.compress and not exchange.fixed):
            return False
        new = len(exchange.body) - (known.length if known is not None else 0)
        return new <= QUICK_MAX or self._redaction.redactor is None

    def _clean(self, exchange: ChatExchange, known: Beginning | None) -> bool:
        """Redact secrets, and compute the body to forward if that needs no look into the store. Returns false if the
        call must pass unrecorded. Does not wait for the store."""
        if not self._redact(exchange, known):
            return False
        if not (self._guard.blocks or exchange.block or self._may_cut(exchange)):
            self._forward(exchange)
        return True

    def _redact(self, exchange: ChatExchange, known: Beginning | None) -> bool:
        """Redact secrets in the body. Returns false if that failed: nothing of the call may be stored then, and it
        passes unchanged."""
        redactor, body = self._redaction.redactor, exchange.body
        if redactor is None:
            return True
        try:
            clean = redactor.clean(body, known, exchange.left_out)
        except UnicodeError:
            self._reports.report_unreadable(exchange.path, "not JSON in UTF-8")
            return False
        except Exception as error:
            self._reports.report_failure("redaction_failed", error)
            return False
        if clean is not body:
            self._count("request_redacted")
            exchange.replace_body(clean)
        return True

    def _decide(self, exchange: ChatExchange) -> None:
        """Check the request for prompt injection, cut it if necessary, and compute the body to forward. Reads the
        store. Raises ``RequestBlocked``, and ``MalformedRequest``."""
        if self._guard.blocks:
            self._refuse_suspicious(exchange)
        if exchange.block:
            self._forward(exchange, self._behind_block(exchange))
        elif not (self._may_cut(exchange) and self._cut(exchange)):
            self._forward(exchange)

    def _behind_block(self, exchange: ChatExchange) -> Rewrite:
        """Return a rewrite that puts the exchange's block before the messages, and after the newest one a reminder of
        what it asks about and the block leaves out."""
        request = exchange.request
        rewrite = Rewrite(request.prefix, exchange.block, self._settings.block_role)
        if not exchange.checkpoint or exchange.fixed:
            return rewrite
        try:
            reminder = self._cuts.remind_compacted(exchange.key, request, exchange.checkpoint, exchange.block)
        except Exception as error:
            self._reports.report_failure("reminder_failed", error)
            return rewrite
        return replace(rewrite, reminder=reminder)

    def _refuse_suspicious(self, exchange: ChatExchange) -> None:
        try:
            self._guard.refuse_suspicious(exchange.key, exchange.request, exchange.dialect.name)
        except RequestBlocked:
            raise
        except Exception as error:
            self._reports.report_failure("guard_failed", error)

    def _may_cut(self, exchange: ChatExchange) -> bool:
        """Whether the transcript could be so long that it must be cut. Cheap; only a look into the store decides."""
        if exchange.fixed:
            return False
        if self._access.longest.may_be_compacted(exchange.key, exchange.body):
            return True
        return self._cuts.may_cut(exchange.body, exchange.dialect.linked, lambda: exchange.models)

    def _cut(self, exchange: ChatExchange) -> bool:
        """Cut the transcript if it is due, and compute the body to forward. Returns false if that failed or the request
        turns out to be too short. Raises ``MalformedRequest``."""
        request = exchange.request
        try:
            compacted = self._access.longest.may_be_compacted(exchange.key, exchange.body)
            if compacted or self._cuts.may_cut(exchange.body, exchange.dialect.linked, lambda: (request.model,)):
                rewrite, exchange.held_cut = self._cuts.prepare(exchange.key, request, compacted=compacted)
                if rewrite is not None:
                    in_front, size = rewrite.keep_from == request.prefix, len(exchange.body)
                    tools = tools_digest(request)
                    self._access.longest.note_block(exchange.key, size, tools, in_front=in_front)
                self._forward(exchange, rewrite)
                return True
        except Exception as error:
            self._reports.report_failure("cut_failed", error)
        return False

    def _forward(self, exchange: ChatExchange, rewrite: Rewrite | None = None) -> None:
        """Compute the body to forward: without the session field, cut as ``rewrite`` says, and compressed if the
        settings say so."""
        compresses = self._settings.compress and not exchange.fixed
        exchange.forward(rewrite, self._condense(exchange, rewrite) if compresses else None)
        if rewrite is not None and exchange.reminder is not None:
            self._count("reminder_sent")

    def _condense(self, exchange: ChatExchange, rewrite: Rewrite | None) -> CondensedRequest | None:
        try:
            return self._cuts.condense(exchange.key, exchange.request, rewrite)
        except MalformedRequest:
            raise
        except Exception as error:
            self._reports.report_failure("compress_failed", error)
            return None

    def _pass_over(self, exchange: ChatExchange, error: Exception) -> bool:
        """Count and log an error; the call then passes unchanged and unrecorded. Returns false. ``RequestBlocked`` is
        raised again."""
        if isinstance(error, RequestBlocked):
            raise error
        if isinstance(error, MalformedRequest):
            self._reports.report_unreadable(exchange.path, str(error))
        else:
            self._reports.report_failure("open_failed", error)
        return False
