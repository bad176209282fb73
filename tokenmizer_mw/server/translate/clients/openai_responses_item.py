"""Parts of the API format (dialect) OpenAI Responses: output items, the response object, and the tools that other
dialects lack.

``local_shell`` becomes a function. A tool in a namespace (a named group of tools) gets one flat name, such as
"files__read" for "read" in "files". If providers do not accept that name or it is taken, it is shortened, and a digest
makes it unique. In replies, the flat names are replaced by the original ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import groupby
from typing import Any, Final, assert_never

import re2

from tokenmizer_mw.server.translate import chat
from tokenmizer_mw.server.translate.translation import load

from .openai_shared import text_of
from .reply_parts import StreamPart
from .request_parts import CARRIED, Fields, Table, call_id, carry, tag_seal

NAME: Final = "openai_responses"
HIDDEN: Final = "hidden:"
"""Prefix of the signature of reasoning whose text the provider does not show, because an item has no field for that."""

_TEXT: Final = {"type": "string"}

_PARAMETERS: Final = {
    "type": "object",
    "properties": {
        "command": {"type": "array", "items": _TEXT, "description": "The command and its arguments."},
        "working_directory": {**_TEXT, "description": "Where to run it."},
        "timeout_ms": {"type": "integer", "description": "After how many milliseconds to stop it."},
        "env": {"type": "object", "additionalProperties": _TEXT, "description": "Environment variables to set."},
        "user": {**_TEXT, "description": "The user to run it as."},
    },
    "required": ["command"],
}

SHELL_TOOL: Final = chat.Tool(
    "local_shell", "Runs a command on the user's machine and gives its output.", _PARAMETERS, form="local_shell"
)

ACTION: Final[Table] = {"type": CARRIED, **carry(*_PARAMETERS["properties"])}


def action_arguments(item: Fields) -> str:
    """Return a local shell call, which the client sends back as ``item``, as the arguments (JSON text) of the function
    that stands for the shell."""
    action = item.needed_child("action", ACTION)
    values = {name: value for name, value in action.raw.items() if name != "type" and value is not None}
    return json.dumps(values, ensure_ascii=False)


def action_of(arguments: str) -> dict[str, Any]:
    """Return the shell action in a model's function arguments (JSON text). ``command`` becomes a list of strings, and
    ``env`` an object of strings; both are empty if missing or invalid. The other members are copied unchecked, ``None``
    if missing. Arguments that are not a JSON object are treated as ``{}``."""
    try:
        values = load(arguments or "{}")
    except ValueError:
        values = {}
    command = values.get("command")
    words = [command] if isinstance(command, str) else command if isinstance(command, list) else []
    env = values.get("env")
    return {
        "type": "exec",
        "command": [str(word) for word in words],
        "env": {str(key): str(value) for key, value in env.items()} if isinstance(env, dict) else {},
        "timeout_ms": values.get("timeout_ms"),
        "user": values.get("user"),
        "working_directory": values.get("working_directory"),
    }


NAME_MAX: Final = 64
"""Maximum number of characters of a tool name that all providers accept."""

_BETWEEN: Final = "__"
_FOREIGN: Final = re2.compile(r"[^A-Za-z0-9_-]")


class Names:
    """Gives each tool of one request a flat name: a unique name that also stands for the tool's namespace (its group).
    ``taken``: the names of the tools outside of namespaces."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._alone = frozenset(self._taken)
        self._flat: dict[tuple[str, str], str] = {}

    def flat(self, namespace: str, name: str) -> str:
        """Return the flat name of the tool ``name`` in ``namespace``; the same tool always gets the same. If
        ``namespace`` is "", the flat name is ``name`` itself."""
        if not namespace:
            return name
        found = self._flat.get((namespace, name))
        if found is None:
            found = _join_names(namespace, name)
            found = found if found and found not in self._taken else _shorten_with_mark(namespace, name)
            self._taken.add(found)
            self._flat[namespace, name] = found
        return found

    def choose_tool(self, name: str) -> str:
        """Return the flat name of the tool that a client calls ``name``, without its namespace.

        If a tool outside of namespaces has this name, it is that one; else the only tool with this name in any
        namespace. If there is none, or more than one, ``name`` itself is returned.
        """
        found = [flat for (_, own), flat in self._flat.items() if own == name]
        return found[0] if len(found) == 1 and name not in self._alone else name


