"""A client of one dialect and a provider of another, over real HTTP and with the clients' own SDKs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest

from tests.upstream.answer import Scripted
from tests.upstream.server import Upstream
from tests.waiting import eventually
from tokenmizer_mw.server.proxy.routing import ALSO
from tokenmizer_mw.server.translate.table import PROVIDERS

from .serving import CUT, Served, asked, call, configured, serving

KEYS = {
    "ANTHROPIC_API_KEY": "server-a",
    "OPENAI_API_KEY": "server-o",
    "GEMINI_API_KEY": "server-g",
    "CO_API_KEY": "server-c",
    "DEEPSEEK_API_KEY": "server-d",
    "MISTRAL_API_KEY": "server-m",
    "OPENROUTER_API_KEY": "server-r",
    "XAI_API_KEY": "server-x",
}
TOOL = {"type": "object", "properties": {"topic": {"type": "string"}}}


@pytest.fixture(scope="module")
def translated(_running: Upstream, loop: str) -> Iterator[Served]:
    """A proxy with keys of its own for all providers."""
    with serving(configured(_running, KEYS)) as served:
        yield served


def chat(served: Served, model: str, session: str, *, stream: bool, tools: bool) -> tuple[str, list[str]]:
    given: dict[str, Any] = {"tools": [{"type": "function", "function": {"name": "lookup", "parameters": TOOL}}]}
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        said: Any = [{"role": "user", "content": "Which database?"}]
        create = client.chat.completions.create
        headers = {"x-session-id": session}
        if not stream:
            reply = create(model=model, messages=said, extra_headers=headers, **(given if tools else {}))
            message = reply.choices[0].message
            return message.content or "", [called.function.name for called in message.tool_calls or []]
        parts = [
            part.choices[0].delta
            for part in create(
                model=model, messages=said, stream=True, extra_headers=headers, **(given if tools else {})
            )
            if part.choices
        ]
        names = [called.function.name for part in parts for called in part.tool_calls or [] if called.function.name]
        return "".join(part.content or "" for part in parts), names


def responses(served: Served, model: str, session: str, *, stream: bool, tools: bool) -> tuple[str, list[str]]:
    given: dict[str, Any] = {"tools": [{"type": "function", "name": "lookup", "parameters": TOOL, "strict": False}]}
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        headers = {"x-session-id": session}
        options: Any = {
            "model": model,
            "input": "Which database?",
            "extra_headers": headers,
            **(given if tools else {}),
        }
        if stream:
            with client.responses.stream(**options) as events:
                reply: Any = events.get_final_response()
        else:
            reply = client.responses.create(**options)
        return reply.output_text, [item.name for item in reply.output if item.type == "function_call"]


def messages(served: Served, model: str, session: str, *, stream: bool, tools: bool) -> tuple[str, list[str]]:
    given: dict[str, Any] = {"tools": [{"name": "lookup", "input_schema": TOOL}]}
    with anthropic.Anthropic(base_url=served.url, api_key="none", max_retries=0) as client:
        options: Any = {
            "model": model,
            "max_tokens": 99,
            "messages": [{"role": "user", "content": "Which database?"}],
            "extra_headers": {"x-session-id": session},
            **(given if tools else {}),
        }
        if stream:
            with client.messages.stream(**options) as events:
                reply = events.get_final_message()
        else:
            reply = client.messages.create(**options)
    text = "".join(block.text for block in reply.content if block.type == "text")
    return text, [block.name for block in reply.content if block.type == "tool_use"]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("tools", [False, True], ids=["text", "tools"])
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("client", [chat, responses, messages], ids=lambda client: client.__name__)
def test_sdks_reach_providers_of_other_dialects(
    translated: Served, upstream: Upstream, session: str, client: Any, provider: str, tools: bool, stream: bool
) -> None:
    model = f"{provider}/fake-n4{'-tool' if tools else ''}"
    text, called = client(translated, model, session, stream=stream, tools=tools)
    assert called == (["lookup"] if tools else [])
    assert text.startswith("Let me look" if tools else "You said: Which database?")
    assert len(upstream.calls) == 1
    assert translated.said(session) == [("user", "Which database?"), ("assistant", text)]
    assert translated.ended(session) == ["complete"]


def test_the_servers_key_goes_to_the_provider_and_the_clients_does_not(translated: Served, upstream: Upstream) -> None:
    headers = {"authorization": "Bearer client-own", "x-api-key": "client-other"}
    for model, name, value in (
        ("openai/fake-n3", "authorization", "Bearer server-o"),
        ("anthropic/fake-n3", "x-api-key", "server-a"),
        ("gemini/fake-n3", "x-goog-api-key", "server-g"),
    ):
        assert call(translated.port, "/v1/chat/completions", asked(model), headers)[0] == 200
        received = upstream.calls[-1].headers
        assert received[name] == value
        assert not [value for value in received.values() if "client-" in value]


@pytest.mark.parametrize("status", [400, 401, 404, 413, 429, 500, 503])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_errors_keep_their_status_and_their_headers(
    translated: Served, upstream: Upstream, status: int, stream: bool
) -> None:
    body = asked(f"openai/fake-e{status}", stream=stream, max_tokens=9)
    got, headers, told = call(translated.port, "/v1/messages", body, {"anthropic-version": "2023-06-01"})
    assert got == status
    assert json.loads(told)["type"] == "error"
    assert ("x-request-id", "req_scripted") in headers
    assert (("retry-after", "1") in headers) == (status in (429, 503))
    assert len(upstream.calls) == 1


def test_what_has_no_counterpart_is_refused_by_name(translated: Served, upstream: Upstream) -> None:
    status, _, told = call(translated.port, "/v1/chat/completions", asked("anthropic/fake-n3", logprobs=True, seed=1))
    assert status == 400
    assert "seed" in json.loads(told)["error"]["message"] or "logprobs" in json.loads(told)["error"]["message"]
    assert not upstream.calls


@pytest.mark.parametrize("mode", ["cut", "rst"])
def test_a_cut_stays_a_cut(translated: Served, upstream: Upstream, session: str, mode: str) -> None:
    body = asked(f"anthropic/fake-n8-{mode}", stream=True)
    status, _, told = call(translated.port, "/v1/chat/completions", body, {"x-session-id": session})
    assert (status, told.endswith(CUT), b"[DONE]" in told) == (200, True, False)
    assert eventually(lambda: translated.ended(session) == ["error"])


def test_clients_whose_words_are_not_translated_are_told(translated: Served, upstream: Upstream) -> None:
    status, _, told = call(translated.port, "/v2/chat", asked("openai/fake-n3"))
    assert (status, "message" in json.loads(told)) == (400, True)
    assert call(translated.port, "/v1/embeddings", b'{"model": "anthropic/some", "input": "a"}')[0] == 400
    assert not upstream.calls


def test_keep_alive_comments_are_pings_for_clients_that_know_them(translated: Served, upstream: Upstream) -> None:
    body = asked("openrouter/fake-n3-ka", stream=True, max_tokens=9)
    status, _, told = call(translated.port, "/v1/messages", body, {"anthropic-version": "2023-06-01"})
    assert status == 200 and told.startswith(b'event: ping\ndata: {"type":"ping"}\n\nevent: message_start\n')
    with anthropic.Anthropic(base_url=translated.url, api_key="none", max_retries=0) as client:
        said: Any = [{"role": "user", "content": "Which database?"}]
        with client.messages.stream(model="openrouter/fake-n3-ka", max_tokens=9, messages=said) as events:
            assert events.get_final_text().startswith("You said: Which")


def test_pings_are_comments_for_the_others(translated: Served, session: str) -> None:
    headers = {"x-session-id": session}
    plain, lively = (
        call(translated.port, "/v1/chat/completions", asked(f"anthropic/fake-n3{mode}", stream=True), headers)[2]
        for mode in ("", "-ping")
    )
    assert b": ping\n\n" in lively and b": ping" not in plain
    assert lively.count(b"data: ") == plain.count(b"data: ")
    text, called = chat(translated, "anthropic/fake-n3-ping", session, stream=True, tools=False)
    assert text.startswith("You said: Which") and not called
    assert translated.ended(session) == ["complete"]


_OF_OTHER_DIALECTS = [name for name in PROVIDERS if "openai_responses" not in ALSO.get(name, ())]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("provider", _OF_OTHER_DIALECTS)
def test_tools_in_a_namespace_reach_providers_that_know_none(
    translated: Served, upstream: Upstream, session: str, provider: str, stream: bool
) -> None:
    """As Codex sends them: called by their own names, and their results understood, whoever is asked."""
    lookup = {"type": "function", "name": "lookup", "parameters": TOOL, "strict": False}
    tools: Any = [{"type": "namespace", "name": "notes", "description": "Of notes.", "tools": [lookup]}]
    options: Any = {"model": f"{provider}/fake-n4", "tools": tools, "store": False}
    options["extra_headers"] = {"x-session-id": session}
    upstream.script.append(Scripted("One moment.", (("notes__lookup", {"topic": "databases"}),)))
    with openai.OpenAI(base_url=f"{translated.url}/v1", api_key="none", max_retries=0) as client:

        def asked_for(said: Any) -> Any:
            if not stream:
                return client.responses.create(input=said, **options)
            with client.responses.stream(input=said, **options) as events:
                return events.get_final_response()

        said: list[Any] = [{"role": "user", "content": "Which database?"}]
        (called,) = [item for item in asked_for(said).output if item.type == "function_call"]
        assert (called.namespace, called.name, json.loads(called.arguments)) == (
            "notes",
            "lookup",
            {"topic": "databases"},
        )
        told = {"type": "function_call", "call_id": called.call_id, "name": "lookup", "arguments": called.arguments}
        said += [{**told, "namespace": "notes"}]
        said += [{"type": "function_call_output", "call_id": called.call_id, "output": "PostgreSQL 16"}]
        assert "PostgreSQL 16" in asked_for(said).output_text
    for received in upstream.calls:
        assert b"notes__lookup" in received.body and b"namespace" not in received.body
    assert translated.ended(session) == ["complete", "complete"]
