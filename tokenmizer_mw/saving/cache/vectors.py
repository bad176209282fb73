"""Vectors of questions: made by an embedder, and searched for the nearest ones to another vector.

An embedder is a function that turns texts into vectors: a sentence model in a directory, sentence-transformers, or any
function of the host.

A rotation moves the mean and the main directions of variance of a partition into the first coordinates (principal
axes). The lengths of the remaining coordinates bound what they can add to a product (Cauchy-Schwarz). Only vectors that
could reach the threshold are multiplied in full, so the result is the same as a full scan.

Needs the extra ``semantic``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tokenmizer_mw.context.embedding import Embed
from tokenmizer_mw.context.recall.vectors import Matrix
from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.extract.score.encoder import Encoder, digest_of
from tokenmizer_mw.runtime.forking import make_lock
from tokenmizer_mw.runtime.installing import model_directory
from tokenmizer_mw.saving.cache.stores import AnswerStore, Vector

WIDTH_MAX: Final = 8_192
"""Largest number of coordinates that a vector may have."""


class BadVector(ValueError):
    """Raised when an embedder returns something else than one vector of its width with a length above zero."""


class Embedder:
    """Calls ``embed`` for a text and scales its vector to length one. One call at construction shows how many numbers a
    vector has (``width``).

    ``identity`` identifies the model, because vectors of different models must not be compared: the attribute
    ``identity`` of ``embed`` if it is a text, else the signs of the numbers in the first vector, which hardly differ
    between builds and machines.

    Raises ``ConfigError`` if that call fails or returns no vector.
    """

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self.width = 0
        self.identity = b""
        try:
            found = np.asarray(embed(["How wide is a vector?"]), np.float32)
        except Exception as error:
            raise ConfigError(f"the embedder of the cache fails: {type(error).__name__}: {error}") from None
        if found.ndim != 2 or found.shape[0] != 1 or not 1 <= found.shape[1] <= WIDTH_MAX:
            raise ConfigError(f"the embedder of the cache gives an array of the shape {found.shape} for one text")
        self.width = int(found.shape[1])
        named = getattr(embed, "identity", None)
        model = named.encode() if isinstance(named, str) else np.packbits(found[0] > 0).tobytes()
        self.identity = self.width.to_bytes(4, "little") + model

    def __call__(self, text: str) -> Matrix:
        """Return the vector of a text: ``width`` numbers (float32), with length one. Raises ``BadVector`` if ``embed``
        returns anything else or a vector of zeros, and what ``embed`` itself raises."""
        found = np.asarray(self._embed([text]), np.float32)
        if found.shape != (1, self.width):
            raise BadVector(f"a vector of the shape {found.shape} where {self.width} numbers were expected")
        length = float(np.linalg.norm(found[0]))
        if not np.isfinite(length) or length == 0.0:
            raise BadVector("a vector without a direction")
        return np.asarray(found[0] / np.float32(length), np.float32)


def model_in(directory: str, sha256: str = "") -> Embed:
    """Load the sentence model in a directory or an installed package, and return it as an embedder. ``sha256``: the
    required digest of its weights, "" for any.

    Raises ``ConfigError`` if the directory has no model or another one.
    """
    folder = model_directory(directory)
    digest = digest_of(folder)
    if sha256 and digest != sha256.casefold():
        raise ConfigError(f"{folder}: the digest of its weights is {digest}, not the one in cache_model_sha256")
    return _Named(Encoder(folder), f"sha256:{digest}")


@dataclass(frozen=True, slots=True)
class _Named:
    """A function that turns texts into vectors, together with a text that identifies its model."""

    embed: Embed
    identity: str

    def __call__(self, texts: list[str]) -> Any:
        return self.embed(texts)


HEAD: Final = 160
"""Number of coordinates of a vector that are multiplied first."""

PAGE: Final = 10_000
"""Number of questions that are read from a store at once."""

NEAREST: Final = 8
"""Number of similar questions that a search returns at most, for the word-by-word comparison."""

_ROUNDING: Final = 1e-4
_FEW: Final = 8
_LIKELY: Final = 64
_LEARNING: Final = 512
_SAMPLE: Final = 4_096


class Partition:
    """The cached question vectors of one partition (questions that differ only in the newest user message).

    ``width``: how many numbers a vector has; ``count``: number of vectors; ``place``: position in the store up to which
    it was read.
    """

    __slots__ = ("_learned", "_rotation", "count", "head", "keys", "place", "rest", "tail")

    def __init__(self, width: int) -> None:
        self.count = 0
        self.place = 0
        self.keys: list[bytes] = []
        self.head = np.zeros((64, min(HEAD, width)), np.float32)
        self.tail = np.zeros(64, np.float32)
        self.rest = np.zeros((64, max(0, width - HEAD)), np.float32)
        self._rotation: Matrix | None = None
        self._learned = 0

    @property
    def size(self) -> int:
        """About how many bytes of memory the vectors and their keys take."""
        return self.head.nbytes + self.tail.nbytes + self.rest.nbytes + 100 * len(self.keys)

    def add(self, news: Sequence[Vector]) -> None:
        """Append the vectors of new questions, in the order in which the store has them. ``news`` must not be empty."""
        needed = self.count + len(news)
        if needed > len(self.tail):
            self._grow(max(needed, 2 * len(self.tail)))
        vectors = np.stack([np.frombuffer(one.vector, "<f4") for one in news])
        self._write(slice(self.count, needed), vectors if self._rotation is None else vectors @ self._rotation)
        self.keys += [one.key for one in news]
        self.count, self.place = needed, news[-1].place
        if self.count >= max(_LEARNING, 4 * self._learned):
            self._learn()

    def _grow(self, size: int) -> None:
        for name in ("head", "tail", "rest"):
            old = getattr(self, name)
            new = np.zeros((size, *old.shape[1:]), np.float32)
            new[: self.count] = old[: self.count]
            setattr(self, name, new)

    def _write(self, rows: slice, vectors: Matrix) -> None:
        self.head[rows], self.rest[rows] = vectors[:, :HEAD], vectors[:, HEAD:]
        self.tail[rows] = np.linalg.norm(self.rest[rows], axis=1)

    def _learn(self) -> None:
        """Rotate all vectors so that the principal axes of a sample of them become the first coordinates, which makes
        searches faster. Nothing happens for vectors of at most ``HEAD`` coordinates."""
        width = self.head.shape[1] + self.rest.shape[1]
        self._learned = self.count
        if width <= HEAD:
            return
        every = slice(0, self.count, max(1, self.count // _SAMPLE))
        sample = np.hstack([self.head[every], self.rest[every]]).astype(np.float64)
        _, axes = np.linalg.eigh(sample.T @ sample)
        rotation = np.ascontiguousarray(axes[:, ::-1], np.float32)
        self._rotation = rotation if self._rotation is None else self._rotation @ rotation
        for start in range(0, self.count, PAGE):
            rows = slice(start, min(start + PAGE, self.count))
            self._write(rows, np.hstack([self.head[rows], self.rest[rows]]) @ rotation)

    def _eighth(self, found: Matrix, rest: Matrix) -> float:
        """Return a similarity that at least ``NEAREST`` questions reach, so that less similar ones can be skipped; -1
        if there are few questions. ``found``: products of the first coordinates; ``rest``: the other coordinates of the
        vector."""
        if self.count <= _LIKELY:
            return -1.0
        likely = np.argpartition(found, -_LIKELY)[-_LIKELY:]
        exact = found[likely] + self.rest[likely] @ rest
        return float(np.partition(exact, -NEAREST)[-NEAREST]) - _ROUNDING

    def near(self, vector: Matrix, least: float) -> list[tuple[float, bytes]]:
        """Return the questions nearest to ``vector``, which has the length one, each as its similarity (cosine) and the
        key of its cached response: at most ``NEAREST``, each with a similarity of at least ``least``; the most similar
        first, of equal ones the newest first."""
        if self._rotation is not None:
            vector = vector @ self._rotation
        rest = vector[HEAD:]
        found = self.head[: self.count] @ vector[:HEAD]
        bound = found + self.tail[: self.count] * np.float32(np.linalg.norm(rest))
        least = max(least, self._eighth(found, rest))
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
    """In-process cache of the question vectors of a store, by partition, of at most ``most`` bytes. Each lookup first
    reads the questions that are new in the store. ``width``: how many numbers a vector has; others are ignored."""

    def __init__(self, store: AnswerStore, width: int, most: int) -> None:
        self._store = store
        self._width = width
        self._most = most
        self._lock = make_lock()
        self._partitions: OrderedDict[bytes, Partition] = OrderedDict()

    def near(self, partition: bytes, vector: Matrix, least: float) -> list[tuple[float, bytes]]:
        """Return the questions of a partition that are nearest to ``vector``, which has the length one; those that
        another process has just stored are included. Each is a pair of its similarity (cosine) and the key of its
        cached response. At most ``NEAREST``, each with a similarity of at least ``least``; the most similar first.
        Raises ``StoreError``."""
        with self._lock:
            known = self._partitions.pop(partition, None) or Partition(self._width)
            self._read_on(partition, known)
            if known.count:
                self._partitions[partition] = known
                self._shrink()
            return known.near(vector, least)

    def forget(self) -> None:
        """Drop all vectors that this object has cached; they are read from the store again when needed."""
        with self._lock:
            self._partitions.clear()

    def _read_on(self, name: bytes, known: Partition) -> None:
        while True:
            page = self._store.vectors(name, known.place, PAGE)
            news = [one for one in page if len(one.vector) == 4 * self._width]
            if news:
                known.add(news)
            if page:
                known.place = page[-1].place
            if len(page) < PAGE or known.size > self._most:
                return

    def _shrink(self) -> None:
        while sum(one.size for one in self._partitions.values()) > self._most and len(self._partitions) > 1:
            self._partitions.popitem(last=False)
