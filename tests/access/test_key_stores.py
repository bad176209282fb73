"""What every store of keys must do."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from tests import services
from tests.store.postgres_database import Database
from tokenmizer_mw.errors import CallerError, ConfigError, StoreCorrupt, StoreUnavailable
from tokenmizer_mw.model.event import Derived
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.server.access.key_store import ListedKeys, MemoryKeys, keys_from_text, listed_keys
from tokenmizer_mw.server.access.keyring import open_keys
from tokenmizer_mw.server.access.keys import Key
from tokenmizer_mw.store.open import open_log

from .conftest import MakeStore, made


def test_nothing_is_kept_at_first(make_store: MakeStore) -> None:
    store = make_store()
    assert list(store.all_keys()) == []
    assert store.revoke("none", 5.0) is False


def test_what_is_kept_comes_back(make_store: MakeStore) -> None:
    tenants = ["acme", "ümläut 日本", "'; DROP TABLE access_keys; --"]
    keys = [made(tenant, ("chat", "read"), created_at=float(at))[1] for at, tenant in enumerate(tenants)]
    ending = made("acme", ("admin",), created_at=9.0, expires_at=12.5)[1]
    store = make_store()
    for key in (ending, *keys):
        store.add(key)
    assert list(store.all_keys()) == [*keys, ending]
    assert list(make_store().all_keys()) == [*keys, ending]


def test_one_of_its_kind(make_store: MakeStore) -> None:
    store = make_store()
    _, key = made()
    store.add(key)
    _, other = made()
    same_id = Key(key.id, "acme", other.digest, key.scopes, 0.0)
    same_digest = Key(other.id, "acme", key.digest, key.scopes, 0.0)
    for again in (key, same_id, same_digest):
        with pytest.raises(ConfigError, match="kept already"):
            store.add(again)
    assert list(store.all_keys()) == [key]


def test_revoking(make_store: MakeStore) -> None:
    store = make_store()
    (_, key), (_, other) = made(created_at=1.0), made(created_at=2.0)
    store.add(key)
    store.add(other)
    assert store.revoke(key.id, 50.0) is True
    assert store.revoke(key.id, 99.0) is True
    assert store.revoke("unknown", 50.0) is False
    assert [key.revoked_at for key in make_store().all_keys()] == [50.0, None]


def test_many_threads_add(make_store: MakeStore) -> None:
    store = make_store()
    keys = [made()[1] for _ in range(8)]
    threads = [threading.Thread(target=store.add, args=(key,)) for key in keys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {key.id for key in store.all_keys()} == {key.id for key in keys}


def test_a_key_that_cannot_be_is_not_kept(make_store: MakeStore) -> None:
    store = make_store()
    with pytest.raises(ConfigError):
        store.add(Key("k", "", bytes(32), frozenset({"chat"}), 0.0))
    assert list(store.all_keys()) == []


# Where they lie.


def test_keys_lie_beside_the_sessions(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'both.db'}"
    log, store = open_log(url), open_keys(url)
    log.append(SessionKey("acme", "s"), [Derived(1)], expected_seq=0)
    written, key = made()
    store.add(key)
    log.append(SessionKey("acme", "s"), [Derived(2)], expected_seq=1)
    assert list(store.all_keys()) == [key]
    log.close()
    store.close()
    assert (tmp_path / "both.db").stat().st_mode & 0o777 == 0o600
    assert all(written.encode() not in path.read_bytes() for path in tmp_path.iterdir())


def test_keys_lie_beside_the_sessions_in_postgres() -> None:
    database = Database(services.postgres())
    try:
        store, log = open_keys(database.url()), database.log()
        _, key = made()
        store.add(key)
        log.append(SessionKey("acme", "s"), [Derived(1)], expected_seq=0)
        assert list(store.all_keys()) == [key]
        database.terminate_all()
        assert list(store.all_keys()) == [key]
        log.close()
        store.close()
    finally:
        database.drop()


def test_closed_stores(tmp_path: Path) -> None:
    for store in (open_keys(f"sqlite:///{tmp_path / 'k.db'}"), open_keys("postgresql://nobody@127.0.0.1:1/none")):
        store.close()
        store.close()
        with pytest.raises(StoreUnavailable):
            store.all_keys()


def test_unreachable_stores(tmp_path: Path) -> None:
    for url in (f"sqlite:///{tmp_path / 'no' / 'such' / 'k.db'}", "postgresql://nobody@127.0.0.1:1/none"):
        store = open_keys(url)
        with pytest.raises(StoreUnavailable):
            store.all_keys()
        store.close()


def test_damaged_rows(tmp_path: Path) -> None:
    path = tmp_path / "k.db"
    store = open_keys(f"sqlite:///{path}")
    store.add(made()[1])
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE access_keys SET created_at = 'yesterday'")
    connection.close()
    with pytest.raises(StoreCorrupt):
        store.all_keys()
    store.close()


@pytest.mark.parametrize("url", ["", "mysql://secret@host/db", "memory://x", "sqlite://x", "nonsense"])
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        open_keys(url)
    assert "secret" not in str(refused.value)


# Keys in a configuration.


def test_listed_keys() -> None:
    _, key = made()
    digest = key.digest.hex()
    text = f"[{{tenant: acme, sha256: '{digest}', id: ci, scopes: 'chat, read', expires: 2027-01-31}}]"
    (listed,) = keys_from_text(text).all_keys()
    assert (listed.id, listed.tenant, listed.digest) == ("ci", "acme", key.digest)
    assert (listed.scopes, listed.expires_at) == (frozenset({"chat", "read"}), 1801353600.0)
    (plain,) = listed_keys([{"tenant": "acme", "sha256": digest}]).all_keys()
    assert (plain.id, plain.scopes) == (digest[:12], frozenset({"chat", "read", "write", "erase"}))


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ("tenant: acme", "expected a list"),
        ("[acme]", "entry 1: expected a mapping"),
        ("[{tenant: acme}]", "entry 1: sha256 is"),
        ("[{tenant: acme, sha256: abc}]", "entry 1: sha256 is"),
        ("[{tenant: 5, sha256: 'DIGEST'}]", "entry 1: tenant is a text"),
        ("[{tenant: acme, sha256: 'DIGEST', scope: chat}]", "entry 1: unknown: scope; known: expires, id"),
        ("[{tenant: acme, sha256: 'DIGEST', scopes: [all]}]", "entry 1: scopes are"),
        ("[{tenant: acme, sha256: 'DIGEST', scopes: 5}]", "entry 1: scopes is a list"),
        ("[{tenant: acme, sha256: 'DIGEST', expires: soon}]", "entry 1: expires is"),
        ("[{tenant: a, sha256: 'DIGEST'}, {tenant: b, sha256: 'DIGEST'}]", "key a+ is kept already"),
        ("[", "not readable as YAML"),
    ],
)
def test_lists_that_are_wrong_say_where(entries: str, says: str) -> None:
    with pytest.raises(ConfigError, match=f"keys.yaml: {says}"):
        keys_from_text(entries.replace("DIGEST", "a" * 64), "keys.yaml")


def test_listed_keys_are_changed_where_they_are_listed() -> None:
    _, key = made()
    store = ListedKeys([key])
    with pytest.raises(CallerError, match="configuration"):
        store.add(made()[1])
    with pytest.raises(CallerError, match="configuration"):
        store.revoke(key.id, 5.0)
    store.close()


def test_keys_in_memory_are_of_this_object() -> None:
    _, key = made()
    assert list(MemoryKeys([key]).all_keys()) == [key]
    assert list(open_keys("memory://").all_keys()) == []
