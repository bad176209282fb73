"""What became of calls to providers: counted for whoever watches, and a line in the log where one failed."""

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
    """Counts of one process. An outcome is the status of an answer, or why there was none: "unreachable", "late",
    "broken" or "no_key". ``refused`` counts, by their codes, the requests that the door has turned away. ``worker``
    names the process where there are several."""

    def __init__(self, worker: str = "") -> None:
        self._worker = worker
        self._counts: Counter[tuple[str, str]] = Counter()
        self.refused: Counter[str] = Counter()
        self._limited = LimitedLog(_logger)

    def answered(self, provider: str, status: int) -> None:
        """A provider has begun to answer."""
        self._counts[provider, str(status)] += 1

    def lacks_key(self, provider: str, client: str, reason: str) -> None:
        """A provider was not asked for the lack of a key. Clients repeat such calls: one log line a minute for each."""
        self._counts[provider, "no_key"] += 1
        if self._limited.is_due(f"{client} {provider}"):
            _logger.warning("provider %s: no_key: %s (asked for by %s)", provider, reason, client or "a client")

    def failed(self, provider: str, outcome: str, reason: str) -> None:
        """A provider gave no answer, or not all of it."""
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
