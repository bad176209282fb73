"""Stores of answers under test, on the real services."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import services
from tests.store.postgres_database import Database
from tokenmizer_mw.saving.cache.stores import AnswerStore, ProcessAnswers
from tokenmizer_mw.saving.cache.stores.postgres import PostgresAnswers
from tokenmizer_mw.saving.cache.stores.redis import RedisAnswers
from tokenmizer_mw.saving.cache.stores.sqlite import SqliteAnswers
from tokenmizer_mw.store import postgres_address

MakeStore = Callable[[int], AnswerStore]


class Clock:
    """A clock that stands still."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["process", "sqlite", "postgres", "redis"])
def make_store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[MakeStore]:
    """Opens stores of one kind, all of the same answers but for those of a process; they are closed at the end."""
    opened: list[AnswerStore] = []
    make = _makers(request, tmp_path, clock)[request.param]

    def open_one(most: int = 1_000_000) -> AnswerStore:
        opened.append(make(most))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


def _makers(request: pytest.FixtureRequest, folder: Path, clock: Clock) -> dict[str, MakeStore]:
    return {
        "process": lambda most: ProcessAnswers(most, clock=clock),
        "sqlite": lambda most: SqliteAnswers(str(folder / "answers.db"), most, clock=clock),
        "postgres": lambda most: PostgresAnswers(
            postgres_address.parse(request.getfixturevalue("postgres_rest")), most, clock=clock
        ),
        "redis": lambda most: RedisAnswers(
            services.redis(), most, prefix=request.getfixturevalue("redis_prefix"), clock=clock
        ),
    }


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """The address of a schema of the test's own."""
    database = Database(services.postgres())
    yield database.url()
    database.drop()


@pytest.fixture
def postgres_rest(postgres_url: str) -> str:
    return postgres_url.partition("://")[2]


@pytest.fixture
def redis_prefix() -> Iterator[str]:
    """The beginning of the test's own names in Redis."""
    import redis

    prefix = f"test-{secrets.token_hex(6)}"
    yield prefix
    with redis.Redis.from_url(services.redis()) as client:
        for key in client.scan_iter(f"{{{prefix}:cache}}:*"):
            client.delete(key)
