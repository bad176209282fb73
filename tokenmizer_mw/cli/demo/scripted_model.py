"""A model that needs neither an API key nor a network. It plays the script in the OpenAI Chat Completions format.

The model is stateless: it finds its place in the script from the messages of each request, so it also works if old
messages were replaced. It answers a probe (a question about an old fact) only from the request, and says so if the
answer is not in there.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from itertools import count as numbers
from typing import Any, Final

import re2

from tokenmizer_mw.context.tokens import MessageCounter
from tokenmizer_mw.wire.json_text import json_text

from .app import StartedResponse
from .script import (
    ChatMessage,
    DemoScript,
    ScriptTurn,
    answer_from_messages,
    make_tool_call,
    message_tokens,
    request_tokens,
    split_reminder,
    text_of,
)

MODEL: Final = "gpt-scripted"
LOST: Final = "I am a scripted model and this is not my script: I only know what to say in the demonstration."
_WORD = re2.compile(r"\S+\s*|\s+")


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast the scripted model replies.

    - ``first``: seconds before the first chunk of a stream, or before a reply that is not streamed.
    - ``between``: seconds between chunks.
    - ``fragment``: number of characters of a tool call's arguments per chunk. A chunk of text has at most a sixth of
      that, but at least one word.
    """

    first: float = 0.0
    between: float = 0.0
    fragment: int = 24


