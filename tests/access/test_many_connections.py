"""Clients that connect and send nothing keep nobody out, though the process was started with few open files."""

from __future__ import annotations

import contextlib
import http.client
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.waiting import eventually
from tokenmizer_mw.server.proxy.listening import OPEN_FILES, allow_connections

from .serving import SECONDS

SILENT: Final = 400
STARTED_WITH: Final = 200
STARTS_WITHIN: Final = 90.0

resource = pytest.importorskip("resource")


def healthy(port: int) -> bool:
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    with contextlib.closing(link), contextlib.suppress(OSError, http.client.HTTPException):
        link.request("GET", "/health")
        return link.getresponse().status == 200
    return False


def test_silent_connections_keep_nobody_out(tmp_path: Path) -> None:
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 4 * SILENT or shutil.which("sh") is None:
        pytest.skip("needs a shell and a system that allows more open files")
    file = tmp_path / "proxy.yaml"
    file.write_text(yaml.safe_dump({"auth": True, "store": f"sqlite:///{tmp_path}/data/chats.db"}))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
    serve = [sys.executable, "-m", "tokenmizer_mw", "serve", "--config", str(file), "--port", str(port)]
    few = ["sh", "-c", f'ulimit -S -n {STARTED_WITH}; exec "$@"', "sh", *serve]
    process = subprocess.Popen(few, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert eventually(lambda: healthy(port), STARTS_WITHIN)
        with contextlib.ExitStack() as silent:
            for _ in range(SILENT):
                silent.enter_context(socket.create_connection(("127.0.0.1", port), SECONDS))
            assert healthy(port)
    finally:
        process.kill()
        process.wait()


def test_a_limit_is_raised_and_never_lowered() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        allow_connections(1)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (soft, hard)
        allow_connections()
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= min(OPEN_FILES, hard, soft)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
