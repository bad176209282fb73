"""Checks of several threads that use one log."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from typing import Final

from tokenmizer_mw.errors import Conflict
from tokenmizer_mw.model.event import Derived, Event, StatusChanged
from tokenmizer_mw.model.node import Status
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.log import EventLog

from .expectations import KEY, MakeLog, expect, expect_raised, list_events, make_turns, open_empty_log, run_together

_THREADS: Final = 16
_APPENDS_EACH: Final = 8


def check_atomic(make_log: MakeLog) -> None:
    """Check that none of several events is stored when the append is refused, and that readers never see a part of an
    append."""
    with open_empty_log(make_log) as log:
        log.append(KEY, make_turns(1, 1), expected_seq=0)
        expect_raised(Conflict, lambda: log.append(KEY, make_turns(2, 50), expected_seq=0), "a late append")
        expect(len(log.read(KEY)), 1, "events after a late append")
        seen = {1}
        finished = threading.Event()

        def watch() -> None:
            while not finished.is_set():
                seen.add(len(log.read(KEY)) % 5)

        def write() -> None:
            try:
                for start in range(1, 1 + 40 * 5, 5):
                    log.append(KEY, make_turns(1, 5), expected_seq=start)
            finally:
                finished.set()

        run_together([watch, write])
        expect(seen, {1}, "events seen beyond whole appends of five")


def check_threads(make_log: MakeLog) -> None:
    """Check that threads that append to one session, retrying on conflict, lose nothing and leave no gap."""
    with open_empty_log(make_log) as log:
        run_together([partial(_append_all, log, name) for name in range(_THREADS)])
        recorded = log.read(KEY)
        expect([event.seq for event in recorded], list(range(1, 2 * _THREADS * _APPENDS_EACH + 1)), "numbers")
        times = [event.recorded_at for event in recorded]
        expect(times, sorted(times), "times")
        for name in range(_THREADS):
            own = [
                each.event for each in recorded if isinstance(each.event, StatusChanged) and each.event.id == str(name)
            ]
            expect(own, _steps(name, range(_APPENDS_EACH)), f"events of thread {name}")


def _append_all(log: EventLog, name: int) -> None:
    end = 0
    for step in range(_APPENDS_EACH):
        while True:
            try:
                end = log.append(KEY, _steps(name, [step]), expected_seq=end)[-1].seq
                break
            except Conflict:
                end = log.read(KEY, after=end)[-1].seq


def _steps(name: int, steps: Sequence[int]) -> list[Event]:
    return [StatusChanged(str(name), Status.ACTIVE, step, half) for step in steps for half in ("first", "second")]


def check_threads_apart(make_log: MakeLog) -> None:
    """Check that threads that append to different sessions never get a conflict."""

    def work(log: EventLog, key: SessionKey) -> None:
        for seq in range(_APPENDS_EACH):
            log.append(key, [Derived(seq)], expected_seq=seq)

    keys = [SessionKey("tenant", f"session {number}") for number in range(_THREADS)]
    with open_empty_log(make_log) as log:
        run_together([partial(work, log, key) for key in keys])
        for key in keys:
            expect(list_events(log, key), [Derived(seq) for seq in range(_APPENDS_EACH)], f"events of {key.id}")
