"""Conformance checks for event logs: what every ``EventLog`` must do, as a table of functions.

    for name, check in CHECKS.items():
        check(make_log)

``make_log(clock)`` returns a new, empty log that takes its times from ``clock``. A check closes the logs that it made.
It returns if the store conforms. Otherwise it raises ``AssertionError`` that describes the difference, or lets through
an error that the store should not have raised.
"""

from __future__ import annotations

from typing import Final

from .derived_data import check_passages, check_passages_go, check_snapshots, check_snapshots_go, check_snapshots_race
from .erasure import check_erase, check_forget, check_load, check_rewrite, check_rewrite_fails_whole
from .events import (
    check_append_and_read,
    check_clock,
    check_conflict,
    check_every_kind,
    check_large,
    check_lone_surrogates,
    check_outlines,
    check_slices,
)
from .expectations import KEY, Check, MakeLog, expect, expect_raised, run_together
from .samples import EVERY_KIND, HOSTILE_IDS, REFUSED_IDS
from .sessions import (
    check_close,
    check_empty,
    check_errors_are_clear,
    check_hostile_ids,
    check_pages,
    check_secret,
    check_sessions,
    check_tenants,
)
from .threads import check_atomic, check_threads, check_threads_apart

__all__ = [
    "CHECKS",
    "EVERY_KIND",
    "HOSTILE_IDS",
    "KEY",
    "REFUSED_IDS",
    "Check",
    "MakeLog",
    "expect",
    "expect_raised",
    "run_together",
]

CHECKS: Final[dict[str, Check]] = {
    check.__name__.removeprefix("check_"): check
    for check in (
        check_empty, check_secret, check_append_and_read, check_slices, check_outlines, check_conflict, check_atomic,
        check_tenants, check_hostile_ids, check_clock, check_sessions, check_pages, check_snapshots,
        check_snapshots_go, check_snapshots_race, check_passages, check_passages_go, check_forget, check_erase,
        check_load, check_rewrite, check_rewrite_fails_whole, check_every_kind, check_lone_surrogates, check_large,
        check_threads, check_threads_apart, check_close, check_errors_are_clear,
    )
}  # fmt: skip
"""Maps the name of every check, such as "forget", to its function."""
