"""Heads of requests, bounded in time and size where uvicorn reads them: an application is called only behind the head.

uvicorn waits for the rest of a head for ever, and with httptools it takes heads of any size. Give it ``PROTOCOL`` as
its ``http``. A client may take for a head as long as a connection may idle (``timeout_keep_alive``), and send as much
as ``h11_max_incomplete_event_size`` says, whichever parser reads it.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol

PROTOCOL: Final = "tokenmizer_mw.access.heads:BoundedProtocol"
"""What uvicorn's option ``http`` is to be."""

HEAD_MAX: Final = 64 * 1024

_TOO_SLOW: Final = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_TOO_LARGE: Final = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class _Bounded(asyncio.Protocol):
    """What both protocols share: how long a head has been coming, and how much of it came."""

    config: Config
    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    cycle: Any
    _timer: asyncio.TimerHandle | None = None
    _size = 0

    def in_head(self) -> bool:
        """Whether what comes next belongs to a head."""
        raise NotImplementedError

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client may connect and say nothing as long as one that idles."""
        super().connection_made(transport)
        self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._end()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """A part of a head, a whole one, or what comes behind."""
        before = self.in_head()
        super().data_received(data)
        if self.transport.is_closing() or not self.in_head():
            self._end()
            return
        self._size = self._size + len(data) if before else 1
        if self._size > (self.config.h11_max_incomplete_event_size or HEAD_MAX):
            self._refuse(_TOO_LARGE)
        elif self._timer is None:
            self._begin()

    def _begin(self) -> None:
        self._timer = self.loop.call_later(self.config.timeout_keep_alive, self._refuse, _TOO_SLOW)

    def _end(self) -> None:
        self._size = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, answer: bytes) -> None:
        """End the connection; with a word, unless an answer is under way or nothing was asked."""
        if self._size and (self.cycle is None or self.cycle.response_complete):
            self.transport.write(answer)
        self._end()
        self.transport.close()


class BoundedH11(_Bounded, H11Protocol):
    """uvicorn's protocol on h11."""

    def in_head(self) -> bool:
        """See ``_Bounded``."""
        return self.conn.their_state is h11.IDLE


try:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
except ModuleNotFoundError:  # httptools comes with an extra of uvicorn's
    BoundedProtocol: type[asyncio.Protocol] = BoundedH11
else:

    class BoundedHttpTools(_Bounded, HttpToolsProtocol):
        """uvicorn's protocol on httptools."""

        _between = True

        def in_head(self) -> bool:
            """See ``_Bounded``."""
            return self._between

        def on_message_begin(self) -> None:
            """The parser has seen the first byte of a head."""
            self._between = True
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            """The parser has seen the end of a head."""
            self._between = False
            super().on_headers_complete()

    BoundedProtocol = BoundedHttpTools
