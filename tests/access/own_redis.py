"""A Redis server of a test's own, which can be stopped."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import redis as redis_client

from tests.waiting import eventually


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
        assert eventually(self.answers), "redis-server does not start"

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
