"""Servers over the three transports, on a store and through a running API, with a session in each."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.waiting import eventually
from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.agents.hooks.events import project_named, root_of
from tokenmizer_mw.agents.mcp.backing import on_installation
from tokenmizer_mw.agents.mcp.server import Memory, server
from tokenmizer_mw.server.api import api
from tokenmizer_mw.server.api.requests import local

SECONDS = 60.0
CHAT = [
    {"role": "user", "content": "We use SQLite for storage. Never push to main without a review."},
    {"role": "assistant", "content": "Understood. Next I will write the migration."},
    {"role": "user", "content": "Switch from SQLite to PostgreSQL because of concurrent writes."},
]


@dataclass(frozen=True)
class Desk:
    """A project with a store that holds one session of it."""

    folder: Path
    address: str

    @property
    def session(self) -> str:
        return f"{project_named(root_of(str(self.folder)))}/monday"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder.parent),
            "TOKENMIZER_STORE": self.address,
            "PYTHONUNBUFFERED": "1",
            **{name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ},
        }

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-m", "tokenmizer_mw", "mcp"]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "orders.csv").write_text("id,total\n" + "".join(f"{n},{n * 3}\n" for n in range(500)))
    found = Desk(folder, f"sqlite:///{tmp_path / 'sessions.db'}")
    record(found)
    return found


def record(desk: Desk) -> None:
    """The session that a desk begins with."""
    with closing(SessionMemory.open(desk.address, Settings(project_separator="/"))) as memory:
        memory.record(desk.session, CHAT)


@asynccontextmanager
async def in_process(desk: Desk, mode: str) -> AsyncIterator[Client]:
    async with on_installation(lambda: desk.address, Settings(project_separator="/")) as backing:
        made = server(Memory(backing, str(desk.folder), [str(desk.folder)]), "0")
        async with Client(made, mode=mode) as client:
            yield client


@asynccontextmanager
async def over_stdio(desk: Desk, mode: str, *options: str, **environment: str) -> AsyncIterator[Client]:
    how = StdioServerParameters(
        command=desk.command[0],
        args=[*desk.command[1:], *options],
        env={**desk.environment, **environment},
        cwd=str(desk.folder),
    )
    async with Client(stdio_client(how), mode=mode) as client:
        yield client


class served:
    """``tokenmizer-mw mcp --http`` while the context lasts."""

    def __init__(self, desk: Desk, *options: str) -> None:
        self._process = subprocess.Popen(
            [*desk.command, "--http", "--port", "0", *options],
            cwd=desk.folder,
            env=desk.environment,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> str:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if line.startswith("listening on "):
                return line.removeprefix("listening on ").strip()
        raise AssertionError(f"it ended with {self._process.wait(SECONDS)}")

    def __exit__(self, *exc: object) -> None:
        assert self._process.stderr is not None
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(SECONDS)
        finally:
            self._process.kill()
            self._process.stderr.close()
            self._process.wait()


TRANSPORTS = {"in process": in_process, "stdio": over_stdio}
MODES = {"current": "2026-07-28", "legacy": "legacy"}


class Running:
    """The REST API on a free port of this machine, in a thread, until it is stopped."""

    def __init__(self, memory: SessionMemory, authorize: Any = local) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        options = uvicorn.Config(api(memory, authorize=authorize), log_level="critical", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(options)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)
        self._thread.start()
        assert eventually(lambda: self._server.started)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(SECONDS)
        self._socket.close()
        assert not self._thread.is_alive()


@pytest.fixture
def running(desk: Desk) -> Iterator[Running]:
    with closing(SessionMemory.open(desk.address, Settings(project_separator="/"))) as memory:
        found = Running(memory)
        yield found
        found.stop()
