"""Coalesces identical concurrent requests: the first calls the model, the others await its response."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

import anyio

from tokenmizer_mw.runtime.forking import make_lock, renew_in_child
from tokenmizer_mw.runtime.offload import caller_on_this_loop

from .answer import CachedAnswer


class Flight:
    """A model request in progress. Other threads, and tasks of any event loop, can wait for its response."""

    __slots__ = ("_answer", "_landed", "_lock", "_waiting")

    def __init__(self) -> None:
        self._lock = make_lock()
        self._landed = False
        self._answer: CachedAnswer | None = None
        self._waiting: list[Callable[[], None]] = []

    def land(self, answer: CachedAnswer | None) -> None:
        """End the request: give its response to all that wait for it, or ``None`` if they must call the model
        themselves. Only the first call has an effect."""
        with self._lock:
            if self._landed:
                return
            self._landed, self._answer = True, answer
            waiting, self._waiting = self._waiting, []
        for wake in waiting:
            wake()

    def wait(self, seconds: float) -> CachedAnswer | None:
        """Wait at most ``seconds`` for the response, and return it; ``None`` if there is none to share, or none yet.
        Blocks the thread."""
        landed = threading.Event()
        if self._asks(landed.set):
            landed.wait(seconds)
        return self._answer

    async def await_(self, seconds: float) -> CachedAnswer | None:
        """Wait at most ``seconds`` for the response without blocking the event loop, and return it; ``None`` if there
        is none to share, or none yet."""
        landed = anyio.Event()
        if self._asks(partial(caller_on_this_loop(), landed.set)):
            with anyio.move_on_after(seconds):
                await landed.wait()
        return self._answer

    def _asks(self, wake: Callable[[], None]) -> bool:
        """Return whether the response is still to come; if so, ``wake`` is called once it is there."""
        with self._lock:
            if not self._landed:
                self._waiting.append(wake)
            return not self._landed


class Flights:
    """Table of the model requests in progress in this process, by cache key, so that identical requests can share one
    response. Thread-safe."""

    def __init__(self) -> None:
        self._lock = make_lock()
        self._flights: dict[bytes, Flight] = {}
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Clear the table. Called in a forked child process, because the requests in it are in progress in the parent
        only."""
        self._flights = {}

    def join(self, key: bytes) -> tuple[Flight, bool]:
        """Return the request in progress for ``key``, and whether it is new. A caller that gets a new one makes the
        request, and must call ``end``."""
        with self._lock:
            known = self._flights.get(key)
            if known is not None:
                return known, False
            own = self._flights[key] = Flight()
            return own, True

    def end(self, key: bytes, flight: Flight) -> None:
        """Remove ``flight`` from the requests in progress; the next ``join`` for ``key`` begins a new one.

        Callers that still wait get ``None`` if ``flight.land`` was not called before. Safe to call twice.
        """
        with self._lock:
            if self._flights.get(key) is flight:
                del self._flights[key]
        flight.land(None)
