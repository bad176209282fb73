"""One question to a model, asked again where that may help."""

from __future__ import annotations

import inspect
import logging
import random
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

import anyio
import anyio.to_thread

from tokenmizer_mw.errors import ModelFailed

from .allowance import Allowance
from .portal import Portal, awaited

T = TypeVar("T")

Complete = Callable[[list[dict[str, str]]], str | Awaitable[str]]
"""From messages ``{"role": "system" | "user", "content": text}`` to the text of the model's reply, at once or awaited.
What it raises counts as a failed call."""

FIRST_DELAY: Final = 0.5
DELAY_MAX: Final = 20.0
"""Seconds before the second attempt, and at most before any; a provider's own word on that counts up to the latter."""

_logger = logging.getLogger("tokenmizer_mw")
_AGAIN: Final = frozenset({408, 409, 425, 429})


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What came of a question: the reply as read, or ``None`` and why ("failed", "circuit_open", "over_budget").
    ``calls`` is how often the model was asked."""

    reply: T | None
    calls: int
    refused: str = ""


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

    def taken(self, text: object) -> T:
        """The reply that ``text`` is. Raises ``ModelFailed`` when it is none."""
        reply = self.read(text) if isinstance(text, str) else None
        if reply is None:
            raise ModelFailed("the model's reply is not what was asked for")
        self.allowance.succeeded()
        return reply


def ask(complete: Complete, messages: list[dict[str, str]], attempts: Attempts[T]) -> Answer[T]:
    """Ask in the running thread. Never raises what ``complete`` does."""
    failed: list[Exception] = []
    for delay in attempts.delays(failed):
        if delay and attempts.wait(delay):
            break
        if refused := attempts.allowance.take():
            return Answer(None, len(failed), refused)
        try:
            text = complete(messages)
            if inspect.isawaitable(text):
                text = attempts.portal.wait(text, attempts.seconds)
            return Answer(attempts.taken(text), len(failed) + 1)
        except Exception as error:  # somebody else's code, and whatever goes wrong on the way to a provider
            failed.append(error)
            attempts.allowance.failed()
    return _given_up(failed)


async def ask_on_loop(complete: Complete, messages: list[dict[str, str]], attempts: Attempts[T]) -> Answer[T]:
    """The same from a running event loop: ``complete`` is called in a worker thread, and what it gives to be awaited
    is awaited here, on the loop that its client belongs to."""
    failed: list[Exception] = []
    for delay in attempts.delays(failed):
        await anyio.sleep(delay)
        if refused := attempts.allowance.take():
            return Answer(None, len(failed), refused)
        try:
            text = await anyio.to_thread.run_sync(complete, messages)
            if inspect.isawaitable(text):
                text = await awaited(text, attempts.seconds)
            return Answer(attempts.taken(text), len(failed) + 1)
        except Exception as error:  # as above; a cancellation is none
            failed.append(error)
            attempts.allowance.failed()
    return _given_up(failed)


def _given_up(failed: list[Exception]) -> Answer[T]:
    _logger.warning("a model gave nothing usable: %s", type(failed[-1]).__name__ if failed else "closed")
    return Answer(None, len(failed), "failed")


def is_transient(status: int) -> bool:
    """Whether a provider's status says that the same request may succeed later."""
    return status in _AGAIN or status >= 500


def _may_help(error: Exception) -> bool:
    """Whether asking again may help: not when the provider says that the request itself is at fault."""
    if isinstance(error, ModelFailed):
        return error.again
    status = getattr(error, "status_code", None)
    return not isinstance(status, int) or is_transient(status)
