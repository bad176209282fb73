"""Session memory for an ASGI application: pure ASGI, streams untouched, thin around an exchange.

What the middleware must never do is the hard part: it adds no task, no queue and no checkpoint between the
application and the server; every message goes on as it came, before the application's ``send`` returns; the
response is never changed; and whatever fails on our side, the chat goes on with the original bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final, cast

import anyio

from tokenmizer_mw.chat.call import (
    Call,
    Turn,
    aanswered,
    aremember,
    check_wiring,
    failed,
    refused,
)
from tokenmizer_mw.chat.exchange import Reason, session_in_headers
from tokenmizer_mw.errors import ConfigError, RequestBlocked
from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.model.session import LOCAL_TENANT
from tokenmizer_mw.runtime.offload import STORE, offload
from tokenmizer_mw.saving.reply_trimming import TrimmedReplies
from tokenmizer_mw.session.current import NamedSession, bind, unbind
from tokenmizer_mw.wire.dialect import Dialect
from tokenmizer_mw.wire.dialects import ROUTES
from tokenmizer_mw.wire.headers import Headers, by_name, with_length

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from tokenmizer_mw.memory import SessionMemory
    from tokenmizer_mw.saving.cache.answer import CachedAnswer

GUARD: Final = "tokenmizer_mw"
"""Scope key by which whoever is further in sees that the call is already looked after: its value is the session's
``SessionKey``."""

BLOCK: Final = "tokenmizer_block"
"""Scope key under which whoever is further out leaves a block: it stands for what was before the request's messages."""

_SPOKEN: Final = frozenset({"http", "websocket"})


class TokenMizerMiddleware:
    """Remembers the chats of the application inside, and cuts their transcripts when the context fills.

    ``routes`` maps path endings to dialects: "/chat/completions" matches "/v1/chat/completions", behind any
    ``root_path``; only POST is looked at. Whose session a chat belongs to is told by ``session`` (called with the
    scope; ``None``: it does not know), else by the body's field, else by the header that ``memory.settings`` name;
    ``tenant`` names its tenant. Chats without a session pass untouched. Both callables must not block.

    While the application runs, the session is bound for its own calls through the outgoing transports: what it calls
    inside a chat that is remembered here passes them untouched; what it calls for any other request belongs to the
    session that the callable or the header names.

    Raises ``ConfigError`` for a route that does not begin with "/" (or ":", as the methods of Google's paths do), and
    for arguments of another kind.
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
        check_wiring(memory, routes)
        for name, given in (("session", session), ("tenant", tenant)):
            if given is not None and not callable(given):
                raise ConfigError(f"{name} is called with the scope of a request: {given!r:.60} cannot be called")
        if wrong := [ending for ending in routes if not ending.startswith(("/", ":"))]:
            raise ConfigError(f"a route begins with '/' or ':': {', '.join(wrong)}")
        self.app = app
        self.memory = memory
        self.session = session
        self.tenant = tenant
        self._routes = dict(routes)
        self._endings = tuple(routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection."""
        if scope["type"] not in _SPOKEN or GUARD in scope:
            await self.app(scope, receive, self._draining(send) if scope["type"] == "lifespan" else send)
            return
        token = bind(self.memory, partial(self._named, scope))
        try:
            dialect = self._dialect(scope)
            if dialect is not None:
                await _Chat(self, dialect, scope, receive, send).run()
            else:
                await self.app(scope, receive, send)
        finally:
            unbind(token)

    def _named(self, scope: Scope) -> NamedSession:
        """Whose session the application's own calls belong to, while it answers ``scope``."""
        session_id = self.session(scope) if self.session is not None else None
        if session_id is None:
            headers = scope.get("headers", ())
            if isinstance(headers, list | tuple):  # others can be read only once, and not by us
                session_id = session_in_headers(headers, self.memory.settings)
        return NamedSession(session_id, self.tenant(scope) if self.tenant is not None else LOCAL_TENANT)

    def _dialect(self, scope: Scope) -> Dialect | None:
        """The dialect of a chat call; ``None`` for what is none."""
        path: str = scope["path"]
        if not path.endswith(self._endings) or scope.get("method") != "POST":
            return None
        root: str = scope.get("root_path", "")
        if root and path.startswith(root) and path[len(root) : len(root) + 1] in ("", "/"):
            path = path[len(root) :]
        return next((dialect for ending, dialect in self._routes.items() if path.endswith(ending)), None)

    def _draining(self, send: Send) -> Send:
        """``send`` for a lifespan: what is still to be extracted is, within the deadline, before the process ends."""

        async def draining(message: Message) -> None:
            if message["type"] in ("lifespan.shutdown.complete", "lifespan.shutdown.failed"):
                try:
                    await offload(self.memory.flush, STORE)
                except Exception as error:
                    failed(self.memory, "flush_failed", error)
            await send(message)

        return draining


