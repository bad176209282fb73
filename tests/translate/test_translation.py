"""A translation on bytes: requests, replies, streams in any chunking, errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.upstream.answer import Answer, Call
from tests.upstream.anthropic import AnthropicMessages
from tests.upstream.cohere import CohereChat
from tests.upstream.format import Format
from tests.upstream.framing import framed
from tests.upstream.gemini import Gemini as GeminiFormat
from tests.upstream.ollama import OllamaChat
from tests.upstream.openai_chat import OpenAIChat as OpenAIChatFormat
from tokenmizer_mw.errors import MalformedRequest, Untranslatable
from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.server.translate import translation as bounds
from tokenmizer_mw.server.translate.chat import (
    Began,
    ChatCall,
    Ended,
    Finish,
    Grew,
    ModelToolCall,
    PartStart,
    Text,
)
from tokenmizer_mw.server.translate.clients.anthropic import AnthropicClient
from tokenmizer_mw.server.translate.clients.openai_chat import OpenAIChatClient
from tokenmizer_mw.server.translate.clients.openai_responses import OpenAIResponsesClient
from tokenmizer_mw.server.translate.clients.reply_parts import TOO_LONG, PartEnd, Progress
from tokenmizer_mw.server.translate.providers.anthropic import AnthropicProvider
from tokenmizer_mw.server.translate.providers.cohere import CohereProvider
from tokenmizer_mw.server.translate.providers.gemini import GeminiProvider
from tokenmizer_mw.server.translate.providers.ollama import OllamaProvider
from tokenmizer_mw.server.translate.providers.openai_chat import OpenAIChatProvider
from tokenmizer_mw.server.translate.table import PROVIDERS as TABLE
from tokenmizer_mw.server.translate.translation import ClientSide, ProviderSide, Translation, client_field
from tokenmizer_mw.wire.dialects import ROUTES

WIRES: Final = {wire.name: wire for wire in ROUTES.values()}
CREATED: Final = 1_790_000_000
CLIENTS: Final[Mapping[str, ClientSide]] = {
    side.name: side for side in (OpenAIChatClient(), OpenAIResponsesClient(), AnthropicClient())
}
PROVIDERS: Final[Mapping[str, tuple[ProviderSide, Format]]] = {
    "openai_chat": (OpenAIChatProvider(), OpenAIChatFormat()),
    "anthropic": (AnthropicProvider(), AnthropicMessages()),
    "gemini": (GeminiProvider(), GeminiFormat()),
    "cohere": (CohereProvider(), CohereChat()),
    "ollama": (OllamaProvider(), OllamaChat()),
}
REQUESTS: Final[Mapping[str, dict[str, Any]]] = {
    "openai_chat": {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    },
    "openai_responses": {"model": "m", "input": "hi", "stream": True},
    "anthropic": {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
    },
}
SAID: Final = Answer(
    "1f",
    "m",
    deltas=("Grüße, ", "one\u2028two ", "\N{SLIGHTLY SMILING FACE} 漢字\n"),
    thinking=("They want ", "an answer."),
    calls=(Call("call_1f_0", "look", {"q": "é\u2029"}), Call("call_1f_1", "look", {})),
)


def user(part: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": [part]}


def pair(client: str, provider: str) -> Translation:
    return Translation(CLIENTS[client], PROVIDERS[provider][0])


def call_of(client: str) -> ChatCall:
    return CLIENTS[client].call(REQUESTS[client])


def sent(provider: str, modes: frozenset[str] = frozenset()) -> bytes:
    form = PROVIDERS[provider][1]
    return b"".join(framed(form.stream(SAID, {}, usage=True), form.media_type, modes))


def through(translation: Translation, call: ChatCall, chunks: list[bytes]) -> bytes:
    stream = translation.stream(call, created=CREATED)
    return b"".join(stream.feed(chunk) for chunk in chunks) + stream.end()


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("client", CLIENTS)
@given(data=st.data())
def test_any_chunking_gives_the_same_bytes(client: str, provider: str, data: st.DataObject) -> None:
    modes = frozenset(data.draw(st.sampled_from([(), ("crlf",), ("ka",), ("cr",), ("multi",)])))
    if PROVIDERS[provider][1].media_type != "text/event-stream":
        modes &= {"crlf"}
    whole = sent(provider, modes)
    places = sorted(data.draw(st.sets(st.integers(0, len(whole)), max_size=30)) | {0, len(whole)})
    chunks = [whole[start:end] for start, end in pairwise(places)]
    translation, call = pair(client, provider), call_of(client)
    expected = through(translation, call, [whole])
    assert through(translation, call, chunks) == expected
    assert expected.endswith(ENDINGS[client])


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_single_bytes_give_the_same_bytes(client: str, provider: str) -> None:
    translation, call, whole = pair(client, provider), call_of(client), sent(provider)
    single = [whole[place : place + 1] for place in range(len(whole))]
    assert through(translation, call, single) == through(translation, call, [whole])


ENDINGS: Final = {
    "openai_chat": b"data: [DONE]\n\n",
    "openai_responses": b"}}\n\n",
    "anthropic": b'event: message_stop\ndata: {"type":"message_stop"}\n\n',
}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_stream_that_is_cut_anywhere_never_ends_as_if_it_were_whole(client: str, provider: str) -> None:
    whole = sent(provider)
    translation, call = pair(client, provider), call_of(client)
    ended = [
        end for end in range(0, whole.rindex(LAST[provider]), 7) if _is_ended(through(translation, call, [whole[:end]]))
    ]
    assert ended == []


LAST: Final = {
    "openai_chat": b'"finish_reason":"tool_calls"',
    "anthropic": b"event: message_stop",
    "gemini": b'"finishReason"',
    "cohere": b"event: message-end",
    "ollama": b'"done":true',
}
"""What begins the end of a stream."""


def _is_ended(stream: bytes) -> bool:
    return any(mark in stream for mark in (b"[DONE]", b"event: response.completed", b"event: message_stop"))


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_reply_says_what_the_provider_said_whole_and_streamed(client: str, provider: str) -> None:
    """As the memory's own reader of the client's dialect reads it, which is written apart from the translation."""
    translation, call = pair(client, provider), call_of(client)
    body = json.dumps(PROVIDERS[provider][1].whole(SAID)).encode()
    reply = translation.reply(call, 200, body, created=CREATED)
    assert reply.status == 200
    for told in (
        WIRES[client].collect(reply.body, stream=False),
        WIRES[client].collect(through(translation, call, [sent(provider)]), stream=True),
    ):
        assert told.outcome is Outcome.COMPLETE and told.message is not None
        assert told.message.text == SAID.text
        assert told.message.thinking.replace("\n", "") == "".join(SAID.thinking)
        assert [(made.name, json.loads(made.arguments)) for made in told.message.tool_calls] == [
            ("look", {"q": "é\u2029"}),
            ("look", {}),
        ]
        assert len({made.id for made in told.message.tool_calls}) == 2
    streamed = through(translation, call, [sent(provider)]).decode()
    assert COUNTED[client](json.loads(reply.body)["usage"]) == SAID.usage.read
    last = [
        json.loads(line[6:]) for line in streamed.split("\n") if line.startswith("data: {") and '"usage":{' in line
    ][-1]
    assert COUNTED[client](last.get("response", last)["usage"]) == SAID.usage.read


COUNTED: Final[Mapping[str, Callable[[Mapping[str, int]], int]]] = {
    "openai_chat": lambda usage: usage["prompt_tokens"],
    "openai_responses": lambda usage: usage["input_tokens"],
    "anthropic": lambda usage: (
        usage["input_tokens"] + usage["cache_read_input_tokens"] + usage["cache_creation_input_tokens"]
    ),
}
"""All that was read, as a client counts it."""


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503])
def test_errors_keep_their_status_and_their_words(client: str, provider: str, status: int) -> None:
    body = json.dumps(PROVIDERS[provider][1].error(status, "no such luck")).encode()
    reply = pair(client, provider).reply(call_of(client), status, body, created=CREATED)
    assert reply.status == status
    told = json.loads(reply.body)
    assert told["error"]["message"] == "no such luck"
    assert told.get("type") == ("error" if client == "anthropic" else None)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>bad gateway</html>",
        b"[]",
        b"{}",
        b'{"choices": []}',
        b"\xff\xfe",
        b'{"a":' * 200_000,
        b'{"choices": [{"message": {"content": NaN}}]}',
        b'{"created": ' + b"9" * 5_000 + b"}",
    ],
)
def test_a_reply_that_cannot_be_read_is_a_bad_gateway(client: str, body: bytes) -> None:
    reply = pair(client, "openai_chat").reply(call_of(client), 200, body, created=CREATED)
    assert reply.status == 502
    assert json.loads(reply.body)["error"]["message"].startswith("the provider's reply cannot be read")


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    "body",
    [b"", b"hi", b"[]", b"\xff\xfe", b'{"model":' * 200_000, b'{"model": NaN}', b'{"n": ' + b"9" * 5_000 + b"}", b"{}"],
)
def test_what_is_no_request_is_refused_in_the_clients_words(client: str, body: bytes) -> None:
    translation = pair(client, "openai_chat")
    with pytest.raises(MalformedRequest) as raised:
        translation.request(body)
    reply = translation.refuse(raised.value)
    assert (reply.status, json.loads(reply.body)["error"]["type"]) == (400, "invalid_request_error")


@pytest.mark.parametrize(
    ("client", "more", "field"),
    [
        ("openai_chat", {"n": 2}, "n"),
        ("openai_chat", {"logprobs": True}, "logprobs"),
        ("openai_chat", {"service_tier": "flex"}, "service_tier"),
        ("openai_chat", {"store": True}, "store"),
        ("openai_chat", {"functions": [{"name": "f"}]}, "functions"),
        ("openai_chat", {"response_format": {"type": "grammar"}}, "response_format.type"),
        ("openai_chat", {"tools": [{"type": "web_search"}]}, "tools[0].type"),
        ("openai_chat", {"tool_choice": {"type": "allowed_tools", "allowed_tools": {}}}, "tool_choice.type"),
        ("openai_chat", {"messages": [{"role": "function", "name": "f", "content": ""}]}, "messages[0].role"),
        ("openai_chat", {"messages": [{"role": "user", "name": "Bo", "content": ""}]}, "messages[0].name"),
        (
            "openai_chat",
            {
                "messages": [
                    {"role": "user", "content": [{"type": "file", "file": {"file_id": "f", "file_data": "QQ=="}}]}
                ]
            },
            "messages[0].content[0].file.file_id",
        ),
        ("openai_responses", {"previous_response_id": "resp_1"}, "previous_response_id"),
        ("openai_responses", {"conversation": "conv_1"}, "conversation"),
        ("openai_responses", {"background": True}, "background"),
        ("openai_responses", {"prompt": {"id": "p"}}, "prompt"),
        ("openai_responses", {"include": ["message.output_text.logprobs"]}, "include.message.output_text.logprobs"),
        ("openai_responses", {"tools": [{"type": "web_search"}]}, "tools[0].type"),
        ("openai_responses", {"input": [{"type": "item_reference", "id": "i"}]}, "input[0].type"),
        ("openai_responses", {"input": [{"id": "i"}]}, "input[0].type"),
        ("openai_responses", {"input": [{"type": "compaction", "encrypted_content": "c"}]}, "input[0].type"),
        ("anthropic", {"mcp_servers": [{"url": "https://example.org"}]}, "mcp_servers"),
        ("anthropic", {"inference_geo": "eu"}, "inference_geo"),
        ("anthropic", {"context_management": {"edits": [{"type": "compact"}]}}, "context_management"),
        ("anthropic", {"thinking": {"type": "between_tools"}}, "thinking.type"),
        ("anthropic", {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "tools[0].type"),
        (
            "anthropic",
            {
                "messages": [
                    {"role": "user", "content": [{"type": "image", "source": {"type": "file", "file_id": "f"}}]}
                ]
            },
            "messages[0].content[0].source.type",
        ),
        (
            "anthropic",
            {"messages": [user({"type": "tool_use", "id": "a", "name": "b", "input": {}})]},
            "messages[0].content[0].type",
        ),
    ],
)
def test_what_has_no_counterpart_is_refused_by_its_place(client: str, more: dict[str, Any], field: str) -> None:
    translation = pair(client, "openai_chat")
    with pytest.raises(Untranslatable) as raised:
        translation.request(json.dumps({**REQUESTS[client], **more}).encode())
    assert raised.value.field == field
    reply = translation.refuse(raised.value)
    told = json.loads(reply.body)["error"]
    assert (reply.status, told["type"]) == (400, "invalid_request_error")
    assert field in told["message"] or field.rsplit(".", maxsplit=1)[-1] in told["message"]


@pytest.mark.parametrize(
    ("client", "more"),
    [
        ("openai_chat", {"n": 1, "logprobs": False, "logit_bias": {}, "store": False, "service_tier": "auto"}),
        (
            "openai_chat",
            {"metadata": {"a": "b"}, "prompt_cache_key": "k", "modalities": ["text"]},
        ),
        ("openai_chat", {"tools": None, "stop": None, "response_format": {"type": "text"}, "functions": None}),
        ("openai_responses", {"store": False, "truncation": "disabled", "max_tool_calls": 5, "background": False}),
        ("openai_responses", {"include": ["reasoning.encrypted_content"], "prompt_cache_key": "k", "metadata": {}}),
        (
            "openai_responses",
            {"text": {"format": {"type": "text"}, "verbosity": "medium"}, "previous_response_id": None},
        ),
        ("anthropic", {"cache_control": {"type": "ephemeral"}, "service_tier": "auto", "mcp_servers": []}),
        (
            "anthropic",
            {
                "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
                "speed": "standard",
            },
        ),
    ],
)
def test_what_changes_nothing_passes(client: str, more: dict[str, Any]) -> None:
    translation = pair(client, "openai_chat")
    plain, _ = translation.request(json.dumps(REQUESTS[client]).encode())
    outgoing, _ = translation.request(json.dumps({**REQUESTS[client], **more}).encode())
    assert outgoing == plain


@pytest.mark.parametrize(
    ("client", "more", "field"),
    [
        ("openai_chat", {"seed": 7}, "seed"),
        ("openai_chat", {"presence_penalty": 1}, "presence_penalty"),
        ("openai_chat", {"response_format": {"type": "json_object"}}, "response_format"),
        (
            "openai_chat",
            {"messages": [user({"type": "input_audio", "input_audio": {"data": "QQ==", "format": "wav"}})]},
            "messages",
        ),
        ("openai_responses", {"text": {"format": {"type": "json_object"}}}, "text.format"),
    ],
)
def test_what_a_provider_cannot_say_is_told_by_the_clients_field(client: str, more: dict[str, Any], field: str) -> None:
    translation = pair(client, "anthropic")
    with pytest.raises(Untranslatable) as raised:
        translation.request(json.dumps({**REQUESTS[client], **more}).encode())
    assert raised.value.field == field
    told = json.loads(translation.refuse(raised.value).body)["error"]
    assert (told["param"], told["code"]) == (field, "unsupported_parameter")
    assert field in told["message"]


@pytest.mark.parametrize(
    ("client", "name", "field"),
    [
        ("openai_chat", "sampling.max_tokens", "max_completion_tokens"),
        ("openai_chat", "sampling.top_k", "top_k"),
        ("openai_chat", "choice.named", "tool_choice"),
        ("openai_responses", "thinking.tokens", "reasoning"),
        ("openai_responses", "result.image", "input"),
        ("anthropic", "sampling.stop", "stop_sequences"),
        ("anthropic", "thinking.effort", "output_config.effort"),
        ("anthropic", "tools.strict", "tools"),
        ("anthropic", "something.else", "something.else"),
    ],
)
def test_a_client_has_a_field_for_what_a_provider_names(client: str, name: str, field: str) -> None:
    assert client_field(name, CLIENTS[client].words) == field


@pytest.mark.parametrize(
    ("client", "more"), [("openai_chat", {"verbosity": "low"}), ("openai_responses", {"text": {"verbosity": "low"}})]
)
def test_how_wordy_an_answer_may_be_is_told_where_there_is_a_word_for_it(client: str, more: dict[str, Any]) -> None:
    body = json.dumps({**REQUESTS[client], **more}).encode()
    openai = Translation(CLIENTS[client], OpenAIChatProvider(TABLE["openai"].quirks))
    assert openai.request(body)[0].body["verbosity"] == "low"
    assert "verbosity" not in pair(client, "anthropic").request(body)[0].body


def test_a_request_and_a_reply_beyond_the_bounds_are_refused() -> None:
    translation = pair("openai_chat", "openai_chat")
    with pytest.raises(MalformedRequest, match="longer than"):
        translation.request(b" " * (bounds.REQUEST_MAX + 1))
    reply = translation.reply(call_of("openai_chat"), 200, b" " * (bounds.REPLY_MAX + 1), created=CREATED)
    assert reply.status == 502


def test_an_answer_beyond_its_bound_ends_in_an_error() -> None:
    progress = Progress("m", "r", answer_max=10)
    told = [
        Began("r", "m"),
        PartStart(Text("")),
        Grew("12345"),
        Grew("67890"),
        Grew("1"),
        Grew("2"),
        Ended(Finish.STOP),
    ]
    steps = [step for event in told for step in progress.steps(event)]
    assert steps == [Began("r", "m"), PartStart(Text("")), Grew("12345"), Grew("67890"), TOO_LONG]
    assert not any(isinstance(step, PartEnd) for step in steps)


def test_the_names_of_calls_count_as_well() -> None:
    progress = Progress("m", "r", answer_max=10)
    told = [Began("r", "m"), *[PartStart(ModelToolCall("id", "name", "")) for _ in range(3)]]
    assert [step for event in told for step in progress.steps(event)][-1] == TOO_LONG


@pytest.mark.parametrize(
    ("client", "more", "place"),
    [
        ("openai_chat", {"max_tokens": 1, "max_completion_tokens": 2}, "max_tokens"),
        ("openai_chat", {"temperature": "hot"}, "temperature"),
        ("openai_chat", {"seed": 1.5}, "seed"),
        ("openai_chat", {"messages": [user({"type": "image_url", "image_url": {"url": "data:a,b"}})]}, "url"),
        ("openai_chat", {"messages": [{"role": "tool", "content": "4"}]}, "messages[0].tool_call_id"),
        (
            "openai_responses",
            {"input": [user({"type": "input_file", "file_data": "QQ==", "file_url": "https://example.org"})]},
            "input[0].content[0].file_url",
        ),
        ("openai_responses", {"input": []}, "input"),
        ("anthropic", {"tool_choice": {"type": "tool"}}, "tool_choice.name"),
        ("anthropic", {"messages": []}, "messages"),
        ("anthropic", {"system": 7}, "system"),
    ],
)
def test_what_is_malformed_is_told_by_its_place(client: str, more: dict[str, Any], place: str) -> None:
    with pytest.raises(MalformedRequest) as raised:
        pair(client, "openai_chat").call(json.dumps({**REQUESTS[client], **more}).encode())
    assert place in str(raised.value).partition(": ")[0]


@pytest.mark.parametrize("client", CLIENTS)
def test_signs_of_life_say_nothing(client: str) -> None:
    translation, call = pair(client, "openai_chat"), call_of(client)
    stream = translation.stream(call, created=CREATED)
    alive = stream.feed(b": still here\n\n")
    pinged = alive + stream.feed(sent("openai_chat")) + stream.end()
    assert alive
    expected = WIRES[client].collect(through(translation, call, [sent("openai_chat")]), stream=True)
    assert WIRES[client].collect(pinged, stream=True) == expected


_PINGS: Final = {"openai_chat": b": ping\n\n", "openai_responses": b": ping\n\n", "anthropic": b"event: ping\n"}


@pytest.mark.parametrize(
    ("provider", "mode"), [("openai_chat", "ka"), ("gemini", "ka"), ("cohere", "ka"), ("anthropic", "ping")]
)
@pytest.mark.parametrize("client", CLIENTS)
def test_signs_of_life_of_a_provider_reach_the_client_in_its_own_words(client: str, provider: str, mode: str) -> None:
    translation, call = pair(client, provider), call_of(client)
    quiet, lively = sent(provider), sent(provider, frozenset({mode}))
    expected, told = (through(translation, call, [whole]) for whole in (quiet, lively))
    assert _PINGS[client] not in expected
    assert told.count(_PINGS[client]) >= 5
    assert WIRES[client].collect(told, stream=True) == WIRES[client].collect(expected, stream=True)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_sign_of_life_before_the_answer_begins_is_not_held_back(client: str) -> None:
    stream = pair(client, "openai_chat").stream(call_of(client), created=CREATED)
    assert stream.feed(b": OPENROUTER PROCESSING\n").startswith(_PINGS[client])
    assert stream.feed(b"\n") == b""
    assert stream.feed(sent("openai_chat")) == through(
        pair(client, "openai_chat"), call_of(client), [sent("openai_chat")]
    )
    assert stream.feed(b": still here\n\n") == b"", "nothing follows the end"
