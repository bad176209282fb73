"""Stores under test, and a worker process that uses one."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import services
from tests.store.postgres_database import Database, Link
from tokenmizer_mw.store.conformance import MakeLog
from tokenmizer_mw.store.log import Clock, EventLog
from tokenmizer_mw.store.memory import MemoryLog
from tokenmizer_mw.store.sqlite import SqliteLog

WORKER = Path(__file__).with_name("worker.py")

StartWorker = Callable[..., subprocess.Popen[str]]


@pytest.fixture(params=["memory", "sqlite", "sqlite-full", "postgres"])
def make_log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeLog]:
    numbers = itertools.count()
    databases: list[Database] = []

    def postgres(clock: Clock) -> EventLog:
        databases.append(Database(services.postgres()))
        return databases[-1].log(clock=clock)

    if request.param == "memory":
        yield MemoryLog
    elif request.param == "postgres":
        services.postgres()
        yield postgres
    else:
        synchronous = "full" if request.param == "sqlite-full" else "normal"
        yield lambda clock: SqliteLog(tmp_path / f"{next(numbers)}.db", clock=clock, synchronous=synchronous)
    for database in databases:
        database.drop()


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The path or address of a lasting store, not made yet."""
    if request.param == "sqlite":
        return str(tmp_path / "data" / "log.db")
    database: Database = request.getfixturevalue("database")
    return database.url(timeout=60)


@pytest.fixture
def database() -> Iterator[Database]:
    """A schema of the test's own in PostgreSQL, not made yet."""
    database = Database(services.postgres())
    yield database
    database.drop()


@pytest.fixture
def link(database: Database) -> Iterator[Link]:
    link = Link(database.server)
    yield link
    link.close()


@pytest.fixture
def start_worker() -> Iterator[StartWorker]:
    """Start ``worker.py`` with a command and its arguments; it talks by lines. Killed at the end of the test."""
    started: list[subprocess.Popen[str]] = []

    def start(command: str, *arguments: object) -> subprocess.Popen[str]:
        line = [sys.executable, str(WORKER), command, *map(str, arguments)]
        process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
