"""Convert messages of common libraries to ``Message``.

Three shapes are accepted: OpenAI's (Chat Completions), Anthropic's (content blocks), and the flat shape of many
frameworks, whose tool calls hold name and arguments directly.

A message may be a dictionary or an object:

- a pydantic object with a role (a reply of the OpenAI or Anthropic SDK)
- a message of LangChain (``type`` "human", "ai", "system" or "tool"), also in one of its serialized forms
- a message of LlamaIndex (``blocks`` and ``additional_kwargs``)
- any other object with ``role`` and ``content``

None of these libraries is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any, Final

from tokenmizer_mw.errors import InvalidMessage, name_type
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.dialects import anthropic_message
from tokenmizer_mw.wire.dialects.openai_message import ROLES, read_message, role_of
from tokenmizer_mw.wire.history import History

_EXAMPLE: Final = "pass {'role': 'user', 'content': 'a text'}"

_SAYING_NOTHING: Final = frozenset({"role", "content", "name"})
"""If a user's message has no other members than these, null as its content is an error. An assistant's reply may be
empty."""

LANGCHAIN_ROLES: Final = {
    "human": "user", "HumanMessageChunk": "user", "ai": "assistant", "AIMessageChunk": "assistant", "system": "system",
    "SystemMessageChunk": "system", "tool": "tool", "ToolMessageChunk": "tool",
}  # fmt: skip
"""Maps the ``type`` of a LangChain message, such as "human", to a role, such as "user"."""


def plain_message(message: object) -> object:
    """Return ``message`` as a dictionary with "role" and "content" if it is an SDK object with a role, or a message of
    LangChain (an object or serialized) or of LlamaIndex. Anything else is returned unchanged: a dictionary with a role,
    and an object that is no message."""
    if isinstance(message, Mapping):
        return convert_langchain_message(message)
    dump = getattr(message, "model_dump", None)
    fields = dump() if callable(dump) else vars(message) if hasattr(message, "__dict__") else None
    if not isinstance(fields, Mapping):
        return message
    fields = dict(fields)
    if "role" not in fields and fields.get("type") in LANGCHAIN_ROLES:
        return convert_langchain_fields(fields)
    if "role" not in fields:
        return message
    fields["role"] = fields["role"].value if isinstance(fields["role"], Enum) else fields["role"]
    return _from_llama_index(fields, message) if "blocks" in fields else _drop_missing(fields)


_TYPES: Final = {"HumanMessage": "human", "AIMessage": "ai", "SystemMessage": "system", "ToolMessage": "tool"}
"""Maps the names of LangChain's classes, which ``dumpd`` writes, to types of messages."""


def convert_langchain_message(value: Any) -> Any:
    """Convert ``value``, parsed JSON, to a message with "role" and "content" if it is a serialized LangChain message:
    as ``messages_to_dict`` or ``dumpd`` writes it, or the fields of a message. Anything else is returned unchanged,
    also an object that has a "role"."""
    if not isinstance(value, Mapping) or "role" in value:
        return value
    fields = _fields_of(value)
    is_known = str(fields.get("type")) in LANGCHAIN_ROLES and "content" in fields
    return convert_langchain_fields(fields) if is_known else value


def _fields_of(value: Mapping[str, Any]) -> Mapping[str, Any]:
    if value.get("lc") is not None and isinstance(fields := value.get("kwargs"), dict):
        path = value.get("id")
        name = str(path[-1]) if isinstance(path, list) and path else ""
        return {**fields, "type": _TYPES.get(name.removesuffix("Chunk"))}
    if isinstance(fields := value.get("data"), dict):
        return {**fields, "type": value.get("type")}
    return value


