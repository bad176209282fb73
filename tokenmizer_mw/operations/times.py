"""Times as transcripts state them. Pure."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Final

_MILLISECONDS: Final = 1e11
"""A larger number of seconds is a year beyond 5000: the source counts milliseconds."""


def read_time(value: object) -> float | None:
    """Return a time of a transcript in seconds since the epoch; ``None`` if it is none.

    ``value``: seconds or milliseconds, or text in ISO 8601, which is in UTC unless it names a zone.
    """
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            return None
        value = (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
        return None
    return value / 1_000 if value >= _MILLISECONDS else float(value)
