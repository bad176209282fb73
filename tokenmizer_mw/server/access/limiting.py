"""Rate limits of tenants and keys, and of client hosts that send wrong keys.

A request takes from the counters before it starts; the tokens that it used are charged at its end. A host that sends
too many wrong keys is refused for a while, and its keys are not compared. A key that this process has accepted before
is still accepted from that host, so that one client cannot lock out others behind the same address. Headers such as
``X-Forwarded-For`` are ignored, because clients can write them.

``ResponseEnds`` reads the tokens of a call from its response. All providers report usage in the last event or at the
end of the body; Anthropic's streams report the tokens of the prompt in the first event. In JSON, quotes inside of texts
are escaped, so text of the model cannot be mistaken for usage. If no usage is found, it is estimated from the number of
bytes.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import anyio

from .caller import Caller
from .counting import Bucket, Counters, Demand, Limit, ProcessCounters, Taken, TooMuch, bucket, name_places
from .redis_counting import RedisCounters
from .refusals import Refusal, failures_refused
from .settings import AccessSettings, RateSettings

REQUESTS: Final = "requests"
TOKENS: Final = "tokens"

SETTLE_SECONDS: Final = 2.0
"""Maximum number of seconds that the end of a request waits for the counters in Redis."""

_PLANS_MAX: Final = 10_000


@dataclass(frozen=True, slots=True)
class Plan:
    """What the requests of one caller take from the rate limits.

    ``chat``: for a chat call. ``other``: for any other request. Each is ``None`` if such requests are not limited.
    ``tokens``: the counters to which the tokens of a call are charged.
    """

    chat: Demand | None
    other: Demand | None
    tokens: tuple[Bucket, ...]


class RateLimits:
    """Applies the rate limits in ``settings``, which ``counters`` count."""

    def __init__(self, settings: AccessSettings, counters: Counters) -> None:
        self.counters = counters
        self._settings = settings
        self._plan: Callable[[str, str], Plan] = lru_cache(_PLANS_MAX)(self._make_plan)

    def plan(self, caller: Caller) -> Plan:
        """Return what the caller's requests take from the rate limits of its tenant and of its key. Nothing is taken
        yet: pass the plan's demand to ``counters.take``, and at the end of the request what that returned to
        ``settle``."""
        return self._plan(caller.tenant, caller.key_id)

    async def settle(self, plan: Plan, taken: Taken, tokens: int) -> None:
        """End a request: free the slot of its open call (``taken``), and charge ``tokens`` to the token counters of its
        ``plan``.

        Runs to its end even if the request was cancelled, but waits at most ``SETTLE_SECONDS`` for Redis.
        """
        if not taken.place and not tokens:
            return
        charges = [(each, tokens) for each in plan.tokens] if tokens else []
        if isinstance(self.counters, ProcessCounters):
            self.counters.settle_now(taken, charges)
            return
        with anyio.move_on_after(SETTLE_SECONDS, shield=True):
            await self.counters.settle(taken, charges)

    def doubt(self) -> str | None:
        """Return a code that says what the counters in Redis cannot do now. ``None`` if they can be reached, or if this
        process counts. Blocks while it asks Redis.

        "limits_not_shared": each process counts for itself. "limits_unavailable": requests of callers with limits are
        refused.
        """
        if self.counters.answers():
            return None
        return "limits_unavailable" if self._settings.redis_down == "closed" else "limits_not_shared"

    def _make_plan(self, tenant: str, key_id: str) -> Plan:
        rates = self._settings.rates_of(tenant)
        owned = [("tenant", rates)]
        if key_id:
            owned.append((f"key:{key_id}", self._settings.per_key))
        requests = tuple((each, 1) for owner, of in owned for each in _buckets(tenant, owner, REQUESTS, of))
        tokens = tuple(each for owner, of in owned for each in _buckets(tenant, owner, TOKENS, of))
        places = tuple((name_places(tenant, owner), of.streams) for owner, of in owned if of.streams)
        chat = Demand((*requests, *((each, 0) for each in tokens)), places)
        limited = bool(chat.buckets or chat.places)
        return Plan(chat if limited else None, Demand(requests) if requests else None, tokens)


def _buckets(tenant: str, owner: str, unit: str, rates: RateSettings) -> tuple[Bucket, ...]:
    amount = rates.requests if unit == REQUESTS else rates.tokens
    return (bucket(tenant, owner, Limit(unit, amount)),) if amount else ()


def open_limits(settings: AccessSettings) -> RateLimits:
    """Return the rate limits, counted in Redis if ``settings.redis`` names one, else in this process. Raises
    ``ConfigError`` if the package redis is missing or the address is invalid."""
    local = ProcessCounters(settings.counted)
    if settings.redis is None:
        return RateLimits(settings, local)
    counters = RedisCounters(
        settings.redis,
        local,
        prefix=settings.redis_prefix,
        seconds=settings.redis_seconds,
        stream_seconds=settings.stream_seconds,
        down=settings.redis_down,
    )
    return RateLimits(settings, counters)


_NETWORK_BITS: Final = 64
"""Number of leading bits of an IPv6 address that identify a client host. A client can choose the other bits freely."""


class FailedKeys:
    """Counts wrong API keys by client host, and refuses hosts that send more than ``settings.failed_per_minute`` per
    minute."""

    def __init__(self, settings: AccessSettings) -> None:
        self._limit = Limit("failures", settings.failed_per_minute)
        self._counters = ProcessCounters(settings.hosts_counted)

    def host_of(self, scope: Mapping[str, Any]) -> str:
        """Return the name under which wrong keys of a request's client are counted: its address, or for IPv6 its /64
        network. "" if the server reports no address; all such clients then share one count."""
        client = scope.get("client")
        host = str(client[0]) if client else ""
        if ":" not in host:
            return host
        try:
            address = ipaddress.IPv6Address(host.partition("%")[0])
        except ValueError:
            return host
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.IPv6Network((int(address) >> _NETWORK_BITS << _NETWORK_BITS, _NETWORK_BITS)))

    def refusal(self, host: str) -> Refusal | None:
        """Return the refusal (status 429) if ``host``, a name from ``host_of``, has sent too many wrong keys. ``None``
        if its next key may be compared; if that key is wrong, the caller must call ``note``."""
        taken = self._counters.take_now(self._demand(host, 0))
        return failures_refused(taken) if isinstance(taken, TooMuch) else None

    def note(self, host: str) -> None:
        """Count one wrong API key from ``host``."""
        self._counters.take_now(self._demand(host, 1))

    def _demand(self, host: str, cost: int) -> Demand:
        return Demand(((bucket(host, "host", self._limit), cost),))


_ENDS: Final = 4_096
_HELD_MAX: Final = 16 * _ENDS
_TOTAL: Final = re.compile(rb'"(?:total_tokens|totalTokenCount)"\s*:\s*(\d{1,12})')
_PROMPT: Final = re.compile(rb'"(?:prompt_tokens|input_tokens|promptTokenCount|prompt_eval_count)"\s*:\s*(\d{1,12})')
_CACHED: Final = re.compile(rb'"cache_creation_input_tokens"\s*:\s*(\d{1,12})')
_REPLY: Final = re.compile(rb'"(?:completion_tokens|output_tokens|candidatesTokenCount|eval_count)"\s*:\s*(\d{1,12})')
_BYTES_A_TOKEN: Final = 4

_STREAMED_BYTES_A_TOKEN: Final = 330
"""Number of bytes of a streamed response that are estimated as one token: about the size of one event of the stream."""


class ResponseEnds:
    """Collects the first and the last bytes of one response and its length, to find or estimate the tokens that the
    call used."""

    __slots__ = ("_first", "_held", "_last", "_plain", "_size", "_status", "_streamed")

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._first: bytes | None = None
        self._size = self._last = 0
        self._status = 0
        self._plain = True
        self._streamed = False

    def starts(self, status: int, content_type: bytes, encoding: bytes) -> None:
        """Record status, content type and content encoding of the response. Called once, before ``passes``."""
        self._status = status
        self._plain = encoding in (b"", b"identity")
        self._streamed = b"stream" in content_type or b"ndjson" in content_type

    def passes(self, piece: bytes) -> None:
        """Record a piece of the response body. Called for each piece, in order."""
        self._held.append(piece)
        self._size += len(piece)
        if self._size - self._last > _HELD_MAX:
            self._trim()

    def _trim(self) -> None:
        """Discard the collected bytes except the first and the last ``_ENDS`` of the response."""
        held = b"".join(self._held)
        if self._first is None:
            self._first = held[:_ENDS]
        self._held = [held[-_ENDS:]]
        self._last = self._size

    def tokens(self, request_size: int) -> int:
        """Return the number of tokens that the call used, as the response reports them. If it reports none or is
        compressed, the number is estimated from the sizes in bytes of request and response. 0 if the status is an error
        or there was no response.

        ``request_size``: size of the request body in bytes.
        """
        if not 200 <= self._status < 300:
            return 0
        reported = self._count_tokens() if self._plain else None
        if reported is not None:
            return reported
        each = _STREAMED_BYTES_A_TOKEN if self._streamed else _BYTES_A_TOKEN
        return request_size // _BYTES_A_TOKEN + self._size // each

    def _count_tokens(self) -> int | None:
        self._trim()
        last, first = self._held[0], self._first or b""
        total, reply = _last_number(_TOTAL, last), _last_number(_REPLY, last)
        if total is not None:
            return total
        prompt = _last_number(_PROMPT, last) or _last_number(_PROMPT, first)
        if reply is None:
            return None
        cached = _last_number(_CACHED, last) or _last_number(_CACHED, first)
        return reply + (prompt or 0) + (cached or 0)


def _last_number(pattern: re.Pattern[bytes], data: bytes) -> int | None:
    found = pattern.findall(data)
    return int(found[-1]) if found else None
