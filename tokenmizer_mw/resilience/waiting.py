"""Waiting until a turn is written, at most until the deadline: from a thread, and from an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial

import anyio
import anyio.from_thread
import anyio.lowlevel

from .spool import SpooledTurn


def wait_until_settled(turn: SpooledTurn, seconds: float) -> bool:
    """Whether ``turn`` is durable, after at most ``seconds``. Blocks."""
    with suppress(TimeoutError):
        return turn.result.result(seconds)
    return turn.is_written


async def await_until_settled(turn: SpooledTurn, seconds: float) -> bool:
    """``wait_until_settled`` on an event loop. A caller that is cancelled leaves at once; the turn is written all the
    same."""
    if not turn.result.done():
        settled = anyio.Event()
        turn.result.add_done_callback(_waking(settled.set))
        with anyio.move_on_after(seconds):
            await settled.wait()
    return turn.is_written


def _waking(wake: Callable[[], None]) -> Callable[[Future[bool]], None]:
    """A callback for another thread that calls ``wake`` on the event loop of this task."""
    call: Callable[[], object]
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        call = partial(anyio.from_thread.run_sync, wake, token=anyio.lowlevel.current_token())
    else:
        call = partial(loop.call_soon_threadsafe, wake)

    def done(_: Future[bool]) -> None:
        with suppress(RuntimeError):  # the loop has ended: nobody waits
            call()

    return done
