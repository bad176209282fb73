"""What is forgotten or rewritten is gone from every byte of the store's files."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.waiting import eventually
from tokenmizer_mw.errors import StoreUnavailable
from tokenmizer_mw.model.event import Event, MessageRecorded, Recorded
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.sqlite import SqliteLog

SESSIONS = 12
APPENDS = 40


def key(number: int) -> SessionKey:
    return SessionKey("tenant", f"session-number-{number:03d}")


def marker(session: int, append: int) -> str:
    return f"marker{session:03d}x{append:05d}"


def fill(log: SqliteLog, seed: int) -> None:
    """Sessions whose appends interleave and whose messages have all sizes, so that pages split and overflow."""
    dice = random.Random(seed)
    order = [session for session in range(SESSIONS) for _ in range(APPENDS)]
    dice.shuffle(order)
    ends = [0] * SESSIONS
    for session in order:
        text = marker(session, ends[session]) + "." * dice.choice([0, 50, 300, 900, 3000, 9000])
        event = MessageRecorded(1, "", Message(Role.USER, text))
        ends[session] = log.append(key(session), [event], expected_seq=ends[session])[-1].seq


def found(directory: Path, sessions: range) -> set[int]:
    """The sessions of which any text is in any file."""
    content = b"\n".join(file.read_bytes() for file in directory.iterdir())
    return {
        session
        for session in sessions
        if any(marker(session, append).encode() in content for append in range(APPENDS))
        or key(session).id.encode() in content
    }


def without_text(old: Recorded) -> Event | None:
    assert isinstance(old.event, MessageRecorded)
    return MessageRecorded(old.event.turn, "", Message(Role.USER, "[removed]")) if old.seq % 2 else None


@pytest.mark.parametrize("seed", range(3))
def test_forgotten_sessions_leave_no_byte(seed: int, tmp_path: Path) -> None:
    log, other = SqliteLog(tmp_path / "log.db"), SqliteLog(tmp_path / "log.db")
    fill(log, seed)
    assert len(other.read(key(0))) == APPENDS
    assert found(tmp_path, range(SESSIONS)) == set(range(SESSIONS))
    for session in range(0, SESSIONS, 2):
        assert log.forget(key(session)) == APPENDS
    assert found(tmp_path, range(SESSIONS)) == set(range(1, SESSIONS, 2))
    assert len(other.read(key(0))) == 0
    assert len(other.read(key(1))) == APPENDS
    log.close()
    other.close()
    assert found(tmp_path, range(SESSIONS)) == set(range(1, SESSIONS, 2))


@pytest.mark.parametrize("seed", range(3))
def test_rewritten_events_leave_no_byte(seed: int, tmp_path: Path) -> None:
    log = SqliteLog(tmp_path / "log.db")
    fill(log, seed)
    for session in range(SESSIONS):
        assert log.rewrite(key(session), without_text) == APPENDS
    content = b"\n".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"marker" not in content
    assert content.count(b"[removed]") >= SESSIONS * APPENDS // 2
    assert [each.seq for each in log.read(key(0))] == [*range(1, APPENDS + 1, 2), APPENDS + 1]
    log.close()


def test_erasing_while_somebody_reads_says_that_traces_are_left_and_can_be_repeated(tmp_path: Path) -> None:
    log = SqliteLog(tmp_path / "log.db", busy_seconds=0.05, readers_seconds=0.2)
    fill(log, 0)
    reader = sqlite3.connect(tmp_path / "log.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM events").fetchall()
    with pytest.raises(StoreUnavailable, match="erased, but its traces stay in the file until nobody reads it"):
        log.forget(key(3))
    assert log.read(key(3)) == []
    assert 3 in found(tmp_path, range(SESSIONS))
    reader.execute("ROLLBACK")
    reader.close()
    assert log.forget(key(3)) == 0
    assert found(tmp_path, range(SESSIONS)) == set(range(SESSIONS)) - {3}
    log.close()


def test_sessions_that_are_erased_and_written_at_once_stay_whole(tmp_path: Path) -> None:
    log = SqliteLog(tmp_path / "log.db")
    fill(log, 1)
    for session in range(SESSIONS):
        end = log.sessions("tenant")[0].seq
        log.forget(key(session))
        fresh = SessionKey("tenant", f"fresh {session}")
        event = MessageRecorded(1, "", Message(Role.USER, str(end)))
        assert log.append(fresh, [event], expected_seq=0)[0].seq == 1
    assert sorted(info.key.id for info in log.sessions("tenant")) == sorted(f"fresh {n}" for n in range(SESSIONS))
    log.close()


def test_traces_that_a_reader_kept_are_removed_once_it_ends(tmp_path: Path) -> None:
    log = SqliteLog(tmp_path / "log.db", readers_seconds=0.1)
    fill(log, 0)
    with closing(sqlite3.connect(tmp_path / "log.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchall()
        with pytest.raises(StoreUnavailable, match="they are removed in the background"):
            log.forget(key(3))
        reader.execute("ROLLBACK")
    assert eventually(lambda: 3 not in found(tmp_path, range(SESSIONS)))
    assert eventually(lambda: not traces(tmp_path))
    assert found(tmp_path, range(SESSIONS)) == set(range(SESSIONS)) - {3}
    log.close()


_KILLED_IN_BETWEEN = """
import os, sys
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.sqlite import SqliteLog
from tokenmizer_mw.store.sqlite_traces import TraceRemover

TraceRemover.remove = lambda self: os.kill(os.getpid(), 9)
SqliteLog(sys.argv[1]).forget(SessionKey("tenant", sys.argv[2]))
"""


def test_traces_that_a_killed_process_left_are_removed_by_the_next_one(tmp_path: Path) -> None:
    log, fresh = SqliteLog(tmp_path / "log.db"), SqliteLog(tmp_path / "log.db")
    fill(log, 0)
    killed = subprocess.run([sys.executable, "-c", _KILLED_IN_BETWEEN, str(tmp_path / "log.db"), key(3).id])
    assert killed.returncode == -signal.SIGKILL
    assert 3 in found(tmp_path, range(SESSIONS))
    assert len(traces(tmp_path)) == 1
    assert fresh.read(key(3)) == []
    assert eventually(lambda: not traces(tmp_path))
    assert found(tmp_path, range(SESSIONS)) == set(range(SESSIONS)) - {3}
    log.close()
    fresh.close()


def test_closing_leaves_traces_to_the_next_process(tmp_path: Path) -> None:
    log = SqliteLog(tmp_path / "log.db", readers_seconds=0.1)
    fill(log, 0)
    with closing(sqlite3.connect(tmp_path / "log.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchall()
        with pytest.raises(StoreUnavailable):
            log.forget(key(3))
        log.close()
        assert len(traces(tmp_path)) == 1
    log = SqliteLog(tmp_path / "log.db")
    assert log.forget(key(3)) == 0
    assert not traces(tmp_path)
    assert 3 not in found(tmp_path, range(SESSIONS))
    log.close()


def traces(directory: Path) -> list[bytes]:
    """The notes that traces are to be removed."""
    with closing(sqlite3.connect(directory / "log.db")) as connection:
        return [note for (note,) in connection.execute("SELECT id FROM traces")]
