"""docs/rest.md: its table is the table of routes, and its commands run as they stand."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from tests.waiting import eventually
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.server.api import api

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGE = (DOCS / "rest.md").read_text(encoding="utf-8")


def blocks(language: str) -> str:
    return "\n".join(re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL))


def host() -> Any:
    """The application of the page."""
    names: dict[str, Any] = {"__name__": "rest"}
    exec(compile(blocks("python"), "docs/rest.md", "exec"), names)
    return names["app"]


def test_the_reference_is_the_table() -> None:
    memory = SessionMemory.open()
    rows = [
        f"| {route.method} | `{route.path}` | {route.scope or '-'} | {route.summary} |" for route in api(memory).routes
    ]
    memory.close()
    assert re.findall(r"^\| (?:GET|POST|DELETE) \|.*$", PAGE, flags=re.MULTILINE) == rows


@pytest.mark.skipif(shutil.which("curl") is None or shutil.which("bash") is None, reason="needs curl and bash")
def test_the_commands_run_as_they_stand(tmp_path: Path) -> None:
    server = uvicorn.Server(uvicorn.Config(host(), port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert eventually(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        told = {**os.environ, "MEMORY": f"http://127.0.0.1:{port}/memory", "TOKEN": "made-up", "no_proxy": "*"}
        script = "set -e\n" + blocks("sh").replace("curl -sS", "curl -sS --fail-with-body -w '\\n'")
        done = subprocess.run(
            ["bash", "-c", script], cwd=tmp_path, env=told, capture_output=True, text=True, timeout=60
        )
    finally:
        server.should_exit = True
        thread.join()
    assert done.returncode == 0, done.stdout + done.stderr
    for wanted in ('"team/monday"', "Never push to main", '"checkpoint-1"', '"backups":0', '"what":"events"'):
        assert wanted in done.stdout
