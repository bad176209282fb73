"""Memory for LlamaIndex on session memory: for chat engines and agents, and as a memory block inside `Memory`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .base import TokenMizerMemory
    from .block import TokenMizerMemoryBlock

__all__ = ["TokenMizerMemory", "TokenMizerMemoryBlock"]

_LAZY = {
    "TokenMizerMemory": "base",
    "TokenMizerMemoryBlock": "block",
}


def __getattr__(name: str) -> Any:
    """Import a class, and the framework, at first use."""
    from importlib import import_module

    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
