"""What every store of answers does, wherever it keeps them."""

from __future__ import annotations

import sqlite3
import struct
import threading
from contextlib import closing
from pathlib import Path

import pytest

from tests.cache.conftest import Clock, MakeStore
from tokenmizer_mw.errors import ConfigError, StoreError
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.saving.cache.answers import open_answers
from tokenmizer_mw.saving.cache.stores import CacheHit, Entry, Holdings, ProcessAnswers
from tokenmizer_mw.saving.cache.stores.redis import RedisAnswers
from tokenmizer_mw.saving.cache.stores.sqlite import SqliteAnswers
from tokenmizer_mw.settings import Settings

ALICE, BOB = SessionKey("acme", "alice"), SessionKey("zeta", "bob")
PART = b"p" * 32


def entry(
    name: str, clock: Clock, *, owner: SessionKey = ALICE, size: int = 100, part: bytes = b"", seconds: float = 60
) -> Entry:
    vector = struct.pack("<2f", 0.6, 0.8) if part else b""
    question = f"What is {name}?\0\ud800" if part else ""
    return Entry(name.encode().ljust(32), owner, b"a" * size, clock.now + seconds, part, question, vector)


def key(name: str) -> bytes:
    return name.encode().ljust(32)


def test_what_is_kept_is_found(make_store: MakeStore, clock: Clock) -> None:
    store = make_store(1_000_000)
    assert store.get(key("one")) is None
    store.put(entry("one", clock, size=7))
    store.put(Entry(key("two"), BOB, bytes(range(256)), clock.now + 60))
    assert store.get(key("one")) == CacheHit(b"a" * 7, "")
    assert store.get(key("two")) == CacheHit(bytes(range(256)), "")
    assert store.get(key("three")) is None


def test_the_newest_answer_of_a_key_counts(make_store: MakeStore, clock: Clock) -> None:
    store = make_store(1_000_000)
    store.put(entry("one", clock, size=7))
    store.put(entry("one", clock, size=9, owner=BOB))
    found = store.get(key("one"))
    assert found is not None and len(found.answer) == 9
    assert store.holdings().entries == 1
    assert store.purge("acme") == 0 and store.purge("zeta") == 1


def test_an_answer_has_its_time(make_store: MakeStore, clock: Clock) -> None:
    store = make_store(1_000_000)
    store.put(entry("short", clock, seconds=10))
    store.put(entry("long", clock, seconds=1_000))
    clock.now += 10
    assert store.get(key("short")) is None
    assert store.get(key("long")) is not None
    assert store.holdings().entries == 1
    store.put(entry("next", clock))
    assert store.holdings().entries == 2


def test_the_longest_unused_gives_way(make_store: MakeStore, clock: Clock) -> None:
    one = entry("a", clock).size
    store = make_store(3 * one)
    for name in "abc":
        store.put(entry(name, clock, seconds=10_000))
        clock.now += 100
    assert store.get(key("a")) is not None
    clock.now += 100
    store.put(entry("d", clock))
    assert [name for name in "abcd" if store.get(key(name)) is not None] == ["a", "c", "d"]
    assert store.holdings() == Holdings(3, 3 * one)


def test_never_more_bytes_than_allowed(make_store: MakeStore, clock: Clock) -> None:
    store = make_store(3_000)
    for number in range(30):
        store.put(entry(f"n{number}", clock, size=100 + 37 * number))
        clock.now += 1
        assert store.holdings().bytes <= 3_000
    store.put(entry("huge", clock, size=3_001))
    assert store.get(key("huge")) is None
    assert store.holdings().entries > 0


def test_questions_of_a_partition_in_their_order(make_store: MakeStore, clock: Clock) -> None:
    store = make_store(1_000_000)
    for name in ("x1", "x2", "x3", "x4"):
        store.put(entry(name, clock, part=PART))
    store.put(entry("other", clock, part=b"q" * 32))
    store.put(entry("plain", clock))
    first = store.vectors(PART, 0, 3)
    assert [one.key for one in first] == [key("x1"), key("x2"), key("x3")]
    assert first[0].vector == struct.pack("<2f", 0.6, 0.8)
    assert [one.place for one in first] == sorted({one.place for one in first})
    rest = store.vectors(PART, first[-1].place, 10)
    assert [one.key for one in rest] == [key("x4")]
    assert store.vectors(PART, rest[-1].place, 10) == []
    assert store.vectors(b"", 0, 10) == [] and store.vectors(b"z" * 32, 0, 10) == []
    store.put(entry("x2", clock, part=PART))
    assert [one.key for one in store.vectors(PART, rest[-1].place, 10)] == [key("x2")]
    found = store.get(key("x1"))
    assert found is not None and found.question.startswith("What is x1?")


