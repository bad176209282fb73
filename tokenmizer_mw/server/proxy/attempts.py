"""Sends a call to a provider, retries it, falls back to the next provider, and counts how the calls ended."""

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
"""HTTP statuses with which a provider refuses a call for the moment, before it has done any work on it."""

FAILING: Final = BUSY | {500, 502, 504}
"""HTTP statuses after which the next target (another provider or model) is asked, if there is one."""

REFUSING: Final = {
    401: "it does not take the key",
    403: "the key may not do this",
    404: "it knows no such model or path",
}
"""HTTP statuses that mostly mean a wrong key, model or base_url in the configuration: status -> its meaning for the
log."""


@dataclass(frozen=True, slots=True)
class Retrying:
    """How often a call is sent to the same provider again, and how long to wait before that.

    A call is sent again if the provider has received nothing of it, or answered with a status in ``BUSY``.

    - ``attempts``: maximum number of retries after the first attempt.
    - ``wait``: maximum number of seconds to wait before the first retry, doubled for each further one. The real time is
      random, between half of that and all of it.
    - ``wait_max``: upper limit of every wait, in seconds.

    If the response has a ``retry-after`` header, its time is used instead; if that is more than ``wait_max``, the
    response is returned without a retry.
    """

    attempts: int = 0
    wait: float = 0.5
    wait_max: float = 20.0


Opening = Callable[[Target], Awaitable[UpstreamResponse]]


async def open_upstream(targets: Sequence[Target], retrying: Retrying, opening: Opening) -> UpstreamResponse:
    """Send a call to ``targets`` (each a provider and a model) in order until one answers with a status that is not in
    ``FAILING``, and return that response. If there is none, return the response of the last target. Each target gets
    the retries that ``retrying`` allows.

    ``opening``: function that sends the request to a target. Raises ``Unreachable`` if the last target has to be asked
    and gives no response, and whatever else ``opening`` raises.
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
    """Return the seconds to wait before retry number ``attempt`` (from 0). ``None``, which means no retry, if the
    response's ``retry-after`` is more than ``wait_max``."""
    after = header(answer.headers, b"retry-after")
    if after is None:
        return _pause(retrying, attempt)
    seconds = _seconds(after.decode("latin-1").strip())
    return seconds if seconds <= retrying.wait_max else None


def _seconds(text: str) -> float:
    """Return the seconds from now on that a ``retry-after`` value means. The value is a number of seconds or a date. 0
    if it is neither, or in the past."""
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time())
    except ValueError:
        return 0.0


def _pause(retrying: Retrying, attempt: int) -> float:
    """Return the seconds to wait before retry number ``attempt`` (from 0): ``wait`` doubled for each earlier retry, at
    most ``wait_max``, and shortened at random by up to a half, so that many clients do not come back at the same
    time."""
    longest: float = min(retrying.wait_max, retrying.wait * 2.0**attempt)
    return longest * random.uniform(0.5, 1.0)


_logger: Final = logging.getLogger("tokenmizer_mw")


class ProviderOutcomes(Collector):
    """Prometheus collector that counts, in this process, how calls to each provider ended.

    The outcome of a call is the status of its response, such as "200", or "unreachable" (no connection or no response),
    "late" (neither in time), "broken" (the response broke off) or "no_key" (not sent, because there is no key). A call
    whose response broke off is counted twice: by its status, and as "broken".

    ``refused``: number of requests that access control refused, by error code. ``worker``: label of this process if
    there are several, "" if there is only one.
    """

    def __init__(self, worker: str = "") -> None:
        self._make = MetricFamilies(worker).make
        self._counts: Counter[tuple[str, str]] = Counter()
        self.refused: Counter[str] = Counter()
        self._limited = LimitedLog(_logger)

    def note_answer(self, provider: str, status: int) -> None:
        """Count a response of the provider with this HTTP status. A status in ``REFUSING`` is also logged, at most once
        a minute for each provider."""
        self._counts[provider, str(status)] += 1
        if status in REFUSING and self._limited.is_due(provider):
            _logger.warning("provider %s answers %d: %s", provider, status, REFUSING[status])

    def note_missing_key(self, provider: str, client: str, reason: str) -> None:
        """Count a call that was not sent to ``provider`` because there is no key for it, and log it at most once a
        minute for each client and provider.

        ``client``: the client's address. ``reason``: what is missing, for the log.
        """
        self._counts[provider, "no_key"] += 1
        if self._limited.is_due(f"{client} {provider}"):
            _logger.warning("provider %s: no_key: %s (asked for by %s)", provider, reason, client or "a client")

    def note_failure(self, provider: str, outcome: str, reason: str) -> None:
        """Count and log a call to ``provider`` that got no complete response. ``outcome``: "unreachable", "late" or
        "broken"; ``reason``: text for the log."""
        self._counts[provider, outcome] += 1
        _logger.warning("provider %s: %s: %s", provider, outcome, reason)

    def collect(self) -> Iterator[Metric]:
        """Yield the counters as Prometheus metrics (called by ``prometheus_client``): calls by provider and outcome,
        and refused requests by error code."""
        about = "Calls to providers by outcome"
        calls = [([*call], count) for call, count in sorted(dict(self._counts).items())]
        yield self._make(CounterMetricFamily, "tokenmizer_provider_calls", about, ["provider", "outcome"], calls)
        refusals = [([code], count) for code, count in sorted(dict(self.refused).items())]
        about = "Requests that the access middleware refused"
        yield self._make(CounterMetricFamily, "tokenmizer_refusals", about, ["code"], refusals)
