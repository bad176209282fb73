"""Cache stores, and the one that the settings name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.saving.cache.port import AnswerStore
from tokenmizer_mw.saving.cache.stores.process import ProcessAnswers
from tokenmizer_mw.settings import Settings

BESIDE: Final = "store"
"""As an address: in the database of the sessions."""

ACCEPTED: Final = "memory://, store, sqlite:///path.db, postgresql://user@host:port/database or redis://host:port/0"


def open_answers(settings: Settings, beside: str = "") -> AnswerStore:
    """Return the store that ``cache_url`` names; ``beside`` is the address of the session store.

    Raises ``ConfigError`` for an invalid address or a missing extra; its text never contains the address.
    """
    url = beside if settings.cache_url == BESIDE else settings.cache_url
    scheme, separator, rest = url.partition("://")
    opener = _OPENERS.get(scheme.lower()) if separator else None
    if opener is None:
        raise ConfigError(f"cache_url is {ACCEPTED}")
    return opener(url, rest, settings)


def _process(url: str, rest: str, settings: Settings) -> AnswerStore:
    return ProcessAnswers(settings.cache_bytes)


def _sqlite(url: str, rest: str, settings: Settings) -> AnswerStore:
    from tokenmizer_mw.saving.cache.stores.sqlite import SqliteAnswers
    from tokenmizer_mw.store.choosing import sqlite_path

    path = sqlite_path(rest.partition("?")[0])
    return ProcessAnswers(settings.cache_bytes) if path is None else SqliteAnswers(path, settings.cache_bytes)


def _postgresql(url: str, rest: str, settings: Settings) -> AnswerStore:
    from tokenmizer_mw.store import postgres_address

    address = postgres_address.parse(rest)
    try:
        from tokenmizer_mw.saving.cache.stores.postgres import PostgresAnswers
    except ModuleNotFoundError as error:
        raise ConfigError(f"a cache in PostgreSQL needs the extra `postgres`: there is no {error.name}") from None
    return PostgresAnswers(address, settings.cache_bytes)


def _redis(url: str, rest: str, settings: Settings) -> AnswerStore:
    try:
        from tokenmizer_mw.saving.cache.stores.redis import RedisAnswers
    except ModuleNotFoundError as error:
        raise ConfigError(f"a cache in Redis needs the extra `redis`: there is no {error.name}") from None
    return RedisAnswers(url, settings.cache_bytes, prefix=settings.cache_prefix)


_OPENERS: Final[dict[str, Callable[[str, str, Settings], AnswerStore]]] = {
    "memory": _process,
    "sqlite": _sqlite,
    "postgresql": _postgresql,
    "postgres": _postgresql,
    "redis": _redis,
    "rediss": _redis,
}
