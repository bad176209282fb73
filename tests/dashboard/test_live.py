"""Browsers are told that something happened, whoever wrote it."""

from __future__ import annotations

import http.client
from collections.abc import MutableMapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest
from starlette.responses import StreamingResponse

from tests.proxy.serving import SECONDS
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.model.event import Recorded
from tokenmizer_mw.server.dashboard import dashboard, live, local
from tokenmizer_mw.store.memory import MemoryLog

from .visiting import CHAT, LATER, TOKEN, Visitor, served


def lines_until(answer: http.client.HTTPResponse, wanted: str) -> list[str]:
    """The lines of a stream up to the one that begins with ``wanted``."""
    lines: list[str] = []
    while not (lines and lines[-1].startswith(wanted)):
        line = answer.readline()
        assert line, lines
        lines.append(line.decode().rstrip("\n"))
    return lines


@pytest.mark.parametrize("about", ["id=hall", ""])
def test_what_another_process_writes_is_told(about: str, memory: SessionMemory, tmp_path: Path) -> None:
    board = dashboard(memory, authorize=local)
    other = SessionMemory.open(f"sqlite:///{tmp_path / 'chat.db'}")
    with served(board, board) as address, closing(other):
        link = http.client.HTTPConnection(urlsplit(address).netloc, timeout=SECONDS)
        with closing(link):
            link.request("GET", f"/events?{about}")
            answer = link.getresponse()
            assert answer.getheader("content-type", "").startswith("text/event-stream")
            assert answer.getheader("x-accel-buffering") == "no"
            assert "default-src 'none'" in answer.getheader("content-security-policy", "")
            lines_until(answer, "retry: ")
            other.record("hall", [*CHAT, *LATER, {"role": "user", "content": "Use Redis for the cache."}])
            assert "event: change" in lines_until(answer, "data: ")
            answer.close()


def test_what_was_added_between_the_page_and_the_stream_is_told(memory: SessionMemory) -> None:
    board = dashboard(memory, authorize=local)
    (info,) = memory.log.sessions("local")
    with served(board, board) as address:
        link = http.client.HTTPConnection(urlsplit(address).netloc, timeout=SECONDS)
        with closing(link):
            link.request("GET", f"/events?id=hall&since={info.seq - 1}")
            answer = link.getresponse()
            assert f"id: {info.seq}" in lines_until(answer, "data: ")
            answer.close()


def test_nobody_hears_what_he_may_not_read(memory: SessionMemory) -> None:
    assert Visitor(dashboard(memory, token=TOKEN)).ask("GET", "events?id=hall").status == 401


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_stream_ends_with_the_server_and_with_the_browser(backend: str, memory: SessionMemory) -> None:
    sent: list[bytes] = []

    async def receive() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(bytes(message.get("body", b"")))

    async def runs() -> None:
        tails = live.LogTails(memory)
        with anyio.fail_after(SECONDS):
            pieces = [piece async for piece in live.changes(tails, "local", "hall", "", lambda: True)]
            assert pieces == ["retry: 200\n\n"]
            response = StreamingResponse(live.changes(tails, "local", "hall", "", lambda: False))
            await response({"type": "http"}, receive, send)

    anyio.run(runs, backend=backend)
    assert any(piece.startswith(b"retry: ") for piece in sent)


class CountingLog(MemoryLog):
    """A store that counts how often it is read."""

    looks = 0

    def read(self, *given: Any, **more: Any) -> list[Recorded]:
        self.looks += 1
        return super().read(*given, **more)


def test_many_browsers_cost_one_look() -> None:
    log = CountingLog()
    memory = SessionMemory(log)
    memory.record("hall", CHAT)
    memory.flush()

    async def runs() -> None:
        tails = live.LogTails(memory, clock=lambda: 5.0)
        async with anyio.create_task_group() as group:
            for _ in range(50):
                group.start_soon(tails.of, "local", "hall")

    log.looks = 0
    anyio.run(runs)
    assert log.looks == 1
    memory.close()
