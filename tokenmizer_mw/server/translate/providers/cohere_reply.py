"""Parser of Cohere Chat replies and streams. Citations are dropped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from tokenmizer_mw.errors import ForeignReply
from tokenmizer_mw.server.translate.chat import (
    Began,
    Ended,
    Fault,
    Finish,
    ModelReply,
    ModelToolCall,
    Part,
    StreamEvent,
    Text,
    Thought,
    Usage,
)
from tokenmizer_mw.wire.dialects.openai_message import read_call
from tokenmizer_mw.wire.reply import parse_json, token_counts
from tokenmizer_mw.wire.sse import ServerSentEvent
from tokenmizer_mw.wire.text import storable

from .reading import Parts, error_of, foreign, made_id, object_in, objects, piece_in, resolve_finish, text_in

_FINISHES: Final = {
    "COMPLETE": Finish.STOP,
    "STOP_SEQUENCE": Finish.STOP,
    "MAX_TOKENS": Finish.LENGTH,
    "TOOL_CALL": Finish.TOOLS,
}
_FAILED: Final = frozenset({"ERROR", "TIMEOUT"})
_COUNTS: Final = (
    ("billed_units.input_tokens", "prompt"),
    ("billed_units.output_tokens", "completion"),
    ("tokens.input_tokens", "prompt"),
    ("tokens.output_tokens", "completion"),
    ("cached_tokens", "cached"),
)
"""What was billed leaves out what Cohere puts in front of a request: it counts where nothing else is told."""

_DONE: Final = "[DONE]"


def answer(body: Mapping[str, Any]) -> ModelReply:
    """Parse a complete reply. Raises ``ForeignReply`` for one without a message, or with an error of the model."""
    message = body.get("message")
    if not isinstance(message, dict):
        told = message if isinstance(message, str) and message else ""
        raise ForeignReply(storable(told)) if told else foreign(body, "message")
    if failure := _failure(body):
        raise ForeignReply(failure.message)
    id = text_in(body, "id")
    parts = [part for raw in _content(message) if (part := _part(raw)) is not None]
    plan = text_in(message, "tool_plan")
    parts += [Text(plan)] if plan else []
    calls = [_call(raw, id, place) for place, raw in enumerate(objects(message.get("tool_calls")))]
    finish = resolve_finish(_FINISHES.get(text_in(body, "finish_reason"), Finish.STOP), bool(calls))
    return ModelReply(id, "", (*parts, *calls), finish, _usage(body.get("usage")) or Usage())


def _content(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) and content else objects(content)


def _part(raw: Mapping[str, Any]) -> Part | None:
    """A block; pieces of one do not say of which type they are."""
    if thought := text_in(raw, "thinking"):
        return Thought(thought)
    text = text_in(raw, "text")
    return Text(text) if text else None


def _call(raw: dict[str, Any], reply: str, place: int) -> ModelToolCall:
    call = read_call(raw)
    id, name, arguments = ("", "", "") if call is None else (call.id, call.name, call.arguments)
    return ModelToolCall(storable(id) or made_id(reply, place), storable(name), storable(arguments) or "{}")


def _failure(end: Mapping[str, Any]) -> Fault | None:
    reason = text_in(end, "finish_reason")
    if end.get("error"):
        return error_of(end)
    return Fault(0, f"the provider stopped with {reason}", reason) if reason in _FAILED else None


def _usage(raw: object) -> Usage | None:
    counts = token_counts(raw, _COUNTS)
    return Usage(**counts) if counts else None


class CohereEvents:
    """Parses the events of one stream."""

    def __init__(self) -> None:
        self._parts = Parts()
        self._id = ""
        self._calls = 0

    def event(self, event: ServerSentEvent) -> Iterable[StreamEvent]:
        """Return what the next event means; its type is in its data, else in its name."""
        if event.data == _DONE:
            return ()
        data = parse_json(event.data)
        if not isinstance(data, dict):
            return (Fault(0, "the provider sent an event that is no JSON object"),)
        kind = data.get("type") or event.event
        delta = object_in(data, "delta")
        if not delta and (data.get("error") or isinstance(data.get("message"), str)):
            return (error_of(data),)
        if kind == "message-start":
            self._id = text_in(data, "id")
            return (Began(self._id, ""),)
        if kind == "message-end":
            return self._end(delta)
        return self._message(kind, object_in(delta, "message"))

    def end(self) -> Iterable[StreamEvent]:
        """Handle the end of the stream; without an end event it was cut off."""
        return ()

    def _message(self, kind: object, message: dict[str, Any]) -> Iterator[StreamEvent]:
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
                yield from self._parts.open(ModelToolCall(call.id, call.name, ""))
                yield from self._parts.arguments(piece_in(object_in(raw, "function"), "arguments"))
            case "tool-call-delta":
                function = object_in(object_in(message, "tool_calls"), "function")
                yield from self._parts.arguments(piece_in(function, "arguments"))

    def _piece(self, content: dict[str, Any]) -> Iterator[StreamEvent]:
        yield from self._parts.add_thought(piece_in(content, "thinking"))
        yield from self._parts.text(piece_in(content, "text"))

    def _end(self, delta: dict[str, Any]) -> Iterator[StreamEvent]:
        if failure := _failure(delta):
            yield failure
            return
        yield from self._parts.close()
        finish = _FINISHES.get(text_in(delta, "finish_reason"), Finish.STOP)
        yield Ended(resolve_finish(finish, self._parts.called), _usage(delta.get("usage")))
