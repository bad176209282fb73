"""Checks and parses requests of browsers: allowed hosts, requests from other sites, and queries and forms within size
limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl

from starlette.requests import Request

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.server.access.hosts import LOOPBACK, Hosts, is_loopback, is_same_origin
from tokenmizer_mw.wire.http import Header

from .page import failure

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
"""The content security policy in every response: browsers load only files of the dashboard itself."""

ALWAYS: Final[tuple[Header, ...]] = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
"""Headers of every response. The referrer policy allows the referrer within the origin: without one, browsers send no
usable ``Origin`` with a form, which ``is_cross_site`` needs."""

_OURS: Final = frozenset({b"same-origin", b"none"})


def exact_hosts(named: Sequence[str]) -> Hosts:
    """Return the host names at which the dashboard answers: ``named``, or those of this machine, such as "localhost",
    if ``named`` is empty. Requests with another ``Host`` header are refused.

    Raises ``ConfigError`` for an invalid host and for a wildcard such as "*.example.org".
    """
    if any(host.startswith("*") for host in named):
        raise ConfigError("the dashboard answers for hosts that are named one by one, such as desk.example.org")
    return Hosts(tuple(named) or LOOPBACK)


def single_value(headers: Iterable[Header], name: bytes) -> bytes | None:
    """Return the value of the header ``name`` (in lower case); ``None`` if it is missing or occurs more than once."""
    found = [value for key, value in headers if key.lower() == name]
    return found[0] if len(found) == 1 else None


def wants_html(scope: Mapping[str, Any]) -> bool:
    """Return whether a request asks for a page as browsers do: with GET or HEAD, and with "text/html" in its ``Accept``
    header."""
    accepted = (value for key, value in scope["headers"] if key.lower() == b"accept")
    return scope["method"] in ("GET", "HEAD") and any(b"text/html" in value.lower() for value in accepted)


def is_cross_site(headers: Sequence[Header]) -> bool:
    """Return whether the headers show that a page of another site made the request.

    It is true in these cases:

    - ``Sec-Fetch-Site`` is present and is not "same-origin" or "none", or it is repeated.
    - ``Origin`` is present and its host and port differ from ``Host``; the scheme is not compared.
    - ``Origin`` is repeated, or it is present and ``Host`` is missing or repeated.

    If both ``Sec-Fetch-Site`` and ``Origin`` are missing, it is false. Such a request is protected by the cookie
    (SameSite) and by the token in each form.
    """
    names = {key.lower() for key, _ in headers}
    if b"sec-fetch-site" in names and single_value(headers, b"sec-fetch-site") not in _OURS:
        return True
    if b"origin" not in names:
        return False
    origin, host = single_value(headers, b"origin"), single_value(headers, b"host")
    return origin is None or host is None or not is_same_origin(origin, host)


def is_remote(scope: Mapping[str, Any]) -> bool:
    """Return whether the client may be on another machine: the server's or the client's address in the ASGI scope is no
    loopback address. An address that the server does not report is ignored."""
    ends = [end[0] for end in (scope.get("server"), scope.get("client")) if end]
    return any(not is_loopback(str(end)) for end in ends)


BODY_MAX: Final = 64 * 1_024
"""Maximum size of the body of a form, in bytes."""

_FIELDS_MAX: Final = 50
_MEDIA: Final = "application/x-www-form-urlencoded"


def query_of(request: Request) -> Mapping[str, str]:
    """Return the parameters of a request's query; of a repeated one, the last value. Raises ``PageRefusal`` if there
    are more than 50, or if the query is not ASCII."""
    return _parse_fields(request.scope.get("query_string", b""))


async def form_of(request: Request) -> Mapping[str, str]:
    """Read the body of a request and return the fields of the form in it. Raises ``PageRefusal`` for a body that is no
    form or has more than ``BODY_MAX`` bytes, and ``ClientDisconnect`` if the client disconnects."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _MEDIA:
        raise failure("form")
    raw = b""
    async for piece in request.stream():
        raw += piece
        if len(raw) > BODY_MAX:
            raise failure("form")
    return _parse_fields(raw)


def _parse_fields(raw: bytes) -> Mapping[str, str]:
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, max_num_fields=_FIELDS_MAX, errors="replace")
    except ValueError:
        raise failure("form") from None
    return dict(pairs)