class _Chat:
    """One chat call: made for it, gone with it."""

    __slots__ = (
        "_collect",
        "_copy",
        "_dialect",
        "_gone",
        "_headers",
        "_memory",
        "_middleware",
        "_pending",
        "_receive",
        "_scope",
        "_send",
        "_session_id",
        "_settled",
        "_settling",
        "_tenant",
        "_turn",
    )

    _collect: Callable[[bytes], bool]
    _copy: Callable[[bytes], None] | None
    _headers: dict[bytes, bytes]
    _session_id: str | None
    _tenant: str
    _turn: Turn

    def __init__(
        self, middleware: TokenMizerMiddleware, dialect: Dialect, scope: Scope, receive: Receive, send: Send
    ) -> None:
        self._middleware = middleware
        self._memory = middleware.memory
        self._dialect = dialect
        self._scope = scope
        self._receive = receive
        self._send = send
        self._pending: deque[Message] = deque()
        self._settled: anyio.Event | None = None
        self._copy = None
        self._settling = self._gone = False

    async def run(self) -> None:
        app = self._middleware.app
        try:
            turn = await self._opened()
        except RequestBlocked as blocked:
            await self._refuse(blocked)
            return
        if turn is None:
            await app(self._scope, self.receive if self._pending else self._receive, self._send)
            return
        self._turn = turn
        self._collect = turn.collect
        if self._memory.settings.trim_replies:
            app = TrimmedReplies(app, most=self._memory.settings.capture_max)
        if turn.asking is not None:
            answer = await aanswered(turn)
            if answer is not None:
                app = partial(_replayed, answer, self._memory.settings.cache_header)
            elif turn.asking.recording is not None:
                self._copy = turn.asking.takes
        token = bind(self._memory, partial(NamedSession, self._session_id, self._tenant), remembered=True)
        try:
            await app(self._inner_scope(turn), self.receive, self.send)
        except Exception:
            turn.leave(Outcome.ABORTED if self._gone else Outcome.ERROR)
            raise
        except BaseException:
            turn.leave(Outcome.ABORTED)
            raise
        finally:
            unbind(token)
        turn.leave(Outcome.ABORTED if self._gone else None)

    # -- the request -----------------------------------------------------------------------------------------

    async def _opened(self) -> Turn | None:
        """The call as it goes to the application, or ``None`` when it passes untouched: a counter says why."""
        try:
            reason = self._refused()
        except Exception as error:
            failed(self._memory, "session_failed", error)
            return None
        body = reason or await self._read_body()
        if isinstance(body, Reason):
            self._memory.count(body.value)
            return None
        call = Call(
            self._memory,
            self._dialect,
            self._headers,
            body,
            self._scope["path"],
            self._tenant,
            self._session_id,
            query=self._scope.get("query_string", b""),
            given=self._scope.get("headers", ()),
            block=self._scope.get(BLOCK, ""),
        )
        turn = await aremember(call)
        if turn is not None and turn.changed:
            self._pending = deque([{"type": "http.request", "body": turn.body, "more_body": False}])
        return turn

    async def _refuse(self, blocked: RequestBlocked) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(blocked.body)).encode())]
        await self._send({"type": "http.response.start", "status": blocked.STATUS, "headers": headers})
        await self._send({"type": "http.response.body", "body": blocked.body})

    def _refused(self) -> Reason | None:
        """Why the call passes without a look at its body."""
        session, tenant = self._middleware.session, self._middleware.tenant
        self._session_id = session(self._scope) if session is not None else None
        self._tenant = tenant(self._scope) if tenant is not None else LOCAL_TENANT
        self._headers = by_name(self._header_list())
        return refused(self._headers, self._memory.settings, named=self._session_id is not None)

    def _header_list(self) -> Headers:
        """The request's headers; where they can be read only once, the application gets a list of them."""
        headers: Headers = self._scope.get("headers", ())
        if isinstance(headers, list | tuple):
            return headers
        self._scope = {**self._scope, "headers": list(headers)}
        return cast("Headers", self._scope["headers"])

    async def _read_body(self) -> bytes | Reason:
        """The body, or why there is none to look at. All that is read here is given to the application again."""
        pieces: list[bytes] = []
        size = 0
        while True:
            message = await self._receive()
            self._pending.append(message)
            if message["type"] != "http.request":
                return Reason.REQUEST_INCOMPLETE
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            if size > self._memory.settings.request_max:
                return Reason.REQUEST_TOO_LARGE
            if not message.get("more_body", False):
                return b"".join(pieces)

    def _inner_scope(self, turn: Turn) -> Scope:
        scope = {**self._scope, GUARD: turn.key}
        if turn.changed:
            scope["headers"] = with_length(scope.get("headers", ()), len(turn.body))
        return scope

    async def receive(self) -> Message:
        """The application's ``receive``: what was read, then whatever the server says. No checkpoint of its own."""
        message = self._pending.popleft() if self._pending else await self._receive()
        if message["type"] == "http.disconnect":
            self._gone = True
        return message

    # -- the response ----------------------------------------------------------------------------------------

    async def send(self, message: Message) -> None:
        """The application's ``send``: every message goes on before this returns, as it came and in order."""
        if self._settling:
            await self._until_settled()
        if message["type"] == "http.response.body":
            piece = message.get("body")
            if self._copy is not None:
                self._copied(piece, message)
            try:
                completes = piece and self._collect(piece if type(piece) is bytes else bytes(piece))
            except Exception as error:
                completes = self._give_up(error)
            if (completes or not message.get("more_body")) and not self._turn.done:
                await self._settle(message)
                return
        elif message["type"] == "http.response.start":
            message = self._started(message)
        try:
            await self._send(message)
        except OSError:
            self._gone = True
            raise

    def _copied(self, piece: object, message: Message) -> None:
        """The cache sees all of a response, also what comes when the turn is settled."""
        asking = self._turn.asking
        if asking is None or self._copy is None:
            return
        self._copy(bytes(piece) if isinstance(piece, bytearray | memoryview) else cast("bytes", piece or b""))
        if not message.get("more_body", False):
            asking.ended()

    async def _until_settled(self) -> None:
        """Another task of the application sends while a commit is under way: it must not overtake."""
        if self._settled is None:
            self._settled = anyio.Event()
        await self._settled.wait()

    def _started(self, message: Message) -> Message:
        headers = message.get("headers", ())
        if not isinstance(headers, list | tuple):
            headers = list(headers)
            message = {**message, "headers": headers}
        self._turn.starts(message["status"], headers)
        return message

    def _give_up(self, error: Exception) -> bool:
        self._turn.give_up(error)
        self._collect = _ignored
        return False

    async def _settle(self, message: Message) -> None:
        """Commit the turn, then release the piece that completes it. The store has until the deadline to answer."""
        self._settling = True
        try:
            await self._turn.acommit(not message.get("more_body", False))
            if self._turn.done:
                self._collect = _ignored
            await self._send(message)
        except OSError:
            self._gone = True
            raise
        finally:
            self._settling = False
            if self._settled is not None:
                self._settled.set()
                self._settled = None
            self._turn.extract_later()


async def _replayed(answer: CachedAnswer, marker: str, scope: Scope, receive: Receive, send: Send) -> None:
    """An application that gives an answer again, in the pieces in which it came."""
    await send({"type": "http.response.start", "status": 200, "headers": answer.headers(marker)})
    for piece in answer.pieces():
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _ignored(piece: bytes) -> bool:
    """What is done with a piece of a response whose turn is settled."""
    return False
