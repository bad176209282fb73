"""Parser of Ollama replies and streams. Ollama sends no ids, so they are derived from the reply."""

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

_FINISHES: Final = {"length": Finish.LENGTH}
_COUNTS: Final = (("prompt_eval_count", "prompt"), ("eval_count", "completion"))


def answer(body: Mapping[str, Any]) -> ModelReply:
    """Parse a complete reply. Raises ``ForeignReply`` for one without a message, or one that is not done."""
    message = object_in(body, "message")
    if not message or body.get("error"):
        raise foreign(body, "message")
    if body.get("done") is not True:
        raise ForeignReply("the provider's reply is not done")
    reply = made_id(body.get("created_at"), body.get("model"))
    calls = list(_calls(message, reply, 0))
    parts: list[Part] = []
    if thought := text_in(message, "thinking"):
        parts.append(Thought(thought))
    if text := text_in(message, "content"):
        parts.append(Text(text))
    return ModelReply(
        reply, text_in(body, "model"), (*parts, *calls), _finish(body, bool(calls)), _usage(body) or Usage()
    )


def _calls(message: Mapping[str, Any], reply: str, place: int) -> Iterator[ModelToolCall]:
    """The calls of a message, behind so many others."""
    for number, raw in enumerate(objects(message.get("tool_calls")), place):
        if (call := read_call(raw)) is not None:
            arguments = storable(call.arguments) or "{}"
            yield ModelToolCall(
                storable(call.id) or made_id(reply, number, call.name, arguments), storable(call.name), arguments
            )


def _finish(line: Mapping[str, Any], called: bool) -> Finish:
    return resolve_finish(_FINISHES.get(text_in(line, "done_reason"), Finish.STOP), called)


def _usage(line: Mapping[str, Any]) -> Usage | None:
    counts = token_counts(dict(line), _COUNTS)
    return Usage(**counts) if counts else None


class OllamaLines:
    """Parses the lines of one stream."""

    def __init__(self) -> None:
        self._parts = Parts()
        self._reply = ""
        self._calls = 0

    def event(self, event: ServerSentEvent) -> Iterable[StreamEvent]:
        """Return what the next line means."""
        line = parse_json(event.data)
        if not isinstance(line, dict):
            return (Fault(0, "the provider sent a line that is no JSON object"),)
        if line.get("error"):
            return (error_of(line),)
        return self._line(line)

    def end(self) -> Iterable[StreamEvent]:
        """Handle the end of the stream; without a final line it was cut off."""
        return ()

    def _line(self, line: dict[str, Any]) -> Iterator[StreamEvent]:
        if not self._reply:
            self._reply = made_id(line.get("created_at"), line.get("model"))
            yield Began(self._reply, text_in(line, "model"))
        message = object_in(line, "message")
        yield from self._parts.add_thought(piece_in(message, "thinking"))
        yield from self._parts.text(piece_in(message, "content"))
        for call in _calls(message, self._reply, self._calls):
            self._calls += 1
            yield from self._parts.open(ModelToolCall(call.id, call.name, ""))
            yield from self._parts.arguments(call.arguments)
        if line.get("done") is True:
            yield from self._parts.close()
            yield Ended(_finish(line, self._parts.called), _usage(line))
