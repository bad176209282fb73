"""Several processes on one store, a process that is killed, one that runs out of disk, one without permission."""

from __future__ import annotations

import random
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.store.processes import StartWorker, assert_nothing_lost, hear, run_race, tell
from tests.store.worker import open_at
from tokenmizer_mw.model.event import Derived, MessageRecorded
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.store.sqlite import SqliteLog

KEY = SessionKey("tenant", "session")
KILL_WRITER = Path(__file__).parents[2] / "benchmarks" / "_kill_writer.py"
"""A writer that says what was acknowledged until it is killed; the long run is a benchmark."""


def intact(path: Path) -> bool:
    connection = sqlite3.connect(path)
    (answer,) = connection.execute("PRAGMA integrity_check").fetchone()
    connection.close()
    return bool(answer == "ok")


def test_four_processes_on_one_session_lose_nothing(place: str, start_worker: StartWorker) -> None:
    count = 60
    run_race(lambda name: start_worker("race", place, name, count))
    log = open_at(place)
    assert_nothing_lost(log.read(KEY), count)
    log.close()


def test_each_process_sees_what_the_others_wrote_on_its_next_read(tmp_path: Path, start_worker: StartWorker) -> None:
    log = SqliteLog(tmp_path / "log.db")
    workers = [start_worker("follow", tmp_path / "log.db") for _ in range(3)]
    end = 0
    for _ in range(5):
        for worker in workers:
            tell(worker)
            assert hear(worker) == f"{end} {end + 1}"
            end += 1
            assert len(log.read(KEY)) == end
            end = log.append(KEY, [Derived(end)], expected_seq=end)[0].seq
    log.close()


def test_processes_that_create_the_database_at_once_agree(place: str, start_worker: StartWorker) -> None:
    workers = [start_worker("open_first", place) for _ in range(8)]
    assert [hear(worker) for worker in workers] == ["ready"] * 8
    for worker in workers:
        tell(worker)
    answers = [hear(worker) for worker in workers]
    assert [worker.wait(60) for worker in workers] == [0] * 8
    log = open_at(place)
    assert answers == [f"{log.secret().hex()} 0"] * 8
    log.close()


@pytest.mark.parametrize("synchronous", ["normal", "full"])
def test_what_a_killed_process_acknowledged_is_there(synchronous: str, tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    dice = random.Random(synchronous)
    for _ in range(4):
        command = [sys.executable, str(KILL_WRITER), str(path), synchronous]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            said = [writer.stdout.readline()]
            time.sleep(dice.uniform(0, 0.3))
            writer.kill()
            said += writer.stdout.readlines()
        acknowledged = {name: int(seq) for name, seq in (line.split() for line in said if line.endswith("\n"))}
        assert intact(path)
        log = SqliteLog(path)
        for name, seq in acknowledged.items():
            recorded = log.read(SessionKey(LOCAL_TENANT, name))
            assert len(recorded) >= seq
            assert len(recorded) % 3 == 0, "an append is there in part"
            turns = [each.event.turn for each in recorded if isinstance(each.event, MessageRecorded)]
            assert turns == list(range(1, len(turns) + 1))
        log.close()


def test_a_full_disk_stops_writing_and_nothing_is_lost_or_half_done(tmp_path: Path, start_worker: StartWorker) -> None:
    path = tmp_path / "log.db"
    worker = start_worker("fill", path, 300_000)
    end, readable = map(int, hear(worker).split())
    assert end == readable > 1
    for _ in ("append", "forget"):
        assert hear(worker).startswith(f"StoreUnavailable {path}: the disk ")
    assert hear(worker) == f"{end} {end + 1}"
    assert intact(path)


def test_a_read_only_file_can_be_read_but_not_written(start_worker: StartWorker) -> None:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name).resolve()
        log = SqliteLog(directory / "log.db")
        log.append(KEY, [Derived(1)], expected_seq=0)
        for file in directory.iterdir():
            file.chmod(stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH)
        directory.chmod(0o555)
        worker = start_worker("unprivileged", directory / "log.db")
        assert hear(worker) == "1"
        assert hear(worker) == f"StoreUnavailable {directory}/log.db: is read-only (SQLITE_READONLY)"
        directory.chmod(0o755)
        log.close()


@pytest.mark.parametrize("place", ["log.db", "below/log.db"])
def test_a_directory_that_forbids_writing_is_unavailable(place: str, start_worker: StartWorker) -> None:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name).resolve()
        directory.chmod(0o555)
        worker = start_worker("unprivileged", directory / place)
        for _ in ("read", "append"):
            assert hear(worker) == f"StoreUnavailable {directory / place}: cannot be created (Permission denied)"
        directory.chmod(0o755)


def test_a_log_can_be_used_on_both_sides_of_a_fork(place: str, start_worker: StartWorker) -> None:
    worker = start_worker("fork", place)
    assert hear(worker) == "[0, 0, 0] [1, 2, 3, 4, 5, 6, 7]"
    assert worker.wait(60) == 0
    assert "://" in place or intact(Path(place))
