"""The demonstration's client: sends the whole transcript with every call, as SDKs do, and answers tool calls."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2

from tokenmizer_mw.wire.sse import SSEDecoder

from .script import ChatMessage, DemoScript, ScriptTurn

SESSION: Final = "coldwatch"
_SECONDS: Final = 120.0

CALLS_MAX: Final = 8
"""Number of tool calls in one turn after which a live model is asked to answer without tools."""


@dataclass(frozen=True, slots=True)
class DemoReply:
    """A model's reply. ``first_byte``: seconds from the request to the first chunk; ``prompt_tokens``: as the model
    reports them."""

    message: ChatMessage
    first_byte: float
    prompt_tokens: int


class RequestRefused(Exception):
    """Raised when the application or the model returned an error, or the connection failed; the message quotes the
    error."""


class Client:
    """HTTP client of the application at ``address``. ``session``: the session id that its calls carry, ``None`` for
    none."""

    def __init__(self, address: str, *, session: str | None = None) -> None:
        headers = {"authorization": "Bearer none", **({"x-session-id": session} if session is not None else {})}
        # A proxy of the environment is not for this machine's own address.
        self._http = httpx2.Client(base_url=f"{address}/v1", headers=headers, timeout=_SECONDS, trust_env=False)

    def stream(self, request: dict[str, Any]) -> Iterator[tuple[float, dict[str, Any]]]:
        """Send the chat request with the body ``request``; yield the chunks of the response as pairs: seconds since the
        request, and the parsed chunk. Raises ``RequestRefused``, also if the connection fails."""
        decoder, started = SSEDecoder(), time.perf_counter()
        try:
            with self._http.stream("POST", "/chat/completions", json=request) as response:
                if response.status_code >= 400:
                    raise RequestRefused(_error_in(response.status_code, response.read()))
                for data in response.iter_bytes():
                    for event in decoder.receive_data(data):
                        if event.data != "[DONE]":
                            yield time.perf_counter() - started, json.loads(event.data)
        except httpx2.HTTPError as error:
            raise RequestRefused(f"{type(error).__name__}: {error}") from None

    def connect(self) -> None:
        """Open the connection, so that the first call is not slowed down by it."""
        with suppress(httpx2.HTTPError):
            self._http.get("/models")

    def close(self) -> None:
        """Close the client's connections."""
        self._http.close()


def _error_in(status: int, body: bytes) -> str:
    try:
        error = json.loads(body)["error"]
        return f"{status}: {error.get('message', error) if isinstance(error, dict) else error}"
    except (ValueError, KeyError, TypeError):
        return f"status {status}"


@dataclass(slots=True)
class Conversation:
    """A chat as clients store it: the whole transcript, sent with every call.

    ``script``: gives the system prompt, with which ``messages`` begin, and the tools. The caller adds all others.
    """

    model: str
    script: DemoScript
    messages: list[ChatMessage] = field(init=False)

    def __post_init__(self) -> None:
        self.messages = [{"role": "system", "content": self.script.system}]

    def request(self) -> dict[str, Any]:
        """Return the body of the next chat request: the whole transcript. After ``CALLS_MAX`` tool calls for one user
        message, it forbids further ones."""
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


def ask(client: Client, request: dict[str, Any], on_text: Callable[[str], None]) -> DemoReply:
    """Send one chat request and read the stream of the reply to its end. ``on_text`` is called with each piece of
    text. Raises ``RequestRefused``."""
    first_byte, tokens = 0.0, 0
    text: list[str] = []
    calls: dict[int, ChatMessage] = {}
    for after, chunk in client.stream(request):
        first_byte = first_byte or after
        tokens = (chunk.get("usage") or {}).get("prompt_tokens", tokens)
        for delta in (choice["delta"] for choice in chunk.get("choices") or ()):
            if words := delta.get("content"):
                text.append(words)
                on_text(words)
            for part in delta.get("tool_calls") or ():
                _add(calls, part)
    message: ChatMessage = {"role": "assistant", "content": "".join(text) or None}
    return DemoReply(message | ({"tool_calls": list(calls.values())} if calls else {}), first_byte, tokens)


def _add(calls: dict[int, ChatMessage], part: dict[str, Any]) -> None:
    new = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
    call = calls.setdefault(part["index"], new)
    function = part.get("function") or {}
    call["id"] += part.get("id") or ""
    call["function"]["name"] += function.get("name") or ""
    call["function"]["arguments"] += function.get("arguments") or ""


def tool_results(
    turn: ScriptTurn, calls: Sequence[ChatMessage], before: Sequence[ChatMessage]
) -> Iterator[ChatMessage]:
    """Yield the results of tool calls as messages, without executing anything.

    ``calls``: the calls of the newest reply in ``turn``. ``before``: the messages before that reply. A scripted call
    has its scripted result; any other call of a live model gets the next unused result of the turn, or "done".
    """
    results = {step.id: step.result for step in turn.steps}
    used = sum(message["role"] == "tool" for message in before[_last_user(before) :])
    for place, call in enumerate(calls, used):
        spare = turn.steps[place].result if place < len(turn.steps) else "done"
        yield {"role": "tool", "tool_call_id": call["id"], "content": results.get(call["id"], spare)}


def _last_user(messages: Sequence[ChatMessage]) -> int:
    return max((place for place, message in enumerate(messages) if message["role"] == "user"), default=0)


def summary(call: ChatMessage, result: str) -> str:
    """Return a tool call and its result in one line, for the screen: the tool, its first text argument, and the last
    line of ``result`` that is neither blank nor an exit code, such as "read_file app.py -> 3 lines"."""
    function = call["function"]
    try:
        arguments = json.loads(function["arguments"])
    except ValueError:
        arguments = {}
    values = arguments.values() if isinstance(arguments, dict) else ()
    first = next((value for value in values if isinstance(value, str)), "")
    lines = [line for line in result.splitlines() if line.strip() and not line.startswith("exit code")]
    return f"{function['name']} {first}".strip() + (f" -> {lines[-1].strip()}" if lines else "")
