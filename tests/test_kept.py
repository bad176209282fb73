"""Kept sessions follow the log, whoever wrote to it."""

from __future__ import annotations

import pytest

from tokenmizer_mw.errors import Conflict
from tokenmizer_mw.kept import KeptSessions
from tokenmizer_mw.model.event import Derived, Event
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.store.memory import MemoryLog

KEY = SessionKey("t", "s")


def up_by_one(state: SessionState) -> list[Event]:
    return [Derived(state.derived + 1)]


def test_two_keepers_on_one_log_count_together() -> None:
    log = MemoryLog()
    one, other = KeptSessions(log, capacity=2), KeptSessions(log, capacity=2)
    for keeper in (one, other, one, one, other):
        keeper.update(KEY, up_by_one)
    assert one.read(KEY, lambda state: state.derived) == other.read(KEY, lambda state: state.derived) == 5


def test_a_session_that_somebody_else_erased_starts_anew() -> None:
    log = MemoryLog()
    one, other = KeptSessions(log, capacity=2), KeptSessions(log, capacity=2)
    for _ in range(3):
        one.update(KEY, up_by_one)
    log.forget(KEY)
    assert one.read(KEY, lambda state: (state.seq, state.derived)) == (0, 0)
    other.update(KEY, up_by_one)
    one.update(KEY, up_by_one)
    assert other.read(KEY, lambda state: (state.seq, state.derived)) == (2, 2)
    log.forget(KEY)
    for _ in range(4):
        other.update(KEY, up_by_one)
    assert one.read(KEY, lambda state: (state.seq, state.derived)) == (4, 4)


def test_more_sessions_than_are_kept() -> None:
    log = MemoryLog()
    keeper = KeptSessions(log, capacity=2)
    keys = [SessionKey("t", str(number)) for number in range(5)]
    for _ in range(2):
        for key in keys:
            keeper.update(key, up_by_one)
    assert [keeper.read(key, lambda state: state.derived) for key in keys] == [2] * 5


def test_nothing_decided_is_nothing_written() -> None:
    log = MemoryLog()
    KeptSessions(log, capacity=1).update(KEY, lambda _: [])
    assert log.sessions("t") == []


def test_a_decision_that_raises_leaves_the_session_as_it_was() -> None:
    keeper = KeptSessions(MemoryLog(), capacity=1)
    keeper.update(KEY, up_by_one)

    def fail(_: SessionState) -> list[Event]:
        raise Conflict("of its own")

    with pytest.raises(Conflict, match="of its own"):
        keeper.update(KEY, fail)
    assert keeper.read(KEY, lambda state: state.derived) == 1
