"""Protocols for the two sides of a translation: the client's dialect and the provider's dialect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from .chat import ChatCall, Fault, ModelReply, Pinged, StreamEvent


@dataclass(frozen=True, slots=True)
class ProviderRequest:
    """A request to a provider: path below its base address (with query), and JSON body.

    ``headers``: headers that the dialect requires (a version), without credentials.
    """

    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


class StreamReader(Protocol):
    """Parses a provider's stream into events. The result does not depend on how the bytes are chunked."""

    def receive(self, data: bytes) -> Sequence[StreamEvent | Pinged]:
        """Return the events that ``data`` completes; ``b""`` ends the stream.

        Never raises: what cannot be parsed becomes a ``Fault``.
        """


class StreamWriter(Protocol):
    """Serialises events into a client's stream."""

    def send(self, event: StreamEvent) -> bytes:
        """Return the bytes for ``event``; may be empty."""

    def ping(self) -> bytes:
        """Return the bytes that keep an idle connection alive in this dialect."""


class ClientSide(Protocol):
    """A client dialect."""

    @property
    def name(self) -> str:
        """The dialect's name, as in ``wire``."""

    def call(self, body: Mapping[str, Any]) -> ChatCall:
        """Parse a request.

        Raises ``Untranslatable``, which names the field, for what no other dialect can express, and
        ``MalformedRequest`` for an invalid request.
        """

    def reply(self, answer: ModelReply, call: ChatCall, *, created: int) -> Mapping[str, Any]:
        """Return the reply's JSON body. ``created`` is the time in seconds since the epoch."""

    def writer(self, call: ChatCall, *, created: int) -> StreamWriter:
        """Return a writer for one stream."""

    def error(self, fault: Fault) -> Mapping[str, Any]:
        """Return the body of an error response."""

    def field(self, name: str) -> str:
        """Return the client's name of a field of the shared types, such as "sampling.seed"."""


class ProviderSide(Protocol):
    """A provider dialect."""

    @property
    def name(self) -> str:
        """The dialect's name, as in ``wire``."""

    def outgoing(self, call: ChatCall) -> ProviderRequest:
        """Return the request for the provider. Raises ``Untranslatable``, which names what this dialect cannot
        express."""

    def answer(self, body: Mapping[str, Any]) -> ModelReply:
        """Parse a complete reply. Raises ``ForeignReply`` for anything else."""

    def reader(self) -> StreamReader:
        """Return a reader for one stream."""

    def fault(self, status: int, body: bytes) -> Fault:
        """Parse an error response. Never raises."""
