"""Finds the caller of an API request. If the host application reports none, the request is refused."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from typing import Any

from tokenmizer_mw.model.session import LOCAL_TENANT
from tokenmizer_mw.server.access.caller import Caller

Authorize = Callable[[Mapping[str, Any]], Caller | Awaitable[Caller | None] | None]
"""Called with the ASGI scope of a request; ``None`` refuses it. It may be async; if it is not, it must not block."""


class NoVerdict(Exception):
    """Raised when ``authorize`` failed: the request is refused with 503, because the client is not at fault."""


def local(scope: Mapping[str, Any]) -> Caller:
    """Accept every request as the local tenant with all scopes; pass as ``authorize=local``."""
    return Caller(LOCAL_TENANT)


async def asked_by(authorize: Authorize, scope: Mapping[str, Any]) -> Caller | None:
    """Return the caller of a request; ``None`` if there is none.

    Raises ``NoVerdict`` if ``authorize`` fails or returns anything but a caller or ``None``.
    """
    try:
        found = authorize(scope)
        caller = await found if isawaitable(found) else found
    except Exception as error:
        raise NoVerdict from error
    if caller is not None and not isinstance(caller, Caller):
        raise NoVerdict(f"authorize returned a {type(caller).__name__}")
    return caller
