"""Cache stores: their protocol, and the one that the settings name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.settings import Settings

OVERHEAD: Final = 256
"""Bytes that an entry is counted with besides its question, vector and answer."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored response, under the digest ``key``. ``owner``: the session in which it was given.

    ``partition`` and ``vector`` (float32, little-endian, length one) are set if ``question`` can be matched
    semantically; else they are empty. Times are seconds since the epoch.
    """

    key: bytes
    owner: SessionKey
    answer: bytes
    expires_at: float
    partition: bytes = b""
    question: str = ""
    vector: bytes = field(default=b"", repr=False)

    @property
    def plain_question(self) -> str:
        """The question without characters that databases refuse: NUL and unpaired surrogates."""
        return self.question.encode("utf-8", "replace").decode().replace("\0", "?")

    @property
    def size(self) -> int:
        """Size in bytes that counts towards a store's limit."""
        return len(self.answer) + len(self.vector) + len(self.question.encode("utf-8", "replace")) + OVERHEAD


@dataclass(frozen=True, slots=True)
class CacheHit:
    """The stored response of a key, and its question."""

    answer: bytes
    question: str


@dataclass(frozen=True, slots=True)
class Vector:
    """The vector of a stored question, its key, and its ``place``: its position in the store's insertion order."""

    place: int
    key: bytes
    vector: bytes


@dataclass(frozen=True, slots=True)
class Holdings:
    """Number and total size of cached responses."""

    entries: int
    bytes: int


class AnswerStore(Protocol):
    """Protocol of cache stores: responses by key, up to a total size; the least recently used are evicted.

    Methods block and may be called from any thread. They raise ``StoreError`` if the store fails.
    """

    def get(self, key: bytes) -> CacheHit | None:
        """Return the response under ``key``, unless it has expired, and mark it as used."""

    def put(self, entry: Entry) -> None:
        """Store a response, replacing one with the same key. A response larger than the whole limit is not stored."""

    def vectors(self, partition: bytes, after: int, most: int) -> Sequence[Vector]:
        """Return the vectors of a partition after a position, in insertion order, up to a maximum number."""

    def purge(self, tenant: str, session_id: str | None = None) -> int:
        """Delete the responses of a tenant, or of one of its sessions; return how many."""

    def holdings(self, tenant: str | None = None) -> Holdings:
        """Return number and size of all stored responses, or of one tenant's."""

    def close(self) -> None:
        """Release connections. Closing twice is harmless."""


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
    from tokenmizer_mw.saving.cache.stores.process import ProcessAnswers

    return ProcessAnswers(settings.cache_bytes)


def _sqlite(url: str, rest: str, settings: Settings) -> AnswerStore:
    from tokenmizer_mw.saving.cache.stores.sqlite import SqliteAnswers
    from tokenmizer_mw.store.choosing import sqlite_path

    path = sqlite_path(rest.partition("?")[0])
    return _process(url, rest, settings) if path is None else SqliteAnswers(path, settings.cache_bytes)


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
