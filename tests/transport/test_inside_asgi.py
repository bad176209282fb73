"""Outgoing calls of an application that the middleware looks after: whose they are, and nothing twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket

from tests.upstream.server import Upstream
from tokenmizer_mw import AsyncTransport, SessionMemory, TokenMizerMiddleware
from tokenmizer_mw.session.naming import find_session_context

from .conftest import Kept

QUESTION = {"role": "user", "content": "Which database?"}
CHAT = {"model": "fake-n3", "stream": True, "messages": [QUESTION]}
OWN = {"model": "fake-n2", "messages": [{"role": "user", "content": "Give this chat a title."}]}
HEADER = {"x-session-id": "asked"}


class App:
    """A chat backend: relays chats, makes calls of its own on another route, and in a socket."""

    def __init__(self, memory: SessionMemory, upstream: str, **options: Any) -> None:
        self.memory = memory
        self.url = f"{upstream}/v1/chat/completions"
        self.own_session: str | None = None
        routes = [
            Route("/v1/chat/completions", self.relay, methods=["POST"]),
            Route("/title", self.title, methods=["POST"]),
            WebSocketRoute("/socket", self.socket),
        ]
        self.app = Starlette(routes=routes)
        self.app.add_middleware(TokenMizerMiddleware, memory=memory, **options)

    async def relay(self, request: Request) -> Response:
        body = await request.body()
        if self.own_session is not None:
            with self.memory.session(self.own_session):
                await self.call(OWN)

        async def answer() -> Any:
            client = httpx2.AsyncClient(transport=AsyncTransport(self.memory))
            async with client, client.stream("POST", self.url, content=body, headers=HEADER) as response:
                async for piece in response.aiter_bytes():
                    yield piece

        return StreamingResponse(answer(), media_type="text/event-stream")

    async def title(self, request: Request) -> Response:
        return JSONResponse(await self.call(OWN))

    async def socket(self, websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_json(await self.call(OWN))
        await websocket.close()

    async def call(self, body: Any) -> Any:
        async with httpx2.AsyncClient(transport=AsyncTransport(self.memory)) as client:
            return (await client.post(self.url, json=body)).json()


@pytest.fixture
def serve(kept: Kept, upstream: Upstream) -> Callable[..., tuple[App, TestClient]]:
    def serving(**options: Any) -> tuple[App, TestClient]:
        app = App(kept.memory, upstream.url, **options)
        return app, TestClient(app.app)

    return serving


def test_relayed_chat_is_recorded_once(serve: Callable[..., Any], kept: Kept) -> None:
    _, client = serve()
    assert client.post("/v1/chat/completions", json=CHAT, headers=HEADER).text.endswith("data: [DONE]\n\n")
    assert kept.ended("asked") == [("complete", "stop")]
    assert len(kept.said("asked")) == 2
    assert kept.memory.counters() == {"turn_complete": 1}


def test_chat_that_the_middleware_lets_pass_is_remembered_on_its_way_out(serve: Callable[..., Any], kept: Kept) -> None:
    """Without a session the middleware does nothing; the outgoing call names one."""
    _, client = serve()
    client.post("/v1/chat/completions", json=CHAT)
    assert kept.ended("asked") == [("complete", "stop")]
    assert kept.memory.counters() == {"no_session": 1, "turn_complete": 1}


def test_session_bound_inside_a_chat_counts(serve: Callable[..., Any], kept: Kept) -> None:
    app, client = serve()
    app.own_session = "helper"
    client.post("/v1/chat/completions", json=CHAT, headers=HEADER)
    assert [role for role, _ in kept.said("helper")] == ["user", "assistant"]
    assert len(kept.said("asked")) == 2


def test_other_routes_are_bound_by_header(serve: Callable[..., Any], kept: Kept) -> None:
    _, client = serve()
    client.post("/title", headers=HEADER)
    assert kept.said("asked")[0] == ("user", "Give this chat a title.")
    client.post("/title")
    assert kept.memory.counters() == {"no_session": 1, "turn_complete": 1}


def test_other_routes_are_bound_by_the_callables(serve: Callable[..., Any], kept: Kept) -> None:
    asked = []

    def session(scope: Any) -> str:
        asked.append(scope["path"])
        return "called"

    _, client = serve(session=session, tenant=lambda scope: "acme")
    client.post("/title", headers=HEADER)
    client.post("/elsewhere")
    assert kept.ended("called", "acme") == [("complete", "stop")]
    assert asked == ["/title"]


def test_sockets_are_bound(serve: Callable[..., Any], kept: Kept) -> None:
    _, client = serve()
    with client.websocket_connect("/socket", headers=HEADER) as socket:
        assert socket.receive_json()["choices"]
    assert kept.ended("asked") == [("complete", "stop")]


def test_callable_that_fails_leaves_the_call_alone(serve: Callable[..., Any], kept: Kept) -> None:
    _, client = serve(session=lambda scope: scope["missing"])
    assert client.post("/title").json()["choices"]
    assert kept.memory.counters() == {"open_failed": 1}


def test_wrapped_twice(kept: Kept, upstream: Upstream) -> None:
    app = App(kept.memory, upstream.url)
    app.app.add_middleware(TokenMizerMiddleware, memory=kept.memory)
    TestClient(app.app).post("/v1/chat/completions", json=CHAT, headers=HEADER)
    assert kept.memory.counters() == {"turn_complete": 1}


def test_other_memory_keeps_its_own(open_kept: Callable[..., Kept], upstream: Upstream, kept: Kept) -> None:
    """An application may remember incoming chats in one place and its own calls in another."""
    outgoing = open_kept()
    app = App(outgoing.memory, upstream.url)
    wrapped = TokenMizerMiddleware(app.app, memory=kept.memory)
    app.app.user_middleware.clear()
    with outgoing.memory.session("own"):
        pass
    TestClient(wrapped).post("/v1/chat/completions", json=CHAT, headers=HEADER)
    assert kept.ended("asked") == [("complete", "stop")]
    assert outgoing.ended("asked") == [("complete", "stop")]


def test_nothing_stays_bound(serve: Callable[..., Any], kept: Kept) -> None:
    _, client = serve()
    client.post("/title", headers=HEADER)
    client.post("/v1/chat/completions", json=CHAT, headers=HEADER)
    assert find_session_context(kept.memory) is None
