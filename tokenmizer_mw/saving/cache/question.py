"""The cache keys of a request, and whether its response may be cached.

Two requests share an exact key only if nothing that could change the response differs: tenant, session (unless
responses are shared in the tenant), API format, host, path and query, headers, and every byte of the body except this
package's session field. A partition key is computed in the same way, but without the text of the newest user message;
semantic lookup compares this text only with others under the same partition key. All hashed parts are prefixed with
their length.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final, Protocol

from tokenmizer_mw.context.tokens import estimate
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.safety.guard import judge
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.http import Headers
from tokenmizer_mw.wire.request import NO_LIST, Dialect

from .guard import is_of_the_moment

VERSION: Final = b"2"
"""Part of every key. Increase it when rules change, so that responses stored under the old rules are not found."""

UNSTATED_TEMPERATURE: Final = 1.0
"""Temperature that most providers use if a request names none."""

_TEMPERATURES: Final = (("temperature",), ("generationConfig", "temperature"), ("generation_config", "temperature"))
_COUNTS: Final = ("candidateCount", "candidate_count")
_OF_OLLAMA: Final = ("options", "temperature")

_CHOICES: Final = (
    ("n",),
    ("num_generations",),
    *((config, name) for config in ("generationConfig", "generation_config") for name in _COUNTS),
)
"""Paths of the fields in which a request asks for several replies. Those are not cached, because only one reply is
checked for its end."""

_WITHOUT_INFLUENCE: Final = frozenset(
    {
        b"accept-encoding",
        b"connection",
        b"content-length",
        b"date",
        b"idempotency-key",
        b"keep-alive",
        b"te",
        b"traceparent",
        b"tracestate",
        b"baggage",
        b"transfer-encoding",
        b"user-agent",
        b"via",
        b"x-amzn-trace-id",
        b"x-client-request-id",
        b"x-cloud-trace-context",
        b"x-correlation-id",
        b"x-forwarded-for",
        b"x-real-ip",
        b"x-request-id",
        b"x-stainless-retry-count",
        b"x-stainless-timeout",
    }
)
"""Headers that do not change the response, and so are not part of the keys. All others are, credentials included."""


_USUAL: Final = frozenset({b"", b"close", b"keep-alive", b"te", b"upgrade", b"http2-settings"})
"""Values of the header ``Connection`` that name no header which could change the response."""


class CacheableRequest(Protocol):
    """The parts of a chat request that the response cache uses; ``ChatExchange`` has them."""

    @property
    def dialect(self) -> Dialect:
        """The dialect (API format) of the request body."""

    @property
    def body(self) -> bytes:
        """The request body in which secrets are replaced by placeholders."""

    @property
    def drop(self) -> tuple[str, ...]:
        """Names of top-level fields of the body that belong to this package, such as "session_id", and that are not
        forwarded to the provider; they are no part of the keys."""

    @property
    def request(self) -> ChatRequest:
        """The parsed body; parsed at first use. Raises ``MalformedRequest``."""


@dataclass(frozen=True, slots=True)
class RequestTarget:
    """Where a request was sent: ``host`` ("" for the application itself), ``path``, ``query``, and headers.

    Headers have lower-case names and are sorted by name; values of one name stay in order.
    """

    path: str
    host: str = ""
    query: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class ComparableQuestion:
    """A question for semantic lookup: ``text`` is the newest user message, ``partition`` the digest (32 bytes) of
    everything else, which must be equal for two questions to share a response."""

    partition: bytes
    text: str


def place_of(path: str, headers: Headers, settings: Settings, *, host: str = "", query: bytes = b"") -> RequestTarget:
    """Return where a request was sent, for the cache keys. Headers that cannot change the response (such as
    "user-agent"), the session header, the cache's own header, and those that ``Settings.cache_ignored_headers`` names
    are left out.

    ``path``, ``query``: of the request's URL. ``host``: the host that it was sent to; "" for the application itself.
    """
    ignored = {settings.session_header.lower(), settings.cache_header.lower()}
    ignored |= {name.strip().lower() for name in settings.cache_ignored_headers.split(",")}
    without = _WITHOUT_INFLUENCE | {name.encode("latin-1", "replace") for name in ignored}
    named = [(name.lower(), value) for name, value in headers]
    if any(name == b"connection" and not _USUAL.issuperset(_split_list(value)) for name, value in named):
        without -= {b"connection"}  # it names headers that a proxy drops: such a request is like no other
    pairs = sorted((item for item in named if item[0] not in without), key=itemgetter(0))
    return RequestTarget(path, host, query, tuple(pairs))


def _split_list(value: bytes) -> set[bytes]:
    return {part.strip().lower() for part in value.split(b",")}


def exact_key(asked: CacheableRequest, owner: SessionKey, place: RequestTarget, *, alone: bool) -> bytes:
    """Return the exact key of a request: a digest (32 bytes) of the tenant, the API format, the target, and every byte
    of the body outside this package's own fields.

    - ``owner``: the session; its tenant is part of the key, with ``alone`` also its id.
    - ``place``: host, path, query and headers that can change the response.
    - ``alone``: true to share responses within the session only; false: among all sessions of the tenant.

    Parses the body only if it may contain a field of this package. Raises ``MalformedRequest`` if that fails.
    """
    return _digest((*_circumstances(asked, owner, place, alone), *_body(asked)))


def meaning_of(
    asked: CacheableRequest, owner: SessionKey, place: RequestTarget, *, alone: bool, model: bytes = b""
) -> ComparableQuestion | None:
    """Return the newest message of a request as a question for semantic lookup, with a digest of everything else in the
    request; ``None`` if the message is not one plain text.

    - ``owner``: the session; its tenant is part of the digest, with ``alone`` also its id.
    - ``place``: host, path, query and headers that can change the response.
    - ``alone``: true to share responses within the session only; false: among all sessions of the tenant.
    - ``model``: identity of the embedding model, which is part of the digest.

    Parses the body; raises ``MalformedRequest`` if that fails.
    """
    request = asked.request
    if not request.messages:
        return None
    start, end = request.spans[-1]
    try:
        element = json.loads(request.text[start:end])
    except (ValueError, RecursionError):
        return None
    text = request.messages[-1].text
    frame, found = _without_text(element, text)
    if found != 1 or not text.strip():
        return None
    around = _cut_out(request.text, [(start, end), *_own_fields(asked, request)])
    rest = json.dumps(frame, sort_keys=True, ensure_ascii=True).encode()
    return ComparableQuestion(
        _digest((b"meaning", model, *_circumstances(asked, owner, place, alone), *around, rest)), text
    )


def reason_not_to_cache(request: ChatRequest, settings: Settings) -> str:
    """Return why the response to a request must not be cached, as the end of a counter's name: "turn" (the newest
    message is no plain user text), "temperature", "choices", "moment" (the answer changes with time) or "flagged" (by
    the guard); "" if it may be cached."""
    if request.stand_down not in ("", NO_LIST) or not request.messages:
        return "turn"
    newest: Message = request.messages[-1]
    if newest.role is not Role.USER or newest.tool_results or newest.attachments or not newest.text.strip():
        return "turn"
    if not _is_cool(request.fields, settings.cache_temperature_max):
        return "temperature"
    if any(_at(request.fields, path) not in (None, 1) for path in _CHOICES):
        return "choices"
    if is_of_the_moment(newest.text):
        return "moment"
    return "flagged" if judge(newest).flagged else ""


def is_too_long(text: str, settings: Settings) -> bool:
    """Return whether a question has more tokens than ``Settings.cache_question_tokens``. They are estimated, never too
    low."""
    return len(text) > 8 * settings.cache_question_tokens or estimate(text) > settings.cache_question_tokens


def _circumstances(asked: CacheableRequest, owner: SessionKey, place: RequestTarget, alone: bool) -> Iterable[bytes]:
    yield VERSION
    yield from (_bytes(owner.tenant), _bytes(owner.id) if alone else b"", b"alone" if alone else b"shared")
    yield from (_bytes(asked.dialect.name), _bytes(place.host), _bytes(place.path), place.query)
    yield str(len(place.headers)).encode()
    for name, value in place.headers:
        yield from (name, value)


def _body(asked: CacheableRequest) -> Iterable[bytes]:
    if not asked.drop:
        return (asked.body,)
    return _cut_out(asked.request.text, _own_fields(asked, asked.request))


def _own_fields(asked: CacheableRequest, request: ChatRequest) -> list[tuple[int, int]]:
    return [span for name, span in request.members if name in asked.drop]


def _cut_out(text: str, spans: Iterable[tuple[int, int]]) -> Iterable[bytes]:
    """Yield the parts of ``text`` before, between and after the ``spans`` (start and end of each), as UTF-8 bytes."""
    place = 0
    for start, end in sorted(spans):
        yield _bytes(text[place:start])
        place = end
    yield _bytes(text[place:])


def _without_text(value: Any, text: str) -> tuple[Any, int]:
    """Return ``value`` with each string that equals ``text`` replaced by "", and how many there were."""
    if isinstance(value, str):
        return ("", 1) if value == text else (value, 0)
    if isinstance(value, list):
        parts = [_without_text(one, text) for one in value]
        return [part for part, _ in parts], sum(count for _, count in parts)
    if isinstance(value, dict):
        named = {name: _without_text(one, text) for name, one in value.items()}
        return {name: part for name, (part, _) in named.items()}, sum(count for _, count in named.values())
    return value, 0


def _is_cool(fields: Mapping[str, Any], most: float) -> bool:
    stated = [found for path in (*_TEMPERATURES, _OF_OLLAMA) if (found := _at(fields, path)) is not None]
    if not stated:
        return most >= UNSTATED_TEMPERATURE
    return all(isinstance(one, int | float) and not isinstance(one, bool) and one <= most for one in stated)


def _at(fields: Mapping[str, Any], path: tuple[str, ...]) -> object:
    found: object = fields
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _digest(parts: Iterable[bytes]) -> bytes:
    digest = hashlib.blake2b(digest_size=32)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()
