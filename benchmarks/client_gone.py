"""How soon the application notices that a client has closed its connection.

The client closes its connection before the first byte, during the stream, or after the last byte. The time from then
until the application notices it is measured under uvicorn, for the route alone and behind the middleware. The client
and the server are two processes; both use the machine's monotonic clock.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Mapping
from typing import Any, Final

from .load import SAID, Stream, probe, request
from .measure import at_most
from .server import serving

TIMES: Final = 20
BAR: Final = 0.1

WHEN: Final[Mapping[str, tuple[dict[str, Any], int | None]]] = {
    "before the first byte": ({"chunks": 1, "size": 200, "then": "silent"}, 0),
    "amid the stream": ({"chunks": 20, "size": 200, "then": "drip"}, 2_000),
    "at the last byte": ({"chunks": 20, "size": 200, "then": "linger"}, None),
}
"""For each moment, what the application does, and after how many bytes of the body the client leaves (``None``: after
all of it)."""


def run() -> dict[str, Any]:
    with serving("benchmarks.streams_app:build") as (_, port):
        figures = {
            when: {mount: _seen_after(port, mount, *how) for mount in ("bare", "memory")} for when, how in WHEN.items()
        }
    bars = [
        at_most(f"client gone {when}: noticed after, at most", row["memory"]["max_s"], BAR, "s")
        for when, row in figures.items()
    ]
    return {"figures": figures, "bars": bars, "notes": __doc__}


def _seen_after(port: int, mount: str, shape: dict[str, Any], upto: int | None) -> dict[str, float]:
    taken = [asyncio.run(_leave(port, mount, number, shape, upto)) for number in range(TIMES)]
    return {"median_s": round(statistics.median(taken), 4), "max_s": round(max(taken), 4)}


async def _leave(port: int, mount: str, number: int, shape: dict[str, Any], upto: int | None) -> float:
    """Seconds from the moment the client leaves until the application notices it."""
    before = len((await asyncio.to_thread(probe, port))["notes"])
    stream = await Stream.open(port)
    await stream.ask(request(mount, f"{mount}-{shape['then']}-{number}", shape), upto=upto, end=SAID)
    if upto == 0:
        await _noted(port, "listening", before)
    left = time.monotonic()
    stream.leave()
    return await _noted(port, "gone", before) - left


async def _noted(port: int, what: str, before: int) -> float:
    """The time (monotonic clock, seconds) at which the application noted ``what``, after its first ``before`` notes.
    Waits until it does."""
    while True:
        notes = (await asyncio.to_thread(probe, port))["notes"][before:]
        for noted, when in notes:
            if noted == what:
                return float(when)
        await asyncio.sleep(0.01)
