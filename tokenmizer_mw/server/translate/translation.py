"""A client of one dialect and a provider of another: what goes between them, on bytes.

Pure: the time is given. What the client is told of an error is in its own dialect, with the status that the provider
told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.errors import ForeignReply, MalformedRequest, PeerError, Untranslatable

from .chat import ChatCall, Fault, Pinged, StreamEvent
from .encoding import dump, load
from .sides import ClientSide, ProviderRequest, ProviderSide, StreamReader, StreamWriter

REQUEST_MAX: Final = 64 * 1024 * 1024
"""Bytes of one request; a longer one is refused."""

REPLY_MAX: Final = 64 * 1024 * 1024
"""Bytes of one whole reply; a longer one is an error."""


@dataclass(frozen=True, slots=True)
class ClientReply:
    """What a client is answered: a status and a JSON body."""

    status: int
    body: bytes


class Stream:
    """A provider's stream on its way to a client. Any chunking of it gives the same bytes."""

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def feed(self, data: bytes) -> bytes:
        """What the client gets for ``data``; may be empty."""
        return self._written(data) if data else b""

    def end(self) -> bytes:
        """What the client gets when the provider has sent everything. Nothing tells of an end that did not come."""
        return self._written(b"")

    def fail(self, fault: Fault) -> bytes:
        """What the client gets when the provider breaks off with an error of its connection."""
        return self._writer.send(fault)

    def ping(self) -> bytes:
        """What keeps a silent connection alive."""
        return self._writer.ping()

    def _written(self, data: bytes) -> bytes:
        return b"".join(self._said(event) for event in self._reader.receive(data))

    def _said(self, event: StreamEvent | Pinged) -> bytes:
        return self._writer.ping() if isinstance(event, Pinged) else self._writer.send(event)


@dataclass(frozen=True, slots=True)
class Translation:
    """One client's dialect and one provider's."""

    client: ClientSide
    provider: ProviderSide

    def call(self, body: bytes) -> ChatCall:
        """The client's request in words. Raises ``MalformedRequest`` and ``Untranslatable``."""
        if len(body) > REQUEST_MAX:
            raise MalformedRequest(f"the request is longer than {REQUEST_MAX} bytes")
        try:
            return self.client.call(load(body))
        except ValueError as error:
            raise MalformedRequest(f"not JSON: {error}") from None

    def request(self, body: bytes) -> tuple[ProviderRequest, ChatCall]:
        """The client's request as the provider takes it, and in words. Raises as ``call`` does."""
        call = self.call(body)
        return self.outgoing(call), call

    def outgoing(self, call: ChatCall) -> ProviderRequest:
        """A request in words as the provider takes it. Raises ``Untranslatable``, which names the client's field."""
        try:
            return self.provider.outgoing(call)
        except Untranslatable as error:
            place = self.client.field(error.field)
            raise Untranslatable(place, str(error) if place == error.field else f"{place}: {error}") from None

    def reply(self, call: ChatCall, status: int, body: bytes, *, created: int) -> ClientReply:
        """What the client is answered for a whole reply of the provider. Never raises: one that cannot be read is an
        error with the status 502. ``created`` is the time in seconds since the epoch."""
        if status >= 400:
            return self.refusal(self.provider.fault(status, body))
        try:
            return ClientReply(status, self._body(call, body, created))
        except (ForeignReply, ValueError) as error:
            return self.refusal(Fault(502, f"the provider's reply cannot be read: {error}", "foreign_reply"))

    def stream(self, call: ChatCall, *, created: int) -> Stream:
        """One stream of the provider on its way to the client."""
        return Stream(self.provider.reader(), self.client.writer(call, created=created))

    def refusal(self, fault: Fault) -> ClientReply:
        """An error as the client is told it."""
        return ClientReply(fault.status or 502, dump(self.client.error(fault)))

    def refused(self, error: PeerError) -> ClientReply:
        """What the client is told of a request that is not understood, or not translated."""
        if isinstance(error, Untranslatable):
            return self.refusal(Fault(400, str(error), "unsupported_parameter", error.field))
        return self.refusal(Fault(400, str(error), "invalid_request"))

    def _body(self, call: ChatCall, body: bytes, created: int) -> bytes:
        if len(body) > REPLY_MAX:
            raise ForeignReply(f"longer than {REPLY_MAX} bytes")
        return dump(self.client.reply(self.provider.answer(load(body)), call, created=created))
