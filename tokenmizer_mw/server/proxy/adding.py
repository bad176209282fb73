"""Adds content to a response: to a stream event by event, to a JSON body once it is complete."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from tokenmizer_mw.context.compaction.streams import StreamEditor

from .headers import Header

if TYPE_CHECKING:
    from starlette.types import Message, Send

_STREAM: Final = b"text/event-stream"
_WHOLE: Final = b"application/json"


class Adding:
    """ASGI ``send`` that adds content to one response with status 200.

    ``added`` has the methods ``to_body`` and ``to_event``. A JSON body of more than ``most`` bytes passes unchanged.
    """

    def __init__(self, send: Send, added: Any, most: int) -> None:
        self._send = send
        self._added = added
        self._most = most
        self._start: Message | None = None
        self._held: list[bytes] = []
        self._size = 0
        self._passing: StreamEditor | None = None

    async def __call__(self, message: Message) -> None:
        """Send the next message of the application."""
        if message["type"] == "http.response.start":
            await self._begin(message)
        elif message["type"] != "http.response.body":
            await self._send(message)
        elif self._passing is not None:
            await self._stream(self._passing, message)
        elif self._start is not None:
            await self._hold(message)
        else:
            await self._send(message)

    async def close(self) -> None:
        """Send what is still buffered; call it after the application has returned."""
        if self._start is not None:
            await self._let_go(b"".join(self._held), more=False)

    async def _begin(self, message: Message) -> None:
        headers: list[Header] = list(message.get("headers", ()))
        kind = next((value for name, value in headers if name.lower() == b"content-type"), b"")
        media = kind.split(b";", 1)[0].strip().lower()
        if message["status"] == 200 and media == _WHOLE:
            self._start = message
            return
        if message["status"] == 200 and media == _STREAM:
            self._passing = StreamEditor(self._added.to_event)
            headers = [pair for pair in headers if pair[0].lower() != b"content-length"]
        await self._send({**message, "headers": headers})

    async def _stream(self, passing: StreamEditor, message: Message) -> None:
        more = bool(message.get("more_body", False))
        out = passing.feed(bytes(message.get("body", b"")))
        if not more:
            out += passing.end()
        if out or not more:
            await self._send({"type": "http.response.body", "body": out, "more_body": more})

    async def _hold(self, message: Message) -> None:
        piece = bytes(message.get("body", b""))
        self._held.append(piece)
        self._size += len(piece)
        if self._size > self._most:
            await self._let_go(b"".join(self._held), more=bool(message.get("more_body", False)))
        elif not message.get("more_body", False):
            await self._let_go(self._with_added(b"".join(self._held)), more=False)

    async def _let_go(self, body: bytes, *, more: bool) -> None:
        start, self._start = self._start, None
        assert start is not None
        headers = [pair for pair in start.get("headers", ()) if pair[0].lower() != b"content-length"]
        if not more:
            headers.append((b"content-length", b"%d" % len(body)))
        await self._send({**start, "headers": headers})
        await self._send({"type": "http.response.body", "body": body, "more_body": more})

    def _with_added(self, body: bytes) -> bytes:
        try:
            found = json.loads(body)
            if not isinstance(found, dict):
                return body
            told = json.dumps(self._added.to_body(found), ensure_ascii=False, separators=(",", ":"))
        except (ValueError, RecursionError):
            return body
        return told.encode("utf-8", "surrogatepass")
