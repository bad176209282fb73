"""Settings of access control: frozen dataclasses that a server reads once when it starts."""

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
    """Rate limits of one tenant or key; 0 means unlimited.

    ``requests``: number of requests per minute. ``tokens``: number of tokens of models per minute. ``streams``: number
    of chat calls that may be open at the same time.
    """

    requests: Count = 0
    tokens: Count = 0
    streams: Count = 0

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """All settings of access control. Sizes are in bytes and times in seconds unless another unit is named.

    Keys
        ``key_header``: lower-case name of one more header in which clients may send this server's API key, for clients
        that send their provider's key in the usual header. ``refresh_seconds``: stored keys are read again after this
        time, so a revoked key is rejected after at most this time. ``stale_seconds``: how long the keys read last
        remain valid while the key store does not answer. ``failed_per_minute``: number of wrong keys per minute that a
        client host may send; further ones get status 429 without a comparison. ``hosts_counted``: number of client
        hosts whose wrong keys are counted at the same time. ``keys``: API keys in the form that ``listed_keys`` reads,
        for servers without a key store; if there are any, stored keys are not used. ``open_paths``: paths that need no
        key, such as "/health"; the whole path below the application's root must be equal.
    Limits
        ``per_tenant``, ``per_key``: rate limits of each tenant and of each key. ``tenants``: rate limits of named
        tenants, used instead of ``per_tenant``. ``counted``: number of rate-limit counters (of tenants and keys) kept
        at the same time in this process. ``redis``: address of a Redis that counts for all processes, such as
        "redis://host:6379/0"; ``None`` counts in each process. ``redis_prefix``: prefix of the keys in Redis.
        ``redis_seconds``: timeout of one call to Redis. ``redis_down``: while Redis does not answer, "open" lets each
        process count for itself and "closed" answers requests with status 503. ``stream_seconds``: a chat call counted
        in Redis frees its slot after this time at the latest, so that the calls of a killed process do not count
        forever.
    Heads
        ``hosts``: allowed values of the ``Host`` header, such as "example.org", "example.org:8443" or "*.example.org".
        Empty allows any host, but only this machine if callers need no key. ``origins``: web pages that may read
        responses (CORS), such as "https://example.org"; empty allows none. ``head_max``: maximum size of all header
        names and values together.
    Bodies
        ``body_max``: maximum size of a body as received, and again after decompression. ``body_wait_seconds``,
        ``body_bytes_per_second``: a client has ``body_wait_seconds`` to send its body, and one more second for each
        ``body_bytes_per_second`` bytes received. ``depth_max``, ``messages_max``, ``tools_max``: limits on the content
        of JSON bodies, see ``Bounds``.
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
        """Build settings from a mapping of a configuration file. Raises ``ConfigError`` for unknown or invalid
        settings; its message begins with ``where`` and names the setting."""
        return read_fields(cls, given, where)

    @property
    def bounds(self) -> Bounds:
        """The limits on the content of a JSON body: nesting depth, number of messages and number of tools."""
        return Bounds(self.depth_max, self.messages_max, self.tools_max)

    def rates_of(self, tenant: str) -> RateSettings:
        """Return the rate limits of the tenant with this name: its own if ``tenants`` has them, else ``per_tenant``."""
        return self.tenants.get(tenant, self.per_tenant)
