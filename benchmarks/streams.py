"""Streams through the middleware, compared with the same application without it: CPU, memory, lag of the event loop.

The application streams from a generator, each chunk made from JSON, under uvicorn in a process of its own. A round
measures all mounts one after the other; the median of the rounds' ratios is reported.

- ``ratio``: CPU time of the event loop's thread per chunk, from the first chunk to the last, divided by that of the
  bare application.
- ``saturated_ratio``: the same with short streams that follow each other without a pause, so that the work after a
  turn (commit, parsing, extraction, in other threads) competes with the streams. ``saturated_process_ratio``: CPU
  time of all threads; parsing a chunk of a reply costs as much as sending it.
- Memory: that of the process with all streams open and sent, minus that of a new process with the bare application.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from .load import Stream, in_parallel, probe, request
from .measure import at_most, percentile
from .server import serving

MOUNTS: Final = ("bare", "noop", "memory")
STREAMS: Final = {1: 4_000, 32: 800, 256: 150}
"""For each number of streams at once, the chunks of each."""

SHORT: Final = 200
"""Chunks of a short stream, after which others follow."""

CHUNK_SIZE: Final = 200
ROUNDS: Final = 11
CAPTURED: Final = {"chunks": 200, "size": CHUNK_SIZE, "then": "hold"}
LONG: Final = {"chunks": 1_024, "size": 64 * 1024, "then": "end"}
ABORTED: Final = 30
ABORTED_SIZE: Final = 5 * 1024 * 1024
MB: Final = 1024 * 1024

CPU_BAR: Final = 1.10
CAPTURE_BAR: Final = 32.0
LONG_BAR: Final = 20.0
LAG_BAR: Final = 20.0


def run() -> dict[str, Any]:
    figures = {
        "chunk": cpu_per_chunk(),
        "memory_256_streams_mb": _added_memory(lambda port, mount: _hold(port, mount, 256)),
        "memory_64_mb_stream_mb": _added_memory(_stream_long, "peak"),
        "lag_30_aborted": {name: loop_lag(mount, capture) for name, mount, capture in _LAGS},
    }
    return {"figures": figures, "bars": bars(figures), "notes": __doc__}


def bars(figures: dict[str, Any]) -> list[dict[str, Any]]:
    chunks = [
        at_most(
            f"loop thread per chunk / bare application, {row['streams']} streams", row["memory"]["ratio"], CPU_BAR, "x"
        )
        for row in figures["chunk"]
    ]
    lag = figures["lag_30_aborted"]
    return [
        *chunks,
        at_most(
            "memory added by 256 captured streams", figures["memory_256_streams_mb"]["added"], CAPTURE_BAR, "MB", 1
        ),
        at_most("peak added by one 64 MB stream", figures["memory_64_mb_stream_mb"]["added"], LONG_BAR, "MB", 1),
        at_most("p99 lag of the loop, 30 streams of 5 MB aborted", lag["memory"]["p99_ms"], LAG_BAR, "ms", 1),
        at_most("the same, all of each stream captured", lag["all_captured"]["p99_ms"], LAG_BAR, "ms", 1),
    ]


@contextmanager
def _served(**environment: str) -> Iterator[int]:
    with tempfile.TemporaryDirectory() as folder:
        store = f"sqlite:///{Path(folder) / 'memory.db'}"
        with serving("benchmarks.streams_app:build", BENCHMARK_STORE=store, **environment) as (_, port):
            yield port


# -- CPU -------------------------------------------------------------------------------------------------------


def cpu_per_chunk(streams: dict[int, int] = STREAMS, *, rounds: int = ROUNDS) -> list[dict[str, Any]]:
    """Return, for each number of streams at once, the microseconds per chunk of each mount, and their ratios to the
    bare one."""
    with _served() as port:
        return [_compared(port, count, chunks, rounds) for count, chunks in streams.items()]


def _compared(port: int, count: int, chunks: int, rounds: int) -> dict[str, Any]:
    taken: dict[str, list[dict[str, float]]] = {mount: [] for mount in MOUNTS}
    for number in range(rounds + 1):
        for mount in MOUNTS if number % 2 else reversed(MOUNTS):
            name = f"{mount}-{count}-{number}"
            cost = {
                "us": _flowing(port, mount, name, count, chunks),
                **_saturated(port, mount, name, count, chunks // SHORT or 1),
            }
            if number:  # the first round warms up
                taken[mount].append(cost)
    rows: dict[str, Any] = {mount: _beside(costs, taken["bare"]) for mount, costs in taken.items()}
    return {"streams": count, **rows}


def _beside(costs: list[dict[str, float]], bare: list[dict[str, float]]) -> dict[str, float]:
    """Medians of a mount's costs, and of their ratios to those of the bare mount in the same round."""
    row = {"us": round(statistics.median(cost["us"] for cost in costs), 2)}
    for unit, name in (("us", "ratio"), ("saturated", "saturated_ratio"), ("process", "saturated_process_ratio")):
        ratios = [cost[unit] / floor[unit] for cost, floor in zip(costs, bare, strict=True)]
        row[name] = round(statistics.median(ratios), 3)
    return row


