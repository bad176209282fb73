"""The counters as Prometheus reads them. They are this process's own: each of several workers has its share, and tells
it under its own label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from tokenmizer_mw.memory import SessionMemory

from .answered import Answered
from .health import Health

MEDIA: Final = CONTENT_TYPE_LATEST


class _Counters(Collector):
    def __init__(self, memory: SessionMemory, answered: Answered, health: Health, worker: str) -> None:
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
        for (route, status), count in self._answered.items():
            answers.add_metric([route, str(status), *self._worker], count)
        yield answers
        ready = GaugeMetricFamily(
            "tokenmizer_ready", "1 when the store answers and nothing else is in the way", labels=self._named
        )
        ready.add_metric(self._worker, float(self._health.look()["ready"]))
        yield ready


def registry_of(
    memory: SessionMemory, answered: Answered, health: Health, collectors: Iterable[Collector], worker: str = ""
) -> CollectorRegistry:
    """All there is to scrape: ours, and the ``collectors`` of whoever mounts us."""
    registry = CollectorRegistry()
    registry.register(_Counters(memory, answered, health, worker))
    for collector in collectors:
        registry.register(collector)
    return registry


def exposed(registry: CollectorRegistry) -> bytes:
    """The text that Prometheus reads. Asks the store whether it answers."""
    return generate_latest(registry)
