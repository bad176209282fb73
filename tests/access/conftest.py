"""Keys made at run time, stores of every kind, and a small application behind a door."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import services
from tests.store.postgres_database import Database
from tokenmizer_mw.server.access.key_store import KeyStore, MemoryKeys
from tokenmizer_mw.server.access.keyring import open_keys
from tokenmizer_mw.server.access.keys import Key, new_key

from .own_redis import OwnRedis

MakeStore = Callable[[], KeyStore]


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    backend: str = request.param
    return backend


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeStore]:
    """Opens the same store each time; what is in memory is one object."""
    database = Database(services.postgres()) if request.param == "postgres" else None
    shared = MemoryKeys()
    opened: list[KeyStore] = []

    def open_one() -> KeyStore:
        if request.param == "memory":
            return shared
        url = database.url() if database is not None else f"sqlite:///{tmp_path / 'keys.db'}"
        opened.append(open_keys(url))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()
    if database is not None:
        database.drop()


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[OwnRedis]:
    """A Redis of the test's own; skips the test where its program is missing."""
    server = OwnRedis(services.program("redis-server"), tmp_path)
    server.start()
    yield server
    server.stop()


def made(tenant: str = "acme", scopes: tuple[str, ...] = ("chat",), **options: Any) -> tuple[str, Key]:
    """A new key and what is kept of it."""
    return new_key(secrets.token_bytes, tenant, scopes, options.pop("created_at", time.time()), **options)


def kept(store: KeyStore, tenant: str = "acme", scopes: tuple[str, ...] = ("chat",), **options: Any) -> str:
    """A new key of the store."""
    written, key = made(tenant, scopes, **options)
    store.add(key)
    return written


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self, now: float = 1_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now
