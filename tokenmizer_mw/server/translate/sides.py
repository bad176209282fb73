"""The two sides of a translation: the client's dialect and the provider's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from .chat import ChatCall, Fault, ModelReply, Pinged, StreamEvent


@dataclass(frozen=True, slots=True)
class ProviderRequest:
    """A request as a provider takes it: the path behind its base address, with the query, and the JSON body.
    ``headers`` are those that the dialect itself asks for (a version), without credentials."""

    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


class StreamReader(Protocol):
    """A provider's stream to events. Any chunking gives the same events."""

    def receive(self, data: bytes) -> Sequence[StreamEvent | Pinged]:
        """The events that ``data`` completes; ``b""`` is the end of the stream. Never raises: what cannot be read is a
        ``Fault``."""


class StreamWriter(Protocol):
    """Events to a client's stream."""

    def send(self, event: StreamEvent) -> bytes:
        """What the client gets for ``event``; may be empty."""

    def ping(self) -> bytes:
        """What keeps a silent connection alive in this dialect."""


class ClientSide(Protocol):
    """What a client speaks."""

    @property
    def name(self) -> str:
        """The dialect's name, as in ``wire``."""

    def call(self, body: Mapping[str, Any]) -> ChatCall:
        """The request in words. Raises ``Untranslatable``, which names the field, for what no other dialect can
        say, and ``MalformedRequest`` for what is no request."""

    def reply(self, answer: ModelReply, call: ChatCall, *, created: int) -> Mapping[str, Any]:
        """The reply's JSON body. ``created`` is the time in seconds since the epoch."""

    def writer(self, call: ChatCall, *, created: int) -> StreamWriter:
        """A writer for one stream."""

    def error(self, fault: Fault) -> Mapping[str, Any]:
        """The body of an error response."""

    def field(self, name: str) -> str:
        """The client's field in which it tells what a provider's side names, like "sampling.seed"."""


class ProviderSide(Protocol):
    """What a provider speaks."""

    @property
    def name(self) -> str:
        """The dialect's name, as in ``wire``."""

    def outgoing(self, call: ChatCall) -> ProviderRequest:
        """The request for the provider. Raises ``Untranslatable``, which names what this dialect cannot say."""

    def answer(self, body: Mapping[str, Any]) -> ModelReply:
        """A whole reply in the common form. Raises ``ForeignReply`` for a reply that cannot be read."""

    def reader(self) -> StreamReader:
        """A reader for one stream."""

    def fault(self, status: int, body: bytes) -> Fault:
        """An error response in words. Never raises."""
