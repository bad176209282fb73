"""The store that is used where nobody names one."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.errors import ConfigError

STORE_VARIABLE: Final = "TOKENMIZER_STORE"
"""The environment variable that names a store."""


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
