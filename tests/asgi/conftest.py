"""Memory over a log that tests can look into."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.memory import MemoryLog


@pytest.fixture
def log() -> MemoryLog:
    return MemoryLog()


@pytest.fixture
def open_memory(log: MemoryLog) -> Iterator[Callable[..., SessionMemory]]:
    """Opens memories with changed settings, over ``log`` or another one; all are closed at the end."""
    opened: list[SessionMemory] = []

    def open_one(*, log: Any = log, kind: type[SessionMemory] = SessionMemory, **changes: Any) -> SessionMemory:
        opened.append(kind(log, Settings(**changes)))
        return opened[-1]

    yield open_one
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: Callable[..., SessionMemory]) -> SessionMemory:
    return open_memory()
