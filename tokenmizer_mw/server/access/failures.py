"""Wrong keys, counted by the host that they come from: who sends many is not compared with any more for a while.

Whoever comes with a key that this process has let in before is let in all the same, so that nobody can shut out those
who share an address with him. A header that names another host, as proxies add, counts for nothing: clients write
those too.
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
    """The wrong keys of the last minute, by host."""

    def __init__(self, settings: AccessSettings) -> None:
        self._limit = Limit("failures", settings.failed_per_minute)
        self._counters = ProcessCounters(settings.hosts_counted)

    def host_of(self, scope: Mapping[str, Any]) -> str:
        """Where a request comes from; one place for all whose address the server does not tell."""
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
        """Why nothing from ``host`` is compared now; ``None`` when it is."""
        taken = self._counters.taken(self._demand(host, 0))
        return failures_refused(taken) if isinstance(taken, TooMuch) else None

    def note(self, host: str) -> None:
        """A wrong key came from ``host``."""
        self._counters.taken(self._demand(host, 1))

    def _demand(self, host: str, cost: int) -> Demand:
        return Demand(((bucket(host, "host", self._limit), cost),))
