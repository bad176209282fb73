"""Selects the headers to forward in either direction: all except those of one connection."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Final

Header = tuple[bytes, bytes]
"""Name and value, as on the wire."""

CONNECTION: Final = b"connection"

HOP_BY_HOP: Final = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding"
    b" upgrade".split()
)
"""What belongs to one connection and not to the message (RFC 9110, 7.6.1)."""

NOT_SENT: Final = HOP_BY_HOP | {b"host", b"content-length", b"expect", b"cookie"}
"""Of a request: these too are written anew for the provider's connection, or are for this server's pages alone."""

NOT_RETURNED: Final = HOP_BY_HOP | {b"set-cookie", b"set-cookie2", b"content-security-policy", b"clear-site-data"}
"""Of a response: a provider sets no cookies for this server's address."""

_NO_PAGE: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; sandbox"),
)
_DATA: Final = frozenset(b"application/json text/event-stream application/x-ndjson application/octet-stream".split())
"""Types that no browser shows as a page or runs."""

_CONTENT_TYPE: Final = b"content-type"

CREDENTIALS: Final = (b"authorization", b"x-api-key", b"x-goog-api-key", b"api-key")
"""Where clients put the key of a provider."""


def passed_on(headers: Sequence[Header], without: Container[bytes]) -> list[Header]:
    """Return the headers in order, except those in ``without`` and those that a ``connection`` header names."""
    named = _connection_headers(headers)
    if named:
        return [pair for pair in headers if (name := pair[0].lower()) not in without and name not in named]
    return [pair for pair in headers if pair[0].lower() not in without]


def headers_to_return(headers: Sequence[Header]) -> list[Header]:
    """Return a provider's response headers for the client, without cookies and without what would let a browser show
    the response as a page of this server."""
    passed = passed_on(headers, NOT_RETURNED)
    kinds = [value for name, value in passed if name.lower() == _CONTENT_TYPE]
    is_data = len(kinds) == 1 and _is_data(kinds[0])
    return passed if is_data else [*passed, *_NO_PAGE]


def _is_data(kind: bytes) -> bool:
    """Whether a ``content-type`` is one of data, for every reader: of a list, browsers take the last."""
    return b"," not in kind and kind.partition(b";")[0].strip().lower() in _DATA


def _connection_headers(headers: Iterable[Header]) -> frozenset[bytes]:
    """The headers that belong to the connection because its own header says so."""
    listed = [value for name, value in headers if name == CONNECTION or name.lower() == CONNECTION]
    names = {name.strip().lower() for value in listed for name in value.split(b",")}
    return frozenset(names - {b"close", b"keep-alive", b""})


def value_of(headers: Iterable[Header], wanted: bytes) -> bytes | None:
    """Return the first value of a header (lower-case name); ``None`` if it is missing."""
    return next((value for name, value in headers if name == wanted or name.lower() == wanted), None)
