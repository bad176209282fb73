"""Request bodies before the inner application reads them: reads a body early and replays it, limits its content, and
stops work for a client that has disconnected."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tokenmizer_mw.runtime.offload import CPU, offload
from tokenmizer_mw.server.access.bounds import Bounds, Excess, excess
from tokenmizer_mw.server.access.refusals import dialect_at
from tokenmizer_mw.wire.http import Header, header
from tokenmizer_mw.wire.reply import refusal

from .api_paths import api_path_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


async def read_ahead(receive: Receive, limit: int) -> list[Message]:
    """Read the whole request body. Returns a list with one ASGI message, for ``whole_body`` and ``replay_messages``.

    If the body is longer than ``limit`` bytes or the client disconnects, reading stops, and the messages read so far
    are returned separately.
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
    """Return the request body in the list that ``read_ahead`` returned; ``None`` if ``read_ahead`` stopped before the
    end."""
    first = messages[0]
    if len(messages) > 1 or first["type"] != "http.request" or first.get("more_body"):
        return None
    body: bytes = first.get("body", b"")
    return body


def replay_messages(messages: list[Message], receive: Receive) -> Receive:
    """Return an ASGI ``receive`` that first returns ``messages``, one per call, and then calls ``receive``. It removes
    the messages from the list."""

    async def replaying() -> Message:
        return messages.pop(0) if messages else await receive()

    return replaying


async def run_while_connected(receive: Receive, work: Coroutine[Any, Any, None]) -> bool:
    """Run ``work``, and cancel it if the client disconnects. Returns true if ``work`` ran to its end, false if it was
    cancelled for that reason.

    The whole request body must have been read before, since ``receive`` is used to notice the disconnect. ``work`` runs
    in the caller's task, so it sees the caller's context variables, and a cancellation of the caller reaches it.
    """
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("the proxy runs on asyncio")
    watch = _Watch(receive, task)
    watching = asyncio.ensure_future(watch.run())
    try:
        await work
    except asyncio.CancelledError:
        if not watch.cancelled or task.uncancel() > 0:
            raise
        return False
    finally:
        watch.over = True
        watching.cancel()
    if watch.cancelled:  # at the very end: the cancellation is still to be delivered
        await _swallow_cancellation(task)
    return True


async def send_body(send: Send, status: int, body: bytes, content_type: bytes = b"application/json") -> None:
    """Send a complete ASGI response: status, headers and body."""
    headers = [(b"content-type", content_type), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def send_refusal(send: Send, dialect: str, status: int, code: str, message: str) -> None:
    """Send a complete error response in the format that clients of ``dialect`` expect, such as "openai_chat" ("" for a
    general format). ``code`` is for programs, ``message`` for people."""
    await send_body(send, status, refusal(dialect, status, code, message))


def dialect_of(scope: Scope) -> str:
    """Return the name of the format in which the client of a request expects an error response, such as "openai_chat".
    For an unknown path, the most likely one."""
    api_path = api_path_of(scope["path"], scope["headers"])
    return api_path.error_dialect if api_path is not None else dialect_at(scope["path"])


def is_encoded(headers: Sequence[Header]) -> bool:
    """Return whether the header ``Content-Encoding`` says that the body is compressed."""
    return header(headers, b"content-encoding") not in (None, b"", b"identity")


class _Watch:
    """Cancels ``task`` when the client disconnects, unless ``over`` is true. ``cancelled``: whether it has done so."""

    __slots__ = ("_receive", "_task", "cancelled", "over")

    def __init__(self, receive: Receive, task: asyncio.Task[Any]) -> None:
        self._receive, self._task = receive, task
        self.over = self.cancelled = False

    async def run(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        if not self.over:
            self.cancelled = True
            self._task.cancel()


async def _swallow_cancellation(task: asyncio.Task[Any]) -> None:
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        if task.uncancel() > 0:
            raise


CHECKED_INLINE_MAX: Final = 128 * 1024
"""Maximum size in bytes of a body that is checked on the event loop. A longer one is checked in a worker thread."""

BODILESS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""HTTP methods whose requests are treated as having no body."""

_OBJECT: Final = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*\{")


class RequestBounds:
    """ASGI middleware that answers requests which exceed ``bounds`` (nesting depth, messages, tools) with status 400.

    ``counts`` counts refused requests by error code. Bodies of more than ``body_max`` bytes, compressed bodies, and
    bodies that are not JSON objects pass unchecked, because no inner application parses them.
    """

    def __init__(self, app: ASGIApp, bounds: Bounds, body_max: int, counts: Counter[str]) -> None:
        self._app = app
        self._bounds = bounds
        self._body_max = body_max
        self._counts = counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection: read the request body, and pass the request on or refuse it."""
        if scope["type"] != "http" or scope["method"] in BODILESS or is_encoded(scope["headers"]):
            await self._app(scope, receive, send)
            return
        read = await read_ahead(receive, self._body_max)
        body = whole_body(read)
        found = await self._excess(body) if body is not None and _OBJECT.match(body) else None
        if found is None:
            await self._app(scope, replay_messages(read, receive), send)
            return
        self._counts[found.code] += 1
        await send_refusal(send, dialect_of(scope), 400, found.code, str(found))

    async def _excess(self, body: bytes) -> Excess | None:
        if len(body) <= CHECKED_INLINE_MAX:
            return excess(body, self._bounds)
        return await offload(partial(excess, body, self._bounds), CPU)
