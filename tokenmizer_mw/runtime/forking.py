"""Replaces locks and caches in a forked child process.

A thread of the parent does not exist in the child, but a lock that it held at the moment of the fork does, and nobody
would ever release it. What such a thread was changing may be half changed.
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
    """An object that a forked child has to replace."""

    def renew_after_fork(self) -> None:
        """Called in the child, where no other thread runs: replace locks and threads, drop what may be half done."""


_locks: Final[WeakSet[object]] = WeakSet()
_owners: Final[WeakSet[Renewable]] = WeakSet()


def make_lock() -> threading.Lock:
    """A ``threading.Lock`` that is free in a forked child."""
    lock = threading.Lock()
    _locks.add(lock)
    return lock


def make_brief_lock() -> threading.Lock:
    """A lock of an object that no forked child goes on with, such as a call that is under way."""
    return threading.Lock()


def renew_in_child(owner: Renewable) -> None:
    """Have ``owner.renew_after_fork`` called in every child that is forked while ``owner`` lives."""
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
