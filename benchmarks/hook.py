"""What a hook event of a coding agent costs, in CPU time.

An agent starts a process for each event and waits for it to end (*process*). That process passes the event to a
background process of the user, the *worker*. The agent waits for the worker's work only if it needs a resume block or
if messages must be durable.

- The transcript has 200 turns of two messages each, as Claude Code writes them. In each round one turn is added and
  the five events come in their order; the worker has followed the session from its first turn.
- *Cold checkpoint*: all 200 turns are new, either to a running worker or to one that must be started. With a running
  worker the agent waits until the messages are durable. A new worker answers before it imports the package, because
  the transcript file has everything. Facts are extracted and the checkpoint is made after the answer ("in all"
  includes that).
- *Cold start*: a session of 200 known turns continues when no worker runs. The agent waits for a resume block, which
  the previous worker has stored.
- All figures are CPU time, medians. The machine is shared, so a bare Python interpreter is measured in the same
  rounds.
"""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw.agents.hooks.client import place
from tokenmizer_mw.agents.hooks.worker import STATUS, STOP

from .measure import at_most
from .sessions import long_session

TURNS: Final = 200
ROUNDS: Final = 21
EVENTS: Final[tuple[tuple[str, Mapping[str, str]], ...]] = (
    ("UserPromptSubmit", {"prompt": "Go on."}),
    ("Stop", {"last_assistant_message": "Done."}),
    ("PreCompact", {"trigger": "manual"}),
    ("SessionStart", {"source": "compact"}),
    ("SessionEnd", {"reason": "other"}),
)
EVENT_MS: Final = 60
CHECKPOINT_MS: Final = 150
COLD: Final = {
    f"cold checkpoint, {TURNS} turns new to a running worker": True,
    f"cold checkpoint, {TURNS} turns and a worker to start": False,
}
COLD_START: Final = f"cold start of a session with {TURNS} known turns and a worker to start"
COLD_MS: Final = 300
COLD_ROUNDS: Final = 5
_CHECKPOINT: Final = "PreCompact"
_AUTOMATIC: Final = {"trigger": "auto"}


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        desk = _Desk(Path(folder))
        try:
            desk.cold()
            rows = desk.rounds()
        finally:
            desk.ask(STOP)
    cold = {name: _cold(started) for name, started in COLD.items()}
    cold[COLD_START] = _cold_start()
    figures = {name: {part: _median(values) for part, values in row.items()} for name, row in rows.items()}
    both = [sum(pair) for pair in zip(*rows[_CHECKPOINT].values(), strict=True)]
    bars = [
        at_most(f"{name}: the process that the agent waits for", figures[name]["process_ms"], EVENT_MS, "ms", 1)
        for name, _ in EVENTS
    ]
    bars.append(
        at_most(
            f"checkpoint of a transcript of {TURNS} turns: that process and the worker's work",
            _median(both),
            CHECKPOINT_MS,
            "ms",
            1,
        )
    )
    bars += [
        at_most(f"{name}: that process and the worker's until it answers", row["answer_ms"], most, "ms", 1)
        for (name, row), most in zip(cold.items(), (CHECKPOINT_MS, CHECKPOINT_MS, COLD_MS), strict=True)
    ]
    return {"figures": {**figures, **cold}, "bars": bars, "notes": __doc__, "page": list(_page(figures, cold))}


