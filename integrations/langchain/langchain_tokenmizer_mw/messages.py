"""Converts LangChain messages to session messages, and to JSON text from which they are restored exactly."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
    message_to_dict,
    messages_from_dict,
)

from tokenmizer_mw.errors import name_type
from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult, Written
from tokenmizer_mw.wire.history import History

_ROLES: Final[tuple[tuple[type[BaseMessage], Role], ...]] = (
    (HumanMessage, Role.USER),
    (AIMessage, Role.ASSISTANT),
    (SystemMessage, Role.SYSTEM),
    (ToolMessage, Role.TOOL),
    (FunctionMessage, Role.TOOL),
)
_SPOKEN: Final = {"assistant": Role.ASSISTANT, "ai": Role.ASSISTANT, "system": Role.SYSTEM, "developer": Role.SYSTEM}
_THOUGHTS: Final = frozenset({"thinking", "reasoning", "redacted_thinking", "reasoning_content"})
_CALLS: Final = frozenset(
    {"tool_use", "tool_call", "tool_call_chunk", "invalid_tool_call", "function_call", "input_json_delta"}
)
"""Types of content parts that repeat what ``tool_calls`` of the message contains."""


def chat(messages: Iterable[BaseMessage]) -> History:
    """Return LangChain messages in the form that ``SessionMemory`` takes; each is converted when it is accessed."""
    given = list(messages)
    return History(given, list(map(role, given)), lambda message, _: spoken(message))


def written(messages: Iterable[Any]) -> list[Written]:
    """Return the messages with the JSON text from which ``unwritten`` restores them.

    Accepts whatever LangChain converts to messages, such as strings, pairs and dictionaries. Raises LangChain's errors
    for anything else, ``ValueError`` for message classes that cannot be restored, and ``TypeError`` for content that is
    not JSON; nothing is converted then.
    """
    if isinstance(messages, str | bytes | Mapping | BaseMessage):
        raise TypeError(f"expected a list of messages, not {name_type(messages)}")
    given = [one if isinstance(one, BaseMessage) else convert_to_messages([one])[0] for one in messages]
    return [_written(message, number) for number, message in enumerate(given, 1)]


def unwritten(written: Iterable[Written]) -> list[BaseMessage]:
    """Return the original LangChain messages; messages that were recorded in another way are converted."""
    return [_again(one) for one in written]


def role(message: BaseMessage) -> Role:
    """Return the role of a message: a ``ChatMessage`` names it; "user" for unknown classes."""
    if isinstance(message, ChatMessage):
        return _SPOKEN.get(message.role.lower(), Role.USER)
    return next((role for kind, role in _ROLES if isinstance(message, kind)), Role.USER)


def spoken(message: Any) -> Message:
    """Return ``message`` as a session message."""
    parts = [message.content] if isinstance(message.content, str) else message.content
    texts, thoughts, attachments = _parted(parts)
    speaker, text = role(message), "".join(texts)
    if speaker is Role.TOOL:
        failed = getattr(message, "status", "") == "error"
        answered = str(getattr(message, "tool_call_id", ""))
        return Message(speaker, tool_results=(ToolResult(answered, text, failed),), attachments=attachments)
    return Message(
        speaker,
        text,
        tool_calls=tuple(_calls(message)),
        thinking="".join(thoughts) or _beside(message, "reasoning_content"),
        refusal=_beside(message, "refusal"),
        attachments=attachments,
    )


def _written(message: BaseMessage, number: int) -> Written:
    plain = message_to_dict(message)
    try:
        original = json.dumps(plain, ensure_ascii=False, allow_nan=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"message {number}, {name_type(message)}, cannot be kept: {error}") from None
    messages_from_dict([plain])
    return Written(spoken(message), original)


def _again(written: Written) -> BaseMessage:
    if written.original:
        return messages_from_dict([json.loads(written.original)])[0]
    message = written.message
    match message.role:
        case Role.SYSTEM:
            return SystemMessage(message.text)
        case Role.USER:
            return HumanMessage(message.text)
        case Role.ASSISTANT:
            return AIMessage(message.text, tool_calls=[_call(call) for call in message.tool_calls])
        case Role.TOOL:
            answered = message.tool_results[0] if message.tool_results else ToolResult("", message.text)
            status = "error" if answered.is_error else "success"
            return ToolMessage(answered.text, tool_call_id=answered.call_id, status=status)


def _call(call: ToolCall) -> Any:
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        arguments = call.arguments
    named = arguments if isinstance(arguments, dict) else {"arguments": arguments}
    return {"name": call.name, "args": named, "id": call.id, "type": "tool_call"}


def _parted(parts: Sequence[object]) -> tuple[list[str], list[str], tuple[str, ...]]:
    """Return the texts, the thoughts, and the types of all other parts (attachments) of a content."""
    texts: list[str] = []
    thoughts: list[str] = []
    attachments: list[str] = []
    for part in parts:
        kind = str(part.get("type", "")) if isinstance(part, Mapping) else ""
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping) and isinstance(part.get("text"), str) and kind not in _THOUGHTS:
            texts.append(part["text"])
        elif kind in _THOUGHTS:
            thoughts += _thoughts(part)
        elif kind not in _CALLS:
            attachments.append(kind or "unknown")
    return texts, thoughts, tuple(attachments)


def _thoughts(part: Any) -> list[str]:
    content = next((part[name] for name in ("thinking", "reasoning", "text", "summary") if part.get(name)), "")
    if isinstance(content, str):
        return [content]
    return [str(one.get("text", "")) for one in content if isinstance(one, Mapping)]


def _calls(message: Any) -> Iterator[ToolCall]:
    for call in getattr(message, "tool_calls", ()):
        yield ToolCall(call.get("id") or "", call["name"], json.dumps(call["args"], ensure_ascii=False, default=str))
    for call in getattr(message, "invalid_tool_calls", ()):
        yield ToolCall(call.get("id") or "", call.get("name") or "", call.get("args") or "")


def _beside(message: Any, name: str) -> str:
    content = message.additional_kwargs.get(name)
    return content if isinstance(content, str) else ""
