"""Sign-in to the dashboard: with a token that is entered once, an API key of the server, or the host application's
function.

After sign-in a signed cookie identifies the browser: same-site and not readable by scripts. It has no path attribute,
so that browsers limit it to the folder of the pages, wherever that is mounted.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final, Protocol

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.model.session import LOCAL_TENANT
from tokenmizer_mw.server.access.caller import Caller
from tokenmizer_mw.server.access.keyring import Keyring
from tokenmizer_mw.server.api.callers import Authorize, asked_by, local

__all__ = ["Entrance", "Hosted", "Keyed", "Tokened", "cookie", "cookie_of", "local"]

TOKEN_LEAST: Final = 16
"""Characters of a token: fewer can be guessed."""

_COOKIES_MAX: Final = 16_384


class Entrance(Protocol):
    """Protocol of sign-in methods. ``about``: text that cookies are bound to besides the installation."""

    about: str
    asks: str
    """What people are asked for, "" where they are never asked."""

    async def admit(self, given: str) -> str | None:
        """Return the subject of the cookie for what the user entered; ``None`` if it is wrong. Raises
        ``StoreError``."""

    async def caller(self, subject: str, scope: Mapping[str, Any]) -> Caller | None:
        """Return the caller for a cookie's ``subject`` ("" for a browser without one); ``None`` if nobody is signed in.

        Raises ``NoVerdict`` or ``StoreError`` if that cannot be decided.
        """


class Tokened:
    """Sign-in with one shared token, for everything in the sessions of ``tenant``. A new token invalidates all
    cookies."""

    asks = "token"

    def __init__(self, token: str, tenant: str = LOCAL_TENANT) -> None:
        if len(token) < TOKEN_LEAST or token != token.strip() or not token.isprintable():
            raise ConfigError(f"a token has at least {TOKEN_LEAST} printable characters, and no blanks around them")
        self._digest = hashlib.sha256(token.encode()).digest()
        self._caller = Caller(tenant)
        self.about = hashlib.sha256(self._digest).hexdigest()

    async def admit(self, given: str) -> str | None:
        """See ``Entrance``."""
        digest = hashlib.sha256(given.strip().encode("utf-8", "replace")).digest()
        return "token" if hmac.compare_digest(digest, self._digest) else None

    async def caller(self, subject: str, scope: Mapping[str, Any]) -> Caller | None:
        """See ``Entrance``."""
        return self._caller if subject == "token" else None


class Keyed:
    """Sign-in with an API key of the server, with its tenant and scopes. A revoked key is rejected."""

    asks = "API key"
    about = ""

    def __init__(self, keys: Keyring) -> None:
        self._keys = keys

    async def admit(self, given: str) -> str | None:
        """See ``Entrance``."""
        await self._keys.refresh()
        caller = self._keys.look_up(given.strip().encode("utf-8", "replace"))
        return caller.key_id if caller is not None and caller.may("read") else None

    async def caller(self, subject: str, scope: Mapping[str, Any]) -> Caller | None:
        """See ``Entrance``."""
        if not subject:
            return None
        await self._keys.refresh()
        return self._keys.by_id(subject)


class Hosted:
    """Access decided by the host application for each request."""

    asks = ""
    about = ""

    def __init__(self, authorize: Authorize) -> None:
        self._authorize = authorize
        self.everybody = authorize is local

    async def admit(self, given: str) -> str | None:
        """See ``Entrance``; there is nothing to enter."""
        return None

    async def caller(self, subject: str, scope: Mapping[str, Any]) -> Caller | None:
        """See ``Entrance``."""
        return await asked_by(self._authorize, scope)


def cookie_of(scope: Mapping[str, Any], name: str) -> str:
    """Return the value of a cookie; "" if it is missing or invalid."""
    given = b"; ".join(value for key, value in scope["headers"] if key.lower() == b"cookie")
    if name.encode() not in given or len(given) > _COOKIES_MAX:
        return ""
    try:
        found = SimpleCookie(given.decode("latin-1")).get(name)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def cookie(name: str, value: str, scope: Mapping[str, Any], seconds: float) -> bytes:
    """Return the ``set-cookie`` header; an empty value deletes the cookie."""
    parts = [f"{name}={value}", f"Max-Age={int(seconds) if value else 0}", "HttpOnly", "SameSite=Strict"]
    if scope.get("scheme") == "https":
        parts.append("Secure")
    return "; ".join(parts).encode("latin-1")
