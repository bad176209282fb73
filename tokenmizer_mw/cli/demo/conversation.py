"""The client's side: the OpenAI SDK, a history that is sent back in full with every call, and tools."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from openai import DefaultHttpxClient, OpenAI

from .script import ChatMessage, DemoScript, ScriptTurn

SESSION: Final = "coldwatch"
CALLS_MAX: Final = 8
"""Tool calls of one turn; a live model that wants more is told to answer."""


@dataclass(frozen=True, slots=True)
class DemoReply:
    """What came back: the message, seconds from sending the request to its first chunk, and the tokens that the model
    says it took in."""

    message: ChatMessage
    first_byte: float
    prompt_tokens: int


class Client:
    """An SDK client of the application at ``address``; with ``session`` its calls carry the session's id.

    ``sent_at`` is when the newest request went out: what the SDK does before that is no part of a first byte.
    """

    def __init__(self, address: str, *, session: str | None = None) -> None:
        # A proxy of the environment is not for this machine's own address.
        http = DefaultHttpxClient(trust_env=False, event_hooks={"request": [self._sending]})
        headers = {"x-session-id": session} if session is not None else None
        self.sdk = OpenAI(
            base_url=f"{address}/v1", api_key="none", max_retries=0, default_headers=headers, http_client=http
        )
        self.sent_at = 0.0

    def _sending(self, request: object) -> None:
        self.sent_at = time.perf_counter()


@dataclass(slots=True)
class Conversation:
    """A chat as clients keep it: the whole history, resent with every call."""

    model: str
    script: DemoScript
    messages: list[ChatMessage] = field(init=False)

    def __post_init__(self) -> None:
        self.messages = [{"role": "system", "content": self.script.system}]

    def request(self) -> dict[str, Any]:
        """The body of the next call."""
        choice = {"tool_choice": "none"} if self._calls_since_the_person_spoke() >= CALLS_MAX else {}
        return {
            "model": self.model,
            "messages": list(self.messages),
            "tools": list(self.script.tools),
            "stream": True,
            "stream_options": {"include_usage": True},
            **choice,
        }

    def _calls_since_the_person_spoke(self) -> int:
        count = 0
        for message in reversed(self.messages):
            if message["role"] == "user":
                return count
            count += message["role"] == "tool"
        return count


def ask(client: Client, request: dict[str, Any], said: Callable[[str], None]) -> DemoReply:
    """Send one request and read the stream to its end; ``said`` gets each piece of text as it comes."""
    first_byte, tokens = 0.0, 0
    text: list[str] = []
    calls: dict[int, ChatMessage] = {}
    for chunk in client.sdk.chat.completions.create(**request):
        first_byte = first_byte or time.perf_counter() - client.sent_at
        if chunk.usage is not None:
            tokens = chunk.usage.prompt_tokens
        for delta in (choice.delta for choice in chunk.choices):
            if delta.content:
                text.append(delta.content)
                said(delta.content)
            for part in delta.tool_calls or ():
                _add(calls, part)
    message: ChatMessage = {"role": "assistant", "content": "".join(text) or None}
    return DemoReply(message | ({"tool_calls": list(calls.values())} if calls else {}), first_byte, tokens)


def _add(calls: dict[int, ChatMessage], part: Any) -> None:
    new = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
    call = calls.setdefault(part.index, new)
    call["id"] += part.id or ""
    call["function"]["name"] += part.function.name or ""
    call["function"]["arguments"] += part.function.arguments or ""


def tool_results(
    turn: ScriptTurn, calls: Sequence[ChatMessage], before: Sequence[ChatMessage]
) -> Iterator[ChatMessage]:
    """What the tools give back. Nothing is executed: a scripted call has its scripted result, and a call that a live
    model makes of its own gets the turn's next result that is left."""
    results = {step.id: step.result for step in turn.steps}
    used = sum(message["role"] == "tool" for message in before[_last_user(before) :])
    for place, call in enumerate(calls, used):
        spare = turn.steps[place].result if place < len(turn.steps) else "done"
        yield {"role": "tool", "tool_call_id": call["id"], "content": results.get(call["id"], spare)}


def _last_user(messages: Sequence[ChatMessage]) -> int:
    return max((place for place, message in enumerate(messages) if message["role"] == "user"), default=0)


def summary(call: ChatMessage, result: str) -> str:
    """A tool call and what became of it, in one line."""
    function = call["function"]
    try:
        arguments = json.loads(function["arguments"])
    except ValueError:
        arguments = {}
    values = arguments.values() if isinstance(arguments, dict) else ()
    first = next((value for value in values if isinstance(value, str)), "")
    lines = [line for line in result.splitlines() if line.strip() and not line.startswith("exit code")]
    return f"{function['name']} {first}".strip() + (f" -> {lines[-1].strip()}" if lines else "")
