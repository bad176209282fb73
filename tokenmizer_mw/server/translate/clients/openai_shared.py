"""What the translators for both API formats of OpenAI (Chat Completions and Responses) share: field tables, errors,
reply formats, custom tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from tokenmizer_mw.server.translate.chat import AnswerFormat, Fault, Tool, ToolChoice

from .reply_parts import FaultKind, is_kind_only, kind_of
from .request_parts import CACHED, CARRIED, REFUSED, Fields, Table, carry, left_out, only

COMMON: Final[Table] = {
    "model": CARRIED,
    "metadata": left_out("labels for the provider's own dashboard"),
    "moderation": REFUSED,
    "parallel_tool_calls": CARRIED,
    "prompt_cache_key": CACHED,
    "prompt_cache_options": CACHED,
    "prompt_cache_retention": CACHED,
    "safety_identifier": CARRIED,
    "service_tier": only("auto", "default"),
    "store": only(False),
    **carry("stream", "stream_options", "temperature", "tool_choice", "tools"),
    "top_logprobs": only(0),
    **carry("top_p", "user"),
}
"""How the request fields are handled that Chat Completions and Responses both have: name of the field -> how it is
handled."""

JSON_SCHEMA: Final[Table] = carry("name", "description", "schema", "strict")
GRAMMAR: Final[Table] = carry("definition", "syntax")
_INPUT: Final = "input"
_FREE_TEXT: Final = {
    "type": "object",
    "properties": {_INPUT: {"type": "string"}},
    "required": [_INPUT],
    "additionalProperties": False,
}

_CHOICES: Final[Mapping[str, Literal["auto", "none", "any"]]] = {"auto": "auto", "none": "none", "required": "any"}
_INVALID: Final = "invalid_request_error"
_ERRORS: Final[Mapping[FaultKind, tuple[str, str | None]]] = {
    FaultKind.OVERFLOW: (_INVALID, "context_length_exceeded"),
    FaultKind.BILLING: ("insufficient_quota", "insufficient_quota"),
    FaultKind.RATE: ("rate_limit_error", "rate_limit_exceeded"),
    FaultKind.KEY: ("authentication_error", "invalid_api_key"),
    FaultKind.PERMISSION: ("permission_error", None),
    FaultKind.MISSING: (_INVALID, "not_found"),
    FaultKind.CONFLICT: (_INVALID, None),
    FaultKind.LARGE: (_INVALID, None),
    FaultKind.TIMEOUT: ("timeout_error", "timeout"),
    FaultKind.OVERLOADED: ("server_error", "server_is_overloaded"),
    FaultKind.REQUEST: (_INVALID, None),
    FaultKind.SERVER: ("server_error", "server_error"),
}
"""Kind of error -> type and code of the error that the client gets. If the provider's own code says more than the kind,
it is used as the code."""


def error(fault: Fault) -> dict[str, Any]:
    """Return the error ``fault`` as the JSON body of an error response in OpenAI's format."""
    kind = kind_of(fault)
    values, code = _ERRORS[kind]
    if kind is not FaultKind.OVERFLOW and not is_kind_only(fault.code):
        code = fault.code
    return {"error": {"message": fault.message, "type": values, "param": fault.field or None, "code": code}}


def schema_format(fields: Fields) -> AnswerFormat:
    """Return the reply format with the JSON schema in ``fields``. Their ``description`` is moved into the schema.
    Raises ``MalformedRequest`` if there is no ``name``, or if a field has a value of a wrong type."""
    schema = fields.mapping("schema") or {}
    description = fields.text("description")
    values = {"description": description, **schema} if description else schema
    return AnswerFormat(values, fields.required_text("name"), fields.flag("strict"))


def tool_choice(fields: Fields, name_of: Callable[[Fields], str]) -> ToolChoice | None:
    """Return which tools the model may call, from the field ``tool_choice`` of a request; ``None`` if the request does
    not set it.

    ``name_of``: function that returns the tool's name if the field is an object that names a tool. Raises
    ``Untranslatable`` for a choice that other API formats do not have.
    """
    value = fields.raw.get("tool_choice")
    if isinstance(value, str):
        if value not in _CHOICES:
            raise fields.untranslatable("tool_choice", f"{value!r} has no counterpart in other dialects")
        return ToolChoice(_CHOICES[value])
    chosen = fields.mapping("tool_choice")
    return ToolChoice("named", name_of(Fields(chosen, "tool_choice")), chosen) if chosen is not None else None


def form_of(form: Fields | None, schema: Callable[[Fields], Fields]) -> AnswerFormat | None:
    """Return the reply format that the request asks for: JSON with a schema, or any JSON object; ``None`` for free
    text. ``form``: the request field with the format, ``None`` if not set. ``schema``: function that takes ``form`` and
    returns the fields with its JSON schema."""
    if form is None:
        return None
    match form.text("type"):
        case "json_schema":
            return schema_format(schema(form))
        case "json_object":
            return AnswerFormat()
        case _:
            return None


def custom_tool(name: str, description: str, grammar: Fields | None) -> Tool:
    """Return a tool of OpenAI's type "custom", whose argument is free text, as a function with that text as its only
    argument.

    Other API formats have no grammars for the text, so ``grammar`` is added to the description (``None`` for no
    grammar).
    """
    values = [description] * bool(description)
    if grammar is not None:
        syntax, definition = grammar.text("syntax"), grammar.text("definition")
        values.append(f"The input must match this grammar ({syntax}):\n{definition}")
    return Tool(name, "\n\n".join(values), _FREE_TEXT, form="custom")


def arguments_of(text: str) -> str:
    """Return ``text``, the text of a custom tool call, as the arguments (JSON text) of the function that stands for the
    tool."""
    return json.dumps({_INPUT: text}, ensure_ascii=False)


def text_of(arguments: str) -> str:
    """Return the text of a custom tool call from the arguments (JSON text) of the function that stands for the tool. If
    the model did not follow their format, return the arguments unchanged."""
    try:
        values = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    text = values.get(_INPUT) if isinstance(values, dict) else None
    return text if isinstance(text, str) else arguments


def forms(tools: tuple[Tool, ...]) -> dict[str, str]:
    """Return what each tool is for the client: name of the tool -> "function", "custom" or "local_shell"."""
    return {tool.name: tool.form for tool in tools}
