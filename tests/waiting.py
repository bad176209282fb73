"""Waiting for what happens elsewhere: as long as a machine may take that does much else, never by the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

PATIENCE: Final = 60.0
"""Seconds after which a test gives up waiting."""


def eventually(holds: Callable[[], Any], seconds: float = PATIENCE) -> bool:
    """Whether ``holds`` becomes true."""
    deadline = time.monotonic() + seconds
    while not (found := holds()) and time.monotonic() < deadline:
        time.sleep(0.005)
    return bool(found)
