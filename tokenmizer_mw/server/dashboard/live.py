"""Notifies browsers of changes with server-sent events, by polling the end of the event log.

The log is shared by all processes of an installation, so changes of other processes are seen too. The end of a
session's log is read once per tick, whatever the number of browsers.
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import anyio

from tokenmizer_mw.errors import TokenMizerError
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.offload import CALLS, offload
from tokenmizer_mw.store.log import SessionInfo

if TYPE_CHECKING:
    from starlette.types import Receive

TICK: Final = 0.4
"""Seconds between two looks."""

LIFE: Final = 30.0
"""Seconds after which a stream ends, so that a server that ends waits no longer; the browser opens the next one by
itself."""

PING: Final = 15.0
"""Seconds after which a browser that is told nothing is told so: proxies close what is silent."""

_KEPT_MAX: Final = 1_000
_RETRY: Final = b"retry: 200\n\n"

Sender = Callable[[dict[str, Any]], Awaitable[None]]


class Tails:
    """Cached end positions of logs, at most one tick old. For one event loop."""

    def __init__(self, memory: SessionMemory, clock: Callable[[], float] = time.monotonic) -> None:
        self._memory = memory
        self._clock = clock
        self._seen: OrderedDict[tuple[str, str], tuple[float, str]] = OrderedDict()

    async def of(self, tenant: str, id: str, before: str = "") -> str:
        """Return a mark that changes when events are added to the session, or for id "" to any session of the tenant.

        ``before``: the last known mark, "" for none; returned while the store cannot be read.
        """
        known = self._seen.get((tenant, id), (-TICK, before))
        if self._clock() - known[0] < TICK * 0.9:
            return known[1]
        self._seen[tenant, id] = (self._clock(), known[1])  # who asks meanwhile does not look, too
        mark = await offload(partial(_mark, self._memory, tenant, id, known[1]), CALLS)
        self._seen[tenant, id] = (self._clock(), mark)
        self._seen.move_to_end((tenant, id))
        while len(self._seen) > _KEPT_MAX:
            self._seen.popitem(last=False)
        return mark


def mark_of_session(seq: int) -> str:
    """Return the mark of a session whose newest event has number ``seq``."""
    return str(seq)


def mark_of_tenant(newest: SessionInfo | None) -> str:
    """Return the mark of a tenant whose most recently updated session is ``newest``."""
    told = f"{newest.key.id}\0{newest.seq}\0{newest.created_at}" if newest is not None else ""
    return hashlib.blake2b(told.encode(), digest_size=8).hexdigest()


def _mark(memory: SessionMemory, tenant: str, id: str, before: str) -> str:
    try:
        if not id:
            return mark_of_tenant(newest_of(memory, tenant))
        return mark_of_session(_end(memory, SessionKey(tenant, id), int(before) if before.isdecimal() else 0))
    except TokenMizerError:
        return before


def _end(memory: SessionMemory, key: SessionKey, known: int) -> int:
    """The number of the newest event, 0 for none. Only what is behind ``known`` is read."""
    tail = memory.log.read(key, after=max(0, known - 1))
    if not tail and known:
        tail = memory.log.read(key)
    return tail[-1].seq if tail else 0


def newest_of(memory: SessionMemory, tenant: str) -> SessionInfo | None:
    """Return the most recently updated session; ``None`` if there is none."""
    return next(iter(memory.log.sessions(tenant, limit=1)), None)


async def stream(
    tails: Tails, tenant: str, id: str, since: str, receive: Receive, send: Sender, ending: Callable[[], bool]
) -> None:
    """Send change events until the browser disconnects, the server shuts down, or the stream is ``LIFE`` seconds old.

    ``since``: the mark of the page that the browser shows; a change between the page and the stream is reported too.
    """
    headers = [
        (b"content-type", b"text/event-stream; charset=utf-8"),
        (b"x-accel-buffering", b"no"),
    ]
    mark_after = partial(tails.of, tenant, id)
    last = since or await mark_after("")
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": _RETRY, "more_body": True})
    async with anyio.create_task_group() as group:

        async def leaves() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

        group.start_soon(leaves)
        await _send_changes(mark_after, last, send, ending)
        group.cancel_scope.cancel()


async def _send_changes(
    mark_after: Callable[[str], Awaitable[str]], last: str, send: Sender, ending: Callable[[], bool]
) -> None:
    begun = said = anyio.current_time()
    while not ending() and anyio.current_time() - begun < LIFE:
        mark, now = await mark_after(last), anyio.current_time()
        if mark != last:
            await send(_piece(f"event: change\nid: {mark}\ndata: {mark}\n\n"))
            last, said = mark, now
        elif now - said >= PING:
            await send(_piece(": still here\n\n"))
            said = now
        await anyio.sleep(TICK)
    await send({"type": "http.response.body", "body": b""})


def _piece(text: str) -> dict[str, Any]:
    return {"type": "http.response.body", "body": text.encode(), "more_body": True}
