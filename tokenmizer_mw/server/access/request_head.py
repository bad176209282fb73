"""Head of a request: the headers that access control needs, parsed in one pass."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from tokenmizer_mw.wire.http import Header

from .keys import looks_like_key
from .refusals import (
    HEAD_INVALID,
    HEAD_TOO_LARGE,
    Refusal,
)

_BEARER: Final = b"Bearer "
_HOST: Final = re.compile(rb"(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
_LENGTH: Final = re.compile(rb"[0-9]{1,18}")
_ONCE: Final = frozenset({b"host", b"origin", b"content-length", b"content-encoding", b"transfer-encoding"})

_PLACES: Final = frozenset({b"authorization", b"x-api-key", b"x-goog-api-key", b"api-key"})
"""Where clients of the dialects put a key."""


class RequestHead:
    """The request headers that access control needs.

    ``length``: length of the body in bytes; ``None`` if the request does not declare it. ``key``: the value that looks
    like an API key of this server; ``key_at``: index of its header. ``key`` is ``None`` if there is no such value, if
    there are several, or if a header that may carry a key occurs twice.
    """

    __slots__ = ("encoding", "headers", "host", "key", "key_at", "length", "origin")

    def __init__(self, headers: list[Header]) -> None:
        self.headers = headers
        self.host = b""
        self.origin = b""
        self.encoding = b""
        self.length: int | None = None
        self.key: bytes | None = None
        self.key_at = -1

    def without_key(self) -> list[Header]:
        """Return the headers without the API key, so that inner applications cannot forward it by mistake."""
        headers = list(self.headers)
        if self.key_at >= 0:
            del headers[self.key_at]
        return headers


def read_head(given: Iterable[Header], head_max: int, key_header: bytes) -> RequestHead | Refusal:
    """Parse the headers of a request. Returns a refusal if they exceed ``head_max`` bytes, or if a header that may
    occur once is repeated. ``key_header``: lower-case name of the header for the API key that no dialect uses."""
    headers = given if isinstance(given, list) else list(given)
    head = RequestHead(headers)
    found: dict[bytes, bytes] = {}
    size = 0
    for at, (spelled, value) in enumerate(headers):
        size += len(spelled) + len(value)
        name = spelled.lower()
        if name in _ONCE:
            if name in found:
                return HEAD_INVALID
            found[name] = value
        elif name in _PLACES or name == key_header:
            _read_key(head, at, name, value, found)
    if size > head_max:
        return HEAD_TOO_LARGE
    return _read_rest(head, found) if found else head


def _read_key(head: RequestHead, at: int, name: bytes, value: bytes, found: dict[bytes, bytes]) -> None:
    twice = name in found
    found[name] = b""
    written = value[len(_BEARER) :] if name == b"authorization" and value.startswith(_BEARER) else value
    ours = looks_like_key(written) and (written is not value or name != b"authorization")
    if twice or (ours and head.key_at >= 0):
        found[_AMBIGUOUS] = b""
    elif ours:
        head.key, head.key_at = written, at


_AMBIGUOUS: Final = b"\x00"


def _read_rest(head: RequestHead, found: dict[bytes, bytes]) -> RequestHead | Refusal:
    if _AMBIGUOUS in found:
        head.key = None
    head.host = found.get(b"host", b"")
    head.origin = found.get(b"origin", b"")
    encoding = found.get(b"content-encoding")
    if encoding is not None:
        head.encoding = encoding.strip().lower()
    length = found.get(b"content-length")
    if length is not None:
        if b"transfer-encoding" in found or not _LENGTH.fullmatch(length):
            return HEAD_INVALID
        head.length = int(length)
    if head.host and not _HOST.fullmatch(head.host):
        return HEAD_INVALID
    return head
