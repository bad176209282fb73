"""OpenAI Responses: output items, and the response object that contains them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final, assert_never

from tokenmizer_mw.server.translate.chat import ChatCall, Finish, ModelToolCall, Text, Thought, Tool, ToolChoice, Usage

from .local_shell import action_of
from .namespaces import by_name
from .openai_responses_fields import HIDDEN, NAME
from .openai_shared import text_of
from .seals import call_id, tag_seal
from .writing import StreamPart

_INCOMPLETE: Final[Mapping[Finish, str]] = {Finish.LENGTH: "max_output_tokens", Finish.FILTERED: "content_filter"}
_CHOICE: Final = {"auto": "auto", "none": "none", "any": "required"}


class Items:
    """The output items of one response, by index."""

    def __init__(self, call: ChatCall, response: str) -> None:
        self._tools = by_name(call.tools)
        self._response = response

    def form(self, call: ModelToolCall) -> str:
        """Return how the client calls the tool of a call: "function", "custom" or "local_shell"."""
        tool = self._tools.get(call.name)
        return tool.form if tool is not None else "function"

    def name(self, part: StreamPart, index: int) -> str:
        """Return the id of an item."""
        match part:
            case Text():
                prefix = "msg"
            case Thought():
                prefix = "rs"
            case ModelToolCall():
                prefix = {"custom": "ctc", "local_shell": "lsh"}.get(self.form(part), "fc")
            case _:
                assert_never(part)
        return f"{prefix}_{self._response}_{index}"

    def item(self, part: StreamPart, index: int, status: str) -> dict[str, Any]:
        """Return the output item of ``part``."""
        name = self.name(part, index)
        match part:
            case Text(text):
                content = [text_part(text)] if text else []
                return {"id": name, "type": "message", "status": status, "role": "assistant", "content": content}
            case Thought():
                summary = [summary_part(part.text)] if part.text else []
                seal = HIDDEN * part.hidden + tag_seal(part.seal, part.sealed_by, NAME) or None
                return {"id": name, "type": "reasoning", "summary": summary, "encrypted_content": seal}
            case ModelToolCall():
                return {"id": name, "status": status, "call_id": call_id(part), **self._call_fields(part)}
            case _:
                assert_never(part)

    def _name_fields(self, call: ModelToolCall) -> dict[str, Any]:
        """The name of what is called as the client knows it."""
        tool = self._tools.get(call.name)
        if tool is None or tool.namespace is None:
            return {"name": call.name}
        return {"name": tool.own, "namespace": tool.namespace.name}

    def _call_fields(self, call: ModelToolCall) -> dict[str, Any]:
        match self.form(call):
            case "custom":
                text = text_of(call.arguments) if call.arguments else ""
                return {"type": "custom_tool_call", **self._name_fields(call), "input": text}
            case "local_shell":
                return {"type": "local_shell_call", "action": action_of(call.arguments)}
            case _:
                return {"type": "function_call", **self._name_fields(call), "arguments": call.arguments}


def text_part(text: str) -> dict[str, Any]:
    """Return a text part of a message."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def summary_part(text: str) -> dict[str, Any]:
    """Return a reasoning summary part."""
    return {"type": "summary_text", "text": text}


def status_of(finish: Finish | None) -> str:
    """Return the status of a response: "in_progress" for ``None``, else "completed" or "incomplete"."""
    if finish is None:
        return "in_progress"
    return "incomplete" if finish in _INCOMPLETE else "completed"


def response(
    call: ChatCall,
    *,
    name: str,
    model: str,
    created: int,
    output: Sequence[Mapping[str, Any]] = (),
    finish: Finish | None = None,
    counts: Usage | None = None,
) -> dict[str, Any]:
    """Return the response object with the items so far."""
    reason = _INCOMPLETE.get(finish) if finish is not None else None
    return {
        "id": name,
        "object": "response",
        "created_at": created,
        "status": status_of(finish),
        "background": False,
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "instructions": None,
        "max_output_tokens": call.sampling.max_tokens,
        "metadata": {},
        "model": model,
        "output": list(output),
        "parallel_tool_calls": call.parallel is not False,
        "previous_response_id": None,
        "reasoning": {"effort": call.thinking.effort or None if call.thinking else None, "summary": None},
        "store": False,
        "temperature": call.sampling.temperature,
        "text": {"format": _format(call)},
        "tool_choice": _choice(call.choice),
        "tools": _tools(call.tools),
        "top_p": call.sampling.top_p,
        "truncation": "disabled",
        "usage": usage(counts) if counts is not None else None,
        "user": call.user or None,
    }


def usage(told: Usage) -> dict[str, Any]:
    """Return token counts in this dialect."""
    return {
        "input_tokens": told.prompt,
        "input_tokens_details": {"cached_tokens": told.cached, "cache_write_tokens": told.written},
        "output_tokens": told.completion,
        "output_tokens_details": {"reasoning_tokens": told.thought},
        "total_tokens": told.prompt + told.completion,
    }


def _tools(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """The tools as the client has them, those of a namespace together."""
    listed: list[dict[str, Any]] = []
    for namespace, run in groupby(tools, key=lambda tool: tool.namespace):
        told = [_tool(tool) for tool in run]
        if namespace is not None:
            head = {"type": "namespace", "name": namespace.name, "description": namespace.description}
            told = [{**head, "tools": told}]
        listed += told
    return listed


def _tool(tool: Tool) -> dict[str, Any]:
    name = tool.own or tool.name
    match tool.form:
        case "local_shell":
            return {"type": "local_shell"}
        case "custom":
            return {"type": "custom", "name": name, "description": tool.description}
        case _:
            told = {"name": name, "description": tool.description or None, "parameters": tool.parameters}
            return {"type": "function", **told, "strict": bool(tool.strict)}


def _choice(choice: ToolChoice | None) -> Any:
    if choice is not None and choice.mode == "named":
        return {"type": "function", "name": choice.name}
    return _CHOICE[choice.mode] if choice is not None else "auto"


def _format(call: ChatCall) -> dict[str, Any]:
    if call.format is None:
        return {"type": "text"}
    if call.format.schema is None:
        return {"type": "json_object"}
    told = {"name": call.format.name, "schema": call.format.schema, "strict": bool(call.format.strict)}
    return {"type": "json_schema", **told}
