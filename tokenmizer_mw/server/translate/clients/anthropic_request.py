"""Parser of Anthropic Messages requests."""

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

from .anthropic_fields import (
    BLOCKS,
    CHOICES,
    FORMATS,
    MESSAGES,
    METADATA,
    NAME,
    OUTPUT,
    REQUEST,
    SHOWN,
    SOURCES,
    TEXTS,
    THINKING,
    TOOLS,
)
from .fields import Fields, Table, check_fields
from .parts import join_turns, make_turns
from .seals import bare_id, make_thought, sealed_call

_MODES: Final[Mapping[str, Literal["auto", "none", "any", "named"]]] = {
    "auto": "auto",
    "any": "any",
    "tool": "named",
    "none": "none",
}


def read(body: Mapping[str, Any]) -> ChatCall:
    """Parse the request. Raises ``Untranslatable`` and ``MalformedRequest``."""
    fields = check_fields(body, "", REQUEST)
    choice = fields.variant("tool_choice", CHOICES)
    output = fields.child("output_config", OUTPUT)
    metadata = fields.child("metadata", METADATA)
    alone = choice.flag("disable_parallel_tool_use") if choice else None
    return ChatCall(
        model=fields.required_text("model"),
        said=_read_turns(fields),
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
    told = make_turns("system", _content(fields, "system", TEXTS))
    messages = [message.one_of("role", MESSAGES) for message in fields.items("messages")]
    if not messages:
        raise MalformedRequest("messages: a message is needed")
    for message in messages:
        told += _message(message)
    return join_turns(told)


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
    told = block.mapping("source")
    source = Fields(told or {}, block.at("source")).one_of("type", SOURCES)
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
