"""Ollama's own chat API as a provider dialect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    ModelToolCall,
    ModelToolResult,
    Text,
    Thinking,
    Tool,
)
from tokenmizer_mw.server.translate.sides import ProviderRequest, StreamReader
from tokenmizer_mw.wire.sse import EVENT_MAX

from . import ollama_reply
from .asking import (
    NO_PARAMETERS,
    arguments_of,
    attached_to,
    effort_for,
    join_texts,
    names_of_calls,
    one_call_at_most,
    present,
    refuse,
    result_text,
    split_prefix,
    thoughts,
)
from .reading import LineReader, fault_of

PATH: Final = "/api/chat"

_LACKS: Final = attached_to("system", "assistant", "result") - {"result.image"} | {
    "tools.strict", "choice.any", "choice.named", "image.url", "document", "audio"}  # fmt: skip
_LEVELS: Final = {"none": False, "minimal": "low", "xhigh": "high", "max": "high"}


@dataclass(frozen=True, slots=True)
class OllamaProvider:
    """Provider side of the Ollama dialect. ``line_max``: a stream line of more bytes is an error.

    The dialect has no call ids: results follow in the order of the calls, with the names of their tools. If the model
    must not call tools, none are offered. The end user is dropped.
    """

    line_max: int = EVENT_MAX
    name: str = "ollama"

    def outgoing(self, call: ChatCall) -> ProviderRequest:
        """Return the request for the provider. Raises ``Untranslatable`` for what the dialect has no field for."""
        refuse(call, _LACKS)
        silent = call.choice is not None and call.choice.mode == "none"
        body: dict[str, Any] = {"model": call.model, "messages": _messages(call), "stream": call.stream}
        body |= present(
            tools=[] if silent else [_tool(tool) for tool in call.tools],
            format=_format(call.format),
            think=_thinking(call.thinking),
            options=_options(call),
        )
        return ProviderRequest(PATH, body)

    def answer(self, body: Mapping[str, Any]) -> ModelReply:
        """Parse a complete reply. Raises ``ForeignReply`` for one without a message, or that is not done."""
        return ollama_reply.answer(body)

    def reader(self) -> StreamReader:
        """Return a reader for one stream."""
        return LineReader(ollama_reply.OllamaLines(), self.line_max)

    def fault(self, status: int, body: bytes) -> Fault:
        """Parse an error response. Never raises."""
        return fault_of(status, body)


def _options(call: ChatCall) -> dict[str, Any]:
    sampling = call.sampling
    return present(
        num_predict=sampling.max_tokens,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        top_k=sampling.top_k,
        stop=list(sampling.stop),
        seed=sampling.seed,
        frequency_penalty=sampling.frequency_penalty,
        presence_penalty=sampling.presence_penalty,
    )


def _messages(call: ChatCall) -> list[dict[str, Any]]:
    names = names_of_calls(call.said)
    prefix, rest = split_prefix(call.said)
    rule = one_call_at_most(call)
    said = [*prefix, *([ChatTurn("system", (Text(rule),))] if rule else []), *rest]
    messages: list[dict[str, Any]] = []
    called: list[str] = []
    for one in said:
        if one.role == "user":
            messages += _user(one, names, called)
        else:
            messages.append(_assistant(one) if one.role == "assistant" else _write_turn(one))
            called = [part.id for part in one.parts if isinstance(part, ModelToolCall)] or called
    return messages


def _write_turn(said: ChatTurn) -> dict[str, Any]:
    images = [part.data for part in said.parts if isinstance(part, Attachment)]
    return {"role": said.role, "content": join_texts(said.parts), **present(images=images)}


def _assistant(said: ChatTurn) -> dict[str, Any]:
    calls = [part for part in said.parts if isinstance(part, ModelToolCall)]
    made = [{"function": {"name": call.name, "arguments": arguments_of(call)}} for call in calls]
    return _write_turn(said) | present(thinking=thoughts(said.parts), tool_calls=made)


def _user(said: ChatTurn, names: Mapping[str, str], called: Sequence[str]) -> Iterator[dict[str, Any]]:
    results = [part for part in said.parts if isinstance(part, ModelToolResult)]
    for result in sorted(results, key=lambda one: called.index(one.call_id) if one.call_id in called else len(called)):
        name = result.name or names.get(result.call_id, "")
        if not name:
            raise Untranslatable("result.name", f"no call in the request tells which tool {result.call_id!r} is of")
        images = [part.data for part in result.parts if isinstance(part, Attachment) and _require_embedded(part)]
        yield {"role": "tool", "tool_name": name, "content": result_text(result), **present(images=images)}
    rest = tuple(part for part in said.parts if not isinstance(part, ModelToolResult))
    if rest or not results:
        yield _write_turn(ChatTurn("user", rest))


def _require_embedded(image: Attachment) -> bool:
    """Always: raises ``Untranslatable`` for an image that is only linked."""
    if not image.data:
        raise Untranslatable("result.image.url", "the provider takes images only when they are part of the request")
    return True


def _tool(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "parameters": tool.parameters or NO_PARAMETERS}
    return {"type": "function", "function": function | present(description=tool.description)}


def _format(wanted: AnswerFormat | None) -> object:
    if wanted is None:
        return None
    return "json" if wanted.schema is None else wanted.schema


def _thinking(thinking: Thinking | None) -> object:
    """Whether to think, or how much; models that know no levels take any as yes."""
    if thinking is None or (not thinking.effort and thinking.tokens is None):
        return None
    effort = thinking.effort or effort_for(thinking.tokens or 0)
    return _LEVELS.get(effort, effort)
