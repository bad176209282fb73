"""Whoever writes a turn does not wait for the event loop whose chat waits for the turn: the loop may be held up."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from tests.waiting import PATIENCE, eventually
from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.offload import TURNS, WRITERS_MAX, offload
from tokenmizer_mw.store.resilience.spool import SpooledTurn
from tokenmizer_mw.store.resilience.waiting import await_submitted

from .sick import chat, locked, said


@pytest.mark.anyio
async def test_a_turn_is_settled_while_the_loop_that_waited_for_it_is_held_up() -> None:
    turn = SpooledTurn(lambda: None, lambda: None)
    assert await await_submitted(lambda *, writes: turn, 0) is turn
    assert not turn.is_settled
    writer = threading.Thread(target=turn.settle, args=(True,), daemon=True)
    writer.start()
    writer.join(PATIENCE)  # blocks the loop
    assert not writer.is_alive()
    assert turn.is_written


@pytest.mark.anyio
async def test_each_turn_is_waited_for_until_its_own_deadline() -> None:
    """The waits on one loop share a timer, whichever of them began first, or ended early."""
    waited: dict[float, float] = {}

    async def wait(seconds: float) -> None:
        turn, begun = SpooledTurn(lambda: None, lambda: None), time.monotonic()
        assert await await_submitted(lambda *, writes: turn, seconds) is turn
        waited[seconds] = time.monotonic() - begun

    written = SpooledTurn(lambda: None, lambda: None)
    written.settle(True)
    for _ in range(2):
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                for seconds in (0.3, 0.1, 0.2, 0.1001):
                    group.start_soon(wait, seconds)
                assert await await_submitted(lambda *, writes: written, 0.05) is written
        assert len(waited) == 4 and all(took > seconds - 0.01 for seconds, took in waited.items())
        waited.clear()


@pytest.mark.anyio
async def test_late_turns_are_written_while_the_loop_waits_for_all_of_them(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    settings = Settings(store_wait_seconds=0.05, store_rest_seconds=0.2)
    with closing(SessionMemory.open(f"sqlite:///{path}", settings)) as memory:
        memory.record("before", [{"role": "user", "content": "hello"}])
        with locked(path):
            for number in range(3):
                await chat(memory, f"late-{number}")
            assert memory.service.turns.spool.waiting == 3
        assert memory.flush(PATIENCE)  # blocks the loop
        assert [len(said(memory, f"late-{number}")) for number in range(3)] == [2, 2, 2]
        assert memory.counters().get("turn_lost", 0) == 0


@pytest.mark.anyio
async def test_a_turn_that_its_thread_has_left_is_settled_by_any_thread_later() -> None:
    """Threads are used again: the one that submitted the turn may settle it with its next job."""
    turn = SpooledTurn(lambda: None, lambda: None)
    submitted: list[int] = []

    def submit(*, writes: bool) -> SpooledTurn:
        submitted.append(threading.get_ident())
        return turn

    def settle_in_the_same_thread() -> None:
        if threading.get_ident() == submitted[0]:
            turn.settle(True)

    async with anyio.create_task_group() as tasks:
        waited: list[bool] = []

        async def wait() -> None:
            await await_submitted(submit, PATIENCE)
            waited.append(turn.is_settled)

        tasks.start_soon(wait)
        with anyio.fail_after(PATIENCE / 2):
            while not turn.is_settled:
                await anyio.sleep(0.005)
                if submitted:
                    await offload(settle_in_the_same_thread, TURNS)
            while not waited:
                await anyio.sleep(0.005)
    assert waited == [True]


@pytest.mark.anyio
async def test_a_chat_does_not_wait_until_its_thread_has_written_the_turns_of_others() -> None:
    """The thread that has written its own turn leaves further ones to another thread, also if it is the only one that
    is not held up."""
    mine, others = SessionKey("local", "mine"), SessionKey("local", "others")
    answer = threading.Event()

    def make_held_up() -> SpooledTurn:
        return SpooledTurn(lambda: answer.wait(PATIENCE) and None, lambda: None)

    behind = make_held_up()
    with SessionMemory.open("memory://") as memory:
        spool = memory.service.turns.spool
        for number in range(WRITERS_MAX - 1):
            spool.put(SessionKey("local", f"held-up-{number}"), make_held_up(), 1)
        own = SpooledTurn(lambda: spool.put(others, behind, 1) and None, lambda: None)

        def submit(*, writes: bool) -> SpooledTurn:
            spool.put(mine, own, 1, writes=writes)
            return own

        with anyio.fail_after(PATIENCE / 2):
            assert await await_submitted(submit, PATIENCE) is own
        assert own.is_written
        assert not behind.is_settled
        answer.set()
        assert eventually(lambda: behind.is_written)


@pytest.mark.anyio
async def test_what_fails_behind_a_queued_turn_is_no_error_of_that_turn() -> None:
    """The worker thread that queued a turn goes on with others, and cannot start another thread for them."""
    turn = SpooledTurn(lambda: None, lambda: None)

    def fail() -> None:
        raise RuntimeError("can't start new thread")

    turn.go_on = fail
    with anyio.fail_after(PATIENCE):
        assert await await_submitted(lambda *, writes: turn, 0.05) is turn
