"""OpenAI Responses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from .answer import Answer, Asked
from .format import CREATED, Event, demand, fragments, items, text_of


class OpenAIResponses:
    """Responses: a list of items in, a list of items out, events with names and numbers."""

    media_type = "text/event-stream"

    def asked(self, body: dict[str, Any]) -> Asked:
        demand(isinstance(body.get("model"), str), "model: text is needed")
        if isinstance(body.get("input"), str):
            return Asked(body["input"])
        given = items(body, "input")
        if not body.get("previous_response_id"):
            _demand_pairs(given)
        results: list[str] = []
        for item in reversed(given):
            if item.get("type") != "function_call_output":
                break
            results.insert(0, text_of(item.get("output")))
        texts = (text_of(item.get("content")) for item in reversed(given) if item.get("role") == "user")
        return Asked(next(texts, ""), tuple(results))

    def whole(self, answer: Answer) -> dict[str, Any]:
        return self._response(answer, "incomplete" if answer.length else "completed", _output(answer))

    def stream(self, answer: Answer, body: dict[str, Any], *, usage: bool) -> Iterator[Event]:
        numbers = count()

        def event(kind: str, /, terminal: bool = False, **members: Any) -> Event:
            return Event({"type": kind, "sequence_number": next(numbers), **members}, kind, terminal)

        started = self._response(answer, "in_progress", [])
        yield event("response.created", response=started)
        yield event("response.in_progress", response=started)
        for index, item in enumerate(_output(answer)):
            begun = {**item, "status": "in_progress"} | {name: [] for name in ("content", "summary") if name in item}
            if "arguments" in item:
                begun["arguments"] = ""
            yield event("response.output_item.added", output_index=index, item=begun)
            for name, members in _inside(item, answer):
                yield event(name, item_id=item["id"], output_index=index, **members)
            yield event("response.output_item.done", output_index=index, item=item)
        end = "response.incomplete" if answer.length else "response.completed"
        yield event(end, terminal=True, response=self.whole(answer))

    def failed(self) -> Event:
        data = {"type": "error", "code": "server_error", "message": "the model is overloaded", "param": None}
        return Event({**data, "sequence_number": 99}, "error")

    def error(self, status: int, text: str) -> dict[str, Any]:
        return {"error": {"message": text, "type": f"status_{status}", "param": None, "code": None}}

    def _response(self, answer: Answer, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": f"resp_{answer.id}",
            "object": "response",
            "created_at": CREATED,
            "status": status,
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
            "instructions": None,
            "model": answer.model,
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": None if status == "in_progress" else _usage(answer),
        }


def _demand_pairs(given: list[dict[str, Any]]) -> None:
    """Every output has its call before it, every call its output; reasoning has what it led to behind it."""
    called: set[str] = set()
    answered: set[str] = set()
    for place, item in enumerate(given):
        match item.get("type", "message"):
            case "function_call":
                called.add(item["call_id"])
            case "function_call_output":
                demand(item.get("call_id") in called - answered, f"input.{place}: no tool call found for this output")
                answered.add(item["call_id"])
            case "reasoning":
                follows = given[place + 1].get("type", "message") if place + 1 < len(given) else ""
                led = follows in ("message", "function_call") and given[place + 1].get("role", "assistant")
                demand(led == "assistant", f"input.{place}: reasoning without the item that must follow it")
            case "message":
                demand(item.get("role") in ("user", "assistant", "system", "developer"), f"input.{place}: role")
            case "compaction":
                demand(bool(item.get("encrypted_content")), f"input.{place}: encrypted_content")
            case "compaction_trigger":
                demand(place == len(given) - 1, "The 'compaction_trigger' item must be the final input item.")
            case kind:
                demand(False, f"input.{place}: unknown type {kind!r}")
    demand(called == answered, "No tool output found for a function call")


def _output(answer: Answer) -> list[dict[str, Any]]:
    output: list[dict[str, Any]] = []
    if answer.compacts:
        sealed = f"sealed-{answer.id}"
        output.append({"id": f"cmp_{answer.id}", "type": "compaction", "encrypted_content": sealed})
    if answer.thinking:
        summary = [{"type": "summary_text", "text": "".join(answer.thinking)}]
        output.append(
            {"id": f"rs_{answer.id}", "type": "reasoning", "summary": summary, "encrypted_content": "b3BhcXVl"}
        )
    if answer.deltas:
        status = "incomplete" if answer.length else "completed"
        part = {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}
        message = {"id": f"msg_{answer.id}", "type": "message", "role": "assistant"}
        output.append({**message, "status": status, "content": [part]})
    for call in answer.calls:
        item = {"id": f"fc_{call.id}", "type": "function_call", "call_id": call.id, "name": call.name}
        output.append({**item, "arguments": call.json, "status": "completed"})
    return output


def _inside(item: dict[str, Any], answer: Answer) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events between the beginning and the end of an item."""
    match item["type"]:
        case "reasoning":
            part = item["summary"][0]
            empty = {"type": "summary_text", "text": ""}
            yield "response.reasoning_summary_part.added", {"summary_index": 0, "part": empty}
            for piece in answer.thinking:
                yield "response.reasoning_summary_text.delta", {"summary_index": 0, "delta": piece}
            yield "response.reasoning_summary_text.done", {"summary_index": 0, "text": part["text"]}
            yield "response.reasoning_summary_part.done", {"summary_index": 0, "part": part}
        case "message":
            part = item["content"][0]
            yield "response.content_part.added", {"content_index": 0, "part": {**part, "text": ""}}
            for piece in answer.deltas:
                yield "response.output_text.delta", {"content_index": 0, "delta": piece, "logprobs": []}
            yield "response.output_text.done", {"content_index": 0, "text": part["text"], "logprobs": []}
            yield "response.content_part.done", {"content_index": 0, "part": part}
        case "function_call":
            for piece in fragments(item["arguments"]):
                yield "response.function_call_arguments.delta", {"delta": piece}
            done = {"arguments": item["arguments"], "name": item["name"]}
            yield "response.function_call_arguments.done", done


def _usage(answer: Answer) -> dict[str, Any]:
    usage = answer.usage
    return {
        "input_tokens": usage.read,
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": 0},
        "output_tokens": usage.written,
        "output_tokens_details": {"reasoning_tokens": usage.reasoned},
        "total_tokens": usage.read + usage.written,
    }
