"""Lent models: a server without a model of its own refines a session with the model and API key of a chat call of the
session's client.

A client's API key is held only by the job that was started with it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.forking import make_lock, renew_in_child
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.session.refinement.client import Allowance, Complete

Due = Callable[[SessionState], bool]
"""Whether a session is to be put before a model, as it is now."""

WANTED_MAX: Final = 1_024
"""Sessions that wait for a model at once; the one that waits longest gives way."""

LENDERS_MAX: Final = 1_024
"""Lenders whose calls are counted at once."""


@dataclass(frozen=True, slots=True)
class LentModel:
    """A model that a chat call lends for refinement. ``complete``: asks it, blocking. ``lender``: identifies provider
    and key; the hourly limit and the circuit breaker apply per lender.
    """

    complete: Complete
    lender: bytes


class ModelLending:
    """Tracks which sessions wait for a lent model, and how often each lender's model may be asked. Thread-safe; never
    blocks.
    """

    def __init__(self, allowance: Callable[[], Allowance]) -> None:
        self._made_allowance = allowance
        self._wanted: OrderedDict[SessionKey, Due] = OrderedDict()
        self._allowances: OrderedDict[bytes, Allowance] = OrderedDict()
        self._lock = make_lock()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Start without running calls in a forked child."""
        self._wanted.clear()

    def want(self, key: SessionKey, due: Due) -> None:
        """Note that session ``key`` waits for a model. The next model lent for it refines it, if ``due`` still returns
        true then.
        """
        with self._lock:
            self._wanted[key] = due
            self._wanted.move_to_end(key)
            if len(self._wanted) > WANTED_MAX:
                self._wanted.popitem(last=False)

    def take(self, key: SessionKey) -> Due | None:
        """Remove and return the condition under which the waiting session ``key`` is to be refined; ``None`` if it does
        not wait.
        """
        with self._lock:
            return self._wanted.pop(key, None)

    def allowance(self, lender: bytes) -> Allowance:
        """Return the call limit of one lender."""
        with self._lock:
            found = self._allowances.pop(lender, None) or self._made_allowance()
            self._allowances[lender] = found
            if len(self._allowances) > LENDERS_MAX:
                self._allowances.popitem(last=False)
            return found
