"""Cohere v2 chat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .answer import Answer, Asked, Call
from .format import Event, demand, fragments, items, text_of
from .openai_chat import demand_pairs


class CohereChat:
    """v2/chat: content parts, what is said before a tool call stands in the plan."""

    media_type = "text/event-stream"

    def asked(self, body: dict[str, Any]) -> Asked:
        messages = items(body, "messages")
        demand(all(message.get("role") != "developer" for message in messages), "messages: unknown role")
        demand_pairs(messages)
        results = []
        for message in reversed(messages):
            if message["role"] != "tool":
                break
            results.insert(0, _result(message.get("content")))
        texts = (text_of(message.get("content")) for message in reversed(messages) if message["role"] == "user")
        return Asked(next(texts, ""), tuple(results))

    def whole(self, answer: Answer) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant"}
        content = [{"type": "thinking", "thinking": "".join(answer.thinking)}] if answer.thinking else []
        if answer.calls:
            message |= {"tool_plan": answer.text, "tool_calls": [_call(call, call.json) for call in answer.calls]}
        else:
            content.append({"type": "text", "text": answer.text})
        if content:
            message["content"] = content
        return {"id": answer.id, "message": message, "finish_reason": _finish(answer), "usage": _usage(answer)}

    def stream(self, answer: Answer, body: dict[str, Any], *, usage: bool) -> Iterator[Event]:
        begun = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
        yield Event({"id": answer.id, "type": "message-start", "delta": {"message": begun}}, "message-start")
        index = 0
        if answer.thinking:
            yield from _part("thinking", answer.thinking, 0)
            index = 1
        if answer.calls:
            yield from (_event("tool-plan-delta", {"tool_plan": piece}) for piece in answer.deltas)
            for place, call in enumerate(answer.calls):
                yield _event("tool-call-start", {"tool_calls": _call(call, "")}, place)
                for piece in fragments(call.json):
                    yield _event("tool-call-delta", {"tool_calls": {"function": {"arguments": piece}}}, place)
                yield _event("tool-call-end", None, place)
        else:
            yield from _part("text", answer.deltas, index)
        end = {"finish_reason": _finish(answer), "usage": _usage(answer)}
        yield Event({"type": "message-end", "id": answer.id, "delta": end}, "message-end", terminal=True)

    def failed(self) -> Event:
        delta = {"finish_reason": "ERROR", "error": "the model is overloaded"}
        return Event({"type": "message-end", "delta": delta}, "message-end")

    def error(self, status: int, text: str) -> dict[str, Any]:
        return {"id": "scripted", "message": text}


def _part(kind: str, pieces: tuple[str, ...], index: int) -> Iterator[Event]:
    yield _event("content-start", {"content": {"type": kind, kind: ""}}, index)
    yield from (_event("content-delta", {"content": {kind: piece}}, index) for piece in pieces)
    yield _event("content-end", None, index)


def _event(name: str, message: dict[str, Any] | None, index: int | None = None) -> Event:
    data: dict[str, Any] = {"type": name}
    if index is not None:
        data["index"] = index
    return Event(data if message is None else {**data, "delta": {"message": message}}, name)


def _result(content: object) -> str:
    """What a tool returned: text, or parts of text and documents."""
    parts = content if isinstance(content, list) else []
    documents = [str(part["document"]["data"]) for part in parts if part.get("type") == "document"]
    return text_of(content) + "".join(documents)


def _call(call: Call, arguments: str) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _finish(answer: Answer) -> str:
    if answer.length:
        return "MAX_TOKENS"
    return "TOOL_CALL" if answer.calls else "COMPLETE"


def _usage(answer: Answer) -> dict[str, Any]:
    tokens = {"input_tokens": answer.usage.read, "output_tokens": answer.usage.written}
    return {"billed_units": tokens, "tokens": tokens, "cached_tokens": answer.usage.cached}
