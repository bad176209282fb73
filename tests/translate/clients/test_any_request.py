"""Whatever a client sends, the answer is a call or one of two errors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.errors import MalformedRequest, Untranslatable
from tokenmizer_mw.server.translate.chat import ChatCall
from tokenmizer_mw.server.translate.clients.anthropic import AnthropicClient
from tokenmizer_mw.server.translate.clients.openai_chat import OpenAIChatClient
from tokenmizer_mw.server.translate.clients.openai_responses import OpenAIResponsesClient
from tokenmizer_mw.server.translate.translation import ClientSide

SIDES: Final[Mapping[str, ClientSide]] = {
    side.name: side for side in (OpenAIChatClient(), OpenAIResponsesClient(), AnthropicClient())
}
ANYTHING: Final = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats(0, 2) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=9,
)


@pytest.mark.parametrize("dialect", SIDES)
@given(data=st.data())
def test_a_sound_request_with_something_else_in_it_is_a_call_or_an_error(dialect: str, data: st.DataObject) -> None:
    body = json.loads(json.dumps(SOUND[dialect]))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from([place for _, place in _objects(body, "") if place]))
        place[data.draw(st.sampled_from(sorted(place)))] = data.draw(ANYTHING)
    try:
        call = SIDES[dialect].call(body)
    except Untranslatable as error:
        assert error.field
    except MalformedRequest as error:
        assert str(error)
    else:
        assert isinstance(call, ChatCall)


@pytest.mark.parametrize("dialect", SIDES)
@given(data=st.data())
def test_one_strange_member_somewhere_is_never_passed_over(dialect: str, data: st.DataObject) -> None:
    """A field that nobody knows, put into any object of a sound request, is refused with its place."""
    request = json.loads(json.dumps(SOUND[dialect]))
    places = list(_objects(request, ""))
    path, place = data.draw(st.sampled_from(places))
    place["strange_field"] = data.draw(st.sampled_from([1, "x", [], {}, False]))
    with pytest.raises(Untranslatable) as refused:
        SIDES[dialect].call(request)
    assert refused.value.field == (f"{path}.strange_field" if path else "strange_field")


def _objects(value: Any, path: str) -> Any:
    """Every object of a request and its place, but those whose names are the client's own."""
    if isinstance(value, dict):
        yield path, value
        for name, inner in value.items():
            if name not in OPAQUE and value.get("type") != "tool_use":
                yield from _objects(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _objects(inner, f"{path}[{index}]")


OPAQUE: Final = ("parameters", "input_schema", "schema")

SOUND: Final[Mapping[str, dict[str, Any]]] = {
    "openai_chat": {
        "model": "m",
        "stream_options": {"include_usage": True},
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}},
        "tool_choice": {"type": "function", "function": {"name": "look"}},
        "tools": [
            {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}},
            {
                "type": "custom",
                "custom": {
                    "name": "patch",
                    "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /x/"}},
                },
            },
        ],
        "messages": [
            {"role": "system", "content": "s"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "t"},
                    {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
                    {"type": "input_audio", "input_audio": {"data": "QQ==", "format": "wav"}},
                    {"type": "file", "file": {"file_data": "QQ=="}},
                ],
            },
            {
                "role": "assistant",
                "reasoning_details": [{"type": "reasoning.text", "text": "hm"}],
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}},
                    {"id": "c2", "type": "custom", "custom": {"name": "patch", "input": "x"}},
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "1"},
            {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "2"}]},
        ],
    },
    "openai_responses": {
        "model": "m",
        "stream_options": {"include_obfuscation": False},
        "reasoning": {"effort": "low"},
        "text": {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}}},
        "tool_choice": {"type": "custom", "name": "patch"},
        "tools": [
            {"type": "function", "name": "look", "parameters": {"type": "object"}},
            {
                "type": "custom",
                "name": "patch",
                "format": {"type": "grammar", "syntax": "lark", "definition": "start: /x/"},
            },
            {"type": "local_shell"},
        ],
        "input": [
            {"role": "developer", "content": "s"},
            {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "t"},
                    {"type": "input_image", "image_url": "https://example.org/a.png"},
                    {"type": "input_file", "file_url": "https://example.org/a.pdf"},
                ],
            },
            {
                "type": "reasoning",
                "id": "r",
                "summary": [{"type": "summary_text", "text": "s"}],
                "content": [{"type": "reasoning_text", "text": "s"}],
            },
            {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
            {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "x"},
            {"type": "local_shell_call", "id": "l", "call_id": "c3", "action": {"type": "exec", "command": ["ls"]}},
            {"type": "function_call_output", "call_id": "c1", "output": "1"},
            {"type": "custom_tool_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "2"}]},
            {"type": "local_shell_call_output", "id": "c3", "output": "3"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "t"}]},
        ],
    },
    "anthropic": {
        "model": "m",
        "max_tokens": 9,
        "metadata": {"user_id": "u"},
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}},
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "tool_choice": {"type": "tool", "name": "look"},
        "tools": [{"name": "look", "input_schema": {"type": "object"}}],
        "system": [{"type": "text", "text": "s"}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "t"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QQ=="}},
                    {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "d"}},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "t", "signature": "s"},
                    {"type": "redacted_thinking", "data": "d"},
                    {"type": "text", "text": "t"},
                ],
            },
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": []}]},
            {"role": "system", "content": "s"},
        ],
    },
}
