"""SDKs that take a client of their HTTP library: what they hand to their user is what is remembered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import cohere
import httpx
import httpx2
import ollama
import pytest
from google import genai
from google.genai import types
from mistralai.client import Mistral

from tests.end_to_end.sdks.table import SDK_WARNINGS
from tests.upstream.server import Upstream
from tokenmizer_mw import AsyncHttpxTransport, AsyncTransport, HttpxTransport, SessionMemory, Transport

from .conftest import Kept

pytestmark = [pytest.mark.filterwarnings(warning) for warning in SDK_WARNINGS]

ASKED: Any = [{"role": "user", "content": "Which database?"}]
MODEL = "fake-n3"


def use_cohere(memory: SessionMemory, url: str) -> Iterator[str]:
    with httpx.Client(transport=HttpxTransport(memory)) as http:
        client = cohere.ClientV2(api_key="none", base_url=url, httpx_client=http)
        yield client.chat(model=MODEL, messages=ASKED).message.content[0].text  # type: ignore[index, union-attr]
        events: list[Any] = list(client.chat_stream(model=MODEL, messages=ASKED))
        yield "".join(event.delta.message.content.text for event in events if event.type == "content-delta")


def use_ollama(memory: SessionMemory, url: str) -> Iterator[str]:
    client = ollama.Client(url, transport=HttpxTransport(memory))
    yield client.chat(model=MODEL, messages=ASKED).message.content or ""
    yield "".join(part.message.content or "" for part in client.chat(model=MODEL, messages=ASKED, stream=True))
    client.close()


def use_mistral(memory: SessionMemory, url: str) -> Iterator[str]:
    with httpx2.Client(transport=Transport(memory)) as http, httpx2.Client() as unused:
        client = Mistral(api_key="none", server_url=url, client=http)
        yield str(client.chat.complete(model=MODEL, messages=ASKED).choices[0].message.content)  # type: ignore[union-attr]
        with client.chat.stream(model=MODEL, messages=ASKED) as events:
            yield "".join(str(event.data.choices[0].delta.content or "") for event in events if event.data.choices)
        unused.close()


def use_gemini(memory: SessionMemory, url: str) -> Iterator[str]:
    with httpx2.Client(transport=Transport(memory)) as http:
        client = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=url, httpx_client=http))
        yield str(client.models.generate_content(model=MODEL, contents="Which database?").text)
        parts = client.models.generate_content_stream(model=MODEL, contents="Which database?")
        yield "".join(part.text or "" for part in parts)


@pytest.mark.parametrize("use", [use_cohere, use_ollama, use_mistral, use_gemini], ids=lambda use: use.__name__[4:])
def test_sync(use: Callable[..., Iterator[str]], kept: Kept, upstream: Upstream) -> None:
    texts = []
    answers = use(kept.memory, upstream.url)
    for number in range(2):
        with kept.memory.session(f"call-{number}"):
            texts.append(next(answers))
    assert list(answers) == []
    for number, text in enumerate(texts):
        assert kept.said(f"call-{number}") == [("user", "Which database?"), ("assistant", text)]
        assert [outcome for outcome, _ in kept.ended(f"call-{number}")] == ["complete"]


async def use_cohere_async(memory: SessionMemory, url: str) -> AsyncIterator[str]:
    async with httpx.AsyncClient(transport=AsyncHttpxTransport(memory)) as http:
        client = cohere.AsyncClientV2(api_key="none", base_url=url, httpx_client=http)
        with memory.session("call"):
            events: list[Any] = [event async for event in client.chat_stream(model=MODEL, messages=ASKED)]
        yield "".join(event.delta.message.content.text for event in events if event.type == "content-delta")


async def use_ollama_async(memory: SessionMemory, url: str) -> AsyncIterator[str]:
    client = ollama.AsyncClient(url, transport=AsyncHttpxTransport(memory))
    with memory.session("call"):
        parts = [part async for part in await client.chat(model=MODEL, messages=ASKED, stream=True)]
    yield "".join(part.message.content or "" for part in parts)
    await client.close()


async def use_gemini_async(memory: SessionMemory, url: str) -> AsyncIterator[str]:
    async with httpx2.AsyncClient(transport=AsyncTransport(memory)) as http:
        options = types.HttpOptions(base_url=url, httpx_async_client=http)
        client = genai.Client(api_key="none", http_options=options)
        with memory.session("call"):
            stream = await client.aio.models.generate_content_stream(model=MODEL, contents="Which database?")
            parts = [part async for part in stream]
        yield "".join(part.text or "" for part in parts)
        client.close()


@pytest.mark.parametrize(
    "use", [use_cohere_async, use_ollama_async, use_gemini_async], ids=lambda use: use.__name__[4:-6]
)
def test_async(use: Callable[..., AsyncIterator[str]], kept: Kept, upstream: Upstream) -> None:
    async def texts() -> list[str]:
        return [text async for text in use(kept.memory, upstream.url)]

    (text,) = asyncio.run(texts())
    assert kept.said("call") == [("user", "Which database?"), ("assistant", text)]
    assert [outcome for outcome, _ in kept.ended("call")] == ["complete"]
