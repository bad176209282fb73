"""Decides when a database store checks its total size."""

from __future__ import annotations

from typing import Final

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
        """Set the measured total size."""
        self._held, self._since = size, 0
