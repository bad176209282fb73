"""Conformance: real frameworks inside."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator
from typing import Any

import anyio
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from starlette.background import BackgroundTask
from starlette.testclient import TestClient

from .driving import EVENTS, STREAM, Message, Surface, piece
from .suite import case


async def _endless() -> AsyncIterator[bytes]:
    while True:
        yield EVENTS[0]
        await asyncio.sleep(0)


@case()
async def starlette_streaming_spec23_listen_for_disconnect(surface: Surface) -> None:
    finished: list[bool] = []

    async def note() -> None:
        finished.append(True)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await Request(scope, receive).body()
        response = StreamingResponse(_endless(), media_type="text/event-stream", background=BackgroundTask(note))
        await response(scope, receive, send)

    connection = surface.connection(leave_after=5)
    await surface.call(app, connection)
    assert finished == [True]


@case()
async def starlette_streaming_disconnect_stops_generator(surface: Surface) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await Request(scope, receive).body()
        await StreamingResponse(_endless(), media_type="text/event-stream")(scope, receive, send)

    connection = surface.connection(leave_after=5)
    await surface.call(app, connection)
    assert len(connection.sent) < 50


@case("S", needs="sse_starlette")
async def sse_starlette_inside(surface: Surface) -> None:
    response = importlib.import_module("sse_starlette.sse").EventSourceResponse

    async def words() -> AsyncIterator[dict[str, str]]:
        for word in ("one", "two", "[DONE]"):
            yield {"data": word}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await Request(scope, receive).body()
        await response(words())(scope, receive, send)

    connection = await surface.call(app)
    assert connection.body == b"data: one\r\n\r\ndata: two\r\n\r\ndata: [DONE]\r\n\r\n"
    assert connection.sent[-1] == piece(more=False)


@case()
async def fastapi_testclient_end_to_end(surface: Surface) -> None:
    api = FastAPI()

    async def words() -> AsyncIterator[bytes]:
        for part in EVENTS:
            yield part

    async def answer(asked: Request) -> StreamingResponse:
        assert await asked.body() == surface.body
        return StreamingResponse(words(), media_type="text/event-stream")

    api.add_api_route(surface.scope()["path"], answer, methods=["POST"])

    def exchange() -> tuple[int, bytes]:
        with TestClient(surface.wrap(api)) as client:
            response = client.post(surface.scope()["path"], content=surface.body, headers={"x-session-id": "abc"})
            return response.status_code, response.content

    assert await asyncio.to_thread(exchange) == (200, STREAM)


@case("S", needs="django")
async def django_asgi_inside(surface: Surface) -> None:
    with importlib.import_module(".django_settings", __package__).django_with(__name__):
        connection = await surface.call(_django())
    assert connection.sent[0]["status"] == 200
    assert connection.body == surface.body + STREAM


def _django() -> Any:
    http = importlib.import_module("django.http")
    urls = importlib.import_module("django.urls")

    async def view(asked: Any) -> Any:
        async def parts() -> AsyncIterator[bytes]:
            yield asked.body
            for part in EVENTS:
                yield part

        return http.StreamingHttpResponse(parts(), content_type="text/event-stream")

    globals()["urlpatterns"] = [urls.re_path("", view)]
    return importlib.import_module("django.core.handlers.asgi").ASGIHandler()


@case("I", needs="trio")
async def trio_backend(surface: Surface) -> None:
    def on_trio() -> list[Message]:
        return anyio.run(_on_any_backend, surface, backend="trio")

    sent = await asyncio.to_thread(on_trio)
    assert b"".join(message.get("body", b"") for message in sent) == STREAM


async def _on_any_backend(surface: Surface) -> list[Message]:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": surface.body, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["body"] == surface.body
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        for part in EVENTS:
            await anyio.sleep(0)
            await send(piece(part))
        await send(piece(more=False))

    await surface.wrap(app)(surface.scope(), receive, send)
    return sent
