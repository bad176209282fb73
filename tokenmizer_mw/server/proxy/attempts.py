"""Retries a call at a provider, falls back to the next provider, and counts how the calls ended."""

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
"""HTTP statuses with which a provider refuses a call for now, before it has done any work on it."""

FAILING: Final = BUSY | {500, 502, 504}
"""HTTP statuses after which the next provider is asked, if there is one."""

REFUSING: Final = {
    401: "it does not take the key",
    403: "the key may not do this",
    404: "it knows no such model or path",
}
"""HTTP statuses that mostly mean a wrong key, model or base_url in the configuration, and the words for them in the
log."""


@dataclass(frozen=True, slots=True)
class Retrying:
    """How often a call is sent to the same provider again, and after which time.

    A call is sent again if the provider has received nothing of it, or answered with a status in ``BUSY``.
    ``attempts``: number of retries. Before each, the proxy waits as long as the response's ``retry-after`` says, or
    returns the response to the client if that is more than ``wait_max`` seconds. Without ``retry-after`` it waits up to
    ``wait`` seconds, doubled for each further retry, and never more than ``wait_max``.
    """

    attempts: int = 0
    wait: float = 0.5
    wait_max: float = 20.0


Opening = Callable[[Target], Awaitable[UpstreamResponse]]


async def open_upstream(targets: Sequence[Target], retrying: Retrying, opening: Opening) -> UpstreamResponse:
    """Send a call to ``targets`` in order, each with the retries of ``retrying``. Returns the first response whose
    status is not in ``FAILING``, else the response of the last target.

    ``opening``: sends the request to a target. Raises ``Unreachable`` if the last target is needed and gives no
    response.
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
    """Return the seconds to wait before a retry; ``None`` if ``retry-after`` asks for more than ``wait_max``."""
    after = header(answer.headers, b"retry-after")
    if after is None:
        return _pause(retrying, attempt)
    seconds = _seconds(after.decode("latin-1").strip())
    return seconds if seconds <= retrying.wait_max else None


def _seconds(text: str) -> float:
    """Return the seconds in a ``retry-after``, which holds seconds or a date; 0 if it holds neither."""
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time())
    except ValueError:
        return 0.0


def _pause(retrying: Retrying, attempt: int) -> float:
    """Return the seconds before a retry: doubled for each attempt, and shortened at random by up to a half, so that
    many clients do not come back at once."""
    longest: float = min(retrying.wait_max, retrying.wait * 2.0**attempt)
    return longest * random.uniform(0.5, 1.0)


_logger: Final = logging.getLogger("tokenmizer_mw")


class ProviderOutcomes(Collector):
    """Prometheus collector that counts, in this process, how calls to each provider ended.

    The outcome of a call is the status of its response ("200"), or "unreachable", "late" (no response in time),
    "broken" (the response broke off) or "no_key" (not sent, for lack of a key). ``refused`` counts the requests that
    access control refused, by error code. ``worker``: label of this process if there are several.
    """

    def __init__(self, worker: str = "") -> None:
        self._make = MetricFamilies(worker).make
        self._counts: Counter[tuple[str, str]] = Counter()
        self.refused: Counter[str] = Counter()
        self._limited = LimitedLog(_logger)

    def note_answer(self, provider: str, status: int) -> None:
        """Count a provider's response. A status in ``REFUSING`` is also logged, at most once a minute for each
        provider."""
        self._counts[provider, str(status)] += 1
        if status in REFUSING and self._limited.is_due(provider):
            _logger.warning("provider %s answers %d: %s", provider, status, REFUSING[status])

    def note_missing_key(self, provider: str, client: str, reason: str) -> None:
        """Count a call that was not sent to ``provider`` because there is no key for it. ``reason``: what is missing,
        for the log; ``client``: the client's address. Clients repeat such calls, so a line is logged at most once a
        minute for each client and provider.
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
