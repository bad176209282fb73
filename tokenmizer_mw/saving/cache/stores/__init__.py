"""Cache stores: their protocol, and the one in the memory of this process."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.forking import make_lock

OVERHEAD: Final = 256
"""Bytes that an entry counts in addition to its question, vector and response."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A cached response as it is stored, under the digest ``key``.

    - ``owner``: the session in which the response was given; ``answer``: its bytes; ``expires_at``: seconds since the
      epoch.
    - ``partition``, ``question``, ``vector`` (float32, little-endian, length one): set if the response can be found by
      the meaning of its question; else empty.
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
        """The bytes that this entry counts towards a store's limit: those of its response, question and vector, and
        ``OVERHEAD``."""
        return len(self.answer) + len(self.vector) + len(self.question.encode("utf-8", "replace")) + OVERHEAD


@dataclass(frozen=True, slots=True)
class CacheHit:
    """What a lookup by key returns: the stored response as bytes, and its question ("" if it has none)."""

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
    """Number of cached responses (``entries``), and their total size in bytes (``bytes``), expired ones left out."""

    entries: int
    bytes: int


class AnswerStore(Protocol):
    """Protocol of cache stores: responses by key, up to a total size; the least recently used are evicted.

    Methods block and may be called from any thread. They raise ``StoreError`` if the store fails.
    """

    def get(self, key: bytes) -> CacheHit | None:
        """Return the response under ``key``; ``None`` if there is none, or if it has expired. Returning a response
        counts as its use: the least recently used responses are deleted first."""

    def put(self, entry: Entry) -> None:
        """Store a response, replacing one with the same key. A response larger than the whole limit is not stored."""

    def vectors(self, partition: bytes, after: int, most: int) -> Sequence[Vector]:
        """Return the vectors of the questions of a partition (a digest of everything in a request but the question)
        that were stored after the position ``after`` (0: all), in the order in which they were stored, at most
        ``most``; an empty list for none."""

    def purge(self, tenant: str, session_id: str | None = None) -> int:
        """Delete the responses of a tenant, or of one of its sessions (``None``: all); return how many."""

    def holdings(self, tenant: str | None = None) -> Holdings:
        """Return number and size of the stored responses of ``tenant`` (``None``: of all). Expired ones do not
        count."""

    def close(self) -> None:
        """Release connections; the store must not be used after that. Closing twice is harmless."""


TOUCH_SECONDS: Final = 60.0
"""Seconds for which the time of a response's last use is not written again, so that not every lookup writes."""

LOOK_EVERY: Final = 256
"""Number of responses that a process stores before it measures the size of the store again, because other processes
store some, too."""


class Room:
    """Estimate of how many bytes a shared store holds, so that not every write has to measure them. ``most``: the limit
    of the store in bytes."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._held = most
        self._since = 0

    def looks(self, size: int) -> bool:
        """Add ``size`` bytes to the estimate. Return whether the store must now measure its size: the estimate exceeds
        the limit, or ``LOOK_EVERY`` entries were added since."""
        self._held += size
        self._since += 1
        return self._held > self.most or self._since >= LOOK_EVERY

    def holds(self, size: int) -> None:
        """Set the estimate to ``size``, the bytes that the store has just measured, and count entries anew."""
        self._held, self._since = size, 0


class ProcessAnswers:
    """Cache store in the memory of this process, of at most ``most`` bytes. Thread-safe. ``clock``: returns the time in
    seconds since the epoch, by which responses expire."""

    def __init__(self, most: int, *, clock: Callable[[], float] = time.time) -> None:
        self._most = most
        self._clock = clock
        self._lock = make_lock()
        self._entries: OrderedDict[bytes, tuple[int, Entry]] = OrderedDict()
        self._partitions: dict[bytes, dict[int, bytes]] = {}
        self._bytes = 0
        self._next = 1

    def get(self, key: bytes) -> CacheHit | None:
        """Return the response stored under ``key``; ``None`` if there is none, or if it has expired. Returning a
        response counts as its use: the least recently used responses are deleted first."""
        with self._lock:
            known = self._entries.get(key)
            if known is None:
                return None
            if known[1].expires_at <= self._clock():
                self._drop(key)
                return None
            self._entries.move_to_end(key)
            return CacheHit(known[1].answer, known[1].question)

    def put(self, entry: Entry) -> None:
        """Store a response, replacing one with the same key, and delete the least recently used ones beyond the size
        limit. A response larger than the whole limit is not stored."""
        with self._lock:
            self._drop(entry.key)
            if entry.size > self._most:
                return
            self._entries[entry.key] = (self._next, entry)
            if entry.partition:
                self._partitions.setdefault(entry.partition, {})[self._next] = entry.key
            self._bytes += entry.size
            self._next += 1
            while self._bytes > self._most:
                self._drop(next(iter(self._entries)))

    def vectors(self, partition: bytes, after: int, most: int) -> Sequence[Vector]:
        """Return the vectors of the questions of a partition (a digest of everything in a request but the question)
        that were stored after the position ``after`` (0: all), in the order in which they were stored, at most
        ``most``; an empty list for none."""
        found: list[Vector] = []
        with self._lock:
            for place, key in reversed(self._partitions.get(partition, {}).items()):
                if place <= after:
                    break
                found.append(Vector(place, key, self._entries[key][1].vector))
        return found[::-1][:most]

    def purge(self, tenant: str, session_id: str | None = None) -> int:
        """Delete the responses of a tenant, or of one of its sessions (``None``: all); return how many."""
        with self._lock:
            owners = ((key, entry.owner) for key, (_, entry) in self._entries.items())
            gone = [key for key, owner in owners if owner.tenant == tenant and session_id in (None, owner.id)]
            for key in gone:
                self._drop(key)
            return len(gone)

    def holdings(self, tenant: str | None = None) -> Holdings:
        """Return number and size of all stored responses, or of one tenant's. Expired ones do not count."""
        with self._lock:
            now = self._clock()
            held = (entry for _, entry in self._entries.values() if entry.expires_at > now)
            sizes = [entry.size for entry in held if tenant in (None, entry.owner.tenant)]
        return Holdings(len(sizes), sum(sizes))

    def close(self) -> None:
        """Delete all cached responses. The store can still be used and is empty then."""
        with self._lock:
            self._entries.clear()
            self._partitions.clear()
            self._bytes = 0

    def _drop(self, key: bytes) -> None:
        known = self._entries.pop(key, None)
        if known is None:
            return
        place, entry = known
        self._bytes -= entry.size
        if entry.partition:
            places = self._partitions[entry.partition]
            del places[place]
            if not places:
                del self._partitions[entry.partition]
