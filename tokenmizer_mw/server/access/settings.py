"""Settings of access control: frozen objects, read once at start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Final, Literal

from tokenmizer_mw.errors import ConfigError

from .bounds import DEEPEST, Bounds

Failing = Literal["open", "closed"]

_AT_LEAST_ONE: Final = (
    "failed_per_minute",
    "hosts_counted",
    "counted",
    "head_max",
    "body_max",
    "body_bytes_per_second",
    "depth_max",
    "messages_max",
    "tools_max",
)


@dataclass(frozen=True, slots=True)
class RateSettings:
    """Rate limits; 0 means unlimited. ``requests`` and ``tokens`` per minute; ``streams``: concurrent chat calls."""

    requests: int = 0
    tokens: int = 0
    streams: int = 0

    def __post_init__(self) -> None:
        for name in ("requests", "tokens", "streams"):
            _require_whole(name, getattr(self, name), 0)


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """All settings of access control. Sizes are in bytes unless another unit is named.

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
        ``per_tenant``. ``counted``: tenants and keys counted at once in this process. ``redis``: address of a Redis
        that counts for all processes, "redis://host:6379/0"; ``redis_prefix``: prefix of its keys; ``redis_seconds``:
        timeout of one count; ``redis_down``: while Redis does not answer, "open" lets each process count for itself
        and "closed" answers 503. ``stream_seconds``: a stream counted in Redis frees its slot after this time at the
        latest, so that a killed process does not hold it for ever.
    Heads
        ``hosts``: allowed host headers, "example.org", "example.org:8443" or "*.example.org"; empty allows any.
        ``origins``: web pages that may read responses (CORS), such as "https://example.org"; empty allows none.
        ``head_max``: maximum size of the names and values of all headers.
    Bodies
        ``body_max``: maximum size of a body as received, and again after decompression. ``body_wait_seconds`` and
        ``body_bytes_per_second``: time a client has for its body: that many seconds, and one more second for each
        ``body_bytes_per_second`` bytes received.
    """

    key_header: str = "x-tokenmizer-key"
    refresh_seconds: float = 5.0
    stale_seconds: float = 30.0
    failed_per_minute: int = 30
    hosts_counted: int = 10_000
    keys: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    open_paths: tuple[str, ...] = ()
    per_tenant: RateSettings = field(default_factory=RateSettings)
    per_key: RateSettings = field(default_factory=RateSettings)
    tenants: Mapping[str, RateSettings] = field(default_factory=dict)
    counted: int = 10_000
    redis: str | None = None
    redis_prefix: str = "tokenmizer"
    redis_seconds: float = 0.5
    redis_down: Failing = "open"
    stream_seconds: float = 900.0
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    head_max: int = 64 * 1024
    body_max: int = 64 * 1024 * 1024
    body_wait_seconds: float = 15.0
    body_bytes_per_second: int = 4_096
    depth_max: int = 64
    messages_max: int = 2_000
    tools_max: int = 256

    def __post_init__(self) -> None:
        for name in _AT_LEAST_ONE:
            _require_whole(name, getattr(self, name), 1)
        if self.depth_max > DEEPEST:
            raise ConfigError(f"depth_max is at most {DEEPEST}, not {self.depth_max}")
        for name in ("refresh_seconds", "stale_seconds", "redis_seconds", "stream_seconds", "body_wait_seconds"):
            _require_more_than_zero(name, getattr(self, name))
        if self.refresh_seconds > self.stale_seconds:
            raise ConfigError("stale_seconds is at least refresh_seconds")
        if self.redis_down not in ("open", "closed"):
            raise ConfigError(f"redis_down is open or closed, not {self.redis_down!r}")
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
        from pydantic import TypeAdapter, ValidationError  # a third of the package's import time: only where used

        if not isinstance(given, Mapping):
            raise ConfigError(f"{where}: expected a mapping of settings")
        _require_known(given, cls, where)
        for name in ("per_tenant", "per_key"):
            _require_known(given.get(name), RateSettings, f"{where}: {name}")
        tenants = given.get("tenants")
        for tenant, rates in tenants.items() if isinstance(tenants, Mapping) else ():
            _require_known(rates, RateSettings, f"{where}: tenants: {tenant}")
        try:
            return TypeAdapter(cls).validate_python(dict(given))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            name = ".".join(map(str, first["loc"])) or "settings"
            raise ConfigError(f"{where}: {name}: {first['msg']}") from None
        except ConfigError as error:
            raise ConfigError(f"{where}: {error}") from None

    @property
    def bounds(self) -> Bounds:
        """Limits on the content of a JSON request."""
        return Bounds(self.depth_max, self.messages_max, self.tools_max)

    def rates_of(self, tenant: str) -> RateSettings:
        """Return the rate limits of the tenant."""
        return self.tenants.get(tenant, self.per_tenant)


def _require_known(given: object, kind: Any, where: str) -> None:
    names = {field.name for field in fields(kind)}
    if isinstance(given, Mapping) and (unknown := sorted(str(name) for name in given.keys() - names)):
        raise ConfigError(f"{where}: unknown setting {', '.join(unknown)}; known: {', '.join(sorted(names))}")


def _require_whole(name: str, value: Any, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ConfigError(f"{name} is a whole number of at least {least}, not {value!r}")


def _require_more_than_zero(name: str, value: Any) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not value > 0:
        raise ConfigError(f"{name} is a number above 0, not {value!r}")
