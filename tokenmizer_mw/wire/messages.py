"""Chat messages as the libraries of the field hand them over, read into words.

Understood are OpenAI-shaped objects (Chat Completions), Anthropic-shaped ones (content blocks with tool_use,
tool_result and thinking) and the flat shape of many frameworks, whose calls carry name and arguments themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from tokenmizer_mw.errors import InvalidMessage
from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult

from .dialects.openai_message import ROLES, read_content, read_message, role_of
from .history import History
from .text import storable

_BLOCKS: Final = frozenset({"tool_use", "tool_result", "server_tool_use", "thinking", "redacted_thinking"})
_CALLS: Final = frozenset({"tool_use", "server_tool_use"})


def history(messages: Iterable[Message | Mapping[str, Any]]) -> History:
    """The messages, each read when it is looked at.

    Looking at one that cannot be read raises ``InvalidMessage``, which says which one it is and why. So does, at
    once, what is not a list.
    """
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        raise InvalidMessage(f"expected a list of messages, not a {type(messages).__name__}")
    given = list(messages)
    return History(given, _roles(given), _read)


def _roles(given: list[Any]) -> list[Role]:
    try:
        return [ROLES[message["role"]] for message in given]  # nearly always, and much faster than asking each one
    except (KeyError, TypeError):
        return list(map(_role, given))


def _role(message: object) -> Role:
    """Who speaks; of what cannot be read, somebody whose words are looked at, so that the error comes out."""
    if isinstance(message, Message):
        return message.role
    return role_of(message) or Role.USER


def _read(message: object, number: int) -> Message:
    if isinstance(message, Message):
        return message
    if not isinstance(message, Mapping):
        raise InvalidMessage(f"message {number} is a {type(message).__name__}, not an object with a role")
    raw = dict(message)
    if role_of(raw) is None:
        raise InvalidMessage(f"message {number} has no role that is known: {str(raw.get('role'))[:40]!r}")
    content = raw.get("content")
    if not isinstance(content, str | list | None):
        raise InvalidMessage(f"message {number} has content of type {type(content).__name__}")
    if isinstance(content, list) and any(_kind(block) in _BLOCKS for block in content):
        return _read_blocks(raw, content)
    read = read_message(raw | {"tool_calls": _nested(raw.get("tool_calls"))} if raw.get("tool_calls") else raw)
    return _marked_failed(read) if raw.get("is_error") is True else read


def _kind(block: object) -> str:
    kind = block.get("type") if isinstance(block, dict) else None
    return kind if isinstance(kind, str) else ""


def _nested(calls: object) -> object:
    """Calls with name and arguments of their own, as OpenAI nests them."""
    if not isinstance(calls, list):
        return calls
    return [
        {"id": call.get("id"), "function": {"name": call["name"], "arguments": call.get("arguments", call.get("args"))}}
        if isinstance(call, dict) and isinstance(call.get("name"), str)
        else call
        for call in calls
    ]


def _marked_failed(message: Message) -> Message:
    return replace(message, tool_results=tuple(replace(result, is_error=True) for result in message.tool_results))


def _read_blocks(raw: dict[str, Any], blocks: list[Any]) -> Message:
    plain = read_message(raw | {"content": [block for block in blocks if _kind(block) not in _BLOCKS]})
    results = tuple(_result(block) for block in blocks if _kind(block) == "tool_result")
    thinking = [block.get("thinking") for block in blocks if _kind(block) == "thinking"]
    return replace(
        plain,
        role=Role.TOOL if results and not plain.text.strip() and not plain.attachments else plain.role,
        tool_calls=tuple(_call(block) for block in blocks if _kind(block) in _CALLS),
        tool_results=results,
        thinking=storable("\n".join(text for text in thinking if isinstance(text, str))),
    )


def _call(block: dict[str, Any]) -> ToolCall:
    try:
        arguments = json.dumps(block.get("input", {}), ensure_ascii=False, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError):
        arguments = ""
    return ToolCall(storable(str(block.get("id", ""))), storable(str(block.get("name", ""))), storable(arguments))


def _result(block: dict[str, Any]) -> ToolResult:
    text = read_content(block.get("content")).text
    return ToolResult(storable(str(block.get("tool_use_id", ""))), storable(text), block.get("is_error") is True)
