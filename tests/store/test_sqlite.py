"""What is particular to the SQLite store: its files, its schema, and what it says when something is wrong."""

from __future__ import annotations

import sqlite3
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.store.closing import closed_while_others_write
from tokenmizer_mw.errors import Conflict, StoreCorrupt, StoreError, StoreTooNew, StoreUnavailable
from tokenmizer_mw.model.event import Derived, Event, MessageRecorded, Recorded
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.sqlite import SqliteLog
from tokenmizer_mw.store.sqlite_file import ERRORS, translate
from tokenmizer_mw.store.sqlite_schema import APPLICATION_ID, MIGRATIONS, is_current, migrate

KEY = SessionKey("tenant", "session")


def turns(count: int) -> list[Event]:
    return [Derived(turn) for turn in range(count)]


def messages(count: int) -> list[Event]:
    return [MessageRecorded(turn, "", Message(Role.USER, f"{turn} " * 400)) for turn in range(count)]


def written(path: Path, events: list[Event]) -> list[Recorded]:
    log = SqliteLog(path)
    recorded = log.append(KEY, events, expected_seq=0)
    log.close()
    return recorded


def execute(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement).fetchall()
    connection.close()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_files_are_private_and_made_at_the_first_use(tmp_path: Path) -> None:
    path = tmp_path / "data" / "log.db"
    log = SqliteLog(path)
    assert not path.parent.exists()
    log.append(KEY, turns(1), expected_seq=0)
    assert mode(path.parent) == 0o700
    assert {file.name: mode(file) for file in path.parent.iterdir()} == dict.fromkeys(
        ["log.db", "log.db-wal", "log.db-shm"], 0o600
    )
    log.close()
    assert [file.name for file in path.parent.iterdir()] == ["log.db"]


def test_odd_names_are_paths_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (":memory:", "file:x?mode=memory", "ü #?.db", "~"):
        written(Path(name), turns(2))
        assert (tmp_path / name).exists()


# What is wrong with the file, what is raised, and what its message says.


def foreign(path: Path) -> None:
    execute(path, "CREATE TABLE notes (text)", "INSERT INTO notes VALUES ('mine')")


def newer(path: Path) -> None:
    written(path, turns(3))
    execute(path, f"PRAGMA user_version = {len(MIGRATIONS) + 1}")


def newer_event(path: Path) -> None:
    written(path, turns(3))
    execute(path, "UPDATE events SET kind = 'telepathy' WHERE seq = 2")


def newer_event_version(path: Path) -> None:
    written(path, turns(3))
    execute(path, "UPDATE events SET version = 7 WHERE seq = 2")


def damaged_event(path: Path) -> None:
    written(path, turns(3))
    execute(path, "UPDATE events SET payload = '{\"turn\":' WHERE seq = 2")


def odd_version(path: Path) -> None:
    written(path, turns(3))
    execute(path, "UPDATE events SET version = 'first' WHERE seq = 2")


def not_utf8(path: Path) -> None:
    written(path, turns(3))
    execute(path, "UPDATE events SET payload = CAST(x'7BFF7D' AS TEXT) WHERE seq = 2")


def lost_table(path: Path) -> None:
    written(path, turns(3))
    execute(path, "DROP TABLE events")


def damaged_pages(path: Path) -> None:
    written(path, messages(300))
    content = bytearray(path.read_bytes())
    for start in range(4096, len(content), 4096):
        content[start : start + 2048] = b"\xa5" * 2048
    path.write_bytes(content)


def cut_short(path: Path) -> None:
    written(path, messages(300))
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def directory(path: Path) -> None:
    path.mkdir()


