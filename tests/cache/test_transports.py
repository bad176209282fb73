"""Answers given again by the outgoing transports, of both libraries and colours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import openai
import pytest

from tests.transport.faces import FACES, Client, Face
from tests.upstream.server import Upstream
from tests.waiting import eventually
from tokenmizer_mw import SessionMemory, Settings, async_openai_client, openai_client

HEADER = {"X-Session-Id": "one"}


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with Upstream() as running:
        yield running


@pytest.fixture
def memory() -> Iterator[SessionMemory]:
    memory = SessionMemory.open("memory://", Settings(cache="exact"))
    yield memory
    memory.close()


@pytest.fixture(params=FACES, ids=lambda face: face.name)
def connect(request: pytest.FixtureRequest) -> Iterator[Callable[[SessionMemory], Client]]:
    opened: list[Client] = []
    face: Face = request.param

    def open_one(memory: SessionMemory) -> Client:
        opened.append(Client(face, memory=memory))
        return opened[-1]

    yield open_one
    for client in opened:
        client.close()


def chat(model: str = "fake-n3", **members: Any) -> dict[str, Any]:
    question = {"role": "user", "content": "Which database?"}
    return {"model": model, "stream": True, "messages": [question], **members}


def ask(
    client: Client, memory: SessionMemory, upstream: Upstream, body: dict[str, Any], headers: dict[str, str] = HEADER
) -> tuple[str | None, bytes]:
    """The header that says how the answer was found, and what of the answer can be read."""
    answer = client.post(f"{upstream.url}/v1/chat/completions", json=body, headers=headers)
    content = b""
    with suppress(client.face.library.HTTPError):
        content = answer.read()
    answer.close()
    assert memory.flush(20)
    return answer.response.headers.get("x-tokenmizer-cache"), content


@pytest.mark.parametrize("model", ["fake-n3", "fake-n3-gzip", "fake-n5-split7"])
def test_the_same_request_is_not_sent_again(
    model: str, connect: Callable[..., Client], upstream: Upstream, memory: SessionMemory
) -> None:
    client = connect(memory)
    before = upstream.statistics.requests
    wishes = (HEADER, {**HEADER, "x-tokenmizer-cache": ""}, HEADER)
    read = [ask(client, memory, upstream, chat(model), headers) for headers in wishes]
    assert [way for way, _ in read] == [None, "hit; exact", "hit; exact"]
    assert read[0][1] == read[1][1] == read[2][1] and b"[DONE]" in read[0][1]
    assert upstream.statistics.requests - before == 1
    assert "x-tokenmizer-cache" not in upstream.calls[-1].headers
    assert memory.graph("one") is not None
    assert eventually(lambda: memory.counters().get("turn_complete", 0) == 3)


def test_whole_replies(connect: Callable[..., Client], upstream: Upstream, memory: SessionMemory) -> None:
    client = connect(memory)
    answers = [ask(client, memory, upstream, chat(stream=False)) for _ in range(2)]
    assert answers[1] == ("hit; exact", answers[0][1])


@pytest.mark.parametrize("model", ["fake-n3-len", "fake-n9-cut", "fake-n3-errmid", "fake-tool", "fake-s500"])
def test_what_is_not_complete_is_sent_again(
    model: str, connect: Callable[..., Client], upstream: Upstream, memory: SessionMemory
) -> None:
    client = connect(memory)
    before = upstream.statistics.requests
    for _ in range(2):
        assert ask(client, memory, upstream, chat(model))[0] is None
    assert upstream.statistics.requests - before == 2
    assert memory.service.answers is not None and not memory.service.answers.flights._flights


def test_another_host_is_another_request(
    connect: Callable[..., Client], upstream: Upstream, memory: SessionMemory
) -> None:
    client = connect(memory)
    with Upstream() as second:
        for each in (upstream, second):
            assert ask(client, memory, each, chat())[0] is None


def test_the_sdk_hears_an_answer_again(upstream: Upstream, memory: SessionMemory) -> None:
    with openai_client(memory, base_url=f"{upstream.url}/v1", api_key="k", max_retries=0) as client:
        texts = []
        for _ in range(2):
            stream = client.chat.completions.create(
                model="fake-n3", messages=[{"role": "user", "content": "Hello?"}], stream=True, extra_headers=HEADER
            )
            texts.append("".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices))
            assert memory.flush(20)
    assert texts[0] == texts[1] != ""
    assert memory.counters()["cache_hit_exact"] == 1


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_asynchronous_sdk_hears_an_answer_again(
    upstream: Upstream, memory: SessionMemory, anyio_backend: str
) -> None:
    client: openai.AsyncOpenAI = async_openai_client(memory, base_url=f"{upstream.url}/v1", api_key="k", max_retries=0)
    async with client:
        for _ in range(2):
            await client.chat.completions.create(
                model="fake-n3", messages=[{"role": "user", "content": "Hello?"}], extra_headers=HEADER
            )
            assert memory.flush(20)
    assert memory.counters()["cache_hit_exact"] == 1
