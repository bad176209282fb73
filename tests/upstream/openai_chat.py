"""OpenAI Chat Completions, and Mistral where it differs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .answer import Answer, Asked, Call
from .format import CREATED, Event, as_json, demand, fragments, items, text_of

_MISTRAL_KNOWN: Final = frozenset(
    {"model", "messages", "temperature", "top_p", "top_k", "max_tokens", "stream", "stop", "random_seed", "metadata",
     "response_format", "tools", "tool_choice", "presence_penalty", "frequency_penalty", "n", "parallel_tool_calls",
     "reasoning_effort", "prompt_mode", "safe_prompt"}
)  # fmt: skip
_ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool"})


def demand_pairs(messages: list[dict[str, Any]]) -> None:
    """Every tool message answers a call of the assistant message before it; every call is answered at once."""
    open_calls: set[str] = set()
    for place, message in enumerate(messages):
        demand(message.get("role") in _ROLES, f"messages.{place}: unknown role")
        if message["role"] == "tool":
            known = message.get("tool_call_id") in open_calls
            demand(known, f"messages.{place}: a tool message must follow a message with its tool_calls")
            open_calls.remove(message["tool_call_id"])
            continue
        demand(not open_calls, f"messages.{place}: tool_calls must be followed by tool messages for each")
        open_calls = {call["id"] for call in message.get("tool_calls") or ()}
    demand(not open_calls, "tool_calls must be followed by tool messages for each")


def newest(messages: list[dict[str, Any]]) -> Asked:
    """The newest text of the user and the tool messages at the end."""
    results = []
    for message in reversed(messages):
        if message["role"] != "tool":
            break
        results.insert(0, text_of(message.get("content")))
    texts = (text_of(message.get("content")) for message in reversed(messages) if message["role"] == "user")
    return Asked(next(texts, ""), tuple(results))


class OpenAIChat:
    """Chat Completions as OpenAI spells them; ``think`` as DeepSeek and others do."""

    media_type = "text/event-stream"

    def asked(self, body: dict[str, Any]) -> Asked:
        messages = items(body, "messages")
        demand_pairs(messages)
        demand(isinstance(body.get("model"), str), "model: text is needed")
        return newest(messages)

    def whole(self, answer: Answer) -> dict[str, Any]:
        choice = {"index": 0, "message": self._message(answer), "logprobs": None, "finish_reason": _finish(answer)}
        return {**self._head(answer, "chat.completion"), "choices": [choice], "usage": self._usage(answer)}

    def stream(self, answer: Answer, body: dict[str, Any], *, usage: bool) -> Iterator[Event]:
        options = body.get("stream_options") or {}
        head = self._head(answer, "chat.completion.chunk")
        for delta in self._deltas(answer):
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
            yield Event({**head, "choices": [choice]})
        last = {"index": 0, "delta": {}, "logprobs": None, "finish_reason": _finish(answer)}
        yield Event({**head, "choices": [last]}, terminal=True)
        if usage or options.get("include_usage"):
            yield Event({**head, "choices": [], "usage": self._usage(answer)}, terminal=True)
        yield Event("[DONE]", terminal=True)

    def failed(self) -> Event:
        return Event({"error": {"message": "the model is overloaded", "type": "server_error", "code": 503}})

    def error(self, status: int, text: str) -> dict[str, Any]:
        return {"error": {"message": text, "type": f"status_{status}", "param": None, "code": None}}

    def _head(self, answer: Answer, kind: str) -> dict[str, Any]:
        head = {"id": f"chatcmpl-{answer.id}", "object": kind, "created": CREATED, "model": answer.model}
        return {**head, "system_fingerprint": "fp_scripted"}

    def _message(self, answer: Answer) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": answer.text or None, "refusal": None}
        if answer.thinking:
            message["reasoning_content"] = "".join(answer.thinking)
        if answer.calls:
            message["tool_calls"] = [_call(call, call.json) for call in answer.calls]
        return message

    def _deltas(self, answer: Answer) -> Iterator[dict[str, Any]]:
        yield {"role": "assistant", "content": "", "refusal": None}
        yield from ({"reasoning_content": piece} for piece in answer.thinking)
        yield from ({"content": piece} for piece in answer.deltas)
        for index, call in enumerate(answer.calls):
            yield {"tool_calls": [{"index": index, **_call(call, "")}]}
            for piece in fragments(call.json):
                yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}

    def _usage(self, answer: Answer) -> dict[str, Any]:
        usage = answer.usage
        return {
            "prompt_tokens": usage.read,
            "completion_tokens": usage.written,
            "total_tokens": usage.read + usage.written,
            "prompt_tokens_details": {"cached_tokens": usage.cached},
            "completion_tokens_details": {"reasoning_tokens": usage.reasoned},
        }


class DeepSeekChat(OpenAIChat):
    """The same as DeepSeek takes it, which thinks unless it is told not to: then every answer has its thoughts."""

    def asked(self, body: dict[str, Any]) -> Asked:
        answers = [message for message in items(body, "messages") if message.get("role") == "assistant"]
        thinks = (body.get("thinking") or {}).get("type") != "disabled"
        told = all(isinstance(message.get("reasoning_content"), str) for message in answers)
        demand(told or not thinks, "The reasoning_content in the thinking mode must be passed back to the API.")
        demand(all(message.get("role") != "developer" for message in body["messages"]), "messages: unknown role")
        return super().asked(body)


class MistralChat(OpenAIChat):
    """The same path as Mistral speaks it: thinking is a part of the content, tool calls come whole, figures always."""

    def stream(self, answer: Answer, body: dict[str, Any], *, usage: bool) -> Iterator[Event]:
        head = self._head(answer, "chat.completion.chunk")
        deltas = list(self._deltas(answer))
        for delta in deltas[:-1]:
            yield Event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        last = {"index": 0, "delta": deltas[-1], "finish_reason": _finish(answer)}
        yield Event({**head, "choices": [last], "usage": self._usage(answer)}, terminal=True)
        yield Event("[DONE]", terminal=True)

    def error(self, status: int, text: str) -> dict[str, Any]:
        return {"object": "error", "message": text, "type": f"status_{status}", "param": None, "code": str(status)}

    def _head(self, answer: Answer, kind: str) -> dict[str, Any]:
        return {"id": answer.id, "object": kind, "created": CREATED, "model": answer.model}

    def _message(self, answer: Answer) -> dict[str, Any]:
        content: Any = answer.text
        if answer.thinking:
            content = [_thinking("".join(answer.thinking)), {"type": "text", "text": answer.text}]
        calls = [{**_call(call, as_json(call.arguments)), "index": at} for at, call in enumerate(answer.calls)]
        return {"role": "assistant", "content": content, "tool_calls": calls or None, "prefix": False}

    def _deltas(self, answer: Answer) -> Iterator[dict[str, Any]]:
        yield {"role": "assistant", "content": ""}
        yield from ({"content": [_thinking(piece)]} for piece in answer.thinking)
        yield from ({"content": piece} for piece in answer.deltas)
        calls = [{**_call(call, as_json(call.arguments)), "index": at} for at, call in enumerate(answer.calls)]
        yield {"content": "", "tool_calls": calls} if calls else {"content": ""}


class ExactMistralChat(MistralChat):
    """Mistral, with all that it refuses: unknown fields, ids that are not its own, a user behind a result."""

    def asked(self, body: dict[str, Any]) -> Asked:
        demand(body.keys() <= _MISTRAL_KNOWN, f"extra fields: {sorted(body.keys() - _MISTRAL_KNOWN)}")
        role = ""
        for message in items(body, "messages"):
            demand(not (role == "tool" and message["role"] == "user"), "Unexpected role 'user' after role 'tool'")
            ids = [call["id"] for call in message.get("tool_calls") or ()]
            ids += [message["tool_call_id"]] if message["role"] == "tool" else []
            demand(all(len(id) == 9 and id.isalnum() for id in ids), "Tool call id must have a length of 9.")
            role = message["role"]
        return super().asked(body)


def _thinking(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": [{"type": "text", "text": text}]}


def _call(call: Call, arguments: str) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _finish(answer: Answer) -> str:
    if answer.length:
        return "length"
    return "tool_calls" if answer.calls else "stop"
