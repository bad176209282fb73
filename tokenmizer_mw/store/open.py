"""Open the store at an address."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Final, cast

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.runtime.installing import install_hint

from . import postgres_address
from .log import Clock, EventLog
from .memory import MemoryLog
from .sqlite import SqliteLog
from .sqlite_file import Synchronous

ACCEPTED: Final = (
    "memory://, sqlite:///relative/path.db, sqlite:////absolute/path.db or postgresql://user@host:port/database"
)

_IN_MEMORY: Final = ("", "/:memory:")


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


def sqlite_path(location: str) -> str | None:
    """The file that a SQLite address names between its two slashes and its options; ``None``: none, it is in memory.

    Raises ``ConfigError``.
    """
    if location in _IN_MEMORY:
        return None
    path = location.removeprefix("/")
    if path == location or not path or "\0" in path:
        raise ConfigError("a SQLite address has three slashes before a relative path and four before an absolute one")
    return os.path.expanduser(path)


def _synchronous(query: str) -> Synchronous:
    name, _, value = query.partition("=")
    if name not in ("", "synchronous"):
        raise ConfigError(f"a SQLite address takes the option synchronous, not {name}")
    return cast(Synchronous, value) if name else "normal"


def _postgresql(rest: str, clock: Clock) -> EventLog:
    address = postgres_address.parse(rest)
    try:
        from .postgres import PostgresLog
    except ModuleNotFoundError as error:
        if error.name != "asyncpg":
            raise
        raise ConfigError(f"postgresql:// needs the extra `postgres`: {install_hint('postgres')}") from None
    return PostgresLog(address, clock=clock)


_OPENERS: Final[dict[str, Callable[[str, Clock], EventLog]]] = {
    "memory": _memory,
    "sqlite": _sqlite,
    "postgresql": _postgresql,
    "postgres": _postgresql,
}
