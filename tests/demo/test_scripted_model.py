from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import BaseModel

from tokenmizer_mw.cli.demo.script import ChatMessage, find_answer, load_script
from tokenmizer_mw.cli.demo.scripted_model import LOST, MODEL, ScriptedModel, locate, reply_to
from tokenmizer_mw.context.tokens import MessageCounter, counter_for

SCRIPT = load_script()
SYSTEM: ChatMessage = {"role": "system", "content": SCRIPT.system}
MESSAGES = list(SCRIPT.transcript())
COUNTER = MessageCounter(counter_for(MODEL))


def positions() -> list[tuple[list[ChatMessage], ChatMessage]]:
    """Every point of the session where the model is asked, with what it has to say there."""
    return [
        ([SYSTEM, *MESSAGES[:place]], message)
        for place, message in enumerate(MESSAGES)
        if message["role"] == "assistant"
    ]


def ask(request: Any, **options: Any) -> tuple[int, bytes]:
    async def run() -> tuple[int, bytes]:
        body = request if isinstance(request, bytes) else json.dumps(request).encode()
        answer = await ScriptedModel(SCRIPT, COUNTER, **options).open(body)
        return answer.status, b"".join([chunk async for chunk in answer.body])

    return asyncio.run(run())


def chunks_of(raw: bytes) -> list[ChatCompletionChunk]:
    *events, done, end = raw.decode().split("\n\n")
    assert (done, end) == ("data: [DONE]", "")
    chunks = [ChatCompletionChunk.model_validate_json(event.removeprefix("data: ")) for event in events]
    for chunk in chunks:
        assert_no_unknown_field(chunk)
    return chunks


def assert_no_unknown_field(value: Any) -> None:
    if isinstance(value, list):
        for item in value:
            assert_no_unknown_field(item)
    elif isinstance(value, BaseModel):
        assert not value.model_extra
        for name in type(value).model_fields:
            assert_no_unknown_field(getattr(value, name))


def message_in(chunks: list[ChatCompletionChunk]) -> ChatMessage:
    text, calls = "", {}
    for delta in (chunk.choices[0].delta for chunk in chunks if chunk.choices):
        text += delta.content or ""
        for part in delta.tool_calls or ():
            call = calls.setdefault(
                part.index, {"id": part.id, "type": part.type, "function": {"name": "", "arguments": ""}}
            )
            call["function"]["name"] += part.function.name or ""
            call["function"]["arguments"] += part.function.arguments or ""
    message: ChatMessage = {"role": "assistant", "content": text or None}
    return message | ({"tool_calls": list(calls.values())} if calls else {})


@pytest.mark.parametrize(("history", "expected"), positions())
def test_a_stream_holds_the_scripted_message_in_valid_chunks(history: list[ChatMessage], expected: ChatMessage) -> None:
    request = {"model": "m", "messages": history, "stream": True, "stream_options": {"include_usage": True}}
    status, raw = ask(request)
    chunks = chunks_of(raw)
    assert status == 200
    assert message_in(chunks) == expected
    assert chunks[-2].choices[0].finish_reason == ("tool_calls" if "tool_calls" in expected else "stop")
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.prompt_tokens > 0
    assert len({chunk.id for chunk in chunks}) == 1


@pytest.mark.parametrize(("history", "expected"), positions()[:12])
def test_without_a_stream_it_is_one_completion(history: list[ChatMessage], expected: ChatMessage) -> None:
    status, raw = ask({"model": "m", "messages": history})
    completion = ChatCompletion.model_validate_json(raw)
    assert_no_unknown_field(completion)
    assert status == 200
    message = completion.choices[0].message
    assert message.content == expected["content"]
    assert [call.to_dict() for call in message.tool_calls or ()] == expected.get("tool_calls", [])


def test_usage_comes_only_when_asked_for() -> None:
    _, raw = ask({"model": "m", "messages": MESSAGES[:1], "stream": True})
    assert b'"usage"' not in raw


@pytest.mark.parametrize("kept", [1, 2, 5, 30])
def test_a_cut_history_makes_no_difference(kept: int) -> None:
    for history, expected in positions():
        tail = history[1:][-kept:]
        if any(message["role"] == "user" for message in tail) or tail[-1]["role"] == "tool":
            assert reply_to(SCRIPT, [SYSTEM, {"role": "user", "content": "notes"}, *tail]) == expected


def test_content_parts_are_read_as_text() -> None:
    parts = [{"type": "text", "text": SCRIPT.turns[3].user}]
    assert locate(SCRIPT, [{"role": "user", "content": parts}]) == (SCRIPT.turns[3], 0)


def test_a_foreign_conversation_is_told_so() -> None:
    assert reply_to(SCRIPT, [{"role": "user", "content": "What is the capital of Peru?"}])["content"] == LOST


PORT = next(turn for turn in SCRIPT.turns if turn.probe is not None and turn.probe.expected == "8471")


@pytest.mark.parametrize(
    ("before", "answer"),
    [
        ([], "I no longer know."),
        ([{"role": "user", "content": "Import and report 12345 things"}], "I no longer know."),
        (
            [{"role": "user", "content": "notes\n- port: 8471 (turn 3)"}],
            'My notes on our earlier work say: "port: 8471',
        ),
        ([{"role": "developer", "content": "- port 9999"}], 'My notes on our earlier work say: "port 9999"'),
        (
            [{"role": "assistant", "content": "It is port 8471."}],
            'Further up in this conversation it says: "It is port',
        ),
        ([{"role": "user", "content": SCRIPT.turns[2].user}], 'You told me earlier: "Use Flask with waitress'),
    ],
)
def test_a_probe_is_answered_from_the_request_alone(before: list[ChatMessage], answer: str) -> None:
    reply = reply_to(SCRIPT, [SYSTEM, *before, {"role": "user", "content": PORT.user}])
    assert reply["content"].startswith(answer)


def test_the_whole_history_answers_every_probe() -> None:
    for turn in SCRIPT.turns:
        if turn.probe is not None:
            place = MESSAGES.index({"role": "user", "content": turn.user})
            found = find_answer(SCRIPT, turn, MESSAGES[: place + 1])
            assert found is not None
            assert re.search(turn.probe.expected, found.line)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'{"messages": []}',
        b'{"messages": [1]}',
        b'{"messages": "x"}',
        b"[" * 20_000,
        b'{"messages": [{"role": "assistant", "tool_calls": [{}]}]}',
        b"\xff\xfe",
    ],
)
def test_what_is_not_a_request_gets_the_apis_error(body: bytes) -> None:
    status, raw = ask(body)
    assert status == 400
    assert json.loads(raw)["error"]["type"] == "invalid_request_error"


def test_a_request_beyond_the_window_is_refused_as_a_provider_does() -> None:
    status, raw = ask({"model": "m", "messages": MESSAGES[:50]}, window=1_000)
    assert status == 400
    assert json.loads(raw)["error"]["code"] == "context_length_exceeded"
