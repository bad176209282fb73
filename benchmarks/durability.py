"""What is lost when a server is killed (SIGKILL) under load, and when four processes write one session at once."""

from __future__ import annotations

import http.client
import json
import multiprocessing
import random
import tempfile
import threading
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.errors import UnknownSession

from .measure import at_most
from .server import serving

TRIALS: Final = 30
CLIENTS: Final = 4
PROCESSES: Final = 4
APPENDS: Final = 100
_COUNTED: Final = ("seen", "lost", "spooled", "spooled_lost")


def run() -> dict[str, Any]:
    rng = random.Random(7)
    trials = [_kill_trial(rng.uniform(0.3, 1.2)) for _ in range(TRIALS)]
    shared = _four_processes()
    seen, lost, spooled, spooled_lost = (sum(t[what] for t in trials) for what in _COUNTED)
    acknowledged = seen - spooled
    kill = {
        "trials": TRIALS,
        "turns_seen_finished": seen,
        "lost": lost,
        "spooled": spooled,
        "spooled_lost": spooled_lost,
    }
    return {
        "figures": {"kill_9": kill, "processes": shared},
        "bars": [
            at_most(f"turns lost of {acknowledged} that were durable when they ended, {TRIALS} kills", lost, 0),
            at_most(f"messages lost of {shared['written']}, {PROCESSES} processes", shared["lost"], 0),
            at_most("calls that did not see what the others had written before", shared["stale"], 0),
        ],
        "notes": f"A uvicorn server with SQLite is killed with SIGKILL after 0.3 to 1.2 s under {CLIENTS} streaming"
        " clients; a turn counts as seen when the client has read `data: [DONE]`. `spooled`: turns whose last piece was"
        " sent at the deadline before they were durable; `lost` does not count these.",
    }


def _kill_trial(seconds: float) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as folder:
        store, report = f"sqlite:///{Path(folder) / 'memory.db'}", Path(folder) / "spooled"
        report.touch()
        finished: dict[str, list[str]] = {f"s{number}": [] for number in range(CLIENTS)}
        with serving("benchmarks.first_byte_app:build", BENCHMARK_STORE=store, BENCHMARK_SPOOLED=str(report)) as (
            process,
            port,
        ):
            clients = [threading.Thread(target=_chat, args=(port, id, done)) for id, done in finished.items()]
            for client in clients:
                client.start()
            time.sleep(seconds)
            process.kill()
            for client in clients:
                client.join()
        missing, spooled = _missing(store, finished), set(report.read_text().splitlines())
    seen = {question for questions in finished.values() for question in questions}
    counts = (len(seen), len(missing - spooled), len(seen & spooled), len(missing & spooled))
    return dict(zip(_COUNTED, counts, strict=True))


def _chat(port: int, session: str, finished: list[str]) -> None:
    """Send one message per call until the server dies. A question is added to ``finished`` once the end of its answer
    was received."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    history: list[dict[str, str]] = []
    for number in range(100_000):
        question = f"question {number} of {session}"
        history = [*history[-6:], {"role": "user", "content": question}]
        body = json.dumps({"model": "m", "stream": True, "messages": history}).encode()
        try:
            headers = {"x-session-id": session, "content-type": "application/json"}
            link.request("POST", "/memory/v1/chat/completions", body, headers)
            answer = b""
            response = link.getresponse()
            while b"data: [DONE]" not in answer:
                piece = response.read1()
                if not piece:
                    return
                answer += piece
            finished.append(question)
            response.read()
        except (OSError, http.client.HTTPException):
            return
        history.append({"role": "assistant", "content": _text(answer)})


def _text(answer: bytes) -> str:
    lines = [line[6:] for line in answer.split(b"\n") if line.startswith(b"data: {")]
    return "".join(json.loads(line)["choices"][0]["delta"].get("content", "") for line in lines)


def _missing(store: str, finished: dict[str, list[str]]) -> set[str]:
    """The questions of finished turns that the store does not contain with their answers."""
    memory = SessionMemory.open(store)
    lost: set[str] = set()
    for session, questions in finished.items():
        try:
            texts = [message.text for message in memory.restore(session, range(1_000_000))]
        except UnknownSession:
            texts = []
        answered = {texts[i] for i in range(len(texts) - 1) if repr(texts[i][:40]) in texts[i + 1]}
        lost.update(set(questions) - answered)
    memory.close()
    return lost


def _four_processes() -> dict[str, int]:
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        store = f"sqlite:///{Path(folder) / 'memory.db'}"
        barrier, stale = context.Barrier(PROCESSES), context.Value("i", 0)
        workers = [context.Process(target=_write, args=(store, n, barrier, stale)) for n in range(PROCESSES)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        memory = SessionMemory.open(store)
        texts = {message.text for message in memory.restore("s", range(1_000_000))}
        memory.close()
    written = PROCESSES * APPENDS
    return {"written": written, "lost": written - len(texts), "stale": stale.value}


def _write(store: str, process: int, barrier: Barrier, stale: Any) -> None:
    """Append messages. After every ten, all processes wait for each other, and each must then find what all had
    appended; otherwise it adds one to ``stale``."""
    memory = SessionMemory.open(store)
    for number in range(1, APPENDS + 1):
        memory.record("s", [{"role": "user", "content": f"note {number} from process {process}"}])
        if number % 10 == 0:
            barrier.wait()
            texts = {message.text for message in memory.restore("s", range(1_000_000))}
            expected = {f"note {n} from process {p}" for n in range(1, number + 1) for p in range(PROCESSES)}
            with stale.get_lock():
                stale.value += not expected <= texts
            barrier.wait()
    memory.close()
