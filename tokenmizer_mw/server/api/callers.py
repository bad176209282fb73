"""Who asks. Without a word from the application around us, nobody is let in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from typing import Any

from tokenmizer_mw.model.session import LOCAL_TENANT
from tokenmizer_mw.server.access.caller import Caller

Authorize = Callable[[Mapping[str, Any]], Caller | Awaitable[Caller | None] | None]
"""Called with the ASGI scope of a request; ``None`` refuses it. It may be async; if it is not, it must not block."""


class NoVerdict(Exception):
    """Whoever should have told who asks has failed: the request is refused, and it is not the client's fault."""


def local(scope: Mapping[str, Any]) -> Caller:
    """``authorize=local``: whoever reaches the application may do everything with the local tenant's sessions."""
    return Caller(LOCAL_TENANT)


async def asked_by(authorize: Authorize, scope: Mapping[str, Any]) -> Caller | None:
    """The caller of a request, ``None`` for nobody. Raises ``NoVerdict`` when ``authorize`` fails or says something
    else."""
    try:
        found = authorize(scope)
        caller = await found if isawaitable(found) else found
    except Exception as error:
        raise NoVerdict from error
    if caller is not None and not isinstance(caller, Caller):
        raise NoVerdict(f"authorize returned a {type(caller).__name__}")
    return caller
