"""Snapshots and vectors in the files and tables of the stores: gone with what they say, never kept behind a
writer's back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.store.postgres_database import Database, Holding
from tests.waiting import eventually
from tokenmizer_mw.model.event import Derived, Event, MessageRecorded, Recorded
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.log import EventLog, PassageRows, Snapshot
from tokenmizer_mw.store.sqlite import SqliteLog

KEYS = [SessionKey("tenant", f"session{number}") for number in range(4)]


def fill(log: EventLog) -> None:
    """Sessions with snapshots of all sizes, each kept twice, and with vectors."""
    for number, key in enumerate(KEYS):
        said = MessageRecorded(1, "", Message(Role.USER, "hello"))
        at = [one.recorded_at for one in log.append(key, [said, Derived(1)], expected_seq=0)]
        for seq in (1, 2):
            payload = f"marker{number}x".encode() * (10, 300, 5_000, 40_000)[number]
            assert log.keep_snapshot(key, Snapshot(seq, at[seq - 1], 1, payload))
        rows = {str(place).encode(): f"marker{number}x".encode() * 100 for place in range(30)}
        assert log.keep_passage_rows(key, PassageRows(2, at[1], "model", rows), most=20)


def without_text(old: Recorded) -> Event | None:
    return replace(old.event, message=Message(Role.USER, "-")) if isinstance(old.event, MessageRecorded) else old.event


GOING: list[Callable[[EventLog, SessionKey], object]] = [
    lambda log, key: log.forget(key),
    lambda log, key: log.erase([key]),
    lambda log, key: log.rewrite(key, without_text),
]


@pytest.mark.parametrize("going", GOING, ids=["forget", "erase", "rewrite"])
def test_no_byte_of_a_snapshot_stays_in_the_files(
    going: Callable[[EventLog, SessionKey], object], tmp_path: Path
) -> None:
    log, other = SqliteLog(tmp_path / "log.db"), SqliteLog(tmp_path / "log.db")
    fill(log)

    def found() -> set[int]:
        content = b"\n".join(file.read_bytes() for file in tmp_path.iterdir())
        return {number for number in range(len(KEYS)) if f"marker{number}x".encode() in content}

    assert found() == {0, 1, 2, 3}
    for gone, key in enumerate(KEYS):
        assert other.snapshot(key) is not None
        going(log, key)
        assert found() == set(range(gone + 1, len(KEYS)))
        assert other.snapshot(key) is None
        assert other.passage_rows(key, "model") == {}
    log.close()
    other.close()


@pytest.mark.parametrize("going", GOING, ids=["forget", "erase", "rewrite"])
def test_no_byte_of_a_snapshot_stays_in_the_tables(
    going: Callable[[EventLog, SessionKey], object], database: Database
) -> None:
    log = database.log(erase="full")
    fill(log)
    assert in_files(database) == {0, 1, 2, 3}
    going(log, KEYS[3])
    going(log, KEYS[0])
    deadline = time.monotonic() + 30
    while in_files(database) != {1, 2}:  # snapshots that other transactions see keep old rows alive for a while
        assert time.monotonic() < deadline
        log.forget(SessionKey("tenant", "unknown"))
    log.close()


def in_files(database: Database) -> set[int]:
    """The sessions whose snapshot is in the files of the tables, or of what they keep beside them."""
    content = database.table_files()
    return {number for number in range(len(KEYS)) if f"marker{number}x".encode() in content}


MEANWHILE = {
    "rewritten": "UPDATE {schema}.sessions SET seq = seq + 1, rewritten = seq + 1",
    "erased": "DELETE FROM {schema}.sessions",
    "appended to": "UPDATE {schema}.sessions SET seq = seq + 1",
}


WAITING = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND position($1 in query) > 0"


@pytest.mark.parametrize("what", MEANWHILE)
def test_keeping_waits_for_who_is_writing_the_session(what: str, database: Database) -> None:
    log = database.log(timeout=60)
    (end,) = log.append(KEYS[0], [Derived(1)], expected_seq=0)
    kept: list[bool] = []
    keeping = threading.Thread(
        target=lambda: kept.append(log.keep_snapshot(KEYS[0], Snapshot(1, end.recorded_at, 1, b"what it said")))
    )
    with Holding(database, MEANWHILE[what]):
        keeping.start()
        assert eventually(lambda: database.fetch(WAITING, f'"{database.schema}".snapshots'))
        assert kept == []
    keeping.join()
    assert kept == [what == "appended to"]
    assert (log.snapshot(KEYS[0]) is not None) == kept[0]
    log.close()
