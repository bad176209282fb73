"""A request's body read before its turn, and given on as if it had not been."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Message, Receive


async def read_ahead(receive: Receive, limit: int) -> list[Message]:
    """The body in one message; in several when it is longer than ``limit`` bytes, or when the client left within it."""
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
    """The body that was read ahead; ``None`` where it is not all there."""
    first = messages[0]
    if len(messages) > 1 or first["type"] != "http.request" or first.get("more_body"):
        return None
    body: bytes = first.get("body", b"")
    return body


def replayed(messages: list[Message], receive: Receive) -> Receive:
    """``receive`` that begins with what was read ahead."""

    async def replaying() -> Message:
        return messages.pop(0) if messages else await receive()

    return replaying
