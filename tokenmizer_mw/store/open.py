"""Choose the store when the user named none, and open the store at an address."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, cast

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.runtime.installing import install_hint
from tokenmizer_mw.settings import read_mapping
from tokenmizer_mw.store import postgres_address
from tokenmizer_mw.store.address import absolute_address
from tokenmizer_mw.store.announced import Announcement, announced_stores, data_folder, reachable_address
from tokenmizer_mw.store.log import Clock, EventLog
from tokenmizer_mw.store.memory import MemoryLog
from tokenmizer_mw.store.sqlite import SqliteLog
from tokenmizer_mw.store.sqlite_file import Synchronous

STORE_VARIABLE: Final = "TOKENMIZER_STORE"
"""The environment variable that names a store."""

CONFIG_VARIABLE: Final = "TOKENMIZER_CONFIG"
"""The environment variable that names the configuration of the proxy, which may name the store."""


def resolve_store(named: str | None = None, environ: Mapping[str, str] | None = None) -> str:
    """Return the address of the store that all parts of this installation use. The first of these that exists:

    - the address ``named``;
    - the variable ``TOKENMIZER_STORE``;
    - with ``TOKENMIZER_CONFIG``: the store of a running server that was started with that file (symbolic links are
      followed), else ``store`` in that file;
    - the store of the running server that was started last;
    - a database in the user's data directory.

    Raises ``ConfigError`` for an invalid file or address.
    """
    variables = os.environ if environ is None else environ
    if address := named or variables.get(STORE_VARIABLE):
        return address
    servers = announced_stores()
    if path := variables.get(CONFIG_VARIABLE):
        path = os.path.abspath(path)
        of_file = store_in_file(path)
        if own := [said for said in servers if said.config and os.path.realpath(said.config) == os.path.realpath(path)]:
            return reachable_address(own[0], of_file)
        if of_file:
            return of_file
    return _reachable_address(servers[0]) if servers else default_address()


def store_in_file(path: str | Path) -> str:
    """Return ``store`` in a configuration file of the proxy, "" for none. A relative path in it is relative to the
    file's folder. Raises ``ConfigError`` for an invalid file.
    """
    address = str(read_mapping(Path(path)).get("store") or "")
    return absolute_address(address, os.path.dirname(os.path.abspath(path)))


def default_address() -> str:
    """Return the address of a database in the user's data directory. Raises ``ConfigError`` if there is no such
    directory.
    """
    folder = data_folder()
    if folder is None:
        raise ConfigError(f"no store given: use --store, set {STORE_VARIABLE}, or {install_hint('cli')}")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{folder.parent}: {error.strerror}: use --store or set {STORE_VARIABLE}") from None
    return f"sqlite:///{folder / 'sessions.db'}"


def _reachable_address(server: Announcement) -> str:
    of_file = store_in_file(server.config) if server.has_password and server.config else ""
    return reachable_address(server, of_file)


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
    """Return the path of the database file in the part of a SQLite address after ``sqlite://``; ``None`` for a database
    in memory. Raises ``ConfigError`` for an invalid address.
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
