"""ASGI middleware that removes polite sentences ("I hope this helps!") from complete replies, not from streamed ones.

It runs inside the memory middleware, which therefore records the reply as the client receives it. Off unless the
settings switch it on. Only complete JSON replies are held back until they have arrived, so that other responses are not
delayed.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.runtime.offload import CPU, offload
from tokenmizer_mw.saving.compress.filler import trim_reply

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

INLINE_MAX: Final = 16 * 1024
"""Bytes up to which a reply is shortened on the event loop; a longer one is shortened in a worker thread."""

_log = logging.getLogger("tokenmizer_mw")


class TrimmedReplies:
    """Wraps an ASGI application, and removes polite sentences at the beginning and end of its JSON replies. Replies of
    more than ``most`` bytes stay unchanged."""

    def __init__(self, app: ASGIApp, *, most: int) -> None:
        self.app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request with the application, and send its response without polite sentences at the beginning and end
        of its texts, if it is a complete JSON reply of status 200; other responses are sent unchanged."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        await self.app(scope, receive, _Held(send, self._most).send)


class _Held:
    """A response that may have to be shortened: its start and its body are held back until the body is complete, or
    until it is clear that it is not shortened."""

    def __init__(self, send: Send, most: int) -> None:
        self._send = send
        self._most = most
        self._start: Message | None = None
        self._pieces: list[bytes] = []
        self._size = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_whole_json(message):
            self._start = message
            return
        if self._start is None or message["type"] != "http.response.body":
            await self._release()
            await self._send(message)
            return
        self._pieces.append(bytes(message.get("body", b"")))
        self._size += len(self._pieces[-1])
        more = message.get("more_body", False)
        if self._size > self._most:
            await self._release()
            if not more:
                await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        elif not more:
            await self._send_trimmed(b"".join(self._pieces))

    async def _release(self) -> None:
        """Send the start and the pieces that were held back, unchanged; later messages are no longer held back."""
        start, self._start = self._start, None
        if start is None:
            return
        await self._send(start)
        for piece in self._pieces:
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})

    async def _send_trimmed(self, body: bytes) -> None:
        start, self._start = self._start or {}, None
        try:
            shorter = trim_reply(body) if len(body) <= INLINE_MAX else await offload(lambda: trim_reply(body), CPU)
        except Exception as error:
            _log.warning("trim_failed: %s; the reply went on as it was", type(error).__name__)
            shorter = body
        if shorter is not body:
            length = str(len(shorter)).encode()
            pairs = [(name, length if name.lower() == b"content-length" else value) for name, value in start["headers"]]
            start = {**start, "headers": pairs}
        await self._send(start)
        await self._send({"type": "http.response.body", "body": shorter, "more_body": False})


def _is_whole_json(start: Message) -> bool:
    """Whether a response may be shortened: it has status 200 and is JSON without content encoding (such as gzip)."""
    headers = start["headers"] = list(start.get("headers", ()))
    lowered = {bytes(name).lower(): bytes(value).lower() for name, value in headers}
    encoded = lowered.get(b"content-encoding", b"identity") not in (b"", b"identity")
    kind = lowered.get(b"content-type", b"").partition(b";")[0].strip()
    return start["status"] == 200 and not encoded and kind == b"application/json"
