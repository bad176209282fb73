"""Record the turn of a chat call exactly once when its reply is complete, then schedule extraction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from tokenmizer_mw.chat.ended_call import Booked
from tokenmizer_mw.chat.exchange import ChatExchange, ClosedExchange
from tokenmizer_mw.chat.extraction import ExtractionSchedule
from tokenmizer_mw.chat.redaction import ContentRedaction
from tokenmizer_mw.chat.reports import FailureReports
from tokenmizer_mw.chat.session_access import SessionAccess
from tokenmizer_mw.chat.totals import Books
from tokenmizer_mw.chat.turns import TurnCommit
from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.runtime.background import BackgroundQueue
from tokenmizer_mw.safety.fence import may_echo
from tokenmizer_mw.session import tools_digest
from tokenmizer_mw.store.resilience.spool import SpooledTurn
from tokenmizer_mw.store.resilience.waiting import await_submitted
from tokenmizer_mw.wire.headers import Headers
from tokenmizer_mw.wire.host_texts import is_side_call

ATTEMPT_FAILED: Final = "attempt_failed"
"""Counter of outgoing calls without a usable response: nothing of them is recorded, an SDK may make them again."""


class ExchangeCommit:
    """Records chat calls whose reply is complete. Raises nothing: failures are counted and logged."""

    def __init__(
        self,
        access: SessionAccess,
        redaction: ContentRedaction,
        turns: TurnCommit,
        extraction: ExtractionSchedule,
        books: Books,
        background: BackgroundQueue,
        reports: FailureReports,
        count: Callable[..., None],
    ) -> None:
        self._access = access
        self._redaction = redaction
        self._turns = turns
        self._extraction = extraction
        self._books = books
        self._background = background
        self._reports = reports
        self._count = count

    def start(self, exchange: ChatExchange, status: int, headers: Headers) -> None:
        """Note that the response begins, with this status and these headers."""
        try:
            exchange.start_reply(status, headers)
        except Exception as error:
            self.give_up(exchange, error)

    def take(self, exchange: ChatExchange, piece: bytes) -> bool:
        """Take the next piece of the body, of any bytes type. Returns whether the turn must be committed before the
        client gets it. Failures are counted, not raised.
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

    def wait(self, exchange: ChatExchange, last: bool, outcome: Outcome | None, attempt: bool) -> None:
        """``settle``, then wait until the turn is durable, at most until the deadline. Blocks."""
        self._turns.wait_for_turn(self.settle(exchange, last, outcome, attempt))

    async def wait_on_loop(self, exchange: ChatExchange, last: bool) -> None:
        """``wait`` from an event loop."""
        try:
            turn = await await_submitted(partial(self.settle, exchange, last), self._turns.seconds_to_wait)
            if turn is not None:
                self._turns.note_waited(turn, turn.is_written)
        except Exception as error:
            self._reports.report_failure("commit_failed", error)

    def settle(
        self, exchange: ChatExchange, last: bool, outcome: Outcome | None = None, attempt: bool = False
    ) -> SpooledTurn | None:
        """Read the reply if it is complete or its ``last`` piece was seen, and submit the turn for writing; do not wait
        for that.

        Returns the submitted turn, or ``None`` when there is nothing to wait for.

        - ``outcome``: how the call ended, if the caller knows more than the reply says.
        - ``attempt``: the call may be retried; a failed one without content is not recorded.
        """
        with exchange.lock:
            if exchange.is_settled:
                return None
            try:
                closed = self._close(exchange, last, outcome, attempt)
                if closed is None:
                    return None
                return self._turns.submit_turn(
                    exchange.key,
                    closed.messages,
                    closed.reply,
                    size=exchange.held,
                    after=partial(self._complete, exchange, closed),
                    reminder=exchange.reminder,
                    may_echo=may_echo(exchange.request.text),
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
        """What joins the session now; ``None``: nothing yet, or nothing at all."""
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

    def _complete(self, exchange: ChatExchange, closed: ClosedExchange) -> None:
        """The turn is durable, in time or later. Runs in the thread that wrote it."""
        if exchange.observer is not None:
            exchange.observer.note_reply(closed.reply)
        if self._books.open:
            answered = exchange.observer is not None and exchange.observer.is_answered
            exchange.booked = Booked(
                exchange.request,
                closed.reply,
                exchange.rewrite,
                exchange.savings,
                answered=answered,
                moved=exchange.moved,
            )
        for reason in closed.reasons:
            self._count(reason.value)
        if not is_side_call(closed.messages):
            self._access.longest.note(exchange.key, len(exchange.body), tools_digest(exchange.request))
        if self._redaction.ingress is not None:
            self._redaction.ingress.note(exchange.key, exchange.sent, exchange.body, exchange.request)
        exchange.is_committed = True
        self._extract_when_due(exchange)

    def release(self, exchange: ChatExchange) -> None:
        """The client has its last piece: derive facts in the background, as soon as the turn is durable."""
        exchange.is_released = True
        self._extract_when_due(exchange)

    def _extract_when_due(self, exchange: ChatExchange) -> None:
        """Schedule extraction once the turn is durable and the client has its last piece, whichever comes last."""
        if not (exchange.is_committed and exchange.is_released and exchange.take_extraction()):
            return
        try:
            self._extraction.schedule(exchange.key)
            self._book_later(exchange)
        except Exception as error:
            self._reports.report_failure("extract_failed", error)

    def _book_later(self, exchange: ChatExchange) -> None:
        booked, exchange.booked = exchange.booked, None
        book = self._books.entry(booked) if booked is not None else None
        if book is not None and not self._background.put(object(), partial(book, exchange.key), exchange.held):
            self._count("savings_not_kept")

    def leave(self, exchange: ChatExchange, outcome: Outcome | None, attempt: bool) -> None:
        """The call is over. What was not settled is, in the background: nobody waits for it."""
        if exchange.is_settled or outcome is not None:
            _end(exchange)
        self.release(exchange)
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
            turn.result.add_done_callback(lambda _: _end(exchange))
        else:
            _end(exchange)


def _end(exchange: ChatExchange) -> None:
    """Nothing more of the response will be read."""
    if exchange.observer is not None:
        exchange.observer.over()


def _close_interrupted(closed: ClosedExchange, outcome: Outcome | None) -> ClosedExchange | None:
    """An attempt that broke off, or that the caller broke off (``outcome``); ``None`` when nothing came of it."""
    reply = closed.reply
    if outcome is None:
        return closed if reply is not None and reply.message is not None else None
    if reply is None or reply.outcome is not Outcome.TRUNCATED or reply.finish_reason:
        return closed
    return replace(closed, reply=replace(reply, outcome=outcome))
