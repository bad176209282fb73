"""Synchronous and asynchronous base classes for the HTTP transports and their response bodies.

The subclasses for each HTTP library add that library's base classes. A response body passes on each piece unchanged.
The piece that completes the reply is passed on once the turn (request and reply) is stored durably, or at the latest
after ``Settings.store_wait_seconds``. Closing a body closes the stream below it once; errors of that stream are raised
unchanged.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from tokenmizer_mw.errors import RequestBlocked
from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.model.session import LOCAL_TENANT
from tokenmizer_mw.transports.calls import HTTPRequest, HTTPResponse, OutgoingCalls, ReplyWatch
from tokenmizer_mw.wire.dialects import ROUTES
from tokenmizer_mw.wire.request import Dialect

if TYPE_CHECKING:
    from tokenmizer_mw.memory import SessionMemory
    from tokenmizer_mw.saving.cache.answer import CachedAnswer

Q = TypeVar("Q", bound=HTTPRequest)
S = TypeVar("S", bound=HTTPResponse)
T = TypeVar("T")


class _Watched:
    """Base class of a response body that is being read: passes every piece on unchanged. The piece that completes the
    reply waits until the turn (request and reply) is stored, at most ``Settings.store_wait_seconds``. All other
    attributes are those of the wrapped stream."""

    def __init__(self, stream: Any, reply: ReplyWatch) -> None:
        self._stream = stream
        self._reply = reply
        self._over = self._closed = False

    def __getattr__(self, name: str) -> Any:
        if name == "_stream":
            raise AttributeError(name)
        return getattr(self._stream, name)

    def _first_close(self) -> bool:
        closed, self._closed = self._closed, True
        return not closed


class WatchedStream(_Watched):
    """The response body of a recorded call, for a synchronous transport. It passes every piece on unchanged, and
    records the reply while the caller reads it."""

    _pieces: Iterator[bytes]

    def __iter__(self) -> Self:
        self._pieces = iter(self._stream)
        return self

    def __next__(self) -> bytes:
        try:
            piece = next(self._pieces)
        except StopIteration:
            self._over = True
            self._reply.commit(last=True)
            raise
        except BaseException as error:
            self._over = True
            self._reply.commit(last=True, outcome=_caller_left(error), attempt=True)
            raise
        if self._reply.take(piece):
            self._reply.commit(last=False)
        return piece

    def close(self) -> None:
        """Close the underlying stream; a second call does nothing. Then the extraction of facts starts in the
        background. An incomplete reply is recorded with the outcome "aborted", which means that the caller stopped
        reading. Errors of the underlying stream are raised unchanged.
        """
        if not self._first_close():
            return
        try:
            self._stream.close()
        finally:
            if not self._over:
                self._reply.commit(last=True, outcome=Outcome.ABORTED, attempt=True)
            self._reply.end()
            self._reply.release()


class AsyncWatchedStream(_Watched):
    """The response body of a recorded call, for an asynchronous transport. It passes every piece on unchanged, and
    records the reply while the caller reads it. If the caller stops reading, the turn (request and reply) is recorded
    in the background."""

    _pieces: AsyncIterator[bytes]

    def __aiter__(self) -> Self:
        self._pieces = aiter(self._stream)
        return self

    async def __anext__(self) -> bytes:
        try:
            piece = await anext(self._pieces)
        except StopAsyncIteration:
            self._over = True
            await self._reply.acommit(last=True)
            raise
        except BaseException as error:
            self._over = True
            self._reply.leave(_caller_left(error), attempt=True)
            raise
        if self._reply.take(piece):
            await self._reply.acommit(last=False)
        return piece

    async def aclose(self) -> None:
        """Close the underlying stream; a second call does nothing. Then the extraction of facts starts in the
        background. An incomplete reply is recorded there, too, with the outcome "aborted", which means that the caller
        stopped reading. Errors of the underlying stream are raised unchanged."""
        if not self._first_close():
            return
        try:
            await self._stream.aclose()
        finally:
            if self._reply.is_settled:
                self._reply.end()
                self._reply.release()
            elif not self._over:
                self._reply.leave(Outcome.ABORTED, attempt=True)


def _caller_left(error: BaseException) -> Outcome | None:
    return None if isinstance(error, Exception) else Outcome.ABORTED


class Replayed:
    """The body of a response that comes from the response cache. Iterating over it, synchronously or asynchronously,
    gives the pieces (bytes) in which the response first arrived."""

    def __init__(self, answer: CachedAnswer) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        return self._answer.pieces()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._answer.pieces():
            yield piece

    def close(self) -> None:
        """Do nothing: a cached response has no connection."""

    async def aclose(self) -> None:
        """Do nothing: a cached response has no connection."""


class _Recording(Generic[Q, S, T]):
    """Base class of the synchronous and the asynchronous transport."""

    _default: ClassVar[type[Any]]
    _whole: ClassVar[type[Any]]
    _response: ClassVar[type[Any]]
    _body: ClassVar[type[Replayed]]

    def __init__(
        self,
        memory: SessionMemory,
        inner: T | None = None,
        *,
        routes: Mapping[str, Dialect] = ROUTES,
        tenant: str = LOCAL_TENANT,
    ) -> None:
        self._outgoing = OutgoingCalls(memory, routes, tenant, self._whole)
        self._inner: Any = self._default() if inner is None else inner

    def _replay(self, request: Q, answer: CachedAnswer) -> S:
        """Return the HTTP library's response object for a response from the cache."""
        response: S = self._response(200, headers=answer.headers(self._outgoing.marker), stream=self._body(answer))
        return response

    def _refuse_request(self, request: Q, blocked: RequestBlocked) -> S:
        """Return the HTTP library's response (status 400, JSON) for a request that the guard blocks."""
        headers = {"content-type": "application/json"}
        response: S = self._response(blocked.STATUS, headers=headers, content=blocked.body, request=request)
        return response


