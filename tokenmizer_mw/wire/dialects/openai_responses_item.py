"""The items of OpenAI Responses: the role of each, which of them together make one message, and their content.

The API splits one reply into separate items for reasoning, text and calls. Adjacent items of the assistant are one
message. The result of a tool that the provider ran belongs to the message of its call, because both come in one reply.

Lenient: a field of the wrong type counts as absent, and nothing here raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult
from tokenmizer_mw.wire.dialects.openai_message import KIND_MAX, read_content
from tokenmizer_mw.wire.json_text import json_text, storable
from tokenmizer_mw.wire.reply import objects
from tokenmizer_mw.wire.request import HISTORY_ON_SERVER, PROVIDER_COMPACTS, UNKNOWN_ROLE, text_of

_SYSTEM, _USER, _ASSISTANT, _TOOL = Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL  # an enum's look-up is slow
_SPEAKERS: Final = {"system": _SYSTEM, "developer": _SYSTEM, "user": _USER, "assistant": _ASSISTANT}
_COMPACTED: Final = frozenset({"compaction", "compaction_trigger"})
_REFERENCE: Final = "item_reference"
_UNSEEN: Final = _COMPACTED | {_REFERENCE}
"""Kinds of items that stand for content which only the provider has."""

_SIDES: Final[Mapping[str, Role]] = {
    **dict.fromkeys(
        (
            "reasoning",
            "function_call",
            "custom_tool_call",
            "mcp_call",
            "mcp_list_tools",
            "mcp_approval_request",
            "shell_call",
            "local_shell_call",
            "apply_patch_call",
            "computer_call",
            "code_interpreter_call",
            "web_search_call",
            "file_search_call",
            "image_generation_call",
            "tool_search_call",
            "tool_search_output",
            "program",
            "program_output",
            *_UNSEEN,
        ),
        _ASSISTANT,
    ),
    **dict.fromkeys(
        (
            "function_call_output",
            "custom_tool_call_output",
            "shell_call_output",
            "local_shell_call_output",
            "apply_patch_call_output",
            "computer_call_output",
            "mcp_approval_response",
        ),
        _TOOL,
    ),
    **dict.fromkeys(("additional_tools", "configuration_update"), _SYSTEM),
}
_MESSAGE: Final = "message"
_KNOWN: Final = frozenset(_SIDES) | {_MESSAGE}
_PLAIN: Final = {kind: role for kind, role in _SIDES.items() if kind not in _UNSEEN | {"tool_search_output"}}
"""Kinds of items whose role follows from the kind alone."""


def role_of(raw: object) -> Role | None:
    """Return the role of an item, or of a message that is a tuple of items; ``None`` when it is unknown.

    An item that only refers to content which the provider has (a reference, a compaction) counts as the system's.
    """
    items = raw if isinstance(raw, tuple) else (raw,)
    if all(_kind(item) in _UNSEEN for item in items):
        return _SYSTEM
    return _side(items[0])


def roles_of(sent: Sequence[Any]) -> list[Role]:
    """Return the roles of many items; an unknown role counts as system."""
    try:
        return [
            _role_of_usual(raw[0] if type(raw) is tuple else raw) for raw in sent
        ]  # much faster, and nearly always enough
    except (KeyError, TypeError):
        return [role_of(raw) or _SYSTEM for raw in sent]


def group(sent: Sequence[Any]) -> list[int]:
    """Return how many consecutive items form each message; ``[]`` if it is one each. Adjacent items of the assistant
    form one message, together with the results of shell calls that the provider ran itself."""
    sizes: list[int] = []
    joins = False
    hosted: frozenset[str] | None = None
    for item, side in zip(sent, _sides(sent), strict=True):
        speaks = side is _ASSISTANT
        if joins and side is _TOOL and _kind(item) == "shell_call_output":
            hosted = _hosted_calls(sent) if hosted is None else hosted
            speaks = _call_id(item) in hosted
        if speaks and joins:
            sizes[-1] += 1
        else:
            sizes.append(1)
        joins = speaks
    return sizes if len(sizes) < len(sent) else []


def refuses(sent: Sequence[Any]) -> str:
    """Return why a request with these items must not be rewritten (see ``ChatRequest.stand_down``); "" when it may."""
    kinds = {_kind(item) for raw in sent for item in (raw if type(raw) is tuple else (raw,))}
    if not kinds.isdisjoint(_COMPACTED):
        return PROVIDER_COMPACTS
    if _REFERENCE in kinds:
        return HISTORY_ON_SERVER
    return "" if kinds <= _KNOWN else UNKNOWN_ROLE


def read_message(raw: object, _: int = 0) -> Message:
    """Parse the message that one item, or a tuple of consecutive items of the assistant, form.

    An unknown role gives a system message: it begins no turn, and no facts are extracted from it. The second argument
    is not used.
    """
    items = raw if isinstance(raw, tuple) else (raw,)
    role = role_of(raw) or _SYSTEM
    if role is _ASSISTANT:
        return read_reply(items)
    if not isinstance(raw, dict):
        return Message(role)
    if role is _TOOL:
        result, attachments = _result(raw)
        return Message(_TOOL, tool_results=(result,), attachments=attachments)
    content = read_content(raw.get("content"))
    text = _text(raw.get("tools")) if _kind(raw) == "additional_tools" else storable(content.text)
    return Message(role, text, attachments=content.attachments)


def read_reply(items: Iterable[object]) -> Message:
    """Parse the assistant's message that these items form: texts joined with line feeds, calls and results in order.
    Entries that are not objects are ignored."""
    builder = _MessageBuilder()
    for item in items:
        if isinstance(item, dict):
            _READERS.get(_kind(item), _add_returned)(item, builder)
    return builder.message()


@dataclass(slots=True)
class _MessageBuilder:
    """The content of the items of one message."""

    texts: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)
    attachments: list[str] = field(default_factory=list)

    def message(self) -> Message:
        text, thinking, refusal = (
            "\n".join(filter(None, pieces)) for pieces in (self.texts, self.thinking, self.refusals)
        )
        return Message(
            _ASSISTANT,
            storable(text),
            tuple(self.calls),
            tuple(self.results),
            storable(thinking),
            storable(refusal),
            tuple(self.attachments),
        )

    def add_call(self, item: dict[str, Any], name: str, arguments: str) -> None:
        self.calls.append(ToolCall(_call_id(item), name, storable(arguments)))


_Reader = Callable[[dict[str, Any], _MessageBuilder], None]


def _message(item: dict[str, Any], builder: _MessageBuilder) -> None:
    content = read_content(item.get("content"))
    builder.texts.append(content.text)
    builder.thinking.append(content.thinking)
    builder.refusals.append(content.refusal)
    builder.attachments += content.attachments


def _reasoning(item: dict[str, Any], builder: _MessageBuilder) -> None:
    """Add the readable parts of reasoning. What is encrypted is for the provider alone."""
    for member in ("summary", "content"):
        texts = (part.get("text") for part in objects(item.get(member)))
        builder.thinking += [text for text in texts if isinstance(text, str)]


def _call(arguments: str, tool: str = "") -> _Reader:
    """Return a reader of tool calls. ``arguments``: the member with the input; ``tool``: the tool's name, "" if the
    item has it."""

    def read(item: dict[str, Any], builder: _MessageBuilder) -> None:
        builder.add_call(item, tool or text_of(item, "name"), _text(item.get(arguments)))

    return read


def _call_with(*members: str, tool: str) -> _Reader:
    """Return a reader of calls of ``tool`` whose input is an object of these members."""

    def read(item: dict[str, Any], builder: _MessageBuilder) -> None:
        builder.add_call(item, tool, _text({member: item.get(member) for member in members}))

    return read


def _mcp(item: dict[str, Any], builder: _MessageBuilder) -> None:
    """Add a call of a tool on an MCP server that the provider calls, with the result, which is in the same item."""
    _call("arguments")(item, builder)
    failed = item.get("error")
    output = text_of(item, "output") or _fault(failed)
    if output:
        builder.results.append(ToolResult(_call_id(item), output, bool(failed)))


def _code(item: dict[str, Any], builder: _MessageBuilder) -> None:
    _call("code", "code_interpreter")(item, builder)
    logs = filter(None, (text_of(output, "logs") for output in objects(item.get("outputs"))))
    if text := "\n".join(logs):
        builder.results.append(ToolResult(_call_id(item), text))


def _tool_search(item: dict[str, Any], builder: _MessageBuilder) -> None:
    if item.get("execution") == "client":
        builder.add_call(item, "tool_search", _text(item.get("arguments")))


def _add_returned(item: dict[str, Any], builder: _MessageBuilder) -> None:
    """Add the result of a tool that the provider ran."""
    if _side(item) is _TOOL or _kind(item) == "program_output":
        result, attachments = _result(item)
        builder.results.append(result)
        builder.attachments += attachments


def _nothing(_: dict[str, Any], __: _MessageBuilder) -> None:
    """Ignore an item: a look-up by the provider, whose answer is in the text, or a list of tools."""


_READERS: Final[Mapping[str, _Reader]] = {
    "message": _message,
    "reasoning": _reasoning,
    "function_call": _call("arguments"),
    "custom_tool_call": _call("input"),
    "mcp_approval_request": _call("arguments"),
    "mcp_call": _mcp,
    "shell_call": _call("action", "shell"),
    "local_shell_call": _call("action", "local_shell"),
    "apply_patch_call": _call_with("operation", tool="apply_patch"),
    "computer_call": _call_with("action", "actions", tool="computer"),
    "code_interpreter_call": _code,
    "program": _call("code", "program"),
    "image_generation_call": lambda _, builder: builder.attachments.append("image_generation_call"),
    "tool_search_call": _tool_search,
    **dict.fromkeys(("web_search_call", "file_search_call", "mcp_list_tools", "tool_search_output"), _nothing),
}


def _kind(item: object) -> str:
    """Return the kind of an item; "" if it is unknown. Messages and references may have no type."""
    if not isinstance(item, dict):
        return ""
    kind = item.get("type")
    if isinstance(kind, str):
        return kind
    if isinstance(item.get("role"), str):
        return _MESSAGE
    return _REFERENCE if isinstance(item.get("id"), str) else ""


def _side(item: object) -> Role | None:
    """Return the role of a single item. Of unknown kinds, outputs are a tool's and all others the assistant's, because
    the provider would send them so."""
    kind = _kind(item)
    if not kind or not isinstance(item, dict):
        return None
    role = item.get("role")
    if kind == _MESSAGE or isinstance(role, str):
        return _SPEAKERS.get(role) if isinstance(role, str) else None
    if kind == "tool_search_output" and item.get("execution") == "client":
        return _TOOL
    return _SIDES.get(kind) or (_TOOL if kind.endswith("_output") else _ASSISTANT)


def _sides(sent: Sequence[Any]) -> list[Role | None]:
    try:
        return [_role_of_usual(item) for item in sent]
    except (KeyError, TypeError):
        return [_side(item) for item in sent]


def _role_of_usual(item: Any) -> Role:
    """Return the role of an item of the usual kinds. Raises ``KeyError`` or ``TypeError`` for others."""
    return _SPEAKERS[item["role"]] if "role" in item else _PLAIN[item["type"]]


def _hosted_calls(sent: Sequence[Any]) -> frozenset[str]:
    """Return the ids of shell calls that run in a container of the provider."""
    calls = (item for item in sent if _kind(item) == "shell_call" and isinstance(item.get("environment"), dict))
    return frozenset(_call_id(item) for item in calls if item["environment"].get("type") == "container_reference")


def _call_id(item: dict[str, Any]) -> str:
    """Return the id that pairs a call with its result. Calls that contain their result have only an item id."""
    return text_of(item, "call_id") or text_of(item, "id")


def _result(item: dict[str, Any]) -> tuple[ToolResult, tuple[str, ...]]:
    """Return what a tool returned, and the kinds of its parts that are not text."""
    kind, output = _kind(item), item.get("output")
    failed = item.get("status") == "failed"
    if kind == "mcp_approval_response":
        return ToolResult(text_of(item, "approval_request_id"), _approval(item)), ()
    if kind in _OUTPUTS:
        return ToolResult(_call_id(item), _OUTPUTS[kind](item), failed), ()
    if isinstance(output, dict):
        return ToolResult(_call_id(item), "", failed), (text_of(output, "type")[:KIND_MAX] or "unknown",)
    content = read_content(output)
    return ToolResult(_call_id(item), storable(content.text), failed), content.attachments


def _approval(item: dict[str, Any]) -> str:
    decided = "approved" if item.get("approve") is True else "denied"
    return "\n".join(filter(None, (decided, text_of(item, "reason"))))


def _printed_text(chunk: dict[str, Any]) -> str:
    """Return what a command printed, and how it ended."""
    outcome = chunk.get("outcome")
    how = outcome if isinstance(outcome, dict) else {}
    code = how.get("exit_code")
    ended = f"exit code: {code}" if type(code) is int else "timed out" if how.get("type") == "timeout" else ""
    return "\n".join(filter(None, (text_of(chunk, "stdout"), text_of(chunk, "stderr"), ended)))


_OUTPUTS: Final[Mapping[str, Callable[[dict[str, Any]], str]]] = {
    "shell_call_output": lambda item: "\n".join(map(_printed_text, objects(item.get("output")))),
    "tool_search_output": lambda item: _text(item.get("tools")),
    "program_output": lambda item: _text(item.get("result")),
}


def _fault(error: object) -> str:
    """Return a text that says what went wrong; "" for no error."""
    message = text_of(error, "message") if isinstance(error, dict) else ""
    return message or (_text(error) if error else "")


def _text(value: object) -> str:
    """Return a text as it is, and other values as compact JSON without null members, which the SDK adds."""
    if value is None or isinstance(value, str):
        return storable(value or "")
    try:
        return storable(json_text(_without_nulls(value)))
    except RecursionError:
        return ""


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}
    return [_without_nulls(inner) for inner in value] if isinstance(value, list) else value
