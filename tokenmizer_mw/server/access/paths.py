"""The scope that a request's path requires. Depends on the path of the ASGI scope alone, never on the host header."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tokenmizer_mw.wire.dialects import ROUTES

CHAT: Final = "chat"

_CHAT_ENDINGS: Final = tuple(ROUTES)
_COUNTING: Final = ("/count_tokens", ":countTokens")

_OWN: Final = (
    "/api/checkpoint/",
    "/api/checkpoints/",
    "/api/resume/",
    "/api/graph/",
    "/api/decision/",
    "/api/remember/",
    "/api/archive/",
    "/api/pin/",
    "/api/correct/",
    "/api/undo/",
    "/api/recall/",
    "/api/compaction/",
    "/api/sessions/",
    "/api/stats/",
    "/api/openapi.json/",
    "/health/",
    "/metrics/",
)
"""Where the routes about sessions and health are, each with what is below it."""


def below_root(scope: Mapping[str, Any]) -> str:
    """Return the path below the ASGI ``root_path``."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    if root and path.startswith(root) and path[len(root) : len(root) + 1] in ("", "/"):
        return path[len(root) :]
    return path


def is_own(path: str) -> bool:
    """Return whether the path is one of the server's own routes (sessions, health, metrics).

    Any other path is a provider call. Ollama's API shares the prefix /api/, so chat paths are excluded.
    """
    return f"{path}/".startswith(_OWN) and not path.endswith(_CHAT_ENDINGS)


def needed_scope(path: str) -> str:
    """Return the scope that the middleware requires for a path: "chat", or "" if the route itself checks the scope."""
    return "" if is_own(path) else CHAT


def uses_tokens(path: str) -> bool:
    """Return whether a call to the path uses tokens: false for routes that only count tokens."""
    return not path.endswith(_COUNTING)
