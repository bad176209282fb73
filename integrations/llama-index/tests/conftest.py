"""What the tests share: the scripted model of the examples, stores in a process and on disk."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.storage.chat_store.tokenmizer_mw import TokenMizerChatStore

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "examples"), str(HERE)]

Opened = Callable[..., TokenMizerChatStore]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chat.db"


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Opens chat stores and closes them in the end."""
    stores: list[TokenMizerChatStore] = []

    def open_at(store: Any = "memory://", **given: Any) -> TokenMizerChatStore:
        stores.append(TokenMizerChatStore(store, **given))
        return stores[-1]

    yield open_at
    for store in stores:
        store.memory.close()
