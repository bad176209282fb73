"""Translator for clients with the API format (dialect) Anthropic Messages: writes replies, streams and errors. Requests
are parsed in ``anthropic_request``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, assert_never

from tokenmizer_mw.server.translate import chat
from tokenmizer_mw.server.translate.translation import load

from .anthropic_request import NAME, WORDS, read
from .reply_parts import FaultKind, PartEnd, Progress, Step, StreamPart, kind_of, named_event, parts_of
from .request_parts import call_id, tag_seal

_STOP: Final[Mapping[chat.Finish, str]] = {
    chat.Finish.STOP: "end_turn",
    chat.Finish.LENGTH: "max_tokens",
    chat.Finish.TOOLS: "tool_use",
    chat.Finish.FILTERED: "refusal",
}
_TYPES: Final[Mapping[FaultKind, str]] = {
    FaultKind.OVERFLOW: "invalid_request_error", FaultKind.BILLING: "billing_error", FaultKind.RATE: "rate_limit_error",
    FaultKind.KEY: "authentication_error", FaultKind.PERMISSION: "permission_error",
    FaultKind.MISSING: "not_found_error", FaultKind.CONFLICT: "conflict_error", FaultKind.LARGE: "request_too_large",
    FaultKind.TIMEOUT: "timeout_error", FaultKind.OVERLOADED: "overloaded_error",
    FaultKind.REQUEST: "invalid_request_error", FaultKind.SERVER: "api_error",
}  # fmt: skip
_TOO_LONG: Final = "prompt is too long"
"""Words that clients look for in the message of an error, because this API format has no error code for a prompt that
is too long."""


class AnthropicWriter:
    """Writes a streamed reply to ``call`` as Anthropic's events, one content block after the other. ``created``: the
    time of the reply, in seconds since the epoch, from which an id is made if the provider gives none."""

    def __init__(self, call: chat.ChatCall, created: int) -> None:
        self._progress = Progress(call.model, _anonymous(created))
        self._index = -1

    def send(self, event: chat.StreamEvent) -> bytes:
        """Return ``event`` as Anthropic's server-sent events; b"" if the API format has none for it."""
        return b"".join(named_event(values) for step in self._progress.steps(event) for values in self._of(step))

    def ping(self) -> bytes:
        """Return a ``ping`` event as bytes, which keeps an idle stream alive."""
        return named_event({"type": "ping"})

    def _of(self, step: Step) -> list[dict[str, Any]]:
        match step:
            case chat.Began(name, model, usage):
                return [{"type": "message_start", "message": _message(name, model, usage or chat.Usage())}]
            case chat.PartStart(part):
                return self._open_part(part)
            case chat.Grew():
                return self._grew(step)
            case PartEnd(part):
                return [*self._seal_part(part), {"type": "content_block_stop", "index": self._index}]
            case chat.Ended():
                return _end_events(step)
            case chat.Fault():
                return [error(step)]
            case _:
                assert_never(step)

    def _open_part(self, part: StreamPart) -> list[dict[str, Any]]:
        self._index += 1
        return [] if _is_hidden(part) else [self._start(_block(part))]

    def _grew(self, grew: chat.Grew) -> list[dict[str, Any]]:
        match self._progress.part:
            case chat.Text() if grew.more:
                return [self._delta("text_delta", text=grew.more)]
            case chat.Thought(hidden=False) if grew.more:
                return [self._delta("thinking_delta", thinking=grew.more)]
            case chat.ModelToolCall() if grew.more:
                return [self._delta("input_json_delta", partial_json=grew.more)]
            case _:
                return []

    def _seal_part(self, part: StreamPart) -> list[dict[str, Any]]:
        """Return the events that need the part's whole signature, once the part has ended; ``[]`` for a part without
        one."""
        if not isinstance(part, chat.Thought) or not part.seal:
            return []
        if part.hidden:
            return [self._start(_block(part))]
        return [self._delta("signature_delta", signature=tag_seal(part.seal, part.sealed_by, NAME))]

    def _start(self, block: Mapping[str, Any]) -> dict[str, Any]:
        return {"type": "content_block_start", "index": self._index, "content_block": block}

    def _delta(self, kind: str, **members: str) -> dict[str, Any]:
        return {"type": "content_block_delta", "index": self._index, "delta": {"type": kind, **members}}


