"""Forwards a call to a provider and the response to the client, unchanged or translated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from time import time
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from tokenmizer_mw.errors import MalformedRequest, PeerError, Untranslatable
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.server.translate.chat import ChatCall
from tokenmizer_mw.server.translate.encoding import dump
from tokenmizer_mw.server.translate.translation import REPLY_MAX, Translation
from tokenmizer_mw.wire.refusal import refusal

from .connection import BrokenResponse
from .credentials import credentials, query_for, with_credentials
from .faces import Face
from .headers import Header, headers_to_return
from .naming import rename_model, where_it_fits
from .routing import Target
from .translators import client_side, provider_side
from .upstream import Unreachable, UpstreamAddress, UpstreamResponse, escaped_place, place

if TYPE_CHECKING:
    from starlette.types import Send


@dataclass(frozen=True, slots=True)
class ClientCall:
    """One call as the client made it.

    - ``headers``: without those that are only for this server.
    - ``escaped``: the path percent-encoded as received; "" if it was received without encoding.
    - ``session``: its session; ``None`` if the call is not recorded.
    - ``client``: the client's address, for the log.
    """

    face: Face
    method: str
    query: bytes
    headers: list[Header]
    body: bytes
    model: str
    escaped: bytes = b""
    session: SessionKey | None = None
    client: str = ""


class Outbound(NamedTuple):
    """A request to a provider; ``headers`` without host and length."""

    method: str
    place: UpstreamAddress
    headers: list[Header]
    body: bytes


class RefusedCall(PeerError):
    """Raised for a call that the proxy answers with this status and body, in the client's dialect."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.body = body


class Way(Protocol):
    """How one call is forwarded to one target."""

    async def outbound(self) -> Outbound:
        """Return the request for the provider. Raises ``RefusedCall``."""

    async def hand_on(self, answer: UpstreamResponse, send: Send) -> None:
        """Send the provider's response to the client. Raises ``BrokenResponse``; ``Unreachable`` before the first byte
        was sent."""


def way(asked: ClientCall, target: Target) -> Way:
    """Return how ``asked`` is forwarded to ``target``. Raises ``RefusedCall`` if it can be neither passed nor
    translated."""
    face, server = asked.face, target.server
    if server.takes(face.dialect) if face.dialect else server.family == face.family:
        return PassThrough(asked, target)
    client, provider = client_side(face.dialect), provider_side(server.row)
    if client is None or provider is None:
        spoken = face.dialect or f"the path {face.path}"
        raise _refuse_call(face, 400, "not_translated", f"the provider {server.name} has nothing like {spoken}")
    return Translating(asked, target, Translation(client, provider))


def _refuse_call(face: Face, status: int, code: str, message: str) -> RefusedCall:
    return RefusedCall(status, refusal(face.words_of, status, code, message))


class PassThrough:
    """Client and provider use the same API: bytes are forwarded unchanged, except for the model name."""

    def __init__(self, asked: ClientCall, target: Target) -> None:
        self._asked = asked
        self._target = target

    async def outbound(self) -> Outbound:
        """Return the request for the provider."""
        asked, target = self._asked, self._target
        path, body = asked.face.path, asked.body
        if target.model != asked.model:
            path, body = await rename_model(asked.face, body, asked.model, target.model)
        query = query_for(target, asked.query) if asked.query else b""
        base = target.server.row.base_url
        as_sent = asked.escaped if path == asked.face.path else b""
        goes = escaped_place(base, as_sent, query) if as_sent else place(base, path, query)
        return Outbound(asked.method, goes, with_credentials(target, asked.headers), body)

    async def hand_on(self, answer: UpstreamResponse, send: Send) -> None:
        """Forward status, headers and bytes as they arrive."""
        headers = headers_to_return(answer.headers)
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        async for piece in answer.pieces():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


_KEPT_REQUEST: Final = (b"user-agent", b"traceparent", b"tracestate", b"x-request-id")
_KEPT_ANSWER: Final = (b"retry-after", b"request-id", b"x-request-id", b"x-should-retry")
_KEPT_START: Final = (b"x-ratelimit-", b"ratelimit", b"anthropic-ratelimit-", b"retry-after-")


class Translating:
    """Client and provider use different dialects: the call is translated, or refused with the field that cannot be
    translated."""

    _call: ChatCall

    def __init__(self, asked: ClientCall, target: Target, translation: Translation) -> None:
        self._asked = asked
        self._target = target
        self._translation = translation

    async def outbound(self) -> Outbound:
        """Return the translated request. Raises ``RefusedCall`` for what the provider's dialect cannot express."""
        try:
            return await where_it_fits(self._outbound, self._asked.body)
        except (MalformedRequest, Untranslatable) as error:
            reply = self._translation.refuse(error)
            raise RefusedCall(reply.status, reply.body) from None

    def _outbound(self) -> Outbound:
        asked, target = self._asked, self._target
        self._call = replace(self._translation.call(asked.body), model=target.model)
        outgoing = self._translation.outgoing(self._call)
        kept = [pair for pair in asked.headers if pair[0].lower() in _KEPT_REQUEST]
        told = {"content-type": "application/json", "accept-encoding": "identity", **outgoing.headers}
        kept += [(name.encode("latin-1"), value.encode("latin-1")) for name, value in told.items()]
        kept += credentials(target, asked.headers)
        goes = escaped_place(target.server.row.base_url, outgoing.path.encode("ascii"))
        return Outbound("POST", goes, kept, dump(outgoing.body))

    async def hand_on(self, answer: UpstreamResponse, send: Send) -> None:
        """Send the translated response, with the provider's status."""
        headers = [pair for pair in answer.headers if _is_kept(pair[0].lower())]
        if self._call.stream and answer.status < 400:
            await self._stream(answer, headers, send)
            return
        try:
            body = await answer.read(REPLY_MAX)
        except BrokenResponse as error:  # unlike in a stream, the client has seen nothing yet
            raise Unreachable(f"the provider's response broke off: {error}") from None
        reading = partial(self._translation.reply, self._call, answer.status, body, created=int(time()))
        reply = await where_it_fits(reading, body)
        headers += [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(reply.body))]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body})

    async def _stream(self, answer: UpstreamResponse, headers: list[Header], send: Send) -> None:
        stream = self._translation.stream(self._call, created=int(time()))
        headers += [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        async for piece in answer.pieces():
            if said := stream.feed(piece):
                await send({"type": "http.response.body", "body": said, "more_body": True})
        await send({"type": "http.response.body", "body": stream.end(), "more_body": False})


def _is_kept(name: bytes) -> bool:
    return name in _KEPT_ANSWER or name.startswith(_KEPT_START)
