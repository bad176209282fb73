"""Each example starts with its one command, answers without a key, remembers, and stops when it is told to."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx2
import openai
import pytest

from tests.waiting import PATIENCE

from .sdks.talk import KEY
from .served import APPS, EXAMPLES

QUESTION = "What do you suggest for storage? Could we just append to a CSV file?"
STARTS_WITHIN = 60.0


@contextmanager
def _running(app: str, folder: Path, **environment: str) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    keyless = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    told = folder / "told.txt"
    with told.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, EXAMPLES / f"{app}_app.py"],
            cwd=folder,
            env={**keyless, "PORT": str(port), **environment},
            stdout=output,
            stderr=output,
        )
    try:
        assert _started(port, process), told.read_text()
        yield f"http://127.0.0.1:{port}"
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)
    finally:
        process.kill()
        process.wait()


def _started(port: int, process: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < deadline and process.poll() is None:
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("app", APPS)
def test_example_runs_without_a_key(app: str, tmp_path: Path) -> None:
    with _running(app, tmp_path) as url:
        with openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
            stream = client.chat.completions.create(
                model="gpt-4o",
                messages=[{"role": "user", "content": QUESTION}],
                stream=True,
                extra_headers={"x-session-id": "fridge"},
            )
            assert "SQLite" in "".join(chunk.choices[0].delta.content or "" for chunk in stream)
        with httpx2.Client(base_url=url) as plain:
            assert "SQLite" in plain.get("/sessions/fridge").text
            assert plain.get("/sessions/nobody").status_code == 404
            assert plain.post("/v2/chat", json={}).status_code == 404
    assert (tmp_path / "chat.db").exists()


def test_provider_that_cannot_be_reached_is_a_502(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        nobody = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with _running("starlette", tmp_path, UPSTREAM_URL=nobody, MEMORY="memory://") as url, httpx2.Client() as client:
        response = client.post(f"{url}/v1/messages", json={}, headers={"x-session-id": "me"})
    assert response.status_code == 502
    assert not (tmp_path / "chat.db").exists()
