"""Notifies browsers of changes of a session with server-sent events, by polling the end of the session's event log.

All processes with the same store share the log, so changes made by other processes are seen, too. The end of a
session's log is read at most once per ``TICK`` seconds, however many browsers watch the session.
"""

from __future__ import annotations

import hashlib
import signal
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, Final

import anyio

from tokenmizer_mw.errors import TokenMizerError
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.offload import CALLS, offload
from tokenmizer_mw.store.log import SessionInfo

TICK: Final = 0.4
"""Number of seconds between two reads of the end of a session's log."""

LIFE: Final = 30.0
"""Number of seconds after which a stream of events ends, so that a server that shuts down never waits longer for it.
The browser then opens the next stream by itself."""

PING: Final = 15.0
"""Number of seconds without an event after which the stream sends a comment, because proxies close idle connections."""

_SEEN_MAX: Final = 1_000
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class LogTails:
    """Says whether events were added to a session, for many browsers with one read of the store per ``TICK`` seconds.
    For each session it caches a mark: a short text that changes with the session's log.

    Not safe to use from several threads; it is meant for the tasks of one event loop. ``clock``: returns seconds from
    any fixed starting point.
    """

    def __init__(self, memory: SessionMemory, clock: Callable[[], float] = time.monotonic) -> None:
        self._memory = memory
        self._clock = clock
        self._seen: OrderedDict[tuple[str, str], tuple[float, str]] = OrderedDict()

    async def of(self, tenant: str, id: str, before: str = "") -> str:
        """Return the mark of the session ``id``: a short text that changes when events are added to the session. For
        ``id`` "", return a mark that changes when events are added to any session of the tenant.

        ``before``: the last mark that the caller knows, "" for none. It is returned while the store cannot be read.
        """
        known = self._seen.get((tenant, id), (-TICK, before))
        if self._clock() - known[0] < TICK * 0.9:
            return known[1]
        self._seen[tenant, id] = (self._clock(), known[1])  # who asks meanwhile does not look, too
        mark = await offload(partial(_mark, self._memory, tenant, id, known[1]), CALLS)
        self._seen[tenant, id] = (self._clock(), mark)
        self._seen.move_to_end((tenant, id))
        while len(self._seen) > _SEEN_MAX:
            self._seen.popitem(last=False)
        return mark


def mark_of_tenant(newest: SessionInfo | None) -> str:
    """Return the mark of a tenant: a digest that changes when events are added to any of its sessions. ``newest``: the
    tenant's most recently updated session; ``None`` if it has none."""
    newest_event = f"{newest.key.id}\0{newest.seq}\0{newest.created_at}" if newest is not None else ""
    return hashlib.blake2b(newest_event.encode(), digest_size=8).hexdigest()


def _mark(memory: SessionMemory, tenant: str, id: str, before: str) -> str:
    try:
        if not id:
            return mark_of_tenant(next(iter(memory.log.sessions(tenant, limit=1)), None))
        return str(_end(memory, SessionKey(tenant, id), int(before) if before.isdecimal() else 0))
    except TokenMizerError:
        return before


def _end(memory: SessionMemory, key: SessionKey, known: int) -> int:
    """Return the number of the session's newest event, 0 if it has none. ``known``: number of an event; if it still
    exists, only it and later events are read."""
    tail = memory.log.read(key, after=max(0, known - 1))
    if not tail and known:
        tail = memory.log.read(key)
    return tail[-1].seq if tail else 0


async def changes(tails: LogTails, tenant: str, id: str, since: str, ending: Callable[[], bool]) -> AsyncIterator[str]:
    """Yield server-sent events as text, one whenever the session changes. It ends when ``ending()`` is true or the
    stream is ``LIFE`` seconds old.

    - ``id``: the session; "" for all sessions of the tenant.
    - ``since``: the mark (see ``LogTails.of``) at the time when the browser got its page, so that a change between the
      page and the stream is reported, too. With "", only changes from now on are reported.
    """
    last = since or await tails.of(tenant, id)
    yield "retry: 200\n\n"
    begun = sent = anyio.current_time()
    while not ending() and anyio.current_time() - begun < LIFE:
        mark, now = await tails.of(tenant, id, last), anyio.current_time()
        if mark != last:
            yield f"event: change\nid: {mark}\ndata: {mark}\n\n"
            last, sent = mark, now
        elif now - sent >= PING:
            yield ": still here\n\n"
            sent = now
        await anyio.sleep(TICK)


def call_before_exit(call: Callable[[], None]) -> None:
    """Make the process call ``call`` when it receives SIGINT or SIGTERM, before the signal handler that is installed
    now.

    Does nothing outside of the main thread, and for a signal without a handler that is a function.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in _SIGNALS:
        handler = signal.getsignal(number)
        if callable(handler):
            signal.signal(number, _first(call, handler))


def _first(call: Callable[[], None], handler: Callable[[int, Any], Any]) -> Callable[[int, Any], None]:
    def handle_signal(number: int, frame: Any) -> None:
        call()
        handler(number, frame)

    return handle_signal