def convert_langchain_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a LangChain message as a message with "role" and "content".

    The result also has "tool_calls" and "tool_call_id" if they are not empty, and ``"is_error": True`` if "status" is
    "error". A missing "content" becomes ``None``; all other fields are dropped. Raises ``KeyError`` if "type" is
    missing or not in ``LANGCHAIN_ROLES``.
    """
    plain = {"role": LANGCHAIN_ROLES[fields["type"]], "content": fields.get("content"), **_calls_in(fields)}
    if fields.get("status") == "error":
        plain["is_error"] = True
    return plain


def _from_llama_index(fields: dict[str, Any], message: object) -> dict[str, Any]:
    content = getattr(message, "content", None)
    return {"role": fields["role"], "content": content, **_calls_in(fields.get("additional_kwargs") or {})}


def _calls_in(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: fields[name] for name in ("tool_calls", "tool_call_id") if fields.get(name)}


def _drop_missing(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields without those that are ``None``, which SDKs add for what a reply does not have. "content"
    stays."""
    return {name: value for name, value in fields.items() if value is not None or name == "content"}


_MANY: Final = 2


def history(messages: Iterable[Message | Mapping[str, Any]]) -> History:
    """Return the messages as a ``History``, which parses each message when it is accessed.

    ``messages``: an iterable of ``Message`` objects, dictionaries, or message objects of an SDK or framework; it is
    read once. A ``History`` is returned unchanged.

    Raises ``InvalidMessage`` at once for a text, a mapping, a single message, and anything that is not iterable. A
    message that cannot be parsed raises ``InvalidMessage`` only when it is accessed; the error names the number (from
    1) of the first message that cannot be parsed, and the reason.
    """
    if isinstance(messages, History):
        return messages
    if _is_message(messages):
        raise InvalidMessage(f"expected a list of messages, not one message ({name_type(messages)}): pass [message]")
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        hint = ": pass its 'messages'" if isinstance(messages, Mapping) and "messages" in messages else ""
        raise InvalidMessage(f"expected a list of messages, not {name_type(messages)}{hint}")
    given = [one if _is_plain(one) else plain_message(one) for one in messages]
    roles = _roles(given)

    def read(message: object, number: int) -> Message:
        try:
            return _read(message, number)
        except InvalidMessage:  # the newest is read first, and the first one says where it begins
            for place in range(number - 1):
                if roles[place] is not Role.SYSTEM:
                    _read(given[place], place + 1)
            raise

    return History(given, roles, read)


def _is_message(messages: object) -> bool:
    """Whether this is one message in place of a list. A message of pydantic is iterable, as pairs of name and value."""
    if isinstance(messages, list | tuple):
        return False
    plain = plain_message(messages)
    return isinstance(plain, Message) or (isinstance(plain, Mapping) and "role" in plain)


def _is_plain(message: object) -> bool:
    return isinstance(message, Message) or (isinstance(message, dict) and "role" in message)


def request_of(messages: History, *, model: str = "", overhead: str = "") -> ChatRequest:
    """Return a ``ChatRequest`` for messages that did not come in an HTTP body, for planning a cut. Its ``text`` is
    empty, so it cannot be rewritten. ``model``: its name, "" if unknown. ``overhead``: other text that fills the
    context window (instructions, tool definitions)."""
    spoken = (index for index, role in enumerate(messages.roles) if role is not Role.SYSTEM)
    prefix = next(spoken, len(messages))
    return ChatRequest("", messages, array=0, fields={}, prefix=prefix, model=model, overhead=overhead)


_WITHOUT_CONTENT: Final = frozenset({"role", "name", "id"})
"""Members without which an object must have others to be a message."""

_UNDERSTOOD: Final = _WITHOUT_CONTENT | {
    *("content", "tool_calls", "tool_call_id", "is_error", "function_call"),
    *("refusal", "audio", "reasoning", "reasoning_content"),
}
"""Members of a message that are parsed."""

_EXPORTED: Final = frozenset({"mapping", "chat_messages"})
"""Members that contain the messages of a whole conversation in the exports of chat applications."""

_NAMED_MAX: Final = 100


def _roles(given: list[Any]) -> list[Role]:
    try:
        return [ROLES[message["role"]] for message in given]  # nearly always, and much faster than asking each one
    except (KeyError, TypeError):
        return list(map(_role, given))


def _role(message: object) -> Role:
    """Return the role of a message. One that cannot be parsed counts as the user's, so that parsing it raises the
    error."""
    if isinstance(message, Message):
        return message.role
    return role_of(message) or Role.USER


