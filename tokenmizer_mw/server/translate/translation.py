"""Translates requests, replies and streams between the API format (dialect) of a client and that of a provider. Also
parses JSON that clients and providers sent, which may be malformed on purpose."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, Protocol

from tokenmizer_mw.errors import ForeignReply, MalformedRequest, PeerError, Untranslatable
from tokenmizer_mw.wire.json_text import storable

from .chat import ChatCall, Fault, ModelReply, Pinged, StreamEvent

DEPTH_MAX: Final = 200
"""Maximum nesting depth of objects and lists in JSON. Deeper JSON is refused, because it could not be written again."""


def load(data: bytes | str) -> dict[str, Any]:
    """Parse a JSON object from untrusted text or UTF-8 bytes.

    Raises ``ValueError`` for anything that is not a JSON object, for nesting deeper than ``DEPTH_MAX``, and for NaN and
    Infinity, which are no JSON.
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
    """Return a JSON object as compact UTF-8 bytes. Unpaired surrogates (halves of a character) become U+FFFD.

    Raises ``ValueError`` for too deep nesting, and for NaN and Infinity, which are no JSON.
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
    """A request to a provider.

    - ``path``: path below the provider's base address, percent-encoded and with the query.
    - ``body``: the JSON object to send.
    - ``headers``: headers that the API format requires, such as a version; API keys are not among them.
    """

    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


class StreamReader(Protocol):
    """Protocol of an object that parses one stream of a provider into API-independent stream events. The result does
    not depend on how the stream's bytes are split into pieces."""

    def receive(self, data: bytes) -> Sequence[StreamEvent | Pinged]:
        """Return the stream events that are complete with ``data``, the next bytes of the stream. b"" says that the
        stream has ended.

        Never raises: what cannot be parsed becomes a ``Fault``.
        """


class StreamWriter(Protocol):
    """Protocol of an object that writes the stream events of one reply in a client's API format."""

    def send(self, event: StreamEvent) -> bytes:
        """Return the bytes to send to the client for ``event``; b"" if the API format has nothing for it."""

    def ping(self) -> bytes:
        """Return the bytes that keep an idle connection alive; clients of this API format ignore them."""


class ClientSide(Protocol):
    """Protocol of the translator for the API format (dialect) of a client."""

    @property
    def name(self) -> str:
        """The API format's name, such as "openai_chat"."""

    @property
    def words(self) -> Mapping[str, str]:
        """Field names for errors: name in the API-independent types of ``translate.chat``, whole or only its first
        part, such as "sampling" -> the client's name. "" stands for the rest of the name: "sampling.seed" is "seed"
        then (``client_field`` does that)."""

    def call(self, body: Mapping[str, Any]) -> ChatCall:
        """Parse the JSON object of a request.

        Raises ``Untranslatable``, which names the field, for what no other API format can express, and
        ``MalformedRequest`` for an invalid request.
        """

    def reply(self, answer: ModelReply, call: ChatCall, *, created: int) -> Mapping[str, Any]:
        """Return the model's reply ``answer`` to the request ``call`` as the JSON body of a response in the client's
        API format. ``created``: the time to report, in seconds since the epoch. Raises ``ForeignReply`` for content
        that the API format cannot express."""

    def writer(self, call: ChatCall, *, created: int) -> StreamWriter:
        """Return an object that writes one streamed reply to ``call`` in the client's API format. ``created``: the time
        of the reply to report, in seconds since the epoch."""

    def error(self, fault: Fault) -> Mapping[str, Any]:
        """Return the error ``fault`` as the JSON body of an error response in the client's API format."""


class ProviderSide(Protocol):
    """Protocol of the translator for the API format (dialect) of a provider."""

    @property
    def name(self) -> str:
        """The API format's name, such as "anthropic"."""

    def outgoing(self, call: ChatCall) -> ProviderRequest:
        """Return the request ``call`` in the provider's API format. Raises ``Untranslatable``, which names the field of
        ``call`` that the API format cannot express."""

    def answer(self, body: Mapping[str, Any]) -> ModelReply:
        """Parse the JSON object of a complete (not streamed) reply. Raises ``ForeignReply`` if it is no such reply, or
        reports an error."""

    def reader(self) -> StreamReader:
        """Return an object that parses one stream of the provider. Each stream needs a new object."""

    def fault(self, status: int, body: bytes) -> Fault:
        """Parse the body of the provider's error response with this HTTP status. Never raises; a body of unknown format
        gives a general message."""


REQUEST_MAX: Final = 64 * 1024 * 1024
"""Maximum size of a request in bytes. A longer one is refused."""

REPLY_MAX: Final = 64 * 1024 * 1024
"""Maximum size of a complete (not streamed) reply in bytes. A longer one is an error."""


