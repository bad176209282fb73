"""Converts LlamaIndex messages to log messages, and back exactly."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, get_args

from llama_index.core.base.llms.types import ChatMessage, ContentBlock, MessageRole
from llama_index.core.schema import ImageDocument
from pydantic import BaseModel, ValidationError

from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult, Written

_ROLES: Final = {
    MessageRole.SYSTEM: Role.SYSTEM,
    MessageRole.DEVELOPER: Role.SYSTEM,
    MessageRole.USER: Role.USER,
    MessageRole.ASSISTANT: Role.ASSISTANT,
    MessageRole.CHATBOT: Role.ASSISTANT,
    MessageRole.MODEL: Role.ASSISTANT,
    MessageRole.TOOL: Role.TOOL,
    MessageRole.FUNCTION: Role.TOOL,
}

_READ: Final = frozenset({"text", "thinking", "tool_call", "cache"})
"""Kinds of content blocks that are not attachments."""

_BLOCKS: Final[dict[str, type[BaseModel]]] = {
    block.model_fields["block_type"].default: block for block in get_args(get_args(ContentBlock)[0])
}


def written(message: ChatMessage) -> Written:
    """Return ``message`` for the log: its text, and the whole message as JSON.

    Raises ``ValueError`` for anything but a ``ChatMessage``, and for content that is not JSON.
    """
    if not isinstance(message, ChatMessage):
        raise ValueError(f"expected a ChatMessage, not {_a(message)}")
    try:
        data = message.model_dump(mode="json")
        original = json.dumps(data, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"a message of the role {message.role.value!r} cannot be written as JSON: {error}") from error
    return Written(_read(message.role, data), original)


def chat_message(written: Written) -> ChatMessage:
    """Return the original message; a message that was recorded in another way is converted as far as LlamaIndex
    allows."""
    if not written.original:
        return _composed(written.message)
    data = json.loads(written.original)
    images = data["additional_kwargs"].pop("images", None)
    try:
        message = ChatMessage.model_validate(data)
    except ValidationError:
        message = _unchecked(data)
    if images is not None:  # their blocks are among the others: a message that is made anew would add them again
        message.additional_kwargs["images"] = [ImageDocument.model_validate(each) for each in images]
    return message


def _a(value: object) -> str:
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _read(role: MessageRole, data: Mapping[str, Any]) -> Message:
    blocks, beside = data["blocks"], data["additional_kwargs"]
    text = "\n".join(block["text"] for block in blocks if block["block_type"] == "text")
    thinking = [block["content"] for block in blocks if block["block_type"] == "thinking" and block["content"]]
    attachments = tuple(block["block_type"] for block in blocks if block["block_type"] not in _READ)
    if _ROLES[role] is Role.TOOL:
        result = ToolResult(str(beside.get("tool_call_id") or ""), text)
        return Message(Role.TOOL, tool_results=(result,), attachments=attachments)
    calls: dict[str, ToolCall] = {}
    for call in _calls(blocks, beside):
        calls.setdefault(call.id or f"#{len(calls)}", call)
    return Message(_ROLES[role], text, tuple(calls.values()), thinking="\n".join(thinking), attachments=attachments)


def _calls(blocks: list[Any], beside: Mapping[str, Any]) -> Iterator[ToolCall]:
    """Yield the tool calls of a message: those in its blocks, and those that some model classes put into
    ``additional_kwargs``."""
    for block in blocks:
        if block["block_type"] == "tool_call":
            yield _call(block["tool_call_id"], block["tool_name"], block["tool_kwargs"])
    calls = beside.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            named = call["function"] if isinstance(call.get("function"), dict) else call
            arguments = next((named[name] for name in ("arguments", "args", "input") if name in named), "")
            yield _call(call.get("id"), named.get("name"), arguments)


def _call(id: object, name: object, arguments: object) -> ToolCall:
    spelled = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(str(id or ""), str(name or ""), spelled)


def _composed(message: Message) -> ChatMessage:
    """Build the LlamaIndex form of a message that was recorded by a middleware or another framework."""
    blocks: list[dict[str, Any]] = [{"block_type": "text", "text": message.text}] if message.text else []
    if message.thinking:
        blocks.insert(0, {"block_type": "thinking", "content": message.thinking})
    for call in message.tool_calls:
        blocks.append(
            {"block_type": "tool_call", "tool_call_id": call.id, "tool_name": call.name, "tool_kwargs": call.arguments}
        )
    beside: dict[str, Any] = {}
    if message.tool_results:
        blocks.append({"block_type": "text", "text": "\n".join(result.text for result in message.tool_results)})
        beside["tool_call_id"] = message.tool_results[0].call_id
    data = {"role": message.role.value, "blocks": blocks, "additional_kwargs": beside}
    return ChatMessage.model_validate(data)


def _unchecked(data: Mapping[str, Any]) -> ChatMessage:
    """Build a message without validation, for one that is no longer valid, for example because a file that it names is
    gone."""
    return ChatMessage.model_construct(
        role=MessageRole(data["role"]),
        additional_kwargs=data["additional_kwargs"],
        blocks=[_block(block) for block in data["blocks"]],
    )


def _block(data: Mapping[str, Any]) -> BaseModel:
    kind = _BLOCKS[data["block_type"]]
    try:
        return kind.model_validate(data)
    except ValidationError:
        path = data.get("path")
        return kind.model_construct(**{**data, "path": Path(path)} if path else data)
