"""Parser of Anthropic Messages requests, and how each of their fields is handled."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Final, Literal, cast

from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.server.translate.chat import (
    AnswerFormat,
    Attachment,
    ChatCall,
    ChatTurn,
    ModelToolCall,
    ModelToolResult,
    Part,
    Role,
    Sampling,
    Text,
    Thinking,
    Tool,
    ToolChoice,
)

from .request_parts import (
    CACHED,
    CARRIED,
    READ,
    REFUSED,
    Fields,
    Table,
    bare_id,
    check_fields,
    join_turns,
    left_out,
    make_thought,
    make_turns,
    only,
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
    "messages": CARRIED,
    "metadata": CARRIED,
    "model": CARRIED,
    "output_config": CARRIED,
    "service_tier": only("auto", "standard_only"),
    "speed": only("standard"),
    "stop_sequences": CARRIED,
    "stream": CARRIED,
    "system": CARRIED,
    "temperature": CARRIED,
    "thinking": CARRIED,
    "tool_choice": CARRIED,
    "tools": CARRIED,
    "top_k": CARRIED,
    "top_p": CARRIED,
    "user_profile_id": REFUSED,
    "workspace_id": REFUSED,
}

METADATA: Final[Table] = {"user_id": CARRIED}

OUTPUT: Final[Table] = {"effort": CARRIED, "format": CARRIED}

FORMATS: Final[Mapping[str, Table]] = {"json_schema": {"type": CARRIED, "schema": CARRIED}}

_MESSAGE: Final[Table] = {"role": CARRIED, "content": CARRIED}

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
    "document": {
        **_BLOCK,
        "source": CARRIED,
        "title": CARRIED,
        "context": only(""),
        "citations": only({"enabled": False}),
    },
}

BLOCKS: Final[Mapping[str, Mapping[str, Table]]] = {
    "system": TEXTS,
    "user": {
        **SHOWN,
        "tool_result": {
            **_BLOCK,
            "tool_use_id": CARRIED,
            "content": CARRIED,
            "is_error": CARRIED,
            "toolset_name": REFUSED,
        },
    },
    "assistant": {
        **TEXTS,
        "thinking": {**_BLOCK, "thinking": CARRIED, "signature": CARRIED},
        "redacted_thinking": {**_BLOCK, "data": CARRIED},
        "tool_use": {
            **_BLOCK,
            "id": CARRIED,
            "name": CARRIED,
            "input": CARRIED,
            "caller": only({"type": "direct"}),
            "toolset_name": REFUSED,
        },
    },
}

SOURCES: Final[Mapping[str, Table]] = {
    "base64": {"type": CARRIED, "media_type": CARRIED, "data": CARRIED},
    "text": {"type": CARRIED, "media_type": CARRIED, "data": CARRIED},
    "url": {"type": CARRIED, "url": CARRIED},
}

_TOOL: Final[Table] = {
    "type": CARRIED,
    "name": CARRIED,
    "description": CARRIED,
    "input_schema": CARRIED,
    "strict": CARRIED,
    "cache_control": CACHED,
    "allowed_callers": only(["direct"]),
    "defer_loading": only(False),
    "eager_input_streaming": left_out("asks for arguments a little earlier"),
    "input_examples": only([]),
}

TOOLS: Final[Mapping[str, Table]] = {"custom": _TOOL}

_CHOICE: Final[Table] = {"type": CARRIED, "disable_parallel_tool_use": CARRIED}

CHOICES: Final[Mapping[str, Table]] = {
    "auto": _CHOICE,
    "any": _CHOICE,
    "tool": {**_CHOICE, "name": CARRIED},
    "none": {"type": CARRIED},
}

THINKING: Final[Mapping[str, Table]] = {
    "enabled": {"type": CARRIED, "budget_tokens": CARRIED, "display": CARRIED},
    "adaptive": {"type": CARRIED, "display": CARRIED},
    "disabled": {"type": CARRIED},
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
"""Where a client tells what a provider's side names."""

