"""Record the model calls that an application makes, independent of the HTTP library.

The transport for a library provides the library's ``send`` function and a class for response bodies; everything else is
here. The response is returned as soon as its headers have arrived; only its ``stream`` is wrapped. If an SDK retries a
call, each attempt is a call of its own; a failed one is only counted, not recorded. The pieces of a reply are recorded
while the application reads them, and are passed to the response cache.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, cast

from tokenmizer_mw.chat.exchange import ChatExchange
from tokenmizer_mw.chat.exchange_commit import ATTEMPT_FAILED
from tokenmizer_mw.chat.service import SessionService, check_wiring
from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.session.naming import NamedSession, Reason, find_session_context, reason_to_pass
from tokenmizer_mw.wire.http import Headers, by_name, with_length
from tokenmizer_mw.wire.request import Dialect

if TYPE_CHECKING:
    from tokenmizer_mw.memory import SessionMemory
    from tokenmizer_mw.saving.cache.answer import CachedAnswer
    from tokenmizer_mw.saving.cache.answers import CacheLookup


class ReplyWatch:
    """Receives the pieces of a reply from a transport, records the turn (request and reply), and passes the pieces to
    the response cache. ``exchange``: the chat call that is answered."""

    def __init__(self, service: SessionService, exchange: ChatExchange) -> None:
        self._service = service
        self._exchange = exchange
        self._observer = exchange.observer

    @property
    def is_settled(self) -> bool:
        """Whether the turn was recorded and is final, so that further pieces do not change it."""
        return self._exchange.is_settled

    def start(self, status: int, headers: Headers) -> None:
        """Note the status and headers of the response. Call it once, before ``take``."""
        self._service.start_reply(self._exchange, status, headers)
        if self._observer is not None:
            self._observer.starts(status, headers)

    def take(self, piece: bytes) -> bool:
        """Take the next piece of the body. Returns true if the piece completes the reply: the caller must then call
        ``commit`` before it passes the piece on. Does not raise for bytes that cannot be parsed."""
        if self._observer is not None:
            self._observer.takes(bytes(piece))
        return self._service.take_piece(self._exchange, piece)

    def commit(self, *, last: bool, outcome: Outcome | None = None, attempt: bool = False) -> None:
        """Record the turn if its reply is complete or ``last`` is true, and wait until it is durable or
        ``Settings.store_wait_seconds`` have passed. Does nothing if the turn was recorded already. Blocks.

        - ``last``: whether no more pieces come.
        - ``outcome``: how the call ended; ``None``: as the reply says.
        - ``attempt``: whether the SDK may retry the call. If so, a failed call that brought no content is only counted.
        """
        if last and outcome is None and not attempt and self._observer is not None:
            self._observer.end_response()
        self._service.commit(self._exchange, last=last, outcome=outcome, attempt=attempt)

    async def acommit(self, *, last: bool) -> None:
        """Do what ``commit`` does, without blocking the event loop."""
        if last and self._observer is not None:
            self._observer.end_response()
        await self._service.acommit(self._exchange, last=last)

    def leave(self, outcome: Outcome | None, *, attempt: bool = False) -> None:
        """End the call without waiting. If its turn was not recorded yet, it is recorded in the background.
        ``outcome``, ``attempt``: as for ``commit``."""
        self._service.leave(self._exchange, outcome, attempt=attempt)

    def release(self) -> None:
        """Start the extraction of facts in the background. Call it when the caller has received the last piece, so that
        the extraction does not delay that piece."""
        self._service.schedule_extraction(self._exchange)

    def end(self) -> None:
        """Tell the response cache that nothing more of the response will be read."""
        if self._observer is not None:
            self._observer.over()


_SIGNATURES: Final = frozenset({b"content-digest", b"content-md5", b"digest", b"signature", b"x-amz-content-sha256"})
"""Request headers that hold a signature or digest of the request. If one is there, the request is not changed."""


class HTTPRequest(Protocol):
    """Type of a request of httpx or of httpx2, the successor of httpx: the attributes that the transports use."""

    method: str
    url: Any
    headers: Any
    extensions: Any
    stream: Any

    @property
    def content(self) -> bytes:
        """The body. Raises ``RuntimeError`` if it was not read."""

    def read(self) -> bytes:
        """Return the body, reading it from its stream if necessary."""


class HTTPResponse(Protocol):
    """Type of a response of httpx or of httpx2, the successor of httpx: the attributes that the transports use."""

    status_code: int
    headers: Any
    stream: Any
    is_closed: bool
    is_stream_consumed: bool

    @property
    def content(self) -> bytes:
        """The body after content decoding (such as gzip). Raises ``RuntimeError`` if it was neither read nor kept."""


Q = TypeVar("Q", bound=HTTPRequest)
S = TypeVar("S", bound=HTTPResponse)
Wrap = Callable[[Any, ReplyWatch], Any]
"""Function that gets a response's stream and a ``ReplyWatch``, and returns the stream wrapped in the HTTP library's
stream class, which passes each piece to the ``ReplyWatch``."""

Again = Callable[[Q, "CachedAnswer"], S]
"""Function that gets a request and a response in the cache, and returns that as a response object of the HTTP
library."""


class OutgoingCalls:
    """Selects the outgoing calls of an application that are chats, and records them through the session service.

    - ``routes``: maps path endings, such as "/chat/completions", to API formats (dialects); requests to other paths are
      not chats.
    - ``tenant``: owner of the sessions, used when no session context (``SessionMemory.session``) is active; otherwise
      the tenant of the context applies.
    - ``whole``: the HTTP library's class for request bodies held in memory. Any other body is a stream; a call with
      such a body passes unchanged and is not recorded, unless it was read before.

    The session is the one that the request names (in a body field or header, see the settings), else that of the
    session context. Raises ``ConfigError`` for invalid ``routes`` or ``memory``.
    """

    def __init__(
        self, memory: SessionMemory, routes: Mapping[str, Dialect], tenant: str, whole: type | tuple[()] = ()
    ) -> None:
        check_wiring(getattr(memory, "service", memory), routes)
        if not all(routes):
            raise ConfigError("a route is the end of a path and not empty")
        self.service = memory.service
        self._routes = dict(routes)
        self._endings = tuple(routes)
        self._tenant = tenant
        self._whole = whole
        ours = {memory.settings.session_header.lower()} | (
            {memory.settings.cache_header.lower()} if memory.service.answers else set()
        )
        self.marker = memory.settings.cache_header
        self._ours = frozenset(name.encode("latin-1", "replace") for name in ours)

    def send(self, request: Q, send: Callable[[Q], S], wrap: Wrap, again: Again[Q, S] | None = None) -> S:
        """Send a request with ``send`` and return its response.

        If the call is a chat that is recorded, ``send`` gets the request as it is forwarded: secrets redacted, old
        messages cut if necessary, texts compressed if the settings say so, without this package's own headers; a signed
        request stays as it is. ``wrap`` wraps the stream of the response, unless that is complete already. Any other
        request is sent, and its response returned, unchanged.

        If the response cache has a response and ``again`` is not ``None``, nothing is sent: ``again`` builds the
        response from the cached one. Raises what ``send`` raises, and ``RequestBlocked`` if the guard blocks the
        request.
        """
        exchange = self._exchange_of(request)
        if exchange is None or not self.service.prepare(exchange):
            return send(request)
        asking = self._ask_cache(request, exchange) if again is not None else None
        answer = asking.look() if asking is not None else None
        with self.note_lost(exchange):
            if answer is not None and again is not None:
                response = again(request, answer)
            else:
                response = send(self._forward_request(request, exchange))
        self.receive(exchange, response, wrap)
        return response

    async def asend(
        self, request: Q, send: Callable[[Q], Awaitable[S]], wrap: Wrap, again: Again[Q, S] | None = None
    ) -> S:
        """Do what ``send`` does, with an asynchronous ``send`` function."""
        exchange = self._exchange_of(request)
        if exchange is None or not await self.service.aprepare(exchange):
            return await send(request)
        asking = self._ask_cache(request, exchange) if again is not None else None
        answer = await asking.alook() if asking is not None else None
        with self.note_lost(exchange):
            if answer is not None and again is not None:
                response = again(request, answer)
            else:
                response = await send(self._forward_request(request, exchange))
        await self.areceive(exchange, response, wrap)
        return response

    # -- the request -----------------------------------------------------------------------------------------

    def exchange(
        self,
        method: str,
        path: str,
        headers: Callable[[], Headers],
        body: Callable[[], bytes],
    ) -> ChatExchange | None:
        """Return the chat call that a request makes, if it may be recorded; ``None`` if the request passes unchanged. A
        counter shows why a chat passes, for example because it names no session; a call within a chat that the
        middleware records already passes uncounted.

        ``method`` and ``path`` are those of the request. ``headers`` and ``body`` return those of the request; they are
        called only for a POST to one of the routes. ``body`` raises ``RuntimeError`` when the body is a stream that
        cannot be read in advance. The caller passes the result to the service's ``prepare``, which decides whether the
        call is recorded.
        """
        if method != "POST" or not path.endswith(self._endings):
            return None
        try:
            context = find_session_context(self.service)
            if context is not None and context.remembered:
                return None
            named = NamedSession(None, self._tenant) if context is None else context.name()
            exchange = self._exchange(path, list(headers()), body, named)
        except Exception as error:
            self.service.report_failure("open_failed", error)
            return None
        if isinstance(exchange, Reason):
            self.service.count(exchange.value)
            return None
        return exchange

    def _exchange_of(self, request: HTTPRequest) -> ChatExchange | None:
        body = partial(self._body, request)
        return self.exchange(request.method, request.url.path, lambda: request.headers.raw, body)

    def _ask_cache(self, request: HTTPRequest, exchange: ChatExchange) -> CacheLookup | None:
        url = request.url
        host = f"{url.scheme}://{url.host}:{url.port}"
        return self.service.ask_cache(exchange, request.headers.raw, host=host, query=url.query)

    def _body(self, request: HTTPRequest) -> bytes:
        """Return the request body. Raises ``RuntimeError`` if it is a stream."""
        return request.read() if isinstance(request.stream, self._whole) else request.content

    def _exchange(
        self, path: str, given: Headers, body: Callable[[], bytes], named: NamedSession
    ) -> ChatExchange | Reason:
        settings, headers = self.service.settings, by_name(given)
        reason = reason_to_pass(headers, settings, named=named.session_id is not None)
        if reason is not None:
            return reason
        try:
            content = body()
        except RuntimeError:
            return Reason.REQUEST_STREAMED
        if len(content) > settings.request_max:
            return Reason.REQUEST_TOO_LARGE
        dialect = next(dialect for ending, dialect in self._routes.items() if path.endswith(ending))
        fixed = not _SIGNATURES.isdisjoint(headers) or headers.get(b"authorization", b"").startswith(b"AWS4-")
        return ChatExchange(
            dialect,
            headers,
            content,
            settings,
            path=path,
            tenant=named.tenant,
            otherwise=named.session_id,
            fixed=fixed,
            known=self.service.known,
        )

    def _forward_request(self, request: Q, exchange: ChatExchange) -> Q:
        """Return the request to send: with the rewritten body if it was changed, and without this package's own headers
        (session and cache). A signed request stays as it is."""
        given: list[tuple[bytes, bytes]] = request.headers.raw
        headers = [(name, value) for name, value in given if name.lower() not in self._ours]
        if exchange.fixed or (len(headers) == len(given) and not exchange.is_changed):
            return request
        body = exchange.forwarded or b""
        if exchange.is_changed:
            headers = with_length(headers, len(body))
        make = cast("Callable[..., Q]", type(request))
        return make(request.method, request.url, headers=headers, content=body, extensions=dict(request.extensions))

    # -- the response ----------------------------------------------------------------------------------------

    @contextmanager
    def note_lost(self, exchange: ChatExchange) -> Iterator[None]:
        """Context manager around the sending of a call. If the sending raises an ``Exception``, the attempt is counted
        as failed; if it raises anything else, such as a cancellation, the turn is recorded with the outcome "aborted".
        The error is raised again."""
        try:
            yield
        except BaseException as error:
            if exchange.observer is not None:
                exchange.observer.over()
            if isinstance(error, Exception):
                self.service.count(ATTEMPT_FAILED)
            else:
                self.service.leave(exchange, Outcome.ABORTED)
            raise

    def receive(self, exchange: ChatExchange, response: HTTPResponse, wrap: Wrap) -> None:
        """Record a response that is complete, or wrap its stream with ``wrap`` so that it is recorded while the caller
        reads it. ``exchange``: the call that is answered.

        Not recorded are responses with a status outside of 200 to 299, and those whose stream was read already without
        keeping the body; they stay as they are.
        """
        reply = ReplyWatch(self.service, exchange)
        if self._note_response(reply, response, wrap):
            reply.commit(last=True)
            reply.release()

    async def areceive(self, exchange: ChatExchange, response: HTTPResponse, wrap: Wrap) -> None:
        """Do what ``receive`` does, without blocking the event loop."""
        reply = ReplyWatch(self.service, exchange)
        if self._note_response(reply, response, wrap):
            await reply.acommit(last=True)
            reply.release()

    def _note_response(self, reply: ReplyWatch, response: HTTPResponse, wrap: Wrap) -> bool:
        """Take a response, and return whether the whole reply was there and the turn must be committed now. The stream
        of a response that has not been read is wrapped, so that the reply is recorded while it is read. Two kinds of
        responses are not recorded: those with a status outside of 200 to 299 (counted from 400 on), and those whose
        stream somebody has read without keeping the body (counted)."""
        if not 200 <= response.status_code < 300:
            reply.end()
            if response.status_code >= 400:
                self.service.count(ATTEMPT_FAILED)
            return False
        headers: list[tuple[bytes, bytes]] = response.headers.raw
        if not (response.is_closed or response.is_stream_consumed):
            reply.start(response.status_code, headers)
            response.stream = wrap(response.stream, reply)
            return False
        try:
            content = response.content
        except RuntimeError:  # somebody below has consumed the stream and kept nothing
            reply.end()
            self.service.count(Reason.REPLY_FOREIGN.value)
            return False
        plain = [(name, value) for name, value in headers if name.lower() not in _OF_ENCODED_BODIES]
        reply.start(response.status_code, plain)
        reply.take(content)
        return True


_OF_ENCODED_BODIES: Final = frozenset({b"content-encoding", b"content-length"})
