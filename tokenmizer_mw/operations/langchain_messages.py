"""Parser of saved LangChain messages: what ``messages_to_dict``, ``dumpd`` and ``model_dump`` make of them. Pure."""

from __future__ import annotations

from typing import Any, Final

from tokenmizer_mw.wire.sdk_messages import LANGCHAIN_ROLES, convert_langchain_fields

_TYPES: Final = {
    "HumanMessage": "human",
    "AIMessage": "ai",
    "SystemMessage": "system",
    "ToolMessage": "tool",
}
"""Types by the names of classes, which ``dumpd`` writes."""


def convert_langchain_message(value: Any) -> Any:
    """``value``, parsed JSON, with "role" and "content" if it is a saved LangChain message; else ``value`` itself."""
    if not isinstance(value, dict) or "role" in value:
        return value
    fields = _fields_of(value)
    is_known = str(fields.get("type")) in LANGCHAIN_ROLES and "content" in fields
    return convert_langchain_fields(fields) if is_known else value


def _fields_of(value: dict[str, Any]) -> dict[str, Any]:
    if value.get("lc") is not None and isinstance(fields := value.get("kwargs"), dict):
        path = value.get("id")
        name = str(path[-1]) if isinstance(path, list) and path else ""
        return {**fields, "type": _TYPES.get(name.removesuffix("Chunk"))}
    if isinstance(fields := value.get("data"), dict):
        return {**fields, "type": value.get("type")}
    return value
