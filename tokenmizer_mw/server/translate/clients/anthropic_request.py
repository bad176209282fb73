"""Parser of requests in the API format (dialect) Anthropic Messages, and tables that say how each of their fields is
handled."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Final, Literal, cast

from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.server.translate import chat

from .request_parts import (
    CACHED,
    CARRIED,
    READ,
    REFUSED,
    Fields,
    Table,
    bare_id,
    carry,
    check_fields,
    join_turns,
    left_out,
    make_thought,
    make_turns,
    only,
    read_content,
    sealed_call,
)

NAME: Final = "anthropic"

REQUEST: Final[Table] = {
    "cache_control": CACHED,
    "container": REFUSED,
    "context_management": only({"edits": []}, {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}),
    "diagnostics": left_out("asks the provider about its cache"),
    "inference_geo": REFUSED,
    "max_tokens": CARRIED,
    "mcp_servers": only([]),
    **carry("messages", "metadata", "model", "output_config"),
    "service_tier": only("auto", "standard_only"),
    "speed": only("standard"),
    **carry("stop_sequences", "stream", "system", "temperature", "thinking", "tool_choice", "tools", "top_k", "top_p"),
    "user_profile_id": REFUSED,
    "workspace_id": REFUSED,
}

METADATA: Final[Table] = carry("user_id")
OUTPUT: Final[Table] = carry("effort", "format")
FORMATS: Final[Mapping[str, Table]] = {"json_schema": carry("type", "schema")}
_MESSAGE: Final[Table] = carry("role", "content")
MESSAGES: Final[Mapping[str, Table]] = dict.fromkeys(("user", "assistant", "system"), _MESSAGE)
_BLOCK: Final[Table] = {"type": CARRIED, "cache_control": CACHED}

_TEXT: Final[Table] = {
    **_BLOCK,
    "text": CARRIED,
    "parsed_output": READ,
    "citations": left_out("where the text was found; the text is whole without"),
}

TEXTS: Final[Mapping[str, Table]] = {"text": _TEXT}

SHOWN: Final[Mapping[str, Table]] = {
    "text": _TEXT,
    "image": {**_BLOCK, "source": CARRIED, "transformations": REFUSED},
    "document": {**_BLOCK, **carry("source", "title"), "context": only(""), "citations": only({"enabled": False})},
}

BLOCKS: Final[Mapping[str, Mapping[str, Table]]] = {
    "system": TEXTS,
    "user": {
        **SHOWN,
        "tool_result": {**_BLOCK, **carry("tool_use_id", "content", "is_error"), "toolset_name": REFUSED},
    },
    "assistant": {
        **TEXTS,
        "thinking": {**_BLOCK, "thinking": CARRIED, "signature": CARRIED},
        "redacted_thinking": {**_BLOCK, "data": CARRIED},
        "tool_use": {
            **_BLOCK,
            **carry("id", "name", "input"),
            "caller": only({"type": "direct"}),
            "toolset_name": REFUSED,
        },
    },
}

SOURCES: Final[Mapping[str, Table]] = {
    "base64": carry("type", "media_type", "data"),
    "text": carry("type", "media_type", "data"),
    "url": carry("type", "url"),
}

_TOOL: Final[Table] = {
    **carry("type", "name", "description", "input_schema", "strict"),
    "cache_control": CACHED,
    "allowed_callers": only(["direct"]),
    "defer_loading": only(False),
    "eager_input_streaming": left_out("asks for arguments a little earlier"),
    "input_examples": only([]),
}

TOOLS: Final[Mapping[str, Table]] = {"custom": _TOOL}
_CHOICE: Final[Table] = carry("type", "disable_parallel_tool_use")

CHOICES: Final[Mapping[str, Table]] = {
    "auto": _CHOICE,
    "any": _CHOICE,
    "tool": {**_CHOICE, "name": CARRIED},
    "none": carry("type"),
}

THINKING: Final[Mapping[str, Table]] = {
    "enabled": carry("type", "budget_tokens", "display"),
    "adaptive": carry("type", "display"),
    "disabled": carry("type"),
}

WORDS: Final[Mapping[str, str]] = {
    "sampling.stop": "stop_sequences",
    "sampling": "",
    "format": "output_config.format",
    "thinking.effort": "output_config.effort",
    "thinking": "thinking",
    "choice": "tool_choice",
    "parallel": "tool_choice.disable_parallel_tool_use",
    "tools": "tools",
    "system": "system",
    **dict.fromkeys(("assistant", "image", "document", "audio", "call", "result"), "messages"),
}
"""Field names for errors: name in the API-independent types of ``translate.chat``, whole or only its first part, such
as "sampling" -> this API format's name. "" stands for the rest of the name: "sampling.seed" is "seed" then
(``client_field`` does that)."""

_MODES: Final[Mapping[str, Literal["auto", "none", "any", "named"]]] = {
    "auto": "auto",
    "any": "any",
    "tool": "named",
    "none": "none",
}


def read(body: Mapping[str, Any]) -> chat.ChatCall:
    """Parse the JSON object of an Anthropic Messages request. Raises ``Untranslatable`` for a field or value that other
    API formats cannot express, and ``MalformedRequest`` for an invalid request."""
    fields = check_fields(body, "", REQUEST)
    choice = fields.variant("tool_choice", CHOICES)
    output = fields.child("output_config", OUTPUT)
    metadata = fields.child("metadata", METADATA)
    alone = choice.flag("disable_parallel_tool_use") if choice else None
    return chat.ChatCall(
        model=fields.required_text("model"),
        turns=_read_turns(fields),
        tools=tuple(_tool(tool.one_of("type", TOOLS, "custom")) for tool in fields.items("tools")),
        choice=_tool_choice(choice) if choice else None,
        parallel=None if alone is None else not alone,
        sampling=_sampling(fields),
        format=_format(output),
        thinking=_thinking(fields, output.text("effort") if output else ""),
        stream=fields.flag("stream") or False,
        usage=True,
        user=metadata.text("user_id") if metadata else "",
    )


def _read_turns(fields: Fields) -> tuple[chat.ChatTurn, ...]:
    values = make_turns("system", read_content(fields, "system", TEXTS, _part))
    messages = [message.one_of("role", MESSAGES) for message in fields.items("messages")]
    if not messages:
        raise MalformedRequest("messages: a message is needed")
    for message in messages:
        values += _message(message)
    return join_turns(values)


def _message(message: Fields) -> list[chat.ChatTurn]:
    role = cast("chat.Role", message.text("role"))
    return make_turns(role, read_content(message, "content", BLOCKS[role], _part))


def _part(block: Fields) -> chat.Part:
    match block.text("type"):
        case "image" | "document" as kind:
            return _attachment(block, kind)
        case "thinking":
            return make_thought(block.text("thinking"), block.text("signature"), NAME)
        case "redacted_thinking":
            return make_thought("", block.required_text("data"), NAME, hidden=True)
        case "tool_use":
            return _call(block)
        case "tool_result":
            return _result(block)
        case _:
            return chat.Text(block.text("text"))


def _attachment(block: Fields, kind: Literal["image", "document"]) -> chat.Attachment:
    values = block.mapping("source")
    source = Fields(values or {}, block.at("source")).one_of("type", SOURCES)
    name = block.text("title")
    match source.text("type"):
        case "url":
            return chat.Attachment(kind, url=source.required_text("url"), name=name)
        case "text":
            data = b64encode(source.text("data").encode("utf-8", "replace")).decode("ascii")
            return chat.Attachment(kind, source.text("media_type", "text/plain"), data, name=name)
        case _:
            return chat.Attachment(kind, source.required_text("media_type"), source.required_text("data"), name=name)


def _call(block: Fields) -> chat.ModelToolCall:
    arguments = json.dumps(block.mapping("input") or {}, ensure_ascii=False)
    return sealed_call(block.required_text("id"), block.required_text("name"), arguments)


def _result(block: Fields) -> chat.ModelToolResult:
    parts = cast("tuple[chat.Text | chat.Attachment, ...]", tuple(read_content(block, "content", SHOWN, _part)))
    return chat.ModelToolResult(
        bare_id(block.required_text("tool_use_id")), parts, failed=block.flag("is_error") or False
    )


def _tool(tool: Fields) -> chat.Tool:
    return chat.Tool(
        tool.required_text("name"), tool.text("description"), tool.mapping("input_schema"), tool.flag("strict")
    )


def _tool_choice(choice: Fields) -> chat.ToolChoice:
    mode = _MODES[choice.text("type")]
    return chat.ToolChoice(mode, choice.required_text("name") if mode == "named" else "")


def _sampling(fields: Fields) -> chat.Sampling:
    return chat.Sampling(
        max_tokens=fields.whole("max_tokens"),
        temperature=fields.number("temperature"),
        top_p=fields.number("top_p"),
        top_k=fields.whole("top_k"),
        stop=fields.texts("stop_sequences"),
    )


def _format(output: Fields | None) -> chat.AnswerFormat | None:
    form = output.variant("format", FORMATS) if output else None
    return chat.AnswerFormat(form.mapping("schema") or {}, strict=True) if form else None


def _thinking(fields: Fields, effort: str) -> chat.Thinking | None:
    """Return how much the model may reason; ``None`` if the request does not say. If the request has the field
    ``thinking``, reasoning is shown unless the client declines it. An ``effort`` alone does not show it."""
    thinking = fields.variant("thinking", THINKING)
    if thinking is None:
        return chat.Thinking(effort) if effort else None
    if thinking.text("type") == "disabled":
        return chat.Thinking("none")
    return chat.Thinking(effort, thinking.whole("budget_tokens"), shown=thinking.text("display") != "omitted")