def usage(values: chat.Usage) -> dict[str, Any]:
    """Return token counts in Anthropic's format, in which tokens read from and written to a cache are not included in
    the input tokens."""
    return {
        "input_tokens": max(0, values.prompt - values.cached - values.written),
        "cache_creation_input_tokens": values.written,
        "cache_read_input_tokens": values.cached,
        "output_tokens": values.completion,
        "output_tokens_details": {"thinking_tokens": values.thought},
    }


def _end_events(end: chat.Ended) -> list[dict[str, Any]]:
    counts = usage(end.usage) if end.usage is not None else {"output_tokens": 0}
    delta = _stop_fields(end.finish, end.stop_sequence)
    return [{"type": "message_delta", "delta": delta, "usage": counts}, {"type": "message_stop"}]


def _anonymous(created: int) -> str:
    return f"msg_{created}"


def _message(name: str, model: str, counts: chat.Usage) -> dict[str, Any]:
    values = {"id": name, "type": "message", "role": "assistant", "model": model, "content": []}
    return {**values, "stop_reason": None, "stop_sequence": None, "usage": usage(counts)}


def _stop_fields(finish: chat.Finish, sequence: str) -> dict[str, Any]:
    reason = "stop_sequence" if sequence and finish is chat.Finish.STOP else _STOP[finish]
    return {"stop_reason": reason, "stop_sequence": sequence or None}


def _is_hidden(part: StreamPart) -> bool:
    return isinstance(part, chat.Thought) and part.hidden


def _block(part: StreamPart) -> dict[str, Any]:
    match part:
        case chat.Text(text):
            return {"type": "text", "text": text}
        case chat.Thought():
            seal = tag_seal(part.seal, part.sealed_by, NAME)
            if part.hidden:
                return {"type": "redacted_thinking", "data": seal}
            return {"type": "thinking", "thinking": part.text, "signature": seal}
        case chat.ModelToolCall():
            return {"type": "tool_use", "id": call_id(part), "name": part.name, "input": _input(part.arguments)}
        case _:
            assert_never(part)


def _input(arguments: str) -> Any:
    """Parse the arguments of a tool call, "" as ``{}``. Raises ``ValueError`` if they are not a JSON object."""
    return load(arguments or "{}")


def error(fault: chat.Fault) -> dict[str, Any]:
    """Return the error ``fault`` as the JSON body of an error response in Anthropic's format."""
    kind, message = kind_of(fault), fault.message
    if kind is FaultKind.OVERFLOW and _TOO_LONG not in message.lower():
        message = f"{_TOO_LONG}: {message}"
    return {"type": "error", "error": {"type": _TYPES[kind], "message": message}}


class AnthropicClient:
    """Translates requests, replies, streams and errors for clients with Anthropic Messages."""

    name: Final = NAME
    words: Final = WORDS
    call = staticmethod(read)
    error = staticmethod(error)
    writer = AnthropicWriter

    def reply(self, answer: chat.ModelReply, call: chat.ChatCall, *, created: int) -> Mapping[str, Any]:
        """Return the model's reply ``answer`` to the request ``call`` as the JSON body of a response. ``created``: the
        time, in seconds since the epoch, from which an id is made if the provider gives none. Raises ``ForeignReply``
        for content that this API format cannot express, such as an image."""
        content = [_block(part) for part in parts_of(answer)]
        stopped = _stop_fields(answer.finish, answer.stop_sequence)
        message = _message(answer.id or _anonymous(created), answer.model or call.model, answer.usage)
        return {**message, "content": content, **stopped}
