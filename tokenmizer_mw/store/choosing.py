"""Choose the store when the user named none. A hook that a host waits for imports this: it imports little itself."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.store.address import absolute_address
from tokenmizer_mw.store.announced import Announcement, announced_stores, data_folder, reachable_address

STORE_VARIABLE: Final = "TOKENMIZER_STORE"
"""The environment variable that names a store."""

CONFIG_VARIABLE: Final = "TOKENMIZER_CONFIG"
"""The environment variable that names the configuration of the proxy, which may name the store."""


def resolve_store(named: str | None = None, environ: Mapping[str, str] | None = None, *, extra: str = "cli") -> str:
    """Return the address of the store that all parts of this installation use. The first of these that exists:

    - the address ``named``;
    - the variable ``TOKENMIZER_STORE``;
    - with ``TOKENMIZER_CONFIG``: the store of a running server that was started with that file (symbolic links are
      followed), else ``store`` in that file;
    - the store of the running server that was started last;
    - a database in the user's data directory.

    ``extra``: the extra that an error message names if the library that knows this directory is not installed. Raises
    ``ConfigError`` for an invalid file or address.
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
    return _reachable_address(servers[0]) if servers else default_address(extra)


def store_in_file(path: str | Path) -> str:
    """Return ``store`` in a configuration file of the proxy, "" for none. A relative path in it is relative to the
    file's folder. Raises ``ConfigError`` for an invalid file.
    """
    from tokenmizer_mw.settings import read_mapping  # it imports more than all of this module

    address = str(read_mapping(Path(path)).get("store") or "")
    return absolute_address(address, os.path.dirname(os.path.abspath(path)))


def default_address(extra: str = "cli") -> str:
    """Return the address of a database in the user's data directory. Raises ``ConfigError`` if there is no such
    directory.
    """
    folder = data_folder()
    if folder is None:
        from tokenmizer_mw.runtime.installing import install_hint

        option = "use --store, " if extra == "cli" else ""
        raise ConfigError(f"no store given: {option}set {STORE_VARIABLE}, or {install_hint(extra)}")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{folder.parent}: {error.strerror}: use --store or set {STORE_VARIABLE}") from None
    return f"sqlite:///{folder / 'sessions.db'}"


def _reachable_address(server: Announcement) -> str:
    of_file = store_in_file(server.config) if server.has_password and server.config else ""
    return reachable_address(server, of_file)


_IN_MEMORY: Final = ("", "/:memory:")


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
