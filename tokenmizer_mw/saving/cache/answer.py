"""A recorded response that the response cache can send again: its bytes in the API format of the client, in the pieces
in which it arrived."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.wire.dialect import Reply
from tokenmizer_mw.wire.http import DECODERS, Headers, Undecodable

PIECES_MAX: Final = 1_024
"""Number of pieces in which a cached response is sent at most; if it arrived in more, neighbours are joined."""

BROWSERS_MAX: Final = 4_096
"""Bytes of the CORS and ``vary`` headers up to which a response is cached; with more it is not."""

_TO_BROWSERS: Final = b"access-control-"

Way = Literal["exact", "semantic", "shared"]
"""How the cache found a response: "exact": for the same request; "semantic": for a question of the same meaning;
"shared": from an identical request that was in progress."""

_FINISHED: Final = frozenset({"stop", "end_turn", "stop_sequence", "complete", "completed", "stop_sequence_reached"})
"""Values with which replies say why they ended, if they are complete; in lower case, over all API formats."""


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """A complete response to a model call, as the cache stores it.

    ``body``: the whole response body, in the API format of the client; ``sizes``: the sizes in bytes of the pieces in
    which it arrived. ``way``: how the cache found it. ``browsers``: the CORS and ``vary`` headers to send with it.
    """

    content_type: bytes
    body: bytes
    sizes: tuple[int, ...]
    way: Way = "exact"
    browsers: tuple[tuple[bytes, bytes], ...] = ()

    def pieces(self) -> Iterator[bytes]:
        """Yield the response body in the pieces in which it first arrived (neighbours may have been joined)."""
        place = 0
        for size in self.sizes:
            yield self.body[place : place + size]
            place += size

    def headers(self, marker: str) -> list[tuple[bytes, bytes]]:
        """Return the headers with which the cached response is sent, as pairs of name and value: its content type, its
        length if it is one piece, the stored CORS and ``vary`` headers, and one named ``marker`` that reports the cache
        hit, such as "hit; exact"."""
        whole = [(b"content-length", str(len(self.body)).encode())] if len(self.sizes) == 1 else []
        hit = (marker.lower().encode("latin-1"), f"hit; {self.way}".encode())
        return [(b"content-type", self.content_type), *whole, *self.browsers, hit]

    def to_bytes(self) -> bytes:
        """Return the response as bytes for a store: a line of JSON, then the body. ``way`` is not stored."""
        browsers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in self.browsers]
        head = {"type": self.content_type.decode("latin-1"), "sizes": self.sizes, "browsers": browsers}
        return json.dumps(head, separators=(",", ":")).encode() + b"\n" + self.body

    @classmethod
    def from_bytes(cls, data: bytes) -> CachedAnswer:
        """Return the response that ``to_bytes`` wrote as ``data``; its ``way`` is "exact". Raises ``ValueError`` for
        any other bytes."""
        line, _, body = data.partition(b"\n")
        try:
            head = json.loads(line)
            sizes = tuple(int(size) for size in head["sizes"])
            content_type = str(head["type"]).encode("latin-1")
            pairs = [(str(name), str(value)) for name, value in head.get("browsers", ())]
            browsers = tuple((name.encode("latin-1"), value.encode("latin-1")) for name, value in pairs)
        except (AttributeError, KeyError, TypeError, UnicodeError) as error:
            raise ValueError(f"no answer: {error}") from None
        if sum(sizes) != len(body) or any(size <= 0 for size in sizes):
            raise ValueError("no answer: its pieces do not make up its body")
        return cls(content_type, body, sizes, browsers=browsers)


_LAST: Final = {
    "openai_chat": b"[DONE]",
    "openai_responses": b"response.completed",
    "anthropic": b"message_stop",
    "cohere": b"message-end",
}
"""Text that the last event of a stream contains, in API formats in which nothing follows that event."""

_TAIL: Final = 512


class Recording:
    """Records a response for the cache as it passes: call ``starts``, then ``takes`` for each piece, and set ``ended``
    when the whole body has arrived.

    ``answer`` is ``None`` unless ``ended`` is set, the body has 1 to ``most`` bytes, and status and headers allow that
    it is sent again.
    """

    __slots__ = ("_browsers", "_encoding", "_good", "_most", "_pieces", "_size", "_type", "ended")

    def __init__(self, most: int) -> None:
        self._most = most
        self._pieces: list[bytes] = []
        self._size = 0
        self._good = False
        self._type = b""
        self._browsers: list[tuple[bytes, bytes]] = []
        self._encoding = "identity"
        self.ended = False

    def starts(self, status: int, headers: Headers) -> None:
        """Record status and headers of the response. It will not be cached if it has another status than 200, a cookie,
        or ``no-store``."""
        self._good = status == 200
        for key, value in headers:
            match key.lower():
                case b"content-type":
                    self._type = value
                case b"content-encoding":
                    self._encoding = value.strip().lower().decode("latin-1") or "identity"
                case b"set-cookie":
                    self._good = False
                case b"cache-control" if b"no-store" in value.lower():
                    self._good = False
                case name if name == b"vary" or name.startswith(_TO_BROWSERS):
                    self._browsers.append((name, value))
        self._good = self._good and sum(len(name) + len(value) for name, value in self._browsers) <= BROWSERS_MAX

    def takes(self, piece: bytes) -> None:
        """Record the next piece of the response body. If the body gets larger than ``most`` bytes, all of it is
        dropped and the response is not cached."""
        if not piece or not self._good:
            return
        self._size += len(piece)
        if self._size > self._most:
            self._good, self._size = False, 0
            self._pieces.clear()
        else:
            self._pieces.append(piece)

    def has_ended(self, dialect: str) -> bool:
        """Return whether the response is complete: all of it has arrived, or the last event of a stream in the API
        format ``dialect``."""
        if self.ended or dialect not in _LAST or self._encoding != "identity":
            return self.ended
        tail = b"".join(self._pieces[-4:])[-_TAIL:]
        return tail.endswith(b"\n") and _LAST[dialect] in tail

    @property
    def answer(self) -> CachedAnswer | None:
        """The recorded response with its content encoding removed; ``None`` if it is not complete or must not be
        cached."""
        if not (self._good and self.ended and self._pieces and self._type):
            return None
        pieces = self._decode_pieces()
        if not pieces:
            return None
        return CachedAnswer(
            self._type, b"".join(pieces), tuple(map(len, _join_pieces(pieces))), browsers=tuple(self._browsers)
        )

    def _decode_pieces(self) -> Sequence[bytes]:
        if self._encoding == "identity":
            return self._pieces
        if self._encoding not in DECODERS:
            return ()
        decoder = DECODERS[self._encoding]()
        room, found = self._most + 1, []
        try:
            for piece in self._pieces:
                if decoded := decoder.decode(piece, max(1, room)):
                    found.append(decoded)
                    room -= len(decoded)
        except Undecodable:
            return ()
        return found if room > 0 else ()


def reason_not_to_store(reply: Reply | None) -> str:
    """Return why a reply must not be cached, as the end of a counter's name; "" if it may be cached. "tool_call": it
    calls a tool. "incomplete": it has no text, was cut short, failed, is a refusal, or could not be parsed
    (``None``)."""
    if reply is None or reply.message is None or reply.error or reply.outcome is not Outcome.COMPLETE:
        return "incomplete"
    if reply.message.tool_calls:
        return "tool_call"
    if reply.message.refusal or reply.finish_reason.lower() not in _FINISHED:
        return "incomplete"
    return "" if reply.message.text.strip() else "incomplete"


def _join_pieces(pieces: Sequence[bytes]) -> list[bytes]:
    """Return the pieces in order, equally many neighbours joined so that there are at most ``PIECES_MAX``."""
    several = -(-len(pieces) // PIECES_MAX)
    return [b"".join(pieces[place : place + several]) for place in range(0, len(pieces), several)]