def _join_names(namespace: str, name: str) -> str:
    """Return namespace and name joined by "__"; "" if providers would not accept the result as a name."""
    joined = namespace + ("" if namespace.endswith(_BETWEEN) else _BETWEEN) + name
    return joined if len(joined) <= NAME_MAX and not _FOREIGN.search(joined) else ""


def _shorten_with_mark(namespace: str, name: str) -> str:
    values = f"{namespace}\0{name}".encode("utf-8", "surrogatepass")
    mark = f"_{blake2b(values, digest_size=4).hexdigest()}"
    plain: str = _FOREIGN.sub("_", f"{namespace}{_BETWEEN}{name}")
    return plain[: NAME_MAX - len(mark)] + mark


def describe_tool(tool: str, namespace: chat.Namespace, *, first: bool) -> str:
    """Return the description to send for a tool of ``namespace``: the tool's own (``tool``), followed by that of the
    namespace if this is the ``first`` tool of the namespace. "" if there is neither."""
    values = [tool] * bool(tool)
    if first and namespace.description:
        values.append(f"About all tools of {namespace.name}: {namespace.description}")
    return "\n\n".join(values)


_INCOMPLETE: Final[Mapping[chat.Finish, str]] = {
    chat.Finish.LENGTH: "max_output_tokens",
    chat.Finish.FILTERED: "content_filter",
}

_CHOICE: Final = {"auto": "auto", "none": "none", "any": "required"}


class Items:
    """Writes the parts of one reply to ``call`` as output items of a response with the id ``response``."""

    def __init__(self, call: chat.ChatCall, response: str) -> None:
        self._tools = {tool.name: tool for tool in call.tools}
        self._response = response

    def form(self, call: chat.ModelToolCall) -> str:
        """Return what the tool that ``call`` names is for the client: "function" (also for an unknown tool), "custom"
        or "local_shell"."""
        tool = self._tools.get(call.name)
        return tool.form if tool is not None else "function"

    def make_item_id(self, part: StreamPart, index: int) -> str:
        """Return the id of ``part`` as the output item number ``index`` (from 0) of the response, such as
        "msg_abc_0"."""
        match part:
            case chat.Text():
                prefix = "msg"
            case chat.Thought():
                prefix = "rs"
            case chat.ModelToolCall():
                prefix = {"custom": "ctc", "local_shell": "lsh"}.get(self.form(part), "fc")
            case _:
                assert_never(part)
        return f"{prefix}_{self._response}_{index}"

    def item(self, part: StreamPart, index: int, status: str) -> dict[str, Any]:
        """Return ``part`` as the output item number ``index`` (from 0) of the response. ``status``: the item's status,
        such as "completed"."""
        item_id = self.make_item_id(part, index)
        match part:
            case chat.Text(text):
                content = [text_part(text)] if text else []
                return {"id": item_id, "type": "message", "status": status, "role": "assistant", "content": content}
            case chat.Thought():
                summary = [summary_part(part.text)] if part.text else []
                seal = HIDDEN * part.hidden + tag_seal(part.seal, part.sealed_by, NAME) or None
                return {"id": item_id, "type": "reasoning", "summary": summary, "encrypted_content": seal}
            case chat.ModelToolCall():
                return {"id": item_id, "status": status, "call_id": call_id(part), **self._call_fields(part)}
            case _:
                assert_never(part)

    def _name_fields(self, call: chat.ModelToolCall) -> dict[str, Any]:
        """Return the fields that name the called tool as the client knows it: its name and, if it has one, its
        namespace."""
        tool = self._tools.get(call.name)
        if tool is None or tool.namespace is None:
            return {"name": call.name}
        return {"name": tool.own, "namespace": tool.namespace.name}

    def _call_fields(self, call: chat.ModelToolCall) -> dict[str, Any]:
        match self.form(call):
            case "custom":
                text = text_of(call.arguments) if call.arguments else ""
                return {"type": "custom_tool_call", **self._name_fields(call), "input": text}
            case "local_shell":
                return {"type": "local_shell_call", "action": action_of(call.arguments)}
            case _:
                return {"type": "function_call", **self._name_fields(call), "arguments": call.arguments}


