"""Choose the store when the user named none, so that hooks, MCP servers and commands use the same one; and announce the
stores of this user's running servers. A hook that a host waits for imports this: it imports little itself.

Each running server (``tokenmizer-mw serve``) keeps a lock on a file in the user's data directory, which names its
store. The lock ends with the process, however the process ends.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.store.address import absolute_address, quote_address, without_password

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: nothing is announced there
    fcntl = None  # type: ignore[assignment]

_FOLDER: Final = "servers"
_SUFFIX: Final = ".json"
_LENGTH_MAX: Final = 64 * 1024
_log = logging.getLogger("tokenmizer_mw")


@dataclass(frozen=True, slots=True)
class Announcement:
    """The store that a server of this user announced in its file.

    - ``store``: the address of the store, without password.
    - ``config``: the path of the server's configuration file, "" for none.
    - ``has_password``: true if the server's own address contains a password, which is left out here.
    """

    store: str
    config: str
    has_password: bool


def data_folder() -> Path | None:
    """Return the user's data directory; ``None`` if the package platformdirs is missing or the user has no home
    directory."""
    try:
        from platformdirs import user_data_path

        return user_data_path("tokenmizer-mw", appauthor=False)
    except (ImportError, RuntimeError):
        return None


@contextmanager
def announce_store(address: str, config: str = "") -> Iterator[None]:
    """Announce ``address`` to this user's other processes (``announced_stores``) until the ``with`` block or the
    process ends. The announcing file stays after that, unlocked, until another server starts (``last_ended_store``).
    ``config``: path of the server's configuration file, "" for none.

    The address is announced with an absolute path and without a password. Nothing is announced for stores in memory,
    because no other process can use them, on Windows, and without a data directory (``data_folder``). The announcing
    files of servers that have ended are deleted. Failures are logged and not raised.
    """
    folder = data_folder()
    handle: int | None = None
    path = folder / _FOLDER / f"{os.getpid()}{_SUFFIX}" if folder is not None else None
    if fcntl is not None and path is not None and not _is_in_memory(address):
        stripped = without_password(absolute_address(address, os.getcwd()))
        announcement = Announcement(stripped, config, stripped != absolute_address(address, os.getcwd()))
        try:
            handle = _write(path, announcement)
        except OSError as error:
            _log.warning("hooks and MCP will not find this server's store: %s", error.strerror)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def announced_stores() -> list[Announcement]:
    """Return the stores that running servers of this user announce, the most recently started server first; ``[]`` if
    there are none."""
    return _read_announcements(running=True)


def last_ended_store() -> Announcement | None:
    """Return the store of the server that was started last among those that have ended; ``None`` if none is known. It
    is known until another server starts."""
    return next(iter(_read_announcements(running=False)), None)


def _read_announcements(*, running: bool) -> list[Announcement]:
    folder = data_folder()
    if fcntl is None or folder is None:
        return []
    found: list[tuple[int, Announcement]] = []
    with suppress(OSError):
        for path in (folder / _FOLDER).iterdir():
            if path.suffix == _SUFFIX and (announcement := _read(path, running=running)) is not None:
                found.append(announcement)
    return [announcement for _, announcement in sorted(found, key=lambda each: -each[0])]


def _is_in_memory(address: str) -> bool:
    scheme, _, rest = address.partition("://")
    return scheme.lower() == "memory" or (scheme.lower() == "sqlite" and rest.partition("?")[0] in _IN_MEMORY)


def _write(path: Path, announcement: Announcement) -> int:
    """Write and lock the announcing file, and return its handle. The file gets its final name only once it is locked,
    so that nobody takes it for the file of a server that has ended."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for old in path.parent.glob(f"*{_SUFFIX}"):
        _remove_if_stale(old)
    draft = path.with_suffix(".new")
    handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(handle, json.dumps(asdict(announcement)).encode())
        os.replace(draft, path)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _remove_if_stale(path: Path) -> None:
    """Remove the announcing file ``path`` if the server that wrote it has ended (the file is not locked). Errors of the
    file system are ignored."""
    with suppress(OSError), os.fdopen(_open_own(path), "rb") as file:
        if not _is_locked(file.fileno()):
            path.unlink()


def _open_own(path: Path) -> int:
    """Open a plain file of this user for reading and return its handle. Raises ``OSError`` for anything else: opening a
    pipe could block, and a link could lead elsewhere."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        os.close(handle)
        raise FileNotFoundError(errno.ENOENT, "no file of this user", str(path))
    return handle


def _is_locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _read(path: Path, *, running: bool) -> tuple[int, Announcement] | None:
    """Read an announcing file. Returns when it was written, in nanoseconds, and its content.

    Returns ``None`` if the server that wrote it has ended (with ``running`` false: if it still runs), and for a file
    that no server wrote.
    """
    try:
        handle = _open_own(path)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        try:
            if _is_locked(handle) is not running:
                return None
            values = json.loads(file.read(_LENGTH_MAX))
            announcement = Announcement(_text(values["store"]), _text(values["config"]), bool(values["has_password"]))
            return os.fstat(handle).st_mtime_ns, announcement
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None


def _text(value: object) -> str:
    """Return ``value`` if it is a text without a NUL. Raises ``ValueError`` for anything else."""
    if not isinstance(value, str) or "\0" in value:
        raise ValueError("no text")
    return value


def reachable_address(announcement: Announcement, of_file: str) -> str:
    """Return the address with which this process can reach a server's store: the announced one, or ``of_file`` if the
    announced one lacks its password and both name the same store.

    ``of_file``: the store address in the server's configuration file, which may contain the password. Raises
    ``ConfigError`` if a password is needed and not found.
    """
    if not announcement.has_password:
        return announcement.store
    if without_password(of_file) == announcement.store:
        return of_file
    raise ConfigError(
        "the running server keeps sessions in a database with a password: set TOKENMIZER_STORE to its address here, too"
    )


STORE_VARIABLE: Final = "TOKENMIZER_STORE"
"""The environment variable that holds the address of the store to use."""

CONFIG_VARIABLE: Final = "TOKENMIZER_CONFIG"
"""The environment variable that holds the path of the proxy's configuration file, which may name the store."""


