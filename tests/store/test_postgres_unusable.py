"""PostgreSQL servers, databases and roles that the store cannot use, and what is said of them."""

from __future__ import annotations

import socket

import psycopg
import pytest

from tests.store.postgres_database import Database, turns, written
from tokenmizer_mw.errors import ConfigError, StoreUnavailable
from tokenmizer_mw.model.event import Derived
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.log import Snapshot
from tokenmizer_mw.store.open import open_log
from tokenmizer_mw.store.postgres_driver import ERRORS, translate

KEY = SessionKey("tenant", "session")


def test_where_nothing_answers_the_store_is_unavailable_at_once(database: Database) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    log = database.log(port=port, timeout=60)
    for call in (lambda: log.read(KEY), lambda: log.append(KEY, turns(1), expected_seq=0), lambda: log.forget(KEY)):
        with pytest.raises(StoreUnavailable, match="cannot be reached") as caught:
            call()
        assert "127.0.0.1" not in str(caught.value)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
    log.close()


def test_a_server_that_says_nothing_is_given_up(database: Database) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        log = database.log(port=server.getsockname()[1], timeout=0.2)
        with pytest.raises(StoreUnavailable, match="did not answer in time"):
            log.read(KEY)
        log.close()


@pytest.mark.parametrize(
    ("url", "error", "sentence"),
    [
        ("{server}_that_is_not_there", StoreUnavailable, "has no database of this name (3D000)"),
        ("postgresql://nobody_here@{place}", StoreUnavailable, "refuses the role or its password (28"),
        ("{server}?target_session_attrs=nonsense", ConfigError, "the driver cannot read the address"),
        ("postgresql:///test?port=nonsense", ConfigError, "the driver cannot read the address"),
    ],
)
def test_an_address_that_leads_nowhere(url: str, error: type[Exception], sentence: str, database: Database) -> None:
    log = open_log(url.format(server=database.server.partition("?")[0], place=database.server.partition("@")[2]))
    with pytest.raises(error) as caught:
        log.read(KEY)
    assert sentence in str(caught.value)
    log.close()


def test_a_role_that_may_only_read_can_read(database: Database) -> None:
    written(database, turns(2))
    role = f"{database.schema}_reader"
    database.fetch(f"CREATE ROLE {role} LOGIN")
    try:
        database.fetch(f"GRANT USAGE ON SCHEMA {{schema}} TO {role}")
        database.fetch(f"GRANT SELECT ON ALL TABLES IN SCHEMA {{schema}} TO {role}")
        log = database.log(user=role)
        assert len(log.read(KEY)) == 2
        for call in (lambda: log.append(KEY, turns(1), expected_seq=2), lambda: log.forget(KEY)):
            with pytest.raises(StoreUnavailable, match=r"the role may not do this \(42501\)"):
                call()
        log.close()
    finally:
        database.fetch(f"DROP OWNED BY {role}")
        database.fetch(f"DROP ROLE {role}")


def test_a_role_that_does_not_own_the_tables_can_do_all_but_vacuum(database: Database) -> None:
    written(database, turns(2))
    role = f"{database.schema}_writer"
    database.fetch(f"CREATE ROLE {role} LOGIN")
    try:
        database.fetch(f"GRANT USAGE ON SCHEMA {{schema}} TO {role}")
        database.fetch(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {{schema}} TO {role}")
        database.fetch(f"REVOKE INSERT, UPDATE, DELETE ON {{schema}}.installation FROM {role}")
        log = database.log(user=role)
        assert log.append(KEY, turns(1), expected_seq=2)[0].seq == 3
        assert log.append(SessionKey("tenant", "new"), turns(1), expected_seq=0)[0].seq == 1
        (end,) = log.read(KEY, after=2)
        assert log.keep_snapshot(KEY, Snapshot(3, end.recorded_at, 1, b"x"))
        assert log.rewrite(KEY, lambda old: Derived(9)) == 3
        assert log.snapshot(KEY) is None
        assert log.forget(KEY) == 4
        log.close()
        log = database.log(user=role, erase="full")
        with pytest.raises(StoreUnavailable, match="does not own the tables: erased, but its traces stay"):
            log.forget(SessionKey("tenant", "new"))
        assert log.sessions("tenant") == []
        log.close()
    finally:
        database.fetch(f"DROP OWNED BY {role}")
        database.fetch(f"DROP ROLE {role}")


@pytest.mark.parametrize("state", ERRORS)
def test_every_translation_is_one_of_ours(state: str) -> None:
    kind, cause, sentence = ERRORS[state]
    error = psycopg.DatabaseError("secret words of the server")
    error.sqlstate = state.ljust(5, "0")
    found = translate(error)
    assert isinstance(found, kind)
    assert str(found) == f"PostgreSQL: {sentence} ({error.sqlstate})"
    assert found.cause == cause


def test_what_has_no_translation_is_unavailable() -> None:
    error = psycopg.DatabaseError("secret words of the server")
    error.sqlstate = "ZZ999"
    assert str(translate(error)) == "PostgreSQL: cannot be used (ZZ999)"
