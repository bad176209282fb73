"""Real SDKs of all dialects reach their providers by a change of the base URL only, and their chats are remembered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import cohere
import httpx
import httpx2
import ollama
import openai
import pytest
from google import genai
from google.genai import types
from mistralai.client import Mistral

from tests.end_to_end.sdks.table import SDK_WARNINGS
from tests.upstream.server import Upstream

from .serving import Served

pytestmark = [pytest.mark.filterwarnings(warning) for warning in SDK_WARNINGS]

SAID = "Which database?"
ASKED: Any = [{"role": "user", "content": SAID}]
MODEL = "fake-n3"


def use_openai(url: str, headers: dict[str, str]) -> Iterator[str]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="client", default_headers=headers) as client:
        create = client.chat.completions.create
        yield str(create(model=MODEL, messages=ASKED).choices[0].message.content)
        parts = create(model=MODEL, messages=ASKED, stream=True)
        yield "".join(part.choices[0].delta.content or "" for part in parts if part.choices)


def use_openai_responses(url: str, headers: dict[str, str]) -> Iterator[str]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="client", default_headers=headers) as client:
        yield client.responses.create(model=MODEL, input=SAID).output_text
        with client.responses.stream(model=MODEL, input=SAID) as events:
            yield events.get_final_response().output_text


def use_anthropic(url: str, headers: dict[str, str]) -> Iterator[str]:
    with anthropic.Anthropic(base_url=url, api_key="client", default_headers=headers) as client:
        options: Any = {"model": MODEL, "max_tokens": 99, "messages": ASKED}
        yield client.messages.create(**options).content[0].text
        with client.messages.stream(**options) as events:
            yield events.get_final_text()


def use_gemini(url: str, headers: dict[str, str]) -> Iterator[str]:
    with httpx2.Client() as http:
        options = types.HttpOptions(base_url=url, headers=headers, httpx_client=http)
        client = genai.Client(api_key="client", http_options=options)
        yield str(client.models.generate_content(model=MODEL, contents=SAID).text)
        yield "".join(part.text or "" for part in client.models.generate_content_stream(model=MODEL, contents=SAID))


def use_cohere(url: str, headers: dict[str, str]) -> Iterator[str]:
    with httpx.Client(headers=headers) as http:
        client = cohere.ClientV2(api_key="client", base_url=url, httpx_client=http)
        yield client.chat(model=MODEL, messages=ASKED).message.content[0].text  # type: ignore[index, union-attr]
        events: list[Any] = list(client.chat_stream(model=MODEL, messages=ASKED))
        yield "".join(event.delta.message.content.text for event in events if event.type == "content-delta")


def use_mistral(url: str, headers: dict[str, str]) -> Iterator[str]:
    with httpx2.Client(headers=headers) as http:
        client = Mistral(api_key="client", server_url=url, client=http)
        yield str(client.chat.complete(model=MODEL, messages=ASKED).choices[0].message.content)  # type: ignore[union-attr]
        with client.chat.stream(model=MODEL, messages=ASKED) as events:
            yield "".join(str(event.data.choices[0].delta.content or "") for event in events if event.data.choices)


def use_ollama(url: str, headers: dict[str, str]) -> Iterator[str]:
    client = ollama.Client(url, headers=headers)
    yield client.chat(model=MODEL, messages=ASKED).message.content or ""
    yield "".join(part.message.content or "" for part in client.chat(model=MODEL, messages=ASKED, stream=True))
    client.close()


USES = [use_openai, use_openai_responses, use_anthropic, use_gemini, use_cohere, use_mistral, use_ollama]


@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__[4:])
def test_by_the_base_url_only(
    use: Callable[[str, dict[str, str]], Iterator[str]], served: Served, upstream: Upstream, session: str
) -> None:
    whole, streamed = use(served.url, {"x-session-id": session})
    assert whole.startswith(f"You said: {SAID}")
    assert streamed.startswith(f"You said: {SAID}")
    assert len(upstream.calls) == 2
    assert all("client" in "".join(received.headers.values()) for received in upstream.calls) or use is use_ollama
    said = served.said(session)
    assert said[:2] == [("user", SAID), ("assistant", whole)]
    assert ("assistant", streamed) in said
    assert set(served.ended(session)) == {"complete"}
