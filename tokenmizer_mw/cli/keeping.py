"""The commands that maintain a store: backup, restore, retention by age, and erasure of a session."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw.errors import CallerError, UnknownSession
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.operations.backups import back_up, sessions_of, take_back
from tokenmizer_mw.operations.erasure import erase, expire
from tokenmizer_mw.operations.known_backups import BACKUPS_TENANT, Backup, on_record, strike_off
from tokenmizer_mw.runtime.terminal import show, show_json

from .opening import Store
from .progress import progress

_UNITS: Final = {"d": 86_400, "h": 3_600, "w": 7 * 86_400, "y": 365 * 86_400}
_AGE: Final = re.compile(r"([0-9]{1,6})([dhwy])")


def backup(arguments: argparse.Namespace, store: Store) -> None:
    """Write a backup, list the recorded ones, or remove one from the record."""
    if arguments.list:
        _list_backups(on_record(store.log), arguments.json)
    elif arguments.drop is not None:
        _drop_backup(arguments, store)
    elif arguments.dest is None:
        raise CallerError("say where to: a new file, or a directory")
    elif not store.log.tenants():
        raise CallerError(f"nothing to back up: no sessions in {store.place}")
    else:
        made = _write_backup(arguments, store)
        if arguments.json:
            show_json(_plain(made))
        else:
            show(f"{made.path}: {made.sessions:,} sessions, verified")


def _write_backup(arguments: argparse.Namespace, store: Store) -> Backup:
    tenants = [tenant for tenant in store.log.tenants() if tenant != BACKUPS_TENANT]
    count = sum(len(store.log.sessions(tenant)) for tenant in tenants)
    with progress("sessions written and verified", 2 * count) as advance:
        where = Path(arguments.dest)
        return back_up(store.log, where, now=time.time(), portable=arguments.portable, advance=advance)


def _plain(one: Backup) -> dict[str, Any]:
    told = {"path": one.path, "host": one.host, "form": one.form, "made_at": one.made_at, "sessions": one.sessions}
    return {**told, "there": one.here and Path(one.path).is_file()}


def _list_backups(found: Sequence[Backup], as_json: bool) -> None:
    if as_json:
        show_json([_plain(one) for one in found])
        return
    for one in found:
        made = datetime.fromtimestamp(one.made_at).strftime("%Y-%m-%d %H:%M")
        gone = "" if not one.here or Path(one.path).is_file() else "  (not there)"
        show(f"{made}  {one.sessions:>7,} sessions  {one.host}:{one.path}{gone}")


def _drop_backup(arguments: argparse.Namespace, store: Store) -> None:
    path = str(Path(arguments.drop).expanduser().absolute())
    found = [one for one in on_record(store.log) if one.path == path]
    if not found:
        raise CallerError(f"{path}: not on record")
    strike_off(store.log, found)
    if arguments.json:
        show_json([_plain(one) for one in found])
    else:
        show(f"{path}: no longer on record; the file itself is yours to delete")


def restore(arguments: argparse.Namespace, store: Store) -> None:
    """Restore the sessions of a backup into the store."""
    path = Path(arguments.source).expanduser()
    count = sum(1 for _ in sessions_of(path))
    with progress("sessions", count) as advance:
        found = take_back(store.log, path, advance)
    if arguments.json:
        differ = [{"session": key.id, "tenant": key.tenant} for key in found.differ]
        show_json({"sessions": found.sessions, "events": found.events, "differ": differ})
        return
    show(f"{found.sessions:,} sessions, {found.events:,} new events in {store.place}")
    for key in found.differ:
        print(f"left alone, the store holds something else: {_format_key(key)}", file=sys.stderr)


def retain(arguments: argparse.Namespace, store: Store) -> None:
    """Erase the sessions that have been idle for longer than the given time."""
    since = time.time() - _seconds(arguments.older_than)
    tenants = None if arguments.all_tenants else [arguments.tenant]
    found = expire(store.memory, since, tenants=tenants, dry_run=arguments.dry_run)
    if arguments.json:
        sessions = [{"session": key.id, "tenant": key.tenant} for key in found.sessions]
        show_json({"sessions": sessions, "erased": not arguments.dry_run, **_backups(found.backups)})
        return
    for key in found.sessions:
        show(_format_key(key))
    print(f"{'would erase' if arguments.dry_run else 'erased'} {len(found.sessions):,} sessions", file=sys.stderr)
    _warn(found.backups)


def forget(arguments: argparse.Namespace, store: Store) -> None:
    """Erase a session from the store. Raises ``UnknownSession`` if it does not exist."""
    gone = erase(store.memory, arguments.session, tenant=arguments.tenant)
    if not gone.events:
        raise UnknownSession(f"no session {arguments.session!r}")
    if arguments.json:
        show_json({"session": arguments.session, "erased": gone.events, **_backups(gone.backups)})
        return
    _warn(gone.backups)
    show(f"erased {arguments.session}: {gone.events:,} events")


def _format_key(key: SessionKey) -> str:
    return f"{key.id} ({key.tenant})"


def _backups(backups: Sequence[Backup]) -> dict[str, list[str]]:
    return {"backups": [f"{one.host}:{one.path}" for one in backups]}


def _warn(backups: Sequence[Backup]) -> None:
    for one in backups:
        print(f"may still be in the backup {one.host}:{one.path}", file=sys.stderr)


def _seconds(age: str) -> float:
    found = _AGE.fullmatch(age.strip().lower())
    if found is None:
        raise CallerError(f"{age!r} is not an age: use 90d, 12h, 8w or 1y")
    return float(found[1]) * _UNITS[found[2]]
