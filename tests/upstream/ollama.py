"""Ollama /api/chat: a JSON document a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .answer import Answer, Asked
from .format import Event, demand, items
from .openai_chat import newest


class OllamaChat:
    """/api/chat: no ids, arguments are objects, streams are the default."""

    media_type = "application/x-ndjson"

    def asked(self, body: dict[str, Any]) -> Asked:
        messages = items(body, "messages")
        left = 0
        for place, message in enumerate(messages):
            demand(message.get("role") in ("system", "user", "assistant", "tool"), f"messages.{place}: role")
            if message["role"] == "tool":
                demand(left > 0, f"messages.{place}: a tool message without a call")
                left -= 1
                continue
            demand(left == 0, f"messages.{place}: tool calls without their results")
            calls = message.get("tool_calls") or ()
            demand(all(isinstance(call["function"]["arguments"], dict) for call in calls), "arguments: an object")
            left = len(calls)
        return newest(messages)

    def whole(self, answer: Answer) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": answer.text}
        if answer.thinking:
            message["thinking"] = "".join(answer.thinking)
        if answer.calls:
            message["tool_calls"] = _calls(answer)
        return {**_line(answer, message), **_end(answer)}

    def stream(self, answer: Answer, body: dict[str, Any], *, usage: bool) -> Iterator[Event]:
        for piece in answer.thinking:
            yield Event({**_line(answer, {"role": "assistant", "content": "", "thinking": piece}), "done": False})
        for piece in answer.deltas:
            yield Event({**_line(answer, {"role": "assistant", "content": piece}), "done": False})
        for call in _calls(answer):
            message = {"role": "assistant", "content": "", "tool_calls": [call]}
            yield Event({**_line(answer, message), "done": False})
        yield Event({**_line(answer, {"role": "assistant", "content": ""}), **_end(answer)}, terminal=True)

    def failed(self) -> Event:
        return Event({"error": "the model is overloaded"})

    def error(self, status: int, text: str) -> dict[str, Any]:
        return {"error": text}


def _calls(answer: Answer) -> list[dict[str, Any]]:
    return [{"function": {"name": call.name, "arguments": call.arguments}} for call in answer.calls]


def _line(answer: Answer, message: dict[str, Any]) -> dict[str, Any]:
    return {"model": answer.model, "created_at": "2026-11-21T08:00:00Z", "message": message}


def _end(answer: Answer) -> dict[str, Any]:
    reason = "length" if answer.length else "stop"
    durations = {"total_duration": 5_000_000, "load_duration": 1_000_000}
    read = {"prompt_eval_count": answer.usage.read, "prompt_eval_duration": 1_000_000}
    return {
        "done": True,
        "done_reason": reason,
        **durations,
        **read,
        "eval_count": answer.usage.written,
        "eval_duration": 3_000_000,
    }
