"""The circuit breaker's states, and what the monitor makes of answers and failures."""

from __future__ import annotations

import logging

import pytest

from tokenmizer_mw.errors import StoreUnavailable
from tokenmizer_mw.store.resilience.monitor import LOG_SECONDS, StoreMonitor

FULL = StoreUnavailable("full", cause="disk_full", place="/some/place.db")


@pytest.mark.parametrize(
    ("steps", "is_open"),
    [
        ("", False),
        ("ff", False),
        ("fff", True),
        ("ffs", False),
        ("ffsff", False),
        ("ffff", True),
        ("fffs", False),
        ("fffsff", False),
        ("fffsfff", True),
    ],
)
def test_it_opens_after_failures_in_a_row_and_closes_with_a_success(steps: str, is_open: bool) -> None:
    monitor = StoreMonitor(3, deadline=0.25)
    for step in steps:
        if step == "f":
            monitor.late()
        else:
            monitor.note_answer(0.1)
    assert monitor.is_open is is_open


def test_a_late_answer_does_not_close_it() -> None:
    monitor = StoreMonitor(1, deadline=0.25)
    monitor.late("/some/place.db")
    monitor.note_answer(0.3)
    assert monitor.is_open
    monitor.note_answer(0.2)
    assert not monitor.is_open
    assert monitor.trouble is None


def test_a_late_call_does_not_hide_the_cause() -> None:
    monitor = StoreMonitor(3, deadline=0.25)
    monitor.note_failure(FULL)
    monitor.late()
    assert monitor.trouble is not None
    assert (monitor.trouble.cause, monitor.trouble.place) == ("disk_full", "/some/place.db")


def test_a_cause_is_logged_once_a_minute_with_its_place(caplog: pytest.LogCaptureFixture) -> None:
    now = 1_000.0
    monitor = StoreMonitor(3, deadline=0.25, clock=lambda: now)
    with caplog.at_level(logging.WARNING, "tokenmizer_mw"):
        for _ in range(5):
            monitor.note_failure(FULL)
        monitor.note_failure(StoreUnavailable("locked", cause="locked", place="/some/place.db"))
        assert len(caplog.records) == 2
        now += LOG_SECONDS
        monitor.note_failure(FULL)
    lines = [record.getMessage() for record in caplog.records]
    assert ["disk_full" in line for line in lines] == [True, False, True]
    assert all("/some/place.db" in line for line in lines)
