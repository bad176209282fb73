"""An event loop in a thread of its own, for callers that have none."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future, wait
from typing import Any, TypeVar

T = TypeVar("T")


class LoopClosed(Exception):
    """The thread takes no more work."""


class LoopThread:
    """Runs coroutines for the threads that wait for them. The thread starts with the first one."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._running: set[Future[Any]] = set()
        self._closed = False

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of the coroutine that ``work`` makes, which is cancelled when this caller is interrupted.

        Raises what it raises, and ``LoopClosed``.
        """
        with self._lock:
            if self._closed:
                raise LoopClosed
            future = asyncio.run_coroutine_threadsafe(work(), self._start_loop())
            self._running.add(future)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise
        finally:
            self._running.discard(future)

    def close(self, last: Callable[[], Awaitable[object]]) -> None:
        """Wait for the work that is under way, then for ``last``, and end the thread. Closing twice is harmless."""
        with self._lock:
            closed, self._closed = self._closed, True
            loop, thread = self._loop, self._thread
        if closed or loop is None or thread is None:
            return
        wait(list(self._running))
        try:
            asyncio.run_coroutine_threadsafe(_finish(last), loop).result()
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def _start_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True)
            self._thread.start()
        return self._loop


async def _finish(last: Callable[[], Awaitable[object]]) -> None:
    await last()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
