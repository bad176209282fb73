"""A request behind the newest compaction that its history holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from .seal import SealedContent

CONTINUE: Final = "Continue."
"""What stands for the user where a compaction ends a history, and nothing of the user was open."""


@dataclass(frozen=True, slots=True)
class Behind:
    """``body`` is the request without what ``kept`` stands for (``None``: it holds no compaction of ours) and without
    what asks for compaction. ``emptied``: compactions that failed, and say nothing, were taken out. ``bare``: nothing
    stands behind it, and what is open of the user is said again."""

    body: Mapping[str, Any]
    kept: SealedContent | None = None
    emptied: bool = False
    bare: bool = False
