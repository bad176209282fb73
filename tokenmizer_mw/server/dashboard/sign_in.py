"""Sign-in to the dashboard: with a token, with an API key of the server, or by a function of the application in which
the dashboard is mounted.

After sign-in, a signed cookie identifies the browser. It is same-site and not readable by scripts. It has no path
attribute, so browsers send it only to pages in the folder of the dashboard, wherever that is mounted. Cookies and form
tokens are signed with the secret of the store. A cookie has the form ``base64url(JSON).base64url(HMAC-SHA256)``.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.model.session import LOCAL_TENANT
from tokenmizer_mw.server.access.caller import Caller
from tokenmizer_mw.server.access.keyring import Keyring
from tokenmizer_mw.server.api.requests import Authorize, find_caller, local

from .markup import tag, to
from .page import FORM_FIELD, Page
from .table import NAMES

__all__ = ["HostSignIn", "KeySignIn", "SignIn", "TokenSignIn", "local"]

_PASS_MAX: Final = 2_048
"""Maximum number of characters of a cookie's value. Longer ones are not read."""


@dataclass(frozen=True, slots=True)
class Pass:
    """The content of a sign-in cookie.

    - ``subject``: who is signed in, as ``SignIn.admit`` returned it: "token", or the id of an API key. "" if nobody is.
    - ``nonce``: random text by which the forms of a page are bound to the cookie.
    - ``issued_at``: seconds since the epoch.
    """

    subject: str
    nonce: str
    issued_at: float


class PageSigner:
    """Signs and verifies cookies and form tokens.

    ``secret``: the secret of the store, so that all processes with this store accept each other's cookies. ``about``:
    text that is included in the signatures, such as a digest of the token. If it changes, all earlier cookies become
    invalid. ``name``: part of the cookie's name.
    """

    def __init__(self, secret: bytes, about: str = "") -> None:
        self._key = hashlib.blake2b(f"dashboard\0{about}".encode(), key=secret, digest_size=32).digest()
        self.name = hashlib.blake2b(b"dashboard's cookie", key=secret, digest_size=4).hexdigest()

    def write_pass(self, given: Pass) -> str:
        """Return ``given``, the content of a cookie, as the signed text that is the cookie's value."""
        body = json.dumps([given.subject, given.nonce, given.issued_at], separators=(",", ":")).encode()
        return f"{_base64(body)}.{_base64(self._mac(b'pass', body))}"

    def read(self, written: str, now: float, lasting: float) -> Pass | None:
        """Return the content of the cookie with the value ``written``. ``None`` if the value is forged or malformed, or
        if it is older than ``lasting`` seconds. ``now``: the current time in seconds since the epoch."""
        body, dot, mac = written.partition(".")
        if not dot or len(written) > _PASS_MAX:
            return None
        try:
            raw = urlsafe_b64decode(_pad_base64(body))
            if not hmac.compare_digest(self._mac(b"pass", raw), urlsafe_b64decode(_pad_base64(mac))):
                return None
            subject, nonce, issued_at = json.loads(raw)
        except ValueError:
            return None
        fresh = issued_at - 60 <= now < issued_at + lasting
        return Pass(subject, nonce, issued_at) if fresh else None

    def form_token(self, given: Pass, who: str) -> str:
        """Return the token that each form must send, so that no other site can submit forms. It is only valid together
        with the cookie ``given``, and for the user ``who``."""
        return _base64(self._mac(b"form", json.dumps([given.subject, given.nonce, who]).encode()))

    def is_form_token(self, token: str, given: Pass, who: str) -> bool:
        """Return whether ``token`` is the token that ``form_token`` returns for the cookie ``given`` and the user
        ``who``."""
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.form_token(given, who).encode())

    def _mac(self, what: bytes, body: bytes) -> bytes:
        return hmac.digest(self._key, what + b"\0" + body, "sha256")


