"""Translator for the API format (dialect) of Ollama's own chat API. Ollama sends no ids, so they are derived from the
content of the reply."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tokenmizer_mw.errors import ForeignReply, Untranslatable
from tokenmizer_mw.server.translate import chat
from tokenmizer_mw.server.translate.translation import ProviderRequest, StreamReader
from tokenmizer_mw.wire.dialects.openai_message import read_call
from tokenmizer_mw.wire.json_text import storable
from tokenmizer_mw.wire.reply import objects, parse_json
from tokenmizer_mw.wire.sse import EVENT_MAX, ServerSentEvent

from .replies import (
    LineReader,
    Parts,
    error_of,
    fault_of,
    foreign,
    make_id,
    object_in,
    piece_in,
    resolve_finish,
    text_in,
    usage_in,
)
from .request_parts import (
    arguments_of,
    attached_to,
    effort_for,
    function_tool,
    join_texts,
    names_of_calls,
    present,
    refuse,
    result_text,
    sampling_fields,
    thoughts,
    turns_with_rule,
)

PATH: Final = "/api/chat"

_LACKS: Final = attached_to("system", "assistant", "result") - {"result.image"} | {
    "tools.strict", "choice.any", "choice.named", "image.url", "document", "audio"}  # fmt: skip

_LEVELS: Final = {"none": False, "minimal": "low", "xhigh": "high", "max": "high"}


def _messages(call: chat.ChatCall) -> list[dict[str, Any]]:
    names = names_of_calls(call.turns)
    messages: list[dict[str, Any]] = []
    called: list[str] = []
    for one in turns_with_rule(call):
        if one.role == "user":
            messages += _user(one, names, called)
        else:
            messages.append(_assistant(one) if one.role == "assistant" else _write_turn(one))
            called = [part.id for part in one.parts if isinstance(part, chat.ModelToolCall)] or called
    return messages


def _write_turn(turn: chat.ChatTurn) -> dict[str, Any]:
    images = [part.data for part in turn.parts if isinstance(part, chat.Attachment)]
    return {"role": turn.role, "content": join_texts(turn.parts), **present(images=images)}


def _assistant(turn: chat.ChatTurn) -> dict[str, Any]:
    calls = [part for part in turn.parts if isinstance(part, chat.ModelToolCall)]
    made = [{"function": {"name": call.name, "arguments": arguments_of(call)}} for call in calls]
    return _write_turn(turn) | present(thinking=thoughts(turn.parts), tool_calls=made)


def _user(turn: chat.ChatTurn, names: Mapping[str, str], called: Sequence[str]) -> Iterator[dict[str, Any]]:
    results = [part for part in turn.parts if isinstance(part, chat.ModelToolResult)]
    for result in sorted(results, key=lambda one: called.index(one.call_id) if one.call_id in called else len(called)):
        name = result.name or names.get(result.call_id, "")
        if not name:
            raise Untranslatable("result.name", f"no call in the request tells which tool {result.call_id!r} is of")
        images = [part.data for part in result.parts if isinstance(part, chat.Attachment) and _require_embedded(part)]
        yield {"role": "tool", "tool_name": name, "content": result_text(result), **present(images=images)}
    rest = tuple(part for part in turn.parts if not isinstance(part, chat.ModelToolResult))
    if rest or not results:
        yield _write_turn(chat.ChatTurn("user", rest))


def _require_embedded(image: chat.Attachment) -> bool:
    """Return true if the image has data. Raises ``Untranslatable`` for an image that is only a link."""
    if not image.data:
        raise Untranslatable("result.image.url", "the provider takes images only when they are part of the request")
    return True


def _format(wanted: chat.AnswerFormat | None) -> object:
    if wanted is None:
        return None
    return "json" if wanted.schema is None else wanted.schema


def _thinking(thinking: chat.Thinking | None) -> object:
    """Return the value of the field for reasoning: false for none, or a level such as "low"; ``None`` if the call sets
    none. Models without levels treat any level as true."""
    if thinking is None or (not thinking.effort and thinking.tokens is None):
        return None
    effort = thinking.effort or effort_for(thinking.tokens or 0)
    return _LEVELS.get(effort, effort)


_FINISHES: Final = {"length": chat.Finish.LENGTH}
_COUNTS: Final = (("prompt_eval_count", "prompt"), ("eval_count", "completion"))


def answer(body: Mapping[str, Any]) -> chat.ModelReply:
    """Parse a complete (not streamed) reply. Raises ``ForeignReply`` for one without a message, with an error, or not
    marked as done."""
    message = object_in(body, "message")
    if not message or body.get("error"):
        raise foreign(body, "message")
    if body.get("done") is not True:
        raise ForeignReply("the provider's reply is not done")
    reply = make_id(body.get("created_at"), body.get("model"))
    calls = list(_calls(message, reply, 0))
    parts: list[chat.Part] = []
    if thought := text_in(message, "thinking"):
        parts.append(chat.Thought(thought))
    if text := text_in(message, "content"):
        parts.append(chat.Text(text))
    return chat.ModelReply(
        reply,
        text_in(body, "model"),
        (*parts, *calls),
        _finish(body, bool(calls)),
        usage_in(dict(body), _COUNTS) or chat.Usage(),
    )


def _calls(message: Mapping[str, Any], reply: str, place: int) -> Iterator[chat.ModelToolCall]:
    """Yield the tool calls of a message. ``place``: number of tool calls in earlier messages of the stream. Ids are
    derived from ``reply`` (id of the reply), ``place`` and the call."""
    for number, raw in enumerate(objects(message.get("tool_calls")), place):
        if (call := read_call(raw)) is not None:
            arguments = storable(call.arguments) or "{}"
            yield chat.ModelToolCall(
                storable(call.id) or make_id(reply, number, call.name, arguments), storable(call.name), arguments
            )


def _finish(line: Mapping[str, Any], called: bool) -> chat.Finish:
    return resolve_finish(_FINISHES.get(text_in(line, "done_reason"), chat.Finish.STOP), called)


class OllamaLines:
    """Parses the lines of one Ollama stream into API-independent stream events. Each stream needs a new object."""

    def __init__(self) -> None:
        self._parts = Parts()
        self._reply = ""
        self._calls = 0

    def event(self, event: ServerSentEvent) -> Iterable[chat.StreamEvent]:
        """Parse the next line of the stream and return the stream events in it. The line with ``"done": true`` gives
        the last ones, up to ``Ended``. A line that cannot be parsed, or that reports an error, gives a ``Fault``."""
        line = parse_json(event.data)
        if not isinstance(line, dict):
            return (chat.Fault(0, "the provider sent a line that is no JSON object"),)
        if line.get("error"):
            return (error_of(line),)
        return self._line(line)

    def end(self) -> Iterable[chat.StreamEvent]:
        """Return ``()``: the last line of a complete reply (``"done": true``) has given the last stream events. A
        stream without that line was cut off, so it has no ``Ended``."""
        return ()

    def _line(self, line: dict[str, Any]) -> Iterator[chat.StreamEvent]:
        if not self._reply:
            self._reply = make_id(line.get("created_at"), line.get("model"))
            yield chat.Began(self._reply, text_in(line, "model"))
        message = object_in(line, "message")
        yield from self._parts.add_thought(piece_in(message, "thinking"))
        yield from self._parts.text(piece_in(message, "content"))
        for call in _calls(message, self._reply, self._calls):
            self._calls += 1
            yield from self._parts.open(chat.ModelToolCall(call.id, call.name, ""))
            yield from self._parts.arguments(call.arguments)
        if line.get("done") is True:
            yield from self._parts.close()
            yield chat.Ended(_finish(line, self._parts.called), usage_in(line, _COUNTS))


@dataclass(frozen=True, slots=True)
class OllamaProvider:
    """Translator for Ollama's own chat API. ``line_max``: maximum size in bytes of a line of a stream; a larger one is
    an error.

    The API format has no call ids: tool results are sent in the order of the calls, with the names of their tools. If
    the model must not call tools, none are offered to it. Image details, signatures of reasoning, the end user and
    ``verbosity`` are dropped.
    """

    line_max: int = EVENT_MAX
    name: str = "ollama"

    def outgoing(self, call: chat.ChatCall) -> ProviderRequest:
        """Return the path and the body of the request for the provider; no headers are needed.

        Image details, signatures of reasoning, the end user and ``verbosity`` are dropped. Raises ``Untranslatable``
        for

        - documents, audio, linked images, and attachments in system or assistant messages;
        - strict tools, and a call that requires a tool to be called;
        - a tool result whose tool is unknown, and tool call arguments that are not a JSON object.
        """
        refuse(call, _LACKS)
        silent = call.choice is not None and call.choice.mode == "none"
        body: dict[str, Any] = {"model": call.model, "messages": _messages(call), "stream": call.stream}
        body |= present(
            tools=[] if silent else [function_tool(tool) for tool in call.tools],
            format=_format(call.format),
            think=_thinking(call.thinking),
            options=sampling_fields(call.sampling, max_tokens="num_predict"),
        )
        return ProviderRequest(PATH, body)

    answer = staticmethod(answer)
    fault = staticmethod(fault_of)

    def reader(self) -> StreamReader:
        """Return a new object that parses one stream of the provider into API-independent stream events."""
        return LineReader(OllamaLines(), self.line_max)
