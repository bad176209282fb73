"""Limit how often a model is asked: calls per hour, and a circuit breaker after repeated failures."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Final

from tokenmizer_mw.runtime.forking import make_lock

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
