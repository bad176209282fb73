"""Retries and fallbacks: when a provider is asked again, and when the next one; outcomes of calls, counted."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import time
from typing import Final

from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from tokenmizer_mw.runtime.tracing import LimitedLog
from tokenmizer_mw.server.api.metrics import MetricFamilies
from tokenmizer_mw.wire.http import header

from .routing import Target
from .upstream import Unreachable, UpstreamResponse

BUSY: Final = frozenset({429, 503, 529})
"""Statuses of a provider that has done nothing yet and may do it later."""

FAILING: Final = BUSY | {500, 502, 504}
"""Statuses after which another provider may be asked."""

REFUSING: Final = {
    401: "it does not take the key",
    403: "the key may not do this",
    404: "it knows no such model or path",
}
"""Statuses that mostly mean a wrong key, model or base_url, and what they say."""


@dataclass(frozen=True, slots=True)
class Retrying:
    """Retry settings for one provider.

    ``attempts``: number of retries. Before each, the proxy waits as long as the response's ``retry-after`` says, or
    returns the response to the client if that is more than ``wait_max`` seconds. Without ``retry-after`` it waits up to
    ``wait`` seconds, doubled for each retry.
    """

    attempts: int = 0
    wait: float = 0.5
    wait_max: float = 20.0


Opening = Callable[[Target], Awaitable[UpstreamResponse]]


async def open_upstream(targets: Sequence[Target], retrying: Retrying, opening: Opening) -> UpstreamResponse:
    """Ask the targets in order, each as often as ``retrying`` says. Returns the first response whose status is not in
    ``FAILING``, else the response of the last target.

    ``opening``: sends the request to a target. Raises ``Unreachable`` if the last target cannot be reached.
    """
    *first, last = targets
    for target in first:
        try:
            answer = await _ask_target(target, retrying, opening)
        except Unreachable:
            continue
        if answer.status not in FAILING:
            return answer
        await answer.aclose()
    return await _ask_target(last, retrying, opening)


async def _ask_target(target: Target, retrying: Retrying, opening: Opening) -> UpstreamResponse:
    for attempt in range(retrying.attempts):
        try:
            answer = await opening(target)
        except Unreachable as error:
            if not error.unsent:
                raise
            await asyncio.sleep(_pause(retrying, attempt))
            continue
        pause = _seconds_to_wait(answer, retrying, attempt)
        if answer.status not in BUSY or pause is None:
            return answer
        await answer.aclose()
        await asyncio.sleep(pause)
    return await opening(target)


def _seconds_to_wait(answer: UpstreamResponse, retrying: Retrying, attempt: int) -> float | None:
    """Seconds until the provider may be asked again; ``None``: longer than the proxy waits."""
    after = header(answer.headers, b"retry-after")
    if after is None:
        return _pause(retrying, attempt)
    seconds = _seconds(after.decode("latin-1").strip())
    return seconds if seconds <= retrying.wait_max else None


def _seconds(text: str) -> float:
    """What a ``retry-after`` says: seconds, or a date."""
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time())
    except ValueError:
        return 0.0


def _pause(retrying: Retrying, attempt: int) -> float:
    """Twice as long each time, up to a half less, so that many clients do not come back at once."""
    longest: float = min(retrying.wait_max, retrying.wait * 2.0**attempt)
    return longest * random.uniform(0.5, 1.0)


_logger: Final = logging.getLogger("tokenmizer_mw")


class ProviderOutcomes(Collector):
    """Counters of one process.

    An outcome is the status of a response, or "unreachable", "late", "broken" or "no_key". ``refused`` counts the
    requests that access control refused, by code. ``worker``: label of this process if there are several.
    """

    def __init__(self, worker: str = "") -> None:
        self._make = MetricFamilies(worker).make
        self._counts: Counter[tuple[str, str]] = Counter()
        self.refused: Counter[str] = Counter()
        self._limited = LimitedLog(_logger)

    def note_answer(self, provider: str, status: int) -> None:
        """Count a provider's response. One that points to a wrong key or address is logged once a minute."""
        self._counts[provider, str(status)] += 1
        if status in REFUSING and self._limited.is_due(provider):
            _logger.warning("provider %s answers %d: %s", provider, status, REFUSING[status])

    def lacks_key(self, provider: str, client: str, reason: str) -> None:
        """Count a call that was not sent to ``provider`` because there is no key for it. ``reason``: what is missing,
        for the log. Clients repeat such calls, so a line is logged at most once a minute for each client and provider.
        """
        self._counts[provider, "no_key"] += 1
        if self._limited.is_due(f"{client} {provider}"):
            _logger.warning("provider %s: no_key: %s (asked for by %s)", provider, reason, client or "a client")

    def note_failure(self, provider: str, outcome: str, reason: str) -> None:
        """Count and log a call to ``provider`` without a complete response. ``outcome``: label of the counter;
        ``reason``: for the log."""
        self._counts[provider, outcome] += 1
        _logger.warning("provider %s: %s: %s", provider, outcome, reason)

    def collect(self) -> Iterator[Metric]:
        """Yield the counters as Prometheus metrics (see ``prometheus_client``)."""
        about = "Calls to providers by what became of them"
        calls = [([*call], count) for call, count in sorted(dict(self._counts).items())]
        yield self._make(CounterMetricFamily, "tokenmizer_provider_calls", about, ["provider", "outcome"], calls)
        refusals = [([code], count) for code, count in sorted(dict(self.refused).items())]
        yield self._make(CounterMetricFamily, "tokenmizer_refusals", "Requests refused at the door", ["code"], refusals)
