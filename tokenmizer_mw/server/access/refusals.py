"""The error responses of the access middleware, in the format of the LLM API that the client uses (its dialect)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Final

from tokenmizer_mw.wire.dialects import ROUTES
from tokenmizer_mw.wire.http import Header
from tokenmizer_mw.wire.reply import refusal

from .counting import RateState, TooMuch


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error response of access control. ``code`` is for programs, such as "invalid_api_key"; ``message`` is for
    people. Neither contains data of the request. ``headers``: additional headers of the response.

    ``closes``: whether the connection is closed after the response, without reading the rest of the request.
    """

    status: int
    code: str
    message: str
    headers: tuple[Header, ...] = ()
    closes: bool = False

    def body(self, path: str) -> bytes:
        """Return the response body, an error object in the format of the API that clients of the request path ``path``
        expect."""
        return refusal(dialect_at(path), self.status, self.code, self.message)

    def all_headers(self, length: int) -> list[Header]:
        """Return all headers of the response. ``length``: size of the body in bytes."""
        own = [
            (b"content-type", b"application/json"),
            (b"content-length", str(length).encode()),
            (b"cache-control", b"no-store"),
            (b"x-content-type-options", b"nosniff"),
            *self.headers,
        ]
        return [*own, (b"connection", b"close")] if self.closes else own


HEAD_INVALID: Final = Refusal(400, "invalid_request_head", "the head of the request contradicts itself", closes=True)
HEAD_TOO_LARGE: Final = Refusal(431, "request_head_too_large", "the headers of the request are too large", closes=True)
HOST_REFUSED: Final = Refusal(421, "host_not_allowed", "this server does not answer for the host that was named")
ORIGIN_REFUSED: Final = Refusal(403, "origin_not_allowed", "this server does not serve the page that asks")
NO_KEY: Final = Refusal(
    401,
    "invalid_api_key",
    "a valid API key of this server is needed, in place of the provider's or in the header x-tokenmizer-key;"
    " `tokenmizer-mw keys create` on the server makes one",
    ((b"www-authenticate", b"Bearer"),),
)
KEYS_UNKNOWN: Final = Refusal(503, "access_unavailable", "keys cannot be checked now", ((b"retry-after", b"5"),))
LIMITS_UNKNOWN: Final = Refusal(503, "access_unavailable", "limits cannot be checked now", ((b"retry-after", b"5"),))
NOT_GOOD_FOR: Final = Refusal(403, "insufficient_scope", "the API key is not good for this")
BODY_TOO_LARGE: Final = Refusal(413, "request_too_large", "the body of the request is too large", closes=True)
BODY_TOO_SLOW: Final = Refusal(408, "request_too_slow", "the body of the request came too slowly", closes=True)
BODY_ENCODED: Final = Refusal(
    415, "encoding_not_supported", "the body's content encoding is not supported", closes=True
)
BODY_BROKEN: Final = Refusal(400, "invalid_encoding", "the body is not what its content encoding says", closes=True)
_FAILED: Final = Refusal(429, "too_many_failures", "too many requests without a valid API key")
_STREAMS: Final = Refusal(429, "too_many_streams", "too many calls are under way", ((b"retry-after", b"1"),))

_HINTS: Final = (("/v1/messages", "anthropic"), ("/v1beta/", "gemini"), ("/v1/", "openai_chat"), ("/v2/", "cohere"))


def dialect_at(path: str) -> str:
    """Return the name of the API format (dialect) that clients of the request path most likely expect, such as
    "anthropic"; "openai_chat" if the path shows none."""
    spoken = next((dialect.name for ending, dialect in ROUTES.items() if path.endswith(ending)), None)
    return spoken or next((dialect for start, dialect in _HINTS if start in path), "openai_chat")


def failures_refused(too_much: TooMuch) -> Refusal:
    """Return the refusal (status 429) for a host that sent too many wrong API keys. ``too_much``: the counters' result,
    which says how long the client must wait."""
    wait = too_much.standing.wait if too_much.standing is not None else 0.0
    return replace(_FAILED, headers=((b"retry-after", _seconds(wait)),))


def limit_refused(too_much: TooMuch) -> Refusal:
    """Return the refusal (status 429) for an exhausted rate limit or for too many open calls, with headers that say
    when to try again."""
    standing = too_much.standing
    if standing is None:
        return _STREAMS
    limit, wait = standing.limit, _seconds(standing.wait)
    message = f"the limit of {limit.amount} {limit.unit} in {limit.period:g} seconds is used up"
    message += f"; try again in {wait.decode()} s"
    return Refusal(429, "rate_limit_exceeded", message, ((b"retry-after", wait), *_limit_headers(standing)))


def _limit_headers(standing: RateState) -> list[Header]:
    unit = standing.limit.unit.encode()
    shown: dict[bytes, Any] = {
        b"limit": standing.limit.amount,
        b"remaining": standing.remaining,
        b"reset": math.ceil(standing.reset),
    }
    standard = [(b"ratelimit-" + name, str(value).encode()) for name, value in shown.items()]
    return standard + [(b"x-ratelimit-" + name + b"-" + unit, str(value).encode()) for name, value in shown.items()]


def _seconds(wait: float) -> bytes:
    """Return a time in whole seconds, rounded up and at least 1, for the header ``Retry-After``."""
    return str(max(math.ceil(wait), 1)).encode()
