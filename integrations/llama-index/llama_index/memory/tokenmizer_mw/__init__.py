"""Memory for LlamaIndex on a typed session graph: for chat engines, agents and as a block inside `Memory`."""

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
    """Load a class, and the framework with it, when it is first used."""
    from importlib import import_module

    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
