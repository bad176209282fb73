"""The demonstration's client. Like most SDKs, it sends the whole transcript (all messages so far) with every request.
It also supplies the results of tool calls."""

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
"""Number of tool results in one turn from which on requests forbid further tool calls, so that a live model has to
answer."""


@dataclass(frozen=True, slots=True)
class DemoReply:
    """A model's complete reply. ``first_byte``: seconds from the request to the first chunk of the stream.
    ``prompt_tokens``: tokens of the request as the model reports them, 0 if it does not."""

    message: ChatMessage
    first_byte: float
    prompt_tokens: int


class RequestRefused(Exception):
    """Raised when the application or the model answered with an error status, or when the connection failed. The
    message quotes the error."""


class Client:
    """HTTP client of the application at ``address``, such as ``http://127.0.0.1:40123``. ``session``: the session id
    that its requests carry in the header ``x-session-id``; ``None`` for no such header."""

    def __init__(self, address: str, *, session: str | None = None) -> None:
        headers = {"authorization": "Bearer none", **({"x-session-id": session} if session is not None else {})}
        # A proxy of the environment is not for this machine's own address.
        self._http = httpx2.Client(base_url=f"{address}/v1", headers=headers, timeout=_SECONDS, trust_env=False)

    def stream(self, request: dict[str, Any]) -> Iterator[tuple[float, dict[str, Any]]]:
        """Send ``request`` as the body of a streaming chat request. Yield a pair for each chunk of the response:
        seconds since the request, and the parsed chunk. Raises ``RequestRefused`` for a status of 400 or more and if
        the connection fails."""
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
        """Open the connection before the first chat request, so that the time of that request does not include it.
        Errors are ignored."""
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
    """A chat as a client stores it: the whole transcript, which is sent with every request. ``messages`` begins with
    the system prompt of ``script``; the caller appends all others. ``script`` also has the tools."""

    model: str
    script: DemoScript
    messages: list[ChatMessage] = field(init=False)

    def __post_init__(self) -> None:
        self.messages = [{"role": "system", "content": self.script.system}]

    def request(self) -> dict[str, Any]:
        """Return the JSON body of the next chat request, with the whole transcript. If there are ``CALLS_MAX`` tool
        results or more since the last user message, the request forbids further tool calls."""
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
    """Send one chat request and read the streamed reply to its end. ``on_text`` is called with each piece of text as it
    arrives. Raises ``RequestRefused`` for an error status and if the connection fails."""
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
    """Yield a message with a result for each of the tool calls ``calls``. No tool is executed.

    ``calls``: the calls of the newest reply in ``turn``. ``before``: the messages before that reply. A call whose id is
    in the script gets the result in the script. Any other call, which a live model made, gets the result at the same
    place of the turn, or "done" if the turn has no more results.
    """
    results = {step.id: step.result for step in turn.steps}
    used = sum(message["role"] == "tool" for message in before[_last_user(before) :])
    for place, call in enumerate(calls, used):
        spare = turn.steps[place].result if place < len(turn.steps) else "done"
        yield {"role": "tool", "tool_call_id": call["id"], "content": results.get(call["id"], spare)}


def _last_user(messages: Sequence[ChatMessage]) -> int:
    return max((place for place, message in enumerate(messages) if message["role"] == "user"), default=0)


def summary(call: ChatMessage, result: str) -> str:
    """Return a tool call and its result in one line for the screen, such as "read_file app.py -> 3 lines": the tool's
    name, its first text argument, and the last line of ``result`` that is neither blank nor an exit code."""
    function = call["function"]
    try:
        arguments = json.loads(function["arguments"])
    except ValueError:
        arguments = {}
    values = arguments.values() if isinstance(arguments, dict) else ()
    first = next((value for value in values if isinstance(value, str)), "")
    lines = [line for line in result.splitlines() if line.strip() and not line.startswith("exit code")]
    return f"{function['name']} {first}".strip() + (f" -> {lines[-1].strip()}" if lines else "")
