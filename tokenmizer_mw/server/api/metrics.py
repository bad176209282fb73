"""Prometheus metrics of this process. Each of several workers exposes its own counters, under its own label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from tokenmizer_mw.context.costs.savings import dollars
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.usage import CALL, UsageSums

from .health import Health

MEDIA: Final = CONTENT_TYPE_LATEST


class _Counters(Collector):
    def __init__(self, memory: SessionMemory, answered: Counter[tuple[str, int]], health: Health, worker: str) -> None:
        self._memory, self._answered, self._health = memory, answered, health
        self._named, self._worker = (["worker"], [worker]) if worker else ([], [])

    def collect(self) -> Iterator[Metric]:
        happened = CounterMetricFamily(
            "tokenmizer_events",
            "What happened to chats and sessions, see SessionMemory.counters()",
            labels=["event", *self._named],
        )
        for event, count in sorted(self._memory.counters().items()):
            happened.add_metric([event, *self._worker], count)
        yield happened
        answers = CounterMetricFamily(
            "tokenmizer_api_requests", "Requests to the routes of the API", labels=["route", "status", *self._named]
        )
        for (route, status), count in sorted(self._answered.copy().items()):
            answers.add_metric([route, str(status), *self._worker], count)
        yield answers
        yield from self._spending()
        ready = GaugeMetricFamily(
            "tokenmizer_ready", "1 when the store answers and nothing else is in the way", labels=self._named
        )
        ready.add_metric(self._worker, float(self._health.look()["ready"]))
        yield ready

    def _spending(self) -> Iterator[Metric]:
        """What calls of this process cost, would have cost, and what each stage saved or lost."""
        sums = self._memory.service.usage.totals()
        whole = sums.pop(CALL, UsageSums())
        calls = CounterMetricFamily("tokenmizer_calls", "Calls that were recorded", labels=self._named)
        calls.add_metric(self._worker, whole.calls)
        tokens = CounterMetricFamily(
            "tokenmizer_tokens", "Tokens of calls that were recorded", labels=["kind", *self._named]
        )
        kinds = (("input", whole.input_tokens), ("cached", whole.cached_tokens), ("written", whole.written_tokens),
                 ("output", whole.output_tokens), ("input_without", whole.client_tokens))  # fmt: skip
        for kind, count in kinds:
            tokens.add_metric([kind, *self._worker], count)
        cost = CounterMetricFamily(
            "tokenmizer_cost_dollars", "What they cost, and would have cost without us", labels=["way", *self._named]
        )
        for way, amount in (("paid", whole.cost), ("without", whole.client_cost)):
            cost.add_metric([way, *self._worker], dollars(amount))
        saved = GaugeMetricFamily(
            "tokenmizer_saved_dollars", "What a stage saved; a loss is negative", labels=["stage", *self._named]
        )
        for stage, figures in sorted(sums.items()):
            saved.add_metric([stage, *self._worker], dollars(figures.saved))
        yield from (calls, tokens, cost, saved)


def registry_of(
    memory: SessionMemory,
    answered: Counter[tuple[str, int]],
    health: Health,
    collectors: Iterable[Collector],
    worker: str = "",
) -> CollectorRegistry:
    """Return a Prometheus registry with the collectors of this package and the given ``collectors``."""
    registry = CollectorRegistry()
    registry.register(_Counters(memory, answered, health, worker))
    for collector in collectors:
        registry.register(collector)
    return registry


def expose_metrics(registry: CollectorRegistry) -> bytes:
    """Return the metrics in Prometheus text format. Blocks while the health check reads the store."""
    return generate_latest(registry)
