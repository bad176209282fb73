"""Reads a request body early, and replays it to the inner application."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Message, Receive


async def read_ahead(receive: Receive, limit: int) -> list[Message]:
    """Read the body; return it as one ASGI message.

    If the body is longer than ``limit`` bytes, or the client disconnects, it stops there and returns the messages read
    so far, not joined.
    """
    messages: list[Message] = []
    size = 0
    while True:
        message = await receive()
        messages.append(message)
        size += len(message.get("body", b""))
        if message["type"] != "http.request" or size > limit:
            return messages
        if not message.get("more_body"):
            break
    if len(messages) == 1:
        return messages
    return [{"type": "http.request", "body": b"".join(part.get("body", b"") for part in messages), "more_body": False}]


def whole_body(messages: list[Message]) -> bytes | None:
    """Return the body that ``read_ahead`` read; ``None`` if it is incomplete."""
    first = messages[0]
    if len(messages) > 1 or first["type"] != "http.request" or first.get("more_body"):
        return None
    body: bytes = first.get("body", b"")
    return body


def replay_messages(messages: list[Message], receive: Receive) -> Receive:
    """Return a ``receive`` that first returns ``messages`` and then calls ``receive``."""

    async def replaying() -> Message:
        return messages.pop(0) if messages else await receive()

    return replaying
