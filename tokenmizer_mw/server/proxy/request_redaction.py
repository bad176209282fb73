"""Removes secrets from requests that the memory middleware does not record: calls that are not chats, bodies that are
not plain UTF-8, chats without a session.

A recorded chat is redacted by the memory middleware. Everything else is redacted here, directly before it is sent to
the provider. If redaction is on, no body is sent without a search for secrets, except media files and what the
configuration allows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.asgi import GUARD
from tokenmizer_mw.errors import MalformedRequest, RequestBlocked
from tokenmizer_mw.runtime.offload import CPU, STORE, offload
from tokenmizer_mw.safety.guard import judge
from tokenmizer_mw.wire.http import DECODERS, Header, Undecodable, header, with_length
from tokenmizer_mw.wire.request import Dialect

from .api_paths import api_path_of
from .request_bodies import BODILESS, dialect_of, read_ahead, replay_messages, send_refusal, whole_body

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from tokenmizer_mw.memory import SessionMemory
    from tokenmizer_mw.safety.request_redaction import RequestRedactor

INLINE_MAX: Final = 16 * 1024
"""Maximum size in bytes of a body that is redacted on the event loop. A longer one is redacted in a worker thread."""

_MEDIA: Final = (b"multipart/", b"audio/", b"image/", b"video/", b"application/octet-stream", b"application/pdf")
_NOT_UTF8: Final = "the request's body is not UTF-8, so secrets in it could not be redacted"
_IDENTITY: Final = (b"", b"identity")


class UnreadableBody(ValueError):
    """Raised for a body that cannot be parsed, so that secrets in it cannot be redacted. The text of the exception
    gives the reason, for the client."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """Body and headers of a request after redaction. They are the original objects if nothing changed."""

    body: bytes
    headers: Sequence[Header]


class RequestRedaction:
    """ASGI middleware in front of the relay ``app`` that removes secrets from request bodies.

    - ``memory``: provides the redactor and the settings of the guard (which refuses messages that read like an attack).
    - ``body_max``: maximum body size in bytes. Longer bodies are passed to ``app``, which refuses them. A compressed
      body that is longer after decompression is treated as one that cannot be read.
    - ``passes_unreadable``: whether bodies that cannot be read as text are forwarded; if not, they are refused with
      status 415.

    Media (audio, images, uploads) that are no text are always forwarded unchanged. What is forwarded without redaction
    is counted as ``request_not_redacted``.
    """

    def __init__(self, app: ASGIApp, memory: SessionMemory, body_max: int, *, passes_unreadable: bool = False) -> None:
        self._app = app
        self._memory = memory
        self._body_max = body_max
        self._passes_unreadable = passes_unreadable

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection: redact the request body and pass the request on, or answer with an error.
        Requests without a body and chats that the memory middleware has redacted already pass unchanged."""
        if scope["type"] != "http" or scope["method"] in BODILESS or GUARD in scope or not self._is_on():
            await self._app(scope, receive, send)
            return
        messages = await read_ahead(receive, self._body_max)
        body = whole_body(messages)
        if not body:
            await self._app(scope, replay_messages(messages, receive), send)
            return
        try:
            redacted = await self._redact_body(scope, body)
        except UnreadableBody as unreadable:
            await send_refusal(send, dialect_of(scope), 415, "request_not_readable", str(unreadable))
            return
        except RequestBlocked as blocked:
            self._memory.service.count("request_blocked")
            await send_refusal(send, dialect_of(scope), blocked.STATUS, "blocked_by_guard", blocked.MESSAGE)
            return
        if redacted.body is not body:
            scope = {**scope, "headers": redacted.headers}
            messages = [{"type": "http.request", "body": redacted.body, "more_body": False}]
        await self._app(scope, replay_messages(messages, receive), send)

    def _is_on(self) -> bool:
        return self._memory.settings.redact or self._memory.settings.guard == "block"

    async def _redact_body(self, scope: Scope, body: bytes) -> Redacted:
        if not self._memory.service.redaction.is_ready:
            await offload(lambda: self._memory.service.redaction.redactor, STORE)
        work = partial(self._redact, scope["path"], scope["headers"], body)
        return work() if len(body) <= INLINE_MAX else await offload(work, CPU)

    def _redact(self, path: str, headers: Sequence[Header], body: bytes) -> Redacted:
        """Return the request without secrets. Raises ``UnreadableBody`` if it cannot be read as text and may not pass,
        and ``RequestBlocked`` if a message of a chat reads like an attack and the settings want such messages
        refused."""
        api_path = api_path_of(path, headers)
        try:
            plain, text, forwarded = _readable(headers, body, self._body_max)
        except UnreadableBody:
            media = (header(headers, b"content-type") or b"").strip().lower()
            if not (self._passes_unreadable or media.startswith(_MEDIA)):
                raise
            self._memory.service.count("request_not_redacted")
            return Redacted(body, headers)
        if api_path is not None and api_path.chat_dialect is not None and self._memory.settings.guard == "block":
            _check_words(api_path.chat_dialect, plain, path)
        redactor: RequestRedactor | None = self._memory.service.redaction.redactor
        try:
            clean = redactor.document(text) if redactor is not None else text
        except Exception as error:
            self._memory.service.report_failure("redaction_failed", error)
            raise UnreadableBody("secrets in the request's body could not be redacted") from None
        if clean is text and plain is body:
            return Redacted(body, headers)
        if clean is not text:
            self._memory.service.count("request_redacted")
        changed = clean.encode("utf-8", "surrogatepass")
        return Redacted(changed, with_length(forwarded, len(changed)))


