"""Prometheus metrics of this process. If a server has several worker processes, each returns only its own counters,
with its own value of the label "worker"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from tokenmizer_mw.context.savings import dollars
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.usage import CALL, UsageSums

from .health import Health

MEDIA: Final = CONTENT_TYPE_LATEST


class MetricFamilies:
    """Builds Prometheus metrics. ``worker``: value of the label "worker" that all of them get. With "", they have no
    such label."""

    def __init__(self, worker: str) -> None:
        self._named, self._worker = (["worker"], [worker]) if worker else ([], [])

    def make(
        self,
        kind: type[CounterMetricFamily | GaugeMetricFamily],
        name: str,
        about: str,
        labels: Sequence[str],
        rows: Iterable[tuple[Sequence[str], float]],
    ) -> Metric:
        """Return a metric with one number for each of ``rows``.

        - ``kind``: counter or gauge. ``name``, ``about``: name and description of the metric.
        - ``labels``: names of the labels, such as ``["route", "status"]``.
        - ``rows``: pairs of the values of the labels, such as ``["search", "200"]``, and the number.
        """
        family = kind(name, about, labels=[*labels, *self._named])
        for values, number in rows:
            family.add_metric([*values, *self._worker], number)
        return family


class _Counters(Collector):
    def __init__(self, memory: SessionMemory, answered: Counter[tuple[str, int]], health: Health, worker: str) -> None:
        self._memory, self._answered, self._health = memory, answered, health
        self._make = MetricFamilies(worker).make

    def collect(self) -> Iterator[Metric]:
        about = "What happened to chats and sessions, see SessionMemory.counters()"
        happened = [([event], count) for event, count in sorted(self._memory.counters().items())]
        yield self._make(CounterMetricFamily, "tokenmizer_events", about, ["event"], happened)
        about = "Requests to the routes of the API"
        answers = [([route, str(status)], count) for (route, status), count in sorted(self._answered.copy().items())]
        yield self._make(CounterMetricFamily, "tokenmizer_api_requests", about, ["route", "status"], answers)
        yield from self._spending()
        about = "1 when the store answers and nothing else is in the way"
        ready = float(self._health.look()["ready"])
        yield self._make(GaugeMetricFamily, "tokenmizer_ready", about, [], [([], ready)])

    def _spending(self) -> Iterator[Metric]:
        """Yield the metrics of this process's model calls: what they cost, what they would have cost without this
        package, and what each part of the package (such as "cut" or "cache") saved or lost."""
        sums = self._memory.service.usage.totals()
        whole = sums.pop(CALL, UsageSums())
        kinds = (("input", whole.input_tokens), ("cached", whole.cached_tokens), ("written", whole.written_tokens),
                 ("output", whole.output_tokens), ("input_without", whole.client_tokens))  # fmt: skip
        ways = (("paid", whole.cost), ("without", whole.client_cost))
        saved = sorted((stage, figures.saved) for stage, figures in sums.items())
        about = "Calls that were recorded"
        yield self._make(CounterMetricFamily, "tokenmizer_calls", about, [], [([], whole.calls)])
        about, rows = "Tokens of calls that were recorded", (([kind], count) for kind, count in kinds)
        yield self._make(CounterMetricFamily, "tokenmizer_tokens", about, ["kind"], rows)
        about, costs = (
            "What they cost, and what they would have cost without this package",
            (([way], dollars(cost)) for way, cost in ways),
        )
        yield self._make(CounterMetricFamily, "tokenmizer_cost_dollars", about, ["way"], costs)
        about, gains = "What a stage saved; a loss is negative", (([stage], dollars(gain)) for stage, gain in saved)
        yield self._make(GaugeMetricFamily, "tokenmizer_saved_dollars", about, ["stage"], gains)


def registry_of(
    memory: SessionMemory,
    answered: Counter[tuple[str, int]],
    health: Health,
    collectors: Iterable[Collector],
    worker: str = "",
) -> CollectorRegistry:
    """Return a Prometheus registry with the metrics of ``memory`` and of ``collectors``.

    - ``answered``: number of responses of the API by route name and HTTP status. It is read whenever the metrics are
      requested.
    - ``health``: source of the metric ``tokenmizer_ready``.
    - ``worker``: value of the label "worker"; with "", the metrics have no such label.
    """
    registry = CollectorRegistry()
    registry.register(_Counters(memory, answered, health, worker))
    for collector in collectors:
        registry.register(collector)
    return registry
