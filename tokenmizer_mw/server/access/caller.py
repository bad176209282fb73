"""The caller of a request (who sent it and what it may do), and the scope (permission) that a path requires. The access
middleware stores the caller for the inner applications."""

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

    - ``tenant``: owner of the sessions that the caller may see.
    - ``key_id``: id of the API key; "" if no key was needed.
    - ``scopes``: kinds of operations that the caller may do, names in ``SCOPES``; all of them by default.
    """

    tenant: str
    key_id: str = ""
    scopes: frozenset[str] = frozenset(SCOPES)

    def may(self, scope: str) -> bool:
        """Return whether the caller has the scope (permission) ``scope``. The scope "admin" includes all others."""
        return scope in self.scopes or "admin" in self.scopes


def caller_of(scope: Mapping[str, Any]) -> Caller | None:
    """Return the caller that the access middleware stored in the ASGI scope of a request. ``None`` if the request did
    not pass through that middleware, or passed without a key on a path that needs none."""
    found = scope.get(CALLER_KEY)
    return found if isinstance(found, Caller) else None


def tenant_of(scope: Mapping[str, Any]) -> str:
    """Return the tenant of a request's caller, for ``TokenMizerMiddleware(tenant=tenant_of)``.

    Raises ``LookupError`` if the request has no caller: the chat request is then answered, but not recorded.
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
"""Prefixes of the routes that this server answers itself: sessions, health and metrics. A "/" is appended to the path
before the comparison."""


def below_root(scope: Mapping[str, Any]) -> str:
    """Return the path of a request without the ASGI ``root_path`` (the prefix under which the application is mounted),
    such as "/health" for "/memory/health" with the root path "/memory"."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    if root and path.startswith(root) and path[len(root) : len(root) + 1] in ("", "/"):
        return path[len(root) :]
    return path


def is_own(path: str) -> bool:
    """Return whether the server answers this path itself (sessions, health, metrics). Any other path is a call to be
    forwarded to a provider.

    Ollama's API has the prefix "/api/", too; paths that end like a chat call are therefore calls to a provider.
    """
    return f"{path}/".startswith(_OWN) and not path.endswith(_CHAT_ENDINGS)


def needed_scope(path: str) -> str:
    """Return the scope (permission) that the access middleware requires for a path: "chat" for calls to a provider, ""
    for the server's own routes, which check the scope themselves."""
    return "" if is_own(path) else CHAT


def uses_tokens(path: str) -> bool:
    """Return whether a call to this path consumes tokens of a model. False for paths that only count the tokens of a
    text."""
    return not path.endswith(_COUNTING)
