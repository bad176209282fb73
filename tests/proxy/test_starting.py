"""What keeps ``tokenmizer-mw serve`` from serving is one sentence and status 1, with one worker and with several."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.sampling import sample
from tests.upstream.server import Upstream
from tests.waiting import eventually
from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.server.proxy.listening import bind_sockets, listening

from .test_serve import answers, free_port, written

WORKERS = ["1", "2"]


def served(file: Path, workers: str, port: int | None = None) -> subprocess.CompletedProcess[str]:
    """A server that is expected to end by itself."""
    command = [sys.executable, "-m", "tokenmizer_mw", "serve", "--config", str(file), "--workers", workers]
    command += ["--port", str(port or free_port())]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("tokenmizer-mw: error: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.mark.parametrize("workers", WORKERS)
def test_a_store_that_does_not_open(tmp_path: Path, upstream: Upstream, workers: str) -> None:
    file = written(tmp_path, upstream, store=f"sqlite:///{tmp_path}/no/such/chat.db")
    assert f"the directory {tmp_path}/no does not exist" in sentence(served(file, workers))


@pytest.mark.parametrize("workers", sample(WORKERS, 2))
def test_a_port_in_use(tmp_path: Path, upstream: Upstream, workers: str) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        said = sentence(served(written(tmp_path, upstream), workers, port))
    assert f"127.0.0.1:{port} is in use by another program" in said
    assert not (tmp_path / "chat.db").exists()


def test_workers_that_cannot_start_end_the_server(tmp_path: Path, upstream: Upstream) -> None:
    """The parent looks at the store only: rules that are none are found by the workers."""
    rules = tmp_path / "rules.yaml"
    rules.write_text("rules: [{nam: x}]", encoding="utf-8")
    done = served(written(tmp_path, upstream, memory={"redact_rules": str(rules)}), "2")
    assert done.returncode == 1
    assert "ERROR tokenmizer_mw: " in done.stderr
    assert "rules.yaml: redaction" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("redaction") <= 2


@pytest.mark.nightly
def test_a_key_that_is_missing_is_said_once(tmp_path: Path, upstream: Upstream) -> None:
    providers = {"openai": {"base_url": f"{upstream.url}/v1", "keys": "server", "key_variable": "MADE_UP_KEY"}}
    file, port, log = written(tmp_path, upstream, providers=providers), free_port(), tmp_path / "log"
    command = [sys.executable, "-m", "tokenmizer_mw", "serve", "--config", str(file), "--port", str(port)]
    environment = {name: value for name, value in os.environ.items() if name != "MADE_UP_KEY"}
    with (
        open(log, "wb") as stderr,
        subprocess.Popen([*command, "--workers", "2"], env=environment, stderr=stderr) as on,
    ):
        try:
            assert eventually(lambda: on.poll() is None and answers(port), 120)
        finally:
            on.send_signal(signal.SIGTERM)
    said = log.read_text(encoding="utf-8")
    missing = "providers.openai: keys: server needs this server's key, but MADE_UP_KEY is not set"
    assert said.count(missing) == 1
    assert f"listening on http://127.0.0.1:{port}\n" in said


# -- sockets ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def taken() -> Iterator[socket.socket]:
    with closing(socket.create_server(("127.0.0.1", 0))) as one:
        yield one


def test_all_addresses_of_a_name_have_the_same_port() -> None:
    with listening("localhost", 0) as sockets:
        ports = {one.getsockname()[1] for one in sockets}
        assert len(ports) == 1
        for one in sockets:
            assert one.proto == socket.IPPROTO_TCP
            socket.create_connection(one.getsockname()[:2], 10).close()


def test_a_port_that_others_listen_on_cannot_be_bound(taken: socket.socket) -> None:
    port = taken.getsockname()[1]
    with (
        pytest.raises(ConfigError, match=f"127.0.0.1:{port} is in use by another program"),
        bind_sockets("127.0.0.1", port),
    ):
        pass
    taken.close()
    with bind_sockets("127.0.0.1", port):
        pass


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1"])
def test_an_address_of_others_cannot_be_listened_on(host: str) -> None:
    with pytest.raises(ConfigError, match="cannot be listened on"), listening(host, 0):
        pass
