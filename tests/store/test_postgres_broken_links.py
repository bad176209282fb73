"""Connections that break in the middle of something, and a server that keeps callers waiting."""

from __future__ import annotations

import threading

import pytest

from tests.store.postgres_database import Database, Holding, Link
from tests.waiting import eventually
from tokenmizer_mw.errors import Conflict, StoreUnavailable
from tokenmizer_mw.model.event import Derived, Event
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.postgres import PostgresLog

KEY = SessionKey("tenant", "session")
OTHER = SessionKey("tenant", "other")

WAITING = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND position('{schema}' in query) > 0"
"""The connections that wait for a lock on the tables."""


def turns(first: int, last: int) -> list[Event]:
    return [Derived(turn) for turn in range(first, last + 1)]


@pytest.mark.parametrize("session", [KEY, OTHER], ids=["known", "new"])
@pytest.mark.parametrize("what", ["swallow", "drop"])
def test_an_append_whose_answer_was_lost_is_kept_once(
    what: str, session: SessionKey, database: Database, link: Link
) -> None:
    log = database.log(port=link.port, timeout=60)
    end = log.append(KEY, turns(1, 2), expected_seq=0)[-1].seq if session is KEY else 0
    log.append(SessionKey("tenant", "warm"), turns(1, 1), expected_seq=0)
    link.next = what
    recorded = log.append(session, turns(3, 5), expected_seq=end)
    assert link.cut == 1
    assert [each.seq for each in recorded] == [end + 1, end + 2, end + 3]
    assert log.read(session, after=end) == recorded
    assert log.append(session, turns(6, 6), expected_seq=end + 3)[0].seq == end + 4
    log.close()


def test_an_append_that_reaches_the_server_late_is_not_kept_twice(database: Database, link: Link) -> None:
    log = database.log(port=link.port, timeout=60)
    log.append(KEY, turns(1, 2), expected_seq=0)
    link.next = "delay"
    recorded = log.append(KEY, turns(3, 5), expected_seq=2)
    link.deliver()
    assert log.read(KEY, after=2) == recorded
    log.close()


def test_of_an_append_that_was_lost_and_another_that_says_the_same_one_is_refused(
    database: Database, link: Link
) -> None:
    log, other = database.log(port=link.port, timeout=60), database.log(timeout=60)
    log.append(KEY, turns(1, 2), expected_seq=0)
    link.next = "drop"
    outcomes: list[str] = []

    def work(log: PostgresLog) -> None:
        try:
            log.append(KEY, turns(3, 3), expected_seq=2)
            outcomes.append("kept")
        except Conflict:
            outcomes.append("refused")

    with Holding(database, "UPDATE {schema}.sessions SET seq = seq"):
        threads = [threading.Thread(target=work, args=(each,)) for each in (other, log)]
        for count, thread in enumerate(threads, 1):
            thread.start()
            waiting(database, count)
    for thread in threads:
        thread.join()
    assert link.cut == 1
    assert sorted(outcomes) == ["kept", "refused"]
    assert [each.event for each in log.read(KEY)] == turns(1, 3)
    log.close()
    other.close()


def waiting(database: Database, count: int) -> None:
    """Return once ``count`` connections wait for a lock on the tables."""
    assert eventually(lambda: len(database.fetch(WAITING)) >= count)


def test_a_read_is_tried_again_on_another_connection(database: Database, link: Link) -> None:
    log = database.log(port=link.port, timeout=60)
    recorded = log.append(KEY, turns(1, 2), expected_seq=0)
    for what in ("swallow", "drop"):
        link.next = what
        assert log.read(KEY) == recorded
    assert link.cut == 2
    log.close()


def test_erasing_that_is_cut_off_says_so_and_can_be_repeated(database: Database, link: Link) -> None:
    log = database.log(port=link.port)
    log.append(KEY, turns(1, 2), expected_seq=0)
    link.next = "drop"
    with pytest.raises(StoreUnavailable, match="PostgreSQL: "):
        log.forget(KEY)
    assert log.forget(KEY) == 2
    assert log.read(KEY) == []
    log.close()


def test_after_every_connection_was_ended_the_next_call_has_a_new_one(database: Database) -> None:
    log = database.log(timeout=60)
    log.append(KEY, turns(1, 1), expected_seq=0)
    for end in range(1, 6):
        database.terminate_all()
        assert len(log.read(KEY)) == end
        database.terminate_all()
        assert log.append(KEY, turns(1, 1), expected_seq=end)[0].seq == end + 1
    log.close()


def test_connections_that_are_ended_in_the_middle_of_appends_lose_and_double_nothing(database: Database) -> None:
    log = database.log(timeout=60)
    sessions = [SessionKey("tenant", f"session {number}") for number in range(6)]
    ended = threading.Event()
    errors: list[BaseException] = []

    def work(session: SessionKey) -> None:
        end = 0
        try:
            while not ended.is_set() or end == 0:
                end = log.append(session, [Derived(end), Derived(end + 1)], expected_seq=end)[-1].seq
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(session,)) for session in sessions]
    for thread in threads:
        thread.start()
    for _ in range(12):
        wanted = sum(info.seq for info in log.sessions("tenant")) + 20
        database.terminate_all()
        assert eventually(lambda least=wanted: errors or sum(info.seq for info in log.sessions("tenant")) >= least)
    ended.set()
    for thread in threads:
        thread.join()
    assert errors == []
    for session in sessions:
        events = [each.event for each in log.read(session)]
        assert events == turns(0, len(events) - 1)
    log.close()


def test_a_call_that_waits_too_long_says_that_the_outcome_is_unknown_and_nothing_is_doubled(database: Database) -> None:
    log = database.log(timeout=4)
    log.append(KEY, turns(1, 1), expected_seq=0)
    with (
        Holding(database, "LOCK TABLE {schema}.events IN ACCESS EXCLUSIVE MODE"),
        pytest.raises(StoreUnavailable, match="did not answer in time; whether the append was kept is not known"),
    ):
        log.append(KEY, turns(2, 2), expected_seq=1)
    patient = database.log(timeout=60)
    end = patient.read(KEY)[-1].seq
    if end == 1:
        end = patient.append(KEY, turns(2, 2), expected_seq=1)[0].seq
    assert [each.event for each in patient.read(KEY)] == turns(1, 2)
    log.close()
    patient.close()


def test_callers_that_find_no_free_connection_are_told_in_time(database: Database) -> None:
    log = database.log(pool=1, timeout=4)
    log.append(KEY, turns(1, 1), expected_seq=0)
    outcomes: list[str] = []

    def work() -> None:
        try:
            log.read(KEY)
        except StoreUnavailable as error:
            outcomes.append(str(error))

    with Holding(database, "LOCK TABLE {schema}.events IN ACCESS EXCLUSIVE MODE"):
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert outcomes == ["PostgreSQL: did not answer in time"] * 4
    patient = database.log(timeout=60)
    assert len(patient.read(KEY)) == 1
    log.close()
    patient.close()


def test_a_statement_that_is_given_up_does_not_wait_on_in_the_server(database: Database) -> None:
    log = database.log(timeout=4)
    log.append(KEY, turns(1, 1), expected_seq=0)
    with Holding(database, "LOCK TABLE {schema}.events IN ACCESS EXCLUSIVE MODE"):
        with pytest.raises(StoreUnavailable, match="did not answer in time"):
            log.read(KEY)
        assert eventually(lambda: not database.fetch(WAITING))
    assert len(log.read(KEY)) == 1
    log.close()
