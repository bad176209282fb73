"""Sessions erased for good: from the store, and from the backups that we made of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey

from .backups import clean_backups
from .known_backups import BACKUPS_TENANT, Backup


@dataclass(frozen=True, slots=True)
class Erased:
    """How many events there were, the backups that the session was taken out of, and those that may hold it still."""

    events: int
    cleaned: tuple[Backup, ...] = ()
    unreachable: tuple[Backup, ...] = ()


def erase(memory: SessionMemory, session_id: str, *, tenant: str = LOCAL_TENANT) -> Erased:
    """``memory.forget``, in the backups on record too. A session that is not in the store may still be in them."""
    events = memory.forget(session_id, tenant=tenant)
    found = clean_backups(memory.log, [SessionKey(tenant, session_id)])
    return Erased(events, found.cleaned, found.unreachable)


@dataclass(frozen=True, slots=True)
class Expired:
    """The sessions that were erased because of their age (or would be), and what became of the backups."""

    sessions: tuple[SessionKey, ...]
    cleaned: tuple[Backup, ...] = ()
    unreachable: tuple[Backup, ...] = ()


def expire(
    memory: SessionMemory, since: float, *, tenants: Collection[str] | None = None, dry_run: bool = False
) -> Expired:
    """Erase the sessions of ``tenants`` (``None``: of all) that nothing was added to since then (seconds since the
    epoch), in the backups on record too. ``dry_run``: only say which."""
    own = [name for name in (memory.log.tenants() if tenants is None else tenants) if name != BACKUPS_TENANT]
    if dry_run:
        idle = [info.key for name in own for info in memory.sessions(tenant=name) if info.updated_at < since]
        return Expired(tuple(idle))
    gone = [SessionKey(name, id) for name in own for id in memory.forget_idle(since, tenant=name)]
    found = clean_backups(memory.log, gone)
    return Expired(tuple(gone), found.cleaned, found.unreachable)
