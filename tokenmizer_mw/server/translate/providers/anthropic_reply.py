"""Parser of Anthropic Messages replies and streams.

Tools that the provider itself runs are never requested, so their blocks are not translated; citations are dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from tokenmizer_mw.server.translate import chat
from tokenmizer_mw.wire.json_text import json_text
from tokenmizer_mw.wire.reply import parse_json, token_counts
from tokenmizer_mw.wire.sse import ServerSentEvent

from .replies import Parts, error_of, foreign, object_in, objects, piece_in, text_in

_NAME: Final = "anthropic"
_FINISHES: Final = {
    "end_turn": chat.Finish.STOP,
    "stop_sequence": chat.Finish.STOP,
    "pause_turn": chat.Finish.STOP,
    "max_tokens": chat.Finish.LENGTH,
    "model_context_window_exceeded": chat.Finish.LENGTH,
    "tool_use": chat.Finish.TOOLS,
    "refusal": chat.Finish.FILTERED,
}
_COUNTS: Final = (
    ("input_tokens", "prompt"),
    ("cache_read_input_tokens", "cached"),
    ("cache_creation_input_tokens", "written"),
    ("output_tokens", "completion"),
    ("output_tokens_details.thinking_tokens", "thought"),
)


def answer(body: Mapping[str, Any]) -> chat.ModelReply:
    """Parse a complete reply. Raises ``ForeignReply`` for one without content."""
    if not isinstance(body.get("content"), list):
        raise foreign(body, "content")
    parts = [part for block in objects(body["content"]) if (part := _part(block)) is not None]
    finish = _FINISHES.get(text_in(body, "stop_reason"), chat.Finish.STOP)
    usage = _usage(token_counts(body.get("usage"), _COUNTS))
    stop = text_in(body, "stop_sequence")
    return chat.ModelReply(text_in(body, "id"), text_in(body, "model"), tuple(parts), finish, usage, stop)


def _part(block: Mapping[str, Any]) -> chat.Part | None:
    match block.get("type"):
        case "text":
            return chat.Text(text_in(block, "text"))
        case "thinking":
            seal = text_in(block, "signature")
            text = text_in(block, "thinking")
            return chat.Thought(text, seal, _NAME if seal else "")
        case "redacted_thinking":
            return chat.Thought("", text_in(block, "data"), _NAME, hidden=True)
        case "tool_use":
            return chat.ModelToolCall(text_in(block, "id"), text_in(block, "name"), json_text(block.get("input") or {}))
    return None


def _usage(counts: Mapping[str, int]) -> chat.Usage:
    """Return the usage; cached tokens are counted apart from the other prompt tokens."""
    prompt = sum(counts.get(name, 0) for name in ("prompt", "cached", "written"))
    return chat.Usage(**{**counts, "prompt": prompt})


class AnthropicEvents:
    """Parses the events of one Anthropic stream into dialect-neutral stream events."""

    def __init__(self) -> None:
        self._parts = Parts()
        self._counts: dict[str, int] = {}
        self._finish: chat.Finish | None = None
        self._stop = ""

    def event(self, event: ServerSentEvent) -> Iterable[chat.StreamEvent | chat.Pinged]:
        """Return what the next event means; its type is in its data, else in its name."""
        data = parse_json(event.data)
        if not isinstance(data, dict):
            return (chat.Fault(0, "the provider sent an event that is no JSON object"),)
        kind = data.get("type") or event.event
        if kind == "error" or data.get("error"):
            return (error_of(data),)
        if kind == "message_stop":
            return self._end()
        return self._event(kind, data)

    def end(self) -> Iterable[chat.StreamEvent]:
        """Handle the end of the stream; it is complete if the stop reason has arrived."""
        return self._end() if self._finish is not None else ()

    def _event(self, kind: object, data: dict[str, Any]) -> Iterator[chat.StreamEvent | chat.Pinged]:
        match kind:
            case "message_start":
                message = object_in(data, "message")
                self._counts.update(token_counts(message.get("usage"), _COUNTS))
                yield chat.Began(text_in(message, "id"), text_in(message, "model"), _usage(self._counts))
            case "content_block_start":
                yield from self._start(object_in(data, "content_block"))
            case "content_block_delta":
                yield from self._delta(object_in(data, "delta"))
            case "content_block_stop":
                yield from self._parts.close()
            case "message_delta":
                self._note_stop(object_in(data, "delta"), data.get("usage"))
            case "ping":
                yield chat.Pinged()

    def _start(self, block: dict[str, Any]) -> Iterator[chat.StreamEvent]:
        match part := _part(block):
            case chat.ModelToolCall(id, name, arguments):
                yield from self._parts.open(chat.ModelToolCall(id, name, ""))
                yield from self._parts.arguments(arguments if arguments != "{}" else "")
            case chat.Text(text):
                yield from self._parts.open(chat.Text(""))
                yield from self._parts.text(text)
            case chat.Thought(hidden=True):
                yield from self._parts.open(part)
            case chat.Thought(text, seal):
                yield from self._parts.open(chat.Thought(""))
                yield from self._parts.add_thought(text)
                yield from self._parts.add_seal(seal, _NAME)

    def _delta(self, delta: dict[str, Any]) -> Iterator[chat.StreamEvent]:
        match delta.get("type"):
            case "text_delta":
                yield from self._parts.text(piece_in(delta, "text"))
            case "thinking_delta":
                yield from self._parts.add_thought(piece_in(delta, "thinking"))
            case "signature_delta":
                yield from self._parts.add_seal(text_in(delta, "signature"), _NAME)
            case "input_json_delta":
                yield from self._parts.arguments(piece_in(delta, "partial_json"))

    def _note_stop(self, delta: dict[str, Any], usage: object) -> None:
        """Counts are those of the whole message so far."""
        self._counts.update(token_counts(usage, _COUNTS))
        if reason := text_in(delta, "stop_reason"):
            self._finish = _FINISHES.get(reason, chat.Finish.STOP)
        self._stop = text_in(delta, "stop_sequence") or self._stop

    def _end(self) -> Iterator[chat.StreamEvent]:
        yield from self._parts.close()
        yield chat.Ended(self._finish or chat.Finish.STOP, _usage(self._counts), self._stop)