@dataclass(frozen=True, slots=True)
class ChosenStore:
    """The address of a store, and how it was chosen.

    ``chosen_by``: what named the store, for messages, such as "TOKENMIZER_STORE" or the path of a configuration
    file. It is "" if the caller named the store.
    """

    address: str
    chosen_by: str = ""


def resolve_store(named: str | None = None, environ: Mapping[str, str] | None = None, *, extra: str = "cli") -> str:
    """Return the address of the store that all parts of this installation use: ``named``; else the variable
    ``TOKENMIZER_STORE``; else the store of the configuration file in ``TOKENMIZER_CONFIG``; else that of the running
    server; else a database in the user's data directory. ``choose_store`` describes this in detail.

    ``environ``: ``None`` reads ``os.environ``. ``extra``: the extra that the error message says to install if the data
    directory cannot be found. Raises ``ConfigError`` if a configuration file is missing or invalid, a password is
    missing, or there is no data directory.
    """
    return choose_store(named, environ, extra=extra).address


def choose_store(
    named: str | None = None, environ: Mapping[str, str] | None = None, *, extra: str = "cli"
) -> ChosenStore:
    """Choose the store that all parts of this installation use. The first of these that exists:

    - the address ``named``;
    - the variable ``TOKENMIZER_STORE``;
    - with ``TOKENMIZER_CONFIG``: the store of a running server that was started with that file (symbolic links are
      followed), else ``store`` in that file;
    - the store of the running server that was started last;
    - a database in the user's data directory.

    ``named``: ``None`` or "" if the caller names no store. ``environ``: ``None`` reads ``os.environ``. ``extra``: if
    the data directory cannot be found because platformdirs is not installed, the error message says to install this
    extra.

    Addresses are not checked, and nothing is opened. Raises ``ConfigError`` if a configuration file that is read is
    missing or invalid, if the running server's store needs a password that is in no file, and if there is no user's
    data directory.
    """
    variables = os.environ if environ is None else environ
    if named:
        return ChosenStore(named)
    if address := variables.get(STORE_VARIABLE):
        return ChosenStore(address, STORE_VARIABLE)
    servers = announced_stores()
    if path := variables.get(CONFIG_VARIABLE):
        path = os.path.abspath(path)
        of_file = store_in_file(path)
        if own := [
            server for server in servers if server.config and os.path.realpath(server.config) == os.path.realpath(path)
        ]:
            return ChosenStore(reachable_address(own[0], of_file), f"the running server of {path}")
        if of_file:
            return ChosenStore(of_file, path)
    if not servers:
        return ChosenStore(default_address(extra), "the default, as no server runs and nothing names another")
    newest, config = servers[0], servers[0].config
    address = reachable_address(newest, store_in_file(config) if newest.has_password and config else "")
    return ChosenStore(address, "the running server" + (f" of {config}" if config else ""))


def store_in_file(path: str | Path) -> str:
    """Return the address under ``store`` in a configuration file of the proxy, "" if it has none. The relative path of
    a SQLite file is taken as relative to the folder of the configuration. Raises ``ConfigError`` for a file that is
    missing or invalid."""
    from tokenmizer_mw.settings import read_mapping  # it imports more than all of this module

    address = str(read_mapping(Path(path)).get("store") or "")
    return absolute_address(address, os.path.dirname(os.path.abspath(path)))


def default_address(extra: str = "cli") -> str:
    """Return the address of a database in the user's data directory, and create the folder that this directory is in.
    Raises ``ConfigError`` if there is no such directory or the folder cannot be created. ``extra``: the extra that the
    error message says to install."""
    folder = data_folder()
    option = "use --store or " if extra == "cli" else ""
    if folder is None:
        from tokenmizer_mw.runtime.installing import install_hint

        raise ConfigError(f"no store given: {option}set {STORE_VARIABLE}, or {install_hint(extra)}")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{folder.parent}: {error.strerror}: {option}set {STORE_VARIABLE}") from None
    return f"sqlite:///{folder / 'sessions.db'}"


_IN_MEMORY: Final = ("", "/:memory:")


def sqlite_path(location: str) -> str | None:
    """Return the path of the database file from the part of a SQLite address after ``sqlite://``, without options:
    "a.db" from "/a.db", and a leading "~" replaced by the user's home directory. ``None`` for a database in memory.
    Raises ``ConfigError`` for an invalid address."""
    if location in _IN_MEMORY:
        return None
    path = location.removeprefix("/")
    if path == location or not path or "\0" in path:
        rule = "a SQLite address has three slashes before a relative path and four before an absolute one"
        raise ConfigError(f"{rule}, not {quote_address('sqlite://' + location)}")
    return os.path.expanduser(path)
