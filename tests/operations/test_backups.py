"""Backups: made in use, verified, taken back into any store, known to whoever erases."""

from __future__ import annotations

import sqlite3
import stat
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.errors import CallerError, StoreError
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.operations.backups import (
    record_backup,
    recorded_backups,
    remove_from_record,
    restore_backup,
    sessions_of,
    write_backup,
)
from tokenmizer_mw.operations.erasure import erase, expire
from tokenmizer_mw.operations.exports import BACKUPS_TENANT
from tokenmizer_mw.store.sqlite import SqliteLog

from .conftest import OpenMemory
from .test_imports import CHAT

NOW = 1_800_000_000.0
SECRET_WORD = "zebrafinch"
KINDS = ("sqlite", "lines")


def filled(memory: SessionMemory) -> SessionMemory:
    memory.record("hall/1", CHAT)
    memory.record("private", [{"role": "user", "content": f"We use {SECRET_WORD} for the queue."}])
    memory.record("hall/1", CHAT[:2], tenant="other")
    return memory


def contents(memory: SessionMemory) -> dict[SessionKey, object]:
    log = memory.log
    keys = [info.key for tenant in log.tenants() if tenant != BACKUPS_TENANT for info in log.sessions(tenant)]
    return {key: log.read(key) for key in keys}


@pytest.mark.parametrize("target", ["memory", "second", "postgres"])
@pytest.mark.parametrize("source", ["memory", "first", "postgres"])
def test_what_was_backed_up_comes_back_in_any_store(
    source: str, target: str, open_memory: OpenMemory, tmp_path: Path
) -> None:
    old, new = filled(open_memory(source)), open_memory(target)
    made = write_backup(old.log, tmp_path, now=NOW)
    assert made.form == ("sqlite" if source == "first" else "lines")
    assert made.sessions == 3
    assert Path(made.path).parent == tmp_path
    assert stat.S_IMODE(Path(made.path).stat().st_mode) == 0o600
    found = restore_backup(new.log, Path(made.path))
    assert (found.sessions, found.differ) == (3, ())
    assert contents(new) == contents(old)
    assert new.graph("hall/1").to_dict() == old.graph("hall/1").to_dict()
    assert restore_backup(new.log, Path(made.path)).events == 0
    assert new.record("hall/1", CHAT) == 0


@pytest.mark.parametrize("portable", [False, True])
def test_a_backup_is_made_while_the_store_is_in_use(portable: bool, open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = filled(open_memory("first"))
    stop, failed = threading.Event(), list[BaseException]()

    def write(number: int) -> None:
        try:
            count = 0
            while not stop.is_set():
                count += 1
                memory.record(f"busy {number}", [{"role": "user", "content": f"Fix app/{count}.py"}], later=True)
        except BaseException as error:
            failed.append(error)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(2)]
    for writer in writers:
        writer.start()
    try:
        made = [write_backup(memory.log, tmp_path / f"{n}.bak", now=NOW + n, portable=portable) for n in range(3)]
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert not failed
    for one in made:
        for _, events in sessions_of(Path(one.path)):
            assert [event.seq for event in events] == list(range(1, len(events) + 1))


def test_a_store_that_holds_something_else_keeps_it(open_memory: OpenMemory, tmp_path: Path) -> None:
    old, new = filled(open_memory("first")), open_memory("second")
    new.record("private", [{"role": "user", "content": "Something else."}])
    before = contents(new)
    found = restore_backup(new.log, Path(write_backup(old.log, tmp_path, now=NOW).path))
    assert found.differ == (SessionKey("local", "private"),)
    assert contents(new) == {**contents(old), **before}


