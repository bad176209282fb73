"""Forwards a client's call to a provider, and the provider's response to the client: both unchanged, or both translated
if their formats differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from time import time
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from tokenmizer_mw.errors import MalformedRequest, PeerError, Untranslatable
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.server.translate.chat import ChatCall
from tokenmizer_mw.server.translate.clients.anthropic import AnthropicClient
from tokenmizer_mw.server.translate.clients.openai_chat import OpenAIChatClient
from tokenmizer_mw.server.translate.clients.openai_responses import OpenAIResponsesClient
from tokenmizer_mw.server.translate.table import DIALECTS, Provider
from tokenmizer_mw.server.translate.translation import (
    REPLY_MAX,
    ClientSide,
    ProviderRequest,
    ProviderSide,
    Translation,
    dump,
)
from tokenmizer_mw.wire.http import Header, headers_to_return
from tokenmizer_mw.wire.reply import refusal

from .api_paths import ApiPath, rename_model, run_where_it_fits
from .connection import BrokenResponse
from .credentials import credentials, query_for, with_credentials
from .routing import Target
from .upstream import Unreachable, UpstreamAddress, UpstreamResponse, escaped_place, place

if TYPE_CHECKING:
    from starlette.types import Send

_CLIENTS: Final[Mapping[str, ClientSide]] = {
    side.name: side for side in (OpenAIChatClient(), OpenAIResponsesClient(), AnthropicClient())
}


@lru_cache(maxsize=256)
def provider_side(row: Provider) -> ProviderSide | None:
    """Return the translator for the provider's format of chat calls (its dialect); ``None`` if calls cannot be
    translated to it."""
    return row.side() if row.dialect in DIALECTS else None


@dataclass(frozen=True, slots=True)
class ClientCall:
    """One call as the client made it.

    - ``api_path``: the provider API that the request path belongs to.
    - ``query``: without the "?". ``headers``: without those that are only for this server.
    - ``model``: the model that the call names, "" for none.
    - ``escaped``: the path percent-encoded as received; b"" if it was received without escapes.
    - ``session``: the session in which the call is recorded; ``None`` if it is not recorded.
    - ``client``: the client's address, for the log.
    """

    api_path: ApiPath
    method: str
    query: bytes
    headers: list[Header]
    body: bytes
    model: str
    escaped: bytes = b""
    session: SessionKey | None = None
    client: str = ""


class Outbound(NamedTuple):
    """A request to send to a provider. ``headers``: without ``host`` and ``content-length``, which the HTTP client
    adds."""

    method: str
    place: UpstreamAddress
    headers: list[Header]
    body: bytes


class RefusedCall(PeerError):
    """Raised for a call that cannot be sent to a provider. ``status`` and ``body``: the error response to send to the
    client."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.body = body


class Forwarder(Protocol):
    """Protocol of an object that makes the request for one call and one target (a provider and a model), and sends the
    response to the client."""

    async def outbound(self) -> Outbound:
        """Return the request to send to the provider. Raises ``RefusedCall`` if it cannot be made, for example because
        the call cannot be translated."""

    async def hand_on(self, answer: UpstreamResponse, send: Send) -> None:
        """Send the provider's response ``answer`` to the client. Raises ``BrokenResponse`` if it breaks off, or
        ``Unreachable`` if it breaks off before the client has received anything."""


def forwarder_of(call: ClientCall, target: Target) -> Forwarder:
    """Return the forwarder for ``call`` and ``target`` (a provider and a model): the call is forwarded unchanged if the
    provider accepts its format, else translated. Raises ``RefusedCall`` if neither is possible."""
    api_path, server = call.api_path, target.server
    if server.takes(api_path.dialect) if api_path.dialect else server.family == api_path.family:
        return UnchangedForwarder(call, target)
    client, provider = _CLIENTS.get(api_path.dialect), provider_side(server.row)
    if client is None or provider is None:
        spoken = api_path.dialect or f"the path {api_path.path}"
        raise refuse_call(api_path, 400, "not_translated", f"the provider {server.name} has nothing like {spoken}")
    return TranslatingForwarder(call, target, Translation(client, provider))


def refuse_call(api_path: ApiPath, status: int, code: str, message: str) -> RefusedCall:
    """Return (not raise) the error that refuses a call, with an HTTP ``status``, a ``code`` for programs and a
    ``message`` for people. The error body is in the format that clients of ``api_path`` expect."""
    return RefusedCall(status, refusal(api_path.error_dialect, status, code, message))


