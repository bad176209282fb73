"""Whoever writes a turn does not wait for the event loop whose chat waits for the turn: the loop may be held up."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path

import pytest

from tests.waiting import PATIENCE
from tokenmizer_mw import SessionMemory, Settings
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
