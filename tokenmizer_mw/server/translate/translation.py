"""Translates requests, replies and streams between a client's and a provider's dialect; parses JSON of untrusted
peers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, Protocol

from tokenmizer_mw.errors import ForeignReply, MalformedRequest, PeerError, Untranslatable
from tokenmizer_mw.wire.json_text import storable

from .chat import ChatCall, Fault, ModelReply, Pinged, StreamEvent

DEPTH_MAX: Final = 200
"""Number of nested objects and lists; deeper JSON is refused, because it could not be serialised again."""


def load(data: bytes | str) -> dict[str, Any]:
    """Parse a JSON object from untrusted text or UTF-8 bytes.

    Raises ``ValueError`` for anything else, for too deep nesting, and for numbers that JSON does not have (NaN,
    Infinity).
    """
    if isinstance(data, bytes) and b"\0" in data[:4]:
        raise ValueError("not in UTF-8")
    try:
        value = json.loads(data, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("no JSON object")
    if _is_deep(value):
        raise ValueError("nested too deeply")
    return value


def dump(value: Mapping[str, Any]) -> bytes:
    """Serialise a JSON object as compact UTF-8; unpaired surrogates become U+FFFD.

    Raises ``ValueError`` for too deep nesting, and for numbers that JSON does not have (NaN, Infinity).
    """
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return storable(text).encode()


def _is_deep(value: dict[str, Any]) -> bool:
    level: list[Any] = [value]
    for _ in range(DEPTH_MAX):
        inside = (inner for outer in level for inner in (outer.values() if isinstance(outer, dict) else outer))
        level = [inner for inner in inside if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


@dataclass(frozen=True, slots=True)
class ProviderRequest:
    """A request to a provider: ``path`` is the path below its base address, with the query; ``body`` is JSON.

    ``headers``: headers that the dialect requires (such as a version), without credentials.
    """

    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


class StreamReader(Protocol):
    """Parses one stream of a provider into stream events. The result does not depend on how the bytes are chunked."""

    def receive(self, data: bytes) -> Sequence[StreamEvent | Pinged]:
        """Return the events that ``data`` completes; ``b""`` ends the stream.

        Never raises: what cannot be parsed becomes a ``Fault``.
        """


class StreamWriter(Protocol):
    """Serialises the stream events of one reply in a client's dialect."""

    def send(self, event: StreamEvent) -> bytes:
        """Return the bytes for ``event``; may be empty."""

    def ping(self) -> bytes:
        """Return the bytes that keep an idle connection alive in this dialect."""


class ClientSide(Protocol):
    """What a client dialect (API format) has to provide for translation."""

    @property
    def name(self) -> str:
        """The dialect's name, such as "openai_chat"."""

    @property
    def words(self) -> Mapping[str, str]:
        """For each field that an error may name, the client's own name of it; ``client_field`` looks it up."""

    def call(self, body: Mapping[str, Any]) -> ChatCall:
        """Parse a request.

        Raises ``Untranslatable``, which names the field, for what no other dialect can express, and
        ``MalformedRequest`` for an invalid request.
        """

    def reply(self, answer: ModelReply, call: ChatCall, *, created: int) -> Mapping[str, Any]:
        """Return the JSON body of the model's reply ``answer`` to the request ``call``. ``created``: seconds since the
        epoch. Raises ``ForeignReply`` for content that the dialect cannot express."""

    def writer(self, call: ChatCall, *, created: int) -> StreamWriter:
        """Return an object that serialises one streamed reply to ``call`` in the client's dialect (API format).

        ``created``: the time of the reply, in seconds since the epoch.
        """

    def error(self, fault: Fault) -> Mapping[str, Any]:
        """Return the JSON body of an error response in the client's dialect."""


class ProviderSide(Protocol):
    """What a provider dialect (API format) has to provide for translation."""

    @property
    def name(self) -> str:
        """The dialect's name, such as "anthropic"."""

    def outgoing(self, call: ChatCall) -> ProviderRequest:
        """Return the request for the provider in its dialect. Raises ``Untranslatable``, which names the field of
        ``call`` that the dialect cannot express."""

    def answer(self, body: Mapping[str, Any]) -> ModelReply:
        """Parse a complete reply. Raises ``ForeignReply`` for anything else."""

    def reader(self) -> StreamReader:
        """Return an object that parses one stream of the provider."""

    def fault(self, status: int, body: bytes) -> Fault:
        """Parse the provider's error response. Never raises."""


REQUEST_MAX: Final = 64 * 1024 * 1024
"""Maximum size of a request, in bytes; a longer one is refused."""

REPLY_MAX: Final = 64 * 1024 * 1024
"""Maximum size of a complete reply, in bytes; a longer one is an error."""


@dataclass(frozen=True, slots=True)
class ClientReply:
    """A response to the client: status and JSON body."""

    status: int
    body: bytes


class Stream:
    """Translates one stream of a provider for a client. The result does not depend on how the bytes are chunked."""

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def feed(self, data: bytes) -> bytes:
        """Translate the next bytes of the provider's stream; return the bytes for the client, possibly none."""
        return self._write_events(data) if data else b""

    def end(self) -> bytes:
        """Return the last bytes for the client. If the provider's stream was cut off, so is the client's."""
        return self._write_events(b"")

    def _write_events(self, data: bytes) -> bytes:
        return b"".join(
            (self._writer.ping() if isinstance(event, Pinged) else self._writer.send(event))
            for event in self._reader.receive(data)
        )


def client_field(name: str, words: Mapping[str, str]) -> str:
    """Return the client's name of the field ``name`` of the dialect-neutral types, such as "sampling.seed".

    ``words`` maps a whole name, or its first component, to the client's name. The value "" stands for the rest of the
    name ("seed"). A name that is not in ``words`` is returned unchanged.
    """
    head, _, rest = name.partition(".")
    found = words.get(name, words.get(head))
    return name if found is None else found or rest


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
        """Return the request ``call`` in the provider's dialect. Raises ``Untranslatable``, which names the field of
        the client's request that the provider cannot express."""
        try:
            return self.provider.outgoing(call)
        except Untranslatable as error:
            place = client_field(error.field, self.client.words)
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
        """Return a translator for one streamed reply to ``call``. ``created``: the time of the reply, in seconds since
        the epoch."""
        return Stream(self.provider.reader(), self.client.writer(call, created=created))

    def refusal(self, fault: Fault) -> ClientReply:
        """Return an error response in the client's dialect. Its status is that of ``fault``, or 502 if that is 0."""
        return ClientReply(fault.status or 502, dump(self.client.error(fault)))

    def refuse(self, error: PeerError) -> ClientReply:
        """Return the error response (400) for a request that raised ``error``, because it cannot be parsed or
        translated."""
        if isinstance(error, Untranslatable):
            return self.refusal(Fault(400, str(error), "unsupported_parameter", error.field))
        return self.refusal(Fault(400, str(error), "invalid_request"))

    def _body(self, call: ChatCall, body: bytes, created: int) -> bytes:
        if len(body) > REPLY_MAX:
            raise ForeignReply(f"longer than {REPLY_MAX} bytes")
        return dump(self.client.reply(self.provider.answer(load(body)), call, created=created))
