"""One chat call through an ASGI application that ends in a scripted provider, without sockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

_HEADERS = [(b"content-type", b"application/json")]


def call_app(
    wrap: Callable[[Any], Any],
    path: str,
    session: str,
    body: bytes,
    reply: Mapping[str, Any],
    scope: Mapping[str, Any] | None = None,
) -> tuple[bytes, bytes]:
    """Post ``body`` to ``path`` of the application ``wrap(provider)``, and return the body that reached the provider
    and the body that the client received.

    ``session``: the session's id, sent as a header; ``reply``: the JSON that the provider answers; ``scope``: further
    members of the ASGI scope.
    """
    return asyncio.run(_call_app(wrap, path, session, body, reply, scope or {}))


async def _call_app(
    wrap: Callable[[Any], Any],
    path: str,
    session: str,
    body: bytes,
    reply: Mapping[str, Any],
    further: Mapping[str, Any],
) -> tuple[bytes, bytes]:
    sent: list[bytes] = []
    answered: list[bytes] = []

    async def provider(scope: Any, receive: Any, send: Any) -> None:
        more = True
        while more:
            piece = await receive()
            sent.append(piece["body"])
            more = piece["more_body"]
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        await send({"type": "http.response.body", "body": json.dumps(reply).encode(), "more_body": False})

    given = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        return given.pop() if given else {"type": "http.disconnect"}

    async def send(message: Mapping[str, Any]) -> None:
        answered.append(message.get("body", b""))

    headers = [*_HEADERS, (b"x-session-id", session.encode())]
    scope = {"type": "http", "method": "POST", "path": path, "headers": headers, "query_string": b"", **further}
    await wrap(provider)(scope, receive, send)
    return b"".join(sent), b"".join(answered)
