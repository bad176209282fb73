"""ASGI middleware that records the chats of an application and cuts long transcripts.

It adds no task and no queue between the application and the server. Each message of a response is passed on as it came,
before the application's ``send`` returns; the one that completes the reply first waits until the store has recorded it,
for at most ``Settings.store_wait_seconds``. Responses are never changed unless ``Settings.trim_replies`` or
``Settings.cache`` is on. When this package fails, the chat continues, without the step that failed or with the original
request bytes (``chat.exchange_opening.ExchangeOpening``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Final

import anyio

from tokenmizer_mw.chat.exchange import ChatExchange
from tokenmizer_mw.chat.reports import UnknownRoutes
from tokenmizer_mw.chat.service import check_wiring
from tokenmizer_mw.errors import ConfigError, RequestBlocked
from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.model.session import LOCAL_TENANT
from tokenmizer_mw.runtime.offload import STORE, offload
from tokenmizer_mw.session.naming import NamedSession, Reason, bind, reason_to_pass, session_in_headers, unbind
from tokenmizer_mw.wire.dialects import ROUTES
from tokenmizer_mw.wire.http import Headers, by_name, with_length
from tokenmizer_mw.wire.request import Dialect

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from tokenmizer_mw.memory import SessionMemory

GUARD: Final = "tokenmizer_mw"
"""Key of the ASGI scope under which an outer middleware notes that it records the call. The value is the session's
``SessionKey``. A second ``TokenMizerMiddleware`` inside passes such a call on unchanged."""

BLOCK: Final = "tokenmizer_block"
"""Key of the ASGI scope under which an outer application (such as the proxy, after a compaction) passes a resume block.
The block is put after the system messages and stands for everything that came before the request's messages."""

CHECKPOINT: Final = "tokenmizer_checkpoint"
"""Key of the ASGI scope for the id of the checkpoint (the named point of the session) at which the resume block under
``BLOCK`` was built."""

_SPOKEN: Final = frozenset({"http", "websocket"})


class TokenMizerMiddleware:
    """ASGI middleware that records the chats of the wrapped application. In their requests it replaces secrets by
    placeholders and, when a transcript fills the model's context window, the old messages by a resume block (a short
    text with the session's most important facts).

    - ``routes``: maps path endings to dialects (API formats). "/chat/completions" matches "/v1/chat/completions" under
      any ``root_path``. Only POST requests are handled. A path that looks like a chat and matches no route is logged
      once.
    - ``session``: called with the ASGI scope, returns the session id or ``None``. If it returns ``None`` or is not
      given, the session is taken from the body field, then from the header, that ``memory.settings`` name. A chat
      without a session passes unchanged and is not recorded.
    - ``tenant``: called with the scope, returns the tenant; without it, all sessions belong to the local tenant.

    Both callables run on the event loop and must not block. If one of them raises or returns an invalid value, the chat
    passes unchanged and is not recorded, and the counter ``session_failed`` or ``session_invalid`` goes up. A request
    that the guard blocks gets a response with status 400, and the application is not called. While the application
    handles a request, the session context is set for model calls that it makes through this package's transports:
    inside a recorded chat they pass unchanged; inside any other request they belong to the session that the callable or
    the header names.

    Raises ``ConfigError`` for a route that does not begin with "/" or ":" (as Google's method paths do), for arguments
    of a wrong type, and for an ``async`` callable.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        memory: SessionMemory,
        routes: Mapping[str, Dialect] = ROUTES,
        session: Callable[[Scope], str | None] | None = None,
        tenant: Callable[[Scope], str] | None = None,
    ) -> None:
        check_wiring(getattr(memory, "service", memory), routes)
        for name, given in (("session", session), ("tenant", tenant)):
            if given is not None and not callable(given):
                raise ConfigError(f"{name} is called with the scope of a request: {given!r:.60} cannot be called")
            if iscoroutinefunction(given) or iscoroutinefunction(type(given).__call__):
                raise ConfigError(f"{name} is a plain function, not an async one: {given!r:.60}")
        if wrong := [ending for ending in routes if not ending.startswith(("/", ":"))]:
            raise ConfigError(f"a route begins with '/' or ':': {', '.join(wrong)}")
        self.app = app
        self.memory = memory
        self.service = memory.service
        self.session = session
        self.tenant = tenant
        self._routes = dict(routes)
        self._endings = tuple(routes)
        self.unknown_routes: UnknownRoutes | None = UnknownRoutes()
        """Logs POST paths that look like chats and match no route; ``None``: they are not logged."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection. A POST request whose path matches a route is a chat call: it is recorded, and cut
        if necessary. All other connections, and those that an outer middleware of this class records already, are
        passed on unchanged."""
        if scope["type"] not in _SPOKEN or GUARD in scope:
            await self.app(scope, receive, self._draining(send) if scope["type"] == "lifespan" else send)
            return
        dialect = self._dialect(scope)
        if dialect is not None:
            await _Connection(self, scope, receive, send).run(dialect)
            return
        unknown, path = self.unknown_routes, scope["path"]
        if unknown is not None and scope.get("method") == "POST" and unknown.is_new(path, scope.get("headers", ())):
            send = _report_status(partial(unknown.report_once, path), send)
        await self.pass_on(scope, receive, send)

    async def pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the application for a request that is not recorded. Model calls that it makes meanwhile belong to the
        session that the request names, if it names one. Errors of the application are passed on.
        """
        token = bind(self.service, partial(self._name_session, scope))
        try:
            await self.app(scope, receive, send)
        finally:
            unbind(token)

    def _name_session(self, scope: Scope) -> NamedSession:
        """Return the session to which model calls of the application belong while it handles the request ``scope``."""
        session_id = self.session(scope) if self.session is not None else None
        if session_id is None:
            headers = scope.get("headers", ())
            if isinstance(headers, list | tuple):  # others can be read only once, and not by us
                session_id = session_in_headers(headers, self.memory.settings)
        return NamedSession(session_id, self.tenant(scope) if self.tenant is not None else LOCAL_TENANT)

    def _dialect(self, scope: Scope) -> Dialect | None:
        """Return the dialect (API format) of a chat call by its path; ``None`` if the request is no chat call."""
        path: str = scope["path"]
        if not path.endswith(self._endings) or scope.get("method") != "POST":
            return None
        root: str = scope.get("root_path", "")
        if root and path.startswith(root) and path[len(root) : len(root) + 1] in ("", "/"):
            path = path[len(root) :]
        for ending, dialect in self._routes.items():
            if path.endswith(ending):
                return dialect
        return None

    def _draining(self, send: Send) -> Send:
        """Wrap the ``send`` of a lifespan: before the end of the shutdown is reported, queued messages are written and
        their facts extracted, for at most ``Settings.drain_seconds``."""

        async def draining(message: Message) -> None:
            if message["type"] in ("lifespan.shutdown.complete", "lifespan.shutdown.failed"):
                try:
                    await offload(self.service.flush, STORE)
                except Exception as error:
                    self.service.report_failure("flush_failed", error)
            await send(message)

        return draining


