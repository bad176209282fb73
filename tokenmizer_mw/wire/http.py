"""HTTP headers as bytes: which ones a proxy forwards in either direction (all except those of one connection). Content
encodings such as gzip: decoders that work piece by piece, up to a size limit."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, Final, Protocol

Headers = Iterable[tuple[bytes, bytes]]
"""Pairs of a header's name (in any case) and its value, as in the HTTP message."""


def by_name(headers: Headers) -> dict[bytes, bytes]:
    """Return the first value of each header, by its lower-case name."""
    given = headers if isinstance(headers, list) else list(headers)
    found = dict(reversed(given))
    if b"".join(found).islower():  # as ASGI servers give them
        return found
    return {name.lower(): value for name, value in reversed(given)}


def header(headers: Headers, name: bytes) -> bytes | None:
    """Return the first value of one header; ``None`` when it is missing. ``name``: in lower case."""
    size = len(name)
    for key, value in headers:
        if len(key) == size and key.lower() == name:
            return value
    return None


def with_length(headers: Headers, length: int) -> list[tuple[bytes, bytes]]:
    """Return the headers for a body of ``length`` bytes: ``content-length`` and ``transfer-encoding`` are removed, and
    if there was either, a ``content-length`` of ``length`` is added at the end. Headers with neither are returned
    unchanged."""
    framing = (b"content-length", b"transfer-encoding")
    given = list(headers)
    kept = [(name, value) for name, value in given if name.lower() not in framing]
    return kept if len(kept) == len(given) else [*kept, (b"content-length", str(length).encode())]


class Undecodable(ValueError):
    """Raised for bytes that do not match their content encoding."""


class Decoder(Protocol):
    """Protocol of a decoder for one body with a content encoding, such as gzip."""

    def decode(self, data: bytes, limit: int) -> bytes:
        """Decode the next piece of the body; return at most ``limit`` bytes (``limit`` is at least 1), so that a
        decompression bomb cannot fill memory.

        If ``limit`` bytes are returned, further output may be lost. Raises ``Undecodable`` for data that does not match
        the encoding.
        """


MEMBERS_MAX: Final = 1_024
"""Most gzip members or zstd frames that one body may have. Each one, even an empty one of 20 bytes, costs a new
decoder."""

_SLICE: Final = 16 * 1024
"""Bytes that a decoder gets at once. The rest of a piece after the end of a member is copied for each member, so that
pieces must be short."""


def _iter_slices(data: bytes) -> Iterator[bytes]:
    return (data[at : at + _SLICE] for at in range(0, len(data), _SLICE)) if len(data) > _SLICE else iter((data,))


class _Gzip:
    """Decoder of one or several gzip members. What follows the last one is ignored, as other receivers do."""

    def __init__(self) -> None:
        self._inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._members = 1
        self._ended = False

    def decode(self, data: bytes, limit: int) -> bytes:
        pieces: list[bytes] = []
        for part in _iter_slices(data):
            rest = part
            while rest and limit > 0 and self._is_member(rest):
                pieces.append(_inflate(self._inflater, rest, limit))
                limit -= len(pieces[-1])
                rest = self._inflater.unused_data
        return b"".join(pieces)

    def _is_member(self, data: bytes) -> bool:
        """Whether ``data`` belongs to the current member, or begins another one. Raises ``Undecodable`` for too
        many."""
        if not self._inflater.eof or self._ended:
            return not self._ended
        if not data.startswith(b"\x1f"):
            self._ended = True
            return False
        self._members += 1
        if self._members > MEMBERS_MAX:
            raise Undecodable(f"more than {MEMBERS_MAX} gzip members")
        self._inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
        return True


class _Deflate:
    """Decoder of deflate with the zlib header that the standard requires, or without it, as some servers send it."""

    def __init__(self) -> None:
        self._head = b""
        self._inflater: Any = None

    def decode(self, data: bytes, limit: int) -> bytes:
        if self._inflater is None:
            self._head += data
            if len(self._head) < 2:
                return b""
            data = self._head
            has_header = data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
            self._inflater = zlib.decompressobj(zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS)
        return b"" if self._inflater.eof else _inflate(self._inflater, data, limit)


def _inflate(inflater: Any, data: bytes, limit: int) -> bytes:
    try:
        return bytes(inflater.decompress(data, limit))
    except zlib.error as error:
        raise Undecodable(str(error)) from None


class _Brotli:
    def __init__(self, module: Any) -> None:
        self._module = module
        self._decompressor = module.Decompressor()

    def decode(self, data: bytes, limit: int) -> bytes:
        try:
            return bytes(self._decompressor.process(data, output_buffer_limit=limit))[:limit]
        except self._module.error as error:
            raise Undecodable(str(error)) from None


