"""One chat call as a straight line of stages: Opened -> Forwarding -> Closed. Bytes in, bytes out, no I/O.

    opened = open_exchange(dialect, headers, body, settings)   whose session is it
    forwarding = opened.forward(rewrite)                       what the inner application must see
    forwarding.receive_start(status, headers)                  the response begins
    forwarding.receive_data(chunk)                             only collected; True: commit before you release it
    closed = forwarding.close()                                decoded and read: what joins the session

A body is read as late as possible. A session id from a header needs no look at it before the response is over; a
session id in the body is found without parsing when the field's name is not in the bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from functools import cached_property, lru_cache
from json import dumps
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.model.session import is_usable_id
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.dialect import ChatRequest, Dialect, Reply
from tokenmizer_mw.wire.edits import append_edits, edited
from tokenmizer_mw.wire.encoding import DECODERS, Decoder, Undecodable
from tokenmizer_mw.wire.headers import Headers, header
from tokenmizer_mw.wire.history import History
from tokenmizer_mw.wire.known import KnownRequests
from tokenmizer_mw.wire.unread import mentions

if TYPE_CHECKING:
    from tokenmizer_mw.context.window import Rewrite
    from tokenmizer_mw.model.reminder import Reminder
    from tokenmizer_mw.model.saving import StageSaving
    from tokenmizer_mw.saving.compress.requests import CondensedRequest, Moved

TAIL: Final = 64
"""Bytes of what came before that are looked at again, so that a terminal event may be split anywhere."""

CLOSINGS_MAX: Final = 8
"""How often the reply is read before the end because its end seemed to be near."""

_UNKNOWN_LENGTH: Final = 1 << 62
_LENGTH_DIGITS: Final = 18
_LF: Final = 0x0A


class Reason(StrEnum):
    """Why a call passed untouched, or why less than all of it was remembered: the names of counters."""

    NO_SESSION = "no_session"
    SESSION_INVALID = "session_invalid"
    MALFORMED_REQUEST = "malformed_request"
    REQUEST_ENCODED = "request_encoded"
    REQUEST_TOO_LARGE = "request_too_large"
    REQUEST_INCOMPLETE = "request_incomplete"
    REQUEST_STREAMED = "request_streamed"
    REPLY_CAPPED = "reply_capped"
    REPLY_FOREIGN = "reply_foreign"
    REPLY_UNDECODABLE = "reply_undecodable"


def open_exchange(
    dialect: Dialect,
    headers: Headers,
    body: bytes,
    settings: Settings,
    *,
    path: str = "",
    session_id: str | None = None,
    in_body: bool | None = None,
    known: KnownRequests | None = None,
) -> Opened:
    """The call with this request, and the session it belongs to.

    A ``session_id`` that the caller brings wins, and then neither headers nor body are asked. Otherwise the body's
    field ``settings.session_field`` wins over the header ``settings.session_header``; where it is missing, null or
    not usable, the header counts. A field that named the session is ours and is dropped from what the application
    sees, unless ``settings.keep_session_field``; in all other cases the field is the application's own and stays.

    ``path`` is where the request was sent to, for dialects that name the model there. ``in_body`` is what
    ``names_session`` says, where the caller has asked it. ``known`` spares reading again what earlier requests began
    with.

    Raises ``MalformedRequest`` when the field has to be looked for in a body that is not a chat request.
    """
    if session_id is not None:
        return _opened(dialect, body, settings, path, session_id, known)
    in_header = session_in_headers(headers, settings)
    if not (names_session(body, settings) if in_body is None else in_body):
        return _opened(dialect, body, settings, path, in_header, known)
    request = dialect.read(body, known, path=path)
    in_field = request.fields.get(settings.session_field)
    if is_usable_id(in_field):
        drop = () if settings.keep_session_field else (settings.session_field,)
        return Opened(dialect, body, settings, in_field, path=path, drop=drop, _request=request)
    named = in_header if in_header is not None or in_field is None else ""
    return _opened(dialect, body, settings, path, named, None, request)


def may_have_session(headers: Headers, settings: Settings) -> bool:
    """False when nothing but the body could name a session, and no field of it is to be looked at either."""
    return bool(settings.session_field) or _in_header(headers, settings) is not None


def session_in_headers(headers: Headers, settings: Settings) -> str | None:
    """What the header that names a session says, usable or not; ``None`` when there is none."""
    given = _in_header(headers, settings)
    return _text(given) if given is not None else None


def _in_header(headers: Headers, settings: Settings) -> bytes | None:
    name = settings.session_header
    return header(headers, _wire_name(name)) if name else None


def _opened(
    dialect: Dialect,
    body: bytes,
    settings: Settings,
    path: str,
    named: str | None,
    known: KnownRequests | None,
    request: ChatRequest | None = None,
) -> Opened:
    reason = None
    if named is None:
        reason = Reason.NO_SESSION
    elif not is_usable_id(named):
        named, reason = None, Reason.SESSION_INVALID
    return Opened(dialect, body, settings, named, reason, path, _request=request, _known=known)


def names_session(body: bytes, settings: Settings) -> bool:
    """Whether the body may hold the session field, so that it must be read to know whose session it is."""
    field = settings.session_field
    return bool(field) and mentions(body, _spelled(field))


@lru_cache(maxsize=16)
def _spelled(field: str) -> bytes:
    return dumps(field, ensure_ascii=False).encode("utf-8", "surrogatepass")


@lru_cache(maxsize=16)
def _wire_name(header_name: str) -> bytes:
    return header_name.lower().encode("latin-1", "replace")


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


@dataclass(frozen=True)
class Opened:
    """A request whose session is known, or of which is known why it has none.

    ``session_id`` is ``None`` when the call is to pass untouched; ``reason`` says why then. ``path`` is
    where the request was sent to; ``drop`` names the fields of the body that are ours. ``original`` is the body as it
    was sent, where ``body`` is another one.
    """

    dialect: Dialect
    body: bytes
    settings: Settings
    session_id: str | None
    reason: Reason | None = None
    path: str = ""
    drop: tuple[str, ...] = ()
    original: bytes | None = None
    _request: ChatRequest | None = None
    _known: KnownRequests | None = None

    def with_body(self, body: bytes) -> Opened:
        """The same call with another body, such as one without secrets."""
        return replace(self, body=body, original=self.sent, _request=None)

    @property
    def sent(self) -> bytes:
        """The body as the client sent it."""
        return self.body if self.original is None else self.original

    @cached_property
    def request(self) -> ChatRequest:
        """The request in the body, read when first asked for. Raises ``MalformedRequest``."""
        return self._request or self.dialect.read(self.body, self._known, path=self.path)

    @property
    def models(self) -> tuple[str, ...]:
        """The models that the request may name, without reading it; none: any."""
        return self.dialect.models(self.body, self.path)

    def forward(self, rewrite: Rewrite | None = None, condensed: CondensedRequest | None = None) -> Forwarding:
        """The next stage, with the body that the inner application must see.

        Without a rewrite and without a field of ours to drop it is the original bytes object, unread. A rewrite
        that takes messages out and would make the body longer is not carried out. ``condensed`` is the request with
        shorter texts in its messages, where it goes on so. Raises ``MalformedRequest`` when a field is to be dropped
        from what is not a chat request.
        """
        if rewrite is None and condensed is None and not self.drop:
            return Forwarding(self, self.body)
        request = condensed.request if condensed is not None else self.request
        savings = condensed.savings if condensed is not None else ()
        moved = condensed.moved if condensed is not None else None
        plain = condensed is None and not self.drop
        body = self.body if plain else self.dialect.rewrite(request, drop=self.drop)
        for one in _ways(rewrite):
            shorter = self._shortened(request, one)
            if len(shorter) < len(body) or one.keep_from == request.prefix:
                return Forwarding(self, shorter, one, savings, moved)
        return Forwarding(self, body, savings=savings, moved=moved)

    def _shortened(self, request: ChatRequest, rewrite: Rewrite) -> bytes:
        """The bytes of ``request``, cut and with its reminder as ``rewrite`` says."""
        if rewrite.reminder is not None:
            places = rewrite.reminder.places
            request = edited(request, [edit for at, part in places for edit in append_edits(request, at, part.text)])
        return self.dialect.rewrite(
            request, drop=self.drop, keep_from=rewrite.keep_from, block=rewrite.block, role=rewrite.role
        )


class Forwarding:
    """A call on its way: ``body`` goes in, pieces of the response come by and are kept, up to the cap. ``rewrite`` is
    how the request was shortened, ``None`` when it was not; ``savings``: what stages of compression took out of it,
    ``moved``: how old outputs gave way just now.

    ``receive_start`` comes first, then ``receive_data`` with each piece. A piece is never changed and never parsed
    here; of an encoded response a decoded copy is kept.
    """

    __slots__ = (
        "_capped",
        "_chunks",
        "_clear",
        "_closings",
        "_decoder",
        "_ends",
        "_granted",
        "_keep",
        "_kind",
        "_left",
        "_opened",
        "_room",
        "_tail",
        "_torn",
        "body",
        "moved",
        "rewrite",
        "savings",
    )

    def __init__(
        self,
        opened: Opened,
        body: bytes,
        rewrite: Rewrite | None = None,
        savings: tuple[StageSaving, ...] = (),
        moved: Moved | None = None,
    ) -> None:
        self.body = body
        self.rewrite = rewrite
        self.savings = savings
        self.moved = moved
        self._opened = opened
        self._ends = opened.dialect.ends
        self._kind = _Kind.FAILED
        self._granted = self._clear = 0
        self._chunks: list[bytes] = []
        self._keep = self._chunks.append
        self._room = opened.settings.capture_max
        self._left = _UNKNOWN_LENGTH
        self._tail = b""
        self._closings = 0
        self._capped = self._torn = False
        self._decoder: Decoder | None = None

    @property
    def path(self) -> str:
        """Where the request was sent to."""
        return self._opened.path

    @property
    def held(self) -> int:
        """Bytes that are kept of the call."""
        return len(self._opened.body) + self._opened.settings.capture_max - self._room

    def receive_start(self, status: int, headers: Headers) -> None:
        """The response begins. Decides from its status and headers what will be kept of it."""
        self._kind = _Kind.UNNAMED
        encoding = b"identity"
        for key, value in headers:
            match key.lower():
                case b"content-type":
                    self._kind = _kind(value, self._opened.dialect)
                case b"content-length" if value.isdigit() and len(value) <= _LENGTH_DIGITS:
                    self._left = int(value)
                case b"content-encoding":
                    encoding = value.strip().lower() or encoding
        if not 200 <= status < 300:
            self._kind = _Kind.FAILED
        elif encoding != b"identity" and self._kind is not _Kind.FOREIGN:
            self._decode_as(encoding.decode("latin-1"))
        self._grant()

    def receive_data(self, chunk: bytes) -> bool:
        """Keep the next piece of the response body; ``b""`` is the end (an empty piece amid a body is not passed).

        True when this piece may complete the reply for whoever reads it: then the turn must be committed before
        the piece is released. That is at the end, at the last byte of an announced length, and when the piece may
        hold the terminal event of a stream.
        """
        size = len(chunk)
        if not 0 < size < self._clear:
            return self._receive_slowly(chunk)
        self._clear -= size
        self._keep(chunk)
        if self._tail or chunk[-1] != _LF:  # pieces are whole lines most of the time
            chunk = self._tail + chunk
            self._tail = b"" if chunk[-1] == _LF else chunk[-TAIL:]
        return self._ends(chunk) and self._alarmed(chunk)

    @property
    def changed(self) -> bool:
        """False when ``body`` is the original one."""
        return self.body is not self._opened.sent

    @property
    def reminder(self) -> Reminder | None:
        """What the request carries of what its cut took out."""
        return self.rewrite.reminder if self.rewrite is not None else None

    @property
    def opened(self) -> Opened:
        """The stage before."""
        return self._opened

    def close(self, outcome: Outcome | None = None) -> Closed:
        """Read what was collected. ``outcome`` is what the shell knows better: that the client left, or that the
        application failed. How the provider said that it ended stays: clients leave when they read of it. May be called
        again when more came in. Raises ``MalformedRequest`` when the request was not read yet and is none."""
        self._closings += 1
        request = self._opened.request
        reply = self._reply(request)
        if reply is not None and outcome is not None and not (reply.error or reply.finish_reason):
            reply = replace(reply, outcome=outcome)
        return Closed(request.messages, reply, settled=self._settled(reply), reasons=self._reasons())

    def _receive_slowly(self, chunk: bytes) -> bool:
        """A piece that needs a decision: the end, the cap or the announced length is near, or nothing is kept."""
        spent = self._granted - self._clear
        self._room = max(0, self._room - spent)
        self._left -= spent + len(chunk)
        complete = not chunk or self._left <= 0
        if self._decoder is not None:
            chunk = self._decoded(self._decoder, chunk)
            complete = complete or len(chunk) > self._room
        if self._kind in _NOT_COLLECTED:
            return complete or self._kind is _Kind.UNDECODABLE
        kept = chunk[: self._room]
        self._keep(kept)
        self._room -= len(kept)
        if len(kept) < len(chunk):
            self._capped, self._keep = True, _drop
        self._grant()
        seen = self._tail + chunk
        self._tail = seen[-TAIL:]
        ends = self._ends(seen) or (self._torn and (b"\n" in chunk or b"\r" in chunk))
        return complete or (ends and self._alarmed(seen))

    def _grant(self) -> None:
        """How many bytes may pass before something has to be decided again."""
        if self._decoder is not None or self._kind in _NOT_COLLECTED or self._torn:
            self._granted = self._clear = 0
        else:
            self._granted = self._clear = self._left if self._capped else min(self._room + 1, self._left)

    def _decode_as(self, encoding: str) -> None:
        if encoding in DECODERS:
            self._decoder = DECODERS[encoding]()
        else:
            self._kind = _Kind.UNDECODABLE

    def _decoded(self, decoder: Decoder, chunk: bytes) -> bytes:
        try:
            return decoder.decode(chunk, self._room + 1)
        except Undecodable:
            self._kind = _Kind.UNDECODABLE
            self._decoder = None
            return b""

    def _alarmed(self, seen: bytes) -> bool:
        """An end was seen, or something that looks like one: it is worth a closing, but not for ever.

        What gives the last event away may stand at its start: when its line is torn, its end alarms once more.
        """
        self._tail = b""
        self._torn = not seen.endswith((b"\n", b"\r"))
        if self._torn:
            self._granted, self._clear = self._granted - self._clear, 0
        return self._closings < CLOSINGS_MAX

    def _reply(self, request: ChatRequest) -> Reply | None:
        match self._kind:
            case _Kind.FAILED:
                return Reply(None, Outcome.ERROR)
            case _Kind.FOREIGN | _Kind.UNDECODABLE:
                return None
            case kind:
                stream = request.stream if kind is _Kind.UNNAMED else kind is _Kind.STREAM
        reply = self._opened.dialect.collect(b"".join(self._chunks), stream=stream)
        return replace(reply, outcome=Outcome.TRUNCATED) if self._capped else reply

    def _settled(self, reply: Reply | None) -> bool:
        if reply is None or self._capped or reply.finish_reason:
            return True
        return reply.outcome is not Outcome.TRUNCATED

    def _reasons(self) -> tuple[Reason, ...]:
        reason = _NOT_COLLECTED.get(self._kind)
        found = (reason,) if reason is not None else ()
        return (*found, Reason.REPLY_CAPPED) if self._capped else found


def _ways(rewrite: Rewrite | None) -> list[Rewrite]:
    """``rewrite``, and then the same without its reminder, which must not make a request longer than it was."""
    if rewrite is None:
        return []
    return [rewrite] if rewrite.reminder is None else [rewrite, replace(rewrite, reminder=None)]


def _drop(chunk: bytes) -> None:
    """What is done with a piece past the cap: its end is looked at, nothing is kept."""


@dataclass(frozen=True, slots=True)
class Closed:
    """A call that ended: what joins the session.

    ``messages`` are those of the client's request, not of a rewritten one. ``reply`` is ``None`` when the response
    was not one of the dialect's (another content type, or an encoding that cannot be undone); a reply without a
    message stands for a response that failed. ``settled`` is false when the reply lacks its end and more may come.
    ``reasons`` says why less was remembered than was sent.
    """

    messages: History
    reply: Reply | None
    settled: bool
    reasons: tuple[Reason, ...] = ()


class _Kind(Enum):
    """What is done with a response: read as one document or as a stream (unnamed: as the request asked), or not."""

    UNNAMED = "unnamed"
    WHOLE = "whole"
    STREAM = "stream"
    FOREIGN = "foreign"
    FAILED = "failed"
    UNDECODABLE = "undecodable"


_NOT_COLLECTED: Final[dict[_Kind, Reason | None]] = {
    _Kind.FAILED: None,
    _Kind.FOREIGN: Reason.REPLY_FOREIGN,
    _Kind.UNDECODABLE: Reason.REPLY_UNDECODABLE,
}

_STREAMS: Final = frozenset({b"text/event-stream", b"application/x-ndjson", b"application/jsonl"})


def _kind(content_type: bytes, dialect: Dialect) -> _Kind:
    media_type = content_type.split(b";", 1)[0].strip().lower()
    if media_type in _STREAMS:
        return _Kind.STREAM
    if media_type == b"application/json" or media_type.endswith(b"+json"):
        return _Kind.WHOLE
    return _Kind.WHOLE if media_type in dialect.media_types else _Kind.FOREIGN
