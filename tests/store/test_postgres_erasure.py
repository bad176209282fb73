"""What is forgotten or rewritten, and what is left of it in the files of PostgreSQL's tables."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from tests.store.postgres_database import Database
from tests.waiting import eventually
from tokenmizer_mw.model.event import Event, MessageRecorded, Recorded
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.postgres import PostgresLog


def marker(session: int, append: int) -> str:
    return f"marker{session:03d}x{append:05d}"


def fill(database: Database, sessions: int, appends: int) -> None:
    log = database.log()
    sizes = itertools.cycle([0, 50, 900, 3000, 9000])
    for session, append in itertools.product(range(sessions), range(appends)):
        text = marker(session, append) + "".join(map(chr, range(33, 33 + 60))) * (next(sizes) // 60)
        event = MessageRecorded(1, "", Message(Role.USER, text))
        log.append(SessionKey("tenant", f"session{session:03d}"), [event], expected_seq=append)
    log.close()


def in_files(database: Database) -> set[int]:
    """The sessions of which a text is in the files of the tables, or of what they keep beside them."""
    content = database.table_files()
    return {session for session in range(100) if f"marker{session:03d}x".encode() in content}


def erased_until(database: Database, log: PostgresLog, expected: set[int]) -> None:
    """Erase again until only ``expected`` is in the files: snapshots of others keep old rows alive for a while."""
    assert eventually(
        lambda: in_files(database) == expected or log.forget(SessionKey("tenant", "unknown")),
    )


def test_forgotten_sessions_are_gone_from_the_files_of_the_tables(database: Database) -> None:
    fill(database, 6, 20)
    assert in_files(database) == set(range(6))
    log = database.log(erase="full")
    gone = [SessionKey("tenant", f"session{number:03d}") for number in (0, 2, 4)]
    assert log.erase(gone) == gone
    erased_until(database, log, {1, 3, 5})
    assert len(log.read(SessionKey("tenant", "session001"))) == 20
    log.close()


def test_rewritten_events_are_gone_from_the_files_of_the_tables(database: Database) -> None:
    fill(database, 2, 20)
    log = database.log(erase="full")
    key = SessionKey("tenant", "session001")
    assert log.rewrite(key, replace_text) == 20
    erased_until(database, log, {0})
    assert [each.seq for each in log.read(key)] == [*range(1, 21, 2), 21]
    log.close()


def replace_text(old: Recorded) -> Event | None:
    assert isinstance(old.event, MessageRecorded)
    return replace(old.event, message=Message(Role.USER, "[removed]")) if old.seq % 2 else None


@pytest.mark.parametrize(("erase", "vacuumed"), [("vacuum", True), ("autovacuum", False)])
def test_the_address_says_who_frees_the_space(erase: str, vacuumed: bool, database: Database) -> None:
    fill(database, 2, 3)
    log = database.log(erase=erase)
    assert log.forget(SessionKey("tenant", "session000")) == 3
    assert [info.key.id for info in log.sessions("tenant")] == ["session001"]
    counted = "SELECT vacuum_count FROM pg_stat_all_tables WHERE schemaname = '{schema}' AND relname = 'events'"
    assert not vacuumed or eventually(lambda: database.fetch(counted)[0][0])
    assert bool(database.fetch(counted)[0][0]) is vacuumed
    log.close()
