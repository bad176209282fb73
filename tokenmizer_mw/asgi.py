"""Session memory for an ASGI application: pure ASGI, streams untouched, thin around an exchange.

What the middleware must never do is the hard part: it adds no task, no queue and no checkpoint between the
application and the server; every message goes on as it came, before the application's ``send`` returns; the
response is never changed; and whatever fails on our side, the chat goes on with the original bytes.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final, cast

import anyio

from tokenmizer_mw.errors import ConfigError, MalformedRequest
from tokenmizer_mw.exchange import (
    Forwarding,
    Headers,
    Opened,
    Reason,
    by_name,
    may_have_session,
    names_session,
    open_exchange,
)
from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.offload import offload
from tokenmizer_mw.wire.dialect import Dialect
from tokenmizer_mw.wire.dialects import ROUTES

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from tokenmizer_mw.memory import SessionMemory

GUARD: Final = "tokenmizer_mw"
"""Scope key by which a second middleware further in sees that the call is already looked after."""

INLINE_MAX: Final = 32 * 1024
"""Bytes of a request body that may be read on the event loop; longer ones are read in a worker thread."""

_LENGTH_DIGITS: Final = 18

_log = logging.getLogger("tokenmizer_mw")


class TokenMizerMiddleware:
    """Remembers the chats of the application inside, and cuts their transcripts when the context fills.

    ``routes`` maps path endings to dialects: "/chat/completions" matches "/v1/chat/completions", behind any
    ``root_path``; only POST is looked at. Whose session a chat belongs to is told by ``session`` (called with the
    scope; ``None``: it does not know), else by the body's field, else by the header that ``memory.settings`` name;
    ``tenant`` names its tenant. Chats without a session pass untouched. Both callables must not block.

    Raises ``ConfigError`` for a route that does not begin with "/".
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
        if wrong := [ending for ending in routes if not ending.startswith("/")]:
            raise ConfigError(f"a route begins with '/': {', '.join(wrong)}")
        self.app = app
        self.memory = memory
        self.session = session
        self.tenant = tenant
        self._routes = dict(routes)
        self._endings = tuple(routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection."""
        if scope["type"] == "http":
            dialect = self._dialect(scope)
            if dialect is not None:
                await _Call(self, dialect, scope, receive, send).run()
                return
        elif scope["type"] == "lifespan":
            send = self._draining(send)
        await self.app(scope, receive, send)

    def _dialect(self, scope: Scope) -> Dialect | None:
        """The dialect of a chat call; ``None`` for what is none, or is looked after further out."""
        path: str = scope["path"]
        if not path.endswith(self._endings) or scope["method"] != "POST" or GUARD in scope:
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
                    await offload(self.memory.flush)
                except Exception as error:
                    _failed(self.memory, "flush_failed", error)
            await send(message)

        return draining


class _Call:
    """One chat call: made for it, gone with it."""

    __slots__ = (
        "_collect",
        "_committed",
        "_dialect",
        "_done",
        "_forwarding",
        "_gone",
        "_headers",
        "_key",
        "_lock",
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
    )

    _collect: Callable[[bytes], bool]
    _forwarding: Forwarding
    _headers: dict[bytes, bytes]
    _key: SessionKey
    _session_id: str | None
    _tenant: str

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
        self._lock = threading.Lock()
        self._settled: anyio.Event | None = None
        self._settling = self._gone = self._done = self._committed = False

    async def run(self) -> None:
        app = self._middleware.app
        forwarding = await self._opened()
        if forwarding is None:
            await app(self._scope, self.receive if self._pending else self._receive, self._send)
            return
        self._forwarding = forwarding
        self._collect = forwarding.receive_data
        try:
            await app(self._inner_scope(forwarding), self.receive, self.send)
        except Exception:
            self._leave(Outcome.ABORTED if self._gone else Outcome.ERROR)
            raise
        except BaseException:
            self._leave(Outcome.ABORTED)
            raise
        self._leave(Outcome.ABORTED if self._gone else None)

    # -- the request -----------------------------------------------------------------------------------------

    async def _opened(self) -> Forwarding | None:
        """The call as it goes to the application, or ``None`` when it passes untouched: a counter says why."""
        try:
            refused = self._refused()
        except Exception as error:
            _failed(self._memory, "session_failed", error)
            return None
        body = refused or await self._read_body()
        if isinstance(body, Reason):
            self._memory.count(body.value)
            return None
        try:
            return await self._forwarding_of(body)
        except MalformedRequest:
            self._memory.count(Reason.MALFORMED_REQUEST.value)
        except Exception as error:
            _failed(self._memory, "open_failed", error)
        return None

    def _refused(self) -> Reason | None:
        """Why the call passes without a look at its body."""
        settings = self._memory.settings
        session, tenant = self._middleware.session, self._middleware.tenant
        self._session_id = session(self._scope) if session is not None else None
        self._tenant = tenant(self._scope) if tenant is not None else LOCAL_TENANT
        headers = self._headers = by_name(self._header_list())
        if self._session_id is None and not may_have_session(headers.items(), settings):
            return Reason.NO_SESSION
        if headers.get(b"content-encoding", b"identity") not in (b"", b"identity"):
            return Reason.REQUEST_ENCODED
        length = headers.get(b"content-length", b"")
        if length.isdigit() and int(length[:_LENGTH_DIGITS]) > settings.request_max:
            return Reason.REQUEST_TOO_LARGE
        return None

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

    async def _forwarding_of(self, body: bytes) -> Forwarding | None:
        in_body = self._session_id is None and names_session(body, self._memory.settings)
        if in_body and len(body) > INLINE_MAX:
            forwarding = await offload(partial(self._open_and_cut, body))
        else:
            opened = self._open(body, in_body=in_body)
            if opened is None:
                return None
            if not self._may_cut(opened):
                forwarding = opened.forward()
            else:
                forwarding = await offload(partial(self._cut, opened))
        if forwarding is not None and forwarding.changed:
            self._pending = deque([{"type": "http.request", "body": forwarding.body, "more_body": False}])
        return forwarding

    def _open(self, body: bytes, *, in_body: bool) -> Opened | None:
        memory = self._memory
        opened = open_exchange(
            self._dialect,
            self._headers.items(),
            body,
            memory.settings,
            path=self._scope["path"],
            session_id=self._session_id,
            in_body=in_body,
            known=memory.known,
        )
        self._key = SessionKey(self._tenant, opened.session_id or "")
        if self._key.valid():
            return opened
        self._memory.count((opened.reason or Reason.SESSION_INVALID).value)
        return None

    def _may_cut(self, opened: Opened) -> bool:
        """Whether it is worth a worker thread to see if the transcript must be cut."""
        linked = self._dialect.linked
        return self._memory.may_cut(opened.body, linked) and self._memory.may_cut(opened.body, linked, opened.models)

    def _open_and_cut(self, body: bytes) -> Forwarding | None:
        opened = self._open(body, in_body=True)
        return self._cut(opened) if opened is not None else None

    def _cut(self, opened: Opened) -> Forwarding:
        request = opened.request
        try:
            if self._memory.may_cut(opened.body, self._dialect.linked, (request.model,)):
                return opened.forward(self._memory.prepare(self._key, request))
        except Exception as error:
            _failed(self._memory, "cut_failed", error)
        return opened.forward()

    def _inner_scope(self, forwarding: Forwarding) -> Scope:
        scope = {**self._scope, GUARD: True}
        if forwarding.changed:
            scope["headers"] = _with_length(scope.get("headers", ()), len(forwarding.body))
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
            if not self._done and self._completes(message):
                await self._settle(message)
                return
        elif message["type"] == "http.response.start":
            message = self._started(message)
        try:
            await self._send(message)
        except OSError:
            self._gone = True
            raise

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
        try:
            self._forwarding.receive_start(message["status"], headers)
        except Exception as error:
            self._give_up(error)
        return message

    def _completes(self, message: Message) -> bool:
        """Keep a piece of the response; whether the turn has to be durable before the piece is released."""
        piece = message.get("body")
        try:
            if piece and self._collect(piece if type(piece) is bytes else bytes(piece)):
                return True
        except Exception as error:
            self._give_up(error)
            return False
        return not message.get("more_body", False)

    def _give_up(self, error: Exception) -> None:
        self._done = True
        _failed(self._memory, "collect_failed", error)

    async def _settle(self, message: Message) -> None:
        """Acknowledged means kept: commit the turn, then release the piece that completes it."""
        self._settling = True
        try:
            await self._committing(not message.get("more_body", False))
            await self._send(message)
        except OSError:
            self._gone = True
            raise
        finally:
            self._settling = False
            if self._settled is not None:
                self._settled.set()
                self._settled = None
            self._extract_later()

    async def _committing(self, last: bool) -> None:
        try:
            await offload(partial(self._commit, last))
        except Exception as error:
            _failed(self._memory, "commit_failed", error)

    def _extract_later(self) -> None:
        try:
            if self._committed:
                self._memory.extract_later(self._key)
        except Exception as error:
            _failed(self._memory, "extract_failed", error)

    def _leave(self, outcome: Outcome | None) -> None:
        """The application is through. What was not committed is, in the background: nobody waits for it."""
        try:
            if not self._committed:  # it may be under way still, when the caller was cancelled meanwhile
                self._memory.later(partial(self._commit_and_extract, outcome), self._forwarding.held)
        except Exception as error:
            _failed(self._memory, "commit_failed", error)

    def _commit_and_extract(self, outcome: Outcome | None) -> None:
        self._commit(True, outcome)
        if self._committed:
            self._memory.extract(self._key)

    def _commit(self, last: bool, outcome: Outcome | None = None) -> None:
        """Commit the turn if that was not done and if the reply is complete, or its ``last`` piece was seen."""
        with self._lock:
            if self._done:
                return
            try:
                closed = self._forwarding.close(outcome)
                self._done = last or closed.settled
                if self._done:
                    self._memory.commit(self._key, closed.messages, closed.reply)
                    self._committed = True
                    for reason in closed.reasons:
                        self._memory.count(reason.value)
            except MalformedRequest:
                self._done = True
                self._memory.count(Reason.MALFORMED_REQUEST.value)
            except Exception as error:
                self._done = True
                _failed(self._memory, "commit_failed", error)


def _with_length(headers: Headers, length: int) -> list[tuple[bytes, bytes]]:
    """Headers for a body of ``length`` bytes: never a transfer coding, a length where there was either."""
    framing = (b"content-length", b"transfer-encoding")
    kept = [(name, value) for name, value in headers if name.lower() not in framing]
    return kept if len(kept) == len(list(headers)) else [*kept, (b"content-length", str(length).encode())]


def _failed(memory: SessionMemory, counter: str, error: BaseException) -> None:
    """Count a failure of ours and log it: its kind and place, never its text, which may hold what was said."""
    memory.count(counter)
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    place = f"{frame.tb_frame.f_code.co_name}:{frame.tb_lineno}" if frame is not None else "?"
    _log.warning("%s: %s in %s; the chat went on without", counter, type(error).__name__, place)
