"""The access middleware (ASGI): API-key authentication, rate limits, and limits on headers and bodies.

    head       size, contradictory headers, the host named, requests from web pages
    key        tenant, key and scopes of the caller; every failure gets the same response
    limits     of the tenant and of the key
    body       size and time, checked while the application reads it

Inner applications read the caller from the scope (``caller_of``); the key is removed from the headers. If keys or
limits cannot be checked, the request is refused. Responses pass unchanged, except for CORS headers for the configured
pages.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.model.session import LOCAL_TENANT

from .caller import Caller, needed_scope
from .guarded_request import GuardedRequest
from .hosts import LOOPBACK, Hosts, Origins, is_same_origin
from .key_store import KeyStore
from .keyring import Keyring
from .limiting import FailedKeys, RateLimits, open_limits
from .refusals import HOST_REFUSED, KEYS_UNKNOWN, NO_KEY, ORIGIN_REFUSED, Refusal
from .request_head import RequestHead, read_head
from .settings import AccessSettings

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_log = logging.getLogger("tokenmizer_mw")
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class Access:
    """ASGI middleware that authenticates callers and applies limits before it calls ``app``.

    - ``keys``: the API keys; ``None`` if no key is needed. Every caller is then the local tenant, and only requests
      whose host is this machine are answered, unless the settings name other hosts (see ``check_bind``).
    - ``limits``: rate limits shared with other instances; ``None`` opens those of ``settings``.
    - ``needs``: function from a path to the scope it requires; "" for any caller.

    ``counts`` counts refused requests by refusal code. Raises ``ConfigError`` for invalid arguments.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        keys: Keyring | KeyStore | None,
        settings: AccessSettings | None = None,
        limits: RateLimits | None = None,
        needs: Callable[[str], str] = needed_scope,
    ) -> None:
        if not callable(app):
            raise ConfigError(f"app is an ASGI application, not {app!r:.60}")
        self.app = app
        self.settings = settings = settings or AccessSettings()
        self.limits = limits or open_limits(settings)
        self.needs = needs
        self.keys = _keyring(keys, settings)
        self.hosts = Hosts(settings.hosts or (LOOPBACK if keys is None else ()))
        self.origins = Origins(settings.origins) if settings.origins else None
        self.failures = FailedKeys(settings)
        self.counts: Counter[str] = Counter()
        self._key_header = settings.key_header.encode("latin-1")
        self._open_paths = frozenset(settings.open_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, self._closing(send))
        else:
            await GuardedRequest(self, scope, receive, send).run()

    def head_of(self, scope: Scope) -> RequestHead | Refusal:
        """Return the parsed request head, or the refusal if it is invalid or names a host or page that is not
        allowed."""
        head = read_head(scope.get("headers", ()), self.settings.head_max, self._key_header)
        if isinstance(head, Refusal):
            return head
        if not self.hosts.allows(head.host):
            return HOST_REFUSED
        if head.origin and self._foreign_page(scope, head):
            return ORIGIN_REFUSED
        return head

    async def caller(self, scope: Scope, head: RequestHead, path: str) -> Caller | Refusal | None:
        """Return the caller, the refusal, or ``None`` for a request without a key on an open path."""
        if self.keys is None:
            return _LOCAL
        if head.key is None and path in self._open_paths:
            return None
        try:
            if not self.keys.fresh:
                await self.keys.refresh()
            caller = self.keys.find_known_caller(head.key) if head.key is not None else None
            return caller or self._first_seen(self.keys, scope, head.key)
        except Exception as error:
            _log.warning("keys_not_checked: %s", type(error).__name__)
            return KEYS_UNKNOWN

    def _first_seen(self, keys: Keyring, scope: Scope, written: bytes | None) -> Caller | Refusal:
        if written is None:
            return NO_KEY
        host = self.failures.host_of(scope)
        refusal = self.failures.refusal(host)
        if refusal is not None:
            return refusal
        caller = keys.look_up(written)
        if caller is None:
            self.failures.note(host)
            return NO_KEY
        return caller

    def _foreign_page(self, scope: Scope, head: RequestHead) -> bool:
        """Whether a page that is not ours asks for a change where no key is needed: browsers let it."""
        if self.keys is not None or scope.get("method") in _READING:
            return False
        named = self.origins is not None and self.origins.allows(head.origin)
        return not named and not is_same_origin(head.origin, head.host)

    def _closing(self, send: Send) -> Send:
        async def closing(message: Message) -> None:
            if message["type"] in ("lifespan.shutdown.complete", "lifespan.shutdown.failed"):
                await self.limits.counters.close()
            await send(message)

        return closing


_LOCAL: Final = Caller(LOCAL_TENANT)


def _keyring(keys: Keyring | KeyStore | None, settings: AccessSettings) -> Keyring | None:
    if keys is None or isinstance(keys, Keyring):
        return keys
    if not hasattr(keys, "revoke"):
        raise ConfigError(f"keys is where keys are kept, such as open_keys(...), not {keys!r:.60}")
    return Keyring(keys, refresh_seconds=settings.refresh_seconds, stale_seconds=settings.stale_seconds)
