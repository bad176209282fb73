"""Parser of requests in the API format (dialect) OpenAI Chat Completions, and tables that say how each of their fields
is handled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.server.translate import chat

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

NAME: Final = "openai_chat"

REQUEST: Final[Table] = {
    **COMMON,
    "audio": REFUSED,
    "frequency_penalty": CARRIED,
    "function_call": REFUSED,
    "functions": only([]),
    "logit_bias": only({}),
    "logprobs": only(False),
    **carry("max_completion_tokens", "max_tokens", "messages"),
    "modalities": only(["text"]),
    "n": only(1),
    "prediction": left_out("a guess at the answer, which only makes it faster"),
    **carry("presence_penalty", "reasoning_effort", "response_format", "seed", "stop", "verbosity"),
    "web_search_options": REFUSED,
}

STREAM_OPTIONS: Final[Table] = {
    "include_obfuscation": left_out("padding against listeners, which says nothing"),
    "include_usage": CARRIED,
}

_SYSTEM: Final[Table] = {"role": CARRIED, "content": CARRIED, "name": REFUSED}

MESSAGES: Final[Mapping[str, Table]] = {
    "developer": _SYSTEM,
    "system": _SYSTEM,
    "user": _SYSTEM,
    "assistant": {
        **_SYSTEM,
        "annotations": left_out("where the text was found; the text is whole without"),
        "audio": REFUSED,
        "function_call": REFUSED,
        **carry("reasoning", "reasoning_content", "reasoning_details"),
        "parsed": READ,
        **carry("refusal", "tool_calls"),
    },
    "tool": carry("role", "content", "tool_call_id", "name"),
}

_PART: Final[Table] = {"type": CARRIED, "prompt_cache_breakpoint": CACHED, "cache_control": CACHED}

PARTS: Final[Mapping[str, Table]] = {
    "text": {**_PART, "text": CARRIED},
    "refusal": {**_PART, "refusal": CARRIED},
    "image_url": {**_PART, "image_url": CARRIED},
    "input_audio": {**_PART, "input_audio": CARRIED},
    "file": {**_PART, "file": CARRIED},
}

IMAGE: Final[Table] = carry("url", "detail")
AUDIO: Final[Table] = carry("data", "format")
FILE: Final[Table] = {"file_data": CARRIED, "filename": CARRIED, "file_id": REFUSED}
_CALL: Final[Table] = {"type": CARRIED, "id": CARRIED, "index": left_out("its place in a stream")}

CALLS: Final[Mapping[str, Table]] = {"function": {**_CALL, "function": CARRIED}, "custom": {**_CALL, "custom": CARRIED}}

CALLED: Final[Mapping[str, Table]] = {
    "function": {"name": CARRIED, "arguments": CARRIED, "parsed_arguments": READ},
    "custom": carry("name", "input"),
}

TOOLS: Final[Mapping[str, Table]] = {
    "function": {"type": CARRIED, "function": CARRIED, "cache_control": CACHED},
    "custom": {"type": CARRIED, "custom": CARRIED, "cache_control": CACHED},
}

FUNCTION: Final[Table] = carry("name", "description", "parameters", "strict")
CUSTOM: Final[Table] = carry("name", "description", "format")

CUSTOM_FORMATS: Final[Mapping[str, Table]] = {"text": carry("type"), "grammar": carry("type", "grammar")}

CHOICES: Final[Mapping[str, Table]] = {"function": carry("type", "function"), "custom": carry("type", "custom")}

CHOSEN: Final[Table] = carry("name")

FORMATS: Final[Mapping[str, Table]] = {
    "text": carry("type"),
    "json_object": carry("type"),
    "json_schema": carry("type", "json_schema"),
}

_DETAIL: Final[Table] = {
    **carry("type", "format"),
    "id": left_out("its name for the provider that made it"),
    "index": left_out("its place in a stream"),
}

DETAILS: Final[Mapping[str, Table]] = {
    "reasoning.text": {**_DETAIL, "text": CARRIED, "signature": CARRIED},
    "reasoning.encrypted": {**_DETAIL, "data": CARRIED},
    "reasoning.summary": {**_DETAIL, "summary": CARRIED},
}

WORDS: Final[Mapping[str, str]] = {
    "sampling.max_tokens": "max_completion_tokens",
    "sampling": "",
    "format": "response_format",
    "thinking": "reasoning_effort",
    "choice": "tool_choice",
    "parallel": "parallel_tool_calls",
    "tools": "tools",
    **dict.fromkeys(("system", "assistant", "image", "document", "audio", "call", "result"), "messages"),
}
"""Field names for errors: name in the API-independent types of ``translate.chat``, whole or only its first part, such
as "sampling" -> this API format's name. "" stands for the rest of the name: "sampling.seed" is "seed" then
(``client_field`` does that)."""

_SOUNDS: Final = ("wav", "mp3")


def read(body: Mapping[str, Any]) -> chat.ChatCall:
    """Parse the JSON object of an OpenAI Chat Completions request. Raises ``Untranslatable`` for a field or value that
    other API formats cannot express, and ``MalformedRequest`` for an invalid request."""
    fields = check_fields(body, "", REQUEST)
    options = fields.child("stream_options", STREAM_OPTIONS)
    return chat.ChatCall(
        model=fields.required_text("model"),
        turns=_read_turns(fields),
        tools=tuple(_tool(tool) for tool in fields.items("tools")),
        choice=tool_choice(fields, _chosen_tool),
        parallel=fields.flag("parallel_tool_calls"),
        sampling=_sampling(fields),
        format=_format(fields),
        thinking=_thinking(fields),
        stream=fields.flag("stream") or False,
        usage=bool(options and options.flag("include_usage")),
        user=fields.text("safety_identifier") or fields.text("user"),
        verbosity=fields.text("verbosity"),
    )


def _chosen_tool(choice: Fields) -> str:
    kind = choice.one_of("type", CHOICES)
    return kind.needed_child(kind.text("type"), CHOSEN).required_text("name")


def _read_turns(fields: Fields) -> tuple[chat.ChatTurn, ...]:
    values: list[chat.ChatTurn] = []
    for message in fields.items("messages"):
        values += _message(message.one_of("role", MESSAGES))
    if not values:
        raise MalformedRequest("messages: a message is needed")
    return join_turns(values)


def _message(message: Fields) -> list[chat.ChatTurn]:
    content = read_content(message, "content", PARTS, _part)
    match message.text("role"):
        case "assistant":
            refusal = chat.Text(message.text("refusal"))
            return make_turns("assistant", [*_thoughts(message), *content, refusal, *_calls(message)])
        case "user":
            return make_turns("user", content)
        case "tool":
            parts = cast("tuple[chat.Text | chat.Attachment, ...]", tuple(content))
            result = chat.ModelToolResult(bare_id(message.required_text("tool_call_id")), parts, message.text("name"))
            return make_turns("user", [result])
        case _:
            return make_turns("system", content)


def _part(part: Fields) -> chat.Part:
    match part.text("type"):
        case "image_url":
            return _image(part)
        case "input_audio":
            return _sound(part.needed_child("input_audio", AUDIO))
        case "file":
            return _file(part.needed_child("file", FILE))
        case kind:
            return chat.Text(part.text(kind))


def _image(part: Fields) -> chat.Attachment:
    image = part.needed_child("image_url", IMAGE)
    return attachment("image", image.required_text("url"), at=image.at("url"), detail=image.text("detail"))


def _sound(sound: Fields) -> chat.Attachment:
    kind = sound.text("format")
    if kind not in _SOUNDS:
        raise sound.untranslatable("format", "is not known")
    return chat.Attachment("audio", f"audio/{kind}", sound.required_text("data"))


def _file(file: Fields) -> chat.Attachment:
    data, name = file.required_text("file_data"), file.text("filename")
    if data[:5].lower() == "data:":
        return attachment("document", data, at=file.at("file_data"), name=name)
    return chat.Attachment("document", "application/pdf", data, name=name)


def _thoughts(message: Fields) -> list[chat.Part]:
    """Return the reasoning in an assistant message: that in ``reasoning_details`` if there is any, because it repeats
    the plain text in ``reasoning_content``; else the plain text."""
    if details := message.items("reasoning_details"):
        return [_detail(detail.one_of("type", DETAILS)) for detail in details]
    text = message.text("reasoning_content") or message.text("reasoning")
    return [chat.Thought(text)] if text else []


def _detail(detail: Fields) -> chat.Thought:
    match detail.text("type"):
        case "reasoning.text":
            return make_thought(detail.text("text"), detail.text("signature"), NAME)
        case "reasoning.encrypted":
            return make_thought("", detail.text("data"), NAME, hidden=True)
        case _:
            return chat.Thought(detail.text("summary"))


def _calls(message: Fields) -> list[chat.ModelToolCall]:
    return [_call(call.one_of("type", CALLS, "function")) for call in message.items("tool_calls")]


def _call(call: Fields) -> chat.ModelToolCall:
    kind = call.text("type", "function")
    called = call.needed_child(kind, CALLED[kind])
    arguments = called.text("arguments") if kind == "function" else arguments_of(called.text("input"))
    return sealed_call(call.required_text("id"), called.required_text("name"), arguments)


def _tool(tool: Fields) -> chat.Tool:
    kind = tool.one_of("type", TOOLS).text("type")
    if kind == "custom":
        custom = tool.needed_child("custom", CUSTOM)
        grammar = custom.variant("format", CUSTOM_FORMATS)
        values = grammar.child("grammar", GRAMMAR) if grammar else None
        return custom_tool(custom.required_text("name"), custom.text("description"), values)
    function = tool.needed_child("function", FUNCTION)
    parameters = function.mapping("parameters")
    return chat.Tool(function.required_text("name"), function.text("description"), parameters, function.flag("strict"))


def _sampling(fields: Fields) -> chat.Sampling:
    limits = [limit for name in ("max_completion_tokens", "max_tokens") if (limit := fields.whole(name)) is not None]
    if len(limits) > 1:
        raise MalformedRequest("max_tokens: stands beside max_completion_tokens")
    return chat.Sampling(
        max_tokens=limits[0] if limits else None,
        temperature=fields.number("temperature"),
        top_p=fields.number("top_p"),
        stop=fields.texts("stop"),
        seed=fields.whole("seed"),
        frequency_penalty=fields.number("frequency_penalty"),
        presence_penalty=fields.number("presence_penalty"),
    )


def _format(fields: Fields) -> chat.AnswerFormat | None:
    form = fields.variant("response_format", FORMATS)
    return form_of(form, lambda form: form.needed_child("json_schema", JSON_SCHEMA))


def _thinking(fields: Fields) -> chat.Thinking | None:
    """Return how much the model may reason; ``None`` if the request does not say. The reasoning is always shown, unless
    the effort is "none"; clients that do not know ``reasoning_content`` ignore it."""
    effort = fields.text("reasoning_effort")
    return chat.Thinking(effort, shown=effort != "none") if effort else None
