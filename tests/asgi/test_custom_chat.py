"""Chat routes with shapes of their own, in FastAPI and Starlette under uvicorn, with the middleware between."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal

import httpx2
import pytest
import uvicorn
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

from tokenmizer_mw import CustomChat, SessionMemory, TokenMizerMiddleware
from tokenmizer_mw.store.memory import MemoryLog

from .recorded import closed, said

WORDS = ["Wir ", "nehmen ", "Redis \U0001f642."]
ANSWER = "".join(WORDS)
ASKED = {"x-session-id": "s"}


class Turn(BaseModel):
    """What the application takes for a turn, and nothing else."""

    model_config = {"extra": "forbid"}

    author: Literal["human", "bot"]
    body: str
    hidden: bool


class Talk(BaseModel):
    turns: list[Turn]
    lang: str = "de"


api = FastAPI()
talks: list[Talk] = []


@api.post("/talk")
async def talk(sent: Talk) -> dict[str, Any]:
    talks.append(sent)
    return {"answer": {"text": ANSWER}, "tokens": 3}


@api.post("/stream")
async def stream(sent: Talk) -> StreamingResponse:
    async def lines() -> AsyncIterator[str]:
        for word in WORDS:
            yield json.dumps({"token": word, "last": False}) + "\n"
        yield json.dumps({"token": "", "last": True}) + "\n"

    return StreamingResponse(lines(), media_type="application/x-ndjson")


async def ask(request: Request) -> Response:
    if (await request.json())["prompt"] == "fail":
        return PlainTextResponse("no model", 503)

    async def words() -> AsyncIterator[str]:
        for word in WORDS:
            yield word

    return StreamingResponse(words(), media_type="text/plain")


async def events(request: Request) -> Response:
    assert (await request.json())["prompt"]

    async def named() -> AsyncIterator[str]:
        yield 'event: meta\ndata: {"id": 1}\n\n'
        for word in WORDS:
            yield f"event: token\ndata: {word}\n\n"
        yield "event: end\ndata: {}\n\n"

    return StreamingResponse(named(), media_type="text/event-stream")


async def nested(request: Request) -> Response:
    body = await request.json()
    return JSONResponse({"reply": f"{len(body['chat']['turns'])} turns"})


app = Starlette(
    routes=[
        Mount("/api", api),
        Route("/ask", ask, methods=["POST"]),
        Route("/events", events, methods=["POST"]),
        Route("/nested", nested, methods=["POST"]),
    ]
)
TURNS: dict[str, Any] = {
    "messages": "turns",
    "role": "author",
    "content": "body",
    "roles": {"human": "user", "bot": "assistant"},
    "extra": {"hidden": True},
}
ROUTES = {
    "/talk": CustomChat(**TURNS, reply="answer.text"),
    "/stream": CustomChat(**TURNS, delta="token", done="last"),
    "/ask": CustomChat(question="prompt", reply=""),
    "/events": CustomChat(question="prompt", delta="", event="token", done="end"),
    "/nested": CustomChat(messages="chat.turns", reply="reply"),
}


@pytest.fixture
def memory(open_memory: Any) -> SessionMemory:
    memory: SessionMemory = open_memory(context_window=1_000)
    return memory


@pytest.fixture
def client(memory: SessionMemory) -> Iterator[httpx2.Client]:
    talks.clear()
    wrapped = TokenMizerMiddleware(app, memory=memory, routes=ROUTES)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(wrapped, ws="none", log_level="critical"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        with httpx2.Client(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", headers=ASKED) as client:
            yield client
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()


def human(text: str) -> dict[str, object]:
    return {"author": "human", "body": text, "hidden": False}


def bot(text: str) -> dict[str, object]:
    return {"author": "bot", "body": text, "hidden": False}


@pytest.mark.parametrize("path", ["/api/talk", "/api/stream"])
def test_a_history_that_is_sent_again_adds_nothing(client: httpx2.Client, log: MemoryLog, path: str) -> None:
    history: list[dict[str, object]] = []
    for number in range(3):
        history.append(human(f"Frage {number}"))
        assert client.post(path, json={"turns": history}).status_code == 200
        history.append(bot(ANSWER))
    assert said(log, "s") == [("user" if turn["author"] == "human" else "assistant", turn["body"]) for turn in history]
    assert closed(log, "s") == [("complete", "")] * 3


def test_the_application_takes_the_block_for_one_of_its_turns(
    client: httpx2.Client, log: MemoryLog, memory: SessionMemory
) -> None:
    history: list[dict[str, object]] = []
    for number in range(14):
        words = f"We use port {8000 + number} for part {number}. " + "The orders stay in one table, as before. " * 6
        history += [human(words), bot("Understood.")]
    for question in ("What is next?", "And then?"):
        history.append(human(question))
        sent = {"turns": history, "session_id": "s", "lang": "en"}
        assert client.post("/api/talk", json=sent, headers={"x-session-id": ""}).status_code == 200
        history.append(bot(ANSWER))
    assert memory.counters()["request_rewritten"] == 2
    assert [len(talk.turns) < 20 for talk in talks] == [True, True]
    assert [talk.lang for talk in talks] == ["en", "en"]
    block = talks[0].turns[0]
    assert (block.author, block.hidden) == ("human", True)
    assert "port 80" in block.body
    assert talks[1].turns[: len(talks[0].turns)] == talks[0].turns
    assert talks[0].turns[-1] == Turn(author="human", body="What is next?", hidden=False)
    assert len(said(log, "s")) == len(history)


@pytest.mark.parametrize("path", ["/ask", "/events"])
def test_questions_alone_add_up(client: httpx2.Client, log: MemoryLog, path: str) -> None:
    questions = ["ja", "Welche Queue?", "ja", "ja"]
    for question in questions:
        response = client.post(path, json={"prompt": question, "session_id": "s"})
        assert response.status_code == 200
    expected = [turn for question in questions for turn in (("user", question), ("assistant", ANSWER))]
    assert said(log, "s") == expected
    assert closed(log, "s") == [("complete", "")] * 4


def test_a_long_session_of_questions_is_never_rewritten(
    client: httpx2.Client, memory: SessionMemory, log: MemoryLog
) -> None:
    for number in range(6):
        prompt = f"Teil {number}: " + "Die Tabelle bleibt, wie sie ist. " * 200
        assert client.post("/ask", json={"prompt": prompt}).text == ANSWER
    assert "request_rewritten" not in memory.counters()
    assert len(said(log, "s")) == 12


def test_what_failed_is_not_a_turn_and_may_be_asked_again(client: httpx2.Client, log: MemoryLog) -> None:
    assert client.post("/ask", json={"prompt": "fail"}).status_code == 503
    assert client.post("/ask", json={"prompt": "fail"}).status_code == 503
    assert client.post("/ask", json={"prompt": "Weiter"}).text == ANSWER
    assert said(log, "s") == [("user", "fail"), ("user", "Weiter"), ("assistant", ANSWER)]
    assert closed(log, "s") == [("error", ""), ("error", ""), ("complete", "")]


def test_a_history_that_lies_deeper_is_remembered_and_left_alone(
    client: httpx2.Client, memory: SessionMemory, log: MemoryLog
) -> None:
    turns = [{"role": "user", "content": "word " * 300}, {"role": "assistant", "content": "Yes."}] * 8
    turns.append({"role": "user", "content": "And now?"})
    assert client.post("/nested", json={"chat": {"turns": turns}}).json() == {"reply": "17 turns"}
    assert "request_rewritten" not in memory.counters()
    assert said(log, "s")[-1] == ("assistant", "17 turns")


def test_a_body_of_another_shape_passes(client: httpx2.Client, memory: SessionMemory) -> None:
    assert client.post("/api/talk", json={"turns": []}).status_code == 200
    assert client.post("/nested", json={"chat": {"turns": {}}}).json() == {"reply": "0 turns"}
    assert memory.counters()["malformed_request"] == 1


def test_a_reply_that_is_looked_for_in_the_wrong_place_is_counted(memory: SessionMemory) -> None:
    routes = {"/stream": CustomChat(**TURNS, delta="tokn", done="last")}
    transport = httpx2.ASGITransport(app=TokenMizerMiddleware(app, memory=memory, routes=routes))

    async def ask() -> None:
        async with httpx2.AsyncClient(transport=transport, base_url="http://test", headers=ASKED) as client:
            assert (await client.post("/api/stream", json={"turns": [human("Frage")]})).status_code == 200

    asyncio.run(ask())
    assert memory.flush(10)
    assert memory.counters()["reply_empty"] == 1
