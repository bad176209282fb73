"""Circuit breaker: after repeated failures nobody waits for the store until a probe finds that it answers. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

FAILURES_MAX: Final = 3


@dataclass(frozen=True, slots=True)
class Breaker:
    """One state of a circuit breaker; every transition returns another one.

    Closed: chats wait for the store. Open, from the ``failures_max``-th failure in a row on: no chat waits, and one
    probe at a time goes through. A success closes it, a failure of the probe leaves it open.
    """

    failures_max: int = FAILURES_MAX
    failures: int = 0

    @property
    def is_open(self) -> bool:
        """Whether chats must not wait."""
        return self.failures >= self.failures_max

    def after_success(self) -> Breaker:
        """The state after a call that was answered in time: closed."""
        return replace(self, failures=0)

    def after_failure(self) -> Breaker:
        """The state after a call that failed, or was not answered in time."""
        return replace(self, failures=min(self.failures + 1, self.failures_max))
