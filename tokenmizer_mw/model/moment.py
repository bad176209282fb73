"""Points in time as callers pass them, and their conversion to seconds since the epoch."""

from __future__ import annotations

from datetime import datetime

Moment = float | datetime
"""Seconds since the epoch, or a date and time; one without a zone is local time."""


def as_seconds(moment: Moment) -> float:
    """``moment`` in seconds since the epoch."""
    return moment.timestamp() if isinstance(moment, datetime) else moment
