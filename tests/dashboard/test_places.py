"""Where the dashboard stands: under the prefixes of others, at the root of the proxy, and in a command of its own."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest

from tests.api.hosts import HOSTS, PREFIX
from tests.proxy.serving import SECONDS, configured, serving
from tests.upstream.server import Upstream
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.cli import main
from tokenmizer_mw.server.access.key_store import MemoryKeys
from tokenmizer_mw.server.access.keys import new_key
from tokenmizer_mw.server.dashboard import dashboard
from tokenmizer_mw.store.choosing import STORE_VARIABLE

from .visiting import BASE, CHAT, TOKEN, Visitor, text_of, token_on


@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)
def test_mounted_two_prefixes_deep(host: Callable[[Any], Any], memory: SessionMemory) -> None:
    app = host(dashboard(memory, token=TOKEN))
    visitor = Visitor(app, scope={"root_path": ""}).sign_in()
    assert "PostgreSQL" in text_of(visitor.get("session?id=hall").body)
    assert visitor.ask("GET", "static/dashboard.css").status == 200
    assert "tm-graph" in visitor.ask("GET", "static/graph.css").body


def test_without_its_slash_one_is_sent_to_where_it_begins(memory: SessionMemory) -> None:
    visitor = Visitor(dashboard(memory, token=TOKEN))
    answer = visitor.ask("GET", f"http://localhost{PREFIX}")
    assert (answer.status, answer.header("location")) == (303, "memory/")


@contextmanager
def link_to(port: int) -> Iterator[http.client.HTTPConnection]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)) as link:
        yield link


def asked(port: int, path: str, cookie: str = "", form: str | None = None) -> tuple[int, dict[str, str], str]:
    headers = {"cookie": cookie} if cookie else {}
    if form is not None:
        headers |= {"content-type": "application/x-www-form-urlencoded", "origin": f"http://127.0.0.1:{port}"}
    with link_to(port) as link:
        link.request("GET" if form is None else "POST", path, form, headers)
        answer = link.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode()


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with Upstream() as found:
        yield found


def test_at_the_root_of_the_proxy(upstream: Upstream) -> None:
    with serving(configured(upstream, dashboard=True)) as proxy:
        proxy.memory.record("hall", CHAT)
        assert "hall" in asked(proxy.port, "/")[2]
        assert "SQLite" in asked(proxy.port, "/session?id=hall")[2]
        assert '"status"' in asked(proxy.port, "/health")[2]
        assert asked(proxy.port, "/api/sessions")[0] == 200
        assert asked(proxy.port, "/static/dashboard.js")[0] == 200


def test_off_unless_it_is_switched_on(upstream: Upstream) -> None:
    with serving(configured(upstream)) as proxy:
        assert asked(proxy.port, "/")[0] == 404
        assert "dashboard" not in asked(proxy.port, "/session?id=hall")[2]


def test_at_the_root_of_a_proxy_with_keys_one_signs_in_with_a_key(upstream: Upstream) -> None:
    written, key = new_key(os.urandom, "tenant-b", {"read"}, 0.0)
    with serving(configured(upstream, auth=True, dashboard=True), MemoryKeys([key])) as proxy:
        proxy.memory.record("yard", CHAT, tenant="tenant-b")
        proxy.memory.record("hall", CHAT)
        status, headers, _ = asked(proxy.port, "/")
        assert (status, headers["location"]) == (303, "login")
        status, headers, page = asked(proxy.port, "/login")
        cookie = headers["set-cookie"].partition(";")[0]
        status, headers, _ = asked(proxy.port, "/login", cookie, f"form_token={token_on(page)}&secret={written}")
        assert status == 303
        cookie = headers["set-cookie"].partition(";")[0]
        listing = asked(proxy.port, "/", cookie)[2]
        assert "yard" in listing
        assert "hall" not in re.findall(r"session\?id=(\w+)", listing)
        assert asked(proxy.port, "/api/sessions", cookie)[0] == 401


BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.mark.parametrize("page", ["nonesuch", "deep/er/nonesuch", "session/hall"])
def test_an_unknown_page_is_told_as_a_page_that_leads_back(page: str, memory: SessionMemory) -> None:
    visitor = Visitor(dashboard(memory, token=TOKEN))
    answer = visitor.ask("GET", page, headers=BROWSER)
    assert answer.status == 404
    assert "no page at this address" in text_of(answer.body)
    for address in re.findall(r'(?:href|src)="([^"#]+)"', answer.body):
        whole = urljoin(urljoin(BASE, page), address)
        assert visitor.ask("GET", whole).status in (200, 303), address
    told = visitor.ask("GET", page, headers={"accept": "application/json"})
    assert (told.status, json.loads(told.body)["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize("auth", [False, True])
def test_below_a_proxy_browsers_get_a_page_and_clients_get_json(auth: bool, upstream: Upstream) -> None:
    _, key = new_key(os.urandom, "tenant-b", {"read"}, 0.0)
    keys = MemoryKeys([key]) if auth else None
    with serving(configured(upstream, auth=auth, dashboard=True), keys) as proxy, link_to(proxy.port) as link:

        def ask(path: str, accept: str) -> tuple[int, str, bytes]:
            link.request("GET", path, headers={"accept": accept})
            answer = link.getresponse()
            return answer.status, answer.headers["content-type"].partition(";")[0], answer.read()

        status, media, body = ask("/sesions/hall", BROWSER["accept"])
        assert (status, media) == (404, "text/html")
        assert b"no page at this address" in body
        status, media, body = ask("/sesions/hall", "application/json")
        assert (status, media) == (401 if auth else 404, "application/json")
        assert "error" in json.loads(body)
        assert ask("/api/sessions/nonesuch/none", BROWSER["accept"])[1] == "application/json"


@contextmanager
def started(folder: Path, errors: list[str]) -> Iterator[tuple[int, str]]:
    """The command with a database; its port and the cookie of who has signed in. ``errors``: gets what it logs."""
    with closing(SessionMemory.open(f"sqlite:///{folder / 'chat.db'}")) as memory:
        memory.record("hall", CHAT)
    command = [sys.executable, "-m", "tokenmizer_mw", "dashboard", "--db", "chat.db", "--port", "0"]
    running = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert running.stdout is not None
        port, token = (running.stdout.readline().rpartition(mark)[2].strip("/\n") for mark in (":", "#token="))
        _, headers, page = asked(int(port), "/login")
        cookie = headers["set-cookie"].partition(";")[0]
        _, headers, _ = asked(int(port), "/login", cookie, f"form_token={token_on(page)}&secret={token}")
        yield int(port), headers["set-cookie"].partition(";")[0]
    finally:
        running.terminate()
        errors += running.communicate(timeout=SECONDS)[1].splitlines()


def test_the_command_shows_a_database(tmp_path: Path) -> None:
    with started(tmp_path, []) as (port, cookie):
        assert "hall" in asked(port, "/", cookie)[2]


def test_the_command_logs_with_level_and_logger(tmp_path: Path) -> None:
    errors: list[str] = []
    with started(tmp_path, errors) as (port, cookie):
        assert "hall" in asked(port, "/", cookie)[2]
        (tmp_path / "chat.db").unlink()
        assert "hall" not in asked(port, "/", cookie)[2]
    (line,) = [line for line in errors if "was deleted while it was in use" in line]
    assert " ERROR tokenmizer_mw: the store " in line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--db", "nowhere.db"], "there is no such file"),
        (["--store", "sqlite:///nowhere.db"], "there is no store in nowhere.db (no such file)"),
        (["--host", "0.0.0.0"], "refusing to listen on 0.0.0.0"),
        (["--host", "0.0.0.0", "--name", "desk.example.org"], "refusing to listen on 0.0.0.0"),
        (["--db", "a.db", "--store", "memory://"], "not allowed with"),
    ],
)
def test_what_the_command_refuses(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        status = main(["dashboard", *arguments])
    except SystemExit as end:
        status = int(end.code or 0)
    assert status != 0
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_command_refuses_a_store_that_the_environment_names_and_that_is_not_there(tmp_path: Path) -> None:
    """In a process of its own, which serves until the time limit where the store is not refused."""
    command = [sys.executable, "-m", "tokenmizer_mw", "dashboard", "--port", "0"]
    environment = os.environ | {STORE_VARIABLE: f"sqlite:///{tmp_path / 'nowhere.db'}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS)
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no store in" in done.stderr
    assert list(tmp_path.iterdir()) == []
