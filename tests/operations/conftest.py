"""Memories on every kind of store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests import services
from tests.store.postgres_database import Database
from tokenmizer_mw import SessionMemory

OpenMemory = Callable[[str], SessionMemory]


@pytest.fixture
def open_memory(tmp_path: Path) -> Iterator[OpenMemory]:
    """Open a memory: "memory", "postgres" (a schema of its own each time), else a SQLite database of that name."""
    with ExitStack() as stack:

        def address(name: str) -> str:
            if name == "memory":
                return "memory://"
            if name == "postgres":
                database = Database(services.postgres())
                stack.callback(database.drop)
                return database.url()
            return f"sqlite:///{tmp_path / name / 'chat.db'}"

        def open_(name: str) -> SessionMemory:
            found = SessionMemory.open(address(name))
            stack.callback(found.close)
            return found

        yield open_
