from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.server.api import api

from .hosts import CHAT, starlette, who


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[SessionMemory]:
    found = SessionMemory.open(f"sqlite:///{tmp_path / 'data' / 'chat.db'}")
    yield found
    found.close()


@pytest.fixture
def small(tmp_path: Path) -> Iterator[SessionMemory]:
    """A memory with the smallest caps."""
    settings = Settings(api_body_max=1_024, import_max=2_048, page_max=3)
    found = SessionMemory.open(f"sqlite:///{tmp_path / 'data' / 'small.db'}", settings)
    yield found
    found.close()


@pytest.fixture
def filled(memory: SessionMemory) -> SessionMemory:
    """A memory whose tenant A has the session "hall"."""
    memory.record("hall", CHAT, tenant="tenant-a")
    return memory


@pytest.fixture
def app(memory: SessionMemory) -> Any:
    return starlette(api(memory, authorize=who))


MakeApp = Callable[[SessionMemory], Any]
