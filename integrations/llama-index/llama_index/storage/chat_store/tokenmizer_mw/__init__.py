"""Chat stores for LlamaIndex that store every message, word for word, in one SQLite file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .async_store import TokenMizerAsyncChatStore
    from .base import TokenMizerChatStore

__all__ = ["TokenMizerAsyncChatStore", "TokenMizerChatStore"]

_LAZY = {
    "TokenMizerAsyncChatStore": "async_store",
    "TokenMizerChatStore": "base",
}


def __getattr__(name: str) -> Any:
    """Import a class, and the framework, at first use."""
    from importlib import import_module

    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
