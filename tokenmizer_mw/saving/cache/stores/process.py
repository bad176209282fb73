"""Cache store in the memory of this process, and when database stores check their total size."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final

from tokenmizer_mw.runtime.forking import make_lock
from tokenmizer_mw.saving.cache.stores import CacheHit, Entry, Holdings, Vector

TOUCH_SECONDS: Final = 60.0
"""How old the moment of an answer's last use may be before a new use is written down: reading must not mean writing."""

LOOK_EVERY: Final = 256
"""Answers that are kept between two looks at most: other processes keep some, too."""


class Room:
    """Estimate of a store's total size in this process. ``most``: its limit in bytes."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._held = most
        self._since = 0

    def looks(self, size: int) -> bool:
        """Add ``size`` bytes; return whether the store must now measure its total size."""
        self._held += size
        self._since += 1
        return self._held > self.most or self._since >= LOOK_EVERY

    def holds(self, size: int) -> None:
        """Set the total size that the store has measured."""
        self._held, self._since = size, 0


class ProcessAnswers:
    """Responses of one process, at most ``most`` bytes. Thread-safe."""

    def __init__(self, most: int, *, clock: Callable[[], float] = time.time) -> None:
        self._most = most
        self._clock = clock
        self._lock = make_lock()
        self._entries: OrderedDict[bytes, tuple[int, Entry]] = OrderedDict()
        self._partitions: dict[bytes, dict[int, bytes]] = {}
        self._bytes = 0
        self._next = 1

    def get(self, key: bytes) -> CacheHit | None:
        """Return the response under ``key``, unless it has expired, and mark it as used."""
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
        """Store a response, replacing one with the same key. See ``AnswerStore.put``."""
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
        """Return the vectors of a partition after a position, in insertion order, up to a maximum number."""
        found: list[Vector] = []
        with self._lock:
            for place, key in reversed(self._partitions.get(partition, {}).items()):
                if place <= after:
                    break
                found.append(Vector(place, key, self._entries[key][1].vector))
        return found[::-1][:most]

    def purge(self, tenant: str, session_id: str | None = None) -> int:
        """Delete the responses of a tenant, or of one of its sessions; return how many."""
        with self._lock:
            owners = ((key, entry.owner) for key, (_, entry) in self._entries.items())
            gone = [key for key, owner in owners if owner.tenant == tenant and session_id in (None, owner.id)]
            for key in gone:
                self._drop(key)
            return len(gone)

    def holdings(self, tenant: str | None = None) -> Holdings:
        """Return number and size of all stored responses, or of one tenant's."""
        with self._lock:
            now = self._clock()
            held = (entry for _, entry in self._entries.values() if entry.expires_at > now)
            sizes = [entry.size for entry in held if tenant in (None, entry.owner.tenant)]
        return Holdings(len(sizes), sum(sizes))

    def close(self) -> None:
        """Delete all cached responses."""
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
