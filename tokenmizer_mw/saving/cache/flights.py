"""Coalesces identical concurrent requests: the first calls the model, the others await its answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from importlib import import_module

import anyio

from tokenmizer_mw.runtime.forking import make_lock, renew_in_child

from .answer import CachedAnswer


class Flight:
    """A request under way, for those who wait for its answer: threads, and tasks of any event loop."""

    __slots__ = ("_answer", "_landed", "_lock", "_waiting")

    def __init__(self) -> None:
        self._lock = make_lock()
        self._landed = False
        self._answer: CachedAnswer | None = None
        self._waiting: list[Callable[[], None]] = []

    def land(self, answer: CachedAnswer | None) -> None:
        """Give the answer to all who wait; ``None``: there is no answer to share. A second call changes nothing."""
        with self._lock:
            if self._landed:
                return
            self._landed, self._answer = True, answer
            waiting, self._waiting = self._waiting, []
        for wake in waiting:
            wake()

    def wait(self, seconds: float) -> CachedAnswer | None:
        """The answer, at most so many seconds from now; for threads."""
        landed = threading.Event()
        if self._asks(landed.set):
            landed.wait(seconds)
        return self._answer

    async def await_(self, seconds: float) -> CachedAnswer | None:
        """``wait`` for tasks."""
        landed = anyio.Event()
        if self._asks(_waker(landed)):
            with anyio.move_on_after(seconds):
                await landed.wait()
        return self._answer

    def _asks(self, wake: Callable[[], None]) -> bool:
        """Whether the answer is still to come; then ``wake`` is called with it."""
        with self._lock:
            if not self._landed:
                self._waiting.append(wake)
            return not self._landed


class Flights:
    """The requests that are under way in this process, by their keys."""

    def __init__(self) -> None:
        self._lock = make_lock()
        self._flights: dict[bytes, Flight] = {}
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Nothing is under way in this process."""
        self._flights = {}

    def join(self, key: bytes) -> tuple[Flight, bool]:
        """The flight of a request, and whether it is the caller's own: then the caller must ``end`` it."""
        with self._lock:
            known = self._flights.get(key)
            if known is not None:
                return known, False
            own = self._flights[key] = Flight()
            return own, True

    def end(self, key: bytes, flight: Flight) -> None:
        """Close the flight: no request joins it any more, and those that still wait get no answer."""
        with self._lock:
            if self._flights.get(key) is flight:
                del self._flights[key]
        flight.land(None)


def _waker(landed: anyio.Event) -> Callable[[], None]:
    """What sets ``landed`` from any thread, this one included; an event loop that is gone needs no waking."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        token = import_module("trio").lowlevel.current_trio_token()

        def wake() -> None:
            token.run_sync_soon(landed.set)

        return wake

    def wake_loop() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(landed.set)

    return wake_loop
