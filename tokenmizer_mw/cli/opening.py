"""Opens the store that a command uses."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tokenmizer_mw.errors import UnknownSession
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.operations.known_backups import BACKUPS_TENANT
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.default import resolve_store
from tokenmizer_mw.store.log import EventLog
from tokenmizer_mw.store.open import open_log

from .naming import suggest_command

_SQLITE: Final = "sqlite:///"


@dataclass(frozen=True, slots=True)
class Store:
    """An open store: its memory, and the event log below it. ``place``: where it is, for messages to people."""

    memory: SessionMemory
    log: EventLog
    place: str


@contextmanager
def open_store(arguments: argparse.Namespace, *, writes: bool = False) -> Iterator[Store]:
    """Open the store that ``arguments`` name, and close it at the end.

    A read-only command creates nothing: a missing database file counts as an empty store.
    """
    settings = Settings.load(arguments.config)
    address = resolve_store(arguments.store)
    missing = not writes and address.startswith(_SQLITE) and not Path(address.removeprefix(_SQLITE)).exists()
    url = "memory://" if missing else address
    log = open_log(url)
    memory = SessionMemory(log, settings, url=url)
    place = f"{_place(address)}{' (no such file)' if missing else ''}"
    try:
        yield Store(memory, log, place)
    except UnknownSession as error:
        where = f"{error} in {place}{elsewhere(log, arguments.tenant)}"
        listing = suggest_command(arguments, "sessions")
        raise UnknownSession(f"{where}; `{listing}` lists those that are there") from None
    finally:
        memory.close()


def elsewhere(log: EventLog, tenant: str) -> str:
    """Return a hint that other tenants have sessions, for a ``tenant`` without any; "" if no other tenant has any."""
    others = any(name not in (tenant, BACKUPS_TENANT) for name in log.tenants())
    return "; other tenants have sessions here: see --tenant" if others else ""


def _place(address: str) -> str:
    """The file, or what kind of store it is: other addresses may hold a password."""
    return address.removeprefix(_SQLITE) if address.startswith(_SQLITE) else f"{address.partition(':')[0]}://"