def _read(message: object, number: int) -> Message:
    if isinstance(message, Message):
        return message
    if not isinstance(message, Mapping):
        raise InvalidMessage(f"message {number} is {name_type(message)}, not an object with a role: {_EXAMPLE}")
    raw = dict(message)
    if role_of(raw) is None:
        raise InvalidMessage(_explain_role(raw, number))
    if raw.keys() <= _WITHOUT_CONTENT:
        raise InvalidMessage(f"message {number} has neither content nor tool calls")
    content = raw.get("content")
    if content is None and raw.keys() <= _SAYING_NOTHING and raw["role"] == "user":
        raise InvalidMessage(f"message {number}, of role 'user', has content None: pass a text or a list of parts")
    if not isinstance(content, str | list | None):
        raise InvalidMessage(f"message {number} has content of type {type(content).__name__}")
    if isinstance(content, list):
        raw["content"] = content = [_plain(part) for part in content]
        if _is_anthropic(raw, content):
            return anthropic_message.read_blocks(anthropic_message.role_of(raw) or role_of(raw) or Role.USER, content)
    read = read_message(raw | {"tool_calls": _nest_calls(raw.get("tool_calls"))} if raw.get("tool_calls") else raw)
    if "content" not in raw:
        _require_understood(raw, read, number)
    return _mark_failed(read) if raw.get("is_error") is True else read


def _explain_role(raw: Mapping[str, Any], number: int) -> str:
    """Return why an object without a known role is not a message."""
    if not _EXPORTED.isdisjoint(raw):
        return f"message {number} is a whole conversation of an export; `tokenmizer-mw import FILE` reads such files"
    if "role" not in raw:
        names = ", ".join(repr(str(name)) for name in raw)[:_NAMED_MAX]
        return (
            f"message {number} has no role that is known: instead of 'role' and 'content' it has {names or 'nothing'}"
        )
    return f"message {number} has no role that is known: {str(raw['role'])[:40]!r}"


def _require_understood(raw: Mapping[str, Any], read: Message, number: int) -> None:
    """Raise ``InvalidMessage`` if an object's text is only in members that are not parsed."""
    unknown = sorted(str(name) for name in raw.keys() - _UNDERSTOOD)
    content = (read.text, read.tool_calls, read.thinking, read.refusal, read.attachments)
    if unknown and not any(content) and not any(result.text for result in read.tool_results):
        names = ", ".join(map(repr, unknown))[:_NAMED_MAX]
        raise InvalidMessage(f"message {number} has no 'content', and what it has instead is not understood: {names}")


def _plain(part: Any) -> Any:
    """Return a part or a call as a JSON object, also if it is an object of an SDK. A part with a text and without a
    type gets the type "text"."""
    dump = getattr(part, "model_dump", None)
    plain = dump() if callable(dump) else part
    if isinstance(plain, dict) and "type" not in plain and isinstance(plain.get("text"), str):
        return {"type": "text", **plain}
    return plain


def _is_anthropic(raw: Mapping[str, Any], parts: Sequence[object]) -> bool:
    """Whether a content consists of Anthropic's blocks. Several texts of an assistant do: OpenAI's replies are one
    text, and Mistral's thinking has parts of its own."""
    if any(isinstance(part, dict) and isinstance(part.get("thinking"), list) for part in parts):
        return False
    kinds = [anthropic_message.kind_of(part) for part in parts]
    if not anthropic_message.OWN_KINDS.isdisjoint(kinds):
        return True
    return raw.get("role") == "assistant" and kinds.count("text") >= _MANY and set(kinds) == {"text"}


def _nest_calls(calls: object) -> object:
    """Return tool calls in OpenAI's form, in which name and arguments are nested under "function"."""
    if not isinstance(calls, list):
        return calls
    return [
        {"id": call.get("id"), "function": {"name": call["name"], "arguments": call.get("arguments", call.get("args"))}}
        if isinstance(call, dict) and isinstance(call.get("name"), str)
        else call
        for call in map(_plain, calls)
    ]


def _mark_failed(message: Message) -> Message:
    return replace(message, tool_results=tuple(replace(result, is_error=True) for result in message.tool_results))
