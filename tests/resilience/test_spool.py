"""Turns of a session that is being erased, while the store does not take them."""

from __future__ import annotations

import threading

from tests.waiting import eventually
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.errors import StoreUnavailable
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.resilience.spool import SpooledTurn

ERASED = SessionKey("local", "erased")


def test_a_turn_that_is_being_written_is_given_up_if_its_session_is_erased_meanwhile() -> None:
    asked, answer = threading.Event(), threading.Event()
    writes: list[str] = []

    def write() -> None:
        writes.append("tried")
        asked.set()
        answer.wait(60)
        raise StoreUnavailable("locked")

    with SessionMemory.open("memory://") as memory:
        spool = memory.service.turns.spool
        assert spool.put(ERASED, SpooledTurn(write, lambda: None), 10)
        assert asked.wait(60)
        assert spool.drop(ERASED, 0.01) == 0  # its writer still waits for the store
        answer.set()
        assert eventually(lambda: spool.waiting == 0)
    assert writes == ["tried"]


def test_a_dropped_turn_that_the_store_takes_after_all_is_written() -> None:
    asked, answer = threading.Event(), threading.Event()

    def write() -> None:
        asked.set()
        answer.wait(60)

    with SessionMemory.open("memory://") as memory:
        turn = SpooledTurn(write, lambda: None)
        assert memory.service.turns.spool.put(ERASED, turn, 10)
        assert asked.wait(60)
        dropping = threading.Thread(target=memory.service.turns.spool.drop, args=(ERASED, 60))
        dropping.start()
        answer.set()
        dropping.join(60)
        assert not dropping.is_alive()
        assert turn.is_written
