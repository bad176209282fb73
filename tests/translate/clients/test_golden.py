"""What clients are told, to the byte; and what agents ask, in words."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from tests.translate.clients.golden import FOLDER, SIDES, bodies, stream
from tokenmizer_mw.server.translate.chat import (
    AnswerFormat,
    Attachment,
    ChatTurn,
    ModelToolCall,
    ModelToolResult,
    Text,
    Thinking,
    Thought,
    ToolChoice,
)
from tokenmizer_mw.server.translate.clients.anthropic import AnthropicClient
from tokenmizer_mw.server.translate.clients.openai_chat import OpenAIChatClient
from tokenmizer_mw.server.translate.clients.openai_responses import OpenAIResponsesClient


@pytest.mark.parametrize("dialect", SIDES)
def test_streams_and_replies_are_as_recorded(dialect: str) -> None:
    assert stream(SIDES[dialect]) == (FOLDER / f"{dialect}.sse").read_bytes()
    assert bodies(SIDES[dialect]) == json.loads((FOLDER / f"{dialect}.json").read_text(encoding="utf-8"))


CLAUDE_CODE: Final[dict[str, Any]] = {
    "model": "claude-sonnet-5-5",
    "max_tokens": 32_000,
    "stream": True,
    "temperature": 1,
    "metadata": {"user_id": "user_1_account__session_2"},
    "thinking": {"type": "adaptive"},
    "output_config": {"effort": "high"},
    "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
    "system": [
        {"type": "text", "text": "You are an agent."},
        {"type": "text", "text": "Environment: none.", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
    ],
    "tools": [
        {
            "name": "Read",
            "description": "Reads a file.",
            "input_schema": {"$schema": "x", "type": "object", "properties": {"file_path": {"type": "string"}}},
            "eager_input_streaming": True,
        }
    ],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "<system-reminder>x</system-reminder>"}]},
        {"role": "user", "content": "What is in a.png?"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "I read it.", "signature": "c2ln"},
                {"type": "redacted_thinking", "data": "ZGF0YQ=="},
                {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "a.png"}},
                {"type": "tool_use", "id": "toolu_2", "name": "Read", "input": {}, "caller": {"type": "direct"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "content": [
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QQ=="}}
                    ],
                },
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_2",
                    "content": "no such file",
                    "is_error": True,
                    "cache_control": {"type": "ephemeral"},
                },
                {"type": "text", "text": "Go on."},
            ],
        },
    ],
}


def test_a_request_of_claude_code_in_words() -> None:
    call = AnthropicClient().call(CLAUDE_CODE)
    assert call.turns == (
        ChatTurn("system", (Text("You are an agent."), Text("Environment: none."))),
        ChatTurn("user", (Text("<system-reminder>x</system-reminder>"),)),
        ChatTurn("user", (Text("What is in a.png?"),)),
        ChatTurn(
            "assistant",
            (
                Thought("I read it.", "c2ln", "anthropic"),
                Thought("", "ZGF0YQ==", "anthropic", hidden=True),
                ModelToolCall("toolu_1", "Read", '{"file_path": "a.png"}'),
                ModelToolCall("toolu_2", "Read", "{}"),
            ),
        ),
        ChatTurn(
            "user",
            (
                ModelToolResult("toolu_1", (Attachment("image", "image/png", "QQ=="),), "Read"),
                ModelToolResult("toolu_2", (Text("no such file"),), "Read", failed=True),
                Text("Go on."),
            ),
        ),
    )
    assert call.thinking == Thinking("high", shown=True)
    assert (call.stream, call.user, call.choice, call.parallel) == (True, "user_1_account__session_2", None, None)
    assert [(tool.name, tool.form) for tool in call.tools] == [("Read", "function")]


CODEX: Final[dict[str, Any]] = {
    "model": "gpt-5.1-codex",
    "instructions": "You are Codex.",
    "store": False,
    "stream": True,
    "include": ["reasoning.encrypted_content"],
    "prompt_cache_key": "thread-1",
    "parallel_tool_calls": False,
    "tool_choice": "auto",
    "reasoning": {"effort": "medium", "summary": "auto"},
    "tools": [
        {
            "type": "function",
            "name": "shell",
            "description": "Runs.",
            "strict": False,
            "parameters": {"type": "object"},
        },
        {
            "type": "custom",
            "name": "apply_patch",
            "description": "Patches.",
            "format": {"type": "grammar", "syntax": "lark", "definition": "start: begin"},
        },
    ],
    "input": [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Sandbox."}]},
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Fix it."},
                {"type": "input_image", "image_url": "data:image/png;base64,QQ==", "detail": "high"},
            ],
        },
        {"type": "reasoning", "summary": [], "content": None, "encrypted_content": "gAAA"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "call_1"},
        {"type": "custom_tool_call", "status": "completed", "call_id": "call_2", "name": "apply_patch", "input": "+ a"},
        {"type": "function_call_output", "call_id": "call_1", "output": "a.py"},
        {
            "type": "custom_tool_call_output",
            "call_id": "call_2",
            "output": [{"type": "input_text", "text": "Exit code: 0"}],
        },
    ],
}


def test_a_request_of_codex_in_words() -> None:
    call = OpenAIResponsesClient().call(CODEX)
    assert call.turns == (
        ChatTurn("system", (Text("You are Codex."),)),
        ChatTurn("system", (Text("Sandbox."),)),
        ChatTurn("user", (Text("Fix it."), Attachment("image", "image/png", "QQ==", detail="high"))),
        ChatTurn(
            "assistant",
            (
                Thought("", "gAAA", "openai_responses"),
                Text("I look."),
                ModelToolCall("call_1", "shell", '{"command":["ls"]}'),
                ModelToolCall("call_2", "apply_patch", '{"input": "+ a"}'),
            ),
        ),
        ChatTurn(
            "user",
            (
                ModelToolResult("call_1", (Text("a.py"),), "shell"),
                ModelToolResult("call_2", (Text("Exit code: 0"),), "apply_patch"),
            ),
        ),
    )
    assert call.thinking == Thinking("medium", shown=True)
    assert (call.parallel, call.choice) == (False, ToolChoice("auto"))
    assert [(tool.name, tool.form) for tool in call.tools] == [("shell", "function"), ("apply_patch", "custom")]
    assert call.tools[1].description == "Patches.\n\nThe input must match this grammar (lark):\nstart: begin"


def test_a_chat_request_with_media_and_a_form_in_words() -> None:
    call = OpenAIChatClient().call(
        {
            "model": "m",
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}},
                        {"type": "input_audio", "input_audio": {"data": "QQ==", "format": "mp3"}},
                        {
                            "type": "file",
                            "file": {"file_data": "data:application/pdf;base64,QQ==", "filename": "a.pdf"},
                        },
                    ],
                },
                {"role": "assistant", "content": None, "refusal": "No.", "reasoning_content": "Hm."},
            ],
            "stop": "END",
            "max_tokens": 7,
            "reasoning_effort": "low",
            "response_format": {
                "type": "json_schema",
                "json_schema": {
                    "name": "n",
                    "description": "It.",
                    "schema": {"type": "object"},
                    "strict": True,
                },
            },
        }
    )
    assert call.turns == (
        ChatTurn(
            "user",
            (
                Attachment("image", url="https://example.org/a.png", detail="low"),
                Attachment("audio", "audio/mp3", "QQ=="),
                Attachment("document", "application/pdf", "QQ==", name="a.pdf"),
            ),
        ),
        ChatTurn("assistant", (Thought("Hm."), Text("No."))),
    )
    assert (call.sampling.stop, call.sampling.max_tokens) == (("END",), 7)
    assert call.thinking == Thinking("low", shown=True)
    assert call.format == AnswerFormat({"description": "It.", "type": "object"}, "n", strict=True)
