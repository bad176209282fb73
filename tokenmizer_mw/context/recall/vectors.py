"""Vectors of a session's passages, and which passages have about the same meaning as a question. Pure. Needs numpy.

A chat message of a few words says little by itself. Therefore a passage is also compared by the mean of its own vector
and those of its neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Final

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

REACH: Final = 2
"""This many passages on each side of a passage are its neighbours."""


class PassageVectors:
    """The vectors of passages, by the passages' positions. All have length one and ``width`` dimensions. A passage
    without a vector is never found."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._rows: Matrix = np.zeros((64, width), np.float32)
        self._known: NDArray[np.bool_] = np.zeros(64, np.bool_)
        self._lengths: Matrix | None = None

    def put(self, place: int, vector: Matrix) -> None:
        """Store ``vector``, of length one, for the passage at position ``place``, in place of an earlier one."""
        if place >= len(self._known):
            self._grow(max(place + 1, 2 * len(self._known)))
        self._rows[place], self._known[place] = vector, True
        self._lengths = None

    def drop_before(self, first: int) -> None:
        """Remove the vectors of the passages before position ``first``. The passage at ``first`` gets position 0, and
        all later ones move down accordingly."""
        self._rows, self._known, self._lengths = self._rows[first:].copy(), self._known[first:].copy(), None

    def similarities(self, question: Matrix) -> tuple[Matrix, Matrix]:
        """Return two arrays with one number per position: the cosine of ``question`` with the passage's vector, and
        with the sum of the vectors of the passage and its neighbours. Both are -1 for a passage without a vector.

        ``question``: a vector of length one."""
        own = self._rows @ question
        if self._lengths is None:
            self._lengths = np.maximum(np.linalg.norm(_sum_neighbours(self._rows), axis=1), 1e-9).astype(np.float32)
        context = _sum_neighbours(own[:, None])[:, 0] / self._lengths
        return np.where(self._known, own, np.float32(-1)), np.where(self._known, context, np.float32(-1))

    def _grow(self, size: int) -> None:
        for name in ("_rows", "_known"):
            old = getattr(self, name)
            new = np.zeros((size, *old.shape[1:]), old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)


def _sum_neighbours(rows: Matrix) -> Matrix:
    """Return for each row the sum of the row and the ``REACH`` rows before and after it, as far as there are any."""
    found = rows.copy()
    for step in range(1, REACH + 1):
        found[step:] += rows[:-step]
        found[:-step] += rows[step:]
    return found


def best_places(similarities: Matrix, allowed: list[int], most: int) -> dict[int, float]:
    """Return at most ``most`` positions among ``allowed`` with the highest similarities above 0, best first, with these
    similarities."""
    places = np.asarray([place for place in allowed if place < len(similarities)], np.int64)
    found = similarities[places]
    order = np.argsort(-found, kind="stable")[:most]
    return {int(places[at]): float(found[at]) for at in order if found[at] > 0}


def unit_rows(found: object, count: int) -> Matrix:
    """Check that ``found`` is ``count`` rows of numbers, and scale each row to length one; rows of zeros stay. Raises
    ``ValueError`` for anything else."""
    rows = np.asarray(found, np.float32)
    if rows.ndim != 2 or len(rows) != count or not rows.shape[1] or not np.isfinite(rows).all():
        raise ValueError(f"no {count} vectors, but an array of the shape {rows.shape}")
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), np.float32)


def passage_digest(text: str) -> bytes:
    """Return the digest by which a store identifies the vector of a passage: 16 bytes of BLAKE2b of its text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def pack_rows(vectors: Mapping[str, Matrix]) -> dict[bytes, bytes]:
    """Encode vectors for a store. ``vectors``: vectors by the text of their passage. Returns for the digest of each
    text (``passage_digest``) its vector as bytes, two per number (half precision, so they are rounded)."""
    return {passage_digest(text): vector.astype(_STORED).tobytes() for text, vector in vectors.items()}


def unpack_rows(rows: Mapping[bytes, bytes]) -> dict[bytes, Matrix]:
    """Decode what ``pack_rows`` encoded to vectors of length one, by the digests of their texts. Rows of another length
    than the last one, and rows with invalid numbers, are left out; if the last one has an impossible length, all
    are."""
    size = len(list(rows.values())[-1]) if rows else 0
    if not size or size % _STORED.itemsize:
        return {}
    vectors = {
        digest: np.frombuffer(row, _STORED).astype(np.float32) for digest, row in rows.items() if len(row) == size
    }
    found = {digest: vector for digest, vector in vectors.items() if bool(np.isfinite(vector).all())}
    return dict(zip(found, unit_rows(list(found.values()), len(found)), strict=True)) if found else {}


_STORED: Final = np.dtype("<f2")
