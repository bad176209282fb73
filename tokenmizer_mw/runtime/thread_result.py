"""A result that another thread computes for one asyncio task."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress
from contextvars import Context
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


class ThreadResult(Generic[T]):
    """Result for which one task of ``loop`` waits with ``await``; any thread may set it.

    The loop resumes the task in the iteration for which the other thread wakes it. For an ``asyncio.Future`` it would
    wake to set the result, and resume the task in a second iteration, which takes a tenth of what this package costs
    the loop's thread. For asyncio this is a future: it has the attributes that a task uses of what it awaits.
    """

    __slots__ = ("_asyncio_future_blocking", "_error", "_is_done", "_loop", "_result", "_resume")

    _result: T

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._asyncio_future_blocking = False
        self._is_done = False
        self._error: BaseException | None = None
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
        return self._result

    # -- what a task calls -------------------------------------------------------------------------------------------

    def add_done_callback(self, callback: Callable[[Any], object], *, context: Context | None = None) -> None:
        """Have ``callback`` called on the loop when there is a result. The task passes what resumes it."""
        self._resume.append((callback, context))
        if self._is_done:  # since the task looked
            self.resolve(self._result, self._error)

    def cancel(self, msg: object = None) -> bool:
        """Resume the task, which is being cancelled. Returns false: the task raises ``CancelledError`` by itself."""
        self.resolve(cast("T", None))
        return False

    def result(self) -> T:
        """Return the result, or raise the error."""
        if self._error is not None:
            raise self._error
        return self._result