class _Connection:
    """Stands between the server and the application during one chat call; made anew for each call."""

    __slots__ = (
        "_exchange",
        "_gone",
        "_middleware",
        "_pending",
        "_receive",
        "_scope",
        "_send",
        "_service",
        "_settled",
        "_settling",
        "_take",
    )

    _exchange: ChatExchange
    _take: Callable[[bytes], bool]

    def __init__(self, middleware: TokenMizerMiddleware, scope: Scope, receive: Receive, send: Send) -> None:
        self._middleware = middleware
        self._service = middleware.service
        self._scope = scope
        self._receive = receive
        self._send = send
        self._pending: deque[Message] = deque()
        self._settled: anyio.Event | None = None
        self._settling = self._gone = False

    async def run(self, dialect: Dialect) -> None:
        app, service = self._middleware.app, self._service
        try:
            exchange = await self._open(dialect)
        except RequestBlocked as blocked:
            await self._refuse(blocked)
            return
        if exchange is None:
            await self._middleware.pass_on(self._scope, self.receive if self._pending else self._receive, self._send)
            return
        self._exchange = exchange
        self._take = exchange.receive
        settings = service.settings
        if settings.trim_replies:
            app = _wrap_with_trimming(app, settings.capture_max)
        if service.answers is not None:
            app = self._wrap_with_cache(app)
        token = bind(service, partial(NamedSession, exchange.given_session, exchange.tenant), remembered=True)
        try:
            await app(self._inner_scope(), self.receive, self.send)
        except Exception:
            service.leave(exchange, Outcome.ABORTED if self._gone else Outcome.ERROR)
            raise
        except BaseException:
            service.leave(exchange, Outcome.ABORTED)
            raise
        finally:
            unbind(token)
        service.leave(exchange, Outcome.ABORTED if self._gone else None)

    # -- the request -----------------------------------------------------------------------------------------

    async def _open(self, dialect: Dialect) -> ChatExchange | None:
        """Read the request and prepare it for the application. Returns ``None`` if it must pass unchanged and
        unrecorded; a counter gives the reason."""
        middleware, settings, scope = self._middleware, self._service.settings, self._scope
        try:
            session_id = middleware.session(scope) if middleware.session is not None else None
            tenant = middleware.tenant(scope) if middleware.tenant is not None else LOCAL_TENANT
            given = scope.get("headers", ())
            headers = by_name(given if isinstance(given, list | tuple) else self._list_headers(given))
            reason = reason_to_pass(headers, settings, named=session_id is not None)
        except Exception as error:
            self._service.report_failure("session_failed", error)
            return None
        body = reason or await self._read_body(settings.request_max)
        if isinstance(body, Reason):
            self._service.count(body.value)
            return None
        exchange = ChatExchange(
            dialect,
            headers,
            body,
            settings,
            path=scope["path"],
            tenant=tenant,
            session_id=session_id,
            block=scope.get(BLOCK, ""),
            checkpoint=scope.get(CHECKPOINT, ""),
            known=self._service.known,
        )
        return exchange if await self._service.aprepare(exchange) else None

    def _wrap_with_cache(self, app: ASGIApp) -> ASGIApp:
        """Return ``app`` behind the response cache; ``app`` itself if the cache does not handle this call."""
        headers, query = self._scope.get("headers", ()), self._scope.get("query_string", b"")
        asking = self._service.ask_cache(self._exchange, headers, query=query)
        if asking is None:
            return app
        from tokenmizer_mw.saving.cache.cached_app import CachedApp  # most applications have no cache

        return CachedApp(app, asking, self._service.settings.cache_header)

    async def _refuse(self, blocked: RequestBlocked) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(blocked.body)).encode())]
        await self._send({"type": "http.response.start", "status": blocked.STATUS, "headers": headers})
        await self._send({"type": "http.response.body", "body": blocked.body})

    def _list_headers(self, headers: Headers) -> Headers:
        """Return ``headers``, which can be iterated only once, as a list, and put that list into the scope that the
        application gets."""
        listed = list(headers)
        self._scope = {**self._scope, "headers": listed}
        return listed

    async def _read_body(self, most: int) -> bytes | Reason:
        """Return the request body; or, if the call must pass unrecorded, the reason: the body has more than ``most``
        bytes, or the client disconnected before its end. Whatever is returned, the application gets all messages that
        were read here once more."""
        pieces: list[bytes] = []
        size = 0
        while True:
            message = await self._receive()
            self._pending.append(message)
            if message["type"] != "http.request":
                return Reason.REQUEST_INCOMPLETE
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            if size > most:
                return Reason.REQUEST_TOO_LARGE
            if not message.get("more_body", False):
                return b"".join(pieces)

    def _inner_scope(self) -> Scope:
        """Return the scope for the application. If the body to forward differs from the client's, the application
        receives that one, and the headers have its length."""
        exchange = self._exchange
        scope, body = {**self._scope, GUARD: exchange.key}, exchange.forwarded
        if body is not None and body is not exchange.sent:
            self._pending = deque([{"type": "http.request", "body": body, "more_body": False}])
            scope["headers"] = with_length(scope.get("headers", ()), len(body))
        return scope

    async def receive(self) -> Message:
        """The ``receive`` that the application gets: it returns the messages that were read already, then those of the
        server."""
        message = self._pending.popleft() if self._pending else await self._receive()
        if message["type"] == "http.disconnect":
            self._gone = True
        return message

    # -- the response ----------------------------------------------------------------------------------------

    async def send(self, message: Message) -> None:
        """The ``send`` that the application gets: it collects the reply and passes every message on, unchanged and in
        order, before it returns."""
        if self._settling:
            await self._until_settled()
        if message["type"] == "http.response.body":
            piece = message.get("body")
            try:
                completes = piece and self._take(piece if type(piece) is bytes else bytes(piece))
            except Exception as error:
                completes = self._give_up(error)
            if (completes or not message.get("more_body")) and not self._exchange.is_settled:
                await self._settle(message)
                return
        elif message["type"] == "http.response.start":
            message = self._start_response(message)
        try:
            await self._send(message)
        except OSError:
            self._gone = True
            raise

    async def _until_settled(self) -> None:
        """Wait while another task of the application is in ``_settle``, so that messages keep their order."""
        if self._settled is None:
            self._settled = anyio.Event()
        await self._settled.wait()

    def _start_response(self, message: Message) -> Message:
        headers = message.get("headers", ())
        if not isinstance(headers, list | tuple):
            headers = list(headers)
            message = {**message, "headers": headers}
        try:
            self._exchange.start_reply(message["status"], headers)
        except Exception as error:
            self._give_up(error)
        return message

    def _give_up(self, error: Exception) -> bool:
        self._service.give_up(self._exchange, error)
        self._take = _ignore_piece
        return False

    async def _settle(self, message: Message) -> None:
        """Record the turn, then send ``message``, which completes the reply. Waits for the store for at most
        ``Settings.store_wait_seconds``."""
        self._settling = True
        try:
            await self._service.acommit(self._exchange, last=not message.get("more_body", False))
            if self._exchange.is_settled:
                self._take = _ignore_piece
            await self._send(message)
        except OSError:
            self._gone = True
            raise
        finally:
            self._settling = False
            if self._settled is not None:
                self._settled.set()
                self._settled = None
            self._service.schedule_extraction(self._exchange)


def _wrap_with_trimming(app: ASGIApp, most: int) -> ASGIApp:
    """Wrap ``app`` so that polite phrases are removed from its replies that are not streamed and have at most ``most``
    bytes."""
    from tokenmizer_mw.saving.reply_trimming import TrimmedReplies  # most applications do not trim

    return TrimmedReplies(app, most=most)


def _report_status(report: Callable[[int], None], send: Send) -> Send:
    """Wrap ``send`` to call ``report`` with the status of the response once that has been sent."""

    async def reporting(message: Message) -> None:
        await send(message)
        if message["type"] == "http.response.start":
            report(message["status"])

    return reporting


def _ignore_piece(piece: bytes) -> bool:
    """Ignore a further piece of a response whose turn is already recorded or given up. Stands in for
    ``ChatExchange.receive``."""
    return False
