"""Opens the key store that belongs to a session store's address."""

from __future__ import annotations

from collections.abc import Mapping

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.runtime.installing import install_hint
from tokenmizer_mw.store import postgres_address
from tokenmizer_mw.store.open import ACCEPTED, sqlite_path

from .key_store import KEYS_VARIABLE, KeyStore, MemoryKeys, keys_from_text, listed_keys
from .settings import AccessSettings
from .sqlite_keys import SqliteKeys


def open_keys(url: str) -> KeyStore:
    """Return the key store at ``url``, an address that ``open_log`` accepts. Opens nothing before the first use.

    Raises ``ConfigError``, whose text never contains the address.
    """
    scheme, separator, rest = url.partition("://")
    match scheme.lower() if separator else "":
        case "memory" if not rest:
            return MemoryKeys()
        case "sqlite":
            return _sqlite(rest.partition("?")[0])
        case "postgresql" | "postgres":
            return _postgres(rest)
    raise ConfigError(f"a store's address is {ACCEPTED}")


def keys_of_server(url: str, settings: AccessSettings, environ: Mapping[str, str]) -> KeyStore:
    """Return the keys of a server: those in the variable ``KEYS_VARIABLE``, else those in the settings, else those in
    the store at ``url``. Raises ``ConfigError``."""
    text = environ.get(KEYS_VARIABLE)
    if text:
        return keys_from_text(text)
    return listed_keys(list(settings.keys), "access.keys") if settings.keys else open_keys(url)


def _sqlite(location: str) -> KeyStore:
    path = sqlite_path(location)
    return MemoryKeys() if path is None else SqliteKeys(path)


def _postgres(rest: str) -> KeyStore:
    address = postgres_address.parse(rest)
    try:
        from .postgres_keys import PostgresKeys
    except ModuleNotFoundError as error:
        if error.name != "asyncpg":
            raise
        raise ConfigError(f"postgresql:// needs the extra `postgres`: {install_hint('postgres')}") from None
    return PostgresKeys(address)
