"""The child process that reads one file under memory and time limits. Counterpart of ``apart``.

Each line of the protocol is one JSON value. The parent sends the job; the child asks for what only the parent can do
(report progress, redact secrets), waits for each answer, and sends its result last.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, Final

from .digest import format_size
from .kinds import reader_of
from .reading import Stopped, open_source

_GRACE: Final = 1
"""Seconds of CPU time between the signal that ends the reading and the one that ends the process."""


class Dialogue:
    """The connection to the parent, over standard input and output."""

    def __init__(self) -> None:
        self._requests, self._answers = sys.stdout.buffer, sys.stdin.buffer

    def receive(self) -> Any:
        """Return the parent's next value. Raises ``EOFError`` if the parent has exited."""
        line = self._answers.readline()
        if not line:
            raise EOFError
        return json.loads(line)

    def send(self, value: Any) -> None:
        """Send one value to the parent."""
        self._requests.write(json.dumps(value).encode() + b"\n")
        self._requests.flush()

    def advance(self, done: int) -> None:
        """Report ``done`` more bytes. Raises ``Stopped`` if the parent wants to stop."""
        self.send(["advance", done])
        if not self.receive():
            raise Stopped

    def mask(self, name: str, value: str) -> str:
        """Return a value with secrets redacted; the name of its column helps to detect them."""
        self.send(["mask", name, value])
        return str(self.receive())

    def clean(self, text: str) -> str:
        """Return a text with secrets redacted."""
        self.send(["clean", text])
        return str(self.receive())


class Deadline:
    """Raises ``Stopped`` in the reader after ``seconds``; ``passed`` is then true."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.passed = seconds, False
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, self._stop)
            signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)  # again, should a library have swallowed the first

    def _stop(self, *_: object) -> None:
        self.passed = True
        raise Stopped

    def cancel(self) -> None:
        """Cancel the deadline."""
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)


def limit_process(memory: int, seconds: float) -> None:
    """Limit this process to ``memory`` more bytes and ``seconds`` of CPU time, where the system supports that."""
    try:
        import resource
    except ImportError:
        return
    with contextlib.suppress(ValueError, OSError):
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        _lower(resource.RLIMIT_AS, used + memory)
    with contextlib.suppress(ValueError, OSError):
        _lower(resource.RLIMIT_CPU, int(seconds) + 1 + _GRACE)
    with contextlib.suppress(ValueError, OSError):
        _lower(resource.RLIMIT_CORE, 0)
        _lower(resource.RLIMIT_FSIZE, 0)


def _lower(which: int, limit: int) -> None:
    import resource

    hard = resource.getrlimit(which)[1]
    limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(which, (limit, limit))


def main() -> None:
    """Read the job from standard input, read the file, and send the result."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the parent, which ends this process
    dialogue = Dialogue()
    job = dialogue.receive()
    file: BinaryIO = open(job["file"], "rb")  # noqa: SIM115 - the process ends with it
    limit_process(job["memory"], job["seconds"])
    deadline = Deadline(job["seconds"])
    try:
        result = _result(job, file, dialogue, deadline)
    except MemoryError:
        result = _report_failure(f"reading it takes more than {format_size(job['memory'])} of memory")
    except Stopped:
        result = _report_failure(_too_slow(deadline))
    except Exception as error:  # a hostile file may break any library; the reason is all that is left to report
        result = _report_failure(f"it cannot be read: {type(error).__name__}")
    deadline.cancel()
    dialogue.send(result)
    os._exit(0)  # nothing to tidy up, and freeing a tree of many objects takes time


def _result(job: Mapping[str, Any], file: BinaryIO, dialogue: Dialogue, deadline: Deadline) -> list[Any]:
    name, source = open_source(file, job["name"], dialogue.advance, dialogue.mask, dialogue.clean)
    kind, reader = reader_of(name, source)
    report = reader(source)
    deadline.cancel()
    broke = report.broke or source.broke
    if deadline.passed:
        broke = f"{broke}: {_too_slow(deadline)}" if broke else _too_slow(deadline)
    return ["report", kind, {**asdict(report), "broke": broke}]


def _too_slow(deadline: Deadline) -> str:
    return f"reading it takes more than {deadline.seconds:g} s"


def _report_failure(why: str) -> list[Any]:
    return ["report", "binary", {"title": "file", "broke": why}]
