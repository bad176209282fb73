"""Who comes in: by a token that is entered once, by an API key of the server, or as the application around us says.

After the token, a cookie says who it is: signed, for this origin alone, out of the reach of scripts. It has no path of
its own, so that browsers give it the folder that the pages are in, wherever that is mounted.
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
    """One way in. ``about`` is what passes are tied to besides the installation."""

    about: str
    asks: str
    """What people are asked for, "" where they are never asked."""

    async def admitted(self, given: str) -> str | None:
        """The subject of the pass that ``given`` earns; ``None`` for a wrong one. Raises ``StoreError``."""

    async def caller(self, subject: str, scope: Mapping[str, Any]) -> Caller | None:
        """Who comes with a pass of ``subject``, "" for a browser without one; ``None`` for nobody.

        Raises ``NoVerdict`` or ``StoreError`` when it cannot be told.
        """


class Tokened:
    """One token for everybody; whoever has it may do everything with the sessions of ``tenant``. Another token makes
    all cookies worthless."""

    asks = "token"

    def __init__(self, token: str, tenant: str = LOCAL_TENANT) -> None:
        if len(token) < TOKEN_LEAST or token != token.strip() or not token.isprintable():
            raise ConfigError(f"a token has at least {TOKEN_LEAST} printable characters, and no blanks around them")
        self._digest = hashlib.sha256(token.encode()).digest()
        self._caller = Caller(tenant)
        self.about = hashlib.sha256(self._digest).hexdigest()

    async def admitted(self, given: str) -> str | None:
        """See ``Entrance``."""
        digest = hashlib.sha256(given.strip().encode("utf-8", "replace")).digest()
        return "token" if hmac.compare_digest(digest, self._digest) else None

    async def caller(self, subject: str, scope: Mapping[str, Any]) -> Caller | None:
        """See ``Entrance``."""
        return self._caller if subject == "token" else None


class Keyed:
    """An API key of the server, with its tenant and scopes; a key that is revoked lets nobody in any more."""

    asks = "API key"
    about = ""

    def __init__(self, keys: Keyring) -> None:
        self._keys = keys

    async def admitted(self, given: str) -> str | None:
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
    """As the application around us says, with every request."""

    asks = ""
    about = ""

    def __init__(self, authorize: Authorize) -> None:
        self._authorize = authorize
        self.everybody = authorize is local

    async def admitted(self, given: str) -> str | None:
        """See ``Entrance``: there is nothing to enter."""
        return None

    async def caller(self, subject: str, scope: Mapping[str, Any]) -> Caller | None:
        """See ``Entrance``."""
        return await asked_by(self._authorize, scope)


def cookie_of(scope: Mapping[str, Any], name: str) -> str:
    """The value of a cookie, "" when it is not there or cannot be read."""
    given = b"; ".join(value for key, value in scope["headers"] if key.lower() == b"cookie")
    if name.encode() not in given or len(given) > _COOKIES_MAX:
        return ""
    try:
        found = SimpleCookie(given.decode("latin-1")).get(name)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def cookie(name: str, value: str, scope: Mapping[str, Any], seconds: float) -> bytes:
    """The header that hands a cookie out; an empty value takes it back."""
    parts = [f"{name}={value}", f"Max-Age={int(seconds) if value else 0}", "HttpOnly", "SameSite=Strict"]
    if scope.get("scheme") == "https":
        parts.append("Secure")
    return "; ".join(parts).encode("latin-1")
