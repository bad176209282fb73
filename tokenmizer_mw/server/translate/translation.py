"""Translation between a client and a provider of another dialect, on bytes.

Pure: the caller passes the time. Errors reach the client in its own dialect, with the provider's status.
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
    """A response to the client: status and JSON body."""

    status: int
    body: bytes


class Stream:
    """Translates a provider's stream for a client. The result does not depend on how the bytes are chunked."""

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def feed(self, data: bytes) -> bytes:
        """Return the client's bytes for ``data``; may be empty."""
        return self._write_events(data) if data else b""

    def end(self) -> bytes:
        """Return the client's last bytes. If the provider's stream was cut off, so is the client's."""
        return self._write_events(b"")

    def fail(self, fault: Fault) -> bytes:
        """Return the client's last bytes after a connection error of the provider."""
        return self._writer.send(fault)

    def ping(self) -> bytes:
        """Return the bytes that keep an idle connection alive."""
        return self._writer.ping()

    def _write_events(self, data: bytes) -> bytes:
        return b"".join(self._write_event(event) for event in self._reader.receive(data))

    def _write_event(self, event: StreamEvent | Pinged) -> bytes:
        return self._writer.ping() if isinstance(event, Pinged) else self._writer.send(event)


@dataclass(frozen=True, slots=True)
class Translation:
    """Translates between one client dialect and one provider dialect."""

    client: ClientSide
    provider: ProviderSide

    def call(self, body: bytes) -> ChatCall:
        """Parse the client's request. Raises ``MalformedRequest`` and ``Untranslatable``."""
        if len(body) > REQUEST_MAX:
            raise MalformedRequest(f"the request is longer than {REQUEST_MAX} bytes")
        try:
            return self.client.call(load(body))
        except ValueError as error:
            raise MalformedRequest(f"not JSON: {error}") from None

    def request(self, body: bytes) -> tuple[ProviderRequest, ChatCall]:
        """Return the client's request translated for the provider, and as parsed. Raises as ``call`` does."""
        call = self.call(body)
        return self.outgoing(call), call

    def outgoing(self, call: ChatCall) -> ProviderRequest:
        """Return a parsed request for the provider. Raises ``Untranslatable``, which names the client's field."""
        try:
            return self.provider.outgoing(call)
        except Untranslatable as error:
            place = self.client.field(error.field)
            raise Untranslatable(place, str(error) if place == error.field else f"{place}: {error}") from None

    def reply(self, call: ChatCall, status: int, body: bytes, *, created: int) -> ClientReply:
        """Return the response to the client for a complete reply of the provider.

        Never raises: a reply that cannot be parsed becomes an error with status 502. ``created`` is the time in seconds
        since the epoch.
        """
        if status >= 400:
            return self.refusal(self.provider.fault(status, body))
        try:
            return ClientReply(status, self._body(call, body, created))
        except (ForeignReply, ValueError) as error:
            return self.refusal(Fault(502, f"the provider's reply cannot be read: {error}", "foreign_reply"))

    def stream(self, call: ChatCall, *, created: int) -> Stream:
        """Return a translator for one stream."""
        return Stream(self.provider.reader(), self.client.writer(call, created=created))

    def refusal(self, fault: Fault) -> ClientReply:
        """Return an error response in the client's dialect."""
        return ClientReply(fault.status or 502, dump(self.client.error(fault)))

    def refuse(self, error: PeerError) -> ClientReply:
        """Return the response to a request that cannot be parsed or translated."""
        if isinstance(error, Untranslatable):
            return self.refusal(Fault(400, str(error), "unsupported_parameter", error.field))
        return self.refusal(Fault(400, str(error), "invalid_request"))

    def _body(self, call: ChatCall, body: bytes, created: int) -> bytes:
        if len(body) > REPLY_MAX:
            raise ForeignReply(f"longer than {REPLY_MAX} bytes")
        return dump(self.client.reply(self.provider.answer(load(body)), call, created=created))
