"""An event loop in its own thread, for awaiting asynchronous functions from threads without a loop."""

from __future__ import annotations

from collections.abc import Awaitable
from contextlib import ExitStack
from typing import TypeVar

from anyio import fail_after
from anyio.from_thread import BlockingPortal, start_blocking_portal

from tokenmizer_mw.runtime.forking import make_lock, renew_in_child

T = TypeVar("T")


class Portal:
    """An event loop in its own thread for all calls, started with the first one; clients keep connections that belong
    to it.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None
        self._lock = make_lock()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """The loop's thread is the parent's."""
        self._stack = ExitStack()
        self._portal = None

    def wait(self, awaitable: Awaitable[T], seconds: float) -> T:
        """Await ``awaitable`` on the loop and return its result. Raises ``TimeoutError`` after ``seconds``, and what it
        raises.
        """
        with self._lock:
            if self._portal is None:
                self._portal = self._stack.enter_context(start_blocking_portal())
        return self._portal.call(await_within, awaitable, seconds)

    def close(self) -> None:
        """End the loop and its thread; running calls are cancelled."""
        with self._lock:
            portal, self._portal = self._portal, None
            if portal is not None:
                portal.call(portal.stop, True)
            self._stack.close()


async def await_within(awaitable: Awaitable[T], seconds: float) -> T:
    """What ``awaitable`` gives, within ``seconds``."""
    with fail_after(seconds):
        return await awaitable