def damaged(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    place = raw.rindex(b"PostgreSQL")
    raw[place : place + 4] = b"MyS\x00" if raw.startswith(b"SQLite") else b"MySQ"
    path.write_bytes(bytes(raw))


@pytest.mark.parametrize("harm", [damaged, lambda path: path.write_bytes(path.read_bytes()[:-80])])
def test_nothing_comes_in_from_a_damaged_backup(harm: object, open_memory: OpenMemory, tmp_path: Path) -> None:
    old, new = filled(open_memory("first")), open_memory("second")
    made = Path(write_backup(old.log, tmp_path / "x.jsonl", now=NOW, portable=True).path)
    harm(made)  # type: ignore[operator]
    with pytest.raises(CallerError):
        restore_backup(new.log, made)
    assert contents(new) == {}


def test_a_damaged_database_is_no_backup(open_memory: OpenMemory, tmp_path: Path) -> None:
    made = Path(write_backup(filled(open_memory("first")).log, tmp_path / "x.db", now=NOW).path)
    made.write_bytes(made.read_bytes()[:8_192] + b"\0" * 4_096)
    with pytest.raises(StoreError):
        list(sessions_of(made))
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as foreign:
        foreign.execute("CREATE TABLE x (y)")
    with pytest.raises(StoreError):
        list(sessions_of(other))


@pytest.mark.parametrize("raw", [b"", b"{}\n", b"hello\n", b"\xff\xfe", b'{"tokenmizer_backup": 9}\n'])
def test_a_file_that_is_no_backup_says_so(raw: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(raw)
    with pytest.raises(CallerError, match=str(path)):
        list(sessions_of(path))
    with pytest.raises(CallerError, match="No such file"):
        list(sessions_of(tmp_path / "absent"))


def test_a_backup_never_takes_the_place_of_a_file(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = filled(open_memory("first"))
    (tmp_path / "x").write_text("mine")
    for portable in (False, True):
        with pytest.raises(CallerError, match="exists already"):
            write_backup(memory.log, tmp_path / "x", now=NOW, portable=portable)
    with pytest.raises(CallerError, match="no such directory"):
        write_backup(memory.log, tmp_path / "absent" / "x", now=NOW)
    assert (tmp_path / "x").read_text() == "mine"
    assert recorded_backups(memory.log) == []


@pytest.mark.parametrize("store", ["first", "postgres"])
@pytest.mark.parametrize("portable", [False, True])
def test_erasing_reports_the_backups_that_may_still_hold_the_session(
    store: str, portable: bool, open_memory: OpenMemory, tmp_path: Path
) -> None:
    memory = filled(open_memory(store))
    made = write_backup(memory.log, tmp_path, now=NOW, portable=portable)
    abroad = replace(made, host="another.example", path="/srv/x.db", made_at=NOW - 1)
    record_backup(memory.log, abroad)
    before = Path(made.path).read_bytes()
    gone = erase(memory, "private")
    assert gone.events > 0
    assert set(gone.backups) == {made, abroad}
    assert Path(made.path).read_bytes() == before
    assert {info.key.id for info in memory.sessions()} == {"hall/1"}
    assert erase(memory, "private").backups == ()
    remove_from_record(memory.log, [abroad])
    assert recorded_backups(memory.log) == [made]
    assert erase(memory, "hall/1").backups == (made,)


@pytest.mark.parametrize("store", ["memory", "first", "postgres"])
def test_retention_erases_what_nothing_was_added_to(store: str, open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = filled(open_memory(store))
    made = write_backup(memory.log, tmp_path, now=NOW)
    newest = max(info.updated_at for info in memory.sessions())
    old = {info.key for info in memory.sessions() if info.updated_at < newest}
    assert set(expire(memory, newest, tenants=["local"], dry_run=True).sessions) == old
    assert len(memory.sessions()) == 2
    gone = expire(memory, newest, tenants=["local"])
    assert (set(gone.sessions), gone.backups) == (old, (made,))
    assert [info.updated_at for info in memory.sessions()] == [newest]
    assert set(expire(memory, NOW * 2).sessions) == {SessionKey("local", "private"), SessionKey("other", "hall/1")}
    assert recorded_backups(memory.log) == [made]
    assert len(list(sessions_of(Path(made.path)))) == 3


def test_a_session_that_comes_alive_meanwhile_stays(open_memory: OpenMemory) -> None:
    memory = filled(open_memory("first"))
    log = memory.log
    assert isinstance(log, SqliteLog)
    (before,) = {info.updated_at for info in memory.sessions() if info.key.id == "hall/1"}
    memory.record("hall/1", [*CHAT, {"role": "user", "content": "Fix app/late.py"}])
    assert log.erase([SessionKey("local", "hall/1")], unless_since=before + 1e-6) == []


def test_two_backups_within_one_second_have_two_names(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = filled(open_memory("first"))
    paths = [Path(write_backup(memory.log, tmp_path, now=NOW).path) for _ in range(3)]
    assert [path.name for path in paths] == [f"{paths[0].stem}{end}.db" for end in ("", "-2", "-3")]


def test_what_a_killed_backup_left_is_in_nobodys_way(
    open_memory: OpenMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = filled(open_memory("first"))
    target = tmp_path / "backups" / "chat.db"
    target.parent.mkdir()
    with monkeypatch.context() as patched:
        patched.setattr("os.rename", killed)
        patched.setattr("os.unlink", lambda path: None)
        with pytest.raises(KeyboardInterrupt):
            write_backup(memory.log, target, now=NOW)
    (left,) = target.parent.iterdir()
    assert left.name.startswith(".chat.db.") and left.suffix == ".part"
    assert stat.S_IMODE(left.stat().st_mode) == 0o600
    assert write_backup(memory.log, target, now=NOW).sessions == 3
    assert set(target.parent.iterdir()) == {left, target}


def killed(old: str, new: str) -> None:
    raise KeyboardInterrupt
