"""Run blocking work in worker threads, outside the event loop.

There are five thread pools, so that work of one kind never waits for work of another: ``STORE`` for database access
that a chat waits for, ``CPU`` for computations, ``TURNS`` for recording turns that have ended, ``CALLS`` for calls of
the public API, and ``MODELS`` for functions of the application that call a model. A full ``STORE`` pool (a database
that does not answer) delays no request that only has to be parsed.

``anyio.to_thread`` and ``asyncio.to_thread`` are not used. Without a limiter they take the threads of the application,
which would then wait for our store. With a limiter they take 2 to 3 times the CPU time per call, and there are two more
problems. ``anyio.to_thread`` drops a task whose caller is cancelled before a thread starts it, which would lose the
turn of a client that disconnected. And it returns the limiter's token of a cancelled caller while the thread still
works, so that the limit does not hold if the store hangs.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from contextvars import Context, copy_context
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")

STORE_THREADS: Final = 32
"""Largest number of threads that wait for stores at the same time. They are idle while they wait, so there may be many;
a store of this package serves fewer at once."""

CPU_THREADS: Final = 8
"""Largest number of threads that compute at the same time. They share one interpreter lock with the event loop, which
waits for each of them in turn (5 ms each), so there are few. With one or two, a single large request would hold up all
others."""

WRITERS_MAX: Final = 16
"""Largest number of threads that write turns to a store at the same time; a store writes them in groups."""

CALLS_THREADS: Final = 32
"""Largest number of calls of the asynchronous API, the REST routes and the MCP tools that run at the same time. Unlike
chats, they wait for the store without a deadline."""

MODELS_THREADS: Final = 32
"""Largest number of the application's blocking functions that call a model at the same time; each waits for its
provider."""

SETTLE_SECONDS: Final = 5.0
"""Longest time in seconds that the end of the process waits for jobs that still run in the pools ``STORE``, ``CPU`` and
``CALLS``."""

TURNS_SETTLE_SECONDS: Final = 1.0
"""Longest time in seconds that the end of the process then waits for the pool ``TURNS``. The queues of unwritten turns
are closed by then, so that only a thread whose store does not answer is still busy."""

_Job = tuple[Callable[[], Any], Context, Callable[[Any, BaseException | None], None] | None]
"""The task, the caller's context variables, and a function to call in the worker thread with the result and the error,
one of which is ``None``. Without such a function (``None``), both are dropped."""


class WorkerPool:
    """A pool of at most ``size`` daemon threads that take jobs from one queue. A thread starts when it is needed, then
    stays.

    In a forked child process the pool is empty and starts its own threads.
    """

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.size = size
        self._renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._outstanding = 0  # jobs that wait or run: never more than threads, unless all threads there may be run

    @property
    def outstanding(self) -> int:
        """Number of jobs of this pool that are not finished: those that wait for a thread, and those that run."""
        return self._outstanding

    def put(self, job: _Job) -> None:
        """Queue ``job`` for a thread of this pool, and return at once.

        The result, or the exception that the task raised, is only passed to the job's callback; without a callback it
        is lost. Raises ``RuntimeError``, and queues nothing, if the pool has no thread and none can be started. If it
        has at least one, the job waits for that.
        """
        with self._lock:
            if self._threads <= self._outstanding and self._threads < self.size:
                self._start()
            self._outstanding += 1
        self._jobs.put(job)

    def settle(self, seconds: float) -> None:
        """Wait until all jobs are done, but at most ``seconds``. Returns nothing, whether they are done or not."""
        deadline = time.monotonic() + seconds
        while self._outstanding and time.monotonic() < deadline:
            time.sleep(0.002)

    def _start(self) -> None:
        name = f"tokenmizer-{self.name}-{self._threads + 1}"
        try:
            threading.Thread(target=self._work, name=name, daemon=True).start()
        except RuntimeError:
            if not self._threads:
                raise  # otherwise the threads that run will do
        else:
            self._threads += 1

    def _work(self) -> None:
        while True:
            task, context, deliver = self._jobs.get()
            result, error = None, None
            try:
                result = context.run(task)
            except BaseException as raised:
                error = raised
            with self._lock:  # before the caller goes on: its next job finds this thread free
                self._outstanding -= 1
            if deliver is not None:
                deliver(result, error)
            del task, context, deliver, result, error  # nothing of a job lives until the next one


STORE: Final = WorkerPool("store", STORE_THREADS)
"""For tasks that read or write a store."""

CPU: Final = WorkerPool("cpu", CPU_THREADS)
"""For tasks that compute and wait for nothing."""

TURNS: Final = WorkerPool("turns", WRITERS_MAX + CPU_THREADS)
"""For recording turns that have ended: a thread parses the reply, then writes the turn. At most ``WRITERS_MAX`` of the
threads write, so that others are always free to parse."""

CALLS: Final = WorkerPool("calls", CALLS_THREADS)
"""For calls of the public API, which take as long as the store takes."""

MODELS: Final = WorkerPool("models", MODELS_THREADS)
"""For functions of the application that call a model and block."""


def _settle() -> None:
    """Wait for running jobs at the end of the process: a thread inside a native library would abort the interpreter
    then."""
    deadline = time.monotonic() + SETTLE_SECONDS
    for pool in (STORE, CPU, CALLS):
        pool.settle(deadline - time.monotonic())
    TURNS.settle(min(deadline - time.monotonic(), TURNS_SETTLE_SECONDS))


atexit.register(_settle)


async def offload(task: Callable[[], T], pool: WorkerPool) -> T:
    """Run ``task`` in a thread of ``pool``, with the caller's context variables, and return its result.

    A caller that is cancelled returns at once; the task still runs to its end. Errors of the task are raised; a
    ``StopIteration`` becomes a ``RuntimeError``. Works with asyncio, uvloop and trio.
    """
    loop = find_asyncio_loop()
    if loop is None:
        return await _offload_from_any_loop(task, pool)
    done: ThreadResult[T] = ThreadResult(loop)
    pool.put((task, copy_context(), lambda result, error: done.resolve(result, _without_stop_iteration(error))))
    return await done


class ThreadResult(Generic[T]):
    """Result for which one task of ``loop`` waits with ``await``; any thread may set it.

    The loop resumes the task in the iteration for which the other thread wakes it. For an ``asyncio.Future`` it would
    wake to set the result, and resume the task in a second iteration, which takes a tenth of what this package costs
    the loop's thread. For asyncio this is a future: it has the attributes that a task uses of what it awaits.
    """

    __slots__ = ("_asyncio_future_blocking", "_cancelled", "_error", "_is_done", "_loop", "_result", "_resume")

    _result: T

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._asyncio_future_blocking = False
        self._is_done = False
        self._error: BaseException | None = None
        self._cancelled: asyncio.CancelledError | None = None
        self._resume: list[tuple[Callable[[Any], object], Context | None]] = []  # taken out by who resumes the task

    def resolve(self, result: T, error: BaseException | None = None) -> None:
        """Set the result, or the ``error`` to raise in the task, and resume the task if it waits. If the task was
        resumed before or the loop is closed, nobody gets them. Any thread may call it."""
        self._result, self._error = result, error
        self._is_done = True
        try:
            callback, context = self._resume.pop()
        except IndexError:
            return
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            self._loop.call_soon_threadsafe(callback, self, context=context)

    def __await__(self) -> Generator[Any, None, T]:
        if self._is_done:
            return self.result()
        self._asyncio_future_blocking = True
        yield self  # where the task raises the error
        return self.result()

    # -- what a task calls -------------------------------------------------------------------------------------------

    def add_done_callback(self, callback: Callable[[Any], object], *, context: Context | None = None) -> None:
        """Have ``callback`` called on the loop when there is a result. The task passes what resumes it."""
        self._resume.append((callback, context))
        if self._is_done:  # since the task looked
            self.resolve(self._result, self._error)

    def cancel(self, msg: object = None) -> bool:
        """Resume the task with ``CancelledError``, and return true. Return false if it is about to be resumed with a
        result, so that it has to cancel itself. Called on the loop."""
        try:
            callback, context = self._resume.pop()
        except IndexError:
            return False
        import asyncio  # which is loaded: it runs the task

        self._cancelled = asyncio.CancelledError() if msg is None else asyncio.CancelledError(msg)
        self._loop.call_soon(callback, self, context=context)
        return True

    def result(self) -> T:
        """Return the result, or raise the error; ``CancelledError`` if the task was cancelled while it waited."""
        if self._cancelled is not None:  # no other thread writes it, so that a late result hides no cancellation
            raise self._cancelled
        if self._error is not None:
            raise self._error
        return self._result


def find_asyncio_loop() -> asyncio.AbstractEventLoop | None:
    """Return the loop on which the caller runs as an asyncio task, also a compatible one such as uvloop's; ``None`` if
    it is no such task."""
    loaded = sys.modules.get("asyncio")  # it costs as much as half of this package, and most programs use no loop
    try:
        task = loaded.current_task() if loaded is not None else None
    except RuntimeError:
        return None
    return task.get_loop() if task is not None else None


def _without_stop_iteration(error: BaseException | None) -> BaseException | None:
    """Return ``error``; for a ``StopIteration``, which no coroutine can raise, a ``RuntimeError`` caused by it."""
    if not isinstance(error, StopIteration):
        return error
    substitute = RuntimeError("the task raised StopIteration")
    substitute.__cause__ = error
    return substitute


async def _offload_from_any_loop(task: Callable[[], T], pool: WorkerPool) -> T:
    """Run ``task`` in a thread of ``pool`` and return its result, as ``offload`` does, on an event loop other than
    asyncio's, such as trio's. It waits for the thread with an event of anyio."""
    import anyio

    done, call_soon = anyio.Event(), caller_on_this_loop()
    outcome: list[tuple[Any, BaseException | None]] = []

    def deliver(result: object, error: BaseException | None) -> None:
        outcome.append((result, _without_stop_iteration(error)))
        call_soon(done.set)

    pool.put((task, copy_context(), deliver))
    await done.wait()
    result, error = outcome[0]
    if error is not None:
        raise error
    value: T = result
    return value


def caller_on_this_loop() -> Callable[[Callable[[], object]], None]:
    """Return a function with which other threads can have a function called on the event loop of this task (asyncio or
    trio).

    The returned function returns at once and does not wait for that call, as ``anyio.from_thread.run_sync`` would: the
    loop may be blocked, even by a function that waits for what the thread does next. It does nothing once the loop has
    ended.
    """
    from anyio.lowlevel import current_token

    loop: Any = current_token().native_token
    call_soon = getattr(loop, "run_sync_soon", None) or loop.call_soon_threadsafe  # of trio, of asyncio

    def call(function: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the loop has ended: nobody waits
            call_soon(function)

    return call