def _base64(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def _pad_base64(text: str) -> Any:
    return text.encode("ascii") + b"=" * (-len(text) % 4)


TOKEN_LEAST: Final = 16
"""Minimum number of characters of a token. A shorter one could be guessed."""


class SignIn(Protocol):
    """Protocol of the ways to sign in. ``about``: text that is included in the signatures of cookies, see
    ``PageSigner``. ``asks``: what the sign-in form asks for, "token" or "API key"; "" if there is no form."""

    about: str
    asks: str
    """What the sign-in form asks for, "token" or "API key"; "" if there is no form."""

    async def admit(self, given: str) -> str | None:
        """Check the token or API key ``given`` that somebody entered in the form. Returns the ``subject`` of the new
        cookie (see ``Pass``); ``None`` if the token or key is wrong. Raises ``StoreError`` if the stored keys cannot be
        read."""

    async def caller(self, subject: str, scope: Mapping[str, Any]) -> Caller | None:
        """Return the caller for the ``subject`` of a cookie ("" for a browser without one); ``None`` if nobody is
        signed in. ``scope``: the ASGI scope of the request.

        Raises ``AuthorizeFailed`` or ``StoreError`` if it cannot be decided.
        """


class TokenSignIn:
    """Sign-in with one shared token. Whoever has it may do everything with the sessions of the local tenant (the
    default owner of sessions). If the token changes, all cookies become invalid.

    Raises ``ConfigError`` for a token that is shorter than ``TOKEN_LEAST``, is not printable, or has spaces at its
    start or end.
    """

    asks = "token"

    def __init__(self, token: str) -> None:
        if len(token) < TOKEN_LEAST or token != token.strip() or not token.isprintable():
            raise ConfigError(f"a token has at least {TOKEN_LEAST} printable characters, and no blanks around them")
        self._digest = hashlib.sha256(token.encode()).digest()
        self._caller = Caller(LOCAL_TENANT)
        self.about = hashlib.sha256(self._digest).hexdigest()

    async def admit(self, given: str) -> str | None:
        """Return "token" if ``given`` is the token, ignoring spaces around it; else ``None``."""
        digest = hashlib.sha256(given.strip().encode("utf-8", "replace")).digest()
        return "token" if hmac.compare_digest(digest, self._digest) else None

    async def caller(self, subject: str, scope: Mapping[str, Any]) -> Caller | None:
        """Return a caller with all permissions for the tenant "local" (the default owner of sessions) if ``subject`` is
        "token"; else ``None``."""
        return self._caller if subject == "token" else None


class KeySignIn:
    """Sign-in with an API key of the server, which needs the scope (permission) "read". The key's tenant and scopes
    decide what its owner may see and do. Once a key is revoked, browsers that signed in with it are refused."""

    asks = "API key"
    about = ""

    def __init__(self, keys: Keyring) -> None:
        self._keys = keys

    async def admit(self, given: str) -> str | None:
        """Return the id of the API key ``given``; ``None`` if it is not valid or lacks the scope "read". Raises
        ``StoreError`` if the stored keys cannot be read."""
        await self._keys.refresh()
        caller = self._keys.look_up(given.strip().encode("utf-8", "replace"))
        return caller.key_id if caller is not None and caller.may("read") else None

    async def caller(self, subject: str, scope: Mapping[str, Any]) -> Caller | None:
        """Return the caller of the API key with the id ``subject``; ``None`` if ``subject`` is "" or the key is no
        longer valid. Raises ``StoreError`` if the stored keys cannot be read."""
        if not subject:
            return None
        await self._keys.refresh()
        return self._keys.by_id(subject)


class HostSignIn:
    """Access that the function ``authorize`` of the application decides for each request. There is no sign-in form.
    ``everybody``: whether that function is ``local``, which accepts all."""

    asks = ""
    about = ""

    def __init__(self, authorize: Authorize) -> None:
        self._authorize = authorize
        self.everybody = authorize is local

    async def admit(self, given: str) -> str | None:
        """Return ``None``: there is no form, because the application decides who is signed in."""
        return None

    async def caller(self, subject: str, scope: Mapping[str, Any]) -> Caller | None:
        """Return the caller that the function ``authorize`` finds for the request's ASGI ``scope``; ``None`` if it
        refuses the request. Raises ``AuthorizeFailed`` if the function fails."""
        return await find_caller(self._authorize, scope)


_BACK_MAX: Final = 1_000

_WRONG: Final = {
    "token": "That token is not known. An application with several workers needs one token for all of them.",
    "API key": "That API key is not known.",
}


def sign_in_page(asks: str, form_token: str, back: str, *, wrong: bool = False) -> Page:
    """Return the page with the form that asks for the token or API key.

    - ``asks``: what the form asks for, "token" or "API key".
    - ``form_token``: value of the hidden field that protects against requests from other sites.
    - ``back``: address to go to after sign-in.
    - ``wrong``: whether the last attempt failed; the page then says so and has the status 401.
    """
    hint = {
        "token": "Paste the token that the dashboard printed when it started, or the one that was set for it.",
        "API key": "The API key of the server that you use; it begins with tmz_ and needs the scope read.",
    }[asks]
    field = tag(
        "input",
        type="password",
        name="secret",
        id="secret",
        autocomplete="current-password",
        required=True,
        autofocus=True,
        spellcheck="false",
        aria_describedby="hint wrong" if wrong else "hint",
        aria_invalid="true" if wrong else None,
    )
    form = tag(
        "form",
        tag("input", type="hidden", name=FORM_FIELD, value=form_token),
        tag("input", type="hidden", name="next", value=back[:_BACK_MAX]),
        tag("label", asks[0].upper() + asks[1:], for_="secret"),
        field,
        tag("p", _WRONG[asks], id="wrong", class_="wrong", role="alert") if wrong else None,
        tag("p", hint, id="hint", class_="hint"),
        tag("button", "Sign in", class_="main"),
        method="post",
        action="login",
        id="login",
        class_="card login",
    )
    title = tag("h1", "Sign in")
    body = tag(
        "div", title, tag("p", "The dashboard shows what each session remembers.", class_="lead"), form, class_="narrow"
    )
    return Page("Sign in", body, status=401 if wrong else 200)


def sign_in_address(back: str) -> str:
    """Return the relative address of the sign-in page. ``back``: the address to which the page leads after sign-in."""
    return to("login", next=back[:_BACK_MAX])


def inside_address(back: str) -> str:
    """Return ``back`` if it is the address of a page of the dashboard, such as "fact?id=a"; otherwise return "./", the
    list of sessions. So a forged link to the sign-in page cannot lead to another site."""
    name, mark, query = back.partition("?")
    known = name in NAMES and name.isalpha() and query.isascii() and query.isprintable()
    return f"{name}{mark}{query}" if known else "./"
