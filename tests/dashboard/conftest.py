from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import browser
from tokenmizer_mw import SessionMemory

from .visiting import CHAT, LATER

__all__ = ["browser"]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[SessionMemory]:
    """A memory with the sessions "hall" of the local tenant and "yard" of tenant B."""
    found = SessionMemory.open(f"sqlite:///{tmp_path / 'chat.db'}")
    found.record("hall", CHAT)
    found.checkpoint("hall")
    found.record("hall", [*CHAT, *LATER])
    found.record("yard", CHAT, tenant="tenant-b")
    yield found
    found.close()
