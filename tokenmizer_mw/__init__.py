"""tokenmizer-mw: session memory for LLM applications that survives the context window."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # what type checkers take for true; the module that has it costs as much as this whole import

if TYPE_CHECKING:
    from typing import Any

    from tokenmizer_mw.asgi import TokenMizerMiddleware
    from tokenmizer_mw.context.assembly import Context, Shortened
    from tokenmizer_mw.context.loss_report import LossReport
    from tokenmizer_mw.context.recall import Recall
    from tokenmizer_mw.context.resume import Resume
    from tokenmizer_mw.context.savings import Savings
    from tokenmizer_mw.errors import (
        BudgetTooSmall,
        CallerError,
        ConfigError,
        Conflict,
        InvalidMessage,
        InvalidSession,
        MalformedRequest,
        PeerError,
        StoreCorrupt,
        StoreError,
        StoreTooNew,
        StoreUnavailable,
        TokenMizerError,
        UnknownNode,
        UnknownSession,
    )
    from tokenmizer_mw.graph.explanation import Why
    from tokenmizer_mw.graph.fold import SessionGraph
    from tokenmizer_mw.graph.search import SearchHit
    from tokenmizer_mw.graph.views import Diff
    from tokenmizer_mw.memory import Checkpoint, SessionMemory
    from tokenmizer_mw.model.message import Message, Role, Written
    from tokenmizer_mw.model.node import Node, Transition
    from tokenmizer_mw.model.usage import UsageRecord
    from tokenmizer_mw.session.edit_results import AddedFact, FactEdit, UndoneEdit
    from tokenmizer_mw.session.refinement.plan import Refinement
    from tokenmizer_mw.session.state import RecordedEdit
    from tokenmizer_mw.session.transcript_edits import Change
    from tokenmizer_mw.settings import Settings
    from tokenmizer_mw.store.log import SessionInfo
    from tokenmizer_mw.transports.anthropic_sdk import anthropic_middleware as anthropic_middleware
    from tokenmizer_mw.transports.httpx_transport import AsyncHttpxTransport as AsyncHttpxTransport
    from tokenmizer_mw.transports.httpx_transport import HttpxTransport as HttpxTransport
    from tokenmizer_mw.transports.openai_sdk import async_openai_client as async_openai_client
    from tokenmizer_mw.transports.openai_sdk import openai_client as openai_client
    from tokenmizer_mw.transports.transport import AsyncTransport as AsyncTransport
    from tokenmizer_mw.transports.transport import Transport as Transport
    from tokenmizer_mw.wire.dialects.custom import CustomChat

__version__ = "0.1.0"

__all__ = [
    "AddedFact", "BudgetTooSmall", "CallerError", "Change", "Checkpoint", "ConfigError", "Conflict", "Context",
    "CustomChat", "Diff", "FactEdit", "InvalidMessage", "InvalidSession", "LossReport", "MalformedRequest", "Message",
    "Node", "PeerError", "Recall", "RecordedEdit", "Refinement", "Resume", "Role", "Savings", "SearchHit",
    "SessionGraph", "SessionInfo", "SessionMemory", "Settings", "Shortened", "StoreCorrupt", "StoreError",
    "StoreTooNew", "StoreUnavailable", "TokenMizerError", "TokenMizerMiddleware", "Transition", "UndoneEdit",
    "UnknownNode", "UnknownSession", "UsageRecord", "Why", "Written", "__version__",
]  # fmt: skip
"""The public names that need no optional extra; ``dir(tokenmizer_mw)`` also lists the others, such as ``Transport``."""

_ERRORS = (
    "BudgetTooSmall", "CallerError", "ConfigError", "Conflict", "InvalidMessage", "InvalidSession", "MalformedRequest",
    "PeerError", "StoreCorrupt", "StoreError", "StoreTooNew", "StoreUnavailable", "TokenMizerError", "UnknownNode",
    "UnknownSession",
)  # fmt: skip

_LAZY = {
    **dict.fromkeys(_ERRORS, "tokenmizer_mw.errors"),
    **dict.fromkeys(("Context", "Shortened"), "tokenmizer_mw.context.assembly"),
    "LossReport": "tokenmizer_mw.context.loss_report",
    "Recall": "tokenmizer_mw.context.recall",
    "Resume": "tokenmizer_mw.context.resume",
    "Savings": "tokenmizer_mw.context.savings",
    "SessionGraph": "tokenmizer_mw.graph.fold",
    "SearchHit": "tokenmizer_mw.graph.search",
    "Diff": "tokenmizer_mw.graph.views",
    "Why": "tokenmizer_mw.graph.explanation",
    **dict.fromkeys(("Message", "Role", "Written"), "tokenmizer_mw.model.message"),
    **dict.fromkeys(("Node", "Transition"), "tokenmizer_mw.model.node"),
    "UsageRecord": "tokenmizer_mw.model.usage",
    **dict.fromkeys(("AddedFact", "FactEdit", "UndoneEdit"), "tokenmizer_mw.session.edit_results"),
    "RecordedEdit": "tokenmizer_mw.session.state",
    "Change": "tokenmizer_mw.session.transcript_edits",
    "SessionInfo": "tokenmizer_mw.store.log",
    "Settings": "tokenmizer_mw.settings",
    "SessionMemory": "tokenmizer_mw.memory",
    "Checkpoint": "tokenmizer_mw.memory",
    "Refinement": "tokenmizer_mw.session.refinement.plan",
    "TokenMizerMiddleware": "tokenmizer_mw.asgi",
    "CustomChat": "tokenmizer_mw.wire.dialects.custom",
    "Transport": "tokenmizer_mw.transports.transport",
    "AsyncTransport": "tokenmizer_mw.transports.transport",
    "HttpxTransport": "tokenmizer_mw.transports.httpx_transport",
    "AsyncHttpxTransport": "tokenmizer_mw.transports.httpx_transport",
    "anthropic_middleware": "tokenmizer_mw.transports.anthropic_sdk",
    "async_openai_client": "tokenmizer_mw.transports.openai_sdk",
    "openai_client": "tokenmizer_mw.transports.openai_sdk",
}

_EXTRAS = {"httpx2": "transport", "httpx": "httpx", "openai": "", "anthropic": ""}
"""For each third-party package the extra of this package that installs it; "" if users install it by its own name, such
as ``pip install openai``."""

_MOVED = {
    "access": "server.access", "api": "server.api", "cache": "saving.cache", "call": "chat.service",
    "compress": "saving.compress", "dashboard": "server.dashboard", "demo": "cli.demo", "fence": "safety.fence",
    "files": "saving.files", "fitting": "context.assembly", "offload": "runtime.offload", "outgoing": "transports",
    "refining": "session.refinement.plan", "operations.retention": "operations.erasure",
    "saving.cache.embedding": "context.embedding",
    "server.access.door": "server.access.middleware", "server.access.heads": "server.access.http_protocols",
    "server.access.opening": "server.access.keyring", "tokens": "context.tokens", "translate": "server.translate",
    "window": "context.window",
}  # fmt: skip


class _MissingModules:
    """Import finder that only improves error messages. It raises ``ModuleNotFoundError`` with the new place of a
    documented module that has moved, and with what to install for a public name that needs an extra. (If a name is no
    attribute, ``from tokenmizer_mw import Transport`` looks for a module of that name.)"""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        package, _, module = name.partition(".")
        if package == __name__ and module in _MOVED:
            raise ModuleNotFoundError(f"{name} has moved to {__name__}.{_MOVED[module]}", name=name)
        if package == __name__ and module in _LAZY:
            _load(module)


sys.meta_path.append(_MissingModules)


def __getattr__(name: str) -> Any:
    """Import a public name at its first use, so that ``import tokenmizer_mw`` itself is fast: a hook of a coding agent
    imports it anew for every event. A name whose extra is not installed raises ``AttributeError``, so that ``hasattr``
    and ``help`` work."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return _load(name)
    except ModuleNotFoundError as missing:
        if missing.name not in _EXTRAS:
            raise
        raise AttributeError(str(missing)) from None


def _load(name: str) -> Any:
    """Import and return a public name. Raises ``ModuleNotFoundError``, which says what to install, if its extra is
    missing."""
    from importlib import import_module

    try:
        return getattr(import_module(_LAZY[name]), name)
    except ModuleNotFoundError as missing:
        if missing.name not in _EXTRAS:
            raise
        from tokenmizer_mw.runtime.installing import install_hint

        extra = _EXTRAS[missing.name]
        hint = install_hint(extra) if extra else f"pip install {missing.name}"
        wanted = f"{name} needs {missing.name}: {hint}"
        raise ModuleNotFoundError(wanted, name=missing.name, path=missing.path) from None


def __dir__() -> list[str]:
    """Return all public names, sorted, also those that were not used yet and are imported at their first use."""
    return sorted({*__all__, *_LAZY})
