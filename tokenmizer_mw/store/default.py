"""The store that is used where nobody names one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.settings import read_mapping

STORE_VARIABLE: Final = "TOKENMIZER_STORE"
"""The environment variable that names a store."""

CONFIG_VARIABLE: Final = "TOKENMIZER_CONFIG"
"""The environment variable that names the configuration of the proxy, which may name the store."""


def resolve_store(named: str | None = None, environ: Mapping[str, str] | None = None) -> str:
    """The address of the store that everything of one installation uses: the one that is ``named``; else what
    ``TOKENMIZER_STORE`` says; else ``store`` in the file that ``TOKENMIZER_CONFIG`` names; else a database in the
    user's data directory. Raises ``ConfigError``."""
    variables = os.environ if environ is None else environ
    address = named or variables.get(STORE_VARIABLE) or ""
    if not address and (path := variables.get(CONFIG_VARIABLE)):
        address = str(read_mapping(Path(path)).get("store") or "")
    return address or default_address()


def default_address() -> str:
    """One database in the user's data directory. Raises ``ConfigError`` when it cannot be told where that is."""
    try:
        from platformdirs import user_data_path
    except ImportError:
        raise ConfigError(
            f"no store given: use --store, set {STORE_VARIABLE}, or pip install 'tokenmizer-mw[cli]'"
        ) from None
    folder = user_data_path("tokenmizer-mw", appauthor=False)
    folder.parent.mkdir(parents=True, exist_ok=True)
    return f"sqlite:///{folder / 'sessions.db'}"
