"""The access middleware (ASGI): API-key authentication, rate limits, and limits on headers and bodies. It checks each
request in this order:

    head       size, contradictory headers, the ``Host`` header, requests from web pages
    key        API key; it gives the caller's tenant and scopes
    limits     rate limits of the tenant and of the key
    body       size and time, checked while the application reads it

A missing, malformed, unknown, revoked or expired key gets the same response, so that it reveals nothing. Inner
applications read the caller from the ASGI scope (``caller_of``); the key is removed from the headers that they see. If
keys or limits cannot be checked, the request is refused. Responses pass unchanged, except for CORS headers for the web
pages that the settings allow.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.model.session import LOCAL_TENANT
from tokenmizer_mw.wire.http import Header

from .caller import CALLER_KEY, CHAT, Caller, below_root, needed_scope, uses_tokens
from .counting import Taken, TooMuch
from .hosts import LOOPBACK, Hosts, Origins, is_same_origin
from .key_store import KeyStore
from .keyring import Keyring
from .limiting import FailedKeys, Plan, RateLimits, ResponseEnds, open_limits
from .refusals import (
    BODY_TOO_SLOW,
    HOST_REFUSED,
    KEYS_UNKNOWN,
    LIMITS_UNKNOWN,
    NO_KEY,
    NOT_GOOD_FOR,
    ORIGIN_REFUSED,
    Refusal,
    limit_refused,
)
from .requests import Body, RequestHead, body_refused, linger, read_head
from .settings import AccessSettings

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_log = logging.getLogger("tokenmizer_mw")
_POLICY_VIOLATION: Final = 1008
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class Access:
    """ASGI middleware that authenticates callers and applies limits before it calls ``app``.

    - ``keys``: the API keys; ``None`` if no key is needed. With ``None``, every caller has the tenant "local" (the
      default owner of sessions), and only requests whose ``Host`` header names this machine are answered, unless the
      settings name other hosts.
    - ``limits``: rate limits, for example shared with other instances; ``None`` opens those of ``settings``.
    - ``needs``: function that takes a request's path and returns the scope (permission) that the caller must have; ""
      if any caller may send such a request.

    ``counts`` has the number of refused requests by error code, such as "invalid_api_key". Raises ``ConfigError`` for
    invalid arguments.
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
        """Handle one ASGI connection: check it and pass it to the application, or refuse it. Lifespan events pass
        unchecked; when the server shuts down, connections to Redis are closed."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, self._closing(send))
        else:
            await GuardedRequest(self, scope, receive, send).run()

    def head_of(self, scope: Scope) -> RequestHead | Refusal:
        """Return the parsed headers of a request. Returns a refusal instead if the headers are invalid, or if they name
        a host or web page that is not allowed."""
        head = read_head(scope.get("headers", ()), self.settings.head_max, self._key_header)
        if isinstance(head, Refusal):
            return head
        if not self.hosts.allows(head.host):
            return HOST_REFUSED
        if head.origin and self._foreign_page(scope, head):
            return ORIGIN_REFUSED
        return head

    async def caller(self, scope: Scope, head: RequestHead, path: str) -> Caller | Refusal | None:
        """Return the caller whom the request's API key identifies.

        - If the server needs no keys at all: the local caller.
        - If the request has no key and ``path`` is one of the settings' ``open_paths``: ``None``, and the request is
          allowed.
        - If the key is missing, not valid or cannot be checked now, or if the client's host sent too many wrong keys: a
          refusal.

        ``path``: the request's path below the application's root.
        """
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
        """Return whether a web page of another site sends a request that may change something, while this server needs
        no key. Browsers allow such requests, so the server must refuse them. False for ``GET``, ``HEAD`` and
        ``OPTIONS``."""
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


class GuardedRequest:
    """Access control for one request: refuses it or passes it on, limits its body, and charges the tokens of its
    response to the rate limits.

    A new object is made for each request.
    """

    __slots__ = (
        "_access", "_body", "_head", "_origin", "_path", "_receive", "_refused", "_scope", "_send", "_started",
        "_usage",
    )  # fmt: skip

    _head: RequestHead

    def __init__(self, access: Access, scope: Scope, receive: Receive, send: Send) -> None:
        self._access = access
        self._scope = scope
        self._receive = receive
        self._send = send
        self._path = below_root(scope)
        self._body: Body | None = None
        self._usage: ResponseEnds | None = None
        self._origin = b""
        self._started = self._refused = False

    async def run(self) -> None:
        """Handle the request: refuse it, answer a CORS preflight (a browser's question whether a page may send a
        request), or pass it on. The tokens that it used are charged to the rate limits at its end."""
        access = self._access
        head = access.head_of(self._scope)
        if isinstance(head, Refusal):
            await self._refuse(head)
            return
        self._head = head
        if head.origin and access.origins is not None and access.origins.allows(head.origin):
            self._origin = head.origin
            answer = access.origins.preflight(self._scope.get("method", ""), head.origin, head.headers)
            if answer is not None:
                await self._answer(204, answer, b"")
                return
        caller = await access.caller(self._scope, head, self._path)
        if isinstance(caller, Refusal):
            await self._refuse(caller)
            return
        needed = access.needs(self._path)
        if caller is not None and needed and not caller.may(needed):
            await self._refuse(NOT_GOOD_FOR)
            return
        await self._check_limits(caller, chat=needed == CHAT and self._scope.get("method") == "POST")

    async def _check_limits(self, caller: Caller | None, *, chat: bool) -> None:
        limits = self._access.limits
        plan = limits.plan(caller) if caller is not None else None
        demand = (plan.chat if chat else plan.other) if plan is not None else None
        if plan is None or demand is None:
            await self._enter(caller)
            return
        try:
            taken = await limits.counters.take(demand)
        except Exception as error:
            _log.warning("limits_not_checked: %s", type(error).__name__)
            await self._refuse(LIMITS_UNKNOWN)
            return
        if isinstance(taken, TooMuch):
            await self._refuse(limit_refused(taken))
            return
        if chat and plan.tokens and uses_tokens(self._path):
            self._usage = ResponseEnds()
        try:
            await self._enter(caller)
        finally:
            await self._settle(plan, taken)

    async def _settle(self, plan: Plan, taken: Taken) -> None:
        tokens = self._usage.tokens(self._body.received if self._body is not None else 0) if self._usage else 0
        await self._access.limits.settle(plan, taken, tokens)

    async def _enter(self, caller: Caller | None) -> None:
        """Pass the request on to the application, or refuse it if the declared length or the encoding of its body is
        not allowed. ``caller``: stored in the ASGI scope; ``None`` stores none."""
        access = self._access
        scope = {**self._scope, "headers": self._head.without_key()}
        if caller is not None:
            scope[CALLER_KEY] = caller
        if scope["type"] != "http":
            await access.app(scope, self._receive, self._send)
            return
        refusal = body_refused(self._head, access.settings)
        if refusal is not None:
            await self._refuse(refusal)
            return
        self._body = Body(self._receive, self._head, access.settings)
        try:
            await access.app(scope, self.receive, self.send)
        except Exception:
            if not self._refused:  # after a refusal the application sees a disconnect, and may raise because of it
                raise

    async def receive(self) -> Message:
        """ASGI ``receive`` for the application: return the next message of the body. If the body exceeds a limit, the
        message is a disconnect, and the client gets an error response unless a response has already begun."""
        assert self._body is not None
        message = await self._body.receive()
        if self._body.refusal is not None and not self._refused and not self._started:
            await self._refuse(self._body.refusal)
        return message

    async def send(self, message: Message) -> None:
        """ASGI ``send`` for the application: pass every message on to the server. The first one gets CORS headers if
        the page is allowed. If the request was refused meanwhile, the application's messages are dropped."""
        if self._refused:
            return
        if message["type"] == "http.response.start":
            self._started = True
            message = self._starting(message)
        await self._send(message)
        if self._usage is not None and message["type"] == "http.response.body":
            self._usage.passes(message.get("body", b""))

    def _starting(self, message: Message) -> Message:
        if self._usage is None and not self._origin:
            return message
        headers = list(message.get("headers", ()))
        if self._usage is not None:
            named = {name.lower(): value for name, value in headers}
            encoding = named.get(b"content-encoding", b"")
            self._usage.starts(message["status"], named.get(b"content-type", b""), encoding)
        return {**message, "headers": headers + self._page_headers()}

    def _page_headers(self) -> list[Header]:
        origins = self._access.origins
        return origins.headers(self._origin) if self._origin and origins is not None else []

    async def _refuse(self, refusal: Refusal) -> None:
        self._refused = True
        self._access.counts[refusal.code] += 1
        if self._scope["type"] == "websocket":
            await self._receive()
            await self._send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": refusal.code})
            return
        body = refusal.body(self._path)
        sent = self._body is not None and self._body.sent
        lingers = refusal.closes and refusal is not BODY_TOO_SLOW and not sent
        headers = refusal.all_headers(len(body)) + self._page_headers()
        await self._answer(refusal.status, headers, body, lingers=lingers)

    async def _answer(self, status: int, headers: list[Header], body: bytes, *, lingers: bool = False) -> None:
        if self._scope.get("method") == "HEAD":
            body = b""
        await self._send({"type": "http.response.start", "status": status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body, "more_body": lingers})
        if lingers:
            await linger(self._receive)
            await self._send({"type": "http.response.body", "body": b""})
