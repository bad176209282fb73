"""The caller of a request, which the access middleware stores for the inner applications, and the scope that a path
requires."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tokenmizer_mw.model import SCOPES
from tokenmizer_mw.wire.dialects import ROUTES

__all__ = [
    "CALLER_KEY", "CHAT", "SCOPES", "Caller", "below_root", "caller_of", "is_own", "needed_scope", "tenant_of",
    "uses_tokens",
]  # fmt: skip

CALLER_KEY: Final = "tokenmizer_caller"
"""Key of the ASGI scope under which the access middleware stores the ``Caller``."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The authenticated sender of a request.

    ``tenant``: owner of the sessions that the caller may see; ``key_id``: id of the API key ("" if no key was needed);
    ``scopes``: permitted operations, names in ``SCOPES``.
    """

    tenant: str
    key_id: str = ""
    scopes: frozenset[str] = frozenset(SCOPES)

    def may(self, scope: str) -> bool:
        """Return whether the caller has ``scope``; "admin" includes all others."""
        return scope in self.scopes or "admin" in self.scopes


def caller_of(scope: Mapping[str, Any]) -> Caller | None:
    """Return the caller that the access middleware stored in the scope; ``None`` if the request did not pass through
    it."""
    found = scope.get(CALLER_KEY)
    return found if isinstance(found, Caller) else None


def tenant_of(scope: Mapping[str, Any]) -> str:
    """Return the caller's tenant, for ``TokenMizerMiddleware(tenant=...)``.

    Raises ``LookupError`` without a caller: the chat then goes on, and nothing of it is recorded.
    """
    caller = caller_of(scope)
    if caller is None:
        raise LookupError("the request has no caller: is Access outside of the middleware?")
    return caller.tenant


CHAT: Final = "chat"
_CHAT_ENDINGS: Final = tuple(ROUTES)
_COUNTING: Final = ("/count_tokens", ":countTokens")

_OWN: Final = (
    "/api/checkpoint/", "/api/checkpoints/", "/api/resume/", "/api/graph/", "/api/invalidate/", "/api/decision/",
    "/api/remember/", "/api/archive/", "/api/separate/", "/api/pin/", "/api/correct/", "/api/undo/", "/api/recall/",
    "/api/complete/", "/api/compaction/", "/api/sessions/", "/api/stats/", "/api/messages/", "/api/edits/",
    "/api/loss-report/", "/api/openapi.json/", "/health/", "/metrics/",
)  # fmt: skip
"""Prefixes of this server's own routes, about sessions, health and metrics."""


def below_root(scope: Mapping[str, Any]) -> str:
    """Return the path of a request without the ASGI ``root_path``, under which the application is mounted."""
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
    """Return whether a call to the path consumes tokens of a model: false for routes that only count the tokens of a
    text."""
    return not path.endswith(_COUNTING)
