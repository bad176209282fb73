"""The real SDKs over our transports and through the Anthropic SDK's middleware, against the scripted upstream."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import anthropic
import httpx
import httpx2
import openai
import pytest

from tests.upstream.answer import Scripted
from tests.upstream.server import Upstream
from tests.upstream.steering import Steering
from tests.waiting import eventually
from tokenmizer_mw import (
    AsyncHttpxTransport,
    AsyncTransport,
    HttpxTransport,
    Transport,
    anthropic_middleware,
    async_openai_client,
    openai_client,
)

from .conftest import Kept

ASKED: list[Any] = [{"role": "user", "content": "Which database?"}]
USER = ("user", "Which database?")


class Done:
    """What a synchronous call returns, for tests that await either colour."""

    def __init__(self, value: Any) -> None:
        self.value = value


async def settled(value: Any) -> Any:
    return await value if isinstance(value, Awaitable) else value


async def items(stream: Any) -> AsyncIterator[Any]:
    if hasattr(stream, "__aiter__"):
        async for item in stream:
            yield item
    else:
        for item in stream:
            yield item


@pytest.fixture(params=["openai", "openai async", "openai on httpx", "openai on httpx async"])
def chatting(request: pytest.FixtureRequest, kept: Kept, upstream: Upstream) -> Iterator[Any]:
    """An OpenAI client of each kind."""
    options: dict[str, Any] = {"base_url": f"{upstream.url}/v1", "api_key": "none"}
    memory = kept.memory
    match request.param:
        case "openai":
            yield openai_client(memory, **options)
        case "openai async":
            yield async_openai_client(memory, **options)
        case "openai on httpx":
            yield openai.OpenAI(http_client=httpx.Client(transport=HttpxTransport(memory)), **options)  # type: ignore[arg-type]
        case _:
            client: Any = httpx.AsyncClient(transport=AsyncHttpxTransport(memory))
            yield openai.AsyncOpenAI(http_client=client, **options)


async def ask(client: Any, model: str = "fake-n3", messages: list[Any] = ASKED, **more: Any) -> Any:
    return await settled(client.chat.completions.create(model=model, messages=messages, **more))


async def spoken(client: Any, model: str = "fake-n3", messages: list[Any] = ASKED, **more: Any) -> str:
    """The text of a streamed reply as the SDK tells it."""
    stream = await ask(client, model, messages, stream=True, **more)
    return "".join([chunk.choices[0].delta.content or "" async for chunk in items(stream) if chunk.choices])


def run(client: Any, work: Callable[[], Awaitable[Any]]) -> Any:
    """Run ``work`` and close the client on the same loop."""

    async def both() -> Any:
        try:
            return await work()
        finally:
            await settled(client.close())

    return asyncio.run(both())


@pytest.mark.parametrize("mode", ["", "-split7", "-crlf", "-gzip", "-ka", "-usage", "-uni"])
def test_openai_streams(chatting: Any, kept: Kept, session: str, mode: str) -> None:
    async def work() -> str:
        with kept.memory.session(session):
            return await spoken(chatting, f"fake-n4{mode}")

    text = run(chatting, work)
    assert kept.said(session) == [USER, ("assistant", text)]
    assert kept.ended(session) == [("complete", "stop")]


def test_openai_whole_with_tools(chatting: Any, kept: Kept, session: str) -> None:
    async def work() -> str:
        with kept.memory.session(session):
            first = (await ask(chatting, "fake-n3-tool")).choices[0].message
            called = first.model_dump(exclude_none=True)
            result = {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "PostgreSQL"}
            last = await ask(chatting, "fake-n3-tool", [*ASKED, called, result])
            return str(last.choices[0].message.content)

    text = run(chatting, work)
    assert [role for role, _ in kept.said(session)] == ["user", "assistant", "tool", "assistant"]
    assert kept.said(session)[-1] == ("assistant", text)
    assert kept.ended(session) == [("complete", "tool_calls"), ("complete", "stop")]


def test_openai_names_sessions(chatting: Any, kept: Kept, upstream: Upstream) -> None:
    async def work() -> None:
        await spoken(chatting, extra_headers={"x-session-id": "header"})
        await ask(chatting, extra_body={"session_id": "field"})

    run(chatting, work)
    assert kept.ended("header") == kept.ended("field") == [("complete", "stop")]
    assert all("x-session-id" not in call.headers and b"session_id" not in call.body for call in upstream.calls)


def test_openai_retries_are_one_turn(chatting: Any, kept: Kept, session: str, upstream: Upstream) -> None:
    """Too many requests, an error of the server, and then the answer; a body that is reset counts as one, too."""
    failing = [Steering(status=429), Steering(status=500)]
    upstream.script.extend(Scripted(steering=each) for each in failing)

    async def work() -> str:
        with kept.memory.session(session):
            text = await spoken(chatting)
            upstream.script.extend([Scripted(steering=Steering(modes=frozenset({"rst"}))), Scripted()])
            again = [*ASKED, {"role": "assistant", "content": text}, {"role": "user", "content": "And the queue?"}]
            return str((await ask(chatting, messages=again)).choices[0].message.content)

    text = run(chatting, work)
    assert len(upstream.calls) == 5
    assert [call.headers.get("x-stainless-retry-count") for call in upstream.calls] == ["0", "1", "2", "0", "1"]
    assert kept.ended(session) == [("complete", "stop")] * 2
    assert kept.said(session)[-1] == ("assistant", text)
    assert len(kept.said(session)) == 4
    assert kept.memory.counters() == {"attempt_failed": 3, "turn_complete": 2}


def test_openai_gives_up(chatting: Any, kept: Kept, session: str) -> None:
    async def work() -> None:
        with kept.memory.session(session), pytest.raises(openai.RateLimitError) as raised:
            await ask(chatting.with_options(max_retries=0), "fake-e429")
        assert raised.value.response.headers["retry-after"] == "1"
        with kept.memory.session(session), pytest.raises(openai.APITimeoutError):
            await ask(chatting.with_options(max_retries=0, timeout=0.1), "fake-f2000")

    run(chatting, work)
    assert kept.said(session) == []
    assert kept.memory.counters() == {"attempt_failed": 2}


@pytest.mark.parametrize("mode", ["cut", "errmid"])
def test_openai_stream_that_breaks(chatting: Any, kept: Kept, session: str, mode: str) -> None:
    async def work() -> None:
        with kept.memory.session(session), pytest.raises((openai.APIError, httpx.HTTPError, httpx2.HTTPError)):
            await spoken(chatting, f"fake-n8-d2-{mode}")

    run(chatting, work)
    assert kept.ended(session)[0][0] == ("truncated" if mode == "cut" else "error")
    assert kept.said(session)[0] == USER


def test_openai_stream_is_left(chatting: Any, kept: Kept, session: str, upstream: Upstream) -> None:
    aborted = upstream.statistics.aborted

    async def work() -> None:
        with kept.memory.session(session):
            stream = await ask(chatting, "fake-n900-d5", stream=True)
        async for chunk in items(stream):
            if chunk.choices and chunk.choices[0].delta.content:
                break
        await settled(stream.close())
        assert await asyncio.to_thread(eventually, lambda: upstream.statistics.aborted == aborted + 1)

    run(chatting, work)
    assert kept.ended(session) == [("aborted", "")]


def test_openai_from_threads(kept: Kept, upstream: Upstream) -> None:
    texts: dict[str, str] = {}
    with openai_client(kept.memory, base_url=f"{upstream.url}/v1", api_key="none") as client:

        def converse(session: str) -> None:
            history: list[Any] = []
            with kept.memory.session(session):
                for turn in range(5):
                    history.append({"role": "user", "content": f"{session}, question {turn}"})
                    reply = client.chat.completions.create(model="fake-n2-d2", messages=history)
                    history.append({"role": "assistant", "content": reply.choices[0].message.content})
            texts[session] = "\n".join(message["content"] for message in history)

        threads = [threading.Thread(target=converse, args=(f"thread-{number}",)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(texts) == 8
    for session, text in texts.items():
        assert "\n".join(said for _, said in kept.said(session)) == text


# -- Anthropic -----------------------------------------------------------------------------------------------


@pytest.fixture(params=["middleware", "transport", "both"])
def hooks(request: pytest.FixtureRequest, kept: Kept) -> Callable[[bool], dict[str, Any]]:
    """Options of an Anthropic client that remembers, for either colour."""

    def options(asynchronous: bool) -> dict[str, Any]:
        chosen: dict[str, Any] = {}
        if request.param != "transport":
            chosen["middleware"] = [anthropic_middleware(kept.memory)]
        if request.param != "middleware" and asynchronous:
            chosen["http_client"] = httpx2.AsyncClient(transport=AsyncTransport(kept.memory))
        elif request.param != "middleware":
            chosen["http_client"] = httpx2.Client(transport=Transport(kept.memory))
        return chosen

    return options


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def claude(request: pytest.FixtureRequest, hooks: Callable[[bool], dict[str, Any]], upstream: Upstream) -> Any:
    kind = anthropic.AsyncAnthropic if request.param else anthropic.Anthropic
    return kind(base_url=upstream.url, api_key="none", **hooks(request.param))


async def message(client: Any, model: str = "fake-n3", messages: list[Any] = ASKED, **more: Any) -> Any:
    return await settled(client.messages.create(model=model, max_tokens=100, messages=messages, **more))


async def streamed(client: Any, model: str = "fake-n3", **more: Any) -> str:
    stream = await message(client, model, stream=True, **more)
    text = [
        event.delta.text
        async for event in items(stream)
        if getattr(event, "delta", None) and event.type == "content_block_delta" and event.delta.type == "text_delta"
    ]
    return "".join(text)


@pytest.mark.parametrize("mode", ["", "-split7", "-gzip", "-ping", "-think"])
def test_anthropic_streams(claude: Any, kept: Kept, session: str, mode: str) -> None:
    async def work() -> str:
        with kept.memory.session(session):
            return await streamed(claude, f"fake-n4{mode}")

    text = run(claude, work)
    assert kept.said(session) == [USER, ("assistant", text)]
    assert kept.ended(session) == [("complete", "end_turn")]
    assert kept.memory.counters() == {"turn_complete": 1}


@pytest.mark.parametrize("raw", [False, True], ids=["parsed", "raw"])
def test_anthropic_whole_with_tools(claude: Any, kept: Kept, session: str, raw: bool) -> None:
    async def create(messages: list[Any]) -> Any:
        if not raw:
            return await message(claude, "fake-n3-tool", messages)
        create = claude.messages.with_raw_response.create
        answer = await settled(create(model="fake-n3-tool", max_tokens=100, messages=messages))
        return await settled(answer.parse())

    async def work() -> str:
        with kept.memory.session(session):
            first = await create(ASKED)
            used = next(block for block in first.content if block.type == "tool_use")
            result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": used.id, "content": "Redis"}]}
            last = await create([*ASKED, {"role": "assistant", "content": first.content}, result])
            return "".join(block.text for block in last.content if block.type == "text")

    text = run(claude, work)
    assert [role for role, _ in kept.said(session)] == ["user", "assistant", "tool", "assistant"]
    assert kept.said(session)[-1] == ("assistant", text)
    assert kept.ended(session) == [("complete", "tool_use"), ("complete", "end_turn")]


def test_anthropic_names_sessions(claude: Any, kept: Kept, upstream: Upstream) -> None:
    async def work() -> None:
        await streamed(claude, extra_headers={"X-Session-Id": "header"})
        await message(claude, extra_body={"session_id": "field", "top_k": 4})

    run(claude, work)
    assert kept.ended("header") == kept.ended("field") == [("complete", "end_turn")]
    assert all("x-session-id" not in call.headers and b"session_id" not in call.body for call in upstream.calls)
    assert upstream.calls[-1].json["top_k"] == 4


def test_anthropic_retries_are_one_turn(claude: Any, kept: Kept, session: str, upstream: Upstream) -> None:
    failing = [Steering(status=429), Steering(modes=frozenset({"rst"}))]
    upstream.script.extend(Scripted(steering=each) for each in failing)

    async def work() -> None:
        with kept.memory.session(session):
            await message(claude)
        with kept.memory.session(session), pytest.raises(anthropic.InternalServerError):
            await message(claude.with_options(max_retries=0), "fake-e500")

    run(claude, work)
    assert kept.ended(session) == [("complete", "end_turn")]
    assert kept.memory.counters() == {"attempt_failed": 3, "turn_complete": 1}


def test_anthropic_stream_is_left(claude: Any, kept: Kept, session: str, upstream: Upstream) -> None:
    aborted = upstream.statistics.aborted

    async def work() -> None:
        with kept.memory.session(session):
            stream = await message(claude, "fake-n900-d5", stream=True)
        async for event in items(stream):
            if event.type == "content_block_delta":
                break
        await settled(stream.close())
        assert await asyncio.to_thread(eventually, lambda: upstream.statistics.aborted == aborted + 1)

    run(claude, work)
    assert kept.ended(session) == [("aborted", "")]


def test_anthropic_transcript_is_cut(open_kept: Callable[..., Kept], upstream: Upstream, session: str) -> None:
    kept = open_kept(context_window=1_000)
    words = "the queue needs a broker that keeps its messages over a restart " * 6
    talk: list[Any] = []
    for turn in range(12):
        talk.append({"role": "user", "content": f"Use port {8000 + turn} for service {turn}. {words}"})
        talk.append({"role": "assistant", "content": f"Decided: port {8000 + turn} for service {turn}. {words}"})
    middleware = anthropic_middleware(kept.memory)
    client = anthropic.Anthropic(base_url=upstream.url, api_key="none", middleware=[middleware])
    with client, kept.memory.session(session):
        client.messages.create(
            model="fake-n3", max_tokens=100, messages=[*talk, *ASKED], system="Be short.", extra_body={"top_k": 4}
        )
    sent = upstream.calls[-1].json
    assert sent["messages"][-1] == ASKED[0]
    assert len(sent["messages"]) < len(talk)
    assert sent["top_k"] == 4
    assert sent["system"][0]["text"] == "Be short."
    assert len(kept.said(session)) == len(talk) + 2
