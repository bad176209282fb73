"""Work beside the event loop: one hop to a thread and back, at a third of what a general-purpose pool costs.

Every chat that is remembered makes this hop once. asyncio's own executor and anyio's worker threads build two
futures, a context and a limiter for it; here a tuple goes through a queue, and one callback comes back.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
import time
from collections.abc import Callable
from contextvars import Context, copy_context
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeVar

import anyio.to_thread

T = TypeVar("T")

THREADS_MAX: Final = 32
"""Turns that wait for a store at the same time; more of them wait for a thread."""

SETTLE_SECONDS: Final = 5.0
"""How long the end of the process waits for jobs that run."""

_Job = tuple[Callable[[], Any], Context, asyncio.AbstractEventLoop, "asyncio.Future[Any]"]


class _Threads:
    """Daemon threads that take jobs from one queue. They start as they are needed and then stay."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._idle: list[None] = []  # one item for each thread that found nothing to do
        self._busy: set[int] = set()
        self._count = 0
        self._guard = threading.Lock()

    def put(self, job: _Job) -> None:
        self._jobs.put(job)  # before a thread starts, or it would count itself idle first
        try:
            self._idle.pop()
        except IndexError:
            self._start()

    def settle(self, seconds: float) -> None:
        """Wait until no job runs, at most ``seconds``."""
        deadline = time.monotonic() + seconds
        while self._busy and time.monotonic() < deadline:
            time.sleep(0.002)

    def _start(self) -> None:
        with self._guard:
            if self._count == THREADS_MAX:
                return
            try:
                name = f"tokenmizer-offload-{self._count + 1}"
                threading.Thread(target=self._run, name=name, daemon=True).start()
            except RuntimeError:
                if not self._count:
                    raise  # otherwise those that run already will do
                return
            self._count += 1

    def _run(self) -> None:
        me = threading.get_ident()
        while True:
            try:
                job = self._jobs.get_nowait()
            except Empty:
                self._idle.append(None)
                job = self._jobs.get()
            self._busy.add(me)
            _do(*job)
            self._busy.discard(me)
            del job  # what it holds must not live until the next one


def _do(task: Callable[[], Any], context: Context, loop: asyncio.AbstractEventLoop, done: asyncio.Future[Any]) -> None:
    result, error = None, None
    try:
        result = context.run(task)
    except BaseException as raised:
        error = raised
    try:
        loop.call_soon_threadsafe(_deliver, done, result, error)
    except RuntimeError:
        return  # the loop was closed meanwhile: nobody waits


def _deliver(done: asyncio.Future[Any], result: object, error: BaseException | None) -> None:
    if done.cancelled():
        return
    if error is not None:
        done.set_exception(error)
    else:
        done.set_result(result)


class _Process:
    """The threads of this process; a forked child has none of its parent's."""

    def __init__(self) -> None:
        self.threads = _Threads()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)
        atexit.register(self._settle)

    def _settle(self) -> None:
        """A thread that is inside a native library while the interpreter goes down would abort the process."""
        self.threads.settle(SETTLE_SECONDS)

    def _renew(self) -> None:
        self.threads = _Threads()


_process: Final = _Process()


async def offload(task: Callable[[], T]) -> T:
    """What ``task`` returns, run in a worker thread with the caller's context variables.

    A caller that is cancelled leaves at once; the task runs to its end. Where no asyncio task is running, anyio's
    threads do the work.
    """
    if not _on_asyncio():
        return await anyio.to_thread.run_sync(task)
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    _process.threads.put((task, copy_context(), loop, done))
    return await done


def _on_asyncio() -> bool:
    try:
        return asyncio.current_task() is not None
    except RuntimeError:
        return False