@dataclass(frozen=True, slots=True)
class ClientReply:
    """A response to the client: status and JSON body."""

    status: int
    body: bytes


class Stream:
    """Translates one stream of a provider for a client. The result does not depend on how the stream's bytes are split
    into pieces."""

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def feed(self, data: bytes) -> bytes:
        """Translate the next bytes of the provider's stream. Returns the bytes for the client; b"" if nothing can be
        sent yet."""
        return self._write_events(data) if data else b""

    def end(self) -> bytes:
        """Return the last bytes for the client, after the provider's stream has ended. If the provider's stream was cut
        off, no end marker is sent, so the client sees that, too."""
        return self._write_events(b"")

    def _write_events(self, data: bytes) -> bytes:
        return b"".join(
            (self._writer.ping() if isinstance(event, Pinged) else self._writer.send(event))
            for event in self._reader.receive(data)
        )


def client_field(name: str, words: Mapping[str, str]) -> str:
    """Return the client's name of a field that an error names. ``name``: the field in the API-independent types of
    ``translate.chat``, such as "sampling.seed".

    ``words`` has the client's names, by the whole name or by its first component ("sampling"). The value "" stands for
    the rest of ``name`` ("seed"). A name that is not in ``words`` is returned unchanged.
    """
    head, _, rest = name.partition(".")
    found = words.get(name, words.get(head))
    return name if found is None else found or rest


@dataclass(frozen=True, slots=True)
class Translation:
    """Translates between the API format of one client and the API format of one provider."""

    client: ClientSide
    provider: ProviderSide

    def call(self, body: bytes) -> ChatCall:
        """Parse the client's request. Raises ``MalformedRequest`` if it is invalid, and ``Untranslatable`` for what no
        other API format can express."""
        if len(body) > REQUEST_MAX:
            raise MalformedRequest(f"the request is longer than {REQUEST_MAX} bytes")
        try:
            return self.client.call(load(body))
        except ValueError as error:
            raise MalformedRequest(f"not JSON: {error}") from None

    def request(self, body: bytes) -> tuple[ProviderRequest, ChatCall]:
        """Return the client's request translated for the provider, and the same request in API-independent types of
        ``translate.chat``. Raises ``MalformedRequest`` if it is invalid, and ``Untranslatable`` for what cannot be
        translated."""
        call = self.call(body)
        return self.outgoing(call), call

    def outgoing(self, call: ChatCall) -> ProviderRequest:
        """Return the request ``call`` in the provider's API format. Raises ``Untranslatable`` for what the provider's
        API format cannot express; the error names the field as the client knows it."""
        try:
            return self.provider.outgoing(call)
        except Untranslatable as error:
            place = client_field(error.field, self.client.words)
            raise Untranslatable(place, str(error) if place == error.field else f"{place}: {error}") from None

    def reply(self, call: ChatCall, status: int, body: bytes, *, created: int) -> ClientReply:
        """Return the response to the client for a complete (not streamed) reply of the provider. ``status`` and
        ``body``: the provider's response. ``created``: the time to report, in seconds since the epoch.

        Never raises: an error of the provider is translated, and a reply that cannot be parsed becomes an error with
        status 502.
        """
        if status >= 400:
            return self.refusal(self.provider.fault(status, body))
        try:
            return ClientReply(status, self._body(call, body, created))
        except (ForeignReply, ValueError) as error:
            return self.refusal(Fault(502, f"the provider's reply cannot be read: {error}", "foreign_reply"))

    def stream(self, call: ChatCall, *, created: int) -> Stream:
        """Return a translator for one streamed reply to ``call``. ``created``: the time of the reply to report, in
        seconds since the epoch."""
        return Stream(self.provider.reader(), self.client.writer(call, created=created))

    def refusal(self, fault: Fault) -> ClientReply:
        """Return the error ``fault`` as a response in the client's API format. The status is that of ``fault``, or 502
        if that is 0."""
        return ClientReply(fault.status or 502, dump(self.client.error(fault)))

    def refuse(self, error: PeerError) -> ClientReply:
        """Return the response with status 400 for a request that raised ``error``: ``MalformedRequest`` or
        ``Untranslatable``."""
        if isinstance(error, Untranslatable):
            return self.refusal(Fault(400, str(error), "unsupported_parameter", error.field))
        return self.refusal(Fault(400, str(error), "invalid_request"))

    def _body(self, call: ChatCall, body: bytes, created: int) -> bytes:
        if len(body) > REPLY_MAX:
            raise ForeignReply(f"longer than {REPLY_MAX} bytes")
        return dump(self.client.reply(self.provider.answer(load(body)), call, created=created))
