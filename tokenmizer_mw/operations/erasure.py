"""Erases a single session, the sessions that have been idle for too long, or these continuously while a server runs.

Recorded backups that may still contain an erased session are reported.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.errors import TokenMizerError
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey

from .backups import Backup, recorded_backups
from .exports import BACKUPS_TENANT


@dataclass(frozen=True, slots=True)
class Erased:
    """Result of an erasure: the number of erased events, and the recorded backups, which may still contain them."""

    events: int
    backups: tuple[Backup, ...] = ()


def erase(memory: SessionMemory, session_id: str, *, tenant: str = LOCAL_TENANT) -> Erased:
    """Erase a session permanently from the store. Returns the number of its events and the recorded backups of the
    store, which may still contain the session and are not changed. For a session that does not exist, ``events`` is 0
    and no backups are returned.

    Raises ``StoreUnavailable`` if the store fails. That error can also mean that the session is erased and copies of it
    are left in the store's files; its message says so.
    """
    events = memory.forget(session_id, tenant=tenant)
    return Erased(events, tuple(recorded_backups(memory.log)) if events else ())


@dataclass(frozen=True, slots=True)
class Expired:
    """The sessions that were (or would be) erased because they were idle, and the backups that may still contain
    them."""

    sessions: tuple[SessionKey, ...]
    backups: tuple[Backup, ...] = ()


def expire(
    memory: SessionMemory, since: float, *, tenants: Collection[str] | None = None, dry_run: bool = False
) -> Expired:
    """Erase permanently the sessions of ``tenants`` (``None``: of all) whose newest event is older than ``since``, in
    seconds since the epoch. Returns these sessions and, if there are any, the recorded backups of the store, which may
    still contain them. The records of backups are never erased.

    ``dry_run``: erase nothing; return the sessions that would be erased, without backups. Raises ``StoreUnavailable``
    if the store fails; the sessions may be erased nevertheless, as the message then says.
    """
    own = [name for name in (memory.log.tenants() if tenants is None else tenants) if name != BACKUPS_TENANT]
    if dry_run:
        idle = [info.key for name in own for info in memory.sessions(tenant=name) if info.updated_at < since]
        return Expired(tuple(idle))
    gone = [SessionKey(name, id) for name in own for id in memory.forget_idle(since, tenant=name)]
    return Expired(tuple(gone), tuple(recorded_backups(memory.log)) if gone else ())


EVERY_SECONDS: Final = 3_600.0
DAY: Final = 86_400.0
_log = logging.getLogger("tokenmizer_mw")


@contextmanager
def retaining(
    memory: SessionMemory, *, every: float = EVERY_SECONDS, clock: Callable[[], float] = time.time
) -> Iterator[None]:
    """While the context is active, erase sessions of all tenants that have been idle for more than ``retain_days`` (a
    setting).

    Runs at once and then every ``every`` seconds, in a thread of its own; does nothing if the setting is ``None``.
    Several workers may do so at the same time. Errors are counted as "retain_failed" and retried; "sessions_expired"
    counts erased sessions. Leaving the context waits at most ``Settings.drain_seconds`` for an erasure in progress.
    """
    days = memory.settings.retain_days
    if days is None:
        yield
        return
    over = threading.Event()

    def run() -> None:
        while not over.is_set():
            _expire_sessions(memory, clock() - days * DAY)
            over.wait(every)

    worker = threading.Thread(target=run, name="tokenmizer-retention", daemon=True)
    worker.start()
    try:
        yield
    finally:
        over.set()
        worker.join(memory.settings.drain_seconds)


def _expire_sessions(memory: SessionMemory, since: float) -> None:
    try:
        found = expire(memory, since)
    except (OSError, TokenMizerError) as error:
        memory.service.count("retain_failed")
        _log.warning("retain_failed: %s", type(error).__name__)
        return
    memory.service.count("sessions_expired", len(found.sessions))
    if found.backups:
        _log.info("sessions that were erased may still be in %d backups", len(found.backups))