def test_a_tenant_or_a_session_is_forgotten(make_store: MakeStore, clock: Clock) -> None:
    store = make_store(1_000_000)
    anna = SessionKey("acme", "anna")
    for name, owner in (("one", ALICE), ("two", ALICE), ("three", anna), ("four", BOB)):
        store.put(entry(name, clock, owner=owner, part=PART))
    assert store.holdings("acme").entries == 3
    assert store.purge("acme", "alice") == 2
    assert store.purge("acme", "alice") == 0
    assert [name for name in ("one", "two", "three", "four") if store.get(key(name))] == ["three", "four"]
    assert [one.key for one in store.vectors(PART, 0, 9)] == [key("three"), key("four")]
    assert store.purge("acme") == 1 and store.purge("nobody") == 0
    assert store.holdings("zeta").entries == 1 and store.holdings("acme") == Holdings(0, 0)


def test_threads_share_a_store(make_store: MakeStore, clock: Clock) -> None:
    store = make_store(1_000_000)
    failures: list[BaseException] = []

    def work(worker: int) -> None:
        try:
            for number in range(15):
                store.put(entry(f"{worker}-{number}", clock, part=PART))
                assert store.get(key(f"{worker}-{number}")) is not None
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert store.holdings().entries == 60 == len(store.vectors(PART, 0, 100))


def test_closing_twice_is_harmless(make_store: MakeStore, clock: Clock) -> None:
    store = make_store(1_000)
    store.put(entry("one", clock))
    store.close()
    store.close()


def test_processes_share_what_lies_outside(make_store: MakeStore, clock: Clock) -> None:
    one, other = make_store(1_000_000), make_store(1_000_000)
    if isinstance(one, ProcessAnswers):
        pytest.skip("answers of a process are its own")
    one.put(entry("one", clock, part=PART))
    assert other.get(key("one")) is not None
    assert [found.key for found in other.vectors(PART, 0, 9)] == [key("one")]
    assert other.purge("acme", "alice") == 1
    assert one.get(key("one")) is None


def test_nothing_of_what_was_purged_stays_in_the_file(tmp_path: Path, clock: Clock) -> None:
    store = SqliteAnswers(str(tmp_path / "answers.db"), 10_000_000, clock=clock)
    told = b"told in confidence"
    for number in range(50):
        store.put(Entry(key(str(number)), ALICE, told * 40, clock.now + 60))
    store.put(Entry(key("other"), BOB, b"of somebody else", clock.now + 60))
    store.purge("acme", "alice")
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    store.close()
    assert told not in files and b"of somebody else" in files


def test_an_answer_is_found_while_others_write(tmp_path: Path, clock: Clock) -> None:
    """Neither a transaction of another process nor the rewriting behind a purge holds up who looks for an answer."""
    path = tmp_path / "answers.db"
    store = SqliteAnswers(str(path), 10_000_000, clock=clock)
    store.put(entry("one", clock, seconds=100_000))
    clock.now += 10_000  # so long that the use would be noted
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        asking = threading.Thread(target=store.get, args=(key("one"),))
        asking.start()
        asking.join(timeout=3.0)
        assert not asking.is_alive()
        other.execute("ROLLBACK")
    store.close()


def test_an_answer_is_found_while_a_purge_waits_for_a_reader(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "answers.db"
    store = SqliteAnswers(str(path), 10_000_000, clock=clock)
    store.put(entry("gone", clock))
    store.put(entry("one", clock, owner=BOB))
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM answers").fetchone()
        purging = threading.Thread(target=store.purge, args=("acme",))
        purging.start()
        while store.get(key("gone")) is not None:
            pass
        assert store.get(key("one")) is not None and purging.is_alive()
        reader.execute("COMMIT")
    purging.join(timeout=60)
    assert not purging.is_alive() and store.holdings().entries == 1
    store.close()


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    path.write_bytes(b"no database at all" * 100)
    store = SqliteAnswers(str(path), 1_000)
    with pytest.raises(StoreError, match=r"answers\.db"):
        store.get(key("one"))
    store.close()


def test_a_redis_that_is_not_there() -> None:
    store = RedisAnswers("redis://127.0.0.1:1/0", 1_000)
    with pytest.raises(StoreError, match="does not answer"):
        store.get(key("one"))
    store.close()


@pytest.mark.parametrize("url", ["", "store", "mysql://user:hidden@host/db", "redis://host:no/0", "sqlite://x.db"])
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        open_answers(Settings(cache="exact", cache_url=url))
    assert "hidden" not in str(refused.value)


def test_addresses(tmp_path: Path, postgres_url: str) -> None:
    for url, beside in (
        ("memory://", ""),
        ("store", f"sqlite:///{tmp_path}/sessions.db?synchronous=full"),
        (f"sqlite:///{tmp_path}/answers.db", ""),
        (postgres_url, ""),
    ):
        store = open_answers(Settings(cache="exact", cache_url=url), beside)
        assert store.holdings() == Holdings(0, 0)
        store.close()
