"""Callers that wait are written together, in order, and do not suffer from each other."""

from __future__ import annotations

import signal
import threading

import pytest

from tokenmizer_mw.store.group_commit import GroupCommit

DEADLINE = 10.0


def spawn(call: object, *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=call, args=arguments)  # type: ignore[arg-type]
    thread.start()
    return thread


class Gate:
    """A ``write`` that stops inside its first call until it is let go, and notes what it was given."""

    def __init__(self) -> None:
        self.groups: list[list[object]] = []
        self.entered = threading.Event()
        self.open = threading.Event()

    def __call__(self, items: list[object]) -> None:
        self.groups.append(items)
        self.entered.set()
        assert self.open.wait(DEADLINE)


def waiting(commit: GroupCommit[object]) -> int:
    return len(commit._line)


def wait_until_waiting(commit: GroupCommit[object], count: int) -> None:
    stop = threading.Event()
    for _ in range(int(DEADLINE * 1000)):
        if waiting(commit) == count:
            return
        stop.wait(0.001)
    raise AssertionError(f"{waiting(commit)} are waiting, not {count}")


def test_an_undisturbed_caller_writes_at_once_and_itself() -> None:
    written: list[object] = []
    commit: GroupCommit[object] = GroupCommit(lambda items: written.append((items, threading.get_ident())))
    commit.submit("a")
    commit.submit("b")
    me = threading.get_ident()
    assert written == [(["a"], me), (["b"], me)]


def test_who_comes_during_a_commit_is_written_by_the_next_one_in_order() -> None:
    gate = Gate()
    commit: GroupCommit[object] = GroupCommit(gate)
    threads = [spawn(commit.submit, 0)]
    assert gate.entered.wait(DEADLINE)
    for number in range(1, 5):
        threads.append(spawn(commit.submit, number))
        wait_until_waiting(commit, number)
    gate.open.set()
    for thread in threads:
        thread.join(DEADLINE)
    assert gate.groups == [[0], [1, 2, 3, 4]]


def test_an_error_is_raised_in_the_leader_and_the_others_are_written_again() -> None:
    gate = Gate()
    failures = iter([None, RuntimeError("disk on fire"), None])
    done: list[object] = []

    def write(items: list[object]) -> None:
        gate(items)
        if (error := next(failures)) is not None:
            raise error

    def submit(item: object) -> None:
        try:
            commit.submit(item)
            done.append(item)
        except RuntimeError as error:
            done.append(str(error))

    commit: GroupCommit[object] = GroupCommit(write)
    threads = [spawn(submit, 0)]
    assert gate.entered.wait(DEADLINE)
    for number in (1, 2, 3):
        threads.append(spawn(submit, number))
        wait_until_waiting(commit, number)
    gate.open.set()
    for thread in threads:
        thread.join(DEADLINE)
    assert gate.groups == [[0], [1, 2, 3], [2, 3]]
    assert sorted(map(str, done)) == ["0", "2", "3", "disk on fire"]


def test_a_caller_that_is_interrupted_while_waiting_leaves_the_line() -> None:
    class Alarm(Exception):
        pass

    def ring(*_: object) -> None:
        raise Alarm

    gate = Gate()
    commit: GroupCommit[object] = GroupCommit(gate)
    first = spawn(commit.submit, "first")
    assert gate.entered.wait(DEADLINE)
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(Alarm):
            commit.submit("interrupted")
    finally:
        signal.signal(signal.SIGALRM, before)
    gate.open.set()
    first.join(DEADLINE)
    commit.submit("next")
    assert gate.groups == [["first"], ["next"]]


def test_many_threads_are_all_written_once() -> None:
    written: list[object] = []
    commit: GroupCommit[object] = GroupCommit(written.extend)

    def work(name: int) -> None:
        for step in range(50):
            commit.submit((name, step))

    threads = [spawn(work, name) for name in range(32)]
    for thread in threads:
        thread.join(DEADLINE)
    assert sorted(written) == [(name, step) for name in range(32) for step in range(50)]  # type: ignore[type-var]
