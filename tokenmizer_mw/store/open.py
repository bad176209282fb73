"""Open the store at an address; or check, without the network, whether it can be used, and describe the result for
people."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, cast

from tokenmizer_mw.errors import ConfigError, StoreError
from tokenmizer_mw.model.session import LOCAL_TENANT
from tokenmizer_mw.runtime.installing import install_hint
from tokenmizer_mw.store import postgres_address
from tokenmizer_mw.store.address import quote_address
from tokenmizer_mw.store.choosing import sqlite_path
from tokenmizer_mw.store.log import Clock, EventLog
from tokenmizer_mw.store.memory import MemoryLog
from tokenmizer_mw.store.sqlite import SqliteLog
from tokenmizer_mw.store.sqlite_file import Synchronous, examine, require_synchronous, try_creating

ACCEPTED: Final = (
    "memory://, sqlite:///relative/path.db, sqlite:////absolute/path.db or postgresql://user@host:port/database"
)


def open_log(url: str, *, clock: Clock = time.time) -> EventLog:
    """Return the store at ``url``. Nothing is read or written before its first use, so that a store that cannot be
    reached raises only then. ``clock``: returns the time of new events, in seconds since the epoch.

    ``memory://``
        in this process; so are ``sqlite://`` and ``sqlite:///:memory:``.
    ``sqlite:///relative/path.db``, ``sqlite:////absolute/path.db``, ``sqlite:///~/path.db``
        a SQLite file, taken as written (no percent decoding); ``?synchronous=full`` makes commits survive a power
        cut (by default they survive only the death of the process).
    ``postgresql://user@host:port/database``
        a PostgreSQL database, with the extra ``postgres``; ``?schema=...&pool=...`` and the other options of
        ``postgres_address.Address``, and those of libpq (``sslmode`` and so on).

    Raises ``ConfigError`` for everything else. The message quotes the address without what may be a password.
    """
    scheme, separator, rest = url.partition("://")
    opener = _OPENERS.get(scheme.lower()) if separator else None
    if opener is None:
        raise ConfigError(f"a store's address is {ACCEPTED}, not {quote_address(url)}")
    return opener(rest, clock)


def _memory(rest: str, clock: Clock) -> EventLog:
    if rest:
        raise ConfigError("memory:// takes no path")
    return MemoryLog(clock)


def _sqlite(rest: str, clock: Clock) -> EventLog:
    location, _, query = rest.partition("?")
    path, synchronous = sqlite_path(location), _synchronous(query)
    return MemoryLog(clock) if path is None else SqliteLog(path, clock=clock, synchronous=synchronous)


def _synchronous(query: str) -> Synchronous:
    name, _, value = query.partition("=")
    if name not in ("", "synchronous"):
        raise ConfigError(f"a SQLite address takes the option synchronous, not {name}")
    if not name:
        return "normal"
    require_synchronous(value)
    return cast(Synchronous, value)


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


POSTGRES_SCHEMES: Final = ("postgresql", "postgres")


def find_missing(url: str) -> str:
    """Return what is missing of the store at ``url``, for messages, such as "no such file" or
    "no tables in the schema x". "" if the store exists or is in memory.

    Creates nothing. Raises ``ConfigError`` for an address that is invalid or needs an extra that is not installed, and
    ``StoreError`` if PostgreSQL cannot be reached.
    """
    open_log(url).close()  # raises for an invalid address
    scheme, _, rest = url.partition("://")
    if scheme.lower() == "sqlite":
        path = sqlite_path(rest.partition("?")[0])
        return "no such file" if path is not None and not os.path.exists(path) else ""
    if scheme.lower() not in POSTGRES_SCHEMES:
        return ""
    from tokenmizer_mw.store.postgres_connections import has_tables

    address = postgres_address.parse(rest)
    return "" if has_tables(address) else f"no tables in the schema {address.schema}"


def describe_place(url: str) -> str:
    """Return where the store at an address is, for messages: the path of a SQLite file as written in the address, the
    address of PostgreSQL without user, password and options, or the address of a store in memory. The address must be
    valid."""
    scheme, _, rest = url.partition("://")
    if scheme.lower() in POSTGRES_SCHEMES:
        return f"{scheme}://{postgres_address.parse(rest).place}"
    return rest.partition("?")[0].removeprefix("/") or url


class Grade(StrEnum):
    """Severity of a check's result.

    - ``FINE``: checked and in order.
    - ``NOTE``: worth knowing, or not checked.
    - ``WRONG``: a server would not work with this configuration.
    """

    FINE = "fine"
    NOTE = "note"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check. ``place``: the part of the configuration that was checked, such as "store"; ``text``:
    what was found, for people."""

    grade: Grade
    place: str
    text: str


TRY: Final = "tokenmizer-mw check --reach"
"""The command that also connects to remote stores and providers, for messages about those that were not tried."""


def check_store(address: str, *, reaching: bool = False, command: str = TRY) -> Iterator[CheckResult]:
    """Check whether a store can be used, without the network, and yield one result or none. Creates nothing.

    ``reaching``: true if the caller calls ``try_store`` next: then a remote store with a valid address yields nothing;
    otherwise its result says that it was not tried, and which ``command`` tries it.
    """
    try:
        open_log(address).close()
    except ConfigError as error:
        yield CheckResult(Grade.WRONG, "store", str(error))
        return
    scheme, _, rest = address.partition("://")
    file = sqlite_path(rest.partition("?")[0]) if scheme.lower() == "sqlite" else None
    if file is not None:
        yield _check_sqlite(os.path.realpath(file))
    elif scheme.lower() not in POSTGRES_SCHEMES:
        text = f"{scheme}://: sessions are gone when the server ends, and each worker has its own"
        yield CheckResult(Grade.NOTE, "store", text)
    elif not reaching:
        yield CheckResult(Grade.NOTE, "store", f"{scheme}://: not tried; to connect to it: {command}")


def try_store(address: str) -> CheckResult | None:
    """Connect to a remote store and return the result: ``FINE`` if it answers, else ``WRONG``. ``None`` if the store is
    not remote, or if its address is invalid or its extra is missing, which ``check_store`` reports."""
    scheme, _, rest = address.partition("://")
    if scheme.lower() not in POSTGRES_SCHEMES:
        return None
    try:
        parsed = postgres_address.parse(rest)
        from tokenmizer_mw.store.postgres_connections import reach
    except (ConfigError, ModuleNotFoundError):
        return None
    try:
        reach(parsed)
    except (ConfigError, StoreError) as error:
        return CheckResult(Grade.WRONG, "store", str(error))
    return CheckResult(Grade.FINE, "store", f"{scheme}:// answers")


def _check_sqlite(file: str) -> CheckResult:
    try:
        if not os.path.exists(file):
            try_creating(file)
            return CheckResult(Grade.FINE, "store", f"{file} will be created")
        count = examine(file, LOCAL_TENANT)
    except StoreError as error:
        return CheckResult(Grade.WRONG, "store", str(error))
    if count is None:
        return CheckResult(Grade.FINE, "store", f"{file} opens; its tables will be made")
    return CheckResult(Grade.FINE, "store", f"{file} opens; sessions of the default tenant, {LOCAL_TENANT}: {count:,}")
