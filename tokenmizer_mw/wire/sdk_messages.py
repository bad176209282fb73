"""Convert message objects of SDKs and frameworks to plain mappings.

Accepts pydantic objects with a role (OpenAI's and Anthropic's replies), LangChain's messages (``type`` "human", "ai",
"system", "tool"), LlamaIndex's (``blocks`` and ``additional_kwargs``), and any object with ``role`` and ``content``.
None of these libraries is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

LANGCHAIN_ROLES: Final = {
    "human": "user",
    "HumanMessageChunk": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "system": "system",
    "SystemMessageChunk": "system",
    "tool": "tool",
    "ToolMessageChunk": "tool",
}
"""Roles by the type of a LangChain message."""


def plain_message(message: object) -> object:
    """``message`` as a mapping with "role" and "content", where it is an object that holds these; else ``message``."""
    if isinstance(message, Mapping):
        return message
    dump = getattr(message, "model_dump", None)
    told = dump() if callable(dump) else vars(message) if hasattr(message, "__dict__") else None
    if not isinstance(told, Mapping):
        return message
    told = dict(told)
    if "role" not in told and told.get("type") in LANGCHAIN_ROLES:
        return convert_langchain_fields(told)
    if "role" not in told:
        return message
    told["role"] = told["role"].value if isinstance(told["role"], Enum) else told["role"]
    return _from_llama_index(told, message) if "blocks" in told else _without_nothing(told)


def convert_langchain_fields(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a LangChain message, whose "type" is one of ``LANGCHAIN_ROLES``, as a plain message."""
    plain = {"role": LANGCHAIN_ROLES[told["type"]], "content": told.get("content")}
    for name in ("tool_calls", "tool_call_id"):
        if told.get(name):
            plain[name] = told[name]
    if told.get("status") == "error":
        plain["is_error"] = True
    return plain


def _from_llama_index(told: dict[str, Any], message: object) -> dict[str, Any]:
    more = told.get("additional_kwargs") or {}
    plain = {"role": told["role"], "content": getattr(message, "content", None)}
    for name in ("tool_calls", "tool_call_id"):
        if more.get(name):
            plain[name] = more[name]
    return plain


def _without_nothing(told: dict[str, Any]) -> dict[str, Any]:
    """Without the members that an answer does not have: SDKs tell them as None."""
    return {name: value for name, value in told.items() if value is not None or name == "content"}