def text_part(text: str) -> dict[str, Any]:
    """Return ``text`` as a content part of an output message."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def summary_part(text: str) -> dict[str, Any]:
    """Return ``text`` as a part of the summary in an output item of the type "reasoning"."""
    return {"type": "summary_text", "text": text}


def status_of(finish: chat.Finish | None) -> str:
    """Return the status of a response: "in_progress" for ``None``, "incomplete" if the token limit or a content filter
    ended the reply, else "completed"."""
    if finish is None:
        return "in_progress"
    return "incomplete" if finish in _INCOMPLETE else "completed"


def response(
    call: chat.ChatCall,
    *,
    name: str,
    model: str,
    created: int,
    output: Sequence[Mapping[str, Any]] = (),
    finish: chat.Finish | None = None,
    counts: chat.Usage | None = None,
) -> dict[str, Any]:
    """Return a response object, finished or in progress.

    - ``name``: its id. ``created``: seconds since the epoch. ``output``: the items so far.
    - ``finish``: why the reply ended; ``None`` while it is in progress.
    - ``counts``: token counts, ``None`` if unknown.

    The other fields repeat those of the request ``call``, or are constant.
    """
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


def usage(values: chat.Usage) -> dict[str, Any]:
    """Return token counts in the format of OpenAI Responses, in which cached tokens are included in the input
    tokens."""
    return {
        "input_tokens": values.prompt,
        "input_tokens_details": {"cached_tokens": values.cached, "cache_write_tokens": values.written},
        "output_tokens": values.completion,
        "output_tokens_details": {"reasoning_tokens": values.thought},
        "total_tokens": values.prompt + values.completion,
    }


def _tools(tools: Sequence[chat.Tool]) -> list[dict[str, Any]]:
    """Return the tools in the form in which the client sent them; consecutive ones of the same namespace are grouped
    again."""
    listed: list[dict[str, Any]] = []
    for namespace, run in groupby(tools, key=lambda tool: tool.namespace):
        values = [_tool(tool) for tool in run]
        if namespace is not None:
            head = {"type": "namespace", "name": namespace.name, "description": namespace.description}
            values = [{**head, "tools": values}]
        listed += values
    return listed


def _tool(tool: chat.Tool) -> dict[str, Any]:
    name = tool.own or tool.name
    match tool.form:
        case "local_shell":
            return {"type": "local_shell"}
        case "custom":
            values: dict[str, Any] = {"type": "custom", "name": name, "description": tool.description}
        case _:
            values = {"type": "function", "name": name, "description": tool.description or None}
            values |= {"parameters": tool.parameters, "strict": bool(tool.strict)}
    return values if tool.sent is None else values | {"description": None, **tool.sent}


def _choice(choice: chat.ToolChoice | None) -> Any:
    if choice is not None and choice.mode == "named":
        return choice.sent or {"type": "function", "name": choice.name}
    return _CHOICE[choice.mode] if choice is not None else "auto"


def _format(call: chat.ChatCall) -> dict[str, Any]:
    if call.format is None:
        return {"type": "text"}
    if call.format.schema is None:
        return {"type": "json_object"}
    values = {"name": call.format.name, "schema": call.format.schema, "strict": bool(call.format.strict)}
    return {"type": "json_schema", **values}
