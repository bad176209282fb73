"""The health of a process's store: circuit breaker, last failure, and log line. After repeated failures nobody waits
for the store until a probe finds that it answers.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.errors import StoreError

LOG_SECONDS: Final = 60.0
"""Seconds for which a failure with the same cause and place is not logged again."""

_CAUSES_MAX: Final = 100
_log = logging.getLogger("tokenmizer_mw")


@dataclass(frozen=True, slots=True)
class Trouble:
    """The last failure of the store. ``cause``: the reason in one word, such as "locked"; ``place``: where the store
    is, such as the path of its file; ``at``: time in seconds on a monotonic clock."""

    cause: str
    place: str
    at: float


class StoreMonitor:
    """Counts failures of the store for one process, logs them, and holds the circuit breaker. Thread-safe.

    While the breaker is closed, chats wait for the store. It opens after ``failures_max`` failures in a row: then no
    chat waits, and one probe at a time is sent. A success closes it; a failed probe leaves it open. ``deadline``:
    seconds after which an answer is too late to count as a success. ``clock``: returns the time in seconds.
    """

    def __init__(self, failures_max: int, deadline: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.deadline = deadline
        self.is_open = False
        """Whether the circuit breaker is open, so that no chat waits for the store."""
        self._failures_max = failures_max
        self._failures = 0
        self._clock = clock
        self.trouble: Trouble | None = None
        """The last failure; ``None`` if the store has answered in time since, or never failed."""
        self._logged_at: dict[tuple[str, str], float] = {}
        self.renew()

    def renew(self) -> None:
        """Replace the lock by a new one. Called in a forked child process, in which another thread of the parent may
        have held the old one for ever."""
        self._lock = threading.Lock()

    def note_answer(self, seconds: float) -> None:
        """Report that a call was answered after ``seconds``.

        An answer within ``deadline`` seconds closes the breaker and resets the number of failures; a later one changes
        nothing.
        """
        if seconds > self.deadline or (self.trouble is None and not self._failures):
            return
        with self._lock:
            was_open, self.is_open, self._failures = self.is_open, False, 0
            self.trouble = None
        if was_open:
            _log.warning("the store answers again")

    def note_failure(self, error: StoreError) -> None:
        """Count that a call of the store failed with ``error``, which may open the circuit breaker, and log it, at most
        once a minute for each cause and place."""
        self._fail(error.cause or type(error).__name__, error.place)

    def late(self, place: str = "") -> None:
        """Count a call that was not answered before the deadline as a failure, which may open the circuit breaker, and
        log it, at most once a minute. ``place``: where the store is, for people; "": unknown."""
        self._fail("late", place)

    def report(self, cause: str, place: str) -> None:
        """Log a failure, at most once a minute for each cause and place (as in ``StoreError``); do not count it.
        The line contains no chat content."""
        if self._may_log(cause, place):
            _log.warning("store unavailable: %s (%s); chats go on without waiting for it", cause, place or "?")

    def report_lost(self, turns: int, cause: str, place: str) -> None:
        """Log that ``turns`` turns were given up without being stored, at most once a minute for each cause and
        place (as in ``StoreError``)."""
        if self._may_log(f"lost: {cause}", place):
            _log.warning("%d turns are lost: %s (%s); the counter turn_lost has the sum", turns, cause, place or "?")

    def _may_log(self, cause: str, place: str) -> bool:
        now = self._clock()
        with self._lock:
            if now - self._logged_at.get((cause, place), -LOG_SECONDS) < LOG_SECONDS:
                return False
            if len(self._logged_at) >= _CAUSES_MAX:
                self._logged_at.clear()
            self._logged_at[cause, place] = now
            return True

    def _fail(self, cause: str, place: str) -> None:
        with self._lock:
            self._failures = min(self._failures + 1, self._failures_max)
            self.is_open = self._failures >= self._failures_max
            known = self.trouble
            if cause == "late" and known is not None and known.cause != "late":
                cause, place = known.cause, known.place  # a late call says less than what failed before it
            self.trouble = Trouble(cause, place or (known.place if known is not None else ""), self._clock())
        self.report(cause, place)
