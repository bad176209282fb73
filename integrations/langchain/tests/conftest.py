"""What the tests share: a scripted model, memories in a process and on disk, and settings of warnings."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tokenmizer_mw import SessionMemory

EXAMPLES = Path(__file__).parents[1] / "examples"


def _loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"langchain_example_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def scripted() -> Any:
    """The class of the scripted model."""
    return _loaded(EXAMPLES / "scripted.py").ScriptedModel


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'memory.db'}"


@pytest.fixture
def opened() -> Iterator[Callable[[str], SessionMemory]]:
    """Opens memories and closes them in the end."""
    memories: list[SessionMemory] = []

    def open_at(at: str = "memory://", **settings: Any) -> SessionMemory:
        from tokenmizer_mw import Settings

        memories.append(SessionMemory.open(at, Settings(**settings)))
        return memories[-1]

    yield open_at
    for memory in memories:
        memory.close()


@pytest.fixture
def memory(url: str, opened: Callable[[str], SessionMemory]) -> SessionMemory:
    return opened(url)
