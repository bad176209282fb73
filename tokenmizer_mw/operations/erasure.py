"""Erases sessions from the store, and reports the recorded backups that may still contain them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey

from .known_backups import BACKUPS_TENANT, Backup, on_record


@dataclass(frozen=True, slots=True)
class Erased:
    """Number of erased events, and the backups that may still contain them."""

    events: int
    backups: tuple[Backup, ...] = ()


def erase(memory: SessionMemory, session_id: str, *, tenant: str = LOCAL_TENANT) -> Erased:
    """Erase a session from the store as ``memory.forget`` does, and list the recorded backups, which are not
    changed."""
    events = memory.forget(session_id, tenant=tenant)
    return Erased(events, tuple(on_record(memory.log)) if events else ())


@dataclass(frozen=True, slots=True)
class Expired:
    """The sessions that were (or would be) erased because of their age, and the backups that may still contain them."""

    sessions: tuple[SessionKey, ...]
    backups: tuple[Backup, ...] = ()


def expire(
    memory: SessionMemory, since: float, *, tenants: Collection[str] | None = None, dry_run: bool = False
) -> Expired:
    """Erase the sessions of ``tenants`` (``None``: of all) that were not updated since a time (seconds since the
    epoch).

    Also lists the recorded backups. ``dry_run``: only report the sessions.
    """
    own = [name for name in (memory.log.tenants() if tenants is None else tenants) if name != BACKUPS_TENANT]
    if dry_run:
        idle = [info.key for name in own for info in memory.sessions(tenant=name) if info.updated_at < since]
        return Expired(tuple(idle))
    gone = [SessionKey(name, id) for name in own for id in memory.forget_idle(since, tenant=name)]
    return Expired(tuple(gone), tuple(on_record(memory.log)) if gone else ())