def _readable(headers: Sequence[Header], body: bytes, limit: int) -> tuple[bytes, str, Sequence[Header]]:
    """Return the decompressed body, the same as text, and the headers without the content encoding. Raises
    ``UnreadableBody`` for an unknown or broken encoding, a body of more than ``limit`` bytes, and bytes that are no
    text."""
    coding = (header(headers, b"content-encoding") or b"").strip().lower()
    plain, forwarded = body, headers
    if coding not in _IDENTITY:
        plain = _decode_body(coding.decode("latin-1"), body, limit)
        forwarded = [pair for pair in headers if pair[0].lower() != b"content-encoding"]
    encoding = json.detect_encoding(plain)
    if not encoding.startswith("utf-8"):
        return _recode(encoding, plain, forwarded)
    try:
        return plain, plain.decode(), forwarded
    except UnicodeDecodeError:
        raise UnreadableBody(_NOT_UTF8) from None


def _recode(encoding: str, plain: bytes, headers: Sequence[Header]) -> tuple[bytes, str, Sequence[Header]]:
    """Return a JSON body in UTF-16 or UTF-32 (RFC 4627, section 3), which some servers accept, converted to UTF-8: its
    bytes, its text and its headers. Raises ``UnreadableBody`` if it is not such JSON. ``encoding``: the encoding of
    ``plain``."""
    try:
        text = plain.decode(encoding)
        json.loads(text)
    except (ValueError, RecursionError):
        raise UnreadableBody(_NOT_UTF8) from None
    recoded = [(name, b"application/json" if name.lower() == b"content-type" else value) for name, value in headers]
    return text.encode("utf-8", "surrogatepass"), text, recoded


def _decode_body(coding: str, body: bytes, limit: int) -> bytes:
    decoder = DECODERS.get(coding)
    if decoder is None:
        raise UnreadableBody("the request's content encoding is not supported, so secrets could not be redacted")
    try:
        plain = decoder().decode(body, limit + 1)
    except Undecodable:
        raise UnreadableBody("the request's body cannot be decoded, so secrets in it could not be redacted") from None
    if len(plain) > limit:
        raise UnreadableBody("the decoded body of the request is too large to be redacted")
    return plain


def _check_words(dialect: Dialect, plain: bytes, path: str) -> None:
    """Raise ``RequestBlocked`` if a message of the chat reads like an attack (prompt injection). All messages are
    checked, because without a session it is unknown which of them are new. An invalid request is not refused here."""
    try:
        messages = dialect.read(plain, path=path).messages
    except MalformedRequest:
        return  # the provider refuses it
    suspicions = map(judge, messages)
    found = next((suspicion for suspicion in suspicions if suspicion.flagged), None)
    if found is not None:
        raise RequestBlocked(found.signals)