class _Zstandard:
    def __init__(self, module: Any) -> None:
        self._module = module
        self._decompressor = module.ZstdDecompressor()
        self._frames = 1

    def decode(self, data: bytes, limit: int) -> bytes:
        pieces: list[bytes] = []
        for part in _iter_slices(data):
            rest = part
            while rest and limit > 0:
                try:
                    pieces.append(self._decompressor.decompress(rest, limit))
                except self._module.ZstdError as error:
                    raise Undecodable(str(error)) from None
                limit -= len(pieces[-1])
                rest = self._next_frame() if self._decompressor.eof else b""
        return b"".join(pieces)

    def _next_frame(self) -> bytes:
        """Return what follows the frame that has ended. Raises ``Undecodable`` for too many frames."""
        rest: bytes = self._decompressor.unused_data
        self._frames += 1
        if self._frames > MEMBERS_MAX:
            raise Undecodable(f"more than {MEMBERS_MAX} zstd frames")
        self._decompressor = self._module.ZstdDecompressor()
        return rest


def _optional(*names: str, needs: Callable[[Any], bool] = lambda module: True) -> Any:
    for name in names:
        try:
            module = import_module(name)
        except ImportError:
            continue
        if needs(module):
            return module
    return None


def _limits_output(module: Any) -> bool:
    """Whether a Brotli library can limit its output. Before version 1.2 it cannot stop a decompression bomb."""
    try:
        module.Decompressor().process(b"", output_buffer_limit=1)
    except (TypeError, AttributeError):
        return False
    return True


def _decoders() -> dict[str, Callable[[], Decoder]]:
    found: dict[str, Callable[[], Decoder]] = {"gzip": _Gzip, "x-gzip": _Gzip, "deflate": _Deflate}
    if (brotli := _optional("brotli", "brotlicffi", needs=_limits_output)) is not None:
        found["br"] = lambda: _Brotli(brotli)
    if (zstd := _optional("compression.zstd", "backports.zstd")) is not None:
        found["zstd"] = lambda: _Zstandard(zstd)
    return found


DECODERS: Final = _decoders()
"""Maps each content encoding that can be decoded to a function that makes its decoder. gzip and deflate are always
there, br and zstd if a library for them is installed."""


Header = tuple[bytes, bytes]
"""A header's name and value, as in the HTTP message."""

CONNECTION: Final = b"connection"

HOP_BY_HOP: Final = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding"
    b" upgrade".split()
)
"""Headers that belong to one connection and not to the message (RFC 9110, 7.6.1)."""

NOT_SENT: Final = HOP_BY_HOP | {b"host", b"content-length", b"expect", b"cookie"}
"""Headers of a request that are not forwarded to a provider. They are written anew for the connection to the provider,
or are meant only for this server (``cookie``)."""

NOT_RETURNED: Final = HOP_BY_HOP | {b"set-cookie", b"set-cookie2", b"content-security-policy", b"clear-site-data"}
"""Headers of a provider's response that are not forwarded to the client: a provider must not set cookies or browser
rules for this server's address."""

_NO_PAGE: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; sandbox"),
)
_DATA: Final = frozenset(b"application/json text/event-stream application/x-ndjson application/octet-stream".split())
"""Media types that no browser shows as a page or runs."""

_CONTENT_TYPE: Final = b"content-type"

CREDENTIALS: Final = (b"authorization", b"x-api-key", b"x-goog-api-key", b"api-key")
"""Headers in which clients send the API key of a provider."""


def forwarded_headers(headers: Sequence[Header], without: Container[bytes]) -> list[Header]:
    """Return ``headers`` in their order, without those in ``without`` and those that a ``connection`` header lists.

    ``without`` contains names in lower case. The case of the names in ``headers`` does not matter.
    """
    named = _connection_headers(headers)
    if named:
        return [pair for pair in headers if (name := pair[0].lower()) not in without and name not in named]
    return [pair for pair in headers if pair[0].lower() not in without]


def headers_to_return(headers: Sequence[Header]) -> list[Header]:
    """Return a provider's response headers as they are sent on to the client: without those of ``NOT_RETURNED`` (of the
    connection, cookies, browser rules).

    Unless the response has exactly one content type, and that is JSON, server-sent events, NDJSON or octet-stream, two
    headers are added that keep a browser from showing the body as a page of this server.
    """
    passed = forwarded_headers(headers, NOT_RETURNED)
    kinds = [value for name, value in passed if name.lower() == _CONTENT_TYPE]
    is_data = len(kinds) == 1 and _is_data(kinds[0])
    return passed if is_data else [*passed, *_NO_PAGE]


def _is_data(kind: bytes) -> bool:
    """Whether a ``content-type`` is one of ``_DATA`` for every reader. Of a list of types browsers take the last."""
    return b"," not in kind and kind.partition(b";")[0].strip().lower() in _DATA


def _connection_headers(headers: Iterable[Header]) -> frozenset[bytes]:
    """Return the names that the ``connection`` header lists, which belong to the connection, too."""
    listed = [value for name, value in headers if name == CONNECTION or name.lower() == CONNECTION]
    names = {name.strip().lower() for value in listed for name in value.split(b",")}
    return frozenset(names - {b"close", b"keep-alive", b""})
