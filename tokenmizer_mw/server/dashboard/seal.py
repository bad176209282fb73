"""Signed cookies and form tokens, keyed by the installation's secret.

Pure: no clock, no randomness. A cookie is ``base64url(JSON).base64url(HMAC-SHA256)``.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from typing import Any, Final

_PASS_MAX: Final = 2_048
"""Characters of a pass; longer ones are not ours."""


@dataclass(frozen=True, slots=True)
class Pass:
    """The content of a sign-in cookie.

    ``subject``: who is signed in, as the entrance identifies them ("" for nobody yet); ``nonce``: random, binds forms
    to the cookie; ``issued_at``: seconds since the epoch.
    """

    subject: str
    nonce: str
    issued_at: float


class PageSigner:
    """Signs and verifies cookies and form tokens.

    ``secret``: the store's, so that all processes of an installation accept each other's cookies; ``about``: what else
    a cookie is bound to, such as the digest of a token.
    """

    def __init__(self, secret: bytes, about: str = "") -> None:
        self._key = hashlib.blake2b(f"dashboard\0{about}".encode(), key=secret, digest_size=32).digest()
        self.name = hashlib.blake2b(b"dashboard's cookie", key=secret, digest_size=4).hexdigest()

    def write_pass(self, given: Pass) -> str:
        """Return the cookie value of a pass."""
        body = json.dumps([given.subject, given.nonce, given.issued_at], separators=(",", ":")).encode()
        return f"{_text(body)}.{_text(self._mac(b'pass', body))}"

    def read(self, written: str, now: float, lasting: float) -> Pass | None:
        """Return the pass in a cookie value; ``None`` if it is forged, malformed, or older than ``lasting`` seconds."""
        body, dot, mac = written.partition(".")
        if not dot or len(written) > _PASS_MAX:
            return None
        try:
            told = urlsafe_b64decode(_pad_base64(body))
            if not hmac.compare_digest(self._mac(b"pass", told), urlsafe_b64decode(_pad_base64(mac))):
                return None
            subject, nonce, issued_at = json.loads(told)
        except ValueError:
            return None
        fresh = issued_at - 60 <= now < issued_at + lasting
        return Pass(subject, nonce, issued_at) if fresh else None

    def form_token(self, given: Pass, who: str) -> str:
        """Return the token that a form must send, bound to the pass and to its user ``who``."""
        return _text(self._mac(b"form", json.dumps([given.subject, given.nonce, who]).encode()))

    def is_form_token(self, token: str, given: Pass, who: str) -> bool:
        """Return whether a form token is valid."""
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.form_token(given, who).encode())

    def _mac(self, what: bytes, body: bytes) -> bytes:
        return hmac.digest(self._key, what + b"\0" + body, "sha256")


def _text(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def _pad_base64(text: str) -> Any:
    return text.encode("ascii") + b"=" * (-len(text) % 4)
