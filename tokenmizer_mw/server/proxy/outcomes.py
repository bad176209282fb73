"""Counts the outcomes of calls to providers for the metrics, and logs failed ones."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from typing import Final

from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from tokenmizer_mw.runtime.tracing import LimitedLog

_logger: Final = logging.getLogger("tokenmizer_mw")


class Outcomes(Collector):
    """Counters of one process.

    An outcome is the status of a response, or "unreachable", "late", "broken" or "no_key". ``refused`` counts the
    requests that access control refused, by code. ``worker``: label of this process if there are several.
    """

    def __init__(self, worker: str = "") -> None:
        self._worker = worker
        self._counts: Counter[tuple[str, str]] = Counter()
        self.refused: Counter[str] = Counter()
        self._limited = LimitedLog(_logger)

    def note_answer(self, provider: str, status: int) -> None:
        """Count a provider's response."""
        self._counts[provider, str(status)] += 1

    def lacks_key(self, provider: str, client: str, reason: str) -> None:
        """Count a call that was not sent because there is no key. Clients repeat such calls, so each is logged once a
        minute."""
        self._counts[provider, "no_key"] += 1
        if self._limited.is_due(f"{client} {provider}"):
            _logger.warning("provider %s: no_key: %s (asked for by %s)", provider, reason, client or "a client")

    def note_failure(self, provider: str, outcome: str, reason: str) -> None:
        """Count and log a call without a complete response."""
        self._counts[provider, outcome] += 1
        _logger.warning("provider %s: %s: %s", provider, outcome, reason)

    def collect(self) -> Iterator[Metric]:
        """See ``prometheus_client``."""
        named, value = (["worker"], [self._worker]) if self._worker else ([], [])
        family = CounterMetricFamily(
            "tokenmizer_provider_calls",
            "Calls to providers by what became of them",
            labels=["provider", "outcome", *named],
        )
        for (provider, outcome), count in sorted(dict(self._counts).items()):
            family.add_metric([provider, outcome, *value], count)
        yield family
        refusals = CounterMetricFamily("tokenmizer_refusals", "Requests refused at the door", labels=["code", *named])
        for code, count in sorted(dict(self.refused).items()):
            refusals.add_metric([code, *value], count)
        yield refusals
