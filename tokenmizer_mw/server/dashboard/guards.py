"""Checks of browser requests: allowed hosts, and protection against cross-site requests. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.server.access.hosts import LOOPBACK, Hosts, is_loopback, same_origin

Header = tuple[bytes, bytes]

POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""The content security policy of every answer."""

ALWAYS: Final[tuple[Header, ...]] = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
"""Headers of every answer. The referrer stays within the origin: without one, browsers name no origin with a form."""

_OURS: Final = frozenset({b"same-origin", b"none"})


def exact_hosts(named: Sequence[str]) -> Hosts:
    """Return the allowed hosts; this machine's names by default.

    Raises ``ConfigError`` for an invalid host or a wildcard.
    """
    if any(host.startswith("*") for host in named):
        raise ConfigError("the dashboard answers for hosts that are named one by one, such as desk.example.org")
    return Hosts(tuple(named) or LOOPBACK)


def one(headers: Iterable[Header], name: bytes) -> bytes | None:
    """Return the value of a header that occurs exactly once; else ``None``."""
    found = [value for key, value in headers if key.lower() == name]
    return found[0] if len(found) == 1 else None


def foreign(headers: Sequence[Header]) -> bool:
    """Return whether the browser reports that a request comes from a page of another site.

    False if the browser reports nothing: it then sends no cookie from other sites, and the form token is checked.
    """
    told = {key.lower() for key, _ in headers}
    if b"sec-fetch-site" in told and one(headers, b"sec-fetch-site") not in _OURS:
        return True
    if b"origin" not in told:
        return False
    origin, host = one(headers, b"origin"), one(headers, b"host")
    return origin is None or host is None or not same_origin(origin, host)


def reached_from_afar(scope: Mapping[str, Any]) -> bool:
    """Return whether the server's or the client's address is not a loopback address."""
    ends = [end[0] for end in (scope.get("server"), scope.get("client")) if end]
    return any(not is_loopback(str(end)) for end in ends)
