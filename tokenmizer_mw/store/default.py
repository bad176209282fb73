"""Choose the store when the user named none."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.runtime.installing import install_hint
from tokenmizer_mw.settings import read_mapping

from .address import absolute_address
from .announced import Announcement, announced_stores, data_folder, reachable_address

STORE_VARIABLE: Final = "TOKENMIZER_STORE"
"""The environment variable that names a store."""

CONFIG_VARIABLE: Final = "TOKENMIZER_CONFIG"
"""The environment variable that names the configuration of the proxy, which may name the store."""


def resolve_store(named: str | None = None, environ: Mapping[str, str] | None = None) -> str:
    """The address of the store that everything of one installation uses. In this order:

    - the one that is ``named``;
    - what ``TOKENMIZER_STORE`` says;
    - with ``TOKENMIZER_CONFIG``: the store of a running server that was started with that file, by whichever name
      (symbolic links); else ``store`` in it;
    - the store of the running server that was started last;
    - a database in the user's data directory.

    Raises ``ConfigError``.
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
    """``store`` in a configuration file of the proxy, "" for none. A relative path in it is relative to the file's
    folder, whoever reads it. Raises ``ConfigError``."""
    address = str(read_mapping(Path(path)).get("store") or "")
    return absolute_address(address, os.path.dirname(os.path.abspath(path)))


def default_address() -> str:
    """One database in the user's data directory. Raises ``ConfigError`` where there is none."""
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
