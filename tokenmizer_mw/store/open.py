"""Open the store at an address."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, cast

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.runtime.installing import install_hint
from tokenmizer_mw.store import postgres_address
from tokenmizer_mw.store.choosing import sqlite_path
from tokenmizer_mw.store.log import Clock, EventLog
from tokenmizer_mw.store.memory import MemoryLog
from tokenmizer_mw.store.sqlite import SqliteLog
from tokenmizer_mw.store.sqlite_file import Synchronous

ACCEPTED: Final = (
    "memory://, sqlite:///relative/path.db, sqlite:////absolute/path.db or postgresql://user@host:port/database"
)


def open_log(url: str, *, clock: Clock = time.time) -> EventLog:
    """The store at ``url``. Nothing is read or written before its first use.

    ``memory://``
        in this process; so are ``sqlite://`` and ``sqlite:///:memory:``.
    ``sqlite:///relative/path.db``, ``sqlite:////absolute/path.db``, ``sqlite:///~/path.db``
        a SQLite file, taken as written (no percent decoding); ``?synchronous=full`` makes commits survive a power
        cut, see ``SqliteLog``.
    ``postgresql://user@host:port/database``
        a PostgreSQL database, with the extra ``postgres``; ``?schema=...&pool=...`` and the other options of
        ``postgres_address.Address``, and those of libpq (``sslmode`` and so on).

    Raises ``ConfigError`` for everything else. The message never repeats the address, which may hold a password.
    """
    scheme, separator, rest = url.partition("://")
    opener = _OPENERS.get(scheme.lower()) if separator else None
    if opener is None:
        raise ConfigError(f"a store's address is {ACCEPTED}")
    return opener(rest, clock)


def _memory(rest: str, clock: Clock) -> EventLog:
    if rest:
        raise ConfigError("memory:// takes no path")
    return MemoryLog(clock)


def _sqlite(rest: str, clock: Clock) -> EventLog:
    location, _, query = rest.partition("?")
    path = sqlite_path(location)
    return MemoryLog(clock) if path is None else SqliteLog(path, clock=clock, synchronous=_synchronous(query))


def _synchronous(query: str) -> Synchronous:
    name, _, value = query.partition("=")
    if name not in ("", "synchronous"):
        raise ConfigError(f"a SQLite address takes the option synchronous, not {name}")
    return cast(Synchronous, value) if name else "normal"


def _postgresql(rest: str, clock: Clock) -> EventLog:
    address = postgres_address.parse(rest)
    try:
        from tokenmizer_mw.store.postgres import PostgresLog
    except ModuleNotFoundError as error:
        if error.name != "psycopg":
            raise
        raise ConfigError(f"postgresql:// needs the extra `postgres`: {install_hint('postgres')}") from None
    return PostgresLog(address, clock=clock)


_OPENERS: Final[dict[str, Callable[[str, Clock], EventLog]]] = {
    "memory": _memory,
    "sqlite": _sqlite,
    "postgresql": _postgresql,
    "postgres": _postgresql,
}
