"""CORS: which web pages may read responses (Fetch standard). Off unless origins are configured. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from tokenmizer_mw.errors import ConfigError

from .refusals import Header

_ASKED: Final = b"access-control-request-method"
_ASKED_HEADERS: Final = b"access-control-request-headers"
_METHODS: Final = b"GET, POST, PUT, PATCH, DELETE, OPTIONS"
_SECONDS: Final = b"600"


class Origins:
    """The origins of pages that may read responses, such as "https://example.org".

    Browser credentials (cookies) are never allowed; a page sends its key in a header.
    """

    def __init__(self, origins: Sequence[str]) -> None:
        for origin in origins:
            if origin == "*" or "://" not in origin or origin.endswith("/") or not origin.isascii():
                raise ConfigError(f"an origin is such as https://example.org, not {origin!r}")
        self._allowed = frozenset(origin.encode() for origin in origins)

    def allows(self, origin: bytes) -> bool:
        """Return whether pages of this origin may read responses."""
        return origin in self._allowed

    def headers(self, origin: bytes) -> list[Header]:
        """Return the CORS headers that let the page read a response."""
        return [
            (b"access-control-allow-origin", origin),
            (b"access-control-expose-headers", b"*"),
            (b"vary", b"origin"),
        ]

    def preflight(self, method: str, origin: bytes, headers: Iterable[Header]) -> list[Header] | None:
        """Return the headers of the response to a CORS preflight request; ``None`` if the request is not one."""
        if method != "OPTIONS":
            return None
        named = {name.lower(): value for name, value in headers}
        if _ASKED not in named:
            return None
        answer = [*self.headers(origin), (b"access-control-allow-methods", _METHODS)]
        if _ASKED_HEADERS in named:
            answer.append((b"access-control-allow-headers", named[_ASKED_HEADERS]))
        return [*answer, (b"access-control-max-age", _SECONDS), (b"content-length", b"0")]
