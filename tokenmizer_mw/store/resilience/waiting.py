"""Wait until a turn is written, at most until the deadline: from a thread, or from an event loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING

from tokenmizer_mw.runtime.offload import CPU, is_in_asyncio, offload
from tokenmizer_mw.store.resilience.spool import SpooledTurn

if TYPE_CHECKING:
    import asyncio

Submit = Callable[[], SpooledTurn | None]
"""Has a turn written, without waiting for it; ``None``: there is none. Computes, hence it runs in a worker thread."""


def wait_until_settled(turn: SpooledTurn, seconds: float) -> bool:
    """Wait for at most ``seconds`` until ``turn`` is durable. Returns whether it is. Blocks."""
    with suppress(TimeoutError):
        return turn.result.result(seconds)
    return turn.is_written


def await_submitted(submit: Submit, seconds: float) -> Awaitable[SpooledTurn | None]:
    """Call ``submit``, wait until its turn is written or ``seconds`` have passed, and return the turn. ``submit``
    itself is always awaited to its end. A caller that is cancelled returns at once; the turn is written all the same.
    Raises what ``submit`` raises.
    """
    return _Waiting(submit).wait(seconds) if is_in_asyncio() else _await_anywhere(submit, seconds)


async def _await_anywhere(submit: Submit, seconds: float) -> SpooledTurn | None:
    """``await_submitted`` on any event loop that anyio knows."""
    import anyio

    turn = await offload(submit, CPU)
    if turn is not None and not turn.result.done():
        settled = anyio.Event()
        turn.result.add_done_callback(_waking(settled.set))
        with anyio.move_on_after(seconds):
            await settled.wait()
    return turn


class _Waiting:
    """One wait on asyncio. The loop is woken once, by the thread that settles the turn: each time costs the loop's
    thread more than all else that is done here."""

    __slots__ = ("_is_late", "_loop", "_over", "_submit", "_turn")

    def __init__(self, submit: Submit) -> None:
        import asyncio  # loaded by now

        self._submit = submit
        self._loop = asyncio.get_running_loop()
        self._over: asyncio.Future[SpooledTurn | None] = self._loop.create_future()
        self._turn: SpooledTurn | None = None
        self._is_late = False

    async def wait(self, seconds: float) -> SpooledTurn | None:
        CPU.put((self._submit, copy_context(), self._note_submitted))
        timer = self._loop.call_later(seconds, self._pass_deadline)
        try:
            return await self._over
        finally:
            timer.cancel()

    def _note_submitted(self, turn: SpooledTurn | None, error: BaseException | None) -> None:
        """In the worker thread: the turn is on its way."""
        if turn is None or error is not None:
            self._wake(turn, error)
            return
        self._turn = turn
        turn.result.add_done_callback(self._wake_settled)
        if self._is_late:  # the loop looked before there was a turn
            self._wake(turn)

    def _wake_settled(self, _: Future[bool]) -> None:
        with suppress(RuntimeError):  # the loop has ended: nobody waits
            self._loop.call_soon_threadsafe(self._end, self._turn, None)

    def _pass_deadline(self) -> None:
        self._is_late = True
        if self._turn is not None:
            self._end(self._turn, None)

    def _wake(self, turn: SpooledTurn | None, error: BaseException | None = None) -> None:
        with suppress(RuntimeError):  # the loop has ended: nobody waits
            self._loop.call_soon_threadsafe(self._end, turn, error)

    def _end(self, turn: SpooledTurn | None, error: BaseException | None) -> None:
        if self._over.done():
            return
        if error is None:
            self._over.set_result(turn)
        else:
            self._over.set_exception(error)


def _waking(wake: Callable[[], None]) -> Callable[[Future[bool]], None]:
    """A callback for another thread that calls ``wake`` on the event loop of this task."""
    import anyio.from_thread
    import anyio.lowlevel

    call = partial(anyio.from_thread.run_sync, wake, token=anyio.lowlevel.current_token())

    def call_soon(_: Future[bool]) -> None:
        with suppress(RuntimeError):  # the loop has ended: nobody waits
            call()

    return call_soon
