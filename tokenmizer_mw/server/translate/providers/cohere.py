"""Cohere Chat version 2 as a provider dialect."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tokenmizer_mw.errors import Untranslatable
from tokenmizer_mw.server.translate.chat import (
    AnswerFormat,
    Attachment,
    ChatCall,
    ChatTurn,
    Fault,
    ModelReply,
    Text,
    Thinking,
    Thought,
    Tool,
)
from tokenmizer_mw.server.translate.sides import ProviderRequest, StreamReader
from tokenmizer_mw.wire.sse import EVENT_MAX

from . import cohere_reply
from .asking import (
    EFFORTS,
    NO_PARAMETERS,
    CallIds,
    attached_to,
    join_texts,
    one_call_at_most,
    present,
    refuse,
    split_prefix,
)
from .openai_parts import Writer, calls_in, image, user_messages
from .reading import EventReader, fault_of

PATH: Final = "/v2/chat"

_IDS: Final = CallIds("printable", 1, 128)
_LACKS: Final = attached_to("system", "assistant") | {"document.url", "audio", "result.document", "result.audio"}
_MODES: Final = {"any": "REQUIRED", "named": "REQUIRED", "none": "NONE"}
_ATTACHED: Final[Mapping[str, Writer]] = {"image": image}


@dataclass(frozen=True, slots=True)
class CohereProvider:
    """Provider side of the Cohere Chat dialect. ``event_max``: a stream event of more bytes is an error.

    Assistant text before tool calls goes into the plan. Plain-text documents are sent in the field for documents,
    beside the messages. Images in tool results follow as a user message. The end user and signed reasoning are dropped.
    """

    event_max: int = EVENT_MAX
    name: str = "cohere"

    def outgoing(self, call: ChatCall) -> ProviderRequest:
        """Return the request for the provider. Raises ``Untranslatable`` for what the dialect has no field for."""
        refuse(call, _LACKS)
        sampling = call.sampling
        body: dict[str, Any] = {"model": call.model, "messages": _messages(call), "stream": call.stream}
        body |= present(
            documents=[_document(part) for said in call.said for part in said.parts if _is_document(part)],
            tools=[_tool(tool) for tool in call.tools],
            tool_choice=_choice(call),
            strict_tools=any(tool.strict for tool in call.tools) or None,
            max_tokens=sampling.max_tokens,
            temperature=sampling.temperature,
            p=sampling.top_p,
            k=sampling.top_k,
            stop_sequences=list(sampling.stop),
            seed=sampling.seed,
            frequency_penalty=sampling.frequency_penalty,
            presence_penalty=sampling.presence_penalty,
            response_format=_format(call.format),
            thinking=_thinking(call.thinking),
        )
        return ProviderRequest(PATH, body)

    def answer(self, body: Mapping[str, Any]) -> ModelReply:
        """Parse a complete reply. Raises ``ForeignReply`` for one without a message, or with an error of the model."""
        return cohere_reply.answer(body)

    def reader(self) -> StreamReader:
        """Return a reader for one stream."""
        return EventReader(cohere_reply.CohereEvents(), self.event_max)

    def fault(self, status: int, body: bytes) -> Fault:
        """Parse an error response. Never raises."""
        return fault_of(status, body)


def _messages(call: ChatCall) -> list[dict[str, Any]]:
    prefix, rest = split_prefix(call.said)
    rule = one_call_at_most(call)
    said = [*prefix, *([ChatTurn("system", (Text(rule),))] if rule else []), *rest]
    return [message for one in said for message in _write_turn(one)]


def _write_turn(said: ChatTurn) -> Iterator[dict[str, Any]]:
    if said.role == "system":
        yield {"role": "system", "content": join_texts(said.parts)}
    elif said.role == "assistant":
        yield from _assistant(said)
    else:
        parts = tuple(part for part in said.parts if not _is_document(part))
        if parts or not said.parts:
            yield from user_messages(ChatTurn("user", parts), _IDS, _ATTACHED)


def _assistant(said: ChatTurn) -> Iterator[dict[str, Any]]:
    """What was thought and said; beside calls, what was said is the plan."""
    calls, text = calls_in(said, _IDS), join_texts(said.parts)
    thought = "\n".join(part.text for part in said.parts if isinstance(part, Thought) and not part.seal and part.text)
    content = [{"type": "thinking", "thinking": thought}] if thought else []
    content += [{"type": "text", "text": text}] if text and not calls else []
    if content or calls:
        yield {"role": "assistant", **present(content=content, tool_plan=text if calls else "", tool_calls=calls)}


def _is_document(part: object) -> bool:
    return isinstance(part, Attachment) and part.kind == "document"


def _document(part: object) -> dict[str, Any]:
    """A document of plain text; others are refused."""
    if not isinstance(part, Attachment) or part.media_type != "text/plain":
        raise Untranslatable("document.media_type", "the provider takes documents of plain text only")
    try:
        text = base64.b64decode(part.data, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise Untranslatable("document.data", "a document of plain text is not UTF-8 in base64") from None
    return {"data": {**present(title=part.name), "text": text}}


def _tool(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "parameters": tool.parameters or NO_PARAMETERS}
    return {"type": "function", "function": function | present(description=tool.description)}


def _choice(call: ChatCall) -> str:
    """What may be called. One tool among several cannot be named."""
    if call.choice is None or call.choice.mode == "auto" or not call.tools:
        return ""
    if call.choice.mode == "named" and [tool.name for tool in call.tools] != [call.choice.name]:
        raise Untranslatable("choice.named")
    return _MODES[call.choice.mode]


def _format(wanted: AnswerFormat | None) -> dict[str, Any]:
    return {"type": "json_object", **present(json_schema=wanted.schema)} if wanted is not None else {}


def _thinking(thinking: Thinking | None) -> dict[str, Any]:
    if thinking is None or (not thinking.effort and thinking.tokens is None):
        return {}
    tokens = EFFORTS.get(thinking.effort, 0) if thinking.tokens is None else thinking.tokens
    return {"type": "enabled", "token_budget": tokens} if tokens else {"type": "disabled"}
