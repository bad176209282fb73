"""ASGI wrapper that answers one request from the response cache, or records the response of the application for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from .answer import CachedAnswer
    from .answers import CacheLookup


class CachedApp:
    """An ASGI application with the response cache before it, for one request. ``asking``: the request's cache lookup;
    ``marker``: name of the response header that reports a cache hit."""

    def __init__(self, app: ASGIApp, asking: CacheLookup, marker: str) -> None:
        self._app = app
        self._asking = asking
        self._marker = marker

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request: with the cached response if there is one, without calling the application; else by
        calling the application, whose response is recorded for the cache if it may be cached."""
        answer = await self._asking.alook()
        if answer is not None:
            await self._replay(answer, send)
        elif self._asking.recording is not None:
            await self._app(scope, receive, self._recording(send))
        else:
            await self._app(scope, receive, send)

    async def _replay(self, answer: CachedAnswer, send: Send) -> None:
        """Send the cached response ``answer`` with status 200, in the pieces in which it first arrived."""
        await send({"type": "http.response.start", "status": 200, "headers": answer.headers(self._marker)})
        for piece in answer.pieces():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _recording(self, send: Send) -> Send:
        asking = self._asking

        async def send_and_record(message: Message) -> None:
            match message["type"]:
                case "http.response.start":
                    headers = message.get("headers", ())
                    if not isinstance(headers, list | tuple):
                        headers = list(headers)
                        message = {**message, "headers": headers}
                    asking.starts(message["status"], headers)
                case "http.response.body":
                    piece: object = message.get("body")
                    asking.takes(
                        bytes(piece) if isinstance(piece, bytearray | memoryview) else cast("bytes", piece or b"")
                    )
                    if not message.get("more_body", False):
                        asking.end_response()
            await send(message)

        return send_and_record
