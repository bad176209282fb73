"""API keys: their format, what is stored of a key, and how a key is compared with stored keys. Uses neither a clock nor
randomness of its own.

A key is ``PREFIX`` followed by 256 random bits; only its SHA-256 is stored. Because random bits cannot be guessed, the
digest needs no salt and no slow hash.
"""

from __future__ import annotations

import hashlib
import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any, Final

from tokenmizer_mw.errors import ConfigError, StoreCorrupt
from tokenmizer_mw.model.session import OWN_TENANTS, SESSION_ID_MAX, SessionKey

from .caller import SCOPES, Caller

PREFIX: Final = "tmz_"
"""The beginning of every API key, by which people and secret scanners recognise one."""

SECRET_BYTES: Final = 32
ID_BYTES: Final = 6
_WRITTEN: Final = re.compile(rb"tmz_[A-Za-z0-9_-]{22,128}")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

Randomness = Callable[[int], bytes]
"""Function that returns the given number of random bytes, such as ``secrets.token_bytes``."""


@dataclass(frozen=True, slots=True)
class Key:
    """What is stored of an API key. The key itself is not stored.

    - ``id``: short name of the key, which is not secret. ``tenant``: owner of the sessions that it opens.
    - ``digest``: SHA-256 of the key. ``scopes``: the operations that the key permits.
    - ``created_at``, ``expires_at``, ``revoked_at``: seconds since the epoch. ``None``: never expires, not revoked.
    """

    id: str
    tenant: str
    digest: bytes
    scopes: frozenset[str]
    created_at: float
    expires_at: float | None = None
    revoked_at: float | None = None

    def __repr__(self) -> str:
        return f"Key(id={self.id!r}, tenant={self.tenant!r})"

    def good_at(self, now: float) -> bool:
        """Return whether the key is valid at ``now`` (seconds since the epoch): neither revoked nor expired."""
        return (self.revoked_at is None or now < self.revoked_at) and (self.expires_at is None or now < self.expires_at)

    def caller(self) -> Caller:
        """Return the caller that this key identifies: its tenant, id and scopes."""
        return Caller(self.tenant, self.id, self.scopes)


def new_key(
    randomness: Randomness, tenant: str, scopes: Iterable[str], created_at: float, expires_at: float | None = None
) -> tuple[str, Key]:
    """Create an API key. Returns the key as text, which is to be shown once and never stored, and the ``Key`` to store.

    ``randomness``: function that returns as many random bytes as asked for. ``scopes``: names in ``SCOPES``.
    ``created_at``, ``expires_at``: seconds since the epoch; ``None`` if the key never expires. Raises ``ConfigError``
    for an invalid tenant, and for unknown or no scopes.
    """
    written = PREFIX + urlsafe_b64encode(randomness(SECRET_BYTES)).rstrip(b"=").decode()
    digest = digest_of(written.encode())
    key = Key(randomness(ID_BYTES).hex(), tenant, digest, frozenset(scopes), created_at, expires_at)
    require_key(key)
    return written, key


def require_key(key: Key) -> None:
    """Raise ``ConfigError`` if a key cannot be stored: its tenant is invalid or reserved, it has no scopes or unknown
    ones, or its id or digest is malformed."""
    if not SessionKey(key.tenant, "any").valid():
        raise ConfigError(f"a tenant is 1 to {SESSION_ID_MAX} printable characters")
    if key.tenant.startswith(OWN_TENANTS):
        raise ConfigError(f"tenants whose names begin with {OWN_TENANTS!r} are kept for records of the store itself")
    if unknown := sorted(key.scopes - set(SCOPES)):
        raise ConfigError(f"scopes are {', '.join(SCOPES)}, not {', '.join(unknown)}")
    if not key.scopes:
        raise ConfigError(f"a key needs a scope at least: {', '.join(SCOPES)}")
    if not _ID.fullmatch(key.id):
        raise ConfigError("a key's id is 1 to 64 letters, digits, dots, dashes and underscores, the first no dot")
    if len(key.digest) != hashlib.sha256().digest_size:
        raise ConfigError("a key is kept as its SHA-256")


def digest_of(written: bytes) -> bytes:
    """Return the SHA-256 (32 bytes) of the API key ``written``."""
    return hashlib.sha256(written).digest()


def digest_from(text: object) -> bytes:
    """Parse a digest from 64 lower-case hexadecimal digits. Raises ``ConfigError`` for anything else."""
    if not isinstance(text, str) or not _DIGEST.fullmatch(text):
        raise ConfigError("sha256 is the 64 hexadecimal digits of a key's SHA-256, in small letters")
    return bytes.fromhex(text)


def looks_like_key(value: bytes) -> bool:
    """Return whether ``value`` has the format of an API key of this server. A value without it cannot be a valid
    key."""
    return value.startswith(b"tmz_") and _WRITTEN.fullmatch(value) is not None


def matching(digest: bytes, keys: Iterable[Key]) -> Key | None:
    """Return the key among ``keys`` whose SHA-256 is ``digest``; ``None`` if there is none.

    All keys are compared, each in constant time, so that the duration does not reveal which key matched.
    """
    found = None
    for key in keys:
        if compare_digest(key.digest, digest):
            found = key
    return found


def row_of(key: Key) -> tuple[Any, ...]:
    """Return the database row of a key: id, tenant, digest, scopes separated by commas, and the times of creation,
    expiry and revocation."""
    scopes = ",".join(sorted(key.scopes))
    return (key.id, key.tenant, key.digest, scopes, key.created_at, key.expires_at, key.revoked_at)


def key_of(row: Sequence[Any], place: str) -> Key:
    """Return the key in a database row that has the columns of ``row_of``. ``place``: name of the store, for the error
    message. Raises ``StoreCorrupt`` if the row cannot be parsed."""
    id_, tenant, digest, scopes, created_at, expires_at, revoked_at = row
    try:
        times = [None if at is None else float(at) for at in (expires_at, revoked_at)]
        return Key(id_, tenant, bytes(digest), frozenset(scopes.split(",")), float(created_at), *times)
    except (TypeError, ValueError, AttributeError):
        raise StoreCorrupt(f"{place}: is damaged: a key cannot be read") from None
