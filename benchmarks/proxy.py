"""The proxy with its memory, compared with a bare relay over one pooled httpx2 client, in the same run.

Both are in front of the same simulated provider, each in a process of its own. Sessions are warm: 50 messages were
sent and extracted before, and each call adds the reply and a question. Each round uses new sessions, so that they
stay near 50 messages. CPU is that of the whole process until all work after the responses is done, extraction
included.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from .load import END, Stream
from .measure import at_least, at_most
from .proxy_upstream import TEXT
from .server import free_port, serving, waiting_for
from .sessions import long_session

MESSAGES: Final = 50
CLIENTS: Final = 16
CALLS: Final = 8
"""Calls of each client in a round."""

ROUNDS: Final = 5
LENGTHS: Final = (1, 50, 300)
FIRSTS: Final = 60
"""Number of calls with which the time to the first byte is measured."""

WHOLE_END: Final = b'"finish_reason": "stop"}]}'
QUIET: Final = 0.5


@dataclass(frozen=True)
class Mount:
    """A server that is measured."""

    name: str
    port: int
    process: subprocess.Popen[bytes]

    def cpu(self) -> float:
        """Return the CPU seconds that the process has used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def settle(self) -> float:
        """Wait until the process uses hardly any CPU, and return the CPU seconds that it has used so far."""
        before = self.cpu()
        while True:
            time.sleep(QUIET)
            if (now := self.cpu()) - before < 0.02:
                return now
            before = now


THROUGHPUT_BARS: Final = {"whole": 0.7, "stream": 0.8}
"""Lowest throughput as a share of the bare relay's, for whole and streamed replies."""


def run() -> dict[str, Any]:
    others = os.getloadavg()[0]
    with _mounts() as mounts:
        firsts = {f"{length} messages": _first_byte(mounts, length) for length in LENGTHS}
        loads = {kind: _load(mounts, stream=kind == "stream") for kind in ("whole", "stream")}
    bars = [at_most(f"added time to first byte, {name}", row["added_ms"], 3.0, "ms") for name, row in firsts.items()]
    for kind, row in loads.items():
        bars.append(
            at_least(f"throughput / that of the bare relay, {kind}", row["throughput_ratio"], THROUGHPUT_BARS[kind])
        )
        bars.append(at_least(f"CPU of the bare relay / ours, {kind}", row["cpu_ratio"], 0.8))
    notes = (
        f"{__doc__}\nLoad of the machine before it began: {others:.1f} on {os.cpu_count()} cores; above 1, only CPU"
        f" figures are reliable. Streams have 200 pieces. {CLIENTS} clients, {ROUNDS} rounds of {CALLS} calls each;"
        " medians."
    )
    return {"figures": {"first_byte": firsts, "load": loads}, "bars": bars, "notes": notes}


@contextmanager
def _mounts() -> Iterator[list[Mount]]:
    port = free_port()
    provider = subprocess.Popen([sys.executable, "-m", "benchmarks.proxy_upstream", str(port)])
    try:
        waiting_for(port, provider)
        with tempfile.TemporaryDirectory() as folder:
            store = f"sqlite:///{Path(folder) / 'memory.db'}"
            told = {"BENCHMARK_UPSTREAM": f"http://127.0.0.1:{port}", "BENCHMARK_STORE": store}
            with (
                serving("benchmarks.proxy_app:bare", **told) as bare,
                serving("benchmarks.proxy_app:proxy", **told) as ours,
            ):
                yield [Mount(name, port, process) for name, (process, port) in (("bare", bare), ("proxy", ours))]
    finally:
        provider.kill()
        provider.wait()


# -- the first byte ------------------------------------------------------------------------------------------------


def _first_byte(mounts: list[Mount], length: int) -> dict[str, float]:
    """Median milliseconds to the first byte of a stream, one call at a time, alternating between the servers."""
    taken: dict[str, list[float]] = {mount.name: [] for mount in mounts}
    for number in range(FIRSTS + 5):
        for mount in mounts if number % 2 else reversed(mounts):
            seconds = asyncio.run(_timed(mount, _call(f"first-{length}", _talk(length, number), stream=True)))
            if number >= 5:
                taken[mount.name].append(seconds * 1e3)
    medians = {name: statistics.median(values) for name, values in taken.items()}
    row = {f"{name}_ms": round(value, 3) for name, value in medians.items()}
    return {**row, "added_ms": round(medians["proxy"] - medians["bare"], 3)}


async def _timed(mount: Mount, call: bytes) -> float:
    stream = await Stream.open(mount.port)
    start = time.perf_counter()
    await stream.ask(call, upto=1)
    first = time.perf_counter() - start
    await stream.read()
    stream.leave()
    return first


# -- load ------------------------------------------------------------------------------------------------------------


def _load(mounts: list[Mount], *, stream: bool) -> dict[str, Any]:
    """Calls per second and CPU milliseconds per call, alternating between the servers, and the medians of their
    ratios."""
    taken: dict[str, list[tuple[float, float]]] = {mount.name: [] for mount in mounts}
    for number in range(ROUNDS + 1):
        for mount in mounts if number % 2 else reversed(mounts):
            asyncio.run(_round(mount, number, stream=stream, calls=range(1)))
            before = mount.settle()
            seconds = asyncio.run(_round(mount, number, stream=stream))
            calls = CLIENTS * CALLS
            if number:  # the first round warms the processes
                taken[mount.name].append((calls / seconds, (mount.settle() - before) * 1e3 / calls))
    row: dict[str, Any] = {
        name: {
            "calls_per_second": round(statistics.median(rate for rate, _ in costs), 1),
            "cpu_ms": round(statistics.median(cpu for _, cpu in costs), 3),
        }
        for name, costs in taken.items()
    }
    pairs = list(zip(taken["bare"], taken["proxy"], strict=True))
    row["throughput_ratio"] = round(statistics.median(ours[0] / bare[0] for bare, ours in pairs), 3)
    row["cpu_ratio"] = round(statistics.median(bare[1] / ours[1] for bare, ours in pairs), 3)
    return row


async def _round(mount: Mount, number: int, *, stream: bool, calls: range = range(1, CALLS + 1)) -> float:
    """Seconds that these calls (by number) of each client's session take. Call 0 only warms a session up."""
    end = END if stream else WHOLE_END

    async def client(name: str) -> None:
        link = await Stream.open(mount.port)
        for call in calls:
            await link.ask(_call(name, _talk(MESSAGES, call, grown=True), stream=stream), end=end)
        link.leave()

    start = time.perf_counter()
    await asyncio.gather(*(client(f"load-{number}-{client_}-{stream}") for client_ in range(CLIENTS)))
    return time.perf_counter() - start


_HISTORY: Final = [message for message in long_session(max(LENGTHS)).messages if message.get("content")]


def _talk(length: int, number: int, *, grown: bool = False) -> list[dict[str, Any]]:
    """``length`` messages that end with question ``number``; with ``grown``, they end with question 0, and ``number``
    later answers and questions follow."""
    messages = [*_HISTORY[: length - 1], _question(0 if grown else number)]
    for later in range(1, number + 1 if grown else 1):
        messages += [{"role": "assistant", "content": TEXT}, _question(later)]
    return messages


def _question(number: int) -> dict[str, str]:
    return {"role": "user", "content": f"And what about point {number}? Keep it short."}


def _call(session: str, messages: list[dict[str, Any]], *, stream: bool) -> bytes:
    body = json.dumps({"model": "gpt-4o", "stream": stream, "messages": messages}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nx-session-id: {session}\r\n"
    head += f"authorization: Bearer made-up\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body