def separate_reminders(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return ``messages`` with their reminders moved to the front of the list, each as a user message of its own.

    A reminder is a ``<session-record>`` block that the middleware appended to a message. It quotes what was said before
    ``messages``, so it is treated as older than all of them.
    """
    parts = [split_reminder(message) for message in messages]
    reminders = [{"role": "user", "content": reminder} for _, reminder in parts if reminder]
    return [*reminders, *(message for message, _ in parts)]


class ScriptedModel:
    """A model that plays ``script`` in place of a real one.

    ``counter``: counts tokens, for the usage that replies report. ``pace``: the pauses. ``window``: context window in
    tokens; a request with more tokens gets an error as from a real provider. ``None``: no limit.
    """

    def __init__(
        self, script: DemoScript, counter: MessageCounter, *, pace: Pace = Pace(), window: int | None = None
    ) -> None:
        self._script = script
        self._counter = counter
        self._pace = pace
        self._window = window
        self._ids = numbers(1)

    async def open(self, body: bytes) -> StartedResponse:
        """Answer one chat request, with a stream of events if the request asks for one, else with one JSON object.
        Invalid requests and those that exceed the window get status 400 with an error object as OpenAI's API sends it;
        nothing is raised."""
        try:
            request = _read(body)
            sent = request_tokens(request, self._counter)
        except ValueError as error:
            return _refusal(str(error), "invalid_request_error", None)
        if self._window is not None and sent > self._window:
            text = f"This model's maximum context length is {self._window} tokens; your messages have {sent}."
            return _refusal(text, "invalid_request_error", "context_length_exceeded")
        message = reply_to(self._script, separate_reminders(request["messages"]))
        head = {"id": f"chatcmpl-demo-{next(self._ids)}", "created": int(time.time()), "model": MODEL}
        usage = self._usage(sent, message)
        if request.get("stream"):
            options = request.get("stream_options") or {}
            reported = usage if options.get("include_usage") else None
            chunks = _chunks(head, message, reported, self._pace.fragment)
            return StartedResponse(200, "text/event-stream", self._pace_chunks(chunks))
        return StartedResponse(200, "application/json", self._whole(_make_completion(head, message, usage)))

    async def aclose(self) -> None:
        """Do nothing: there is nothing to release."""

    def _usage(self, sent: int, message: ChatMessage) -> dict[str, int]:
        written = message_tokens(message, self._counter)
        return {"prompt_tokens": sent, "completion_tokens": written, "total_tokens": sent + written}

    async def _pace_chunks(self, chunks: Iterator[dict[str, Any]]) -> AsyncIterator[bytes]:
        pause = self._pace.first
        for chunk in chunks:
            if pause:
                await asyncio.sleep(pause)
            pause = self._pace.between
            yield b"data: " + json_text(chunk).encode() + b"\n\n"
        yield b"data: [DONE]\n\n"

    async def _whole(self, completion: dict[str, Any]) -> AsyncIterator[bytes]:
        if self._pace.first:
            await asyncio.sleep(self._pace.first)
        yield json_text(completion).encode()


def reply_to(script: DemoScript, messages: Sequence[ChatMessage]) -> ChatMessage:
    """Return the assistant message that follows in the script after ``messages``: the next tool call of the turn that
    ``locate`` finds, or its final reply. If no message is in the script, the reply is the fixed text ``LOST``."""
    turn, done = locate(script, messages)
    if turn is None:
        return {"role": "assistant", "content": LOST}
    if done < len(turn.steps):
        return make_tool_call(turn.steps[done])
    content = answer_from_messages(script, turn, messages) if turn.probe else turn.reply
    return {"role": "assistant", "content": content}


def locate(script: DemoScript, messages: Sequence[ChatMessage]) -> tuple[ScriptTurn | None, int]:
    """Find the place of ``messages`` in the script. Return the turn, and how many of its tool calls have a result in
    ``messages``. If all have, the final reply is due.

    If the last message is a result of a tool call of the script, the turn is that of the call. Otherwise, it is that of
    the newest user message that is in the script. ``(None, 0)`` if there is neither.
    """
    by_call = {step.id: (turn, done) for turn in script.turns for done, step in enumerate(turn.steps, 1)}
    if messages and (place := by_call.get(str(messages[-1].get("tool_call_id")))):
        return place
    by_text = {turn.user: turn for turn in script.turns}
    for back, message in enumerate(reversed(messages)):
        if message.get("role") == "user" and (found := by_text.get(text_of(message))):
            return found, sum(later.get("role") == "tool" for later in messages[len(messages) - back :])
    return None, 0


def _read(body: bytes) -> dict[str, Any]:
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        raise ValueError("We could not parse the JSON body of your request.") from None
    if not isinstance(request, dict) or not isinstance(request.get("messages"), list) or not request["messages"]:
        raise ValueError("Missing required parameter: 'messages'.")
    if not all(isinstance(message, dict) for message in request["messages"]):
        raise ValueError("Invalid type for 'messages': expected an array of objects.")
    return request


def _refusal(text: str, type_: str, code: str | None) -> StartedResponse:
    async def body() -> AsyncIterator[bytes]:
        yield json_text({"error": {"message": text, "type": type_, "param": "messages", "code": code}}).encode()

    return StartedResponse(400, "application/json", body())


def _make_completion(head: dict[str, Any], message: ChatMessage, usage: dict[str, int]) -> dict[str, Any]:
    choice = {"index": 0, "message": {"refusal": None, **message}, "logprobs": None, "finish_reason": _finish(message)}
    return {**head, "object": "chat.completion", "choices": [choice], "usage": usage}


def _chunks(
    head: dict[str, Any], message: ChatMessage, usage: dict[str, int] | None, fragment: int
) -> Iterator[dict[str, Any]]:
    """Yield the chunks of a streamed reply, as parsed JSON. With ``usage``, each chunk has the field ``usage`` with the
    value null, and one more chunk at the end has the value ``usage``. With ``None``, no chunk has the field."""
    common = {**head, "object": "chat.completion.chunk"} | ({"usage": None} if usage is not None else {})
    for delta in _deltas(message, fragment):
        yield common | {"choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}]}
    last = {"index": 0, "delta": {}, "logprobs": None, "finish_reason": _finish(message)}
    yield common | {"choices": [last]}
    if usage is not None:
        yield common | {"choices": [], "usage": usage}


def _deltas(message: ChatMessage, fragment: int) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": "" if message["content"] else None, "refusal": None}
    for piece in _pieces(message["content"] or "", fragment // 6):
        yield {"content": piece}
    for index, call in enumerate(message.get("tool_calls", ())):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        head = {"index": index, "id": call["id"], "type": "function", "function": {"name": name, "arguments": ""}}
        yield {"tool_calls": [head]}
        for start in range(0, len(arguments), fragment):
            part = {"arguments": arguments[start : start + fragment]}
            yield {"tool_calls": [{"index": index, "function": part}]}


def _pieces(text: str, size: int) -> Iterator[str]:
    piece = ""
    for word in _WORD.findall(text):
        if piece and len(piece) + len(word) > size:
            yield piece
            piece = ""
        piece += word
    if piece:
        yield piece


def _finish(message: ChatMessage) -> str:
    return "tool_calls" if message.get("tool_calls") else "stop"
