"""The door: an ASGI middleware that lets in who has a key, and bounds what comes in.

    head       sizes and contradictions, the host that is named, pages in browsers
    key        who comes: tenant, key and scopes; whoever fails gets the same answer for every reason
    limits     of the tenant and of the key
    body       its size and its time, while the application reads it

What stands behind finds the caller in the scope (``caller_of``) and the key gone from the headers. When keys or limits
cannot be checked, nobody comes in. The response passes as it is; only pages that the settings name get headers added.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.model.session import LOCAL_TENANT

from .caller import Caller
from .failures import Failures
from .head import RequestHead, read_head
from .hosts import LOOPBACK, Hosts, same_origin
from .key_store import KeyStore
from .keyring import Keyring
from .limiting import RateLimits, open_limits
from .origins import Origins
from .paths import needed_scope
from .refusals import HOST_REFUSED, KEYS_UNKNOWN, NO_KEY, ORIGIN_REFUSED, Refusal
from .settings import AccessSettings
from .visit import Visit

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_log = logging.getLogger("tokenmizer_mw")

_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class Access:
    """Lets requests in to ``app``.

    ``keys``: where keys are kept; ``None``: no key is needed, everybody is the local tenant, and only requests that
    name this machine as their host are answered unless the settings name others (see ``check_bind``). ``limits``:
    counters to share with other doors; ``None`` opens those of the settings. ``needs``: the scope that a path needs
    at the door, "" for any caller.

    ``counts`` tells how many requests were refused, by the refusal's code. Raises ``ConfigError``.
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
        self.failures = Failures(settings)
        self.counts: Counter[str] = Counter()
        self._key_header = settings.key_header.encode("latin-1")
        self._open_paths = frozenset(settings.open_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, self._closing(send))
        else:
            await Visit(self, scope, receive, send).run()

    def head_of(self, scope: Scope) -> RequestHead | Refusal:
        """The request's head, or why it is refused for that."""
        head = read_head(scope.get("headers", ()), self.settings.head_max, self._key_header)
        if isinstance(head, Refusal):
            return head
        if not self.hosts.allows(head.host):
            return HOST_REFUSED
        if head.origin and self._foreign_page(scope, head):
            return ORIGIN_REFUSED
        return head

    async def caller(self, scope: Scope, head: RequestHead, path: str) -> Caller | Refusal | None:
        """Who comes; ``None``: nobody, and nobody is asked here."""
        if self.keys is None:
            return _LOCAL
        if head.key is None and path in self._open_paths:
            return None
        try:
            if not self.keys.fresh:
                await self.keys.refresh()
            caller = self.keys.known(head.key) if head.key is not None else None
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
        return not named and not same_origin(head.origin, head.host)

    def _closing(self, send: Send) -> Send:
        async def closing(message: Message) -> None:
            if message["type"] in ("lifespan.shutdown.complete", "lifespan.shutdown.failed"):
                await self.limits.close()
            await send(message)

        return closing


_LOCAL: Final = Caller(LOCAL_TENANT)


def _keyring(keys: Keyring | KeyStore | None, settings: AccessSettings) -> Keyring | None:
    if keys is None or isinstance(keys, Keyring):
        return keys
    if not hasattr(keys, "revoke"):
        raise ConfigError(f"keys is where keys are kept, such as open_keys(...), not {keys!r:.60}")
    return Keyring(keys, refresh_seconds=settings.refresh_seconds, stale_seconds=settings.stale_seconds)
