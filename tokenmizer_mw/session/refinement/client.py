"""Ask a model for text through a function of the host application, with retries, a limit of calls per hour, and a
circuit breaker (a pause after repeated failures).

The model may be lent: a server without one of its own refines a session with the model and API key of a chat call of
the session's client. That key is held only by the job that was started with it.
"""

from __future__ import annotations

import inspect
import logging
import random
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from tokenmizer_mw.errors import ModelFailed
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.model.usage import Completion
from tokenmizer_mw.runtime.forking import make_lock, renew_in_child
from tokenmizer_mw.runtime.offload import MODELS, offload
from tokenmizer_mw.session import SessionState

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

HOUR: Final = 3_600.0


class Allowance:
    """Decides whether a model may be called: a limit of calls per hour, and a circuit breaker. Thread-safe.

    Allows ``per_hour`` calls in any hour. After ``failures_max`` failures in a row the circuit is open for
    ``rest_seconds``: no call is allowed. Then one call may try, and its outcome closes the circuit or opens it again.
    ``clock``: returns the time in seconds.
    """

    def __init__(
        self, *, per_hour: int, failures_max: int, rest_seconds: float, clock: Callable[[], float] = time.monotonic
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
        """Request permission for one call. Returns "" when granted, else "circuit_open" or "over_budget".

        A granted call counts against the hourly limit at once. Report its outcome with ``note_success`` or
        ``note_failure``.
        """
        with self._lock:
            now = self._clock()
            while self._calls and self._calls[0] <= now - HOUR:
                self._calls.popleft()
            is_open = self._failures >= self._failures_max
            if is_open and now < self._rests_until:
                return "circuit_open"
            if len(self._calls) >= self._per_hour:
                return "over_budget"
            if is_open:
                self._rests_until = now + self._rest_seconds  # this call tries; others wait for its outcome
            self._calls.append(now)
            return ""

    @property
    def rests(self) -> bool:
        """Whether the circuit breaker is open because of failed calls, so that no call is allowed now. The hourly limit
        does not count here."""
        with self._lock:
            return self._failures >= self._failures_max and self._clock() < self._rests_until

    def note_success(self) -> None:
        """Note that a call gave a usable reply: the count of failures in a row starts again at 0, and the circuit is
        closed."""
        with self._lock:
            self._failures = 0

    def note_failure(self) -> None:
        """Note that a call gave no usable reply. After ``failures_max`` of them in a row the circuit is open: no model
        is asked for ``rest_seconds``."""
        with self._lock:
            self._failures += 1
            self._rests_until = self._clock() + self._rest_seconds


T = TypeVar("T")


class Portal:
    """An event loop in a thread of its own that runs all asynchronous model calls, so that clients can keep connections
    that belong to the loop. Started with the first call."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None
        self._lock = make_lock()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Drop the loop in a forked child process, because its thread exists only in the parent."""
        self._stack = ExitStack()
        self._portal = None

    def wait(self, awaitable: Awaitable[T], seconds: float) -> T:
        """Run ``awaitable`` on the loop and return its result. Raises ``TimeoutError`` after ``seconds``, and any error
        that ``awaitable`` raises."""
        with self._lock:
            if self._portal is None:
                from anyio.from_thread import start_blocking_portal  # an event loop: for asynchronous models alone

                self._portal = self._stack.enter_context(start_blocking_portal())
        return self._portal.call(await_within, awaitable, seconds)

    def close(self) -> None:
        """Cancel the running calls, end the loop, and wait until its thread has ended. A later ``wait`` starts a new
        loop.
        """
        with self._lock:
            portal, self._portal = self._portal, None
            if portal is not None:
                portal.call(portal.stop, True)
            self._stack.close()


async def await_within(awaitable: Awaitable[T], seconds: float) -> T:
    """Return the result of ``awaitable``. Raises ``TimeoutError`` after ``seconds``."""
    import anyio

    with anyio.fail_after(seconds):
        return await awaitable


class ReplyTooLong(ModelFailed):
    """Raised when a model's reply exceeded the size limit and was not read to its end. ``completion``: the reply
    of ``model`` without its text, for usage accounting, because the provider charges for it."""

    def __init__(self, model: str) -> None:
        super().__init__("the reply is too large", again=False)
        self.completion = Completion("", model)


Complete = Callable[[list[dict[str, str]]], str | Completion | Awaitable[str | Completion]]
"""A function of the host application that asks a model. It takes messages {"role": "system" or "user", "content":
text}, and returns the text of the model's reply, a ``Completion``, or an awaitable of either. An error that it raises
counts as a failed call."""

FIRST_DELAY: Final = 0.5
DELAY_MAX: Final = 20.0
"""``FIRST_DELAY``: seconds before the second attempt. ``DELAY_MAX``: most seconds before any attempt, also if the
provider asks for a longer wait."""

_logger = logging.getLogger("tokenmizer_mw")
_AGAIN: Final = frozenset({408, 409, 425, 429})


@dataclass(frozen=True, slots=True)
class ModelAnswer(Generic[T]):
    """The result of asking a model.

    - ``reply``: the parsed reply; ``None`` if there is no usable one. ``refused`` then gives the reason: "failed",
      "circuit_open" or "over_budget".
    - ``calls``: how often the model was asked.
    - ``completions``: all replies of the model, usable or not, because each costs money.
    - ``error``: if ``refused`` is "failed", why the last attempt failed ("closed" if there was no attempt); else "".
    """

    reply: T | None
    calls: int
    refused: str = ""
    completions: tuple[Completion, ...] = field(default=(), compare=False)
    error: str = ""


@dataclass(frozen=True, slots=True)
class Attempts(Generic[T]):
    """How a model is asked: parser, limits and retries.

    - ``read``: parses the text of a reply; returns ``None`` for an unusable one.
    - ``allowance``: must permit each call; ``portal``: runs asynchronous calls.
    - ``most``: maximum number of calls; ``seconds``: time limit of an asynchronous call.
    - ``wait``: sleeps for the given seconds; returns true if the result is no longer needed.
    - ``chance``: returns a random number from 0 to 1, by which the delays between attempts vary.
    """

    read: Callable[[str], T | None]
    allowance: Allowance
    most: int
    seconds: float
    portal: Portal
    wait: Callable[[float], bool]
    chance: Callable[[], float] = field(default=random.random)

    def delays(self, failed: list[Exception]) -> Iterator[float]:
        """Yield the seconds to wait before each attempt, as long as a retry may help. The caller appends the error of
        each failed attempt to ``failed``."""
        yield 0.0
        delay = FIRST_DELAY
        for _ in range(self.most - 1):
            if not _may_help(failed[-1]):
                return
            wanted = getattr(failed[-1], "after", None)
            yield min(DELAY_MAX, wanted if wanted is not None else delay * (0.5 + self.chance() / 2))
            delay *= 2

    def take_reply(self, given: object, completions: list[Completion]) -> T:
        """Parse ``given``, the result of a call (a text or a ``Completion``), append it to ``completions``, and return
        what ``read`` makes of it. Notes the success in ``allowance``. Raises ``ModelFailed`` when it is not a usable
        reply."""
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
    """Ask the model in the calling thread, with retries. ``complete`` may raise anything: its errors are not passed on,
    but count as failed calls. Returns a ``ModelAnswer`` without a reply if no attempt succeeded, a call was not
    allowed, or ``attempts.wait`` returned true before a retry."""
    failed: list[Exception] = []
    given: list[Completion] = []
    for delay in attempts.delays(failed):
        if delay and attempts.wait(delay):
            break
        if refused := attempts.allowance.take():
            return ModelAnswer(None, len(failed), refused, tuple(given))
        try:
            result = complete(messages)
            if inspect.isawaitable(result):
                result = attempts.portal.wait(result, attempts.seconds)
            reply = attempts.take_reply(result, given)
            return ModelAnswer(reply, len(failed) + 1, completions=tuple(given))
        except Exception as error:  # somebody else's code, and whatever goes wrong on the way to a provider
            failed.append(error)
            given += [error.completion] if isinstance(error, ReplyTooLong) else []
            attempts.allowance.note_failure()
    return _give_up(failed, given)


async def ask_on_loop(complete: Complete, messages: list[dict[str, str]], attempts: Attempts[T]) -> ModelAnswer[T]:
    """Ask the model from a running event loop, with retries. ``complete`` is called in a worker thread; an awaitable
    that it returns is awaited on this loop, because its HTTP client belongs to the loop. Its errors are not raised, but
    count as failed calls. Returns a ``ModelAnswer`` without a reply if no attempt succeeded or a call was not allowed.
    ``attempts.wait`` and ``attempts.portal`` are not used."""
    failed: list[Exception] = []
    given: list[Completion] = []
    for delay in attempts.delays(failed):
        import anyio

        await anyio.sleep(delay)
        if refused := attempts.allowance.take():
            return ModelAnswer(None, len(failed), refused, tuple(given))
        try:
            result = await offload(partial(complete, messages), MODELS)
            if inspect.isawaitable(result):
                result = await await_within(result, attempts.seconds)
            reply = attempts.take_reply(result, given)
            return ModelAnswer(reply, len(failed) + 1, completions=tuple(given))
        except Exception as error:  # as above; a cancellation is none
            failed.append(error)
            given += [error.completion] if isinstance(error, ReplyTooLong) else []
            attempts.allowance.note_failure()
    return _give_up(failed, given)


def _give_up(failed: list[Exception], given: list[Completion]) -> ModelAnswer[T]:
    error = _describe_error(failed[-1]) if failed else "closed"
    _logger.warning("a model gave nothing usable: %s", error)
    return ModelAnswer(None, len(failed), "failed", tuple(given), error)


def _describe_error(error: Exception) -> str:
    """Return the text of an error of this package, which contains nothing of a chat; of any other error only its
    class."""
    return str(error) if isinstance(error, ModelFailed) else type(error).__name__


def is_transient(status: int) -> bool:
    """Whether a provider's HTTP status means that the same request may succeed later."""
    return status in _AGAIN or status >= 500


def _may_help(error: Exception) -> bool:
    """Whether asking again may help: false if the provider says that the request itself is wrong."""
    if isinstance(error, ModelFailed):
        return error.again
    status = getattr(error, "status_code", None)
    return not isinstance(status, int) or is_transient(status)


Due = Callable[[SessionState], bool]
"""A function that returns whether a session should be refined, given its current state."""

WANTED_MAX: Final = 1_024
"""Most sessions that wait for a lent model at the same time. If there are more, the one that has waited longest is
dropped."""

LENDERS_MAX: Final = 1_024
"""Most lenders (pairs of provider and API key) whose calls are counted at the same time."""


@dataclass(frozen=True, slots=True)
class LentModel:
    """The model of a chat call, which is used to refine the session of that call.

    ``complete``: asks the model, with the call's API key, and blocks. ``lender``: identifies the provider and the key;
    the hourly limit and the circuit breaker apply to each lender.
    """

    complete: Complete
    lender: bytes


class ModelLending:
    """Tracks which sessions wait to be refined with the model of a chat call (the call "lends" it), and how many more
    requests each lender (pair of provider and API key) allows. Thread-safe; never blocks.

    ``allowance``: makes the hourly limit and the circuit breaker for a new lender.
    """

    def __init__(self, allowance: Callable[[], Allowance]) -> None:
        self._made_allowance = allowance
        self._wanted: OrderedDict[SessionKey, Due] = OrderedDict()
        self._allowances: OrderedDict[bytes, Allowance] = OrderedDict()
        self._lock = make_lock()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Forget the waiting sessions in a forked child process, because they are for the parent to refine."""
        self._wanted.clear()

    def want(self, key: SessionKey, due: Due) -> None:
        """Note that session ``key`` waits for a model. The next model lent for it refines it, if ``due`` still returns
        true then."""
        with self._lock:
            self._wanted[key] = due
            self._wanted.move_to_end(key)
            if len(self._wanted) > WANTED_MAX:
                self._wanted.popitem(last=False)

    def take(self, key: SessionKey) -> Due | None:
        """Return the condition (``Due``) under which the waiting session ``key`` is to be refined, and end its waiting.
        ``None`` if it does not wait."""
        with self._lock:
            return self._wanted.pop(key, None)

    def allowance(self, lender: bytes) -> Allowance:
        """Return the hourly call limit and circuit breaker of one lender (provider and key)."""
        with self._lock:
            found = self._allowances.pop(lender, None) or self._made_allowance()
            self._allowances[lender] = found
            if len(self._allowances) > LENDERS_MAX:
                self._allowances.popitem(last=False)
            return found