class UnchangedForwarder:
    """Forwarder for a client and a provider with the same API. Only the address, the API key and the model's name are
    changed."""

    def __init__(self, call: ClientCall, target: Target) -> None:
        self._call = call
        self._target = target

    async def outbound(self) -> Outbound:
        """Return the request for the provider: the client's, with another address, other credentials and, if the target
        has another name for the model, that name."""
        call, target = self._call, self._target
        path, body = call.api_path.path, call.body
        if target.model != call.model:
            path, body = await rename_model(call.api_path, body, call.model, target.model)
        query = query_for(target, call.query) if call.query else b""
        base = target.server.row.base_url
        as_sent = call.escaped if path == call.api_path.path else b""
        goes = escaped_place(base, as_sent, query) if as_sent else place(base, path, query)
        return Outbound(call.method, goes, with_credentials(target, call.headers), body)

    async def hand_on(self, answer: UpstreamResponse, send: Send) -> None:
        """Send status, headers and bytes of the provider's response to the client as they arrive. Raises
        ``BrokenResponse`` if the response breaks off."""
        headers = headers_to_return(answer.headers)
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        async for piece in answer.pieces():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


_REQUEST_HEADERS: Final = (b"user-agent", b"traceparent", b"tracestate", b"x-request-id")
_ANSWER_HEADERS: Final = (b"retry-after", b"request-id", b"x-request-id", b"x-should-retry")
_ANSWER_PREFIXES: Final = (b"x-ratelimit-", b"ratelimit", b"anthropic-ratelimit-", b"retry-after-")


class TranslatingForwarder:
    """Forwarder for a client and a provider whose formats of chat calls differ: translates the request and the
    response."""

    _translated: ChatCall

    def __init__(self, call: ClientCall, target: Target, translation: Translation) -> None:
        self._call = call
        self._target = target
        self._translation = translation

    async def outbound(self) -> Outbound:
        """Return the request translated for the provider. Raises ``RefusedCall`` if the request is invalid or has
        something that cannot be translated; the error response names the field."""
        try:
            return await run_where_it_fits(self._outbound, self._call.body)
        except (MalformedRequest, Untranslatable) as error:
            reply = self._translation.refuse(error)
            raise RefusedCall(reply.status, reply.body) from None

    def _outbound(self) -> Outbound:
        call, target = self._call, self._target
        self._translated = replace(self._translation.call(call.body), model=target.model)
        outgoing = self._translation.outgoing(self._translated)
        kept = [pair for pair in call.headers if pair[0].lower() in _REQUEST_HEADERS]
        kept += [*json_headers(outgoing), *credentials(target, call.headers)]
        goes = escaped_place(target.server.row.base_url, outgoing.path.encode("ascii"))
        return Outbound("POST", goes, kept, dump(outgoing.body))

    async def hand_on(self, answer: UpstreamResponse, send: Send) -> None:
        """Translate the provider's response ``answer`` and send it to the client.

        A response that cannot be parsed becomes an error with status 502. Raises ``BrokenResponse`` if a stream breaks
        off, and ``Unreachable`` if a response that is not streamed does.
        """
        headers = [pair for pair in answer.headers if _is_forwarded(pair[0].lower())]
        if self._translated.stream and answer.status < 400:
            await self._stream(answer, headers, send)
            return
        try:
            body = await answer.read(REPLY_MAX)
        except BrokenResponse as error:  # unlike in a stream, the client has seen nothing yet
            raise Unreachable(f"the provider's response broke off: {error}") from None
        reading = partial(self._translation.reply, self._translated, answer.status, body, created=int(time()))
        reply = await run_where_it_fits(reading, body)
        headers += [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(reply.body))]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body})

    async def _stream(self, answer: UpstreamResponse, headers: list[Header], send: Send) -> None:
        stream = self._translation.stream(self._translated, created=int(time()))
        headers += [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        async for piece in answer.pieces():
            if translated := stream.feed(piece):
                await send({"type": "http.response.body", "body": translated, "more_body": True})
        await send({"type": "http.response.body", "body": stream.end(), "more_body": False})


def json_headers(outgoing: ProviderRequest) -> list[Header]:
    """Return the headers of a request with a JSON body that this server makes to a provider: content type, no
    compression of the response, and the headers that the provider's format requires."""
    names = {"content-type": "application/json", "accept-encoding": "identity", **outgoing.headers}
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in names.items()]


def _is_forwarded(name: bytes) -> bool:
    return name in _ANSWER_HEADERS or name.startswith(_ANSWER_PREFIXES)