def under_a_file(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_text("not a directory")


def under_nothing(path: Path) -> None:
    path.parent.rmdir()
    path.parent.parent.rmdir()


BROKEN: dict[Callable[[Path], None], tuple[type[StoreError], str]] = {
    foreign: (StoreCorrupt, "is a database of another application"),
    newer: (StoreTooNew, "was written by a newer version of tokenmizer-mw"),
    newer_event: (StoreTooNew, "'telepathy' version 1 was written by a newer release"),
    newer_event_version: (StoreTooNew, "version 7 was written by a newer release"),
    damaged_event: (StoreCorrupt, "is damaged: event 'derived' version 1 cannot be read"),
    odd_version: (StoreCorrupt, "is damaged: event 'derived' has no version"),
    not_utf8: (StoreCorrupt, "is damaged: it holds text that is not UTF-8"),
    lost_table: (StoreCorrupt, "does not have the tables of a session log"),
    damaged_pages: (StoreCorrupt, "is damaged"),
    cut_short: (StoreCorrupt, "is damaged"),
    directory: (StoreUnavailable, "cannot be opened"),
    under_a_file: (StoreUnavailable, "cannot be created (Not a directory)"),
    under_nothing: (StoreUnavailable, "does not exist"),
}


@pytest.mark.parametrize(("breaking", "raised"), BROKEN.items(), ids=[each.__name__ for each in BROKEN])
def test_a_broken_store_is_refused_in_one_clear_line(
    breaking: Callable[[Path], None], raised: tuple[type[StoreError], str], tmp_path: Path
) -> None:
    path = tmp_path / "above" / "data" / "log.db"
    path.parent.mkdir(parents=True)
    breaking(path)
    log = SqliteLog(path)
    error, sentence = raised
    with pytest.raises(error) as caught:
        log.read(KEY)
    assert str(caught.value).startswith(f"{path}: ")
    assert sentence in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    log.close()


@pytest.mark.parametrize("content", [b"hello, world\n" * 400, b"\0" * 8192, b"SQLite format 3\0", b"xy"])
def test_a_file_that_is_no_database_is_refused_and_left_alone(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    path.write_bytes(content)
    log = SqliteLog(path)
    calls: tuple[Callable[[], object], ...] = (
        lambda: log.read(KEY),
        lambda: log.append(KEY, turns(1), expected_seq=0),
        lambda: log.sessions("tenant"),
        lambda: log.forget(KEY),
        lambda: log.rewrite(KEY, lambda old: None),
    )
    for call in calls:
        with pytest.raises(StoreCorrupt, match=r"log\.db: is (not a SQLite database|damaged)"):
            call()
    log.close()
    assert path.read_bytes() == content


@pytest.mark.parametrize("breaking", [foreign, newer])
def test_a_database_that_is_not_ours_to_change_is_left_alone(breaking: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    breaking(path)
    before = path.read_bytes()
    log = SqliteLog(path)
    for call in (lambda: log.append(KEY, turns(1), expected_seq=0), lambda: log.forget(KEY)):
        with pytest.raises(BROKEN[breaking][0]):
            call()
    log.close()
    assert path.read_bytes() == before


def test_a_database_that_a_newer_release_takes_over_meanwhile_is_not_written(tmp_path: Path) -> None:
    log = SqliteLog(tmp_path / "log.db")
    log.append(KEY, turns(1), expected_seq=0)
    execute(tmp_path / "log.db", f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    for _ in range(2):
        with pytest.raises(StoreTooNew, match="newer version"):
            log.append(KEY, turns(1), expected_seq=1)
    log.close()


def test_a_file_locked_by_others_is_unavailable_and_then_available_again(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    written(path, turns(2))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    log = SqliteLog(path, busy_seconds=0.05)
    for call in (lambda: log.append(KEY, turns(1), expected_seq=2), lambda: log.forget(KEY)):
        with pytest.raises(StoreUnavailable, match="is locked by another writer"):
            call()
    assert len(log.read(KEY)) == 2
    other.execute("ROLLBACK")
    other.close()
    assert log.append(KEY, turns(1), expected_seq=2)[0].seq == 3
    log.close()


def test_appends_that_are_committed_together_do_not_harm_each_other(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    damaged, late = SessionKey("tenant", "damaged"), SessionKey("tenant", "late")
    log = SqliteLog(path, busy_seconds=30)
    log.append(late, turns(3), expected_seq=0)
    execute(path, "INSERT INTO events VALUES ('tenant', 'damaged', 2, 0.0, 'derived', 1, '{\"turn\":1}')")
    outcomes: dict[str, object] = {}

    def work(session: SessionKey) -> None:
        try:
            outcomes[session.id] = len(log.append(session, turns(3), expected_seq=0))
        except StoreError as error:
            outcomes[session.id] = type(error)

    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    good = [SessionKey("tenant", f"good {number}") for number in range(4)]
    threads = [threading.Thread(target=work, args=(session,)) for session in (*good[:2], damaged, late, *good[2:])]
    for thread in threads:
        thread.start()
        thread.join(0.02)
    other.execute("ROLLBACK")
    other.close()
    for thread in threads:
        thread.join()
    assert outcomes == dict.fromkeys((session.id for session in good), 3) | {"damaged": StoreCorrupt, "late": Conflict}
    assert [len(log.read(session)) for session in (*good, late)] == [3] * 5
    assert [each.seq for each in log.read(damaged)] == [2]
    log.close()


def test_a_store_that_is_repaired_works_again(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    log = SqliteLog(path)
    path.write_text("no database " * 100)
    with pytest.raises(StoreCorrupt):
        log.append(KEY, turns(1), expected_seq=0)
    path.unlink()
    assert len(log.append(KEY, turns(1), expected_seq=0)) == 1
    log.close()


def test_closing_while_others_write_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    closed_while_others_write(lambda: SqliteLog(tmp_path / "log.db"))


# sqlite3's errors in our words.


def test_every_translation_is_one_of_ours() -> None:
    for kind, _, sentence in ERRORS.values():
        assert issubclass(kind, StoreError)
        assert sentence


def test_a_full_database_is_unavailable(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "log.db")
    connection.execute("PRAGMA max_page_count = 2").fetchall()
    connection.execute("CREATE TABLE t (a)")
    with pytest.raises(sqlite3.OperationalError) as caught:
        connection.execute("INSERT INTO t VALUES (zeroblob(100000))")
    connection.close()
    error = translate(caught.value, "/data/log.db")
    assert isinstance(error, StoreUnavailable)
    assert str(error) == "/data/log.db: the disk is full (SQLITE_FULL)"


def test_an_error_without_a_code_is_translated_too() -> None:
    assert isinstance(translate(sqlite3.ProgrammingError("closed"), "log.db"), StoreUnavailable)
    assert isinstance(translate(sqlite3.OperationalError("Could not decode"), "log.db"), StoreCorrupt)


# Migrations.

LATER = (
    *MIGRATIONS,
    ("ALTER TABLE sessions ADD COLUMN title TEXT NOT NULL DEFAULT ''", "UPDATE sessions SET title = 'x'"),
)


def test_migrations_are_applied_once_and_keep_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    recorded = written(path, turns(3))
    cursor = sqlite3.connect(path, isolation_level=None).cursor()
    assert is_current(cursor, str(path))
    assert not is_current(cursor, str(path), LATER)
    for _ in range(2):
        migrate(cursor, str(path), LATER)
    assert is_current(cursor, str(path), LATER)
    assert cursor.execute("SELECT title, seq FROM sessions").fetchall() == [("x", 3)]
    assert cursor.execute("SELECT count(*) FROM events").fetchone() == (len(recorded),)
    assert cursor.execute("PRAGMA user_version").fetchone() == (len(LATER),)
    assert cursor.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    with pytest.raises(StoreTooNew, match=f"its schema is {len(LATER)}, this version reads up to {len(MIGRATIONS)}"):
        is_current(cursor, str(path))
    cursor.connection.close()


def test_a_migration_that_fails_leaves_the_database_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    recorded = written(path, turns(3))
    cursor = sqlite3.connect(path, isolation_level=None).cursor()
    with pytest.raises(sqlite3.OperationalError):
        migrate(cursor, str(path), (*LATER, ("CREATE TABLE t (a)", "SELECT nonsense")))
    assert is_current(cursor, str(path))
    tables = {name for (name,) in cursor.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert {"sessions", "events", "installation", "snapshots", "passages"} <= tables
    assert "t" not in tables
    cursor.connection.close()
    log = SqliteLog(path)
    assert log.read(KEY) == recorded
    log.close()


def test_a_database_of_the_first_schema_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    execute(
        path,
        *MIGRATIONS[0],
        "INSERT INTO sessions VALUES ('tenant', 'session', 1, 5.0, 5.0)",
        "INSERT INTO events VALUES ('tenant', 'session', 1, 5.0, 'derived', 1, '{\"turn\":9}')",
        "PRAGMA user_version = 1",
        f"PRAGMA application_id = {APPLICATION_ID}",
    )
    log = SqliteLog(path)
    assert log.read(KEY) == [Recorded(1, 5.0, Derived(9))]
    assert log.append(KEY, turns(1), expected_seq=1)[0].seq == 2
    log.close()


def test_a_read_only_directory_is_named_as_the_cause() -> None:
    """Shown with the error itself: for the superuser no directory is read-only."""
    error = sqlite3.OperationalError("attempt to write a readonly database")
    error.sqlite_errorcode = sqlite3.SQLITE_READONLY_DIRECTORY
    error.sqlite_errorname = "SQLITE_READONLY_DIRECTORY"
    assert str(translate(error, "/data/log.db")).startswith("/data/log.db: its directory is read-only")
