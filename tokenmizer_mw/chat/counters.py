"""How often things happened since a service was made."""

from __future__ import annotations

from collections import Counter

from tokenmizer_mw.runtime.forking import make_lock


class ServiceCounters:
    """Counts by name, safe for threads."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = make_lock()

    def add(self, reason: str, times: int = 1) -> None:
        """Add to the counter ``reason``."""
        if times:
            with self._lock:
                self._counts[reason] += times

    def read(self) -> dict[str, int]:
        """All counts by name."""
        with self._lock:
            return dict(self._counts)
