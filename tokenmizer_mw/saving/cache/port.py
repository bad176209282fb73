"""The protocol of cache stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from tokenmizer_mw.model.session import SessionKey

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
