"""Allowed ``Host`` headers, CORS for web pages of other sites, and the addresses that a server may listen on. Does no
I/O.

Nothing here identifies the caller: that is done by the API key alone.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from typing import Final

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.wire.http import Header

LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
"""Names of this machine. A server without API keys answers only requests with one of these in the ``Host`` header.
Otherwise a web page could reach it under the page's own domain name (DNS rebinding)."""

_REMEMBERED_MAX: Final = 256


class Hosts:
    """The values of the ``Host`` header for which a server answers.

    ``patterns``: "example.org" (with any port), "example.org:8443" (this port only) or "*.example.org" (any subdomain,
    but not "example.org" itself). An empty list allows any host. Raises ``ConfigError`` for an invalid pattern.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        for pattern in patterns:
            _require_host(pattern)
        lowered = [pattern.lower() for pattern in patterns]
        self._any = not lowered
        self._exact = frozenset(pattern for pattern in lowered if not pattern.startswith("*"))
        self._endings = tuple(pattern[1:] for pattern in lowered if pattern.startswith("*"))
        self._allowed: set[bytes] = set()

    def allows(self, host: bytes) -> bool:
        """Return whether a request with the ``Host`` header ``host`` is answered. ``host`` is well-formed, or b"" if
        the header is missing, which is only allowed if any host is."""
        if self._any or host in self._allowed:
            return True
        named = host.decode("latin-1").lower()
        name, colon, port = named.rpartition(":")
        if not colon or not port.isdigit():
            name = named
        good = named in self._exact or name in self._exact or bool(self._endings and name.endswith(self._endings))
        if good and len(self._allowed) < _REMEMBERED_MAX:
            self._allowed.add(host)
        return good


def _require_host(pattern: str) -> None:
    plain = pattern.removeprefix("*.")
    if not plain or not plain.isascii() or any(sign in plain for sign in "/@?#* ") or "://" in plain:
        raise ConfigError(f"a host is such as example.org, example.org:8443 or *.example.org, not {pattern!r}")


def is_same_origin(origin: bytes, host: bytes) -> bool:
    """Return whether ``origin``, the ``Origin`` header of a request, has the same host and port as ``host``, its
    ``Host`` header: then the web page was served by this server. The protocol (http or https) is not compared."""
    _, separator, authority = origin.partition(b"://")
    return bool(separator) and authority.lower() == host.lower()


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach ``host``: a loopback address, or the name "localhost".

    False for other names, which may resolve to any address, and for "", which means every address.
    """
    if host.lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def check_bind(host: str, has_auth: bool) -> None:
    """Raise ``ConfigError`` if a server that listens on ``host`` could be reached from other machines without an API
    key.

    ``host``: address or name to listen on; "" is every address. ``has_auth``: whether the server requires an API key;
    if so, any host is accepted.
    """
    if not has_auth and not is_loopback(host):
        raise ConfigError(
            f"refusing to listen on {host or 'every address'} without API keys: set auth: true and make a key with"
            " `tokenmizer-mw keys create`, or listen on 127.0.0.1"
        )


_ASKED: Final = b"access-control-request-method"
_ASKED_HEADERS: Final = b"access-control-request-headers"
_METHODS: Final = b"GET, POST, PUT, PATCH, DELETE, OPTIONS"
_SECONDS: Final = b"600"


class Origins:
    """The origins of web pages that may read responses in a browser (CORS), such as "https://example.org".

    Browser credentials (cookies) are never allowed; a page sends its API key in a header. Raises ``ConfigError`` for an
    invalid origin, such as "*" or one that ends with "/".
    """

    def __init__(self, origins: Sequence[str]) -> None:
        for origin in origins:
            if origin == "*" or "://" not in origin or origin.endswith("/") or not origin.isascii():
                raise ConfigError(f"an origin is such as https://example.org, not {origin!r}")
        self._allowed = frozenset(origin.encode() for origin in origins)

    def allows(self, origin: bytes) -> bool:
        """Return whether pages of this origin, the value of an ``Origin`` header, may read responses."""
        return origin in self._allowed

    def headers(self, origin: bytes) -> list[Header]:
        """Return the CORS headers that let pages of ``origin`` read a response."""
        return [
            (b"access-control-allow-origin", origin),
            (b"access-control-expose-headers", b"*"),
            (b"vary", b"origin"),
        ]

    def preflight(self, method: str, origin: bytes, headers: Iterable[Header]) -> list[Header] | None:
        """Return the headers of the response to a CORS preflight, with which a browser asks whether a page may send a
        request. ``None`` if the request with this ``method`` and these ``headers`` is no preflight.

        ``origin``: the origin of the page. It is not checked here; call ``allows`` first.
        """
        if method != "OPTIONS":
            return None
        named = {name.lower(): value for name, value in headers}
        if _ASKED not in named:
            return None
        answer = [*self.headers(origin), (b"access-control-allow-methods", _METHODS)]
        if _ASKED_HEADERS in named:
            answer.append((b"access-control-allow-headers", named[_ASKED_HEADERS]))
        return [*answer, (b"access-control-max-age", _SECONDS), (b"content-length", b"0")]
