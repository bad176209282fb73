"""A Redis server of a test's own, which can be stopped."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path
from typing import Final

import redis as redis_client

SECONDS: Final = 20.0
"""After which a server that must answer does not."""


class OwnRedis:
    """A Redis server on a free port of this machine."""

    def __init__(self, program: str, folder: Path) -> None:
        self.program = program
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.folder = folder
        self.address = f"redis://127.0.0.1:{self.port}/0"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        line = [
            self.program,
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--dir",
            str(self.folder),
        ]
        self.process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + SECONDS
        while not self.answers():
            assert time.monotonic() < deadline and self.process.poll() is None, "redis-server does not start"
            time.sleep(0.02)

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def answers(self) -> bool:
        try:
            with redis_client.Redis.from_url(self.address, socket_timeout=1) as client:
                return bool(client.ping())
        except redis_client.ConnectionError:
            return False