class RecordingTransport(_Recording[Q, S, T]):
    """Synchronous transport for httpx or httpx2 that records chat calls in a session memory.

    - ``memory``: where they are recorded. It stays open when the transport is closed.
    - ``inner``: the transport that sends the requests; ``None``: a new ``HTTPTransport`` of the same library. It is
      closed together with this transport.
    - ``routes``: maps path endings, such as "/chat/completions", to API formats (dialects); requests to other paths are
      not chats.
    - ``tenant``: owner of the sessions, used when no session context (``SessionMemory.session``) is active.

    The request of a recorded call is changed: its secrets are redacted, and its old messages are cut if necessary
    (``OutgoingCalls.send``). A request with a signature (such as AWS SigV4) is recorded and not changed. A call without
    a session passes unchanged and is not recorded; ``OutgoingCalls`` describes how the session of a call is found. A
    call that the response cache (``Settings.cache``) can answer is not sent. Raises ``ConfigError`` for invalid
    ``memory`` or ``routes``.
    """

    _wrap: ClassVar[type[WatchedStream]]

    def handle_request(self, request: Q) -> S:
        """Send a request and return the response as soon as its headers have arrived; the turn (request and reply) is
        recorded while its body is read. Errors of ``inner`` are raised unchanged. A request that the guard (the check
        for prompt injection) blocks is not sent: the response has status 400."""
        send: Callable[[Q], S] = self._inner.handle_request
        try:
            return self._outgoing.send(request, send, self._wrap, self._replay)
        except RequestBlocked as blocked:
            return self._refuse_request(request, blocked)

    def close(self) -> None:
        """Close the inner transport, which sends the requests."""
        self._inner.close()

    def __enter__(self) -> Self:
        self._inner.__enter__()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        self._inner.__exit__(exc_type, exc_value, traceback)


class AsyncRecordingTransport(_Recording[Q, S, T]):
    """Asynchronous transport for httpx or httpx2 that records chat calls in a session memory. Arguments as for
    ``RecordingTransport``.
    """

    _wrap: ClassVar[type[AsyncWatchedStream]]

    async def handle_async_request(self, request: Q) -> S:
        """Send a request and return the response as soon as its headers have arrived; the turn (request and reply) is
        recorded while its body is read. Errors of ``inner`` are raised unchanged. A request that the guard (the check
        for prompt injection) blocks is not sent: the response has status 400."""
        send: Callable[[Q], Awaitable[S]] = self._inner.handle_async_request
        try:
            return await self._outgoing.asend(request, send, self._wrap, self._replay)
        except RequestBlocked as blocked:
            return self._refuse_request(request, blocked)

    async def aclose(self) -> None:
        """Close the inner transport, which sends the requests."""
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        await self._inner.__aexit__(exc_type, exc_value, traceback)
