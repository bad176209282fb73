"""Opens the API keys of a server, from a key store or from a list, and caches them.

The keys are not read for every request.

    refresh_seconds   age of the cached keys from which on they are read again before a request is checked; a revoked
                      key is rejected in all processes after at most this time
    stale_seconds     how long the keys read last remain valid if the store fails; after that, all requests that
                      need a key are refused

When a key is first seen, it is compared with all stored keys, each in constant time. After that it is found by a hash
keyed with a secret of this process, so the cost of a request does not depend on the number of keys.
"""

from __future__ import annotations

import hashlib
import logging
import math
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import anyio

from tokenmizer_mw.errors import ConfigError, StoreUnavailable
from tokenmizer_mw.runtime.installing import install_hint
from tokenmizer_mw.runtime.offload import STORE, offload
from tokenmizer_mw.store import postgres_address
from tokenmizer_mw.store.choosing import sqlite_path
from tokenmizer_mw.store.open import ACCEPTED

from .caller import Caller
from .key_store import KEYS_VARIABLE, KeyStore, MemoryKeys, SqliteKeys, keys_from_text, listed_keys
from .keys import Key, digest_of, looks_like_key, matching
from .settings import AccessSettings

_SEEN_MAX: Final = 10_000
"""Maximum number of valid keys whose hashes are cached. When it is reached, the cache is emptied."""

_AGAIN_SECONDS: Final = 1.0
"""Seconds to wait before a key store that failed is read again."""

_log = logging.getLogger("tokenmizer_mw")
Seconds = Callable[[], float]


class Keyring:
    """Cache of the API keys in ``store``, for one event loop.

    - ``refresh_seconds``: age in seconds from which on the cached keys are read again.
    - ``stale_seconds``: age in seconds up to which cached keys remain valid if the store does not answer.
    - ``now``: returns the time in seconds since the epoch, which decides whether a key has expired.
    - ``clock``: returns seconds from any fixed starting point; measures the age of the cache.

    Raises ``ConfigError`` unless 0 < ``refresh_seconds`` <= ``stale_seconds``.
    """

    def __init__(
        self,
        store: KeyStore,
        *,
        refresh_seconds: float = 5.0,
        stale_seconds: float = 30.0,
        now: Seconds = time.time,
        clock: Seconds = time.monotonic,
    ) -> None:
        if not 0 < refresh_seconds <= stale_seconds:
            raise ConfigError("0 < refresh_seconds <= stale_seconds")
        self.store = store
        self._refresh_seconds = refresh_seconds
        self._stale_seconds = stale_seconds
        self._now = now
        self._clock = clock
        self._keys: Sequence[Key] = ()
        self._fresh_until = self._stale_at = self._again_at = -math.inf
        self._seen: dict[bytes, tuple[Key, Caller]] = {}
        self._secret = secrets.token_bytes(32)
        self._reading: anyio.Event | None = None

    @property
    def fresh(self) -> bool:
        """Whether the cached keys may be used. If not, call ``refresh`` first. Also true for a moment after the store
        failed, while older keys are still valid."""
        return self._clock() < self._fresh_until

    async def refresh(self) -> None:
        """Read the keys from the store again if that is due. Of several concurrent callers, one reads and the others
        wait for it.

        If the store does not answer, the cached keys are used until they are ``stale_seconds`` old; after that,
        ``StoreUnavailable`` is raised.
        """
        while not self.fresh:
            if self._reading is not None:
                await self._reading.wait()
                continue
            if self._clock() < self._again_at:
                raise StoreUnavailable("the keys could not be read")
            self._reading = anyio.Event()
            try:
                if await self._read():
                    return  # just read is fresh, however short that holds
            finally:
                self._reading.set()
                self._reading = None

    async def _read(self) -> bool:
        """Read the keys from the store. Returns false if it failed. The store is then not asked again for a moment;
        requests fail at once in the meantime instead of waiting in a queue."""
        begun = self._clock()
        try:
            keys = await offload(self.store.all_keys, STORE)
        except Exception as error:
            _log.warning("keys_not_read: %s", type(error).__name__)
            self._again_at = self._clock() + min(_AGAIN_SECONDS, self._refresh_seconds)
            self._fresh_until = min(self._again_at, self._stale_at)
            return False
        if list(keys) != list(self._keys):
            self._keys, self._seen = keys, {}
        self._stale_at = begun + self._stale_seconds
        self._fresh_until = self._clock() + self._refresh_seconds
        return True

    def find_known_caller(self, written: bytes) -> Caller | None:
        """Return the caller of the API key ``written`` if ``look_up`` found it before and it is still valid. Else
        ``None``; call ``look_up`` then. ``written``: the key as the client sent it."""
        found = self._seen.get(self._mark(written))
        return found[1] if found is not None and found[0].good_at(self._now()) else None

    def by_id(self, id: str) -> Caller | None:
        """Return the caller of the key with this id, for example for a browser that has sent the key itself before.
        ``None`` if no key has the id, or if it is revoked or expired."""
        found = next((key for key in self._keys if key.id == id), None)
        return found.caller() if found is not None and found.good_at(self._now()) else None

    def look_up(self, written: bytes) -> Caller | None:
        """Return the caller of the API key ``written``, which is compared with all stored keys. ``None`` if it is
        malformed, unknown, revoked or expired."""
        if not looks_like_key(written):
            return None
        key = matching(digest_of(written), self._keys)
        if key is None or not key.good_at(self._now()):
            return None
        if len(self._seen) >= _SEEN_MAX:
            self._seen.clear()
        caller = key.caller()
        self._seen[self._mark(written)] = key, caller
        return caller

    def _mark(self, written: bytes) -> bytes:
        return hashlib.blake2b(written, key=self._secret, digest_size=32).digest()


def open_keys(url: str) -> KeyStore:
    """Return the key store at ``url``, the address of a session store such as "sqlite:///memory.db". Nothing is opened
    or created before the first use.

    Raises ``ConfigError`` for an invalid address, and if the package that such a store needs is not installed. The
    message never contains a password.
    """
    scheme, separator, rest = url.partition("://")
    match scheme.lower() if separator else "":
        case "memory" if not rest:
            return MemoryKeys()
        case "sqlite":
            path = sqlite_path(rest.partition("?")[0])
            return MemoryKeys() if path is None else SqliteKeys(path)
        case "postgresql" | "postgres":
            return _postgres_keys(rest)
    raise ConfigError(f"a store's address is {ACCEPTED}")


def keys_of_server(url: str, settings: AccessSettings, environ: Mapping[str, str]) -> KeyStore:
    """Return the API keys of a server. The first of these that has any: the environment variable ``KEYS_VARIABLE``,
    ``settings.keys``, the store at the address ``url``.

    ``environ``: the environment variables. Raises ``ConfigError`` for an invalid list of keys and an invalid address.
    """
    text = environ.get(KEYS_VARIABLE)
    if text:
        return keys_from_text(text)
    return listed_keys(list(settings.keys), "access.keys") if settings.keys else open_keys(url)


def _postgres_keys(rest: str) -> KeyStore:
    address = postgres_address.parse(rest)
    try:
        from .postgres_keys import PostgresKeys
    except ModuleNotFoundError as error:
        if error.name != "psycopg":
            raise
        raise ConfigError(f"postgresql:// needs the extra `postgres`: {install_hint('postgres')}") from None
    return PostgresKeys(address)
