"""Among other middlewares, in every order: the same bytes as without us, and one turn that says what was said."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from opentelemetry.instrumentation.asgi import OpenTelemetryMiddleware
from sentry_sdk.integrations.asgi import SentryAsgiMiddleware
from sse_starlette.sse import EventSourceResponse
from starlette.applications import Starlette
from starlette.authentication import AuthCredentials, SimpleUser
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount, Route

from tokenmizer_mw.asgi import TokenMizerMiddleware
from tokenmizer_mw.store.memory import MemoryLog

from .driving import CHAT_BODY, EVENTS, REPLY, App, Connection, Message, Surface, request, streaming
from .recorded import ASKED, closed, said

WHOLE = json.dumps(
    {"choices": [{"message": {"role": "assistant", "content": REPLY}, "finish_reason": "stop"}], "pad": "x" * 600},
    ensure_ascii=False,
).encode()
TURN = [("user", ASKED), ("assistant", REPLY)]
OURS = "ours"


class Wrapping(BaseHTTPMiddleware):
    """What people write first."""

    async def dispatch(self, request: Any, call_next: Any) -> Any:
        response = await call_next(request)
        response.headers["x-wrapped"] = "yes"
        return response


OTHERS: dict[str, Callable[[App], App]] = {
    "gzip": lambda app: GZipMiddleware(app, minimum_size=100),
    "cors": lambda app: CORSMiddleware(app, allow_origins=["https://client.test"], expose_headers=["x-wrapped"]),
    "sentry": SentryAsgiMiddleware,
    "opentelemetry": OpenTelemetryMiddleware,
    "base": Wrapping,
}

APPS: dict[str, Callable[[], App]] = {
    "stream": streaming,
    "whole": lambda: streaming([WHOLE], [(b"content-type", b"application/json")]),
    "whole in pieces": lambda: streaming([WHOLE[:90], WHOLE[90:]], [(b"content-type", b"application/json")]),
}


async def _call(app: App) -> list[Message]:
    surface = Surface("chat", lambda inner: inner)
    headers = surface.headers((b"accept-encoding", b"gzip"), (b"origin", b"https://client.test"))
    connection = surface.connection()
    await app(surface.scope(headers=headers), connection.receive, connection.send)
    return [_timeless(message) for message in connection.sent]


def _timeless(message: Message) -> Message:
    """Without the time that stands in the head of what gzip writes."""
    body = message.get("body", b"")
    return {**message, "body": body[:4] + body[8:]} if body.startswith(b"\x1f\x8b") else message


def _stack(names: tuple[str, ...], app: App, ours: Callable[[App], App]) -> App:
    """``names`` from the outside in."""
    for name in reversed(names):
        app = ours(app) if name == OURS else OTHERS[name](app)
    return app


def _orders() -> Iterator[tuple[str, ...]]:
    for other in OTHERS:
        yield from ((OURS, other), (other, OURS))
    yield from itertools.permutations((OURS, "gzip", "cors", "sentry", "opentelemetry"))


@pytest.mark.parametrize("kind", APPS)
def test_every_order_gives_the_same_bytes_and_one_turn(kind: str, open_memory: Any) -> None:
    for order in _orders():
        log = MemoryLog()
        memory = open_memory(log=log)
        without = asyncio.run(_call(_stack(order, APPS[kind](), lambda app: app)))
        stack = _stack(order, APPS[kind](), lambda app, memory=memory: TokenMizerMiddleware(app, memory=memory))
        assert asyncio.run(_call(stack)) == without, order
        assert memory.flush()
        assert said(log) == TURN, order
        assert closed(log) == [("complete", "stop")], order


def test_gzip_inside_is_what_the_client_gets_and_a_copy_is_read(memory: Any, log: MemoryLog) -> None:
    stack = TokenMizerMiddleware(OTHERS["gzip"](APPS["whole"]()), memory=memory)
    surface = Surface("chat", lambda inner: inner)
    connection = surface.connection()
    scope = surface.scope(headers=surface.headers((b"accept-encoding", b"gzip")))
    asyncio.run(stack(scope, connection.receive, connection.send))  # type: ignore[arg-type]
    assert dict(connection.sent[0]["headers"])[b"content-encoding"] == b"gzip"
    assert gzip.decompress(connection.body) == WHOLE
    assert said(log) == TURN


# -- applications ----------------------------------------------------------------------------------------------


async def _events() -> AsyncIterator[bytes]:
    for part in EVENTS:
        yield part


async def _answer(request: Request) -> StreamingResponse:
    assert (await request.json())["stream"]
    return StreamingResponse(_events(), media_type="text/event-stream")


def _chat(app: App, path: str = "/v1/chat/completions", **scope: Any) -> Connection:
    async def call() -> Connection:
        surface = Surface("chat", lambda inner: inner)
        given = {"headers": surface.headers((b"accept-encoding", b"gzip")), **scope}
        return await surface.call(app, Connection(request(CHAT_BODY)), path=path, **given)

    return asyncio.run(call())


def test_middleware_that_is_added_later_stands_further_out(open_memory: Any) -> None:
    seen: dict[str, list[bytes]] = {"before": [], "after": []}

    class Seeing:
        def __init__(self, app: App, notes: list[bytes]) -> None:
            self.app, self.notes = app, notes

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            self.notes.append(json.dumps("tokenmizer_mw" in scope).encode())
            await self.app(scope, receive, send)

    api = FastAPI()
    api.add_api_route("/v1/chat/completions", _answer, methods=["POST"], response_model=None)
    api.add_middleware(Seeing, notes=seen["before"])  # type: ignore[arg-type]
    api.add_middleware(TokenMizerMiddleware, memory=open_memory())
    api.add_middleware(Seeing, notes=seen["after"])  # type: ignore[arg-type]
    assert _chat(api).body == b"".join(EVENTS)
    assert seen == {"before": [b"true"], "after": [b"false"]}


@pytest.mark.parametrize("ours_last", [False, True])
def test_fastapi_beside_gzip_in_both_orders(ours_last: bool, memory: Any, log: MemoryLog) -> None:
    api = FastAPI()
    api.add_api_route("/v1/chat/completions", _whole, methods=["POST"], response_model=None)
    adding = [
        lambda: api.add_middleware(TokenMizerMiddleware, memory=memory),
        lambda: api.add_middleware(GZipMiddleware, minimum_size=100),
    ]
    for add in reversed(adding) if ours_last else adding:
        add()
    assert json.loads(gzip.decompress(_chat(api).body)) == json.loads(WHOLE)
    assert said(log) == TURN


async def _whole(request: Request) -> Any:
    return json.loads(WHOLE)


def test_who_the_user_is_can_name_the_session_where_that_is_found_out_further_out(memory: Any, log: MemoryLog) -> None:
    class Backend:
        async def authenticate(self, conn: Any) -> Any:
            return AuthCredentials(["authenticated"]), SimpleUser("ada")

    def session(scope: Any) -> str:
        return str(scope["user"].display_name)

    app = Starlette(
        routes=[Route("/v1/chat/completions", _answer, methods=["POST"])],
        middleware=[
            Middleware(AuthenticationMiddleware, backend=Backend()),  # type: ignore[arg-type]
            Middleware(TokenMizerMiddleware, memory=memory, session=session),
        ],
    )
    assert _chat(app).body == b"".join(EVENTS)
    assert said(log, "ada") == TURN


def test_mounted_applications(memory: Any, log: MemoryLog) -> None:
    inner = FastAPI()
    inner.add_api_route("/chat/completions", _answer, methods=["POST"], response_model=None)
    outer = Starlette(routes=[Mount("/api/v1", app=TokenMizerMiddleware(inner, memory=memory))])
    for number, scope in enumerate(
        [
            {"path": "/api/v1/chat/completions"},
            {"path": "/front/api/v1/chat/completions", "root_path": "/front"},
        ]
    ):
        connection = _chat(outer, headers=_named(f"s{number}"), **scope)
        assert connection.body == b"".join(EVENTS)
        assert said(log, f"s{number}") == TURN


def test_wrapped_outside_and_in_a_mount_is_one_turn(open_memory: Any, log: MemoryLog) -> None:
    inner_log = MemoryLog()
    outer_memory, inner_memory = open_memory(), open_memory(log=inner_log)
    inner = FastAPI()
    inner.add_api_route("/chat/completions", _answer, methods=["POST"], response_model=None)
    inner.add_middleware(TokenMizerMiddleware, memory=inner_memory)
    outer = FastAPI()
    outer.mount("/v1", inner)
    outer.add_middleware(TokenMizerMiddleware, memory=outer_memory)
    assert _chat(outer).body == b"".join(EVENTS)
    assert inner_memory.flush()
    assert said(log) == TURN
    assert said(inner_log) == []


def test_events_of_sse_starlette(memory: Any, log: MemoryLog) -> None:
    async def words() -> AsyncIterator[dict[str, str]]:
        for part in EVENTS:
            yield {"data": part.decode().removeprefix("data: ").removesuffix("\n\n")}

    async def answer(request: Request) -> EventSourceResponse:
        return EventSourceResponse(words(), ping=1, sep="\n")

    app = Starlette(
        routes=[Route("/v1/chat/completions", answer, methods=["POST"])],
        middleware=[Middleware(TokenMizerMiddleware, memory=memory)],
    )
    assert _chat(app).body == b"".join(EVENTS)
    assert said(log) == TURN
    assert closed(log) == [("complete", "stop")]


def test_route_that_does_not_exist_is_answered_by_the_framework(memory: Any, log: MemoryLog) -> None:
    app = FastAPI()
    app.add_middleware(TokenMizerMiddleware, memory=memory)
    connection = _chat(app)
    assert connection.sent[0]["status"] == 404
    assert closed(log) == [] and memory.counters() == {"request_refused": 1}


def _named(session: str) -> list[tuple[bytes, bytes]]:
    return [(b"content-type", b"application/json"), (b"x-session-id", session.encode())]
