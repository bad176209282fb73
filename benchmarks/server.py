"""A benchmark's application in a process of its own, under uvicorn."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from typing import NamedTuple

_STARTS_WITHIN = 30.0
_ATTEMPTS = 3


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(app: str, **environment: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Context with the process and the port of a server that runs ``app`` ("module:factory") on this machine, with
    these environment variables. It is killed when the block ends. Raises ``RuntimeError`` if it does not start."""
    process, port = _started(app, environment)
    try:
        yield process, port
    finally:
        process.kill()
        process.wait()


def _started(app: str, environment: dict[str, str]) -> tuple[subprocess.Popen[bytes], int]:
    """The server, once it listens. If another process takes its port before, it is started again on another one."""
    for attempt in reversed(range(_ATTEMPTS)):
        port = free_port()
        command = [sys.executable, "-m", "uvicorn", "--factory", app, "--port", str(port), "--log-level", "warning"]
        process = subprocess.Popen(command, env={**os.environ, **environment})
        try:
            waiting_for(port, process)
        except RuntimeError:
            process.kill()
            process.wait()
            if not attempt:
                raise
            continue
        return process, port
    raise AssertionError("unreachable")


def waiting_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until ``process`` listens on ``port``. Raises ``RuntimeError`` if it ends or does not listen within
    ``_STARTS_WITHIN`` seconds."""
    deadline = time.monotonic() + _STARTS_WITHIN
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with status {process.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise RuntimeError("the server did not start")


class Answer(NamedTuple):
    """Seconds from the request to the first byte of the answer's body and to its last, and its headers."""

    first: float
    whole: float
    headers: Message


def ask(link: http.client.HTTPConnection, path: str, body: str, session: str) -> Answer:
    """Send a chat request of a session on a connection that stays open, and read the whole answer."""
    headers = {"content-type": "application/json", "x-session-id": session}
    start = time.perf_counter()
    link.request("POST", path, body.encode(), headers)
    response = link.getresponse()
    response.read(1)
    first = time.perf_counter() - start
    response.read()
    return Answer(first, time.perf_counter() - start, response.headers)
