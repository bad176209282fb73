"""Wrong API keys, counted per client host; a host that sends too many is refused for a while without a comparison.

A key that this process has accepted before is still accepted from such a host, so that one client cannot lock out
others behind the same address. Forwarding headers are ignored, because clients can write them too.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any, Final

from .counting import Demand, ProcessCounters, TooMuch, bucket
from .rate import Limit
from .refusals import Refusal, failures_refused
from .settings import AccessSettings

_NETWORK_BITS: Final = 64
"""Of an IPv6 address: the rest is the client's to choose."""


class Failures:
    """Counts wrong keys by host, within the limit ``failed_per_minute``."""

    def __init__(self, settings: AccessSettings) -> None:
        self._limit = Limit("failures", settings.failed_per_minute)
        self._counters = ProcessCounters(settings.hosts_counted)

    def host_of(self, scope: Mapping[str, Any]) -> str:
        """Return the client's address (an IPv6 address as its /64 network); "" if the server does not report it."""
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
        """Return the refusal for a host that sent too many wrong keys; ``None`` if its keys may be compared."""
        taken = self._counters.take_now(self._demand(host, 0))
        return failures_refused(taken) if isinstance(taken, TooMuch) else None

    def note(self, host: str) -> None:
        """Count one wrong key from ``host``."""
        self._counters.take_now(self._demand(host, 1))

    def _demand(self, host: str, cost: int) -> Demand:
        return Demand(((bucket(host, "host", self._limit), cost),))