def _flowing(port: int, mount: str, name: str, count: int, chunks: int) -> float:
    """Microseconds per chunk of the loop's thread, while ``count`` streams send all their chunks and none ends."""
    shape = {"chunks": chunks, "size": CHUNK_SIZE, "then": "hold"}
    calls = [request(mount, f"{name}-{number}", shape) for number in range(count)]

    async def measured() -> float:
        streams, asking = await _held(port, calls, chunks * CHUNK_SIZE)
        before = await asyncio.to_thread(probe, port, "go")
        await asyncio.gather(*asking)
        after = await asyncio.to_thread(probe, port)
        await _all_hold(port, count)
        await asyncio.to_thread(probe, port, "go")
        await asyncio.gather(*(stream.read() for stream in streams))
        for stream in streams:
            stream.leave()
        return float(after["loop"] - before["loop"])

    seconds = asyncio.run(measured())
    probe(port, "flush")
    return seconds * 1e6 / (count * chunks)


def _saturated(port: int, mount: str, name: str, count: int, times: int) -> dict[str, float]:
    """Microseconds per chunk with short streams that end and are followed by others: of the loop's thread
    ("saturated"), and of all threads until all work is done ("process")."""
    shape = {"chunks": SHORT, "size": CHUNK_SIZE, "then": "end"}
    before = probe(port)
    for turn in range(times):
        calls = [request(mount, f"{name}-{turn}-{number}", shape) for number in range(count)]
        asyncio.run(_ask_and_leave(port, calls))
    after = probe(port)
    flushed = probe(port, "flush")
    chunks = times * count * SHORT
    return {
        "saturated": (after["loop"] - before["loop"]) * 1e6 / chunks,
        "process": (flushed["process"] - before["process"]) * 1e6 / chunks,
    }


async def _ask_and_leave(port: int, calls: list[bytes]) -> None:
    for stream in await in_parallel(port, calls):
        stream.leave()


# -- memory ----------------------------------------------------------------------------------------------------


def _added_memory(use: Any, what: str = "resident") -> dict[str, float]:
    """Megabytes that ``use`` of a mount takes, each in a new process, and how many more with the memory. ``what``:
    "resident" at the end or "peak"."""
    taken = {mount: _taken(use, mount, what) for mount in ("bare", "memory")}
    return {**taken, "added": round(taken["memory"] - taken["bare"], 2)}


def _taken(use: Any, mount: str, what: str) -> float:
    with _served() as port:
        asyncio.run(_ask_and_leave(port, [request(mount, "warm", {"chunks": 10, "size": 10, "then": "end"})]))
        before = probe(port, "flush")["resident"]
        used = asyncio.run(use(port, mount))
        return round((used[what] - before) / MB, 2)


async def _hold(port: int, mount: str, count: int) -> dict[str, Any]:
    """What the probe reports while ``count`` streams are open that have sent everything."""
    calls = [request(mount, f"held-{number}", CAPTURED) for number in range(count)]
    streams, asking = await _held(port, calls, None)
    await asyncio.to_thread(probe, port, "go")
    found = await _all_hold(port, count)
    await asyncio.to_thread(probe, port, "go")
    await asyncio.gather(*asking)
    for stream in streams:
        stream.leave()
    return found


async def _held(port: int, calls: list[bytes], upto: int | None) -> tuple[list[Stream], list[asyncio.Task[int]]]:
    """Streams whose calls were sent but that send nothing yet, and the tasks that read them."""
    streams = [await Stream.open(port) for _ in calls]
    asking = [asyncio.create_task(stream.ask(call, upto=upto)) for stream, call in zip(streams, calls, strict=True)]
    await _all_hold(port, len(calls))
    return streams, asking


async def _all_hold(port: int, count: int) -> dict[str, Any]:
    """Wait until all ``count`` streams wait for "go", and return what the probe reports then."""
    while (found := await asyncio.to_thread(probe, port))["holding"] < count:
        await asyncio.sleep(0.02)
    return found


async def _stream_long(port: int, mount: str) -> dict[str, Any]:
    """What the probe reports after a stream of 64 MB."""
    await _ask_and_leave(port, [request(mount, "long", LONG)])
    return await asyncio.to_thread(probe, port, "flush")


# -- lag -------------------------------------------------------------------------------------------------------

_LAGS: Final = (("bare", "bare", 0), ("memory", "memory", 0), ("all_captured", "memory", 2 * ABORTED_SIZE))


def loop_lag(mount: str, capture: int = 0, *, streams: int = ABORTED, size: int = ABORTED_SIZE) -> dict[str, float]:
    """Return how late the event loop is (p99 and maximum, in milliseconds), from the moment when ``streams`` streams of
    ``size`` bytes are aborted at once until all work that follows is done. ``capture``: how many bytes of a response
    are kept (0: the default)."""
    environment = {"BENCHMARK_CAPTURE": str(capture)} if capture else {}
    with _served(**environment) as port:
        return asyncio.run(_aborted(port, mount, streams, size))


async def _aborted(port: int, mount: str, count: int, size: int) -> dict[str, float]:
    shape = {"chunks": size // 1_000, "size": 1_000, "then": "drip"}
    calls = [request(mount, f"aborted-{number}", shape) for number in range(count)]
    streams = await in_parallel(port, calls, upto=size)
    await asyncio.to_thread(probe, port, "watch")
    await asyncio.sleep(0.2)
    for stream in streams:
        stream.leave()
    while len((await asyncio.to_thread(probe, port))["notes"]) < count:
        await asyncio.sleep(0.02)
    await asyncio.to_thread(probe, port, "flush")
    lags = [lag * 1e3 for lag in (await asyncio.to_thread(probe, port, "relax"))["lags"]]
    worst = {"p99_ms": percentile(lags, 0.99), "max_ms": max(lags)}
    return {name: round(value, 2) for name, value in worst.items()}
