"""Parser of OpenAI Chat Completions requests.

Also accepts ``reasoning_content`` and ``reasoning_details`` in messages: the fields in which replies of this package,
DeepSeek and OpenRouter contain reasoning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.server.translate.chat import (
    AnswerFormat,
    Attachment,
    ChatCall,
    ChatTurn,
    ModelToolCall,
    ModelToolResult,
    Part,
    Sampling,
    Text,
    Thinking,
    Thought,
    Tool,
)

from .fields import Fields, check_fields
from .openai_chat_fields import (
    AUDIO,
    CALLED,
    CALLS,
    CHOICES,
    CHOSEN,
    CUSTOM,
    CUSTOM_FORMATS,
    DETAILS,
    FILE,
    FORMATS,
    FUNCTION,
    IMAGE,
    MESSAGES,
    NAME,
    PARTS,
    REQUEST,
    STREAM_OPTIONS,
    TOOLS,
)
from .openai_shared import GRAMMAR, JSON_SCHEMA, arguments_of, custom_tool, form_of, tool_choice
from .parts import attachment, join_turns, make_turns
from .seals import bare_id, make_thought, sealed_call

_SOUNDS: Final = ("wav", "mp3")


def read(body: Mapping[str, Any]) -> ChatCall:
    """Parse the request. Raises ``Untranslatable`` and ``MalformedRequest``."""
    fields = check_fields(body, "", REQUEST)
    options = fields.child("stream_options", STREAM_OPTIONS)
    return ChatCall(
        model=fields.required_text("model"),
        said=_read_turns(fields),
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


def _read_turns(fields: Fields) -> tuple[ChatTurn, ...]:
    told: list[ChatTurn] = []
    for message in fields.items("messages"):
        told += _message(message.one_of("role", MESSAGES))
    if not told:
        raise MalformedRequest("messages: a message is needed")
    return join_turns(told)


def _message(message: Fields) -> list[ChatTurn]:
    match message.text("role"):
        case "assistant":
            return make_turns(
                "assistant", [*_thoughts(message), *_content(message), *_refusal(message), *_calls(message)]
            )
        case "user":
            return make_turns("user", _content(message))
        case "tool":
            parts = cast("tuple[Text | Attachment, ...]", tuple(_content(message)))
            result = ModelToolResult(bare_id(message.required_text("tool_call_id")), parts, message.text("name"))
            return make_turns("user", [result])
        case _:
            return make_turns("system", _content(message))


def _content(message: Fields) -> list[Part]:
    if isinstance(message.raw.get("content"), str):
        return [Text(message.text("content"))]
    return [_part(part.one_of("type", PARTS)) for part in message.items("content")]


def _part(part: Fields) -> Part:
    match part.text("type"):
        case "image_url":
            return _image(part)
        case "input_audio":
            return _sound(part.needed_child("input_audio", AUDIO))
        case "file":
            return _file(part.needed_child("file", FILE))
        case kind:
            return Text(part.text(kind))


def _image(part: Fields) -> Attachment:
    image = part.needed_child("image_url", IMAGE)
    return attachment("image", image.required_text("url"), at=image.at("url"), detail=image.text("detail"))


def _sound(sound: Fields) -> Attachment:
    kind = sound.text("format")
    if kind not in _SOUNDS:
        raise sound.untranslatable("format", "is not known")
    return Attachment("audio", f"audio/{kind}", sound.required_text("data"))


def _file(file: Fields) -> Attachment:
    data, name = file.required_text("file_data"), file.text("filename")
    if data[:5].lower() == "data:":
        return attachment("document", data, at=file.at("file_data"), name=name)
    return Attachment("document", "application/pdf", data, name=name)


def _refusal(message: Fields) -> list[Part]:
    return [Text(message.text("refusal"))]


def _thoughts(message: Fields) -> list[Part]:
    """What the assistant thought: in details where there are any, since those repeat the plain text."""
    if details := message.items("reasoning_details"):
        return [_detail(detail.one_of("type", DETAILS)) for detail in details]
    text = message.text("reasoning_content") or message.text("reasoning")
    return [Thought(text)] if text else []


def _detail(detail: Fields) -> Thought:
    match detail.text("type"):
        case "reasoning.text":
            return make_thought(detail.text("text"), detail.text("signature"), NAME)
        case "reasoning.encrypted":
            return make_thought("", detail.text("data"), NAME, hidden=True)
        case _:
            return Thought(detail.text("summary"))


def _calls(message: Fields) -> list[ModelToolCall]:
    return [_call(call.one_of("type", CALLS, "function")) for call in message.items("tool_calls")]


def _call(call: Fields) -> ModelToolCall:
    kind = call.text("type", "function")
    called = call.needed_child(kind, CALLED[kind])
    arguments = called.text("arguments") if kind == "function" else arguments_of(called.text("input"))
    return sealed_call(call.required_text("id"), called.required_text("name"), arguments)


def _tool(tool: Fields) -> Tool:
    kind = tool.one_of("type", TOOLS).text("type")
    if kind == "custom":
        custom = tool.needed_child("custom", CUSTOM)
        grammar = custom.variant("format", CUSTOM_FORMATS)
        told = grammar.child("grammar", GRAMMAR) if grammar else None
        return custom_tool(custom.required_text("name"), custom.text("description"), told)
    function = tool.needed_child("function", FUNCTION)
    parameters = function.mapping("parameters")
    return Tool(function.required_text("name"), function.text("description"), parameters, function.flag("strict"))


def _sampling(fields: Fields) -> Sampling:
    limits = [limit for name in ("max_completion_tokens", "max_tokens") if (limit := fields.whole(name)) is not None]
    if len(limits) > 1:
        raise MalformedRequest("max_tokens: stands beside max_completion_tokens")
    return Sampling(
        max_tokens=limits[0] if limits else None,
        temperature=fields.number("temperature"),
        top_p=fields.number("top_p"),
        stop=fields.texts("stop"),
        seed=fields.whole("seed"),
        frequency_penalty=fields.number("frequency_penalty"),
        presence_penalty=fields.number("presence_penalty"),
    )


def _format(fields: Fields) -> AnswerFormat | None:
    form = fields.variant("response_format", FORMATS)
    return form_of(form, lambda form: form.needed_child("json_schema", JSON_SCHEMA))


def _thinking(fields: Fields) -> Thinking | None:
    """Thoughts are shown whenever there may be any: those who know of none read past ``reasoning_content``."""
    effort = fields.text("reasoning_effort")
    return Thinking(effort, shown=effort != "none") if effort else None
