"""Worker processes that use a store, told and heard line by line."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

from tokenmizer_mw.model.event import Recorded, StatusChanged

StartWorker = Callable[..., subprocess.Popen[str]]
NAMES = "abcd"


def tell(worker: subprocess.Popen[str], line: str = "") -> None:
    assert worker.stdin is not None
    worker.stdin.write(f"{line}\n")
    worker.stdin.flush()


def hear(worker: subprocess.Popen[str]) -> str:
    assert worker.stdout is not None
    return worker.stdout.readline().strip()


def run_race(start: Callable[[str], subprocess.Popen[str]]) -> None:
    """Have a worker for each of ``NAMES`` append to one session at the same moment."""
    workers = [start(name) for name in NAMES]
    assert [hear(worker) for worker in workers] == ["ready"] * len(workers)
    for worker in workers:
        tell(worker)
    assert all(hear(worker).isdigit() for worker in workers)


def assert_nothing_lost(recorded: list[Recorded], count: int) -> None:
    """After a race: each worker's ``count`` pairs are there, in order and unbroken."""
    assert [each.seq for each in recorded] == list(range(1, len(NAMES) * count * 2 + 1))
    events = [each.event for each in recorded if isinstance(each.event, StatusChanged)]
    for name in NAMES:
        own = [(event.turn, event.reason) for event in events if event.id == name]
        assert own == [(step, half) for step in range(count) for half in ("first", "second")]
    assert [event.reason for event in events] == ["first", "second"] * (len(NAMES) * count)
