"""A database file that is deleted or replaced while it is in use: what comes later is kept where others find it."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.model.event import Derived
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.sqlite import SqliteLog

KEY = SessionKey("tenant", "session")
OTHER = SessionKey("tenant", "other")


def seen_by_others(path: Path, key: SessionKey) -> list[int]:
    with closing(SqliteLog(path)) as log:
        return [recorded.seq for recorded in log.read(key)]


def delete(path: Path) -> None:
    path.unlink()


def delete_all(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()


def delete_directory(path: Path) -> None:
    shutil.rmtree(path.parent)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store" / "log.db"


@pytest.mark.parametrize("gone", [delete, delete_all, delete_directory])
def test_what_is_appended_after_a_deletion_is_in_a_new_file(
    path: Path, gone: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    with closing(SqliteLog(path)) as log:
        log.append(KEY, [Derived(number) for number in range(200)], expected_seq=0)
        assert len(log.read(KEY)) == 200
        gone(path)
        log.append(OTHER, [Derived(1)], expected_seq=0)
        assert seen_by_others(path, OTHER) == [1]
        assert log.read(KEY) == [] == seen_by_others(path, KEY)
        log.append(KEY, [Derived(1), Derived(2)], expected_seq=0)
        assert [recorded.seq for recorded in log.read(KEY)] == [1, 2] == seen_by_others(path, KEY)
        log.verify()
    (line,) = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert line.startswith(f"the store {path} was deleted while it was in use")


def test_a_read_notices_too(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with closing(SqliteLog(path)) as log:
        log.append(KEY, [Derived(1)], expected_seq=0)
        assert len(log.read(KEY)) == 1
        delete(path)
        assert log.read(KEY) == []
        assert log.forget(KEY) == 0
    assert len(caplog.records) == 1


def test_a_backup_that_is_put_in_the_place_of_the_file_is_what_everybody_sees(
    path: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    backup = tmp_path / "backup.db"
    with closing(SqliteLog(path)) as log:
        log.append(KEY, [Derived(1)], expected_seq=0)
        log.copy(backup)
        log.append(KEY, [Derived(number) for number in range(2, 200)], expected_seq=1)
        os.replace(backup, path)  # its write-ahead log stays, and is that of the file before
        assert [recorded.seq for recorded in log.read(KEY)] == [1]
        log.append(KEY, [Derived(2)], expected_seq=1)
        assert seen_by_others(path, KEY) == [1, 2]
        log.verify()
    assert seen_by_others(path, KEY) == [1, 2]
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith(f"the store {path} was replaced by another file")


def test_each_deletion_is_counted(path: Path) -> None:
    seen: list[str] = []
    with closing(SqliteLog(path)) as log:
        log.when_replaced(lambda: seen.append("gone"))
        for number in range(3):
            log.append(KEY, [Derived(1)], expected_seq=0)
            log.read(KEY)
            assert len(seen) == number
            delete_all(path)
        log.append(KEY, [Derived(1)], expected_seq=0)
    assert len(seen) == 3


def test_a_memory_goes_on_with_a_new_file(path: Path) -> None:
    said = [{"role": "user", "content": "We use PostgreSQL for the orders."}]
    with SessionMemory.open(f"sqlite:///{path}") as memory:
        memory.record("one", said)
        delete(path)
        said += [{"role": "assistant", "content": "Fine."}, {"role": "user", "content": "The cache is Redis."}]
        memory.record("one", said)
        assert memory.counters()["store_replaced"] == 1
        assert "PostgreSQL" in memory.resume("one").text
        memory.flush()
    with SessionMemory.open(f"sqlite:///{path}") as memory:
        assert [written.message.text for written in memory.messages("one")] == [one["content"] for one in said]
