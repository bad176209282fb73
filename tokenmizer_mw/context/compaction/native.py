"""A compaction that a provider made: where it stands in a history, and a name for it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Final

_DIGITS: Final = 9
"""Decimal digits of a name: as many as the id of a checkpoint may have."""


@dataclass(frozen=True, slots=True)
class Native:
    """The newest compaction of a history, which a provider made. ``place`` is the index of the message or the item that
    holds it, ``checkpoint`` what the session's checkpoint for it is called: the same wherever it is sent again."""

    place: int
    checkpoint: str


def native_at(place: int, *content: object) -> Native:
    """The compaction at ``place`` with this content."""
    told = json.dumps(content, sort_keys=True, default=str).encode("utf-8", "surrogatepass")
    number = int.from_bytes(hashlib.sha256(told).digest()[:8], "big") % 10**_DIGITS
    return Native(place, f"native-{number:0{_DIGITS}d}")
