"""What is particular to the PostgreSQL store: its address, its tables, and what it says when something is wrong."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from tests.store.closing import closed_while_others_write
from tests.store.postgres_database import Database, Holding, turns, written
from tests.waiting import eventually
from tokenmizer_mw.errors import Conflict, StoreCorrupt, StoreError, StoreTooNew
from tokenmizer_mw.model.event import Derived, Event, Recorded, Rewritten
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.open import open_log
from tokenmizer_mw.store.postgres_address import parse
from tokenmizer_mw.store.postgres_connections import Connections
from tokenmizer_mw.store.postgres_driver import connect, quote_schema
from tokenmizer_mw.store.postgres_schema import MIGRATIONS, prepare

KEY = SessionKey("tenant", "session")


# A store that works.


def test_nothing_is_made_before_the_first_use(database: Database) -> None:
    log = database.log()
    assert database.fetch("SELECT FROM pg_namespace WHERE nspname = $1", database.schema) == []
    log.append(KEY, turns(1), expected_seq=0)
    tables = {name for (name,) in database.fetch("SELECT tablename FROM pg_tables WHERE schemaname = '{schema}'")}
    assert tables >= {"sessions", "events", "installation", "snapshots", "passages"}
    log.close()


def test_two_schemas_of_a_database_share_nothing(database: Database) -> None:
    awkward = Database(database.server)
    awkward.schema = quote_schema(f"{database.schema} \"'; --")
    one, other = database.log(), open_log(database.url(schema=f"{database.schema}%20%22%27%3B%20--"))
    one.append(KEY, turns(2), expected_seq=0)
    assert other.read(KEY) == []
    other.append(KEY, turns(3), expected_seq=0)
    assert other.forget(KEY) == 3
    assert len(one.read(KEY)) == 2
    one.close()
    other.close()
    awkward.drop()


def test_the_pool_is_never_larger_than_the_address_says(database: Database) -> None:
    log = database.log(pool=2, application_name=database.schema)
    log.append(KEY, turns(3), expected_seq=0)
    errors: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(10):
                assert len(log.read(KEY)) == 3
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert 1 <= held_connections(database) <= 2
    log.close()


def test_closing_ends_the_threads_and_the_connections(database: Database) -> None:
    log = database.log(application_name=database.schema)
    log.append(KEY, turns(1), expected_seq=0)
    assert held_connections(database) == 1
    log.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("tokenmizer-postgres")]
    wait_for_no_connection(database)


def test_a_connection_that_lies_idle_is_closed_and_the_next_call_has_a_new_one(database: Database) -> None:
    address = parse(database.url(application_name=database.schema).partition("://")[2])
    connections = Connections(address, idle_seconds=0.2)
    for _ in range(2):
        assert connections.select("SELECT 1 + $1::integer", 1) == [(2,)]
        wait_for_no_connection(database)
    connections.close()


def held_connections(database: Database) -> int:
    return len(database.fetch("SELECT FROM pg_stat_activity WHERE application_name = $1", database.schema))


def wait_for_no_connection(database: Database) -> None:
    assert eventually(lambda: not held_connections(database))


def test_closing_while_others_write_loses_nothing_that_was_acknowledged(database: Database) -> None:
    closed_while_others_write(database.log)


def test_appends_that_are_written_together_do_not_harm_each_other(database: Database) -> None:
    damaged, late = SessionKey("tenant", "damaged"), SessionKey("tenant", "late")
    log = database.log(timeout=60)
    log.append(late, turns(3), expected_seq=0)
    log.append(damaged, turns(1), expected_seq=0)
    database.fetch(
        "INSERT INTO {schema}.events SELECT id, 2, 0, 0, 1, 'derived', '{}' FROM {schema}.sessions"
        " WHERE session = 'damaged'"
    )
    outcomes: dict[str, object] = {}

    def work(session: SessionKey, expected_seq: int) -> None:
        try:
            outcomes[session.id] = len(log.append(session, turns(3), expected_seq=expected_seq))
        except StoreError as error:
            outcomes[session.id] = type(error)

    good = [SessionKey("tenant", f"good {number}") for number in range(4)]
    wanted = [*((session, 0) for session in good), (damaged, 1), (late, 0)]
    with Holding(database, "LOCK TABLE {schema}.events IN EXCLUSIVE MODE"):
        threads = [threading.Thread(target=work, args=pair) for pair in wanted]
        for thread in threads:
            thread.start()
            thread.join(0.05)
    for thread in threads:
        thread.join()
    assert outcomes == dict.fromkeys((session.id for session in good), 3) | {"damaged": StoreCorrupt, "late": Conflict}
    assert [len(log.read(session)) for session in good] == [3] * 4
    log.close()


# Rewriting while others write.


def test_rewriting_takes_in_what_is_appended_meanwhile(database: Database) -> None:
    log = database.log()
    log.append(KEY, turns(3), expected_seq=0)
    asked: list[int] = []

    def change(old: Recorded) -> Event | None:
        if not asked:
            log.append(KEY, turns(1), expected_seq=3)
        asked.append(old.seq)
        return Derived(99)

    assert log.rewrite(KEY, change) == 4
    assert asked == [1, 2, 3, 4]
    assert [each.event for each in log.read(KEY)] == [*[Derived(99)] * 4, Rewritten(4)]
    log.close()


def test_rewriting_a_session_that_was_forgotten_meanwhile_brings_nothing_back(database: Database) -> None:
    log = database.log()
    log.append(KEY, turns(3), expected_seq=0)

    def change(old: Recorded) -> Event | None:
        if old.event == Derived(2) and log.forget(KEY):
            log.append(KEY, [Derived(7), Derived(8), Derived(9)], expected_seq=0)
        return Derived(99) if isinstance(old.event, Derived) and old.event.turn < 5 else old.event

    assert log.rewrite(KEY, change) == 0
    assert [each.event for each in log.read(KEY)] == [Derived(7), Derived(8), Derived(9)]
    log.close()


def test_forgetting_waits_for_an_append_that_is_under_way(database: Database) -> None:
    """An append of another process that has not committed when forgetting begins leaves no event behind."""
    log = database.log()
    log.append(KEY, turns(1), expected_seq=0)
    counts: list[int] = []
    thread = threading.Thread(target=lambda: counts.append(log.forget(KEY)))
    with Holding(
        database,
        "UPDATE {schema}.sessions SET seq = 2",
        "INSERT INTO {schema}.events SELECT id, 2, 0, 0, 1, 'derived', '{\"turn\":5}' FROM {schema}.sessions",
    ):
        thread.start()
        waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND position('{schema}' in query) > 0"
        assert eventually(lambda: database.fetch(waiting))
    thread.join()
    assert counts == [2]
    assert database.fetch("SELECT FROM {schema}.events") == []
    log.close()


# What is wrong with the tables, what is raised, and what its message says.


def foreign(database: Database) -> None:
    database.fetch("CREATE SCHEMA {schema}")
    database.fetch("CREATE TABLE {schema}.events (text text)")


def foreign_installation(database: Database) -> None:
    written(database, turns(1))
    database.fetch("UPDATE {schema}.installation SET application = 'another'")


def newer(database: Database) -> None:
    written(database, turns(3))
    database.fetch(f"UPDATE {{schema}}.installation SET version = {len(MIGRATIONS) + 1}")


def newer_event(database: Database) -> None:
    written(database, turns(3))
    database.fetch("UPDATE {schema}.events SET kind = 'telepathy' WHERE seq = 2")


def newer_event_version(database: Database) -> None:
    written(database, turns(3))
    database.fetch("UPDATE {schema}.events SET version = 7 WHERE seq = 2")


def damaged_event(database: Database) -> None:
    written(database, turns(3))
    database.fetch("UPDATE {schema}.events SET payload = '{\"turn\":' WHERE seq = 2")


def lost_table(database: Database) -> None:
    written(database, turns(3))
    database.fetch("DROP TABLE {schema}.events")


def lost_column(database: Database) -> None:
    written(database, turns(3))
    database.fetch("ALTER TABLE {schema}.events DROP COLUMN payload")


def lost_secret(database: Database) -> None:
    written(database, turns(3))
    database.fetch("DELETE FROM {schema}.installation")


BROKEN: dict[Callable[[Database], None], tuple[type[StoreError], str]] = {
    foreign: (StoreCorrupt, "has tables of another application"),
    foreign_installation: (StoreCorrupt, "has tables of another application"),
    newer: (StoreTooNew, "was written by a newer version of tokenmizer-mw (its schema is"),
    newer_event: (StoreTooNew, "'telepathy' version 1 was written by a newer release"),
    newer_event_version: (StoreTooNew, "version 7 was written by a newer release"),
    damaged_event: (StoreCorrupt, "is damaged: event 'derived' version 1 cannot be read"),
    lost_table: (StoreCorrupt, "does not have the tables of a session log (42P01)"),
    lost_column: (StoreCorrupt, "does not have the tables of a session log (42703)"),
    lost_secret: (StoreCorrupt, "has tables of another application"),
}


@pytest.mark.parametrize(("breaking", "raised"), BROKEN.items(), ids=[each.__name__ for each in BROKEN])
def test_a_broken_store_is_refused_in_one_clear_line(
    breaking: Callable[[Database], None], raised: tuple[type[StoreError], str], database: Database
) -> None:
    breaking(database)
    log = database.log()
    error, sentence = raised
    with pytest.raises(error) as caught:
        log.read(KEY)
    assert str(caught.value).startswith("PostgreSQL: ")
    assert sentence in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    log.close()


@pytest.mark.parametrize("breaking", [foreign, newer])
def test_tables_that_are_not_ours_to_change_are_left_alone(
    breaking: Callable[[Database], None], database: Database
) -> None:
    breaking(database)
    before = database.fetch("SELECT tablename FROM pg_tables WHERE schemaname = '{schema}' ORDER BY 1")
    log = database.log()
    calls: tuple[Callable[[], object], ...] = (
        lambda: log.append(KEY, turns(1), expected_seq=0),
        lambda: log.forget(KEY),
        lambda: log.rewrite(KEY, lambda old: None),
    )
    for call in calls:
        with pytest.raises(BROKEN[breaking][0]):
            call()
    log.close()
    assert database.fetch("SELECT tablename FROM pg_tables WHERE schemaname = '{schema}' ORDER BY 1") == before


def test_tables_that_a_newer_release_takes_over_meanwhile_are_not_written(database: Database) -> None:
    log = database.log()
    recorded = log.append(KEY, turns(1), expected_seq=0)
    database.fetch(f"UPDATE {{schema}}.installation SET version = {len(MIGRATIONS) + 1}")
    for _ in range(2):
        with pytest.raises(StoreTooNew, match="newer version"):
            log.append(KEY, turns(1), expected_seq=1)
    assert log.read(KEY) == recorded
    log.close()


def test_a_store_that_is_made_anew_works_again(database: Database) -> None:
    log = database.log()
    log.append(KEY, turns(2), expected_seq=0)
    database.drop()
    with pytest.raises(StoreCorrupt, match="does not have the tables"):
        log.append(KEY, turns(1), expected_seq=2)
    assert len(log.append(KEY, turns(1), expected_seq=0)) == 1
    log.close()


# Migrations.

LATER = (*MIGRATIONS, ("ALTER TABLE {schema}.sessions ADD COLUMN title text NOT NULL DEFAULT 'x'",))


def migrate(database: Database, migrations: tuple[tuple[str, ...], ...]) -> None:
    connection = connect(parse(database.url().partition("://")[2]), time.monotonic() + 60)
    try:
        prepare(connection, migrations)
    finally:
        connection.close()


def test_migrations_are_applied_once_and_keep_what_is_there(database: Database) -> None:
    log = database.log()
    recorded = log.append(KEY, turns(3), expected_seq=0)
    secret = log.secret()
    for _ in range(2):
        migrate(database, LATER)
    assert [tuple(row) for row in database.fetch("SELECT title, seq FROM {schema}.sessions")] == [("x", 3)]
    assert [tuple(row) for row in database.fetch("SELECT version, secret FROM {schema}.installation")] == [
        (len(LATER), secret)
    ]
    assert database.fetch("SELECT count(*) FROM {schema}.events")[0][0] == len(recorded)
    with pytest.raises(StoreTooNew, match=f"its schema is {len(LATER)}, this version reads up to {len(MIGRATIONS)}"):
        migrate(database, MIGRATIONS)
    log.close()


def test_a_migration_that_fails_leaves_the_tables_as_they_were(database: Database) -> None:
    recorded = written(database, turns(3))
    with pytest.raises(StoreCorrupt, match="42703"):
        migrate(database, (*LATER, ("CREATE TABLE {schema}.t (a integer)", "SELECT nonsense")))
    migrate(database, MIGRATIONS)
    assert database.fetch("SELECT FROM pg_tables WHERE schemaname = '{schema}' AND tablename = 't'") == []
    log = database.log()
    assert log.read(KEY) == recorded
    log.close()


def test_tables_of_the_first_schema_are_read(database: Database) -> None:
    migrate(database, MIGRATIONS[:1])
    database.fetch(
        "INSERT INTO {schema}.sessions (tenant, session, seq, created_at, updated_at) VALUES ('tenant','session',1,5,5)"
    )
    database.fetch(
        "INSERT INTO {schema}.events (session, seq, recorded_at, version, kind, payload)"
        " SELECT id, 1, 5.0, 1, 'derived', '{\"turn\":9}' FROM {schema}.sessions"
    )
    log = database.log()
    assert log.read(KEY) == [Recorded(1, 5.0, Derived(9))]
    assert log.append(KEY, turns(1), expected_seq=1)[0].seq == 2
    log.close()
