"""The real SDKs read what the clients' sides write, and write what they read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import anthropic
import openai
import pytest
from pydantic import BaseModel

from tests.translate.clients.served import Served, as_events
from tokenmizer_mw.server.translate.chat import (
    AnswerFormat,
    Began,
    Fault,
    Finish,
    Grew,
    ModelReply,
    ModelToolCall,
    PartStart,
    StreamEvent,
    Text,
    Thought,
    Usage,
)
from tokenmizer_mw.server.translate.clients.anthropic import AnthropicClient
from tokenmizer_mw.server.translate.clients.openai_chat import OpenAIChatClient
from tokenmizer_mw.server.translate.clients.openai_responses import OpenAIResponsesClient
from tokenmizer_mw.server.translate.translation import ClientSide

USAGE: Final = Usage(prompt=100, completion=20, cached=40, written=10, thought=5)
ANSWER: Final = ModelReply(
    "reply_1",
    "model-7",
    (
        Thought("Let me see.", "c2VhbA==", "anthropic"),
        Thought("", "aGlkZGVu", "anthropic", hidden=True),
        Text("It rains in Zürich \N{UMBRELLA} — “twice”.\n"),
        ModelToolCall("call_1", "look", '{"city": "Zürich"}'),
        ModelToolCall("call_2", "look", '{"city": "Bern"}', seal="Z2Vt", sealed_by="gemini"),
    ),
    Finish.TOOLS,
    USAGE,
)
TOOL: Final = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class Weather(BaseModel):
    city: str
    degrees: int


PARSED: Final = ModelReply("reply_2", "model-7", (Text('{"city": "Bern", "degrees": 7}'),), Finish.STOP, USAGE)


@contextmanager
def served_to(sdk: Callable[..., Any], side: Callable[[], ClientSide], **told: Any) -> Iterator[tuple[Any, Served]]:
    with Served(side(), **told) as served, sdk(base_url=served.url, api_key="none", max_retries=0) as client:
        yield client, served


chat = partial(served_to, openai.OpenAI, OpenAIChatClient)
responses = partial(served_to, openai.OpenAI, OpenAIResponsesClient)
messages = partial(served_to, anthropic.Anthropic, AnthropicClient)


CHAT_ASKED: Final[dict[str, Any]] = {
    "model": "m",
    "messages": [{"role": "user", "content": "hi"}],
    "tools": [{"type": "function", "function": {"name": "look", "parameters": TOOL}}],
}
RESPONSES_ASKED: Final[dict[str, Any]] = {
    "model": "m",
    "input": "hi",
    "tools": [{"type": "function", "name": "look", "parameters": TOOL, "strict": False}],
}
MESSAGES_ASKED: Final[dict[str, Any]] = {
    "model": "m",
    "max_tokens": 99,
    "messages": [{"role": "user", "content": "hi"}],
    "tools": [{"name": "look", "input_schema": TOOL}],
}


def chat_whole() -> Any:
    with chat(answer=ANSWER) as (client, _):
        return client.chat.completions.create(**CHAT_ASKED)


def chat_streamed() -> Any:
    with (
        chat(events=as_events(ANSWER)) as (client, _),
        client.chat.completions.stream(**CHAT_ASKED, stream_options={"include_usage": True}) as stream,
    ):
        return stream.get_final_completion()


@pytest.mark.parametrize("ask", [chat_whole, chat_streamed])
def test_a_chat_completion_is_read_by_its_sdk(ask: Callable[[], Any]) -> None:
    completion = ask()
    choice = completion.choices[0]
    assert (completion.id, completion.model, choice.finish_reason) == ("reply_1", "model-7", "tool_calls")
    assert choice.message.role == "assistant"
    assert choice.message.content == "It rains in Zürich \N{UMBRELLA} — “twice”.\n"
    assert choice.message.reasoning_content == "Let me see."
    details = [(one["type"], one.get("signature") or one.get("data")) for one in choice.message.reasoning_details]
    assert details == [("reasoning.text", "anthropic:c2VhbA=="), ("reasoning.encrypted", "anthropic:aGlkZGVu")]
    calls = [(call.id, call.function.name, call.function.arguments) for call in choice.message.tool_calls]
    assert calls == [
        ("call_1", "look", '{"city": "Zürich"}'),
        ("call_2__sealed_by_gemini__WjJWdA", "look", '{"city": "Bern"}'),
    ]
    usage = completion.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (100, 20, 120)
    assert usage.prompt_tokens_details.cached_tokens == 40
    assert usage.completion_tokens_details.reasoning_tokens == 5


def responses_whole() -> Any:
    with responses(answer=ANSWER) as (client, _):
        return client.responses.create(**RESPONSES_ASKED)


def responses_streamed() -> Any:
    with responses(events=as_events(ANSWER)) as (client, _), client.responses.stream(**RESPONSES_ASKED) as stream:
        return stream.get_final_response()


@pytest.mark.parametrize("ask", [responses_whole, responses_streamed])
def test_a_response_is_read_by_its_sdk(ask: Callable[[], Any]) -> None:
    response = ask()
    assert (response.id, response.model, response.status) == ("resp_reply_1", "model-7", "completed")
    kinds = [item.type for item in response.output]
    assert kinds == ["reasoning", "reasoning", "message", "function_call", "function_call"]
    thought, hidden, _, first, second = response.output
    assert (thought.summary[0].text, thought.encrypted_content) == ("Let me see.", "anthropic:c2VhbA==")
    assert (hidden.summary, hidden.encrypted_content) == ([], "hidden:anthropic:aGlkZGVu")
    assert response.output_text == "It rains in Zürich \N{UMBRELLA} — “twice”.\n"
    assert (first.call_id, first.name, first.arguments) == ("call_1", "look", '{"city": "Zürich"}')
    assert second.call_id == "call_2__sealed_by_gemini__WjJWdA"
    assert (response.usage.input_tokens, response.usage.output_tokens, response.usage.total_tokens) == (100, 20, 120)
    assert response.usage.input_tokens_details.cached_tokens == 40


def messages_whole() -> Any:
    with messages(answer=ANSWER) as (client, _):
        return client.messages.create(**MESSAGES_ASKED)


def messages_streamed() -> Any:
    with messages(events=as_events(ANSWER)) as (client, _), client.messages.stream(**MESSAGES_ASKED) as stream:
        return stream.get_final_message()


@pytest.mark.parametrize("ask", [messages_whole, messages_streamed])
def test_a_message_is_read_by_its_sdk(ask: Callable[[], Any]) -> None:
    message = ask()
    assert (message.id, message.model, message.role) == ("reply_1", "model-7", "assistant")
    assert (message.stop_reason, message.stop_sequence) == ("tool_use", None)
    thought, hidden, text, first, second = message.content
    assert (thought.type, thought.thinking, thought.signature) == ("thinking", "Let me see.", "c2VhbA==")
    assert (hidden.type, hidden.data) == ("redacted_thinking", "aGlkZGVu")
    assert text.text == "It rains in Zürich \N{UMBRELLA} — “twice”.\n"
    assert (first.id, first.name, first.input) == ("call_1", "look", {"city": "Zürich"})
    assert (second.id, second.input) == ("call_2__sealed_by_gemini__WjJWdA", {"city": "Bern"})
    usage = message.usage
    assert (usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (50, 40, 10)
    assert usage.output_tokens == 20


def test_what_an_sdk_parses_is_asked_for_as_a_schema_and_parsed() -> None:
    with chat(answer=PARSED) as (client, served):
        asked = {"model": "m", "messages": CHAT_ASKED["messages"], "response_format": Weather}
        completion = client.chat.completions.parse(**asked)
        assert completion.choices[0].message.parsed == Weather(city="Bern", degrees=7)
        assert _wants(served) == "Weather"
    with responses(answer=PARSED, events=as_events(PARSED)) as (client, served):
        assert client.responses.parse(model="m", input="hi", text_format=Weather).output_parsed == Weather(
            city="Bern", degrees=7
        )
        with client.responses.stream(model="m", input="hi", text_format=Weather) as stream:
            assert stream.get_final_response().output_parsed == Weather(city="Bern", degrees=7)
        assert _wants(served) == "Weather"
    with messages(answer=PARSED) as (client, served):
        message = client.messages.parse(
            model="m", max_tokens=9, messages=MESSAGES_ASKED["messages"], output_format=Weather
        )
        assert message.parsed_output == Weather(city="Bern", degrees=7)
        assert _wants(served) == ""


def _wants(served: Served) -> str:
    form = served.calls[-1].format
    assert (
        isinstance(form, AnswerFormat)
        and form.schema is not None
        and set(form.schema["required"]) == {"city", "degrees"}
    )
    return form.name


@pytest.mark.parametrize(
    ("finish", "chat_word", "responses_word", "messages_word"),
    [
        (Finish.STOP, "stop", ("completed", None), "end_turn"),
        (Finish.LENGTH, "length", ("incomplete", "max_output_tokens"), "max_tokens"),
        (Finish.FILTERED, "content_filter", ("incomplete", "content_filter"), "refusal"),
    ],
)
def test_why_a_model_stopped(
    finish: Finish, chat_word: str, responses_word: tuple[str, str | None], messages_word: str
) -> None:
    answer = ModelReply("r", "m", (Text("so"),), finish)
    with chat(events=as_events(answer)) as (client, _):
        chunks = list(client.chat.completions.create(**CHAT_ASKED, stream=True))
        assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == chat_word
    with responses(answer=answer, events=as_events(answer)) as (client, _):
        last = list(client.responses.create(**RESPONSES_ASKED, stream=True))[-1]
        assert last.type == f"response.{responses_word[0]}"
        for response in (last.response, client.responses.create(**RESPONSES_ASKED)):
            details = response.incomplete_details
            assert (response.status, details.reason if details else None) == responses_word
            assert response.output[0].status == ("incomplete" if finish is Finish.LENGTH else "completed")
    with messages(answer=answer, events=as_events(answer)) as (client, _):
        with client.messages.stream(**MESSAGES_ASKED) as stream:
            assert stream.get_final_message().stop_reason == messages_word
        assert client.messages.create(**MESSAGES_ASKED).stop_reason == messages_word


OPENAI_ERRORS: Final[Mapping[int, type[Exception]]] = {
    400: openai.BadRequestError,
    401: openai.AuthenticationError,
    403: openai.PermissionDeniedError,
    404: openai.NotFoundError,
    409: openai.ConflictError,
    422: openai.UnprocessableEntityError,
    429: openai.RateLimitError,
    500: openai.InternalServerError,
    503: openai.InternalServerError,
}
ANTHROPIC_TYPES: Final[Mapping[int, str]] = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    500: "api_error",
    502: "api_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}


@pytest.mark.parametrize("status", OPENAI_ERRORS)
def test_errors_are_those_of_openai(status: int) -> None:
    fault = Fault(status, "no such luck", "some_code")
    with chat(fault=fault) as (client, _), pytest.raises(OPENAI_ERRORS[status]) as chat_error:
        client.chat.completions.create(**CHAT_ASKED)
    with responses(fault=fault) as (client, _), pytest.raises(OPENAI_ERRORS[status]) as responses_error:
        client.responses.create(**RESPONSES_ASKED)
    for raised in (chat_error.value, responses_error.value):
        assert isinstance(raised, openai.APIStatusError)
        assert (raised.status_code, raised.code) == (status, "some_code")
        assert "no such luck" in raised.message


@pytest.mark.parametrize("status", ANTHROPIC_TYPES)
def test_errors_are_those_of_anthropic(status: int) -> None:
    fault = Fault(status, "no such luck")
    with messages(fault=fault) as (client, _), pytest.raises(anthropic.APIStatusError) as raised:
        client.messages.create(**MESSAGES_ASKED)
    assert (raised.value.status_code, raised.value.type) == (status, ANTHROPIC_TYPES[status])
    assert "no such luck" in raised.value.message


BROKEN: Final[list[StreamEvent]] = [
    Began("r", "m"),
    PartStart(Text("")),
    Grew("so far"),
    Fault(0, "too much to do", "overloaded_error"),
]


def test_an_error_inside_a_stream_is_raised_by_the_sdks() -> None:
    with chat(events=BROKEN) as (client, _), pytest.raises(openai.APIError, match="too much to do"):
        list(client.chat.completions.create(**CHAT_ASKED, stream=True))
    with messages(events=BROKEN) as (client, _), pytest.raises(anthropic.APIError, match="too much to do"):
        list(client.messages.create(**MESSAGES_ASKED, stream=True))
    with responses(events=BROKEN) as (client, _):
        last = list(client.responses.create(**RESPONSES_ASKED, stream=True))[-1]
        assert (last.type, last.response.status) == ("response.failed", "failed")
        assert (last.response.error.code, last.response.error.message) == ("server_is_overloaded", "too much to do")
        with client.responses.stream(**RESPONSES_ASKED) as stream, pytest.raises(RuntimeError, match=r"completed"):
            stream.get_final_response()


def test_an_error_before_anything_else_is_told_as_well() -> None:
    with responses(events=BROKEN[-1:]) as (client, _), client.responses.stream(**RESPONSES_ASKED) as stream:
        assert [event.type for event in stream][-1] == "response.failed"
    with chat(events=BROKEN[-1:]) as (client, _), pytest.raises(openai.APIError, match="too much to do"):
        list(client.chat.completions.create(**CHAT_ASKED, stream=True))
    with messages(events=BROKEN[-1:]) as (client, _), pytest.raises(anthropic.APIError, match="too much to do"):
        list(client.messages.create(**MESSAGES_ASKED, stream=True))


def test_a_stream_that_was_cut_has_no_end() -> None:
    cut = as_events(ANSWER)[:-1]
    with chat(events=cut) as (client, _):
        chunks = list(client.chat.completions.create(**CHAT_ASKED, stream=True))
        assert all(choice.finish_reason is None for chunk in chunks for choice in chunk.choices)
    with (
        responses(events=cut) as (client, _),
        client.responses.stream(**RESPONSES_ASKED) as stream,
        pytest.raises(RuntimeError, match=r"completed"),
    ):
        stream.get_final_response()
    with messages(events=cut) as (client, _):
        kinds = [event.type for event in client.messages.create(**MESSAGES_ASKED, stream=True)]
        assert "message_stop" not in kinds and "message_delta" not in kinds


def test_custom_tools_come_back_as_such() -> None:
    answer = ModelReply("r", "m", (ModelToolCall("c1", "patch", json.dumps({"input": "*** Begin\n+é"})),), Finish.TOOLS)
    custom = {"type": "custom", "name": "patch", "format": {"type": "text"}}
    shell = {"type": "local_shell"}
    with responses(answer=answer, events=as_events(answer)) as (client, served):
        asked: dict[str, Any] = {"model": "m", "input": "hi", "tools": [custom, shell]}
        whole = client.responses.create(**asked).output[0]
        with client.responses.stream(**asked) as stream:
            streamed = stream.get_final_response().output[0]
        for item in (whole, streamed):
            assert (item.type, item.call_id, item.name, item.input) == (
                "custom_tool_call",
                "c1",
                "patch",
                "*** Begin\n+é",
            )
        assert [tool.form for tool in served.calls[-1].tools] == ["custom", "local_shell"]
        again = [whole.to_dict(), {"type": "custom_tool_call_output", "call_id": "c1", "output": "done"}]
        client.responses.create(**{**asked, "input": again})
        (called,) = served.calls[-1].turns[0].parts
        assert isinstance(called, ModelToolCall) and json.loads(called.arguments) == {"input": "*** Begin\n+é"}
    with chat(answer=answer) as (client, _):
        tools: Any = [{"type": "custom", "custom": {"name": "patch"}}]
        call = client.chat.completions.create(model="m", messages=CHAT_ASKED["messages"], tools=tools)
        (made,) = call.choices[0].message.tool_calls or ()
        assert made.type == "custom" and made.custom.input == "*** Begin\n+é"


def test_the_local_shell_comes_back_as_such() -> None:
    arguments = json.dumps({"command": ["ls", "-l"], "timeout_ms": 5})
    answer = ModelReply("r", "m", (ModelToolCall("c1", "local_shell", arguments),), Finish.TOOLS)
    with responses(answer=answer, events=as_events(answer)) as (client, served):
        asked: dict[str, Any] = {"model": "m", "input": "hi", "tools": [{"type": "local_shell"}]}
        with client.responses.stream(**asked) as stream:
            item = stream.get_final_response().output[0]
        assert item == client.responses.create(**asked).output[0]
        assert (item.type, item.call_id, item.action.command) == ("local_shell_call", "c1", ["ls", "-l"])
        again = [item.to_dict(), {"type": "local_shell_call_output", "id": "c1", "output": "a b"}]
        client.responses.create(**{**asked, "input": again})
        (called,) = served.calls[-1].turns[0].parts
        assert isinstance(called, ModelToolCall)
        assert json.loads(called.arguments) == {"command": ["ls", "-l"], "timeout_ms": 5, "env": {}}


def _as_they_are(parts: Any) -> list[Any]:
    return list(parts)


def _dumped(parts: Any) -> list[Any]:
    return [part.model_dump() for part in parts]


def _told(parts: Any) -> list[Any]:
    return [part.model_dump(exclude_none=True) for part in parts]


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # of the SDK's own, at what it has parsed
@pytest.mark.parametrize("handed", [_as_they_are, _dumped, _told])
@pytest.mark.parametrize("answer", [ANSWER, PARSED])
def test_what_an_sdk_has_read_may_be_sent_back(handed: Callable[[Any], list[Any]], answer: ModelReply) -> None:
    expected = answer.parts
    asked = {"model": "m", "text_format": Weather} if answer is PARSED else {"model": "m"}
    with responses(answer=answer, events=as_events(answer)) as (client, served):
        with client.responses.stream(**asked, input="hi", tools=RESPONSES_ASKED["tools"]) as stream:
            output = stream.get_final_response().output
        client.responses.create(model="m", input=[*handed(output), {"role": "user", "content": "so"}])
        assert served.calls[-1].turns[0].parts == expected
    asked = {"model": "m", "response_format": Weather} if answer is PARSED else {"model": "m"}
    with chat(answer=answer, events=as_events(answer)) as (client, served):
        with client.chat.completions.stream(**asked, messages=CHAT_ASKED["messages"]) as stream:
            message = stream.get_final_completion().choices[0].message
        client.chat.completions.create(model="m", messages=handed([message]))
        assert served.calls[-1].turns[0].parts == expected
    asked = {"model": "m", "max_tokens": 9} | ({"output_format": Weather} if answer is PARSED else {})
    with messages(answer=answer, events=as_events(answer)) as (client, served):
        with client.messages.stream(**asked, messages=MESSAGES_ASKED["messages"]) as stream:
            content = stream.get_final_message().content
        back: Any = [{"role": "assistant", "content": handed(content)}]
        client.messages.create(model="m", max_tokens=9, messages=back)
        assert _spelled_alike(served.calls[-1].turns[0].parts) == _spelled_alike(expected)


def _spelled_alike(parts: tuple[Any, ...]) -> list[Any]:
    return [(part.name, json.loads(part.arguments)) if isinstance(part, ModelToolCall) else part for part in parts]
