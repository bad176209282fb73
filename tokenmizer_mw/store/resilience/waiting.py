"""Wait on an event loop until a turn is written, at most until the deadline."""

from __future__ import annotations

from contextvars import Context, copy_context
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, Final, Protocol
from weakref import WeakKeyDictionary

from tokenmizer_mw.runtime.offload import TURNS, ThreadResult, caller_on_this_loop, find_asyncio_loop, offload
from tokenmizer_mw.store.resilience.spool import SpooledTurn

if TYPE_CHECKING:
    import asyncio


class Submit(Protocol):
    """A function that computes a turn and queues it for writing, without waiting for that. It is called in a worker
    thread."""

    def __call__(self, *, writes: bool) -> SpooledTurn | None:
        """Queue the turn and return it; ``None`` if there is nothing to write. ``writes``: true if the calling thread
        may write queued turns itself; if ``go_on`` of the turn is set, that thread must call it next."""


async def await_submitted(submit: Submit, seconds: float) -> SpooledTurn | None:
    """Call ``submit`` in a worker thread, wait until its turn is settled (written, or the first attempt has failed) or
    ``seconds`` have passed, and return the turn; ``None`` if there is nothing to write.

    ``submit`` itself is always awaited to its end, even beyond ``seconds``; the caller sees in ``is_written`` whether
    the turn is durable. A caller that is cancelled returns at once; the turn is written all the same. Raises what
    ``submit`` raises.
    """
    loop = find_asyncio_loop()
    if loop is None:
        return await _await_anywhere(submit, seconds)
    waiting, deadlines = _Waiting(loop), _deadlines.get(loop) or _deadlines.setdefault(loop, _Deadlines())
    TURNS.put((partial(waiting.submit_and_write, submit), copy_context(), waiting.deliver))
    deadlines.add(waiting, loop, seconds)
    try:
        return await waiting
    finally:
        deadlines.remove(waiting)


async def _await_anywhere(submit: Submit, seconds: float) -> SpooledTurn | None:
    """Call ``submit`` in a worker thread, and wait until its turn is settled (written, or the first attempt has failed)
    or ``seconds`` have passed. Returns the turn; ``None`` if there is nothing to write. Works on any event loop that
    anyio supports, such as trio."""
    import anyio

    turn = await offload(partial(submit, writes=False), TURNS)
    if turn is not None and not turn.is_settled:
        settled = anyio.Event()
        turn.when_settled(partial(caller_on_this_loop(), settled.set))
        with anyio.move_on_after(seconds):
            await settled.wait()
    return turn


class _Deadlines:
    """The deadlines of all waits on one asyncio loop. They share a timer: one for each wait, armed and cancelled, takes
    a tenth of what this package costs the loop. The timer stays armed when a wait ends before its deadline."""

    __slots__ = ("_armed_for", "_times")

    def __init__(self) -> None:
        self._times: dict[_Waiting, float] = {}
        self._armed_for = _NEVER

    def add(self, waiting: _Waiting, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        """Call ``waiting.pass_deadline`` in ``seconds``, unless it is removed before."""
        deadline = self._times[waiting] = loop.time() + seconds
        if deadline < self._armed_for:
            self._arm(loop, deadline)

    def remove(self, waiting: _Waiting) -> None:
        """Forget the deadline of ``waiting``, whose wait has ended; nothing happens if it has passed already."""
        self._times.pop(waiting, None)

    def _arm(self, loop: asyncio.AbstractEventLoop, at: float) -> None:
        self._armed_for = at
        loop.call_at(at, self._look, loop, at, context=Context())  # holds no request

    def _look(self, loop: asyncio.AbstractEventLoop, at: float) -> None:
        """End the waits whose deadline has passed, and arm the timer for the next one."""
        if at != self._armed_for:
            return  # an earlier deadline came in between
        now = max(at, loop.time())
        for waiting in [waiting for waiting, deadline in self._times.items() if deadline <= now]:
            del self._times[waiting]
            waiting.pass_deadline()
        self._armed_for = _NEVER
        if self._times:
            self._arm(loop, min(self._times.values()))


_NEVER: Final = float("inf")
_deadlines: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, _Deadlines]] = WeakKeyDictionary()


class _Waiting(ThreadResult[SpooledTurn | None]):
    """One wait on asyncio. The event loop is woken once, because that costs its thread more than everything else that
    is done here. The worker thread that settles its own turn wakes the loop as the last thing it does: otherwise the
    two would compete for the interpreter."""

    _turn: SpooledTurn | None = None
    _worker = 0
    _is_late = False

    def submit_and_write(self, submit: Submit) -> SpooledTurn | None:
        """In a worker thread: submit the turn, and write it here if nobody else does."""
        turn = self._turn = submit(writes=True)
        if turn is None:
            return None
        self._worker = get_ident()
        turn.when_settled(self._wake_from_elsewhere)
        if self._is_late:  # the loop looked before there was a turn
            self.resolve(turn)
        try:
            if turn.go_on is not None:
                turn.go_on()
        finally:
            self._worker = 0  # with its next job this thread may settle the turn, too
        return turn

    def _wake_from_elsewhere(self) -> None:
        """Wake the loop, unless this is the worker thread, which does so at its end."""
        if get_ident() != self._worker:
            self.resolve(self._turn)

    def deliver(self, turn: SpooledTurn | None, error: BaseException | None) -> None:
        """In the worker thread, which then is free for the next turn: wake the loop if the turn is settled."""
        if error is not None and self._turn is not None:  # the turn is queued: what failed is the writing of others
            turn, error = self._turn, None
        if turn is None or turn.is_settled:
            self.resolve(turn, error)

    def pass_deadline(self) -> None:
        """End the wait because its deadline has passed: now if the turn was queued already, else as soon as it is."""
        self._is_late = True
        if self._turn is not None:
            self.resolve(self._turn)
