"""Sign-in to the dashboard: with a token, with an API key of the server, or by a function of the application around the
dashboard.

After sign-in a signed cookie identifies the browser: same-site and not readable by scripts. It has no path attribute,
so that browsers limit it to the folder of the pages, wherever that is mounted. Cookies and form tokens are signed with
the installation's secret: ``base64url(JSON).base64url(HMAC-SHA256)``.
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
"""Longest value of a cookie, in characters; longer ones are not read."""


@dataclass(frozen=True, slots=True)
class Pass:
    """The content of a sign-in cookie.

    ``subject``: who is signed in, as ``SignIn.admit`` returned it ("token", or the id of an API key); "" for nobody
    yet. ``nonce``: random text that binds the forms of a page to the cookie. ``issued_at``: seconds since the epoch.
    """

    subject: str
    nonce: str
    issued_at: float


class PageSigner:
    """Signs and verifies cookies and form tokens.

    ``secret``: the store's, so that all processes of an installation accept each other's cookies. ``about``: text that
    also enters the signatures, such as the digest of the token: if it changes, all earlier cookies become invalid.
    """

    def __init__(self, secret: bytes, about: str = "") -> None:
        self._key = hashlib.blake2b(f"dashboard\0{about}".encode(), key=secret, digest_size=32).digest()
        self.name = hashlib.blake2b(b"dashboard's cookie", key=secret, digest_size=4).hexdigest()

    def write_pass(self, given: Pass) -> str:
        """Return the signed text in which a cookie stores the pass ``given``."""
        body = json.dumps([given.subject, given.nonce, given.issued_at], separators=(",", ":")).encode()
        return f"{_base64(body)}.{_base64(self._mac(b'pass', body))}"

    def read(self, written: str, now: float, lasting: float) -> Pass | None:
        """Return the pass in the cookie value ``written``. Returns ``None`` if the value is forged or malformed, or
        older than ``lasting`` seconds at the time ``now``."""
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
        """Return the token that forms must send, so that no other site can submit them. It is valid only with the
        cookie of the pass ``given``, and for the user ``who``."""
        return _base64(self._mac(b"form", json.dumps([given.subject, given.nonce, who]).encode()))

    def is_form_token(self, token: str, given: Pass, who: str) -> bool:
        """Return whether ``token`` is what ``form_token`` returns for the pass ``given`` and the user ``who``."""
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.form_token(given, who).encode())

    def _mac(self, what: bytes, body: bytes) -> bytes:
        return hmac.digest(self._key, what + b"\0" + body, "sha256")


def _base64(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def _pad_base64(text: str) -> Any:
    return text.encode("ascii") + b"=" * (-len(text) % 4)


TOKEN_LEAST: Final = 16
"""Fewest characters of a token, because a shorter one can be guessed."""


class SignIn(Protocol):
    """Protocol of the ways to sign in. ``about``: text that enters the signatures of cookies, see ``PageSigner``.
    ``asks``: what the sign-in form asks for, "token" or "API key"; "": there is no form."""

    about: str
    asks: str
    """What the sign-in form asks people for, "token" or "API key"; "": there is no form."""

    async def admit(self, given: str) -> str | None:
        """Check the token or API key ``given`` that somebody entered. Returns the subject of the new cookie; ``None``
        if it is wrong. Raises ``StoreError`` if keys cannot be read."""

    async def caller(self, subject: str, scope: Mapping[str, Any]) -> Caller | None:
        """Return the caller for a cookie's ``subject`` ("" for a browser without a cookie); ``None`` if nobody is
        signed in. ``scope``: the ASGI scope of the request.

        Raises ``AuthorizeFailed`` or ``StoreError`` if that cannot be decided.
        """


class TokenSignIn:
    """Sign-in with one shared token. Whoever has it may do everything with the sessions of the local tenant. If the
    token changes, all cookies become invalid. Raises ``ConfigError`` for a token that is too short, not printable, or
    has blanks around it."""

    asks = "token"

    def __init__(self, token: str) -> None:
        if len(token) < TOKEN_LEAST or token != token.strip() or not token.isprintable():
            raise ConfigError(f"a token has at least {TOKEN_LEAST} printable characters, and no blanks around them")
        self._digest = hashlib.sha256(token.encode()).digest()
        self._caller = Caller(LOCAL_TENANT)
        self.about = hashlib.sha256(self._digest).hexdigest()

    async def admit(self, given: str) -> str | None:
        """See ``SignIn``."""
        digest = hashlib.sha256(given.strip().encode("utf-8", "replace")).digest()
        return "token" if hmac.compare_digest(digest, self._digest) else None

    async def caller(self, subject: str, scope: Mapping[str, Any]) -> Caller | None:
        """See ``SignIn``."""
        return self._caller if subject == "token" else None


class KeySignIn:
    """Sign-in with an API key of the server that has the scope "read". The key's tenant and scopes decide what may be
    seen and done. A key that is revoked later is refused from then on."""

    asks = "API key"
    about = ""

    def __init__(self, keys: Keyring) -> None:
        self._keys = keys

    async def admit(self, given: str) -> str | None:
        """See ``SignIn``."""
        await self._keys.refresh()
        caller = self._keys.look_up(given.strip().encode("utf-8", "replace"))
        return caller.key_id if caller is not None and caller.may("read") else None

    async def caller(self, subject: str, scope: Mapping[str, Any]) -> Caller | None:
        """See ``SignIn``."""
        if not subject:
            return None
        await self._keys.refresh()
        return self._keys.by_id(subject)


class HostSignIn:
    """Access that a function of the application around the dashboard decides for each request. ``everybody``: the
    function is ``local``, which accepts all."""

    asks = ""
    about = ""

    def __init__(self, authorize: Authorize) -> None:
        self._authorize = authorize
        self.everybody = authorize is local

    async def admit(self, given: str) -> str | None:
        """Return ``None``: there is no form, because the host application decides who is signed in."""
        return None

    async def caller(self, subject: str, scope: Mapping[str, Any]) -> Caller | None:
        """See ``SignIn``."""
        return await find_caller(self._authorize, scope)


_BACK_MAX: Final = 1_000

_WRONG: Final = {
    "token": "That token is not known. An application with several workers needs one token for all of them.",
    "API key": "That API key is not known.",
}


def sign_in_page(asks: str, form_token: str, back: str, *, wrong: bool = False) -> Page:
    """Return the page with the form for the token or API key.

    - ``asks``: what the form asks for, "token" or "API key".
    - ``form_token``: value of the hidden field that protects against requests from other sites.
    - ``back``: address to go to after sign-in.
    - ``wrong``: true after a failed attempt; the page then says so, with status 401.
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
    """Return the address of the sign-in page, which leads on to the address ``back`` after sign-in."""
    return to("login", next=back[:_BACK_MAX])


def inside_address(back: str) -> str:
    """Return ``back`` if it is the address of a page of the dashboard ("fact?id=a"), else "./", the list of sessions,
    so that a forged link to the sign-in page cannot lead elsewhere."""
    name, mark, query = back.partition("?")
    known = name in NAMES and name.isalpha() and query.isascii() and query.isprintable()
    return f"{name}{mark}{query}" if known else "./"
