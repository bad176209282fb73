"""Cancels work when the client disconnects, which ASGI servers report only through ``receive``."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import Receive


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, None]) -> bool:
    """Run ``work``, and cancel it if the client disconnects. Returns whether the client stayed to the end.

    The request's body must have been read before. Runs in the caller's task, so that its context variables apply and
    its cancellation reaches ``work`` unchanged.
    """
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("the proxy runs on asyncio")
    watch = _Watch(receive, task)
    watching = asyncio.ensure_future(watch.run())
    try:
        await work
    except asyncio.CancelledError:
        if not watch.cancelled or task.uncancel() > 0:
            raise
        return False
    finally:
        watch.over = True
        watching.cancel()
    if watch.cancelled:  # at the very end: the cancellation is still to be delivered
        await _swallow(task)
    return True


class _Watch:
    """Cancels ``task`` when the client leaves, unless its work is ``over``."""

    __slots__ = ("_receive", "_task", "cancelled", "over")

    def __init__(self, receive: Receive, task: asyncio.Task[Any]) -> None:
        self._receive, self._task = receive, task
        self.over = self.cancelled = False

    async def run(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        if not self.over:
            self.cancelled = True
            self._task.cancel()


async def _swallow(task: asyncio.Task[Any]) -> None:
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        if task.uncancel() > 0:
            raise
