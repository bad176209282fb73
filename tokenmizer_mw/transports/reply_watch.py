"""The reply of an outgoing call as it comes by: its turn, and whoever else observes it."""

from __future__ import annotations

from tokenmizer_mw.chat.exchange import ChatExchange
from tokenmizer_mw.chat.service import SessionService
from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.wire.headers import Headers


class ReplyWatch:
    """What a transport tells of a reply: the cache of answers records it, the service commits its turn."""

    def __init__(self, service: SessionService, exchange: ChatExchange) -> None:
        self._service = service
        self._exchange = exchange
        self._observer = exchange.observer

    @property
    def is_settled(self) -> bool:
        """Whether nothing that comes now can add to the turn."""
        return self._exchange.is_settled

    def start(self, status: int, headers: Headers) -> None:
        """The response begins."""
        self._service.start_reply(self._exchange, status, headers)
        if self._observer is not None:
            self._observer.starts(status, headers)

    def take(self, piece: bytes) -> bool:
        """Whether the turn is to be committed before ``piece`` is released."""
        if self._observer is not None:
            self._observer.takes(bytes(piece))
        return self._service.take_piece(self._exchange, piece)

    def commit(self, *, last: bool, outcome: Outcome | None = None, attempt: bool = False) -> None:
        """See ``SessionService.commit``."""
        if last and outcome is None and not attempt:
            self._complete()
        self._service.commit(self._exchange, last=last, outcome=outcome, attempt=attempt)

    async def acommit(self, *, last: bool) -> None:
        """See ``SessionService.acommit``."""
        if last:
            self._complete()
        await self._service.acommit(self._exchange, last=last)

    def leave(self, outcome: Outcome | None, *, attempt: bool = False) -> None:
        """See ``SessionService.leave``."""
        self._service.leave(self._exchange, outcome, attempt=attempt)

    def release(self) -> None:
        """The caller has the last piece."""
        self._service.schedule_extraction(self._exchange)

    def end(self) -> None:
        """Nothing more of the response will be read."""
        if self._observer is not None:
            self._observer.over()

    def _complete(self) -> None:
        if self._observer is not None:
            self._observer.ended()
