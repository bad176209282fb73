"""The interface of the cache's stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from tokenmizer_mw.model.session import SessionKey

OVERHEAD: Final = 256
"""Bytes that an entry is counted with besides its question, vector and answer."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An answer as it is kept, under the digest ``key``. ``owner``: the session in which it was given.

    ``partition`` ("" bytes: none) and ``vector`` (float32, little-endian, of length one) are there where ``question``
    may be compared by meaning. Times are seconds since the epoch.
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
        """The question without what databases do not take in a text: NUL, and halves of characters."""
        return self.question.encode("utf-8", "replace").decode().replace("\0", "?")

    @property
    def size(self) -> int:
        """Bytes that count against the bound of a store."""
        return len(self.answer) + len(self.vector) + len(self.question.encode("utf-8", "replace")) + OVERHEAD


@dataclass(frozen=True, slots=True)
class CacheHit:
    """What a key led to."""

    answer: bytes
    question: str


@dataclass(frozen=True, slots=True)
class Vector:
    """A question that may be compared: its place in the order in which a store got them, its key, its vector."""

    place: int
    key: bytes
    vector: bytes


@dataclass(frozen=True, slots=True)
class Holdings:
    """How much a store holds."""

    entries: int
    bytes: int


class AnswerStore(Protocol):
    """Answers by their keys, at most so many bytes of them: the longest unused give way.

    Calls block and may come from any thread. They raise ``StoreError`` when the store fails.
    """

    def get(self, key: bytes) -> CacheHit | None:
        """The answer under ``key`` unless its time is over; it counts as used."""

    def put(self, entry: Entry) -> None:
        """Store an answer, replacing one with the same key. An answer that is larger than the bound is not stored."""

    def vectors(self, partition: bytes, after: int, most: int) -> Sequence[Vector]:
        """The questions of a partition behind a place, in order, at most so many."""

    def purge(self, tenant: str, session_id: str | None = None) -> int:
        """Forget what was answered in a tenant, or in one session of it. Returns how many answers that were."""

    def holdings(self, tenant: str | None = None) -> Holdings:
        """What is held, of all or of one tenant."""

    def close(self) -> None:
        """Release connections. Closing twice is harmless."""
