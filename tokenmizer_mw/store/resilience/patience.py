"""How long a chat may still wait for the store. Time that is spent computing does not count."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from tokenmizer_mw.errors import StoreUnavailable


class Patience:
    """Seconds of waiting that are left to one chat call. Not shared between threads."""

    __slots__ = ("left",)

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    @contextmanager
    def spend(self) -> Iterator[None]:
        """Take the time that the block takes from what is left."""
        start = time.monotonic()
        try:
            yield
        finally:
            self.left = max(0.0, self.left - (time.monotonic() - start))


_current: Final[ContextVar[Patience | None]] = ContextVar("tokenmizer_patience", default=None)


def current_patience() -> Patience | None:
    """The patience of the chat call that this code works for; ``None``: it works for no chat, and may wait."""
    return _current.get()


@contextmanager
def patience(seconds: float | None) -> Iterator[None]:
    """Let everything inside the block wait ``seconds`` for the store, all in all; ``None``: without a bound. Inside
    another such block that one's patience counts."""
    if seconds is not None and _current.get() is not None:
        yield
        return
    token = _current.set(None if seconds is None else Patience(seconds))
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def hold(lock: threading.Lock | threading.RLock | threading.Condition) -> Iterator[None]:
    """Hold a lock that others may hold while they wait for the store.

    Raises ``StoreUnavailable`` when the patience of a chat call ends before the lock is free.
    """
    current = _current.get()
    if current is None:
        lock.acquire()
    elif not lock.acquire(blocking=False):
        with current.spend():
            free = lock.acquire(timeout=current.left)
        if not free:
            raise StoreUnavailable("the session is in use, and the deadline has passed", cause="late")
    try:
        yield
    finally:
        lock.release()
