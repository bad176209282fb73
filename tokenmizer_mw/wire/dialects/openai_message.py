"""Parse one message object of OpenAI's format, from a request or a response.

Lenient: a field of the wrong type counts as absent, and nothing here raises.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult
from tokenmizer_mw.wire.json_text import json_text, storable
from tokenmizer_mw.wire.request import get_text, text_of

_SYSTEM, _USER, _ASSISTANT, _TOOL = Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL  # an enum's look-up is slow

ROLES: Final = {
    "system": _SYSTEM,
    "developer": _SYSTEM,
    "user": _USER,
    "assistant": _ASSISTANT,
    "tool": _TOOL,
    "function": _TOOL,
}

KIND_MAX: Final = 64
"""Characters of a part's kind that are stored."""

_TEXT_KINDS: Final = frozenset({"text", "input_text", "output_text"})
_REASONING: Final = ("reasoning_content", "reasoning")


class Content(NamedTuple):
    """The content of a message, its texts sorted into visible text, thinking and refusal. ``attachments``: the kinds of
    its other parts, such as "image_url". The texts may contain half a character where a stream split one, so that they
    must be joined before they are stored."""

    text: str = ""
    thinking: str = ""
    refusal: str = ""
    attachments: tuple[str, ...] = ()


_NOTHING: Final = Content()


def role_of(raw: object) -> Role | None:
    """Return the role of a message object; ``None`` if it is unknown."""
    role = raw.get("role") if isinstance(raw, dict) else None
    return ROLES.get(role) if isinstance(role, str) else None


def roles_of(sent: Sequence[Any]) -> list[Role]:
    """Return the roles of many message objects; an unknown role counts as system."""
    try:
        return [ROLES[raw["role"]] for raw in sent]  # nearly always; four times as fast as asking each time
    except (KeyError, TypeError, IndexError):
        return [role_of(raw) or _SYSTEM for raw in sent]


def read_message(raw: object, _: int = 1) -> Message:
    """Parse a message object. Never raises.

    A value that is not an object, or has an unknown role, gives a system message: it begins no turn, and no facts are
    extracted from it. The second argument is not used.
    """
    if not isinstance(raw, dict):
        return Message(_SYSTEM)
    name, value = raw.get("role"), raw.get("content")
    role = ROLES.get(name, _SYSTEM) if isinstance(name, str) else _SYSTEM
    if role is _TOOL:
        return _tool(raw, value)
    if len(raw) == 2 and isinstance(value, str):
        return Message(role, value if value.isascii() else storable(value))
    content = read_content(value)
    if role is _ASSISTANT:
        return _assistant(raw, content)
    return Message(role, storable(content.text), attachments=content.attachments)


def read_content(value: object) -> Content:
    """Parse a content field: a text, a list of parts, or anything else, which gives an empty ``Content``. Texts of
    several parts of one kind are joined with line feeds."""
    if isinstance(value, str):
        return Content(value)
    if not isinstance(value, list):
        return _NOTHING
    found: dict[str, list[str]] = {"text": [], "thinking": [], "refusal": [], "": []}
    for part in value:
        kind, text = _read_part(part)
        found[kind].append(text)
    text, thinking, refusal = ("\n".join(found[kind]) for kind in ("text", "thinking", "refusal"))
    return Content(text, thinking, refusal, tuple(filter(None, found[""])))


def read_thinking(raw: dict[str, Any]) -> str:
    """Return the reasoning text that servers put beside the content, in "reasoning_content" or "reasoning"; "" if there
    is none."""
    return next((text for name in _REASONING if isinstance(text := raw.get(name), str) and text), "")


def read_call(raw: object) -> ToolCall | None:
    """Parse a tool call, or a fragment of one from a stream: id, name and arguments, each "" if it is missing. ``None``
    for anything that is not an object."""
    if not isinstance(raw, dict):
        return None
    return ToolCall(get_text(raw, "id"), *_name_and_arguments(raw))


def read_function_call(raw: object) -> ToolCall | None:
    """Parse a call in the legacy "function_call" format, which has no id; ``None`` for anything that is not
    an object."""
    return ToolCall("", *_name_and_arguments({"function": raw})) if isinstance(raw, dict) else None


def storable_call(call: ToolCall) -> ToolCall:
    """Return the call with U+FFFD for each lone surrogate (half of a character), so that it can be stored."""
    if call.id.isascii() and call.name.isascii() and call.arguments.isascii():
        return call
    return ToolCall(storable(call.id), storable(call.name), storable(call.arguments))


def _tool(raw: dict[str, Any], value: object) -> Message:
    content = read_content(value)
    result = ToolResult(text_of(raw, "tool_call_id"), storable(content.text))
    return Message(_TOOL, "", (), (result,), attachments=content.attachments)


def _assistant(raw: dict[str, Any], content: Content) -> Message:
    attachments = content.attachments + (("audio",) if isinstance(raw.get("audio"), dict) else ())
    return Message(
        _ASSISTANT,
        storable(content.text),
        tool_calls=_calls(raw),
        thinking=storable(read_thinking(raw) or content.thinking),
        refusal=text_of(raw, "refusal") or storable(content.refusal),
        attachments=attachments,
    )


def _calls(raw: dict[str, Any]) -> tuple[ToolCall, ...]:
    """Return the tool calls of a message. The legacy field is used only if the list is empty, because some servers fill
    both."""
    listed = raw.get("tool_calls")
    calls = [read_call(call) for call in listed] if isinstance(listed, list) else []
    return tuple(storable_call(call) for call in calls or [read_function_call(raw.get("function_call"))] if call)


def _read_part(part: object) -> tuple[str, str]:
    """Return what a part is ("text", "thinking", "refusal", "" for an attachment), and its text or, for an attachment,
    its kind."""
    if isinstance(part, str):
        return "text", part
    if not isinstance(part, dict):
        return "", ""
    kind = part.get("type")
    if not isinstance(kind, str):
        return "", "unknown"
    if kind in _TEXT_KINDS:
        return "text", get_text(part, "text")
    if kind == "refusal":
        return "refusal", get_text(part, "refusal")
    if kind == "thinking":
        return "thinking", _thinking_text(part)
    return "", storable(kind[:KIND_MAX])


def _thinking_text(part: dict[str, Any]) -> str:
    """The text of a thinking part, which is text or a list of text parts."""
    value = part.get("thinking")
    if not isinstance(value, list):
        return get_text(part, "thinking")
    texts = (part.get("text") for part in value if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def _name_and_arguments(raw: dict[str, Any]) -> tuple[str, str]:
    """Return the name and the arguments of a function call, or of a custom tool, whose input is free text."""
    function, custom = raw.get("function"), raw.get("custom")
    tool, field = (custom, "input") if isinstance(custom, dict) else (function, "arguments")
    if not isinstance(tool, dict):
        return "", ""
    return get_text(tool, "name"), _arguments(tool.get(field))


def _arguments(value: object) -> str:
    """Return arguments as sent; an object, which some servers send instead of JSON text, as compact JSON."""
    if isinstance(value, str):
        return value
    return json_text(value) if isinstance(value, dict | list) else ""
