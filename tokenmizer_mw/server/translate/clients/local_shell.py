"""The ``local_shell`` tool of the Responses dialect, translated to a function for other dialects."""

from __future__ import annotations

import json
from typing import Any, Final

from tokenmizer_mw.server.translate.chat import Tool
from tokenmizer_mw.server.translate.encoding import load

from .fields import CARRIED, Fields, Table

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
SHELL_TOOL: Final = Tool(
    "local_shell", "Runs a command on the user's machine and gives its output.", _PARAMETERS, form="local_shell"
)
ACTION: Final[Table] = {"type": CARRIED, **dict.fromkeys(_PARAMETERS["properties"], CARRIED)}


def action_arguments(item: Fields) -> str:
    """Return the function arguments of a shell call that the client sends back."""
    action = item.needed_child("action", ACTION)
    told = {name: value for name, value in action.raw.items() if name != "type" and value is not None}
    return json.dumps(told, ensure_ascii=False)


def action_of(arguments: str) -> dict[str, Any]:
    """Return the shell action that a model asks for; missing or invalid members get their defaults."""
    try:
        told = load(arguments or "{}")
    except ValueError:
        told = {}
    command = told.get("command")
    words = [command] if isinstance(command, str) else command if isinstance(command, list) else []
    env = told.get("env")
    return {
        "type": "exec",
        "command": [str(word) for word in words],
        "env": {str(key): str(value) for key, value in env.items()} if isinstance(env, dict) else {},
        "timeout_ms": told.get("timeout_ms"),
        "user": told.get("user"),
        "working_directory": told.get("working_directory"),
    }
