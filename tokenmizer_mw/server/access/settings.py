"""Settings of access control: frozen objects, read once at start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, Literal

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.settings import Count, Positive, Range, Seconds, check_fields, read_fields

from .bounds import DEEPEST, Bounds

Failing = Literal["open", "closed"]


@dataclass(frozen=True, slots=True)
class RateSettings:
    """Rate limits; 0 means unlimited. ``requests`` and ``tokens``: per minute; ``streams``: concurrent chat calls."""

    requests: Count = 0
    tokens: Count = 0
    streams: Count = 0

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """All settings of access control. Sizes are in bytes and times in seconds unless another unit is named.

    Keys
        ``key_header``: header for the API key that no dialect uses, for clients that send their provider's own key in
        the usual header. ``refresh_seconds``: a revoked key is rejected after at most this time. ``stale_seconds``:
        how long the keys read last remain valid while the key store does not answer. ``failed_per_minute``: wrong keys
        per client host; further ones get 429 without a comparison. ``hosts_counted``: number of hosts counted at once.
        ``keys``: API keys in the form that ``listed_keys`` reads, for servers without a key store; they replace stored
        keys. ``open_paths``: paths that need no key, such as "/health"; the whole path below the application's root
        must match.
    Limits
        ``per_tenant``, ``per_key``: limits of each tenant and key; ``tenants``: limits of named tenants, instead of
        ``per_tenant``. ``counted``: number of limits (of tenants and keys) counted at once in this process. ``redis``:
        address of a Redis that counts for all processes, "redis://host:6379/0"; ``redis_prefix``: prefix of its keys;
        ``redis_seconds``: timeout of one count; ``redis_down``: while Redis does not answer, "open" lets each process
        count for itself and "closed" answers 503. ``stream_seconds``: a chat call counted in Redis frees its slot after
        this time at the latest, so that a killed process does not hold it for ever.
    Heads
        ``hosts``: allowed host headers, "example.org", "example.org:8443" or "*.example.org"; empty allows any, but
        only this machine if callers need no key. ``origins``: web pages that may read responses (CORS), such as
        "https://example.org"; empty allows none. ``head_max``: maximum size of the names and values of all headers.
    Bodies
        ``body_max``: maximum size of a body as received, and again after decompression. ``body_wait_seconds`` and
        ``body_bytes_per_second``: time a client has for its body: that many seconds, and one more second for each
        ``body_bytes_per_second`` bytes received. ``depth_max``, ``messages_max``, ``tools_max``: limits on the content
        of JSON, see ``Bounds``.
    """

    key_header: str = "x-tokenmizer-key"
    refresh_seconds: Seconds = 5.0
    stale_seconds: Seconds = 30.0
    failed_per_minute: Positive = 30
    hosts_counted: Positive = 10_000
    keys: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    open_paths: tuple[str, ...] = ()
    per_tenant: RateSettings = field(default_factory=RateSettings)
    per_key: RateSettings = field(default_factory=RateSettings)
    tenants: Mapping[str, RateSettings] = field(default_factory=dict)
    counted: Positive = 10_000
    redis: str | None = None
    redis_prefix: str = "tokenmizer"
    redis_seconds: Seconds = 0.5
    redis_down: Failing = "open"
    stream_seconds: Seconds = 900.0
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    head_max: Positive = 64 * 1024
    body_max: Positive = 64 * 1024 * 1024
    body_wait_seconds: Seconds = 15.0
    body_bytes_per_second: Positive = 4_096
    depth_max: Annotated[int, Range(ge=1, le=DEEPEST)] = 64
    messages_max: Positive = 2_000
    tools_max: Positive = 256

    def __post_init__(self) -> None:
        check_fields(self)
        if self.refresh_seconds > self.stale_seconds:
            raise ConfigError("stale_seconds is at least refresh_seconds")
        if not self.key_header or self.key_header != self.key_header.strip().lower():
            raise ConfigError("key_header is a header's name in small letters")
        for path in self.open_paths:
            if not path.startswith("/"):
                raise ConfigError(f"open_paths begin with '/', not {path!r}")
        object.__setattr__(self, "tenants", MappingProxyType(dict(self.tenants)))

    @classmethod
    def from_mapping(cls, given: object, where: str = "access") -> AccessSettings:
        """Build settings from a configuration file's mapping. Raises ``ConfigError`` that names ``where`` and the
        setting."""
        return read_fields(cls, given, where)

    @property
    def bounds(self) -> Bounds:
        """The limits on the content of a JSON request: nesting depth, number of messages and of tools."""
        return Bounds(self.depth_max, self.messages_max, self.tools_max)

    def rates_of(self, tenant: str) -> RateSettings:
        """Return the rate limits of the tenant."""
        return self.tenants.get(tenant, self.per_tenant)
