"""Workers that share sessions in PostgreSQL, while workers are killed and the connections to the server are ended."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

import psycopg

from tokenmizer_mw import SessionMemory

from .postgres_worker import graph

WORKERS: Final = 4
THREADS: Final = 4
SESSIONS: Final = 64
VIEW_SECONDS: Final = 0.05
RESTART: Final = "TOKENMIZER_POSTGRES_RESTART"
"""Environment variable with a shell command that restarts the server. Without it, all connections of the workers are
ended instead."""


@dataclass(slots=True)
class Ledger:
    """What the workers reported.

    - ``acknowledged``: texts of the turns that were stored, by session; ``failed``: operations while the store was not
      available.
    - ``views``: graphs that were requested; ``stale``: those that lacked a turn acknowledged before the request.
    - ``graphs``: session and digest of each graph that a worker reported at the end.
    """

    acknowledged: dict[str, list[str]] = field(default_factory=lambda: {f"s{n}": [] for n in range(SESSIONS)})
    failed: int = 0
    views: int = 0
    stale: int = 0
    graphs: list[tuple[str, str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Worker:
    """A worker process, and a thread that reads its reports into the ledger."""

    def __init__(self, url: str, name: str, ledger: Ledger) -> None:
        command = [sys.executable, "-m", "benchmarks.postgres_worker", url, name, str(THREADS), str(SESSIONS)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._ledger = ledger
        self._due: int | None = None
        self.ended = threading.Event()
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def ask(self, session: str) -> None:
        """Ask for its view of a session, which must contain all turns acknowledged by now. Does nothing while an
        earlier view is outstanding."""
        with self._ledger.lock:
            if self._due is not None:
                return
            self._due = len(self._ledger.acknowledged[session])
        self.tell(f"view {session}")

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass

    def kill(self) -> None:
        self._process.kill()
        self.wait()

    def wait(self) -> None:
        self._thread.join()
        self._process.communicate()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.endswith("\n"):
                with self._ledger.lock:
                    self._note(*line.rstrip("\n").split(" ", 2))
        self.ended.set()

    def _note(self, what: str, session: str = "", rest: str = "") -> None:
        ledger = self._ledger
        if what == "turn":
            ledger.acknowledged[session].append(rest)
        elif what == "view":
            assert self._due is not None
            ledger.views += 1
            ledger.stale += int(rest) < self._due
            self._due = None
        elif what == "unseen":
            ledger.failed += 1
            self._due = None
        elif what == "graph":
            ledger.graphs.append((session, rest))
        elif what == "failed":
            ledger.failed += 1
        elif what == "ended":
            self.ended.set()


def load(url: str, server: str, application: str, seconds: float, kill_seconds: float) -> dict[str, Any]:
    """Run the load for so many seconds, killing a worker every ``kill_seconds``, and return the figures.
    ``application``: the application name of the workers' connections; ``server``: address of the server."""
    ledger, kills, rng = Ledger(), 0, random.Random(3)
    workers = [Worker(url, f"w{number}", ledger) for number in range(WORKERS)]
    start = time.monotonic()
    broken, next_kill = False, kill_seconds
    while (passed := time.monotonic() - start) < seconds:
        rng.choice(workers).ask(f"s{rng.randrange(SESSIONS)}")
        time.sleep(VIEW_SECONDS)
        if passed >= next_kill:
            place, kills, next_kill = kills % WORKERS, kills + 1, next_kill + kill_seconds
            workers[place].kill()
            workers[place] = Worker(url, f"w{place}.{kills}", ledger)
        if not broken and passed >= seconds / 2:
            broken = True
            _break(server, application)
    for word in ("end", "go on"):
        for worker in workers:
            worker.tell(word)
        for worker in workers:
            worker.ended.wait(120)
    for worker in workers:
        worker.wait()
    return {"seconds": seconds, "kills": kills, "restarted": RESTART in os.environ, **_settled(url, ledger)}


def _break(server: str, application: str) -> None:
    if command := os.environ.get(RESTART):
        subprocess.run(command, shell=True, check=True)
        return
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s", [application]
        )


def _settled(url: str, ledger: Ledger) -> dict[str, Any]:
    """What the store contains afterwards, compared with the acknowledged turns and with the graphs that the workers
    reported."""
    memory = SessionMemory.open(url)
    lost = doubled = 0
    graphs: dict[str, str] = {}
    for session, told in ledger.acknowledged.items():
        kept = Counter(written.message.text for written in memory.messages(session))
        lost += sum(one not in kept for one in told)
        doubled += sum(count - 1 for count in kept.values())
        graphs[session] = graph(memory, session)
    memory.close()
    return {
        "acknowledged": sum(map(len, ledger.acknowledged.values())),
        "failed": ledger.failed,
        "lost": lost,
        "doubled": doubled,
        "views": ledger.views,
        "stale_views": ledger.stale,
        "graphs_compared": len(ledger.graphs),
        "wrong_graphs": sum(graphs[session] != digest for session, digest in ledger.graphs),
    }
