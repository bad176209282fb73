"""End to end: the OpenAI SDK, over a real socket, through uvicorn and FastAPI, with the middleware between."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import openai
import pytest
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse

from tests.waiting import eventually
from tokenmizer_mw.asgi import TokenMizerMiddleware
from tokenmizer_mw.store.memory import MemoryLog

from .driving import EVENTS, REPLY, STREAM
from .recorded import closed, said

ASKED = [{"role": "user", "content": "Wie heißt du?"}]
WHOLE = {
    "id": "c1",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": REPLY}, "finish_reason": "stop"}],
}


class Model:
    """The application: a model behind a chat route, told by the request's ``user`` how to behave."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.seen = threading.Event()
        self.stopped = threading.Event()
        self.api = FastAPI()
        self.api.add_api_route("/v1/chat/completions", self.answer, methods=["POST"], response_model=None)

    async def answer(self, request: Request) -> StreamingResponse | JSONResponse:
        body = await request.json()
        self.bodies.append(body)
        if not body.get("stream"):
            return JSONResponse(WHOLE)
        speak = {"waits": self.waits, "endless": self.endless, "crashes": self.crashes}.get(
            body.get("user"), self.speaks
        )
        return StreamingResponse(speak(), media_type="text/event-stream")

    async def speaks(self) -> AsyncIterator[bytes]:
        for event in EVENTS:
            yield event

    async def waits(self) -> AsyncIterator[bytes]:
        yield EVENTS[0]
        assert await asyncio.to_thread(self.seen.wait, 20)  # until the client says that it has the first token
        for event in EVENTS[1:]:
            yield event

    async def endless(self) -> AsyncIterator[bytes]:
        try:
            while True:
                yield EVENTS[0]
                await asyncio.sleep(0.005)
        finally:
            self.stopped.set()

    async def crashes(self) -> AsyncIterator[bytes]:
        yield EVENTS[0]
        raise LookupError("the model's own error")


@pytest.fixture(params=[("h11", "asyncio"), ("auto", "auto")], ids=["plain", "fastest installed"])
def served(request: pytest.FixtureRequest, memory: Any) -> Iterator[tuple[Model, str]]:
    model = Model()
    model.api.add_middleware(TokenMizerMiddleware, memory=memory)
    http, loop = request.param
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(model.api, http=http, ws="none", loop=loop, log_level="critical")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield model, f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()


@pytest.fixture
def model(served: tuple[Model, str]) -> Model:
    return served[0]


@pytest.fixture
def client(served: tuple[Model, str]) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=served[1], api_key="none", max_retries=0) as client:
        yield client


def _stream(client: openai.OpenAI, user: str = "", **options: Any) -> openai.Stream[Any]:
    return client.chat.completions.create(model="gpt-4o", messages=ASKED, stream=True, user=user, **options)  # type: ignore


def _text(stream: openai.Stream[Any]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in stream)


def test_streamed_chat_is_remembered(model: Model, client: openai.OpenAI, log: MemoryLog) -> None:
    assert _text(_stream(client, extra_body={"session_id": "sdk"})) == REPLY
    assert said(log, "sdk") == [("user", "Wie heißt du?"), ("assistant", REPLY)]
    assert closed(log, "sdk") == [("complete", "stop")]
    assert "session_id" not in model.bodies[0]


def test_whole_reply_is_remembered(client: openai.OpenAI, log: MemoryLog) -> None:
    reply = client.chat.completions.create(
        model="gpt-4o",
        messages=ASKED,  # type: ignore[arg-type]
        extra_headers={"X-Session-Id": "sdk"},
    )
    assert reply.choices[0].message.content == REPLY
    assert said(log, "sdk")[1] == ("assistant", REPLY)


def test_history_that_is_sent_again_adds_nothing(client: openai.OpenAI, log: MemoryLog) -> None:
    history: list[Any] = []
    for number in range(3):
        history.append({"role": "user", "content": f"question {number}"})
        stream = client.chat.completions.create(
            model="gpt-4o", messages=history, stream=True, extra_headers={"X-Session-Id": "sdk"}
        )
        history.append({"role": "assistant", "content": _text(stream)})
    assert [text for _, text in said(log, "sdk")] == [message["content"] for message in history]


def test_tokens_arrive_while_the_model_still_speaks(model: Model, client: openai.OpenAI) -> None:
    words = []
    for chunk in _stream(client, "waits", extra_headers={"X-Session-Id": "sdk"}):
        words.append(chunk.choices[0].delta.content or "")
        model.seen.set()
    assert "".join(words) == REPLY


def test_client_that_leaves_frees_the_model(model: Model, client: openai.OpenAI, memory: Any, log: MemoryLog) -> None:
    stream = _stream(client, "endless", extra_headers={"X-Session-Id": "sdk"})
    next(iter(stream))
    stream.close()
    assert model.stopped.wait(20)
    assert eventually(lambda: closed(log, "sdk") == [("aborted", "")])
    assert said(log, "sdk")[1][1].startswith("Ich ")


def test_crash_of_the_model_cuts_the_stream(client: openai.OpenAI, log: MemoryLog) -> None:
    with pytest.raises(openai.APIConnectionError):
        _text(_stream(client, "crashes", extra_headers={"X-Session-Id": "sdk"}))
    assert eventually(lambda: closed(log, "sdk") == [("error", "")])


def test_bytes_on_the_wire_are_the_models(served: tuple[Model, str]) -> None:
    body = {"model": "m", "messages": ASKED, "stream": True, "user": ""}
    with contextlib.closing(httpx2.Client()) as client:
        for headers in ({}, {"X-Session-Id": "wire"}):
            response = client.post(served[1] + "/chat/completions", json=body, headers=headers)
            assert response.content == STREAM
            assert set(response.headers) == {"date", "server", "content-type", "transfer-encoding"}
