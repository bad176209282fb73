"""The seal of a compaction: proof that it is ours, of which session and tenant, and that nobody changed it.

Sealed are the session, the checkpoint, what was kept and the user's words that are still open, encrypted and
authenticated (AES-GCM) with a key that is derived from the secret of the installation, which lies in its store. The
tenant and the version are part of what is authenticated, and not of what is sent. The nonce is made of what is sealed:
the same compaction has the same seal, and no other one has its nonce. A request that holds a compaction is reduced to
what stands behind the newest one.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import re2

from tokenmizer_mw.errors import ConfigError, PeerError
from tokenmizer_mw.runtime.installing import install_hint

MARK: Final = "tokenmizer-compaction."
"""How every seal of ours begins, of whichever version."""

_VERSION: Final = f"{MARK}1."
_NONCE: Final = 12
SEALED_MAX: Final = 4 * 1024 * 1024
"""Characters of a seal, and bytes of what it holds."""


_SEAL = re2.compile(r"tokenmizer-compaction\.[0-9]+\.[A-Za-z0-9_-]+")


class SealBroken(PeerError):
    """What a client sent back as a compaction of ours is none that can be used. The text says why, for the client."""


@dataclass(frozen=True, slots=True)
class SealedContent:
    """What a compaction stands for. ``text`` is all that a model is given of it; ``open`` what the user wrote last and
    the model was still at, "" where nothing was open; ``tokens`` what it replaced."""

    session: str
    checkpoint: str
    text: str
    open: str = ""
    tokens: int = 0


def is_ours(sealed: object) -> bool:
    """Whether ``sealed`` says that it was made here, by any version."""
    return isinstance(sealed, str) and sealed.startswith(MARK)


def find_seals(text: str) -> list[str]:
    """The seals of ours in a text, such as what a client keeps of a conversation."""
    return [found.group() for found in _SEAL.finditer(text)]


class Seal:
    """Closes and opens, with the ``secret`` of the installation. Raises ``ConfigError`` without the package that
    encrypts."""

    def __init__(self, secret: bytes) -> None:
        try:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # an extra: the proxy brings it
        except ImportError:
            raise ConfigError(f"compaction needs cryptography: {install_hint('proxy')}") from None
        self._cipher = AESGCM(_derive_key(secret, b"compaction key"))
        self._nonces = _derive_key(secret, b"compaction nonce")

    def close(self, tenant: str, kept: SealedContent) -> str:
        """Compress and encrypt ``kept`` for ``tenant``, as URL-safe text that the client stores and sends back."""
        bound = _encode_tenant(tenant)
        plain = zlib.compress(json.dumps(asdict(kept), ensure_ascii=True).encode("ascii"), 6)
        nonce = hmac.new(self._nonces, bound + b"\0" + plain, hashlib.sha256).digest()[:_NONCE]
        sealed = nonce + self._cipher.encrypt(nonce, plain, bound)
        return _VERSION + urlsafe_b64encode(sealed).decode("ascii").rstrip("=")

    def open(self, tenant: str, sealed: str) -> SealedContent:
        """Decrypt what ``close`` returned for ``tenant``. Raises ``SealBroken`` for any other text."""
        from cryptography.exceptions import InvalidTag  # the package is there: see above

        if not sealed.startswith(_VERSION):
            raise SealBroken("it was made by another version of this server")
        if len(sealed) > SEALED_MAX:
            raise SealBroken("it is too long")
        if not sealed.isascii() or _SEAL.fullmatch(sealed) is None:
            raise SealBroken("it was changed")
        try:
            packed = urlsafe_b64decode(sealed[len(_VERSION) :] + "=" * (-(len(sealed) - len(_VERSION)) % 4))
            plain = self._cipher.decrypt(packed[:_NONCE], packed[_NONCE:], _encode_tenant(tenant))
        except (ValueError, InvalidTag):
            raise SealBroken("it was changed, or made for another tenant or by another server") from None
        return SealedContent(**json.loads(_inflate(plain)))


def _derive_key(secret: bytes, purpose: bytes) -> bytes:
    return hmac.new(secret, purpose, hashlib.sha256).digest()


def _encode_tenant(tenant: str) -> bytes:
    return json.dumps([_VERSION, tenant]).encode("ascii")


def _inflate(plain: bytes) -> bytes:
    inflating = zlib.decompressobj()
    found = inflating.decompress(plain, SEALED_MAX)
    if inflating.unconsumed_tail:
        raise SealBroken("it is too long")
    return found


CONTINUE: Final = "Continue."
"""What stands for the user where a compaction ends a history, and nothing of the user was open."""


@dataclass(frozen=True, slots=True)
class ReducedRequest:
    """A request reduced to what follows its newest compaction.

    ``body``: the request body without the messages that the compaction replaces, and without the fields that ask for
    compaction. ``kept``: the unsealed compaction; ``None`` if the request holds none that this server made.
    ``emptied``: true if ``kept`` is ``None`` and items were removed: compaction blocks without content (Anthropic), or
    compaction triggers (OpenAI Responses). ``bare``: true if no message followed the compaction; the transcript then
    ends with the user's unanswered message, repeated, or with ``CONTINUE`` if there is none.
    """

    body: Mapping[str, Any]
    kept: SealedContent | None = None
    emptied: bool = False
    bare: bool = False
