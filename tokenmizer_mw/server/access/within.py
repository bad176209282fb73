"""Waiting with a deadline only where there is something to wait for.

A deadline costs several microseconds, and most bodies are there when they are asked for. So on asyncio a coroutine is
run up to the place where it first waits; only then is it worth one. What the coroutine has entered by then, it leaves
before the deadline's own block ends: asyncio's deadlines may overlap like that. Those of trio must nest, so that there
the deadline comes first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from functools import partial
from typing import Any, Generic, TypeVar

import anyio

T = TypeVar("T")


async def within(seconds: float, awaitable: Awaitable[T]) -> T | None:
    """The result, or ``None`` when it does not come in time; then whatever was waited for is cancelled."""
    if not _on_asyncio():
        with anyio.move_on_after(seconds):
            return await awaitable
        return None
    begun = _begun(awaitable)
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


def _begun(awaitable: Awaitable[T]) -> T | _Begun[T]:
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
