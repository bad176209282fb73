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
    """The path below the place where the application is mounted."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    if root and path.startswith(root) and path[len(root) : len(root) + 1] in ("", "/"):
        return path[len(root) :]
    return path


def is_own(path: str) -> bool:
    """Whether the path is one of a server's own, about sessions and health. Everything else is taken for a call to a
    provider; Ollama's API shares their beginning."""
    return f"{path}/".startswith(_OWN) and not path.endswith(_CHAT_ENDINGS)


def needed_scope(path: str) -> str:
    """The scope that a path needs at the door: "chat", or "" where the routes behind it see to that."""
    return "" if is_own(path) else CHAT


def uses_tokens(path: str) -> bool:
    """Whether what a provider answers at the path tells of tokens that were used."""
    return not path.endswith(_COUNTING)
