"""Chats while another process has locked the store, and what the store contains after the outage."""

from __future__ import annotations

import http.client
import json
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.errors import UnknownSession

from .measure import at_most
from .server import serving

OUTAGE_SECONDS: Final = 60.0
CONCURRENT: Final = 40
BACKGROUND_SECONDS: Final = 0.5
"""Seconds between two chats during the rest of the outage."""

AFTER_SECONDS: Final = 10.0
LARGE: Final = 100_000
LARGE_WITH_CUT: Final = 150_000
"""Bytes of a large request: with ``LARGE_WITH_CUT`` bytes, the store is read to see whether the request must be cut;
with ``LARGE`` it is not."""


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        store = f"sqlite:///{path}"
        with serving("benchmarks.first_byte_app:build", BENCHMARK_STORE=store) as (_, port):
            chats = _Chats(port)
            healthy = [chats.stream(f"healthy-{number}") for number in range(10)]
            healthy_large = chats.first_byte("healthy-large", LARGE)
            healthy_cut = chats.first_byte("healthy-large-with-cut", LARGE_WITH_CUT)
            _, healthy_beside, _ = _burst(chats, "healthy-many")
            with _locked(path):
                figures = _during(chats)
            time.sleep(AFTER_SECONDS)
            turns, missing = len(chats.finished), _missing(store, chats.finished)
    figures["healthy_median_s"] = round(statistics.median(healthy), 3)
    figures["healthy_large_s"] = round(healthy_large, 3)
    figures["healthy_large_beside_many_s"] = round(healthy_beside, 3)
    figures["healthy_large_with_cut_s"] = round(healthy_cut, 3)
    figures["turns"] = turns
    figures["missing"] = missing
    return {
        "figures": figures,
        "bars": [
            at_most("store locked: end of the first stream", figures["first_s"], 0.5, "s"),
            at_most(f"store locked: end of the worst of {CONCURRENT} streams at once", figures["worst_s"], 1.0, "s"),
            at_most("meanwhile: a new request of 100 kB has its first byte", figures["large_s"], 0.25, "s"),
            at_most("store locked: end of a stream after those", figures["after_s"], 0.1, "s"),
            at_most(f"turns of {turns} not in the store {AFTER_SECONDS:g} s after the outage", missing, 0),
        ],
        "notes": f"A uvicorn server on SQLite; another connection holds BEGIN EXCLUSIVE for {OUTAGE_SECONDS:g} s. Times"
        " are a client's, from the request to the end of the body, or to its first byte.",
    }


def _during(chats: _Chats) -> dict[str, Any]:
    start = time.monotonic()
    first = chats.stream("first")
    times, large, cut = _burst(chats, "many")
    after = [chats.stream(f"after-{number}") for number in range(5)]
    rest: list[float] = []
    while time.monotonic() - start < OUTAGE_SECONDS:
        rest.append(chats.stream(f"rest-{len(rest) % 7}"))
        time.sleep(BACKGROUND_SECONDS)
    return {
        "first_s": round(first, 3),
        "worst_s": round(max(times), 3),
        "median_of_many_s": round(statistics.median(times), 3),
        "large_s": round(large, 3),
        "large_with_cut_s": round(cut, 3),
        "after_s": round(statistics.median(after), 3),
        "rest_worst_s": round(max(rest, default=0.0), 3),
    }


def _burst(chats: _Chats, name: str) -> tuple[list[float], float, float]:
    """Seconds of ``CONCURRENT`` streams at once, and seconds to the first byte of two large requests that arrive
    meanwhile: one of ``LARGE`` and one of ``LARGE_WITH_CUT`` bytes."""
    with ThreadPoolExecutor(CONCURRENT + 2) as pool:
        many = [pool.submit(chats.stream, f"{name}-{number}") for number in range(CONCURRENT)]
        time.sleep(0.1)
        large = pool.submit(chats.first_byte, f"{name}-large", LARGE)
        cut = pool.submit(chats.first_byte, f"{name}-large-with-cut", LARGE_WITH_CUT)
        return [each.result() for each in many], large.result(), cut.result()


class _Chats:
    """A client. ``finished``: session and question of each turn whose end it has received."""

    def __init__(self, port: int) -> None:
        self.finished: list[tuple[str, str]] = []
        self._port = port
        self._count = 0
        self._lock = threading.Lock()

    def stream(self, session: str) -> float:
        """Send one turn, and return the seconds to the end of the body."""
        with self._lock:
            self._count += 1
            question = f"question {self._count} of {session}"
        with self._asked(session, question) as (response, start):
            response.read()
        self.finished.append((session, question))
        return time.monotonic() - start

    def first_byte(self, session: str, size: int) -> float:
        """Return the seconds to the first byte of the answer to a request of ``size`` bytes."""
        words = "some words of a long question about the queue and its workers "
        with self._asked(session, (words * (size // len(words) + 1))[:size]) as (response, start):
            response.read(1)
            taken = time.monotonic() - start
            response.read()
        return taken

    @contextmanager
    def _asked(self, session: str, question: str) -> Iterator[tuple[http.client.HTTPResponse, float]]:
        body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": question}]}).encode()
        headers = {"x-session-id": session, "content-type": "application/json"}
        with closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)) as link:
            start = time.monotonic()
            link.request("POST", "/memory/v1/chat/completions", body, headers)
            yield link.getresponse(), start


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None, timeout=30)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.execute("ROLLBACK")


def _missing(store: str, finished: list[tuple[str, str]]) -> int:
    """The number of turns, finished for a client, that the store does not contain."""
    memory = SessionMemory.open(store)
    known: dict[str, set[str]] = {}
    for session in {session for session, _ in finished}:
        try:
            known[session] = {written.message.text for written in memory.messages(session)}
        except UnknownSession:
            known[session] = set()
    memory.close()
    return sum(question not in known[session] for session, question in finished)
