"""A chat route that the middleware has no dialect for is logged, once a path, and passes untouched."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from tokenmizer_mw import TokenMizerMiddleware
from tokenmizer_mw.chat.reports import CHAT_WORDS, PATHS_MAX

from .driving import Connection, answering, piece, request, start

BODY = b'{"word": "confidential"}'
JSON = [(b"Content-Type", b"application/json; charset=utf-8")]


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name.startswith("tokenmizer_mw")]


def post(wrapped: Any, path: str, headers: Any = JSON, method: str = "POST") -> None:
    scope = {"type": "http", "method": method, "path": path, "headers": headers}
    connection = Connection(request(BODY))
    asyncio.run(wrapped(scope, connection.receive, connection.send))


@pytest.fixture
def bodies() -> list[bytes]:
    return []


@pytest.fixture
def wrapped(memory: Any, bodies: list[bytes]) -> TokenMizerMiddleware:
    return TokenMizerMiddleware(answering([start(), piece(b"", False)], bodies), memory=memory)


@pytest.mark.parametrize(
    "path", ["/chat", "/v1/completions", "/app/Messages/", "/threads/7/messages", "/assistant/reply", "/chat/stream"]
)
def test_a_chat_route_without_a_dialect_is_logged_once(
    path: str, wrapped: Any, bodies: list[bytes], memory: Any, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        post(wrapped, path)
    [line] = lines(caplog)
    assert f"POST {path} looks like a chat and is not remembered" in line
    assert "routes=" in line and "CustomChat" in line and "docs/not-remembered.md" in line
    assert "confidential" not in line
    assert bodies == [BODY] * 3
    assert memory.counters() == {}


@pytest.mark.parametrize(
    ("path", "headers", "method"),
    [
        ("/v1/embeddings", JSON, "POST"),
        ("/chat", JSON, "GET"),
        ("/chat", [(b"content-type", b"application/x-www-form-urlencoded")], "POST"),
        ("/chat", [], "POST"),
        ("/v1/chat/completions", JSON, "POST"),
        ("/chat/rooms", JSON, "POST"),
        ("/", JSON, "POST"),
    ],
)
def test_other_requests_are_not_logged(
    path: str, headers: Any, method: str, wrapped: Any, caplog: pytest.LogCaptureFixture
) -> None:
    post(wrapped, path, headers, method)
    assert [line for line in lines(caplog) if "looks like a chat" in line] == []


@pytest.mark.parametrize(("status", "logged"), [(404, False), (405, False), (422, False), (200, True), (500, True)])
def test_a_refused_request_is_no_chat(
    status: int, logged: bool, memory: Any, bodies: list[bytes], caplog: pytest.LogCaptureFixture
) -> None:
    """A scan for routes that are not there must not fill the log; the first answer that is no refusal is logged."""
    post(TokenMizerMiddleware(answering([start(status=status), piece(b"", False)], bodies), memory=memory), "/chat")
    assert bool(lines(caplog)) == logged


def test_headers_that_can_be_read_once_are_left_to_the_application(
    memory: Any, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(list(scope["headers"]))

    post(TokenMizerMiddleware(app, memory=memory), "/chat", iter(JSON))
    assert seen == [JSON]
    assert lines(caplog) == []


def test_the_number_of_paths_logged_is_bounded(wrapped: Any, caplog: pytest.LogCaptureFixture) -> None:
    for number in range(PATHS_MAX + 5):
        post(wrapped, f"/rooms/{number}/messages")
    assert len(lines(caplog)) == PATHS_MAX


def test_a_line_break_in_a_path_stays_on_one_line(wrapped: Any, caplog: pytest.LogCaptureFixture) -> None:
    post(wrapped, "/a\nERROR forged \x1b[2J/chat")
    [line] = lines(caplog)
    assert "\n" not in line and "\x1b" not in line


def test_a_reply_without_a_text_that_can_be_read_is_logged_once(memory: Any, caplog: pytest.LogCaptureFixture) -> None:
    asked = b'{"model": "m", "messages": [{"role": "user", "content": "hi"}]}'
    answer = [start(headers=[(b"content-type", b"application/json")]), piece(b'{"answer": "yes"}', False)]
    wrapped = TokenMizerMiddleware(answering(answer, []), memory=memory)
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/chat/completions",
        "headers": [*JSON, (b"x-session-id", b"s")],
    }
    for _ in range(2):
        connection = Connection(request(asked))
        asyncio.run(wrapped(scope, connection.receive, connection.send))
    [line] = lines(caplog)
    assert "no text that can be read" in line and "/v1/chat/completions" in line and "confidential" not in line
    assert memory.counters()["turn_error"] == 2


def test_the_page_names_every_path_that_is_noticed() -> None:
    page = (Path(__file__).parents[2] / "docs" / "not-remembered.md").read_text(encoding="utf-8")
    listed = re.search(r"its last segment is\s+(.*?)\. At\s+most (\d+)\s+paths", page, re.DOTALL)
    assert listed is not None
    assert re.findall("`([a-z]+)`", listed[1]) == sorted(CHAT_WORDS)
    assert int(listed[2]) == PATHS_MAX
