"""Ask a model for text through a function of the host: retries, a budget of calls per hour, a circuit breaker."""

from __future__ import annotations

import inspect
import logging
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Generic, TypeVar

import anyio
from anyio import fail_after
from anyio.from_thread import BlockingPortal, start_blocking_portal

from tokenmizer_mw.errors import ModelFailed
from tokenmizer_mw.model.usage import Completion
from tokenmizer_mw.runtime.forking import make_lock, renew_in_child
from tokenmizer_mw.runtime.offload import MODELS, offload

HOUR: Final = 3_600.0


class Allowance:
    """A budget of calls and a circuit breaker. Safe for threads.

    ``per_hour`` calls in any hour. After ``failures_max`` failures in a row the circuit is open for ``rest_seconds``;
    then one call may try, and its outcome closes the circuit or opens it again.
    """

    def __init__(
        self,
        *,
        per_hour: int,
        failures_max: int,
        rest_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._per_hour = per_hour
        self._failures_max = failures_max
        self._rest_seconds = rest_seconds
        self._clock = clock
        self._calls: deque[float] = deque()
        self._failures = 0
        self._rests_until = 0.0
        self._lock = make_lock()

    def take(self) -> str:
        """Request permission for one call. Returns "" when granted, else "circuit_open" or "over_budget"."""
        with self._lock:
            now = self._clock()
            while self._calls and self._calls[0] <= now - HOUR:
                self._calls.popleft()
            if self._failures >= self._failures_max:
                if now < self._rests_until:
                    return "circuit_open"
                self._rests_until = now + self._rest_seconds  # this call tries; others wait for what comes of it
            if len(self._calls) >= self._per_hour:
                return "over_budget"
            self._calls.append(now)
            return ""

    @property
    def rests(self) -> bool:
        """Whether the circuit breaker is open, so that no call is allowed now."""
        with self._lock:
            return self._failures >= self._failures_max and self._clock() < self._rests_until

    def note_success(self) -> None:
        """Note that a call gave a usable reply."""
        with self._lock:
            self._failures = 0

    def note_failure(self) -> None:
        """Note that a call gave no usable reply."""
        with self._lock:
            self._failures += 1
            self._rests_until = self._clock() + self._rest_seconds


T = TypeVar("T")


class Portal:
    """An event loop in its own thread for all calls, started with the first one; clients keep connections that belong
    to it.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None
        self._lock = make_lock()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """The loop's thread is the parent's."""
        self._stack = ExitStack()
        self._portal = None

    def wait(self, awaitable: Awaitable[T], seconds: float) -> T:
        """Await ``awaitable`` on the loop and return its result. Raises ``TimeoutError`` after ``seconds``, and what it
        raises.
        """
        with self._lock:
            if self._portal is None:
                self._portal = self._stack.enter_context(start_blocking_portal())
        return self._portal.call(await_within, awaitable, seconds)

    def close(self) -> None:
        """End the loop and its thread; running calls are cancelled."""
        with self._lock:
            portal, self._portal = self._portal, None
            if portal is not None:
                portal.call(portal.stop, True)
            self._stack.close()


async def await_within(awaitable: Awaitable[T], seconds: float) -> T:
    """What ``awaitable`` gives, within ``seconds``."""
    with fail_after(seconds):
        return await awaitable


class ReplyTooLong(ModelFailed):
    """Raised when a model's reply was not read to its end. It costs money all the same: ``completion``, without
    text.
    """

    def __init__(self, model: str) -> None:
        super().__init__("the reply is too large", again=False)
        self.completion = Completion("", model)


Complete = Callable[[list[dict[str, str]]], str | Completion | Awaitable[str | Completion]]
"""From messages ``{"role": "system" | "user", "content": text}`` to the text of the model's reply, at once or awaited.
What it raises counts as a failed call."""

FIRST_DELAY: Final = 0.5
DELAY_MAX: Final = 20.0
"""Seconds before the second attempt, and at most before any; a provider's own word on that counts up to the latter."""

_logger = logging.getLogger("tokenmizer_mw")
_AGAIN: Final = frozenset({408, 409, 425, 429})


@dataclass(frozen=True, slots=True)
class ModelAnswer(Generic[T]):
    """The result of asking a model.

    - ``reply``: what was read of its answer; ``None``: none was usable, and the reason is "failed", "circuit_open" or
      "over_budget".
    - ``calls``: how often the model was asked.
    - ``completions``: all replies of the model, usable or not, because each costs money.
    """

    reply: T | None
    calls: int
    refused: str = ""
    completions: tuple[Completion, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Attempts(Generic[T]):
    """How a question is asked. ``read`` makes of a reply's text what is wanted, ``None`` of one that is no use.
    ``most``: calls for it; ``seconds``: how long an awaited one may take; ``wait`` sleeps, and is true when nobody
    wants the answer any more."""

    read: Callable[[str], T | None]
    allowance: Allowance
    most: int
    seconds: float
    portal: Portal
    wait: Callable[[float], bool]
    chance: Callable[[], float] = field(default=random.random)

    def delays(self, failed: list[Exception]) -> Iterator[float]:
        """Seconds before each attempt, as long as another may help. ``failed`` gets what the attempts raise."""
        yield 0.0
        delay = FIRST_DELAY
        for _ in range(self.most - 1):
            if not _may_help(failed[-1]):
                return
            told = getattr(failed[-1], "after", None)
            yield min(DELAY_MAX, told if told is not None else delay * (0.5 + self.chance() / 2))
            delay *= 2

    def take_reply(self, given: object, completions: list[Completion]) -> T:
        """The reply that was ``given``, which joins ``completions``. Raises ``ModelFailed`` when it is none."""
        completion = Completion(given) if isinstance(given, str) else given
        reply = None
        if isinstance(completion, Completion):
            completions.append(completion)
            reply = self.read(completion.text)
        if reply is None:
            raise ModelFailed("the model's reply is not what was asked for")
        self.allowance.note_success()
        return reply


def ask(complete: Complete, messages: list[dict[str, str]], attempts: Attempts[T]) -> ModelAnswer[T]:
    """Ask the model in the calling thread. Never raises what ``complete`` raises."""
    failed: list[Exception] = []
    given: list[Completion] = []
    for delay in attempts.delays(failed):
        if delay and attempts.wait(delay):
            break
        if refused := attempts.allowance.take():
            return ModelAnswer(None, len(failed), refused, tuple(given))
        try:
            said = complete(messages)
            if inspect.isawaitable(said):
                said = attempts.portal.wait(said, attempts.seconds)
            reply = attempts.take_reply(said, given)
            return ModelAnswer(reply, len(failed) + 1, completions=tuple(given))
        except Exception as error:  # somebody else's code, and whatever goes wrong on the way to a provider
            failed.append(error)
            given += [error.completion] if isinstance(error, ReplyTooLong) else []
            attempts.allowance.note_failure()
    return _given_up(failed, given)


async def ask_on_loop(complete: Complete, messages: list[dict[str, str]], attempts: Attempts[T]) -> ModelAnswer[T]:
    """Ask the model from a running event loop: ``complete`` is called in a worker thread; an awaitable result is
    awaited on this loop, to which its client belongs.
    """
    failed: list[Exception] = []
    given: list[Completion] = []
    for delay in attempts.delays(failed):
        await anyio.sleep(delay)
        if refused := attempts.allowance.take():
            return ModelAnswer(None, len(failed), refused, tuple(given))
        try:
            said = await offload(partial(complete, messages), MODELS)
            if inspect.isawaitable(said):
                said = await await_within(said, attempts.seconds)
            reply = attempts.take_reply(said, given)
            return ModelAnswer(reply, len(failed) + 1, completions=tuple(given))
        except Exception as error:  # as above; a cancellation is none
            failed.append(error)
            given += [error.completion] if isinstance(error, ReplyTooLong) else []
            attempts.allowance.note_failure()
    return _given_up(failed, given)


def _given_up(failed: list[Exception], given: list[Completion]) -> ModelAnswer[T]:
    _logger.warning("a model gave nothing usable: %s", type(failed[-1]).__name__ if failed else "closed")
    return ModelAnswer(None, len(failed), "failed", tuple(given))


def is_transient(status: int) -> bool:
    """Whether a provider's HTTP status means that the same request may succeed later."""
    return status in _AGAIN or status >= 500


def _may_help(error: Exception) -> bool:
    """Whether asking again may help: not when the provider says that the request itself is at fault."""
    if isinstance(error, ModelFailed):
        return error.again
    status = getattr(error, "status_code", None)
    return not isinstance(status, int) or is_transient(status)
