"""Counts of answered requests, for the metrics."""

from __future__ import annotations

from collections import Counter

from tokenmizer_mw.runtime.forking import make_lock


class AnswerCounts:
    """Number of responses by route and status. Thread-safe."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, int]] = Counter()
        self._guard = make_lock()

    def count(self, route: str, status: int) -> None:
        """Add one response."""
        with self._guard:
            self._counts[route, status] += 1

    def items(self) -> list[tuple[tuple[str, int], int]]:
        """Return the counts by route and status."""
        with self._guard:
            return sorted(self._counts.items())
