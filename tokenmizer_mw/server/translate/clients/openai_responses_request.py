"""Parser of requests in the API format (dialect) OpenAI Responses, and tables that say how each of their fields is
handled.

Only what the request itself contains can be translated. State that the provider stores between requests, and tools that
the provider runs, are refused. Custom tools and the local shell, which the client runs, become functions. So do tools
in a namespace (a named group of tools), under a name without the group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, cast

from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.server.translate import chat

from .openai_responses_item import HIDDEN, NAME, SHELL_TOOL, Names, action_arguments, describe_tool
from .openai_shared import COMMON, GRAMMAR, JSON_SCHEMA, arguments_of, custom_tool, form_of, tool_choice
from .request_parts import (
    CACHED,
    CARRIED,
    READ,
    REFUSED,
    Fields,
    Table,
    attachment,
    bare_id,
    carry,
    check_fields,
    join_turns,
    left_out,
    make_thought,
    make_turns,
    only,
    read_content,
    sealed_call,
)

REQUEST: Final[Table] = {
    **COMMON,
    "access_programs": REFUSED,
    "background": only(False),
    "background_options": REFUSED,
    "context_management": only([]),
    "client_metadata": left_out("what Codex reports to its own provider about its turns"),
    "conversation": REFUSED,
    "image": only({}, {"context_compression": "auto"}),
    **carry("include", "input", "instructions", "max_output_tokens"),
    "max_tool_calls": left_out("counts calls of tools that the provider runs, of which there are none"),
    "previous_response_id": REFUSED,
    "prompt": REFUSED,
    **carry("reasoning", "text"),
    "truncation": only("disabled"),
}
STREAM_OPTIONS: Final[Table] = {"include_obfuscation": left_out("padding against listeners, which says nothing")}
REASONING: Final[Table] = {
    **carry("effort", "summary", "generate_summary"),
    "context": only("auto"),
    "mode": only("standard"),
}
TEXT: Final[Table] = carry("format", "verbosity")
FORMATS: Final[Mapping[str, Table]] = {
    "text": carry("type"),
    "json_object": carry("type"),
    "json_schema": {"type": CARRIED, **JSON_SCHEMA},
}
INCLUDED: Final[Table] = {
    "reasoning.encrypted_content": left_out("signatures are always sent"),
    **dict.fromkeys(
        (
            "code_interpreter_call.outputs",
            "computer_call_output.output.image_url",
            "file_search_call.results",
            "message.input_image.image_url",
            "web_search_call.action.sources",
            "web_search_call.results",
        ),
        left_out("of tools that the provider runs, or of what the client sent itself"),
    ),
}
"""Values of the field ``include`` that are accepted, each with how it is handled. The field says what the reply should
contain in addition."""

_OWN: Final = left_out("the name or the state of what the provider keeps")
_ITEM: Final[Table] = {
    "type": CARRIED,
    "id": _OWN,
    "status": _OWN,
    "internal_chat_message_metadata_passthrough": left_out("what Codex reports to its own provider about its items"),
}
_CALLER: Final = only({"type": "direct"})
_CALL: Final[Table] = {
    **_ITEM,
    **carry("call_id", "name"),
    "caller": _CALLER,
    "namespace": CARRIED,
    "async": only(False),
    "async_": only(False),
}
_OUTPUT: Final[Table] = {**_ITEM, "call_id": CARRIED, "output": CARRIED, "caller": _CALLER}
ITEMS: Final[Mapping[str, Table]] = {
    "message": {**_ITEM, **carry("role", "content"), "phase": left_out("a hint of the provider to its own models")},
    "function_call": {**_CALL, "arguments": CARRIED, "parsed_arguments": READ},
    "function_call_output": {**_OUTPUT, "name": CARRIED, "namespace": CARRIED},
    "custom_tool_call": {**_CALL, "input": CARRIED},
    "custom_tool_call_output": _OUTPUT,
    "local_shell_call": {**_ITEM, "call_id": CARRIED, "action": CARRIED},
    "local_shell_call_output": {**_OUTPUT, "id": CARRIED},
    "reasoning": {**_ITEM, "summary": CARRIED, "content": CARRIED, "encrypted_content": CARRIED},
}
ROLES: Final[Mapping[str, Table]] = dict.fromkeys(("user", "assistant", "system", "developer"), ITEMS["message"])
_PART: Final[Table] = {"type": CARRIED, "prompt_cache_breakpoint": CACHED}
PARTS: Final[Mapping[str, Table]] = {
    "input_text": {**_PART, "text": CARRIED},
    "input_image": {**_PART, "image_url": CARRIED, "detail": CARRIED, "file_id": REFUSED},
    "input_file": {**_PART, **carry("file_data", "file_url", "filename"), "file_id": REFUSED, "detail": CARRIED},
    "output_text": {
        **_PART,
        "text": CARRIED,
        "parsed": READ,
        "annotations": left_out("where the text was found; the text is whole without"),
        "logprobs": left_out("how likely the text was; the text is whole without"),
    },
    "refusal": {**_PART, "refusal": CARRIED},
}
SUMMARIES: Final[Mapping[str, Table]] = {"summary_text": carry("type", "text")}
THOUGHTS: Final[Mapping[str, Table]] = {"reasoning_text": carry("type", "text")}

TOOLS: Final[Mapping[str, Table]] = {
    "function": {
        **carry("type", "name", "description", "parameters", "strict"),
        "allowed_callers": only(["direct"]),
        "async": only(False),
        "defer_loading": only(False),
        "output_schema": left_out("tells the provider's own programs what comes back"),
    },
    "custom": {
        **carry("type", "name", "description", "format"),
        "allowed_callers": only(["direct"]),
        "async": only(False),
        "defer_loading": only(False),
    },
    "local_shell": carry("type"),
    "namespace": carry("type", "name", "description", "tools"),
}
GROUPED: Final[Mapping[str, Table]] = {kind: TOOLS[kind] for kind in ("function", "custom")}
"""The kinds of tools that may be in a namespace (a named group of tools): kind -> how its fields are handled."""

CUSTOM_FORMATS: Final[Mapping[str, Table]] = {"text": carry("type"), "grammar": {"type": CARRIED, **GRAMMAR}}
CHOICES: Final[Mapping[str, Table]] = {kind: carry("type", "name") for kind in ("function", "custom")}

WORDS: Final[Mapping[str, str]] = {
    "sampling.max_tokens": "max_output_tokens",
    "sampling": "",
    "format": "text.format",
    "thinking": "reasoning",
    "choice": "tool_choice",
    "parallel": "parallel_tool_calls",
    "tools": "tools",
    **dict.fromkeys(("system", "assistant", "image", "document", "audio", "call", "result"), "input"),
}
"""Field names for errors: name in the API-independent types of ``translate.chat``, whole or only its first part, such
as "sampling" -> this API format's name. "" stands for the rest of the name: "sampling.seed" is "seed" then
(``client_field`` does that)."""


_ROLES: Final[Mapping[str, chat.Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}


def read(body: Mapping[str, Any]) -> chat.ChatCall:
    """Parse the JSON object of an OpenAI Responses request. Raises ``Untranslatable`` for a field or value that other
    API formats cannot express, and ``MalformedRequest`` for an invalid request."""
    fields = check_fields(body, "", REQUEST)
    fields.child("stream_options", STREAM_OPTIONS)
    for name in fields.texts("include"):
        check_fields({name: True}, "include", INCLUDED)
    text = fields.child("text", TEXT)
    names, tools = _tools(fields)
    return chat.ChatCall(
        model=fields.required_text("model"),
        turns=_read_turns(fields, names),
        tools=tools,
        choice=tool_choice(fields, partial(_chosen_tool, names)),
        parallel=fields.flag("parallel_tool_calls"),
        sampling=chat.Sampling(
            max_tokens=fields.whole("max_output_tokens"),
            temperature=fields.number("temperature"),
            top_p=fields.number("top_p"),
        ),
        format=form_of(text.variant("format", FORMATS), lambda form: form) if text else None,
        thinking=_thinking(fields),
        stream=fields.flag("stream") or False,
        usage=True,
        user=fields.text("safety_identifier") or fields.text("user"),
        verbosity=text.text("verbosity") if text else "",
    )


def _read_turns(fields: Fields, names: Names) -> tuple[chat.ChatTurn, ...]:
    values = make_turns("system", [chat.Text(fields.text("instructions"))])
    if isinstance(fields.raw.get("input"), str):
        return join_turns([*values, *make_turns("user", [chat.Text(fields.text("input"))])])
    items = [item.one_of("type", ITEMS, _kind(item)) for item in fields.items("input")]
    if not items:
        raise MalformedRequest("input: a text or a list of items is needed")
    for item in items:
        values += _READERS[item.text("type", "message")](item, names)
    return join_turns(values)


def _kind(item: Fields) -> str:
    """Return the type of an input item that has no field ``type``: "message" if it has a role, else "item_reference"
    (which is refused)."""
    return "message" if "role" in item.raw else "item_reference"


def _message(item: Fields, names: Names) -> list[chat.ChatTurn]:
    return make_turns(_ROLES[item.one_of("role", ROLES).text("role")], read_content(item, "content", PARTS, _part))


def _call(item: Fields, names: Names) -> list[chat.ChatTurn]:
    name = names.flat(item.text("namespace"), item.required_text("name"))
    is_custom = item.text("type") == "custom_tool_call"
    arguments = arguments_of(item.text("input")) if is_custom else item.text("arguments")
    return make_turns("assistant", [sealed_call(item.required_text("call_id"), name, arguments)])


def _shell(item: Fields, names: Names) -> list[chat.ChatTurn]:
    return make_turns(
        "assistant", [sealed_call(item.required_text("call_id"), SHELL_TOOL.name, action_arguments(item))]
    )


def _result(item: Fields, names: Names) -> list[chat.ChatTurn]:
    parts = cast("tuple[chat.Text | chat.Attachment, ...]", tuple(read_content(item, "output", PARTS, _part)))
    call = item.text("call_id") or item.required_text("id")
    name = item.text("name")
    return make_turns(
        "user", [chat.ModelToolResult(bare_id(call), parts, names.flat(item.text("namespace"), name) if name else "")]
    )


def _reasoning(item: Fields, names: Names) -> list[chat.ChatTurn]:
    """Return the reasoning in an item as an assistant turn: its own text if the client sends that, else its summary.
    ``[]`` if it has neither text nor signature."""
    raw = [part.one_of("type", THOUGHTS).text("text") for part in item.items("content")]
    summary = [part.one_of("type", SUMMARIES).text("text") for part in item.items("summary")]
    text, seal = "\n\n".join(raw or summary), item.text("encrypted_content")
    values = make_thought(text, seal.removeprefix(HIDDEN), NAME, hidden=seal.startswith(HIDDEN))
    return make_turns("assistant", [values] if text or seal else [])


_READERS: Final[Mapping[str, Callable[[Fields, Names], list[chat.ChatTurn]]]] = {
    "message": _message,
    "function_call": _call,
    "function_call_output": _result,
    "custom_tool_call": _call,
    "custom_tool_call_output": _result,
    "local_shell_call": _shell,
    "local_shell_call_output": _result,
    "reasoning": _reasoning,
}


def _part(part: Fields) -> chat.Part:
    match part.text("type"):
        case "input_image":
            url = part.required_text("image_url")
            return attachment("image", url, at=part.at("image_url"), detail=part.text("detail"))
        case "input_file":
            return _file(part)
        case "refusal":
            return chat.Text(part.text("refusal"))
        case _:
            return chat.Text(part.text("text"))


def _file(part: Fields) -> chat.Attachment:
    name, detail, data = part.text("filename"), part.text("detail"), part.text("file_data")
    if not data:
        return attachment("document", part.required_text("file_url"), at=part.at("file_url"), detail=detail, name=name)
    if part.text("file_url"):
        raise MalformedRequest(f"{part.at('file_url')}: stands beside file_data")
    if data[:5].lower() == "data:":
        return attachment("document", data, at=part.at("file_data"), detail=detail, name=name)
    return chat.Attachment("document", "application/pdf", data, detail="" if detail == "auto" else detail, name=name)


def _tools(fields: Fields) -> tuple[Names, tuple[chat.Tool, ...]]:
    """Return two values: the names of the tools without namespaces (groups of tools), and all tools, including those in
    namespaces."""
    listed = [tool.one_of("type", TOOLS) for tool in fields.items("tools")]
    alone = {place: _tool(tool) for place, tool in enumerate(listed) if tool.text("type") != "namespace"}
    names = Names(tool.name for tool in alone.values())
    tools: list[chat.Tool] = []
    for place, tool in enumerate(listed):
        tools += [alone[place]] if place in alone else _read_group(tool, names)
    return names, tuple(tools)


def _read_group(group: Fields, names: Names) -> list[chat.Tool]:
    namespace = chat.Namespace(group.required_text("name"), group.text("description"))
    found = [_tool(tool.one_of("type", GROUPED)) for tool in group.items("tools")]
    return [
        replace(
            tool,
            name=names.flat(namespace.name, tool.name),
            description=describe_tool(tool.description, namespace, first=place == 0),
            namespace=namespace,
            own=tool.name,
        )
        for place, tool in enumerate(found)
    ]


def _tool(tool: Fields) -> chat.Tool:
    match tool.text("type"):
        case "local_shell":
            return SHELL_TOOL
        case "custom":
            values = tool.variant("format", CUSTOM_FORMATS)
            grammar = values if values and values.text("type") == "grammar" else None
            return replace(custom_tool(tool.required_text("name"), tool.text("description"), grammar), sent=tool.raw)
        case _:
            name, parameters = tool.required_text("name"), tool.mapping("parameters")
            return chat.Tool(name, tool.text("description"), parameters, tool.flag("strict"), sent=tool.raw)


def _chosen_tool(names: Names, choice: Fields) -> str:
    return names.choose_tool(choice.one_of("type", CHOICES).required_text("name"))


def _thinking(fields: Fields) -> chat.Thinking | None:
    reasoning = fields.child("reasoning", REASONING)
    if reasoning is None:
        return None
    shown = bool(reasoning.text("summary") or reasoning.text("generate_summary"))
    effort = reasoning.text("effort")
    return chat.Thinking(effort, shown=shown) if effort or shown else None
