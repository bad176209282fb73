"""Follow the reply of an outgoing model call while its pieces arrive: record the turn, and pass the pieces to the
response cache.
"""

from __future__ import annotations

from tokenmizer_mw.chat.exchange import ChatExchange
from tokenmizer_mw.chat.service import SessionService
from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.wire.http import Headers


class ReplyWatch:
    """Receives the pieces of a reply from a transport, records the turn, and passes the pieces to the
    response cache.
    """

    def __init__(self, service: SessionService, exchange: ChatExchange) -> None:
        self._service = service
        self._exchange = exchange
        self._observer = exchange.observer

    @property
    def is_settled(self) -> bool:
        """Whether the recorded turn is final, so that later pieces cannot change it."""
        return self._exchange.is_settled

    def start(self, status: int, headers: Headers) -> None:
        """Note that the response begins, with this status and these headers."""
        self._service.start_reply(self._exchange, status, headers)
        if self._observer is not None:
            self._observer.starts(status, headers)

    def take(self, piece: bytes) -> bool:
        """Take the next piece of the body. Returns whether the turn must be recorded (``commit``) before the caller
        gets the piece.
        """
        if self._observer is not None:
            self._observer.takes(bytes(piece))
        return self._service.take_piece(self._exchange, piece)

    def commit(self, *, last: bool, outcome: Outcome | None = None, attempt: bool = False) -> None:
        """Record the turn if its reply is complete or its ``last`` piece was seen, and wait until it is durable or the
        deadline has passed. See ``SessionService.commit``.
        """
        if last and outcome is None and not attempt:
            self._complete()
        self._service.commit(self._exchange, last=last, outcome=outcome, attempt=attempt)

    async def acommit(self, *, last: bool) -> None:
        """``commit`` from an event loop."""
        if last:
            self._complete()
        await self._service.acommit(self._exchange, last=last)

    def leave(self, outcome: Outcome | None, *, attempt: bool = False) -> None:
        """End the call; a turn that was not committed is recorded in the background."""
        self._service.leave(self._exchange, outcome, attempt=attempt)

    def release(self) -> None:
        """Report that the caller has received the last piece. Facts are then extracted in the background."""
        self._service.schedule_extraction(self._exchange)

    def end(self) -> None:
        """Report that nothing more of the response will be read."""
        if self._observer is not None:
            self._observer.over()

    def _complete(self) -> None:
        if self._observer is not None:
            self._observer.end_response()
