"""The authenticated caller of a request, as applications inside the access middleware see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

CALLER_KEY: Final = "tokenmizer_caller"
"""Key of the ASGI scope under which the door leaves the caller."""

SCOPES: Final = ("chat", "read", "write", "erase", "admin")
"""What a key may be good for: chat calls; reading sessions; changing them; erasing them; everything, of its tenant."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The authenticated sender of a request.

    ``tenant`` owns the sessions; ``key_id`` is the id of the API key ("" if no key was needed); ``scopes`` are the
    permitted operations.
    """

    tenant: str
    key_id: str = ""
    scopes: frozenset[str] = frozenset(SCOPES)

    def may(self, scope: str) -> bool:
        """Whether the caller has ``scope``; "admin" includes all others."""
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
