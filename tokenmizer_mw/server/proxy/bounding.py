"""Refuses requests with too many messages, tools or nesting levels before anything parses them."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.runtime.offload import CPU, offload
from tokenmizer_mw.server.access.bounds import Bounds, Excess, excess
from tokenmizer_mw.server.access.refusals import dialect_at
from tokenmizer_mw.wire.refusal import refusal

from .bodies import read_ahead, replay_messages, whole_body
from .faces import face_of
from .headers import value_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

INLINE_MAX: Final = 128 * 1024
"""Bytes of a body that may be looked through on the event loop; longer ones are in a worker thread."""

_BODILESS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_OBJECT: Final = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*\{")


class Bounding:
    """ASGI middleware that passes on requests within ``bounds``; ``counts`` counts refused ones by code.

    Bodies above ``body_max`` bytes, encoded bodies, and bodies that are not JSON objects pass unchanged, because no
    inner application parses them.
    """

    def __init__(self, app: ASGIApp, bounds: Bounds, body_max: int, counts: Counter[str]) -> None:
        self._app = app
        self._bounds = bounds
        self._body_max = body_max
        self._counts = counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        if scope["type"] != "http" or scope["method"] in _BODILESS or _is_encoded(scope):
            await self._app(scope, receive, send)
            return
        read = await read_ahead(receive, self._body_max)
        body = whole_body(read)
        found = await self._excess(body) if body is not None and _OBJECT.match(body) else None
        if found is None:
            await self._app(scope, replay_messages(read, receive), send)
            return
        self._counts[found.code] += 1
        await _refuse(scope, send, found)

    async def _excess(self, body: bytes) -> Excess | None:
        if len(body) <= INLINE_MAX:
            return excess(body, self._bounds)
        return await offload(partial(excess, body, self._bounds), CPU)


def _is_encoded(scope: Scope) -> bool:
    return value_of(scope["headers"], b"content-encoding") not in (None, b"", b"identity")


async def _refuse(scope: Scope, send: Send, found: Excess) -> None:
    face = face_of(scope["path"], scope["headers"])
    dialect = face.words_of if face is not None else dialect_at(scope["path"])
    body = refusal(dialect, 400, found.code, str(found))
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": body})
