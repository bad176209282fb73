"""tokenmizer-mw for LangChain and LangGraph: thin integrations of ``SessionMemory``, each loaded at first use."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_tokenmizer_mw.callbacks import TokenMizerCallbackHandler
    from langchain_tokenmizer_mw.history import TokenMizerChatMessageHistory
    from langchain_tokenmizer_mw.store import TokenMizerStore

    from .memory import TokenMizerMemory
    from .middleware import TokenMizerMiddleware
    from .summarization import TokenMizerSummarizer, tokenmizer_summarization

__version__ = "0.1.0"

__all__ = [
    "TokenMizerCallbackHandler",
    "TokenMizerChatMessageHistory",
    "TokenMizerMemory",
    "TokenMizerMiddleware",
    "TokenMizerStore",
    "TokenMizerSummarizer",
    "__version__",
    "tokenmizer_summarization",
]

_LAZY = {
    "TokenMizerCallbackHandler": "callbacks",
    "TokenMizerChatMessageHistory": "history",
    "TokenMizerMemory": "memory",
    "TokenMizerMiddleware": "middleware",
    "TokenMizerStore": "store",
    "TokenMizerSummarizer": "summarization",
    "tokenmizer_summarization": "summarization",
}

_EXTRAS = {"langchain": "agents", "langgraph": "agents", "langchain_classic": "classic"}
"""The extra of this integration that installs each package."""

_NEEDS = {
    "TokenMizerMemory": "langchain_classic",
    "TokenMizerMiddleware": "langchain",
    "TokenMizerStore": "langgraph",
    "TokenMizerSummarizer": "langchain",
    "tokenmizer_summarization": "langchain",
}
"""The package that each of these names needs; without it the name cannot be imported."""

if not TYPE_CHECKING:  # ``import *`` takes what can be imported here
    __all__ = [name for name in __all__ if name not in _NEEDS or find_spec(_NEEDS[name]) is not None]


def __getattr__(name: str) -> Any:
    """Import a class, and the part of LangChain that it needs, at first use."""
    from importlib import import_module

    from tokenmizer_mw.runtime.installing import install_hint

    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    except ModuleNotFoundError as missing:
        package = (missing.name or "").partition(".")[0]
        if package not in _EXTRAS:
            raise
        hint = install_hint(_EXTRAS[package], "langchain-tokenmizer-mw", "integrations/langchain")
        wanted = f"{name} needs {package}: {hint}"
        raise ModuleNotFoundError(wanted, name=missing.name, path=missing.path) from None
