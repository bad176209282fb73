"""Timeouts that cost nothing when the awaited result is already available.

A timeout costs several microseconds, and most bodies are available when they are read. On asyncio the coroutine
therefore runs to its first suspension, and only then a timeout is set. Context managers that the coroutine entered
before may exit inside the timeout's block; asyncio timeouts may overlap like that. Those of trio must nest, so there
the timeout is set first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from functools import partial
from typing import Any, Generic, TypeVar

import anyio

T = TypeVar("T")


async def within(seconds: float, awaitable: Awaitable[T]) -> T | None:
    """Return the result of ``awaitable``; cancel it and return ``None`` if it takes longer than ``seconds``."""
    if not _on_asyncio():
        with anyio.move_on_after(seconds):
            return await awaitable
        return None
    begun = _begin(awaitable)
    if not isinstance(begun, _Begun):
        return begun
    deadline = asyncio.timeout(seconds)
    try:
        async with deadline:
            return await begun
    except TimeoutError:
        if deadline.expired():
            return None
        raise


def _on_asyncio() -> bool:
    try:
        return asyncio.current_task() is not None
    except RuntimeError:
        return False


class _Begun(Generic[T]):
    """A coroutine that waits. Awaiting it goes on from there; it must be awaited at once, by the task that began it."""

    __slots__ = ("_coroutine", "_waits_for")

    def __init__(self, coroutine: Coroutine[Any, Any, T], waits_for: Any) -> None:
        self._coroutine = coroutine
        self._waits_for = waits_for

    def __await__(self) -> Generator[Any, Any, T]:
        """What the event loop is told it waits for, what the loop answers: all goes through as in ``yield from``."""
        waits_for = self._waits_for
        while True:
            try:
                answer = yield waits_for
            except GeneratorExit:
                self._coroutine.close()
                raise
            except BaseException as error:
                step: Callable[[], Any] = partial(self._coroutine.throw, error)
            else:
                step = partial(self._coroutine.send, answer)
            try:
                waits_for = step()
            except StopIteration as end:
                result: T = end.value
                return result


def _begin(awaitable: Awaitable[T]) -> T | _Begun[T]:
    """The result, if there is no need to wait for it; else what is to be awaited."""
    coroutine = awaitable if isinstance(awaitable, Coroutine) else _coroutine(awaitable)
    try:
        waits_for = coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    return _Begun(coroutine, waits_for)


async def _coroutine(awaitable: Awaitable[T]) -> T:
    return await awaitable
