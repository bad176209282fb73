"""Translator for clients with the API format (dialect) OpenAI Chat Completions: writes replies, streams and errors.
Requests are parsed in ``openai_chat_request``.

Reasoning is sent in ``reasoning_content``, as DeepSeek does; signed reasoning also in ``reasoning_details``, as
OpenRouter does. If a client sends both fields back with the next request, the whole reasoning is preserved.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, assert_never

from tokenmizer_mw.server.translate import chat

from .openai_chat_request import NAME, WORDS, read
from .openai_shared import error, forms, text_of
from .reply_parts import COMMENT, PartEnd, Progress, Step, StreamPart, data_line, parts_of
from .request_parts import call_id, tag_seal

DONE: Final = b"data: [DONE]\n\n"
_FINISH: Final[Mapping[chat.Finish, str]] = {
    chat.Finish.STOP: "stop",
    chat.Finish.LENGTH: "length",
    chat.Finish.TOOLS: "tool_calls",
    chat.Finish.FILTERED: "content_filter",
}


class OpenAIChatWriter:
    """Writes a streamed reply to ``call`` as chunks of OpenAI Chat Completions. ``created``: the time of the reply to
    report, in seconds since the epoch."""

    def __init__(self, call: chat.ChatCall, created: int) -> None:
        self._usage = call.usage
        self._created = created
        self._forms = forms(call.tools)
        self._progress = Progress(call.model, _anonymous(created))
        self._calls = self._thoughts = -1

    def send(self, event: chat.StreamEvent) -> bytes:
        """Return ``event`` as chunks in server-sent events; b"" if the API format has none for it."""
        return b"".join(self._of(step) for step in self._progress.steps(event))

    def ping(self) -> bytes:
        """Return a comment line as bytes, which keeps an idle stream alive; clients ignore it."""
        return COMMENT

    def _of(self, step: Step) -> bytes:
        match step:
            case chat.Began():
                return self._delta({"role": "assistant"})
            case chat.PartStart(part):
                return self._open_part(part)
            case chat.Grew(more):
                return self._grew(more) if more else b""
            case PartEnd(part):
                return self._close_part(part)
            case chat.Ended():
                return self._end_chunks(step)
            case chat.Fault():
                return data_line(error(step))
            case _:
                assert_never(step)

    def _open_part(self, part: StreamPart) -> bytes:
        if isinstance(part, chat.ModelToolCall):
            self._calls += 1
            if not self._is_custom(part):
                return self._call_chunk(_call(part, self._forms))
        elif isinstance(part, chat.Thought):
            self._thoughts += 1
        return b""

    def _grew(self, more: str) -> bytes:
        match self._progress.part:
            case chat.Text():
                return self._delta({"content": more})
            case chat.Thought():
                return self._delta({"reasoning_content": more})
            case chat.ModelToolCall() as call if not self._is_custom(call):
                return self._call_chunk({"function": {"arguments": more}})
            case _:
                return b""

    def _close_part(self, part: StreamPart) -> bytes:
        """Return the chunk that needs the whole part, once the part has ended: the signature of reasoning, or the text
        of a custom tool call. b"" for other parts."""
        if isinstance(part, chat.Thought) and part.seal:
            return self._delta({"reasoning_details": [{"index": self._thoughts, **_detail(part)}]})
        if isinstance(part, chat.ModelToolCall) and self._is_custom(part):
            return self._call_chunk(_call(part, self._forms))
        return b""

    def _is_custom(self, call: chat.ModelToolCall) -> bool:
        return self._forms.get(call.name) == "custom"

    def _call_chunk(self, call: Mapping[str, Any]) -> bytes:
        return self._delta({"tool_calls": [{"index": self._calls, **call}]})

    def _end_chunks(self, end: chat.Ended) -> bytes:
        last = self._delta({}, _FINISH[end.finish])
        counts = self._chunk([], usage(end.usage)) if self._usage and end.usage is not None else b""
        return last + counts + DONE

    def _delta(self, delta: Mapping[str, Any], finish: str | None = None) -> bytes:
        return self._chunk([{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}])

    def _chunk(self, choices: list[Any], counts: Mapping[str, Any] | None = None) -> bytes:
        began = self._progress.began
        chunk = {**_head("chat.completion.chunk", began.id, began.model, self._created), "choices": choices}
        return data_line({**chunk, "usage": counts} if self._usage else chunk)


def usage(values: chat.Usage) -> dict[str, Any]:
    """Return token counts in the format of OpenAI Chat Completions, in which cached tokens are included in the prompt
    tokens."""
    return {
        "prompt_tokens": values.prompt,
        "completion_tokens": values.completion,
        "total_tokens": values.prompt + values.completion,
        "prompt_tokens_details": {"cached_tokens": values.cached, "cache_write_tokens": values.written},
        "completion_tokens_details": {"reasoning_tokens": values.thought},
    }


def _anonymous(created: int) -> str:
    return f"chatcmpl-{created}"


def _head(kind: str, name: str, model: str, created: int) -> dict[str, Any]:
    return {"id": name, "object": kind, "created": created, "model": model}


def _message(answer: chat.ModelReply, call: chat.ChatCall) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
    parts = parts_of(answer)
    if texts := [part.text for part in parts if isinstance(part, chat.Text)]:
        message["content"] = "".join(texts)
    thoughts = [part for part in parts if isinstance(part, chat.Thought)]
    if text := "".join(thought.text for thought in thoughts):
        message["reasoning_content"] = text
    if any(thought.seal for thought in thoughts):
        message["reasoning_details"] = [{"index": i, **_detail(thought)} for i, thought in enumerate(thoughts)]
    known = forms(call.tools)
    if calls := [_call(part, known) for part in parts if isinstance(part, chat.ModelToolCall)]:
        message["tool_calls"] = calls
    return message


def _call(call: chat.ModelToolCall, known: Mapping[str, str]) -> dict[str, Any]:
    if known.get(call.name) == "custom":
        return {"id": call_id(call), "type": "custom", "custom": {"name": call.name, "input": text_of(call.arguments)}}
    return {"id": call_id(call), "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _detail(thought: chat.Thought) -> dict[str, Any]:
    """Return signed reasoning as an entry of ``reasoning_details``: its text, its signature and the signature's
    origin."""
    seal = tag_seal(thought.seal, thought.sealed_by, NAME)
    if thought.hidden:
        return {"type": "reasoning.encrypted", "data": seal, "format": thought.sealed_by}
    return {"type": "reasoning.text", "text": thought.text, "signature": seal, "format": thought.sealed_by}


class OpenAIChatClient:
    """Translates requests, replies, streams and errors for clients with OpenAI Chat Completions."""

    name: Final = NAME
    words: Final = WORDS
    call = staticmethod(read)
    error = staticmethod(error)
    writer = OpenAIChatWriter

    def reply(self, answer: chat.ModelReply, call: chat.ChatCall, *, created: int) -> Mapping[str, Any]:
        """Return the model's reply ``answer`` to the request ``call`` as the JSON body of a response. ``created``: the
        time to report, in seconds since the epoch. Raises ``ForeignReply`` for content that this API format cannot
        express, such as an image."""
        choice = {
            "index": 0,
            "message": _message(answer, call),
            "logprobs": None,
            "finish_reason": _FINISH[answer.finish],
        }
        head = _head("chat.completion", answer.id or _anonymous(created), answer.model or call.model, created)
        return {**head, "choices": [choice], "usage": usage(answer.usage)}
