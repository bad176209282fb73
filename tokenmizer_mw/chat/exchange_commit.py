"""Record the turn (the new messages of the request, and the reply) of a chat call exactly once when its reply is
complete, then schedule the extraction of facts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from tokenmizer_mw.chat.content_redaction import ContentRedaction
from tokenmizer_mw.chat.cuts import CutPreparation
from tokenmizer_mw.chat.exchange import ChatExchange, ClosedExchange
from tokenmizer_mw.chat.reports import FailureReports
from tokenmizer_mw.chat.session_access import SessionAccess
from tokenmizer_mw.chat.turns import ExtractionSchedule, TurnCommit
from tokenmizer_mw.chat.usage import EndedCall, UsageAccounting
from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.model.message import Message, Outcome, Role
from tokenmizer_mw.runtime.background import BackgroundQueue
from tokenmizer_mw.safety.fence import may_echo
from tokenmizer_mw.session import tools_digest
from tokenmizer_mw.store.resilience.spool import SpooledTurn
from tokenmizer_mw.store.resilience.waiting import await_submitted
from tokenmizer_mw.wire.host_texts import is_side_call
from tokenmizer_mw.wire.http import Headers

_EMPTY: Final = Message(Role.ASSISTANT)
ATTEMPT_FAILED: Final = "attempt_failed"
"""Counter of outgoing calls that got no usable response. Nothing of them is recorded, because the SDK may send them
again."""

REQUEST_REFUSED: Final = "request_refused"
"""Counter of requests that the application or the provider answered with status 3xx or 4xx: they are not recorded."""


@dataclass(eq=False, slots=True)
class ExchangeCommit:
    """Records chat calls whose reply is complete. Raises nothing: failures are counted and logged.

    ``cuts``: loads the token counter after a recorded call if the chat may be cut before long.
    """

    _access: SessionAccess
    _redaction: ContentRedaction
    _turns: TurnCommit
    _extraction: ExtractionSchedule
    _usage: UsageAccounting
    _background: BackgroundQueue
    _reports: FailureReports
    _count: Callable[..., None]
    _cuts: CutPreparation

    def start_reply(self, exchange: ChatExchange, status: int, headers: Headers) -> None:
        """Note that the response begins. Its ``status`` and ``headers`` decide whether its body is collected for the
        record. A failure is counted and logged, not raised; the call is then not recorded."""
        try:
            exchange.start_reply(status, headers)
        except Exception as error:
            self.give_up(exchange, error)

    def take_piece(self, exchange: ChatExchange, piece: bytes) -> bool:
        """Take the next piece of the body, of any bytes type. Returns whether the turn must be committed before the
        client gets it. A failure is counted, not raised, and returns false.
        """
        if exchange.is_settled or not piece:
            return False
        try:
            return exchange.receive(piece if type(piece) is bytes else bytes(piece))
        except Exception as error:
            self.give_up(exchange, error)
            return False

    def give_up(self, exchange: ChatExchange, error: Exception) -> None:
        """Stop collecting the reply after an internal error; the call is not recorded."""
        exchange.is_settled = True
        self._reports.report_failure("collect_failed", error)
        _end(exchange)

    def commit(
        self, exchange: ChatExchange, *, last: bool, outcome: Outcome | None = None, attempt: bool = False
    ) -> None:
        """Submit the turn of ``exchange`` (the new messages of its request, and the reply) for writing if the reply is
        complete or ``last`` is true (no more pieces come), and wait until it is stored, at most
        ``Settings.store_wait_seconds``; after that it is written in the background. Does not wait while the store is
        known not to answer, and does nothing if the turn was submitted before. Blocks.

        ``outcome``: how the call ended, if the caller knows more than the reply says; else ``None``. ``attempt``: true
        if the call may be retried; a failed attempt without content is not recorded.
        """
        self._turns.wait_for_turn(self.settle(exchange, last, outcome, attempt))

    async def acommit(self, exchange: ChatExchange, *, last: bool) -> None:
        """Submit the turn of ``exchange`` for writing if its reply is complete or ``last`` is true (no more pieces
        come), and await until it is stored, at most ``Settings.store_wait_seconds``; after that it is written in the
        background. Does not block the event loop, and does not raise: failures are counted and logged."""
        try:
            turn = await await_submitted(partial(self.settle, exchange, last), self._turns.seconds_to_wait)
            if turn is not None and not turn.is_written:
                self._turns.note_waited(turn, False)
        except Exception as error:
            self._reports.report_failure("commit_failed", error)

    def settle(
        self,
        exchange: ChatExchange,
        last: bool,
        outcome: Outcome | None = None,
        attempt: bool = False,
        *,
        writes: bool = False,
    ) -> SpooledTurn | None:
        """Parse the reply if it is complete or its ``last`` piece has arrived, and submit the turn for writing without
        waiting.

        Returns the submitted turn. ``None``: it was submitted before, the reply is not complete, or nothing is
        recorded.

        - ``outcome``: how the call ended, if the caller knows more than the reply says.
        - ``attempt``: true if the call may be retried; a failed attempt without content is not recorded.
        - ``writes``: true if the caller's thread may write queued turns itself and wait for the store. If ``go_on`` of
          the returned turn is set, the caller must call that next.
        """
        with exchange.lock:
            if exchange.is_settled:
                return None
            try:
                closed = self._close(exchange, last, outcome, attempt)
                if closed is None:
                    return None
                if exchange.collector.is_unreadable(closed.reply):
                    self._reports.report_unreadable_reply(exchange.path)
                request = closed.request
                is_own = not is_side_call(request.messages)
                return self._turns.submit_turn(
                    exchange.key,
                    request.messages,
                    closed.reply,
                    size=exchange.held,
                    after=partial(self._complete, exchange, closed, is_own),
                    reminder=exchange.rewrite.reminder if exchange.rewrite is not None else None,
                    may_echo=may_echo(request.text),
                    side_call=not is_own,
                    writes=writes,
                    cut=exchange.held_cut,
                )
            except MalformedRequest as error:
                exchange.is_settled = True
                self._reports.report_unreadable(exchange.path, str(error))
            except Exception as error:
                exchange.is_settled = True
                self._reports.report_failure("commit_failed", error)
            return None

    def _close(
        self, exchange: ChatExchange, last: bool, outcome: Outcome | None, attempt: bool
    ) -> ClosedExchange | None:
        """Return what is to be recorded now; ``None`` if the reply is not complete yet, or if nothing of the call is
        recorded."""
        if exchange.collector.is_refused:  # whoever sent it may not be allowed to: nothing of it is believed
            exchange.is_settled = True
            self._count(REQUEST_REFUSED)
            _end(exchange)
            return None
        closed = exchange.close(None if attempt else outcome)
        exchange.is_settled = last or closed.settled
        if not exchange.is_settled:
            return None
        if not attempt:
            return closed
        interrupted = _close_interrupted(closed, outcome)
        if interrupted is None:
            self._count(ATTEMPT_FAILED)
        return interrupted

    def _complete(self, exchange: ChatExchange, closed: ClosedExchange, is_own: bool) -> None:
        """Do what remains once the turn is stored: inform the response cache, count, prepare what follows, release
        extraction. Runs in the thread that stored the turn. ``is_own``: whether the call belongs to the chat; false if
        the client application made it for itself, such as for a title."""
        request = closed.request
        if exchange.observer is not None:
            exchange.observer.note_reply(closed.reply)
        if self._usage.open:
            answered = exchange.observer is not None and exchange.observer.is_answered
            exchange.ended = EndedCall(
                request,
                closed.reply,
                exchange.rewrite,
                exchange.savings,
                answered=answered,
                moved=exchange.moved,
            )
        for reason in closed.reasons:
            self._count(reason.value)
        reply = closed.reply
        if reply is not None and reply.outcome is Outcome.COMPLETE and reply.message == _EMPTY:
            self._count("reply_empty")
        if is_own:
            self._access.longest.note(exchange.key, len(exchange.body), tools_digest(request))
        if self._redaction.redactor is not None:
            self._redaction.redactor.note(exchange.key, exchange.sent, exchange.body, request)
        size = len(exchange.body)
        if size >= self._cuts.soon_from and not exchange.fixed and self._cuts.lacks_counter(size, request.model):
            exchange.uncounted_model = request.model
        exchange.is_committed = True
        if exchange.is_released:
            self._extract(exchange)

    def schedule_extraction(self, exchange: ChatExchange) -> None:
        """Extract facts in the background as soon as the turn is stored as well. Call it when the client has the last
        piece."""
        exchange.is_released = True
        if exchange.is_committed:
            self._extract(exchange)

    def _extract(self, exchange: ChatExchange) -> None:
        """Schedule extraction once. Called when the turn is stored and the client has its last piece; two threads may
        notice that at the same time, and only one of them schedules."""
        try:
            exchange.extraction.pop()
        except IndexError:
            return
        try:
            self._extraction.schedule(exchange.key, is_chat=True)
            if exchange.uncounted_model is not None:
                self._cuts.load_counter_later(exchange.uncounted_model)
            if exchange.ended is not None:
                self._record_usage_later(exchange)
        except Exception as error:
            self._reports.report_failure("extract_failed", error)

    def _record_usage_later(self, exchange: ChatExchange) -> None:
        ended, exchange.ended = exchange.ended, None
        record_usage = self._usage.entry(ended) if ended is not None else None
        if record_usage is not None and not self._background.put(
            object(), partial(record_usage, exchange.key), exchange.held
        ):
            self._count("savings_not_kept")

    def leave(self, exchange: ChatExchange, outcome: Outcome | None, *, attempt: bool = False) -> None:
        """End the call of ``exchange``. If its turn was not submitted yet, that is done in the background.

        ``outcome``: how the call ended, if the caller knows more than the reply says; else ``None``. ``attempt``: true
        if the call may be retried. Does not raise: failures are counted and logged.
        """
        if exchange.observer is not None and (exchange.is_settled or outcome is not None):
            exchange.observer.over()
        if not exchange.is_released:
            self.schedule_extraction(exchange)
        try:
            if not exchange.is_settled:  # it may be under way still, when the caller was cancelled meanwhile
                work = partial(self._settle_late, exchange, outcome, attempt)
                if not self._background.put(object(), work, exchange.held):
                    self._count("dropped_queue_full")
                    _end(exchange)  # nobody else will tell those who wait
        except Exception as error:
            self._reports.report_failure("commit_failed", error)

    def _settle_late(self, exchange: ChatExchange, outcome: Outcome | None, attempt: bool) -> None:
        if outcome is None and not attempt and exchange.observer is not None:
            exchange.observer.end_response()
        turn = self.settle(exchange, True, outcome, attempt)
        if turn is not None:
            turn.when_settled(partial(_end, exchange))
        else:
            _end(exchange)


def _end(exchange: ChatExchange) -> None:
    """Tell the exchange's observer (the response cache) that no more of the response will be read."""
    if exchange.observer is not None:
        exchange.observer.over()


def _close_interrupted(closed: ClosedExchange, outcome: Outcome | None) -> ClosedExchange | None:
    """Return what to record of an attempt (a call that may be retried).

    ``outcome``: how the caller ended the call early; ``None`` if the caller did not, but the attempt failed. With an
    ``outcome`` the result is ``closed``, or a copy in which a reply that was cut short has this outcome. Without one
    the result is ``closed`` if a part of a message arrived, else ``None``: nothing is recorded.
    """
    reply = closed.reply
    if outcome is None:
        return closed if reply is not None and reply.message is not None else None
    if reply is None or reply.outcome is not Outcome.TRUNCATED or reply.finish_reason:
        return closed
    return replace(closed, reply=replace(reply, outcome=outcome))
