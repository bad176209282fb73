"""The background queue: bounded, deduplicated by name, drained on close."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from tokenmizer_mw.runtime.background import BackgroundQueue, Pauses


def queue(capacity: int = 10) -> tuple[BackgroundQueue, list[BaseException]]:
    failures: list[BaseException] = []
    return BackgroundQueue(capacity=capacity, size_max=100, failed=failures.append), failures


def test_tasks_run_in_order_and_close_waits_for_them() -> None:
    work, _ = queue()
    done: list[int] = []
    for number in range(5):
        assert work.put(number, lambda number=number: done.append(number))
    assert work.close(5.0)
    assert done == [0, 1, 2, 3, 4]
    assert not work.put("late", lambda: None)


def test_a_waiting_name_is_not_queued_twice_and_a_full_queue_refuses() -> None:
    work, _ = queue(capacity=2)
    running, go = threading.Event(), threading.Event()
    done: list[str] = []
    work.put("first", lambda: (running.set(), go.wait(5)))
    assert running.wait(5)
    assert work.put("a", lambda: done.append("a"))
    assert work.put("a", lambda: done.append("a again"))
    assert work.put("b", lambda: done.append("b"))
    assert not work.put("c", lambda: done.append("c"))
    assert not work.flush(0.01)
    go.set()
    assert work.flush(5.0)
    assert done == ["a", "b"]
    assert work.close(1.0)


def test_what_waits_is_bounded_in_bytes() -> None:
    work, _ = queue()
    running, go = threading.Event(), threading.Event()
    work.put("first", lambda: (running.set(), go.wait(5)), 100)
    assert running.wait(5)
    assert work.put("a", lambda: None, 60)
    assert not work.put("b", lambda: None, 60)
    assert work.put("c", lambda: None, 40)
    go.set()
    assert work.flush(5.0)
    assert work.put("b", lambda: None, 60)
    assert work.close(5.0)


def test_a_failing_task_ends_nothing() -> None:
    work, failures = queue()
    done: list[str] = []
    work.put("bad", lambda: 1 // 0)
    work.put("good", lambda: done.append("good"))
    assert work.close(5.0)
    assert done == ["good"]
    assert [type(error) for error in failures] == [ZeroDivisionError]


def test_closing_without_work_starts_no_thread() -> None:
    before = threading.active_count()
    work, _ = queue()
    assert work.close(0.0)
    assert threading.active_count() == before


ENDING = """
import sys, time
from tokenmizer_mw.runtime import background
from tokenmizer_mw.runtime.background import BackgroundQueue

queue = BackgroundQueue(capacity=10, size_max=100, failed=print, drain_seconds={seconds})
queue.put("a", lambda: time.sleep(0.1))
queue.put("b", lambda: print("done", flush=True))
"""

MATCHING = """
import time
import re2
from tokenmizer_mw.runtime import background
from tokenmizer_mw.runtime.background import BackgroundQueue

queue = BackgroundQueue(capacity=10, size_max=100, failed=print)
text = "We decided to keep the queue. " * 2_000
queue.put("a", lambda: [len(re2.findall("(?i)(decided|kept) (to|by) [a-z]+", text)) for _ in range(10)])
time.sleep({seconds})
"""


@pytest.mark.parametrize(("seconds", "printed"), [(5.0, "done"), (0.0, "")])
def test_the_end_of_the_process_waits_for_a_queue_that_nobody_closed(seconds: float, printed: str) -> None:
    assert _run(ENDING.format(seconds=seconds)) == (0, printed)


@pytest.mark.parametrize("seconds", [0.0, 0.02, 0.05])
def test_the_end_of_the_process_finds_no_thread_in_a_native_library(seconds: float) -> None:
    assert _run(MATCHING.format(seconds=seconds)) == (0, "")


def _run(program: str) -> tuple[int, str]:
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    return ended.returncode, ended.stdout.strip()


NEVER = 3_600.0


def unpaused(capacity: int = 10, **bounds: int) -> tuple[BackgroundQueue, list[str]]:
    """A queue that never sees a pause, and the list of the tasks that ran without one."""
    missed: list[str] = []
    pauses = Pauses(NEVER, NEVER, missed=lambda: missed.append("missed"), **bounds)
    return BackgroundQueue(capacity=capacity, size_max=100, failed=print, pauses=pauses), missed


def test_tasks_for_later_of_one_name_are_one_and_are_overtaken() -> None:
    work, _ = unpaused()
    done: list[str] = []
    for time in ("first", "second"):
        assert work.put_later("session", lambda time=time: done.append(time))
    assert done == []
    ended = threading.Event()
    work.put("urgent", lambda: (done.append("urgent"), ended.set()))
    assert ended.wait(5)
    assert done == ["urgent"]
    assert work.close(5.0)
    assert done == ["urgent", "first"]


def test_tasks_for_later_are_done_when_somebody_flushes() -> None:
    work, missed = unpaused()
    done: list[str] = []
    assert work.put_later("session", lambda: done.append("session"))
    assert work.flush(5.0)
    assert done == ["session"]
    assert work.put_later("session", lambda: done.append("again"))
    assert work.close(5.0)
    assert done == ["session", "again"]
    assert missed == []


def test_tasks_for_later_do_not_fill_a_queue() -> None:
    work, missed = unpaused(capacity=4)
    running, go = threading.Event(), threading.Event()
    assert work.put_later("a", lambda: (running.set(), go.wait(5)))
    assert work.put_later("b", lambda: None)
    assert running.wait(5)
    assert missed
    go.set()
    assert work.close(5.0)


@pytest.mark.parametrize("bounds", [{"tasks_max": 2}, {"times_max": 4}])
def test_few_tasks_wait_for_a_pause(bounds: dict[str, int]) -> None:
    work, missed = unpaused(**bounds)
    done: list[str] = []
    running, go = threading.Event(), threading.Event()
    assert work.put_later("a", lambda: (done.append("a"), running.set(), go.wait(5)))
    assert work.put_later("a", lambda: None)
    assert work.put_later("b", lambda: done.append("b"))
    assert work.put_later("b", lambda: None)
    assert not running.wait(0.05)
    assert work.put_later("c", lambda: done.append("c"))
    assert running.wait(5)
    go.set()
    assert done == ["a"]
    assert missed == ["missed"]
    assert work.close(5.0)
    assert done == ["a", "b", "c"]


def test_a_task_for_later_waits_for_a_pause_only_so_long() -> None:
    missed: list[bool] = []
    pauses = Pauses(NEVER, 0.02, missed=lambda: missed.append(True))
    work = BackgroundQueue(capacity=10, size_max=100, failed=print, pauses=pauses)
    ended = threading.Event()
    assert work.put_later("session", ended.set)
    assert ended.wait(5)
    assert missed == [True]
    assert work.close(5.0)


def test_a_task_for_later_is_done_in_a_pause() -> None:
    work, _ = queue()
    ended = threading.Event()
    assert work.put_later("session", ended.set)
    assert ended.wait(5)
    assert work.close(5.0)
