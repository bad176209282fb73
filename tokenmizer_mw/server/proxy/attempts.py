"""Retries and fallbacks: when a provider is asked again, and when the next provider is asked."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import time
from typing import Final

from .headers import value_of
from .routing import Target
from .upstream import Unreachable, UpstreamResponse

BUSY: Final = frozenset({429, 503, 529})
"""Statuses of a provider that has done nothing yet and may do it later."""

FAILING: Final = BUSY | {500, 502, 504}
"""Statuses after which another provider may be asked."""


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
    """Ask the targets in order; return the first response that is not in ``FAILING``, else the response of the last
    target.

    Raises ``Unreachable`` if the last target cannot be reached.
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
        pause = _after(answer, retrying, attempt)
        if answer.status not in BUSY or pause is None:
            return answer
        await answer.aclose()
        await asyncio.sleep(pause)
    return await opening(target)


def _after(answer: UpstreamResponse, retrying: Retrying, attempt: int) -> float | None:
    """Seconds until the provider may be asked again; ``None``: longer than anybody would wait."""
    said = value_of(answer.headers, b"retry-after")
    if said is None:
        return _pause(retrying, attempt)
    seconds = _seconds(said.decode("latin-1").strip())
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
