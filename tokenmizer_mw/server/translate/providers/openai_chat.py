"""OpenAI Chat Completions as a provider dialect, with the deviations of compatible servers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final, Literal

from tokenmizer_mw.errors import Untranslatable
from tokenmizer_mw.server.translate import chat
from tokenmizer_mw.server.translate.translation import ProviderRequest, StreamReader
from tokenmizer_mw.wire.sse import EVENT_MAX

from . import openai_chat_reply
from .replies import EventReader, fault_of
from .request_parts import (
    NO_PARAMETERS,
    CallIds,
    Writer,
    attached_to,
    calls_in,
    effort_for,
    image,
    join_texts,
    present,
    refuse,
    thoughts,
    turns_with_rule,
    user_messages,
)


@dataclass(frozen=True, slots=True)
class Quirks:
    """The deviations of one OpenAI-compatible server; the defaults suit most servers.

    - ``max_tokens`` and ``seed``: the names of these fields; ``system``: the role of system messages.
    - ``stream_options``: whether to ask a stream for its token counts.
    - ``effort``: how to set the reasoning effort: "reasoning_effort", DeepSeek's "thinking" beside it, OpenRouter's
      "reasoning", or "" if that is not possible.
    - ``thoughts``: the field in which earlier reasoning is sent back; "" drops it. With ``thoughts_needed`` every
      assistant message has the field, unless the call switches reasoning off.
    - ``bridge``: text of an assistant message inserted between a tool result and a user message, for servers that
      refuse these as neighbours; "" for none.
    - ``parallel`` and ``end_user``: whether there are fields for parallel tool calls and for the end user.
    - ``verbosity``: whether there is a field for the length of the reply.
    - ``attached``: whose format is used for documents and audio.
    - ``call_id`` and ``call_id_lengths``: allowed characters, and least and greatest length, of tool call ids; other
      ids are replaced.
    - ``lacks``: features that the server does not support, such as "sampling.seed", "format.schema" or "tools.strict",
      named as in ``request_parts``.
    """

    max_tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    seed: Literal["seed", "random_seed"] = "seed"
    system: Literal["system", "developer"] = "system"
    stream_options: bool = True
    effort: Literal["reasoning_effort", "thinking", "reasoning", ""] = "reasoning_effort"
    thoughts: Literal["reasoning_content", "reasoning", ""] = ""
    thoughts_needed: bool = False
    bridge: str = ""
    parallel: bool = True
    end_user: bool = True
    verbosity: bool = False
    attached: Literal["openai", "mistral"] = "openai"
    call_id: Literal["printable", "word", "alphanumeric"] = "printable"
    call_id_lengths: tuple[int, int] = (1, 40)
    lacks: frozenset[str] = frozenset({"sampling.top_k", "document.url", "audio.url"})


PATH: Final = "/chat/completions"
_END_USER_MAX: Final = 64
_SOUNDS: Final = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}
_NEVER: Final = attached_to("system", "assistant")


@dataclass(frozen=True, slots=True)
class OpenAIChatProvider:
    """Provider side of the OpenAI Chat Completions dialect.

    ``quirks``: how the server deviates. ``event_max``: a stream event of more bytes is an error.

    Attachments in tool results, which may only contain text, follow as a user message. Earlier reasoning, image details
    and the end user are dropped for servers without a field for them.
    """

    quirks: Quirks = field(default_factory=Quirks)
    event_max: int = EVENT_MAX
    name: str = "openai_chat"

    def outgoing(self, call: chat.ChatCall) -> ProviderRequest:
        """Return the request for the provider. Raises ``Untranslatable`` for what the server has no field for."""
        refuse(call, self.quirks.lacks | _NEVER)
        quirks, sampling = self.quirks, call.sampling
        body: dict[str, Any] = {"model": call.model, "messages": _messages(call, quirks)}
        body |= present(
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            top_k=sampling.top_k,
            stop=list(sampling.stop),
            frequency_penalty=sampling.frequency_penalty,
            presence_penalty=sampling.presence_penalty,
            tools=[_tool(tool) for tool in call.tools],
            tool_choice=_choice(call),
            parallel_tool_calls=call.parallel if call.tools and quirks.parallel else None,
            response_format=_format(call.format),
            user=_end_user(call.user) if quirks.end_user else "",
            verbosity=call.verbosity if quirks.verbosity else "",
            **{quirks.max_tokens: sampling.max_tokens, quirks.seed: sampling.seed},
            **_thinking(call.thinking, quirks),
        )
        if call.stream:
            body["stream"] = True
            body |= {"stream_options": {"include_usage": True}} if call.usage and quirks.stream_options else {}
        return ProviderRequest(PATH, body)

    answer = staticmethod(openai_chat_reply.answer)
    fault = staticmethod(fault_of)

    def reader(self) -> StreamReader:
        """Return an object that parses one stream of the provider."""
        return EventReader(openai_chat_reply.OpenAIChatChunks(), self.event_max)


def _messages(call: chat.ChatCall, quirks: Quirks) -> list[dict[str, Any]]:
    ids = CallIds(quirks.call_id, *quirks.call_id_lengths)
    turns = call.turns if quirks.parallel else turns_with_rule(call)
    messages = [message for chat_turns in turns for message in _write_turn(chat_turns, quirks, ids)]
    if quirks.thoughts_needed and not (call.thinking is not None and _effort(call.thinking) == "none"):
        for message in messages:
            if message["role"] == "assistant":
                message.setdefault(quirks.thoughts, "")
    return list(_insert_bridges(messages, quirks.bridge)) if quirks.bridge else messages


def _insert_bridges(messages: Sequence[dict[str, Any]], bridge: str) -> Iterator[dict[str, Any]]:
    role = ""
    for message in messages:
        if role == "tool" and message["role"] not in ("tool", "assistant"):
            yield {"role": "assistant", "content": bridge}
        yield message
        role = message["role"]


def _write_turn(turn: chat.ChatTurn, quirks: Quirks, ids: CallIds) -> Iterator[dict[str, Any]]:
    if turn.role == "system":
        yield {"role": quirks.system, "content": join_texts(turn.parts)}
    elif turn.role == "assistant":
        yield _assistant(turn, quirks, ids)
    else:
        yield from user_messages(turn, ids, _ATTACHED[quirks.attached])


def _assistant(turn: chat.ChatTurn, quirks: Quirks, ids: CallIds) -> dict[str, Any]:
    calls = calls_in(turn, ids)
    text = join_texts(turn.parts)
    message = {"role": "assistant", "content": text if text or not calls else None, **present(tool_calls=calls)}
    if quirks.thoughts and (thought := thoughts(turn.parts)):
        message[quirks.thoughts] = thought
    if quirks.thoughts == "reasoning":
        message |= present(**{openai_chat_reply.DETAILS: openai_chat_reply.details_of(turn.parts)})
    return message


def _document(part: chat.Attachment) -> dict[str, Any]:
    data = f"data:{part.media_type};base64,{part.data}"
    return {"type": "file", "file": {"filename": part.name or "document", "file_data": data}}


def _sound(part: chat.Attachment) -> dict[str, Any]:
    if part.media_type not in _SOUNDS:
        raise Untranslatable("audio.media_type", f"the provider takes no sound of the type {part.media_type!r}")
    return {"type": "input_audio", "input_audio": {"data": part.data, "format": _SOUNDS[part.media_type]}}


def _linked_document(part: chat.Attachment) -> dict[str, Any]:
    url = part.url or f"data:{part.media_type};base64,{part.data}"
    return {"type": "document_url", "document_url": url, **present(document_name=part.name)}


_ATTACHED: Final[Mapping[str, Mapping[str, Writer]]] = {
    "openai": {"image": image, "document": _document, "audio": _sound},
    "mistral": {
        "image": image,
        "document": _linked_document,
        "audio": lambda part: {"type": "input_audio", "input_audio": part.url or part.data},
    },
}


def _tool(tool: chat.Tool) -> dict[str, Any]:
    values = present(description=tool.description, strict=tool.strict or None)
    return {
        "type": "function",
        "function": {"name": tool.name, "parameters": tool.parameters or NO_PARAMETERS, **values},
    }


def _choice(call: chat.ChatCall) -> object:
    if call.choice is None or (not call.tools and call.choice.mode in ("auto", "none")):
        return None
    return (
        {"type": "function", "function": {"name": call.choice.name}}
        if call.choice.mode == "named"
        else (_MODES[call.choice.mode])
    )


_MODES: Final[Mapping[str, str]] = {"auto": "auto", "none": "none", "any": "required"}


def _format(wanted: chat.AnswerFormat | None) -> object:
    if wanted is None:
        return None
    if wanted.schema is None:
        return {"type": "json_object"}
    schema = {"name": wanted.name or "answer", "schema": wanted.schema, **present(strict=wanted.strict)}
    return {"type": "json_schema", "json_schema": schema}


def _thinking(thinking: chat.Thinking | None, quirks: Quirks) -> dict[str, Any]:
    """Return the fields for the reasoning effort. A token budget becomes the effort that covers it, unless the server
    takes tokens."""
    if thinking is None or not (thinking.effort or thinking.tokens is not None):
        return {}
    if not quirks.effort:
        raise Untranslatable("thinking")
    effort = _effort(thinking)
    if quirks.effort == "thinking":
        off = {"thinking": {"type": "disabled"}}
        return off if effort == "none" else {"thinking": {"type": "enabled"}, "reasoning_effort": effort}
    if quirks.effort == "reasoning":
        values = {"effort": effort} if thinking.effort else {"max_tokens": thinking.tokens}
        return {"reasoning": values if effort != "none" else {"enabled": False}}
    return {"reasoning_effort": effort}


def _effort(thinking: chat.Thinking) -> str:
    """Return the reasoning effort; "" if the call sets none."""
    return thinking.effort or ("" if thinking.tokens is None else effort_for(thinking.tokens))


def _end_user(user: str) -> str:
    """The name of the end user, or its digest where it is too long."""
    return user if len(user) <= _END_USER_MAX else blake2b(user.encode(), digest_size=16).hexdigest()
