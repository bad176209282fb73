"""The store itself, or a running server: the same answers, and a sentence when one of them fails."""

from __future__ import annotations

import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
import pytest
from mcp import Client

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.agents.mcp.backing import Backing, on_server
from tokenmizer_mw.agents.mcp.server import Memory, server
from tokenmizer_mw.agents.mcp.serving import ServingOptions, run_http
from tokenmizer_mw.errors import ConfigError, StoreTooNew
from tokenmizer_mw.server.proxy.configuration import Configuration
from tokenmizer_mw.store.choosing import default_address, resolve_store

from .conftest import Desk, Running, in_process, served
from .test_tools import refused, told

READS: list[tuple[str, dict[str, Any]]] = [
    ("list_sessions", {}),
    ("resume_session", {"level": "full"}),
    ("resume_session", {"query": "storage", "budget": 90}),
    ("get_graph_stats", {}),
    ("why_decision", {"text": "PostgreSQL"}),
    ("search", {"text": "push"}),
]


def speaking(backing: Backing, desk: Desk) -> Client:
    return Client(server(Memory(backing, str(desk.folder), [str(desk.folder)]), "0"), mode="2026-07-28")


def test_both_see_the_same(desk: Desk, running: Running) -> None:
    async def use() -> None:
        here = in_process(desk, "2026-07-28")
        async with here as store, on_server(running.url) as backing, speaking(backing, desk) as remote:
            await told(store, "checkpoint_session")
            await told(remote, "remember", text="Answer in French")
            await told(store, "remember", text="Database: CockroachDB", kind="choice")
            for tool, arguments in READS:
                one, other = await told(store, tool, **arguments), await told(remote, tool, **arguments)
                assert one == other
            await told(remote, "forget_session", session_id=desk.session)
            assert "Nothing was recorded in this project" in await refused(store, "resume_session")

    anyio.run(use)


def test_a_server_that_goes_in_the_middle(desk: Desk) -> None:
    memory = SessionMemory.open(desk.address, Settings(project_separator="/"))
    running = Running(memory)

    async def use() -> None:
        async with on_server(running.url) as backing, speaking(backing, desk) as client:
            await told(client, "resume_session")
            await anyio.to_thread.run_sync(running.stop)
            sentence = await refused(client, "resume_session")
            assert f"{running.url} does not answer: ask the user to start it" in sentence

    anyio.run(use)
    memory.close()


def test_a_reply_that_breaks_off(desk: Desk) -> None:
    """What a client sees when a server dies while it answers."""

    def dying(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.RemoteProtocolError("peer closed connection without sending complete message body")

    async def use() -> None:
        link = httpx2.AsyncClient(transport=httpx2.MockTransport(dying), base_url="http://gone")
        async with link, speaking(Backing(link, "The server"), desk) as client:
            assert "The server does not answer" in await refused(client, "list_sessions")

    anyio.run(use)


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (httpx2.Response(200, text="<html>hello</html>"), "is it tokenmizer-mw?"),
        (httpx2.Response(200, json=[1]), "is it tokenmizer-mw?"),
        (httpx2.Response(502, json={"oops": 1}), "It was refused"),
        (httpx2.Response(500, json={"error": {"code": "internal", "message": "Something."}}), "server's log"),
    ],
)
def test_a_server_of_somebody_else(desk: Desk, reply: httpx2.Response, sentence: str) -> None:
    async def use() -> None:
        link = httpx2.AsyncClient(transport=httpx2.MockTransport(lambda request: reply), base_url="http://other")
        async with link, speaking(Backing(link, "The server"), desk) as client:
            assert sentence in await refused(client, "list_sessions")

    anyio.run(use)


def test_a_server_that_wants_a_key(desk: Desk) -> None:
    memory = SessionMemory.open(desk.address)
    running = Running(memory, authorize=lambda scope: None)

    async def use() -> None:
        async with on_server(running.url) as backing, speaking(backing, desk) as client:
            assert "TOKENMIZER_KEY" in await refused(client, "list_sessions")

    anyio.run(use)
    running.stop()
    memory.close()


def test_a_database_of_another_version(desk: Desk) -> None:
    path = desk.address.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("PRAGMA user_version = 999")

    with pytest.raises(StoreTooNew, match="newer version of tokenmizer-mw"):
        SessionMemory.open(desk.address, Settings(redact=False))


def test_only_this_machine_is_served() -> None:
    with pytest.raises(ConfigError, match="no keys"):
        run_http(ServingOptions(), "0.0.0.0", 0)


def connected(host: str, port: int) -> socket.socket:
    """A connection, as soon as the server takes one: it says where before it does."""
    deadline = time.monotonic() + 30
    while True:
        try:
            return socket.create_connection((host, port), timeout=30)
        except ConnectionRefusedError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


@pytest.mark.parametrize(
    ("start", "unit"), [(b"", b"X-Name: a\r\n"), (b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"a: b\r\n")]
)
def test_heads_and_trailers_without_end_are_refused(desk: Desk, start: bytes, unit: bytes) -> None:
    with served(desk) as address:
        place = urlsplit(address)
        with connected(place.hostname or "", place.port or 0) as link:
            link.sendall(f"POST /mcp HTTP/1.1\r\nHost: {place.netloc}\r\n".encode() + start)
            sent = 0
            with suppress(ConnectionError):
                while sent < 32_000_000:
                    link.sendall(unit * 5_000)
                    sent += len(unit) * 5_000
    assert sent < 32_000_000


def test_one_installation_has_one_store(tmp_path: Path) -> None:
    """Hooks, the MCP server and the commands ask the same function, which reads what the proxy reads."""
    config = tmp_path / "proxy.yaml"
    config.write_text("store: sqlite:///shop.db\n", encoding="utf-8")
    told = {"TOKENMIZER_CONFIG": str(config)}
    assert resolve_store("", told) == f"sqlite:///{tmp_path / 'shop.db'}" == Configuration.load(environ=told).store
    assert resolve_store("", {**told, "TOKENMIZER_STORE": "sqlite:///other.db"}) == "sqlite:///other.db"
    assert resolve_store("memory://", told) == "memory://"
    assert resolve_store("", {}) == default_address()


def test_what_the_first_calls_need_is_loaded_beforehand() -> None:
    code = (
        "import sys; from tokenmizer_mw.agents.mcp.backing import load_parts;"
        " before = 'tokenmizer_mw.extract.derive' in sys.modules; load_parts(None);"
        " print(before, 'tokenmizer_mw.extract.derive' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "False True\n"
