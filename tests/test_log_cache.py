"""Cached sessions follow the log, whoever wrote to it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.errors import Conflict, UnknownSession
from tokenmizer_mw.model.event import Derived, Event, ReadDetail, Recorded
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.session.log_cache import CachedSessions
from tokenmizer_mw.store.memory import MemoryLog
from tokenmizer_mw.store.sqlite import SqliteLog

KEY = SessionKey("t", "s")


class Counting(MemoryLog):
    """A store that counts how often it is read."""

    reads = 0

    def read(
        self, session: SessionKey, *, after: int = 0, upto: int | None = None, detail: ReadDetail = "all"
    ) -> list[Recorded]:
        self.reads += 1
        return super().read(session, after=after, upto=upto, detail=detail)


def up_by_one(state: SessionState) -> list[Event]:
    return [Derived(state.derived + 1)]


def test_two_keepers_on_one_log_count_together() -> None:
    log = MemoryLog()
    one, other = CachedSessions(log, capacity=2), CachedSessions(log, capacity=2)
    for keeper in (one, other, one, one, other):
        keeper.update(KEY, up_by_one)
    assert one.read(KEY, lambda state: state.derived) == other.read(KEY, lambda state: state.derived) == 5


def test_a_session_that_somebody_else_erased_starts_anew() -> None:
    log = MemoryLog()
    one, other = CachedSessions(log, capacity=2), CachedSessions(log, capacity=2)
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


def test_a_session_that_somebody_else_rewrote_is_folded_anew() -> None:
    log = MemoryLog()
    keepers = [CachedSessions(log, capacity=2) for _ in range(3)]
    for keeper in keepers:
        keeper.update(KEY, up_by_one)
    assert log.rewrite(KEY, lambda old: Derived(40) if old.seq == 3 else old.event) == 1
    reads, writes, late = keepers
    assert reads.read(KEY, lambda state: (state.seq, state.derived)) == (4, 40)
    writes.update(KEY, up_by_one)
    assert writes.read(KEY, lambda state: (state.seq, state.derived)) == (5, 41)
    for _ in range(3):
        assert late.read(KEY, lambda state: (state.seq, state.derived)) == (5, 41)


def test_a_process_notices_that_another_one_rewrote(tmp_path: Path) -> None:
    here, there = SqliteLog(tmp_path / "log.db"), SqliteLog(tmp_path / "log.db")
    keeper = CachedSessions(here, capacity=2)
    for _ in range(2):
        keeper.update(KEY, up_by_one)
    assert there.rewrite(KEY, lambda old: None if old.seq == 1 else Derived(7)) == 2
    keeper.update(KEY, up_by_one)
    assert keeper.read(KEY, lambda state: (state.seq, state.derived)) == (4, 8)
    here.close()
    there.close()


def test_a_rewriting_is_noticed_without_another_look_at_the_log() -> None:
    log = Counting()
    keeper = CachedSessions(log, capacity=2)
    keeper.update(KEY, up_by_one)
    looks = []
    for _ in range(3):
        before = log.reads
        keeper.read(KEY, lambda state: state.derived)
        looks.append(log.reads - before)
        log.rewrite(KEY, lambda old: old.event)
    assert looks == [1, 1, 1]


def test_more_sessions_than_are_kept() -> None:
    log = MemoryLog()
    keeper = CachedSessions(log, capacity=2)
    keys = [SessionKey("t", str(number)) for number in range(5)]
    for _ in range(2):
        for key in keys:
            keeper.update(key, up_by_one)
    assert [keeper.read(key, lambda state: state.derived) for key in keys] == [2] * 5


def test_nothing_decided_is_nothing_written() -> None:
    log = MemoryLog()
    CachedSessions(log, capacity=1).update(KEY, lambda _: [])
    assert log.sessions("t") == []


def test_a_decision_that_raises_leaves_the_session_as_it_was() -> None:
    keeper = CachedSessions(MemoryLog(), capacity=1)
    keeper.update(KEY, up_by_one)

    def fail(_: SessionState) -> list[Event]:
        raise Conflict("of its own")

    with pytest.raises(Conflict, match="of its own"):
        keeper.update(KEY, fail)
    assert keeper.read(KEY, lambda state: state.derived) == 1


def test_a_look_at_a_session_is_one_look_at_the_log() -> None:
    log = Counting()
    with closing(SessionMemory(log)) as memory:
        memory.record("s", [{"role": "user", "content": "Use PostgreSQL for storage."}])
        memory.graph("s")
        for look in (memory.graph, memory.resume, memory.loss_report):
            before = log.reads
            look("s")
            assert log.reads == before + 1
        with pytest.raises(UnknownSession):
            memory.graph("nobody")