_MODES: Final[Mapping[str, Literal["auto", "none", "any", "named"]]] = {
    "auto": "auto",
    "any": "any",
    "tool": "named",
    "none": "none",
}


def read(body: Mapping[str, Any]) -> ChatCall:
    """Parse an Anthropic Messages request. Raises ``Untranslatable`` and ``MalformedRequest``."""
    fields = check_fields(body, "", REQUEST)
    choice = fields.variant("tool_choice", CHOICES)
    output = fields.child("output_config", OUTPUT)
    metadata = fields.child("metadata", METADATA)
    alone = choice.flag("disable_parallel_tool_use") if choice else None
    return ChatCall(
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


def _read_turns(fields: Fields) -> tuple[ChatTurn, ...]:
    values = make_turns("system", _content(fields, "system", TEXTS))
    messages = [message.one_of("role", MESSAGES) for message in fields.items("messages")]
    if not messages:
        raise MalformedRequest("messages: a message is needed")
    for message in messages:
        values += _message(message)
    return join_turns(values)


def _message(message: Fields) -> list[ChatTurn]:
    role = cast("Role", message.text("role"))
    return make_turns(role, _content(message, "content", BLOCKS[role]))


def _content(fields: Fields, name: str, tables: Mapping[str, Table]) -> list[Part]:
    if isinstance(fields.raw.get(name), str):
        return [Text(fields.text(name))]
    return [_part(block.one_of("type", tables)) for block in fields.items(name)]


def _part(block: Fields) -> Part:
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
            return Text(block.text("text"))


def _attachment(block: Fields, kind: Literal["image", "document"]) -> Attachment:
    values = block.mapping("source")
    source = Fields(values or {}, block.at("source")).one_of("type", SOURCES)
    name = block.text("title")
    match source.text("type"):
        case "url":
            return Attachment(kind, url=source.required_text("url"), name=name)
        case "text":
            data = b64encode(source.text("data").encode("utf-8", "replace")).decode("ascii")
            return Attachment(kind, source.text("media_type", "text/plain"), data, name=name)
        case _:
            return Attachment(kind, source.required_text("media_type"), source.required_text("data"), name=name)


def _call(block: Fields) -> ModelToolCall:
    arguments = json.dumps(block.mapping("input") or {}, ensure_ascii=False)
    return sealed_call(block.required_text("id"), block.required_text("name"), arguments)


def _result(block: Fields) -> ModelToolResult:
    parts = cast("tuple[Text | Attachment, ...]", tuple(_content(block, "content", SHOWN)))
    return ModelToolResult(bare_id(block.required_text("tool_use_id")), parts, failed=block.flag("is_error") or False)


def _tool(tool: Fields) -> Tool:
    return Tool(tool.required_text("name"), tool.text("description"), tool.mapping("input_schema"), tool.flag("strict"))


def _tool_choice(choice: Fields) -> ToolChoice:
    mode = _MODES[choice.text("type")]
    return ToolChoice(mode, choice.required_text("name") if mode == "named" else "")


def _sampling(fields: Fields) -> Sampling:
    return Sampling(
        max_tokens=fields.whole("max_tokens"),
        temperature=fields.number("temperature"),
        top_p=fields.number("top_p"),
        top_k=fields.whole("top_k"),
        stop=fields.texts("stop_sequences"),
    )


def _format(output: Fields | None) -> AnswerFormat | None:
    form = output.variant("format", FORMATS) if output else None
    return AnswerFormat(form.mapping("schema") or {}, strict=True) if form else None


def _thinking(fields: Fields, effort: str) -> Thinking | None:
    """How much to think. Thoughts are shown unless the client asks for none; an effort alone asks for nothing to be
    shown."""
    thinking = fields.variant("thinking", THINKING)
    if thinking is None:
        return Thinking(effort) if effort else None
    if thinking.text("type") == "disabled":
        return Thinking("none")
    return Thinking(effort, thinking.whole("budget_tokens"), shown=thinking.text("display") != "omitted")