def _cold(started: bool) -> dict[str, float]:
    """Medians of a checkpoint at which the whole transcript is new, sent to a worker that was ``started`` before, or
    that must be started."""
    rows = []
    for _ in range(COLD_ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            desk = _Desk(Path(folder))
            try:
                if started:
                    desk.warm()
                rows.append(desk.cold())
            finally:
                desk.ask(STOP)
    return _medians(rows)


def _cold_start() -> dict[str, float]:
    """Medians of the start of a session that was recorded before, with a worker that must be started."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        desk = _Desk(Path(folder))
        desk.cold()
        for _ in range(COLD_ROUNDS):
            desk.ask(STOP)
            rows.append(desk.cold("SessionStart", {"source": "startup"}))
        desk.ask(STOP)
    return _medians(rows)


def _medians(rows: list[dict[str, float]]) -> dict[str, float]:
    return {name: _median([row[name] for row in rows]) for name in rows[0]}


class _Desk:
    """A project folder with a transcript, and a worker of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._transcript = folder / "session.jsonl"
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "TOKENMIZER_STORE": f"sqlite:///{folder / 'sessions.db'}",
            "TOKENMIZER_HOOK_DIR": str(folder),
            **{name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ},
        }
        spot = place(self._environment)
        assert spot is not None
        self._spot = spot
        self._messages = long_session(2 * (TURNS + ROUNDS)).messages
        self._write(self._messages[: 2 * TURNS])

    def cold(self, name: str = _CHECKPOINT, more: Mapping[str, str] = _AUTOMATIC) -> dict[str, float]:
        """Send an event, by default a checkpoint, at which the whole transcript is read or the worker starts. Returns
        the CPU milliseconds of the process, until the answer, and of the worker."""
        before = self.worker_seconds() if os.path.exists(self._spot.socket) else 0.0
        process = self._event(name, more)
        after = self.worker_seconds()
        answered = float(self.ask(STATUS).split()[3]) - before
        return {"process_ms": _ms(process), "answer_ms": _ms(process + answered), "worker_ms": _ms(after - before)}

    def warm(self) -> None:
        """Start the worker and let it read another session."""
        other = self._folder / "other.jsonl"
        other.write_text(json.dumps(_line(self._messages[0])) + "\n", encoding="utf-8")
        self._event(_CHECKPOINT, {"session_id": "other", "transcript_path": str(other)})
        self.worker_seconds()

    def rounds(self) -> dict[str, dict[str, list[float]]]:
        rows: dict[str, dict[str, list[float]]] = {
            name: {"process_ms": [], "worker_ms": []} for name in ("bare interpreter", *(name for name, _ in EVENTS))
        }
        for number in range(ROUNDS):
            self._write(self._messages[2 * (TURNS + number) : 2 * (TURNS + number + 1)])
            bare = self._cpu([sys.executable, "-c", "pass"], b"")
            rows["bare interpreter"]["process_ms"].append(_ms(bare))
            rows["bare interpreter"]["worker_ms"].append(0.0)
            for name, more in EVENTS:
                before = self.worker_seconds()
                rows[name]["process_ms"].append(_ms(self._event(name, more)))
                rows[name]["worker_ms"].append(_ms(self.worker_seconds() - before))
        return rows

    def worker_seconds(self) -> float:
        """CPU seconds that the worker has used so far. It answers after it has finished earlier requests."""
        return float(self.ask(STATUS).split()[2])

    def ask(self, request: bytes) -> bytes:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
            link.connect(self._spot.socket)
            link.sendall(request + b"\n")
            link.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: link.recv(4096), b""))

    def _event(self, name: str, more: Mapping[str, str]) -> float:
        told = {"session_id": "benchmark", "transcript_path": str(self._transcript), "cwd": str(self._folder), **more}
        script = str(Path(sys.executable).parent / "tokenmizer-mw")
        return self._cpu([script, "hook", name], json.dumps(told).encode())

    def _cpu(self, command: list[str], payload: bytes) -> float:
        """CPU seconds of a process, from its start to its end, that reads ``payload``. It must end with status 0."""
        process = subprocess.Popen(
            command, env=self._environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=self._folder
        )
        assert process.stdin is not None
        process.stdin.write(payload)
        process.stdin.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        return usage.ru_utime + usage.ru_stime

    def _write(self, messages: Iterable[Any]) -> None:
        with self._transcript.open("a", encoding="utf-8") as file:
            for message in messages:
                file.write(json.dumps(_line(message)) + "\n")


def _line(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message in OpenAI's format as Claude Code writes it into a transcript."""
    content: list[dict[str, Any]] = [{"type": "text", "text": message["content"]}] if message.get("content") else []
    if message["role"] == "tool":
        content = [{"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}]
    for call in message.get("tool_calls", ()):
        called = call["function"]
        given = json.loads(called["arguments"])
        content.append({"type": "tool_use", "id": call["id"], "name": called["name"], "input": given})
    role = "assistant" if message["role"] == "assistant" else "user"
    return {"type": role, "isSidechain": False, "message": {"role": role, "content": content}}


def _ms(seconds: float) -> float:
    return round(seconds * 1e3, 2)


def _median(values: list[float]) -> float:
    return round(statistics.median(values), 1)


def _page(figures: Mapping[str, Mapping[str, float]], cold: Mapping[str, Mapping[str, float]]) -> Iterable[str]:
    yield from ("| event | process, ms | worker, ms |", "|---|---|---|")
    for name, row in figures.items():
        yield f"| {name} | {row['process_ms']} | {row['worker_ms']} |"
    for name, row in cold.items():
        yield f"| {name}, in all | {row['process_ms']} | {row['worker_ms']} |"
