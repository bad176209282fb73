"""Translator for the API format (dialect) Cohere Chat version 2. Citations are dropped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
    EventReader,
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
    EFFORTS,
    CallIds,
    Writer,
    attached_to,
    calls_in,
    function_tool,
    image,
    join_texts,
    plain_text,
    present,
    refuse,
    sampling_fields,
    turns_with_rule,
    user_messages,
)

PATH: Final = "/v2/chat"
_IDS: Final = CallIds("printable", 1, 128)
_LACKS: Final = attached_to("system", "assistant") | {"document.url", "audio", "result.document", "result.audio"}
_MODES: Final = {"any": "REQUIRED", "named": "REQUIRED", "none": "NONE"}
_ATTACHED: Final[Mapping[str, Writer]] = {"image": image}


def _messages(call: chat.ChatCall) -> list[dict[str, Any]]:
    return [message for one in turns_with_rule(call) for message in _write_turn(one)]


def _write_turn(turn: chat.ChatTurn) -> Iterator[dict[str, Any]]:
    if turn.role == "system":
        yield {"role": "system", "content": join_texts(turn.parts)}
    elif turn.role == "assistant":
        yield from _assistant(turn)
    else:
        parts = tuple(part for part in turn.parts if not _is_document(part))
        if parts or not turn.parts:
            yield from user_messages(chat.ChatTurn("user", parts), _IDS, _ATTACHED)


def _assistant(turn: chat.ChatTurn) -> Iterator[dict[str, Any]]:
    """Yield an assistant message, unless it is empty. If the message has tool calls, its text is sent as the tool plan
    (Cohere's field for what the model says before it calls tools)."""
    calls, text = calls_in(turn, _IDS), join_texts(turn.parts)
    thought = "\n".join(
        part.text for part in turn.parts if isinstance(part, chat.Thought) and not part.seal and part.text
    )
    content = [{"type": "thinking", "thinking": thought}] if thought else []
    content += [{"type": "text", "text": text}] if text and not calls else []
    if content or calls:
        yield {"role": "assistant", **present(content=content, tool_plan=text if calls else "", tool_calls=calls)}


def _is_document(part: object) -> bool:
    return isinstance(part, chat.Attachment) and part.kind == "document"


def _document(part: object) -> dict[str, Any]:
    """Return a plain-text document in the provider's format. Raises ``Untranslatable`` for a document of any other
    type."""
    if not isinstance(part, chat.Attachment) or part.media_type != "text/plain":
        raise Untranslatable("document.media_type", "the provider takes documents of plain text only")
    return {"data": {**present(title=part.name), "text": plain_text(part)}}


def _choice(call: chat.ChatCall) -> str:
    """Return the value of the field ``tool_choice``, "" for the default. Raises ``Untranslatable`` if the call names
    one of several tools, because the API format can only require that some tool is called."""
    if call.choice is None or call.choice.mode == "auto" or not call.tools:
        return ""
    if call.choice.mode == "named" and [tool.name for tool in call.tools] != [call.choice.name]:
        raise Untranslatable("choice.named")
    return _MODES[call.choice.mode]


def _format(wanted: chat.AnswerFormat | None) -> dict[str, Any]:
    return {"type": "json_object", **present(json_schema=wanted.schema)} if wanted is not None else {}


def _thinking(thinking: chat.Thinking | None) -> dict[str, Any]:
    if thinking is None or (not thinking.effort and thinking.tokens is None):
        return {}
    tokens = EFFORTS.get(thinking.effort, 0) if thinking.tokens is None else thinking.tokens
    return {"type": "enabled", "token_budget": tokens} if tokens else {"type": "disabled"}


_FINISHES: Final = {
    "COMPLETE": chat.Finish.STOP,
    "STOP_SEQUENCE": chat.Finish.STOP,
    "MAX_TOKENS": chat.Finish.LENGTH,
    "TOOL_CALL": chat.Finish.TOOLS,
}

_FAILED: Final = frozenset({"ERROR", "TIMEOUT"})

_COUNTS: Final = (
    ("billed_units.input_tokens", "prompt"),
    ("billed_units.output_tokens", "completion"),
    ("tokens.input_tokens", "prompt"),
    ("tokens.output_tokens", "completion"),
    ("cached_tokens", "cached"),
)
"""Pairs: a token count in a reply, and the field of ``Usage`` for it; a later pair for the same field takes precedence.
Billed tokens do not include what Cohere adds to a request, so they are used only if nothing else is reported."""

_DONE: Final = "[DONE]"


def answer(body: Mapping[str, Any]) -> chat.ModelReply:
    """Parse a complete (not streamed) reply. Raises ``ForeignReply`` for one without a message, or if the model
    failed."""
    message = body.get("message")
    if not isinstance(message, dict):
        values = message if isinstance(message, str) and message else ""
        raise ForeignReply(storable(values)) if values else foreign(body, "message")
    if failure := _failure(body):
        raise ForeignReply(failure.message)
    id = text_in(body, "id")
    parts = [part for raw in _content(message) if (part := _part(raw)) is not None]
    plan = text_in(message, "tool_plan")
    parts += [chat.Text(plan)] if plan else []
    calls = [_call(raw, id, place) for place, raw in enumerate(objects(message.get("tool_calls")))]
    finish = resolve_finish(_FINISHES.get(text_in(body, "finish_reason"), chat.Finish.STOP), bool(calls))
    return chat.ModelReply(id, "", (*parts, *calls), finish, usage_in(body.get("usage"), _COUNTS) or chat.Usage())


def _content(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) and content else objects(content)


def _part(raw: Mapping[str, Any]) -> chat.Part | None:
    """Return the text or reasoning in a content block or in a piece of a streamed one; ``None`` if it has neither. The
    members decide which it is, because pieces have no type."""
    if thought := text_in(raw, "thinking"):
        return chat.Thought(thought)
    text = text_in(raw, "text")
    return chat.Text(text) if text else None


def _call(raw: dict[str, Any], reply: str, place: int) -> chat.ModelToolCall:
    call = read_call(raw)
    id, name, arguments = ("", "", "") if call is None else (call.id, call.name, call.arguments)
    return chat.ModelToolCall(storable(id) or make_id(reply, place), storable(name), storable(arguments) or "{}")


def _failure(end: Mapping[str, Any]) -> chat.Fault | None:
    reason = text_in(end, "finish_reason")
    if end.get("error"):
        return error_of(end)
    return chat.Fault(0, f"the provider stopped with {reason}", reason) if reason in _FAILED else None


class CohereEvents:
    """Parses the events of one Cohere stream into API-independent stream events. Each stream needs a new object."""

    def __init__(self) -> None:
        self._parts = Parts()
        self._id = ""
        self._calls = 0

    def event(self, event: ServerSentEvent) -> Iterable[chat.StreamEvent]:
        """Parse the next server-sent event of the stream and return the stream events in it. The event "message-end"
        gives the last ones, up to ``Ended``. "[DONE]", which some relays add, gives none. An event that cannot be
        parsed, or that reports an error, gives a ``Fault``."""
        if event.data == _DONE:
            return ()
        data = parse_json(event.data)
        if not isinstance(data, dict):
            return (chat.Fault(0, "the provider sent an event that is no JSON object"),)
        kind = data.get("type") or event.event
        delta = object_in(data, "delta")
        if not delta and (data.get("error") or isinstance(data.get("message"), str)):
            return (error_of(data),)
        if kind == "message-start":
            self._id = text_in(data, "id")
            return (chat.Began(self._id, ""),)
        if kind == "message-end":
            return self._end(delta)
        return self._message(kind, object_in(delta, "message"))

    def end(self) -> Iterable[chat.StreamEvent]:
        """Return ``()``: the event "message-end" has given the last stream events. A stream without it was cut off, so
        it has no ``Ended``."""
        return ()

    def _message(self, kind: object, message: dict[str, Any]) -> Iterator[chat.StreamEvent]:
        match kind:
            case "content-start":
                yield from self._parts.close()
                yield from self._piece(object_in(message, "content"))
            case "content-delta":
                yield from self._piece(object_in(message, "content"))
            case "content-end" | "tool-call-end":
                yield from self._parts.close()
            case "tool-plan-delta":
                yield from self._parts.text(piece_in(message, "tool_plan"))
            case "tool-call-start":
                raw = object_in(message, "tool_calls")
                call = _call(raw, self._id, self._calls)
                self._calls += 1
                yield from self._parts.open(chat.ModelToolCall(call.id, call.name, ""))
                yield from self._parts.arguments(piece_in(object_in(raw, "function"), "arguments"))
            case "tool-call-delta":
                function = object_in(object_in(message, "tool_calls"), "function")
                yield from self._parts.arguments(piece_in(function, "arguments"))

    def _piece(self, content: dict[str, Any]) -> Iterator[chat.StreamEvent]:
        yield from self._parts.add_thought(piece_in(content, "thinking"))
        yield from self._parts.text(piece_in(content, "text"))

    def _end(self, delta: dict[str, Any]) -> Iterator[chat.StreamEvent]:
        if failure := _failure(delta):
            yield failure
            return
        yield from self._parts.close()
        finish = _FINISHES.get(text_in(delta, "finish_reason"), chat.Finish.STOP)
        yield chat.Ended(resolve_finish(finish, self._parts.called), usage_in(delta.get("usage"), _COUNTS))


@dataclass(frozen=True, slots=True)
class CohereProvider:
    """Translator for Cohere Chat version 2. ``event_max``: maximum size in bytes of a stream event; a larger one is an
    error.

    Assistant text before tool calls is sent as the tool plan. Plain-text documents are sent in the request field for
    documents, not in a message. Images in tool results are sent in a user message after the results. The end user,
    ``verbosity``, and reasoning with a signature (which is another provider's) are dropped.
    """

    event_max: int = EVENT_MAX
    name: str = "cohere"

    def outgoing(self, call: chat.ChatCall) -> ProviderRequest:
        """Return the path and the body of the request for the provider; no headers are needed.

        The end user, ``verbosity``, and reasoning with a signature are dropped. Raises ``Untranslatable`` for

        - audio, attachments in system or assistant messages, and documents in tool results;
        - documents that are linked or not plain text, and plain text that is not UTF-8;
        - a call that names one of several tools which must be called.
        """
        refuse(call, _LACKS)
        body: dict[str, Any] = {"model": call.model, "messages": _messages(call), "stream": call.stream}
        body |= present(
            documents=[_document(part) for chat_turns in call.turns for part in chat_turns.parts if _is_document(part)],
            tools=[function_tool(tool) for tool in call.tools],
            tool_choice=_choice(call),
            strict_tools=any(tool.strict for tool in call.tools) or None,
            **sampling_fields(call.sampling, top_p="p", top_k="k", stop="stop_sequences"),
            response_format=_format(call.format),
            thinking=_thinking(call.thinking),
        )
        return ProviderRequest(PATH, body)

    answer = staticmethod(answer)
    fault = staticmethod(fault_of)

    def reader(self) -> StreamReader:
        """Return a new object that parses one stream of the provider into API-independent stream events."""
        return EventReader(CohereEvents(), self.event_max)
