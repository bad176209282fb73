"""Warnings about the same subject are bounded, and so are warnings about ever new ones."""

from __future__ import annotations

import logging
from itertools import chain, count, repeat
from typing import Final

import pytest

from tokenmizer_mw.runtime.tracing import LOG_SECONDS, SUBJECTS_MAX, LimitedLog

LOGGER: Final = logging.getLogger("tokenmizer_mw.test")


@pytest.mark.parametrize("seconds", [LOG_SECONDS, float("inf")])
def test_clients_without_number_fill_neither_the_log_nor_the_memory(seconds: float) -> None:
    limited = LimitedLog(LOGGER, seconds, lambda: 1.0)
    assert sum(limited.is_due(f"client {number}") for number in range(3 * SUBJECTS_MAX)) == SUBJECTS_MAX


def test_a_subject_is_due_again_after_the_time_and_never_with_infinity() -> None:
    times = iter([0.0, 59.0, 61.0, 100.0])
    limited = LimitedLog(LOGGER, 60, lambda: next(times))
    assert [limited.is_due("a") for _ in range(4)] == [True, False, True, False]
    hours = count(0, 3600)
    limited = LimitedLog(LOGGER, float("inf"), lambda: next(hours))
    assert [limited.is_due("a") for _ in range(4)] == [True, False, False, False]


def test_subjects_that_are_logged_once_do_not_silence_later_ones() -> None:
    times = count(0, 1.01 * LOG_SECONDS / SUBJECTS_MAX)
    limited = LimitedLog(LOGGER, float("inf"), lambda: next(times))
    assert all(limited.is_due(f"session {number}") for number in range(3 * SUBJECTS_MAX))
    assert not limited.is_due(f"session {2 * SUBJECTS_MAX + 1}")


def test_the_subject_written_about_longest_ago_is_forgotten_first() -> None:
    times = chain([0.0, 0.0, 150.0], repeat(150.0, SUBJECTS_MAX - 2), [151.0, 151.0])
    limited = LimitedLog(LOGGER, 100, lambda: next(times))
    for number in (0, 1, 0, *range(2, SUBJECTS_MAX + 1)):
        assert limited.is_due(f"client {number}"), number
    assert not limited.is_due("client 0")
