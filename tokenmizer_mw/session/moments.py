"""Convert times as users give them to seconds since the epoch. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.model.session import Moment

_SECONDS_MAX: Final = 1e11
"""A larger number, a year beyond 5000, is one of milliseconds."""


def as_seconds(moment: Moment) -> float:
    """Return ``moment`` in seconds since the epoch. Raises ``CallerError`` for anything that is not a time."""
    if isinstance(moment, str):
        try:
            return datetime.fromisoformat(moment).timestamp()
        except ValueError:
            raise CallerError(f"{moment[:40]!r} is not a time in ISO 8601, such as '2026-11-23T12:00'") from None
    if isinstance(moment, datetime):
        return moment.timestamp()
    if isinstance(moment, bool) or not isinstance(moment, int | float):
        raise CallerError(f"a time is seconds since 1970, a datetime or ISO 8601 text, not a {type(moment).__name__}")
    if _SECONDS_MAX <= moment < float("inf"):
        raise CallerError(f"a time is in seconds since 1970; {moment:.0f} looks like milliseconds")
    return moment
