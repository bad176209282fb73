"""Replaces locks and caches in a forked child process, and closes SQLite connections before a fork.

A thread of the parent does not exist in the child, but a lock that it held during the fork does, and nobody would ever
release it. Data that such a thread was changing may be inconsistent.

SQLite's locks belong to a process, but SQLite's knowledge of them is copied into a forked child. A child of a process
that was writing would wait for its parent's lock for ever. A child that inherited an open connection would hold no lock
at all, so that others could delete the write-ahead log that it uses. https://sqlite.org/howtocorrupt.html, 2.6
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from functools import cached_property
from types import TracebackType
from typing import Final, Protocol
from weakref import WeakSet


class Renewable(Protocol):
    """An object that must be reset in a forked child process, because it has locks, threads or state that another
    thread may have been changing during the fork (``renew_in_child``)."""

    def renew_after_fork(self) -> None:
        """Replace locks and threads by new ones, and drop state that may be incomplete. Called in the child process
        directly after the fork, while no other thread runs there.
        """


_locks: Final[WeakSet[object]] = WeakSet()
_owners: Final[WeakSet[Renewable]] = WeakSet()


def make_lock() -> threading.Lock:
    """Return a ``threading.Lock`` that is free in a forked child process, even if a thread of the parent held it."""
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
    """Yield the locks of this package's cached properties: Python 3.11 has a lock in each, and extraction holds them
    often."""
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


FORK_SECONDS: Final = 2.0
"""Longest time in seconds that a fork waits for connections that are in use. After that it goes ahead; the child may
then find the database busy."""


class Releasable(Protocol):
    """An object that keeps connections between calls and opens new ones when needed."""

    def release_connections(self) -> None:
        """Close all idle connections. Called by ``ForkGate`` before a fork, while none is in use."""


class ForkGate:
    """Keeps out of forks what a forked process could not go on with, such as a connection in use. Use ``with gate:``
    around each use.

    A fork (``os.fork``) waits at most ``FORK_SECONDS`` until nothing is in use, and then goes ahead in any case; new
    uses wait until it is done. If nothing is in use, all idle connections of the objects that were registered with
    ``adopt`` are closed before the fork; otherwise they stay open.
    """

    def __init__(self) -> None:
        self._owners: WeakSet[Releasable] = WeakSet()
        self._renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._close, after_in_parent=self._open, after_in_child=self._renew)

    def adopt(self, owner: Releasable) -> None:
        """Have ``owner.release_connections`` called before each fork, as long as ``owner`` exists (it is referenced
        weakly). It is not called if something is still in use after ``FORK_SECONDS`` and the fork goes ahead."""
        self._owners.add(owner)

    def __enter__(self) -> None:
        with self._changed:
            while self._forking:
                self._changed.wait()
            self._uses += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._uses -= 1
            if self._forking:
                self._changed.notify_all()

    def _renew(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._uses = 0
        self._forking = False

    def _close(self) -> None:
        deadline = time.monotonic() + FORK_SECONDS
        with self._changed:
            self._forking = True
            while self._uses and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)
            if not self._uses:
                for owner in list(self._owners):
                    owner.release_connections()

    def _open(self) -> None:
        with self._changed:
            self._forking = False
            self._changed.notify_all()


GATE: Final = ForkGate()
"""The gate of this process. The SQLite store and the response cache in SQLite use it for their connections."""

DECISION_GATE: Final = ForkGate()
"""The gate of redaction and extraction in this process, which decide on the events of a session. RE2 holds native locks
while it matches; in a process that is forked meanwhile they would never be released."""
