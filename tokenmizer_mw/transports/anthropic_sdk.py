"""Middleware for the Anthropic SDK that records the chats of a client.

It receives each attempt of a call as Python data, before the SDK encodes, signs and sends it. Therefore it also works
for clients whose wire format or signature a transport must not change, such as those of cloud providers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx2
from anthropic import APIRequest, APIResponse, AsyncAPIResponse, AsyncCallNext, BadRequestError, CallNext, Middleware
from pydantic import BaseModel

from tokenmizer_mw.chat.exchange import ChatExchange
from tokenmizer_mw.errors import RequestBlocked
from tokenmizer_mw.model.session import LOCAL_TENANT
from tokenmizer_mw.session.naming import NamedSession, Reason, bind_session
from tokenmizer_mw.transports.calls import OutgoingCalls
from tokenmizer_mw.transports.transport import AsyncWatchedByteStream, WatchedByteStream
from tokenmizer_mw.wire.dialects import ROUTES
from tokenmizer_mw.wire.http import Headers
from tokenmizer_mw.wire.request import Dialect

if TYPE_CHECKING:
    from tokenmizer_mw.memory import SessionMemory


def anthropic_middleware(
    memory: SessionMemory, *, routes: Mapping[str, Dialect] = ROUTES, tenant: str = LOCAL_TENANT
) -> Middleware:
    """Return a middleware that records chats in ``memory``, for ``Anthropic(middleware=[...])`` and
    ``AsyncAnthropic(middleware=[...])``, also for the SDK's cloud clients. In the requests of recorded calls it
    replaces secrets, and old messages if necessary, as ``Transport`` does. ``routes``, ``tenant``: as for
    ``RecordingTransport``.

    The session is named as with ``Transport``, with one difference: a header is used only if it is passed with the call
    (``extra_headers``), not with the client. Calls without a session pass unchanged and are not recorded. The response
    cache is not used. A ``Transport`` under the same client does not record these calls again.

    A call that the guard (the check for prompt injection) blocks is not sent: it raises the SDK's ``BadRequestError``
    (status 400). Raises ``ConfigError`` for invalid ``memory`` or ``routes``.
    """
    outgoing = OutgoingCalls(memory, routes, tenant)
    return _Remembering(memory, outgoing)


class _Remembering(Middleware):
    def __init__(self, memory: SessionMemory, outgoing: OutgoingCalls) -> None:
        self._service = memory.service
        self._outgoing = outgoing

    def handle(self, request: APIRequest, call_next: CallNext) -> APIResponse[Any]:
        exchange = self._exchange(request)
        with _refuse_blocked(request):
            is_recorded = exchange is not None and self._service.prepare(exchange)
        if exchange is None or not is_recorded:
            return call_next(request)
        with self._outgoing.note_lost(exchange), bind_session(self._service, _name_nobody, remembered=True):
            answer = call_next(self._forward_request(request, exchange))
        if (response := self._response(answer)) is not None:
            self._outgoing.receive(exchange, response, WatchedByteStream)
        return answer

    async def handle_async(self, request: APIRequest, call_next: AsyncCallNext) -> AsyncAPIResponse[Any]:
        exchange = self._exchange(request)
        with _refuse_blocked(request):
            is_recorded = exchange is not None and await self._service.aprepare(exchange)
        if exchange is None or not is_recorded:
            return await call_next(request)
        with self._outgoing.note_lost(exchange), bind_session(self._service, _name_nobody, remembered=True):
            answer = await call_next(self._forward_request(request, exchange))
        if (response := self._response(answer)) is not None:
            await self._outgoing.areceive(exchange, response, AsyncWatchedByteStream)
        return answer

    def _exchange(self, request: APIRequest) -> ChatExchange | None:
        path = request.url.partition("?")[0]
        return self._outgoing.exchange(request.method.upper(), path, lambda: _headers(request), lambda: _body(request))

    def _forward_request(self, request: APIRequest, exchange: ChatExchange) -> APIRequest:
        """Return the request to send: with the rewritten body if it was changed, and without this package's session
        header."""
        ours = self._service.settings.session_header.lower()
        headers = {name: value for name, value in request.headers.items() if name.lower() != ours}
        if len(headers) < len(request.headers):
            request = request.copy(headers=headers)
        if exchange.is_changed:
            request = request.copy(body=json.loads(exchange.forwarded or b""))
            request.options.extra_json = None
        return request

    def _response(self, answer: object) -> Any:
        """Return the HTTP response of the call. ``None`` if another middleware returned something else instead; a
        counter shows that."""
        response = getattr(answer, "http_response", None)
        if response is None:
            self._service.count(Reason.REPLY_FOREIGN.value)
        return response


@contextmanager
def _refuse_blocked(request: APIRequest) -> Iterator[None]:
    """Context manager that turns the guard's ``RequestBlocked`` into the SDK's ``BadRequestError``."""
    try:
        yield
    except RequestBlocked as blocked:
        response = httpx2.Response(blocked.STATUS, request=httpx2.Request(request.method, request.url))
        raise BadRequestError(str(blocked), response=response, body=json.loads(blocked.body)) from None


def _name_nobody() -> NamedSession:
    return NamedSession(None, LOCAL_TENANT)


def _headers(request: APIRequest) -> Headers:
    given = request.headers.items()
    return [(name.lower().encode(), value.encode()) for name, value in given if isinstance(value, str)]


def _body(request: APIRequest) -> bytes:
    """Return the request body as JSON bytes. Raises ``RuntimeError`` for a body that is not sent as a JSON object."""
    options = request.options
    if options.content is not None or options.files or not isinstance(options.json_data, Mapping):
        raise RuntimeError("the body is no JSON object")
    members = {**options.json_data, **(options.extra_json or {})}
    return json.dumps(members, ensure_ascii=False, default=_plain).encode("utf-8", "surrogatepass")


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    raise TypeError(f"not JSON: {type(value).__name__}")
