"""What is imported when: the core knows no framework, and a module loads only what it needs."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest
from llama_index.memory import tokenmizer_mw as memory
from llama_index.storage.chat_store import tokenmizer_mw as chat_store


def loaded(code: str, *names: str) -> list[str]:
    check = f"import sys\n{code}\nprint(*[name for name in {names!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True, timeout=120)
    return done.stdout.split()


@pytest.mark.nightly
@pytest.mark.parametrize(
    "code", ["import tokenmizer_mw", "from tokenmizer_mw import SessionMemory; SessionMemory.open().close()"]
)
def test_the_core_loads_no_framework(code: str) -> None:
    heavy = ("llama_index", "llama_index.core", "sqlalchemy", "nltk", "numpy", "pydantic", "fsspec")
    assert loaded(code, *heavy) == []


@pytest.mark.nightly
@pytest.mark.parametrize("module", ["llama_index.memory.tokenmizer_mw", "llama_index.storage.chat_store.tokenmizer_mw"])
def test_a_module_loads_the_framework_with_its_first_class(module: str) -> None:
    assert loaded(f"import {module}", "llama_index.core", "pydantic", "fsspec", "tokenmizer_mw") == []
    assert loaded(f"from {module} import *", "llama_index.core") == ["llama_index.core"]


@pytest.mark.parametrize("module", [memory, chat_store])
def test_what_a_module_has_not_is_an_attribute_error(module: ModuleType) -> None:
    assert all(isinstance(getattr(module, name), type) for name in module.__all__)
    with pytest.raises(AttributeError, match=r"tokenmizer_mw' has no attribute 'Nothing'"):
        _ = module.Nothing


def test_the_stores_load_no_engine_of_ours() -> None:
    ours = ("starlette", "tokenmizer_mw.asgi", "tokenmizer_mw.cli", "langchain_core", "openai")
    assert loaded("from llama_index.storage.chat_store.tokenmizer_mw import TokenMizerChatStore", *ours) == []


@pytest.mark.nightly
def test_the_framework_alone_does_not_load_us() -> None:
    assert loaded("import llama_index.core.memory", "tokenmizer_mw") == []
