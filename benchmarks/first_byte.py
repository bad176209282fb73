"""Time to the first byte of a streamed answer, with the middleware and without, over real HTTP.

Requests to both mounts of one server alternate on kept-alive connections; the figure is the ratio of the medians.
"""

from __future__ import annotations

import http.client
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any, Final

from .measure import at_most
from .server import ask, serving
from .sessions import long_session

LENGTHS: Final = (1, 50, 300)
ROUNDS: Final = 500
BLOCKS: Final = 5
WARM_UP: Final = 40


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        store = f"sqlite:///{Path(folder) / 'memory.db'}"
        with serving("benchmarks.first_byte_app:build", BENCHMARK_STORE=store) as (_, port):
            rows = {length: _compare(port, length) for length in LENGTHS}
    return {
        "figures": {f"{length} messages": row for length, row in rows.items()},
        "bars": [
            at_most(f"time to first byte with / without, {length} messages", row["ratio"], 1.10)
            for length, row in rows.items()
        ],
        "notes": f"FastAPI under uvicorn in its own process, SQLite store; {ROUNDS} requests to each mount,"
        " interleaved; medians, and for the ratio the median of five groups of requests. The route parses its body"
        " and streams at once, so that nothing hides the cost. `with_end_ms`: until the last byte, which waits for the"
        " turn to be committed.",
    }


def _compare(port: int, length: int) -> dict[str, float]:
    mounts = ("bare", "memory")
    links = {mount: http.client.HTTPConnection("127.0.0.1", port) for mount in mounts}
    history = [message for message in long_session(max(10, length)).messages if message.get("content")][:length]
    first: dict[str, list[float]] = {mount: [] for mount in mounts}
    whole: dict[str, list[float]] = {mount: [] for mount in mounts}
    for number in range(ROUNDS + WARM_UP):
        for mount in mounts if number % 2 else reversed(mounts):
            body = json.dumps({"model": "gpt-4o", "stream": True, "messages": [*history[:-1], _question(number)]})
            answer = ask(links[mount], f"/{mount}/v1/chat/completions", body, f"s-{length}")
            if number >= WARM_UP:
                first[mount].append(answer.first)
                whole[mount].append(answer.whole)
    for link in links.values():
        link.close()
    median = {name: statistics.median(values) * 1e3 for name, values in first.items()}
    end = {name: statistics.median(values) * 1e3 for name, values in whole.items()}
    return {
        "without_ms": round(median["bare"], 3),
        "with_ms": round(median["memory"], 3),
        "ratio": round(_ratio(first["memory"], first["bare"]), 3),
        "without_end_ms": round(end["bare"], 3),
        "with_end_ms": round(end["memory"], 3),
    }


def _ratio(ours: list[float], bare: list[float]) -> float:
    """The median, over ``BLOCKS`` blocks of requests, of the ratio of their medians, so that a busy moment of the
    machine affects one block only."""
    size = len(ours) // BLOCKS
    blocks = [slice(place, place + size) for place in range(0, size * BLOCKS, size)]
    return statistics.median(statistics.median(ours[block]) / statistics.median(bare[block]) for block in blocks)


def _question(number: int) -> dict[str, str]:
    return {"role": "user", "content": f"And what about point {number}? Keep it short."}
