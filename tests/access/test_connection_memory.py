"""What connections without a key cost a real server process in memory: one, and a hundred at the same time."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.waiting import eventually

MEGABYTE: Final = 1_000_000
ONE_MOST: Final = 8 * MEGABYTE
HUNDRED_MOST: Final = 200 * MEGABYTE
STARTS_WITHIN: Final = 90.0

_POST: Final = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
_CHUNKED: Final = _POST + b"Transfer-Encoding: chunked\r\n\r\n"

ATTACKS: Final[dict[str, tuple[bytes, bytes]]] = {
    "a head without end": (_POST, b"X-Name: " + b"a" * 500 + b"\r\n"),
    "a line without end": (_POST + b"X-Name: ", b"a" * 1_000),
    "a target without end": (b"GET /", b"a" * 1_000),
    "trailers without end": (_CHUNKED + b"0\r\n", b"X-Name: " + b"a" * 500 + b"\r\n"),
    "a chunk's extension without end": (_CHUNKED + b"1;a=", b"a" * 1_000),
    "chunks without end": (_CHUNKED, b"3e8\r\n" + b"a" * 1_000 + b"\r\n"),
    "a long body": (_POST + b"Content-Length: 60000000\r\n\r\n", b"a" * 1_000),
    "requests without end": (b"", b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n"),
}
"""How a connection begins, and what it goes on with."""


class Server:
    """A proxy that asks for keys, in a process of its own."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process, self.port = process, port

    def memory(self, field: str) -> int:
        """``VmRSS``, what the process holds, or ``VmHWM``, the most it held since ``forget_peak``; in bytes."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))

    def forget_peak(self) -> None:
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def settle(self) -> None:
        """Wait until the process has loaded what it loads behind its first second."""
        deadline = time.monotonic() + STARTS_WITHIN
        before, now = 0, self.memory("VmRSS")
        while now - before > MEGABYTE // 10 and time.monotonic() < deadline:
            time.sleep(2.0)
            before, now = now, self.memory("VmRSS")

    def growth(self, attack: str, connections: int, size: int) -> int:
        """Bytes by which the process grows at most while so many connections send ``size`` bytes each."""
        before = self.memory("VmRSS")
        self.forget_peak()
        threads = [threading.Thread(target=self._send, args=(attack, size)) for _ in range(connections)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert self.process.poll() is None
        return self.memory("VmHWM") - before

    def _send(self, attack: str, size: int) -> None:
        head, unit = ATTACKS[attack]
        piece = unit * (64_000 // len(unit))
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 10.0) as link:
            link.sendall(head)
            for _ in range(size // len(piece) + 1):
                link.sendall(piece)
            time.sleep(0.5)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("how much memory a process held at most is read from Linux")
    folder = tmp_path_factory.mktemp("served")
    file = folder / "proxy.yaml"
    providers = {"openai": {"base_url": "http://127.0.0.1:9", "keys": "client"}}
    file.write_text(
        yaml.safe_dump({"auth": True, "store": f"sqlite:///{folder}/data/chats.db", "providers": providers})
    )
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
    command = [sys.executable, "-m", "tokenmizer_mw", "serve", "--config", str(file), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert eventually(lambda: _listens(port), STARTS_WITHIN)
        server = Server(process, port)
        server.settle()
        for attack in ATTACKS:  # what the first ones of a process cost is kept for all
            server.growth(attack, 2, MEGABYTE)
        yield server
    finally:
        process.kill()
        process.wait()


def _listens(port: int) -> bool:
    with contextlib.closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("attack", ATTACKS)
def test_one_connection(server: Server, attack: str) -> None:
    assert server.growth(attack, 1, 20 * MEGABYTE) <= ONE_MOST


@pytest.mark.nightly
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_hundred_connections(server: Server, attack: str) -> None:
    assert server.growth(attack, 100, 4 * MEGABYTE) <= HUNDRED_MOST
