"""Nearest questions among many: all of a partition are looked at, with bounds that spare most of the work.

Vectors have length one. Their first places, after a fixed rotation, hold a share of every product; what the others can
add at most is known from their lengths (Cauchy and Schwarz). Only those that could reach the threshold are multiplied
out. Nothing is missed: the result is that of looking at every number.

Needs the extra ``semantic``.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .port import AnswerStore, Vector

HEAD: Final = 64
"""Places of a vector that are looked at first."""

PAGE: Final = 10_000
"""Questions that are read from a store at once."""

NEAREST: Final = 8
"""Questions that are offered for a closer look."""

_ROUNDING: Final = 1e-4
_FEW: Final = 8

Matrix = NDArray[np.float32]


class Partition:
    """The questions of a partition, in rows that are filled up to ``count``."""

    __slots__ = ("count", "head", "keys", "place", "rest", "tail")

    def __init__(self, width: int) -> None:
        self.count = 0
        self.place = 0
        self.keys: list[bytes] = []
        self.head = np.zeros((64, min(HEAD, width)), np.float32)
        self.tail = np.zeros(64, np.float32)
        self.rest = np.zeros((64, max(0, width - HEAD)), np.float32)

    @property
    def size(self) -> int:
        """Memory that it takes."""
        return self.head.nbytes + self.tail.nbytes + self.rest.nbytes + 100 * len(self.keys)

    def add(self, news: Sequence[Vector], rotation: Matrix) -> None:
        """Append questions, rotated."""
        vectors = np.stack([np.frombuffer(one.vector, "<f4") for one in news]) @ rotation
        needed = self.count + len(news)
        if needed > len(self.tail):
            size = max(needed, 2 * len(self.tail))
            for name in ("head", "tail", "rest"):
                old = getattr(self, name)
                new = np.zeros((size, *old.shape[1:]), np.float32)
                new[: self.count] = old[: self.count]
                setattr(self, name, new)
        rows = slice(self.count, needed)
        self.head[rows], self.rest[rows] = vectors[:, :HEAD], vectors[:, HEAD:]
        self.tail[rows] = np.linalg.norm(self.rest[rows], axis=1)
        self.keys += [one.key for one in news]
        self.count, self.place = needed, news[-1].place

    def near(self, vector: Matrix, least: float) -> list[tuple[float, bytes]]:
        """The nearest questions from a similarity on, the nearest and newest first."""
        rest = vector[HEAD:]
        found = self.head[: self.count] @ vector[:HEAD]
        bound = found + self.tail[: self.count] * np.float32(np.linalg.norm(rest))
        rows = np.flatnonzero(bound >= least - _ROUNDING)
        if len(rows) > self.count // _FEW:  # gathering so many rows would cost more than looking at all of them
            rows = np.arange(self.count)
            exact = found + self.rest[: self.count] @ rest
        else:
            exact = found[rows] + self.rest[rows] @ rest
        reached = np.flatnonzero(exact >= least)
        best = reached[np.lexsort((-rows[reached], -exact[reached]))][:NEAREST]
        return [(float(exact[row]), self.keys[rows[row]]) for row in best]


class Vectors:
    """The partitions of a store that were asked for, at most ``most`` bytes of them; read on as the store grows."""

    def __init__(self, store: AnswerStore, width: int, most: int) -> None:
        self._store = store
        self._width = width
        self._most = most
        self._lock = threading.Lock()
        self._partitions: OrderedDict[bytes, Partition] = OrderedDict()

    def near(self, partition: bytes, vector: Matrix, least: float) -> list[tuple[float, bytes]]:
        """The keys of the nearest questions of a partition from a similarity on, each with it, the nearest first."""
        turned = np.asarray(vector @ _rotation(self._width), np.float32)
        with self._lock:
            known = self._partitions.pop(partition, None) or Partition(self._width)
            self._read_on(partition, known)
            if known.count:
                self._partitions[partition] = known
                self._shrink()
            return known.near(turned, least)

    def forget(self) -> None:
        """Hold none; those that are asked for are read again."""
        with self._lock:
            self._partitions.clear()

    def _read_on(self, name: bytes, known: Partition) -> None:
        while True:
            page = self._store.vectors(name, known.place, PAGE)
            news = [one for one in page if len(one.vector) == 4 * self._width]
            if news:
                known.add(news, _rotation(self._width))
            if page:
                known.place = page[-1].place
            if len(page) < PAGE or known.size > self._most:
                return

    def _shrink(self) -> None:
        while sum(one.size for one in self._partitions.values()) > self._most and len(self._partitions) > 1:
            self._partitions.popitem(last=False)


@lru_cache(maxsize=4)
def _rotation(width: int) -> Matrix:
    """A fixed rotation that spreads what vectors have in common over all their places."""
    if width <= HEAD:
        return np.eye(width, dtype=np.float32)
    turned, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((width, width)))
    return np.asarray(turned, np.float32)
