"""A coding agent as its user runs it: the real Claude Code against a scripted model, with a home of its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from tests.upstream.request import Received
from tests.upstream.server import Upstream
from tokenmizer_mw.agents.hooks.client import WorkerFiles, place
from tokenmizer_mw.agents.hooks.worker import STOP

PLUGIN: Final = Path(__file__).parents[2] / "integrations" / "claude-code"
SECONDS: Final = 180.0
BLOCK: Final = re.compile(r"<session-record \d{12}>.*?</session-record \d{12}>", re.DOTALL)

TOOLS: Final = "mcp__plugin_tokenmizer_tokenmizer__"
"""How the names of our tools begin that the plugin brings."""

_AGENTS: Final = Path(__file__).parents[2] / ".agents" / "node_modules" / ".bin"


def program(name: str) -> str | None:
    """Where an agent is installed, by ``make agents`` or otherwise."""
    return shutil.which(name, path=os.pathsep.join((str(_AGENTS), os.environ["PATH"])))


def short_folder() -> Path:
    """A folder for sockets, whose addresses are bounded: those of pytest's temporary folders may be too long."""
    folder = Path(tempfile.mkdtemp(prefix="tm-"))
    (folder / "own").mkdir()
    return folder


class Desk:
    """Somebody's machine: a home, a project, a store, and the environment that programs are started with."""

    def __init__(self, folder: Path, url: str = "") -> None:
        self.home, self.project = folder / "home", folder / "shop"
        for place_ in (self.home, self.project):
            place_.mkdir()
        self.store = folder / "sessions.db"
        self.sockets = short_folder()
        self.environment = {
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), str(_AGENTS), os.environ["PATH"])),
            "HOME": str(self.home),
            "TMPDIR": str(self.sockets),
            "TOKENMIZER_STORE": f"sqlite:///{self.store}",
            "TOKENMIZER_HOOK_DIR": str(self.sockets / "own"),
            "TOKENMIZER_HOOK_LINGER": "60",
            "TOKENMIZER_HOOK_WAIT": str(SECONDS),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "made-up",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "MCP_TIMEOUT": str(int(SECONDS * 1_000)),
        }
        if path := os.environ.get("PYTHONPATH"):  # programs run the code that is tested, whatever is installed
            self.environment["PYTHONPATH"] = path

    @property
    def spot(self) -> WorkerFiles:
        """Where its worker is found."""
        found = place(self.environment)
        assert found is not None
        return found

    def run(self, *command: str, input: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            command, cwd=self.project, env=self.environment, input=input, capture_output=True, timeout=SECONDS
        )

    def hook(self, event: str, payload: Any, *more: str) -> subprocess.CompletedProcess[bytes]:
        raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        return self.run(sys.executable, "-m", "tokenmizer_mw", "hook", event, *more, input=raw)


class Session:
    """One run of the agent that is talked to line by line. ``plugin``: whether it has ours."""

    plugin = True

    def __init__(self, desk: Desk, upstream: Upstream, name: str, *, resume: bool = False, plugin: bool = True) -> None:
        self._upstream = upstream
        self.name = name
        options = ("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
        named = ("--resume" if resume else "--session-id", name)
        tools = ("--allowedTools", f"Bash,Write,{TOOLS}*")
        ours = ("--plugin-dir", str(PLUGIN)) if plugin and self.plugin else ()
        command = ("claude", *ours, "--model", "fake-n3", *options, *tools, *named)
        self._process = subprocess.Popen(
            command, cwd=desk.project, env=desk.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.read()
        self._process.stdout.close()
        self._process.wait(SECONDS)

    def say(self, text: str) -> list[Received]:
        """What the model was sent until the agent was done with ``text``."""
        before = self._upstream.statistics.requests
        message = {"type": "user", "message": {"role": "user", "content": text}}
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if json.loads(line).get("type") == "result":
                break
        return [received for received in self._upstream.since(before) if received.method == "POST"]


def blocks(received: Received) -> list[str]:
    """Our blocks in what the model was sent."""
    return BLOCK.findall("\n".join(_texts(received.json)))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from _texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)


def new_name() -> str:
    return str(uuid.uuid4())


def end_worker(spot: WorkerFiles) -> None:
    """Have the worker end, if there is one, and wait until it has."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        try:
            link.connect(spot.socket)
        except (FileNotFoundError, ConnectionRefusedError):
            return
        link.settimeout(SECONDS)
        link.sendall(STOP + b"\n")
        link.shutdown(socket.SHUT_WR)
        while link.recv(1024):
            pass


@contextmanager
def desk(folder: Path, url: str = "") -> Iterator[Desk]:
    """A desk whose worker has ended when the context does."""
    found = Desk(folder, url)
    try:
        yield found
    finally:
        if (spot := place(found.environment)) is not None:
            end_worker(spot)
        shutil.rmtree(found.sockets)
