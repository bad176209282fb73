"""A server as a real process, and a plain client for it."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.waiting import eventually
from tokenmizer_mw.model.event import Derived, MessageRecorded, TurnClosed
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.store.open import open_log

from .served_app import GO, NOTES, STORE

SECONDS: Final = 20.0
"""After which something that must happen has not happened."""

CHAT: Final = "/v1/chat/completions"
ASKED: Final = "Wie heißt du?"

_COMMANDS: Final = {
    "uvicorn-h11": "uvicorn --http h11 --loop asyncio --port {port} --log-level critical served_app:served",
    "uvicorn-httptools": "uvicorn --http httptools --port {port} --log-level critical served_app:served",
    "hypercorn": "hypercorn --bind 127.0.0.1:{port} --log-level critical --graceful-timeout 3 served_app:served",
    "hypercorn-trio": "hypercorn -k trio --bind 127.0.0.1:{port} --log-level critical served_app:served",
    "granian": "granian --interface asgi --port {port} --log-level critical served_app:served",
    "daphne": "daphne -p {port} -v 0 served_app:served",
}
SERVERS: Final = tuple(_COMMANDS)


@dataclass(frozen=True)
class Server:
    """A running server; ``folder`` holds its store and its notes."""

    name: str
    process: subprocess.Popen[bytes]
    port: int
    folder: Path

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)

    def raw(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)

    def notes(self, what: str) -> list[dict[str, Any]]:
        path = self.folder / NOTES
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [found for line in lines if (found := json.loads(line))["what"] == what]

    def go(self) -> None:
        (self.folder / GO).touch()

    def wait_until_held(self) -> None:
        (self.folder / GO).unlink(missing_ok=True)

    def counters(self) -> dict[str, int]:
        with contextlib.closing(self.connect()) as link:
            link.request("GET", "/counters")
            found: dict[str, int] = json.loads(link.getresponse().read())
            return found

    def said(self, session: str) -> list[tuple[str, str]]:
        return [(event.message.role.value, event.message.text) for event in self._events(session, MessageRecorded)]

    def closed(self, session: str) -> list[tuple[str, str]]:
        return [(event.outcome.value, event.finish_reason) for event in self._events(session, TurnClosed)]

    def drawn(self, session: str) -> int:
        """The last message that facts were drawn from."""
        return max((event.turn for event in self._events(session, Derived)), default=0)

    def _events(self, session: str, kind: type) -> list[Any]:
        log = open_log(f"sqlite:///{self.folder / STORE}")
        try:
            recorded = log.read(SessionKey(LOCAL_TENANT, session))
        finally:
            log.close()
        return [item.event for item in recorded if isinstance(item.event, kind)]


@contextlib.contextmanager
def running(name: str, folder: Path) -> Iterator[Server]:
    """The server called ``name`` on a free port; ended when the block ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    here = str(Path(__file__).parent)
    environment = {**os.environ, "SERVED_FOLDER": str(folder), "PYTHONPATH": here, "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-m", *_COMMANDS[name].format(port=port).split()]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    server = Server(name, process, port, folder)
    try:
        assert eventually(lambda: _listens(server)), f"{name} does not listen"
        yield server
    finally:
        stop(process)


def stop(process: subprocess.Popen[bytes]) -> int:
    """End the server as a process manager does; gives its status."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        return process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise


def _listens(server: Server) -> bool:
    assert server.process.poll() is None, f"{server.name} ended with status {server.process.returncode}"
    try:
        return server.counters() is not None
    except OSError:
        return False


def body(manner: str, text: str = ASKED) -> bytes:
    """A chat request that tells the model what to do."""
    asked = {"model": "gpt-4o", "stream": True, "user": manner, "messages": [{"role": "user", "content": text}]}
    return json.dumps(asked, ensure_ascii=False).encode()


def ask(
    link: http.client.HTTPConnection,
    manner: str,
    session: str = "",
    *,
    path: str = CHAT,
    data: Any = None,
    **options: Any,
) -> http.client.HTTPResponse:
    """One chat call, up to the head of its response."""
    headers = {"content-type": "application/json", **({"x-session-id": session} if session else {})}
    link.request("POST", path, body(manner) if data is None else data, headers, **options)
    return link.getresponse()
