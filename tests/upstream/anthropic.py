"""Anthropic Messages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

from .answer import Answer, Asked
from .format import Event, as_json, demand, fragments, items, text_of

_SIGNATURE: Final = "c2lnbmVk"
_MARKERS_MAX: Final = 4


class AnthropicMessages:
    """Messages: content blocks, every event with a name."""

    media_type = "text/event-stream"

    def asked(self, body: dict[str, Any]) -> Asked:
        messages = items(body, "messages")
        demand(isinstance(body.get("max_tokens"), int), "max_tokens: field required")
        demand(as_json(body).count('"cache_control":{') <= _MARKERS_MAX, "a maximum of 4 blocks with cache_control")
        demand(all(message.get("role") in ("user", "assistant", "system") for message in messages), "messages: roles")
        turns = _turns(messages)
        demand(turns[0][0] == "user", "messages: first message must use the user role")
        _demand_pairs(turns)
        results = [block for block in turns[-1][1] if block.get("type") == "tool_result"]
        texts = (text_of(message["content"]) for message in reversed(messages) if message["role"] == "user")
        return Asked(next(filter(None, texts), ""), tuple(text_of(block.get("content")) for block in results))

    def whole(self, answer: Answer) -> dict[str, Any]:
        return {**_message(answer), "content": _content(answer), "stop_reason": _stop(answer), "usage": _usage(answer)}

    def stream(self, answer: Answer, body: dict[str, Any], *, usage: bool) -> Iterator[Event]:
        started = {**_message(answer), "usage": {**_usage(answer), "output_tokens": 1}}
        yield _event("message_start", message=started)
        for index, block in enumerate(_content(answer)):
            empty: dict[str, Any] = {name: "" for name in ("text", "thinking", "signature") if name in block}
            if block["type"] == "compaction":
                empty = {"content": None, "encrypted_content": None}
            begun = {**block, **empty} | ({"input": {}} if "input" in block else {})
            yield _event("content_block_start", index=index, content_block=begun)
            for delta in _deltas(block, answer):
                yield _event("content_block_delta", index=index, delta=delta)
            yield _event("content_block_stop", index=index)
        end = {"stop_reason": _stop(answer), "stop_sequence": None}
        yield _event("message_delta", terminal=True, delta=end, usage={"output_tokens": answer.usage.written})
        yield _event("message_stop", terminal=True)

    def failed(self) -> Event:
        return _event("error", error={"type": "overloaded_error", "message": "the model is overloaded"})

    def error(self, status: int, text: str) -> dict[str, Any]:
        return {"type": "error", "error": {"type": f"status_{status}", "message": text}, "request_id": "req_scripted"}


def _turns(messages: list[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Roles with their blocks; neighbours of one role are one turn, system messages are none."""
    told = [message for message in messages if message["role"] != "system"]
    grouped = groupby(told, key=lambda message: message["role"])
    return [(role, [block for message in group for block in _blocks(message["content"])]) for role, group in grouped]


def _blocks(content: object) -> list[dict[str, Any]]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def _demand_pairs(turns: list[tuple[str, list[dict[str, Any]]]]) -> None:
    """Results stand first in the turn behind their calls, all of them and no others; thinking keeps its signature."""
    called: list[str] = []
    for role, blocks in turns:
        demand(bool(blocks), "messages: content must not be empty")
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        demand(role == "user" or not results, "tool_result blocks belong to the user")
        demand(
            sorted(results) == sorted(called), "tool_use ids without tool_result blocks immediately after, or inverse"
        )
        demand(all(block["type"] == "tool_result" for block in blocks[: len(results)]), "tool_result blocks come first")
        thoughts = [block for block in blocks if block["type"] == "thinking"]
        demand(all(block.get("signature") == _SIGNATURE for block in thoughts), "invalid signature in thinking block")
        called = [block["id"] for block in blocks if block["type"] == "tool_use"]
    demand(not called, "tool_use ids were found without tool_result blocks immediately after")


def _event(name: str, terminal: bool = False, **members: Any) -> Event:
    return Event({"type": name, **members}, name, terminal)


def _message(answer: Answer) -> dict[str, Any]:
    message = {"id": f"msg_{answer.id}", "type": "message", "role": "assistant", "model": answer.model}
    return {**message, "content": [], "stop_reason": None, "stop_sequence": None}


def _content(answer: Answer) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = []
    if answer.compacts:
        content.append({"type": "compaction", "content": "They talked.", "encrypted_content": f"sealed-{answer.id}"})
    if answer.thinking:
        content.append({"type": "thinking", "thinking": "".join(answer.thinking), "signature": _SIGNATURE})
    if answer.deltas:
        content.append({"type": "text", "text": answer.text})
    uses = ({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in answer.calls)
    return [*content, *uses]


def _deltas(block: dict[str, Any], answer: Answer) -> Iterator[dict[str, Any]]:
    match block["type"]:
        case "thinking":
            yield from ({"type": "thinking_delta", "thinking": piece} for piece in answer.thinking)
            yield {"type": "signature_delta", "signature": _SIGNATURE}
        case "compaction":
            yield {**block, "type": "compaction_delta"}
        case "text":
            yield from ({"type": "text_delta", "text": piece} for piece in answer.deltas)
        case _:
            for piece in ("", *fragments(next(call.json for call in answer.calls if call.id == block["id"]))):
                yield {"type": "input_json_delta", "partial_json": piece}


def _stop(answer: Answer) -> str:
    if answer.length:
        return "max_tokens"
    return "tool_use" if answer.calls else "end_turn"


def _usage(answer: Answer) -> dict[str, int]:
    usage = answer.usage
    read = {"input_tokens": usage.read - usage.cached, "cache_read_input_tokens": usage.cached}
    return {**read, "cache_creation_input_tokens": 0, "output_tokens": usage.written}
