"""Replaces locks and caches in a forked child process.

A thread of the parent does not exist in the child, but a lock that it held during the fork does, and nobody would ever
release it. Data that such a thread was changing may be inconsistent.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from functools import cached_property
from typing import Final, Protocol
from weakref import WeakSet


class Renewable(Protocol):
    """An object that has to be reset in a forked child process."""

    def renew_after_fork(self) -> None:
        """Replace locks and threads, and drop incomplete state. Called in the child process, where no other thread
        runs.
        """


_locks: Final[WeakSet[object]] = WeakSet()
_owners: Final[WeakSet[Renewable]] = WeakSet()


def make_lock() -> threading.Lock:
    """Return a ``threading.Lock`` that is free in a forked child process."""
    lock = threading.Lock()
    _locks.add(lock)
    return lock


def make_brief_lock() -> threading.Lock:
    """Return a lock for a short-lived object that a forked child process does not use, such as a call in progress."""
    return threading.Lock()


def renew_in_child(owner: Renewable) -> None:
    """Call ``owner.renew_after_fork`` in every child process that is forked while ``owner`` exists."""
    _owners.add(owner)


def _renew() -> None:
    for lock in (*_locks, *_property_locks()):
        lock._at_fork_reinit()  # type: ignore[attr-defined]  # what the standard library's logging does with its own
    for owner in list(_owners):
        owner.renew_after_fork()


def _property_locks() -> Iterator[object]:
    """The locks of this package's cached properties: Python 3.11 has one in each, and extraction holds them often."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] != __name__.partition(".")[0]:
            continue
        for owner in list(vars(module).values()):
            if isinstance(owner, type):
                yield from (
                    value.lock
                    for value in vars(owner).values()
                    if isinstance(value, cached_property) and hasattr(value, "lock")
                )


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
