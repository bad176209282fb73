"""Roles that have exactly the rights which docs/postgres.md grants them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.access.conftest import made
from tests.savings.calling import answered, asked, call
from tests.store.postgres_database import Database
from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.errors import StoreUnavailable
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.saving.cache.stores import Entry
from tokenmizer_mw.saving.cache.stores.postgres import PostgresAnswers
from tokenmizer_mw.server.access.postgres_keys import PostgresKeys
from tokenmizer_mw.store import postgres_address
from tokenmizer_mw.store.log import PassageRows, Snapshot

PAGE = Path(__file__).parents[2] / "docs" / "postgres.md"
SETTINGS = Settings(savings=True, stages="structure,rules")
FOREVER = 4_000_000_000.0
OWN_TABLES = ("answers", "access_keys")

GrantRole = Callable[[str], str]


@pytest.fixture
def owned(database: Database) -> Database:
    """A schema whose owner has recorded two sessions, a call, a cached response and a key of a server."""
    with closing(SessionMemory.open(database.url(), SETTINGS)) as memory:
        call(memory, asked([{"role": "user", "content": "We decided on PostgreSQL."}]), answered(), session="one")
        memory.record("two", [{"role": "user", "content": "We decided on Redis for the queue."}])
    store_answer(database.url(), b"1" * 32)
    keys = PostgresKeys(address_of(database.url()))
    keys.add(made()[1])
    keys.close()
    return database


@pytest.fixture
def grant_role(owned: Database) -> Iterator[GrantRole]:
    """Makes a role with the rights that the page grants to the role ``name``, and returns its name in the server."""
    roles: list[str] = []

    def grant(name: str) -> str:
        [block] = [sql for sql in re.findall(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL) if f"TO {name};" in sql]
        role = f"{owned.schema}_{name}"
        owned.fetch(f"CREATE ROLE {role} LOGIN")
        roles.append(role)
        statements = block.replace("tokenmizer.", "{schema}.").replace("SCHEMA tokenmizer ", "SCHEMA {schema} ")
        for statement in statements.replace(f"TO {name};", f"TO {role};").strip().split(";\n"):
            owned.fetch(statement.rstrip(";"))
        return role

    yield grant
    for role in roles:
        owned.fetch(f"DROP OWNED BY {role}")
        owned.fetch(f"DROP ROLE {role}")


def address_of(url: str) -> postgres_address.Address:
    return postgres_address.parse(url.partition("://")[2])


def store_answer(url: str, key: bytes) -> None:
    answers = PostgresAnswers(address_of(url), 1_000_000)
    try:
        answers.put(Entry(key, SessionKey("local", "one"), b"an answer", FOREVER))
        assert answers.get(key) is not None
    finally:
        answers.close()


def test_a_worker_does_all_that_the_page_promises(owned: Database, grant_role: GrantRole) -> None:
    role = grant_role("worker")
    with closing(SessionMemory.open(owned.url(user=role), SETTINGS)) as memory:
        question = [{"role": "user", "content": "We decided on SQLite for the tests."}]
        call(memory, asked(question), answered("Noted."), session="three")
        assert memory.record("two", [{"role": "user", "content": "Never push to main."}]) == 1
        assert "Redis" in memory.resume("two").text
        memory.checkpoint("two")
        newest = memory.log.read(SessionKey("local", "two"))[-1]
        rows = PassageRows(newest.seq, newest.recorded_at, "model", {b"p" * 16: b"vector"})
        assert memory.log.keep_passage_rows(SessionKey("local", "two"), rows, most=10)
        snapshot = Snapshot(newest.seq, newest.recorded_at, 1, b"state")
        assert memory.log.keep_snapshot(SessionKey("local", "two"), snapshot)
        assert memory.savings("three").whole.calls == 1
        assert memory.savings(by="session").whole.calls == 2
        assert memory.forget("three") and memory.forget("two")
        assert memory.savings().whole.calls == 2
        assert [info.key.id for info in memory.sessions()] == ["one"]


def test_a_worker_uses_the_tables_of_the_cache_and_of_keys_once_they_are_there(
    owned: Database, grant_role: GrantRole
) -> None:
    role = grant_role("worker")
    url = owned.url(user=role)
    keys = PostgresKeys(address_of(url))
    with pytest.raises(StoreUnavailable, match="42501"):
        store_answer(url, b"2" * 32)
    with pytest.raises(StoreUnavailable, match="42501"):
        keys.add(made()[1])
    for table in OWN_TABLES:
        owned.fetch(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {{schema}}.{table} TO {role}")
    store_answer(url, b"2" * 32)
    added = made()[1]
    keys.add(added)
    assert keys.revoke(added.id, 5.0) and len(keys.all_keys()) == 2
    keys.close()


def test_full_erasure_needs_every_table(owned: Database, grant_role: GrantRole) -> None:
    """PostgreSQL only warns of a table that the role may not vacuum."""
    role = grant_role("worker")
    for table in ("sessions", "events", "snapshots", "passages", "calls"):
        owned.fetch(f"ALTER TABLE {{schema}}.{table} OWNER TO {role}")
    full = SessionMemory.open(owned.url(user=role, erase="full"), SETTINGS)
    with closing(full) as memory, pytest.raises(StoreUnavailable, match="does not own the tables"):
        memory.forget("two")


def test_a_reader_reads_and_changes_nothing(owned: Database, grant_role: GrantRole) -> None:
    role = grant_role("reader")
    with closing(SessionMemory.open(owned.url(user=role), SETTINGS)) as memory:
        assert {info.key.id for info in memory.sessions()} == {"one", "two"}
        assert "Redis" in memory.resume("two").text
        assert memory.recall("two", "queue").text
        assert len(memory.messages("one")) == 2
        assert memory.savings().whole.calls == memory.savings("one").whole.calls == 1
        with pytest.raises(StoreUnavailable, match="42501"):
            memory.record("two", [{"role": "user", "content": "Never push to main."}])
        with pytest.raises(StoreUnavailable, match="42501"):
            memory.forget("two")
    with closing(SessionMemory.open(owned.url())) as memory:
        assert {info.key.id for info in memory.sessions()} == {"one", "two"}


@pytest.mark.parametrize("name", ["worker", "reader"])
def test_every_role_needs_the_table_with_the_secret(owned: Database, grant_role: GrantRole, name: str) -> None:
    role = grant_role(name)
    owned.fetch(f"REVOKE ALL ON {{schema}}.installation FROM {role}")
    with pytest.raises(StoreUnavailable, match="42501"):
        SessionMemory.open(owned.url(user=role))
