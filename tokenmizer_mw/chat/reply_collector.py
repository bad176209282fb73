"""Collects a response on its way to the client: stores its pieces, up to a size limit, and parses them at the end. No
I/O.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from functools import lru_cache
from typing import Final

from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.session.naming import Reason
from tokenmizer_mw.wire.dialect import Reply
from tokenmizer_mw.wire.http import DECODERS, Decoder, Headers, Undecodable
from tokenmizer_mw.wire.request import Dialect

TAIL: Final = 64
"""This many of the last bytes are searched again with the next piece, because the last event of a stream may be split
between pieces."""

CLOSINGS_MAX: Final = 8
"""The reply is parsed at most this many times before its end, each time because a piece looked like the last one."""

_UNKNOWN_LENGTH: Final = 1 << 62
_LENGTH_DIGITS: Final = 18
_LF: Final = 0x0A


class ReplyCollector:
    """Collects the response of one call, at most ``room`` bytes of it.

    Call ``start`` first, then ``receive`` with each piece. Pieces are neither changed nor parsed; of a compressed
    response a decompressed copy is stored.
    """

    __slots__ = (
        "_capped", "_chunks", "_clear", "_closings", "_decoder", "_dialect", "_end_mark", "_ends", "_granted",
        "_keep", "_kind", "_left", "_tail", "_torn", "is_refused", "room",
    )  # fmt: skip

    def __init__(self, dialect: Dialect, room: int) -> None:
        self._dialect = dialect
        self._ends = dialect.ends
        self._end_mark: bytes = getattr(dialect, "end_mark", b"")  # dialects of applications may have none
        self._kind = _Kind.FAILED
        self._granted = self._clear = 0
        self._chunks: list[bytes] = []
        self._keep = self._chunks.append
        self.room = room
        """Number of further bytes that may be stored."""
        self.is_refused = False
        """Whether the status says that the request was refused or redirected (3xx, 4xx): no part of a chat."""
        self._left = _UNKNOWN_LENGTH
        self._tail = b""
        self._closings = 0
        self._capped = self._torn = False
        self._decoder: Decoder | None = None

    def start(self, status: int, headers: Headers) -> None:
        """Note that the response begins. Its body is collected only if ``status`` is 2xx, its content type is that of a
        reply, and its encoding is known. A status of 3xx or 4xx sets ``is_refused``."""
        self._kind = _Kind.UNNAMED
        encoding = b"identity"
        for key, value in headers:
            match key.lower():
                case b"content-type":
                    media_type, self._kind = _read_content_type(value)
                    if self._kind is _Kind.FOREIGN and media_type in self._dialect.media_types:
                        self._kind = _Kind.WHOLE
                case b"content-length" if value.isdigit() and len(value) <= _LENGTH_DIGITS:
                    self._left = int(value)
                case b"content-encoding":
                    encoding = value.strip().lower() or encoding
        if not 200 <= status < 300:
            self._kind, self.is_refused = _Kind.FAILED, 300 <= status < 500
        elif encoding != b"identity" and self._kind is not _Kind.FOREIGN:
            self._decode_as(encoding.decode("latin-1"))
        self._grant()

    def receive(self, chunk: bytes) -> bool:
        """Store ``chunk``, the next piece of the response body; ``b""`` is the end. Do not pass empty pieces within a
        body.

        Returns true if the reader may have the complete reply with this piece: at the end, at the last byte of an
        announced length, and if the piece may contain the last event of a stream. The caller must then record the turn
        before it passes the piece on.
        """
        size = len(chunk)
        if not 0 < size < self._clear:
            return self._receive_slowly(chunk)
        self._clear -= size
        self._keep(chunk)
        if self._tail or chunk[-1] != _LF:  # pieces are whole lines most of the time
            chunk = self._tail + chunk
            self._tail = b"" if chunk[-1] == _LF else chunk[-TAIL:]
        # CPython looks for a few bytes up to five times as fast from the end as from the start.
        return chunk.rfind(self._end_mark) >= 0 and self._ends(chunk) and self._raise_alarm(chunk)

    def _receive_slowly(self, chunk: bytes) -> bool:
        """Take a piece of the body for ``receive`` when that cannot just store it: the end, the size limit or the
        announced length is near, the body is compressed, or it is not collected. Returns what ``receive`` returns:
        whether the reply may be complete."""
        spent = self._granted - self._clear
        self.room = max(0, self.room - spent)
        self._left -= spent + len(chunk)
        complete = not chunk or self._left <= 0
        if self._decoder is not None:
            chunk = self._decode_chunk(self._decoder, chunk)
            complete = complete or len(chunk) > self.room
        if self._kind in _NOT_COLLECTED:
            return complete or self._kind is _Kind.UNDECODABLE
        piece = chunk[: self.room]
        self._keep(piece)
        self.room -= len(piece)
        if len(piece) < len(chunk):
            self._capped, self._keep = True, _drop
        self._grant()
        if complete:
            return True
        seen = self._tail + chunk
        self._tail = seen[-TAIL:]
        ends = self._ends(seen) or (self._torn and (b"\n" in chunk or b"\r" in chunk))
        return ends and self._raise_alarm(seen)

    def _grant(self) -> None:
        """Set how many bytes ``receive`` may store before ``_receive_slowly`` must decide again."""
        if self._decoder is not None or self._kind in _NOT_COLLECTED or self._torn:
            self._granted = self._clear = 0
        else:
            self._granted = self._clear = self._left if self._capped else min(self.room + 1, self._left)

    def _decode_as(self, encoding: str) -> None:
        if encoding in DECODERS:
            self._decoder = DECODERS[encoding]()
        else:
            self._kind = _Kind.UNDECODABLE

    def _decode_chunk(self, decoder: Decoder, chunk: bytes) -> bytes:
        try:
            return decoder.decode(chunk, self.room + 1)
        except Undecodable:
            self._kind = _Kind.UNDECODABLE
            self._decoder = None
            return b""

    def _raise_alarm(self, seen: bytes) -> bool:
        """Note that ``seen`` has what looks like the end of the reply. Returns whether it is parsed now, which is done
        at most ``CLOSINGS_MAX`` times.

        If the sign of the end stands in a line that is not complete yet, the end of that line raises the alarm once
        more.
        """
        self._tail = b""
        self._torn = not seen.endswith((b"\n", b"\r"))
        if self._torn:
            self._granted, self._clear = self._granted - self._clear, 0
        return self._closings < CLOSINGS_MAX

    def read(self, *, stream: bool) -> Reply | None:
        """Parse the collected bytes. Returns ``None`` if content type or encoding of the response are not those of a
        reply, and a reply without message for a response that failed (its status is not 2xx). May be called again after
        more pieces arrived.

        ``stream``: whether the request asked for a stream; used if the response does not say.
        """
        self._closings += 1
        match self._kind:
            case _Kind.FAILED:
                return Reply(None, Outcome.ERROR)
            case _Kind.FOREIGN | _Kind.UNDECODABLE:
                return None
            case kind:
                stream = stream if kind is _Kind.UNNAMED else kind is _Kind.STREAM
        reply = self._dialect.collect(b"".join(self._chunks), stream=stream)
        return replace(reply, outcome=Outcome.TRUNCATED) if self._capped else reply

    def is_complete(self, reply: Reply | None) -> bool:
        """Whether ``reply`` (what ``read`` returned) is final, so that nothing that may still arrive can change it:
        the response is not read, its size limit is reached, or the reply has its end or an error."""
        if reply is None or self._capped or reply.finish_reason:
            return True
        return reply.outcome is not Outcome.TRUNCATED

    def is_unreadable(self, reply: Reply | None) -> bool:
        """Whether a response of status 2xx has a body in which the dialect finds neither a message nor an error that it
        knows. ``reply``: what ``read`` returned; false for ``None``."""
        if reply is None or reply.message is not None or reply.error or self._kind is _Kind.FAILED:
            return False
        return reply.outcome is Outcome.ERROR

    def reasons(self) -> tuple[Reason, ...]:
        """Return why less was collected than was sent: ``REPLY_FOREIGN`` (another content type),
        ``REPLY_UNDECODABLE`` (an encoding that cannot be decoded) and ``REPLY_CAPPED`` (larger than the size limit).
        ``()`` if nothing is missing, and for a response that failed."""
        reason = _NOT_COLLECTED.get(self._kind)
        found = (reason,) if reason is not None else ()
        return (*found, Reason.REPLY_CAPPED) if self._capped else found


def _drop(chunk: bytes) -> None:
    """Drop a piece beyond the size limit. Stands in for the function that stores pieces."""


class _Kind(Enum):
    """How a response is parsed: as one document (``WHOLE``), as a stream, or as the request asked (``UNNAMED``: the
    response does not say). The content of the other kinds is not collected."""

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


@lru_cache(maxsize=64)
def _read_content_type(value: bytes) -> tuple[bytes, _Kind]:
    """Return the media type in a header, and the kind of its content; ``FOREIGN`` if only a dialect may know it."""
    media_type = value.split(b";", 1)[0].strip().lower()
    if media_type in _STREAMS:
        return media_type, _Kind.STREAM
    is_json = media_type == b"application/json" or media_type.endswith(b"+json")
    return media_type, _Kind.WHOLE if is_json else _Kind.FOREIGN
