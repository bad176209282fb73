"""``tokenmizer-mw serve`` and ``check`` as people run them: processes, files, signals, and curl."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.upstream.server import Upstream
from tests.waiting import eventually
from tokenmizer_mw.cli import main
from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.server.proxy.configuration import Configuration

from .serving import CUT, SECONDS, asked, call, free_port

CHAT = "/v1/chat/completions"


def written(folder: Path, upstream: Upstream, **given: Any) -> Path:
    """A configuration file whose store is beside it."""
    file = folder / "proxy.yaml"
    told = {
        "store": f"sqlite:///{folder / 'chat.db'}",
        "providers": {"openai": {"base_url": f"{upstream.url}/v1"}},
        **given,
    }
    file.write_text(yaml.safe_dump(told), encoding="utf-8")
    return file


@contextmanager
def running(file: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    port = free_port()
    command = [sys.executable, "-m", "tokenmizer_mw", "serve", "--config", str(file), "--port", str(port), *arguments]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert eventually(lambda: process.poll() is None and answers(port), 120)
        yield process, port
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise


def answers(port: int) -> bool:
    try:
        return call(port, "/health/ready", None, method="GET")[0] == 200
    except OSError:
        return False


def sessions(folder: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert main(["sessions", "--store", f"sqlite:///{folder / 'chat.db'}", "--json"]) == 0
    return sorted(row["session"] for row in json.loads(capsys.readouterr().out))


def test_workers_share_one_file(tmp_path: Path, upstream: Upstream, capsys: pytest.CaptureFixture[str]) -> None:
    """What one of them was told, all of them know; and what was answered is kept when they end."""
    with running(written(tmp_path, upstream), "--workers", "2") as (_, port):
        said: list[dict[str, str]] = []
        for number in range(6):
            said.append({"role": "user", "content": f"Point {number}?"})
            body = json.dumps({"model": "fake-n3", "messages": said}).encode()
            status, _, reply = call(port, CHAT, body, {"x-session-id": "shared"})
            assert status == 200
            said.append(json.loads(reply)["choices"][0]["message"])
        threads = [
            threading.Thread(target=call, args=(port, CHAT, asked("fake-n3"), {"x-session-id": f"own-{number}"}))
            for number in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        status = call(port, "/api/sessions", None, method="GET")[0]
        assert status == 200
    assert sessions(tmp_path, capsys) == sorted(["shared", *(f"own-{number}" for number in range(8))])


def test_streams_under_way_end_as_they_should(tmp_path: Path, upstream: Upstream) -> None:
    """Not ready first, then no new connections, and the stream goes on to its end."""
    file = written(tmp_path, upstream, listen={"unready_seconds": 0.8, "drain_seconds": 30})
    with running(file) as (process, port), closing(http.client.HTTPConnection("127.0.0.1", port, SECONDS)) as link:
        link.request("POST", CHAT, asked("fake-n60-d50", stream=True), {"x-session-id": "drained"})
        response = link.getresponse()
        response.read(1)
        process.send_signal(signal.SIGTERM)
        assert eventually(lambda: not answers(port))
        assert response.read().endswith(b"[DONE]\n\n")
        assert process.wait(SECONDS) in (0, -signal.SIGTERM)


@pytest.mark.nightly
def test_streams_that_take_too_long_are_cut(tmp_path: Path, upstream: Upstream) -> None:
    with running(written(tmp_path, upstream, listen={"drain_seconds": 1})) as (process, port):
        ends: list[bytes] = []

        def ask() -> None:
            ends.append(call(port, CHAT, asked("fake-n400-d100", stream=True))[2])

        asking = threading.Thread(target=ask)
        asking.start()
        assert eventually(lambda: upstream.statistics.active == 1)
        process.send_signal(signal.SIGTERM)
        asking.join(SECONDS)
    assert ends[0].endswith(CUT)


def knock(port: int, seconds: float = 3.0) -> str:
    """What becomes of a new connection: "answered", "refused", or "left waiting" when nothing happens in time."""
    try:
        with closing(socket.create_connection(("127.0.0.1", port), timeout=seconds)) as link:
            link.sendall(b"GET /health/live HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            return "answered" if link.recv(65_536) else "refused"
    except TimeoutError:
        return "left waiting"
    except OSError:
        return "refused"


@pytest.mark.nightly
def test_no_connection_waits_while_workers_finish_their_streams(tmp_path: Path, upstream: Upstream) -> None:
    """Two workers, one of which has a stream of some seconds: after SIGTERM new connections are answered or refused,
    and the stream ends as it should."""
    file = written(tmp_path, upstream, listen={"drain_seconds": 30, "workers": 2})
    with running(file) as (process, port), closing(http.client.HTTPConnection("127.0.0.1", port, SECONDS)) as link:
        link.request("POST", CHAT, asked("fake-n80-d100", stream=True), {"x-session-id": "drained"})
        response = link.getresponse()
        response.read(1)
        process.send_signal(signal.SIGTERM)
        fates = [knock(port)]
        while fates[-1] == "answered":
            time.sleep(0.05)
            fates.append(knock(port))
        assert upstream.statistics.active == 1, "the stream ended before new connections were refused"
        fates += [knock(port) for _ in range(20)]
        assert set(fates) <= {"answered", "refused"}
        assert set(fates[-20:]) == {"refused"}
        assert response.read().endswith(b"[DONE]\n\n")
        assert process.wait(SECONDS) in (0, -signal.SIGTERM)


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl(tmp_path: Path, upstream: Upstream, capsys: pytest.CaptureFixture[str]) -> None:
    with running(written(tmp_path, upstream)) as (_, port):
        command = ["curl", "-sN", "--fail", f"http://127.0.0.1:{port}{CHAT}", "-H", "x-session-id: curled"]
        for stream in (False, True):
            done = subprocess.run([*command, "-d", asked("fake-n3", stream=stream)], capture_output=True, timeout=60)
            assert (done.returncode, b"You said: Which database?" in done.stdout) == (0, True)
    assert sessions(tmp_path, capsys) == ["curled"]


def test_others_are_not_let_in_without_keys(
    tmp_path: Path, upstream: Upstream, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, upstream)
    for host in ("0.0.0.0", "::", ""):
        arguments = ["serve", "--config", str(file), "--port", str(free_port())]
        assert main([*arguments, "--host", host] if host else [*arguments, "--host", "192.0.2.1"]) == 1
        assert "without API keys" in capsys.readouterr().err


# -- check ----------------------------------------------------------------------------------------------------------


def checked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, tuple[str, str]]]:
    status = main(["check", "--json", *arguments])
    rows = json.loads(capsys.readouterr().out)
    return status, {row["place"]: (row["grade"], row["text"]) for row in rows}


def test_check_tells_what_is_fine(
    tmp_path: Path, upstream: Upstream, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    file = written(tmp_path, upstream, listen={"port": free_port()}, models={"fast": "openai/gpt-4o-mini"})
    status, rows = checked(capsys, "--config", str(file), "--reach")
    assert status == 1
    assert {place for place, (grade, _) in rows.items() if grade != "fine"} == {"models.fast"}
    assert rows["providers.openai"][1].endswith("answers (status 404)")
    assert rows["models.fast"][1].startswith("asks openai/gpt-4o-mini; no key for openai: set OPENAI_API_KEY")
    monkeypatch.setenv("OPENAI_API_KEY", "made-up")
    assert checked(capsys, "--config", str(file))[1]["models.fast"] == ("fine", "asks openai/gpt-4o-mini")
    assert not (tmp_path / "chat.db").exists()
    assert main(["check", "--config", str(file)]) == 0
    assert f"fine   store: {tmp_path / 'chat.db'} will be created" in capsys.readouterr().out


def test_check_names_the_models_that_read_sessions(
    tmp_path: Path, upstream: Upstream, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REFINING_KEY", raising=False)
    own = {"llm_url": "http://127.0.0.1:9/v1", "llm_model": "small", "llm_key_variable": "REFINING_KEY"}
    file = written(tmp_path, upstream, listen={"port": free_port()}, refinement={"openai": "gpt-4.1-nano"}, memory=own)
    rows = checked(capsys, "--config", str(file))[1]
    assert rows["refinement.openai"] == ("fine", "gpt-4.1-nano reads sessions, with the key of the client's call")
    assert rows["memory.llm_model"] == ("note", "small reads sessions; REFINING_KEY is not set")


def test_check_tells_what_is_wrong(tmp_path: Path, upstream: Upstream, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "chat.db").write_text("no database " * 100, encoding="utf-8")
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        given = {
            "listen": {"port": taken.getsockname()[1]},
            "providers": {"openai": {"base_url": f"http://127.0.0.1:{free_port()}", "keys": "server"}},
        }
        file = written(tmp_path, upstream, **given)
        status, rows = checked(capsys, "--config", str(file))
    assert status == 1
    wrong = {place for place, (grade, _) in rows.items() if grade == "wrong"}
    assert wrong == {"listen.port", "store", "providers.openai"}
    assert "OPENAI_API_KEY is not set" in rows["providers.openai"][1]
    status, rows = checked(capsys, "--config", str(file), "--reach")
    assert "cannot be reached" in rows["providers.openai"][1]


def test_check_tells_of_open_doors(tmp_path: Path, upstream: Upstream, capsys: pytest.CaptureFixture[str]) -> None:
    open_ = written(tmp_path, upstream, listen={"port": free_port(), "host": "0.0.0.0"})
    assert checked(capsys, "--config", str(open_))[1]["listen.host"][0] == "wrong"
    shut = written(tmp_path, upstream, listen={"port": free_port(), "host": "0.0.0.0"}, auth=True)
    status, rows = checked(capsys, "--config", str(shut))
    assert (status, rows["listen.host"][0], rows["auth"][0]) == (0, "fine", "note")


# -- the file ---------------------------------------------------------------------------------------------------------

REFUSED = [
    ("listen: {prt: 1}", "listen: unknown setting prt; there are host, port"),
    ("listen: {port: abc}", "listen.port is a whole number from 0 to 65535, not 'abc'"),
    ("listen: {port: 70000}", "listen.port is a whole number from 0 to 65535, not 70000"),
    ("listen: [1]", "listen: expected a mapping"),
    ("[1]", "expected a mapping"),
    ("a: b: c", "not readable as YAML"),
    ("foo: 1", "unknown key foo; there are listen, store"),
    ("providers: {x: {}}", "providers.x.base_url: expected an address"),
    ("providers: {x: {base_url: 'ftp://a'}}", "providers.x.base_url: expected an address"),
    ("providers: {x: {base_url: 'http://u:p@a'}}", "providers.x.base_url: an address holds no user"),
    ("providers: {x: {base_url: 'http://169.254.169.254/'}}", "providers.x.base_url: a link-local address"),
    ("providers: {x: {base_url: 'http://2852039166/'}}", "providers.x.base_url: a link-local address"),
    ("providers: {x: {base_url: 'http://[::ffff:169.254.169.254]/'}}", "providers.x.base_url: a link-local address"),
    ("providers: {x: {base_url: 'http://a', foo: 1}}", "providers.x: unknown setting foo"),
    ("providers: {openai: {keys: theirs}}", "providers.openai.keys is one of auto, client, server, not 'theirs'"),
    ("providers: {openai: {quirks: {foo: 1}}}", "providers.openai.quirks: unknown setting foo"),
    ("models: {a: b/c}", "models.a: expected provider/model"),
    ("models: {a: 5}", "models.a: "),
    ("defaults: {foo: a}", "defaults: unknown key foo"),
    ("defaults: {openai: nobody}", "defaults.openai: no provider is called 'nobody'"),
    ("sessions: always", "sessions is one of named, agents, derived, not 'always'"),
    ("memory: {cut_at: 3}", "cut_at"),
    ("memory: {foo: 3}", "memory: unknown setting foo"),
    ("access: {foo: 1}", "access: unknown setting foo"),
    ("asking: {retries: -1}", "asking.retries is a whole number of at least 0"),
    ("auth: perhaps", "auth is true or false, not 'perhaps'"),
]


@pytest.mark.parametrize(("text", "said"), REFUSED)
def test_a_file_that_is_wrong_is_refused_by_the_name_of_the_key(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "proxy.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        Configuration.load(file, {})
    assert said in str(caught.value)
    assert str(file) in str(caught.value)


def test_the_environment_wins_and_files_are_found_by_it(tmp_path: Path) -> None:
    file = tmp_path / "proxy.yaml"
    file.write_text("listen: {port: 1, host: localhost}\nstore: memory://\nmemory: {cut_at: 0.5}", encoding="utf-8")
    environ = {"TOKENMIZER_CONFIG": str(file), "TOKENMIZER_PORT": "2", "TOKENMIZER_STORE": "sqlite:///x.db"}
    found = Configuration.load(environ={**environ, "TOKENMIZER_AUTH": "true", "TOKENMIZER_CUT_TO": "0.2"})
    assert (found.listen.host, found.listen.port, found.store, found.auth) == ("localhost", 2, "sqlite:///x.db", True)
    assert (found.memory.cut_at, found.memory.cut_to) == (0.5, 0.2)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("BLOCK_TOKENS", "many", "environment: block_tokens is a whole number of at least 64, not 'many'"),
        ("CUT_TO", "0.6", "environment: cut_to and cut_at are shares of the window"),
        ("PORT", "none", "environment: port is a whole number from 0 to 65535, not 'none'"),
        ("LOOP", "twisted", "environment: loop is one of"),
        ("AUTH", "perhaps", "environment: auth is true or false, not 'perhaps'"),
    ],
)
def test_a_wrong_variable_is_no_fault_of_the_file(tmp_path: Path, name: str, value: str, said: str) -> None:
    file = tmp_path / "proxy.yaml"
    file.write_text("listen: {port: 1}\nmemory: {cut_at: 0.5, cut_to: 0.4}", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        Configuration.load(file, {f"TOKENMIZER_{name}": value})
    assert str(caught.value).startswith(said)


def test_one_more_provider_is_a_few_lines(tmp_path: Path) -> None:
    file = tmp_path / "proxy.yaml"
    file.write_text("providers: {vllm: {base_url: 'http://gpu:8000/v1/', key_variable: VLLM_KEY, prefixes: [qwen]}}")
    (server,) = Configuration.load(file, {"VLLM_KEY": "made-up"}).providers.values()
    assert (server.row.base_url, server.row.dialect, server.key) == ("http://gpu:8000/v1", "openai_chat", "made-up")
    assert "made-up" not in repr(server)


def test_no_key_of_the_environment_is_printed(
    tmp_path: Path, upstream: Upstream, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, upstream, listen={"port": free_port()})
    environment = {**os.environ, "OPENAI_API_KEY": "made-up-but-secret"}
    command = [sys.executable, "-m", "tokenmizer_mw", "check", "--config", str(file)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert "with the key in OPENAI_API_KEY" in done.stdout
    assert "made-up-but-secret" not in done.stdout + done.stderr
