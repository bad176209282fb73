"""Anthropic Messages requests: how each field is handled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .fields import CACHED, CARRIED, READ, REFUSED, Table, left_out, only

NAME: Final = "anthropic"

REQUEST: Final[Table] = {
    "cache_control": CACHED,
    "container": REFUSED,
    "context_management": only({"edits": []}, {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}),
    "diagnostics": left_out("asks the provider about its cache"),
    "inference_geo": REFUSED,
    "max_tokens": CARRIED,
    "mcp_servers": only([]),
    "messages": CARRIED,
    "metadata": CARRIED,
    "model": CARRIED,
    "output_config": CARRIED,
    "service_tier": only("auto", "standard_only"),
    "speed": only("standard"),
    "stop_sequences": CARRIED,
    "stream": CARRIED,
    "system": CARRIED,
    "temperature": CARRIED,
    "thinking": CARRIED,
    "tool_choice": CARRIED,
    "tools": CARRIED,
    "top_k": CARRIED,
    "top_p": CARRIED,
    "user_profile_id": REFUSED,
    "workspace_id": REFUSED,
}
METADATA: Final[Table] = {"user_id": CARRIED}
OUTPUT: Final[Table] = {"effort": CARRIED, "format": CARRIED}
FORMATS: Final[Mapping[str, Table]] = {"json_schema": {"type": CARRIED, "schema": CARRIED}}

_MESSAGE: Final[Table] = {"role": CARRIED, "content": CARRIED}
MESSAGES: Final[Mapping[str, Table]] = dict.fromkeys(("user", "assistant", "system"), _MESSAGE)

_BLOCK: Final[Table] = {"type": CARRIED, "cache_control": CACHED}
_TEXT: Final[Table] = {
    **_BLOCK,
    "text": CARRIED,
    "parsed_output": READ,
    "citations": left_out("where the text was found; the text is whole without"),
}
TEXTS: Final[Mapping[str, Table]] = {"text": _TEXT}
SHOWN: Final[Mapping[str, Table]] = {
    "text": _TEXT,
    "image": {**_BLOCK, "source": CARRIED, "transformations": REFUSED},
    "document": {
        **_BLOCK,
        "source": CARRIED,
        "title": CARRIED,
        "context": only(""),
        "citations": only({"enabled": False}),
    },
}
BLOCKS: Final[Mapping[str, Mapping[str, Table]]] = {
    "system": TEXTS,
    "user": {
        **SHOWN,
        "tool_result": {
            **_BLOCK,
            "tool_use_id": CARRIED,
            "content": CARRIED,
            "is_error": CARRIED,
            "toolset_name": REFUSED,
        },
    },
    "assistant": {
        **TEXTS,
        "thinking": {**_BLOCK, "thinking": CARRIED, "signature": CARRIED},
        "redacted_thinking": {**_BLOCK, "data": CARRIED},
        "tool_use": {
            **_BLOCK,
            "id": CARRIED,
            "name": CARRIED,
            "input": CARRIED,
            "caller": only({"type": "direct"}),
            "toolset_name": REFUSED,
        },
    },
}
SOURCES: Final[Mapping[str, Table]] = {
    "base64": {"type": CARRIED, "media_type": CARRIED, "data": CARRIED},
    "text": {"type": CARRIED, "media_type": CARRIED, "data": CARRIED},
    "url": {"type": CARRIED, "url": CARRIED},
}
_TOOL: Final[Table] = {
    "type": CARRIED,
    "name": CARRIED,
    "description": CARRIED,
    "input_schema": CARRIED,
    "strict": CARRIED,
    "cache_control": CACHED,
    "allowed_callers": only(["direct"]),
    "defer_loading": only(False),
    "eager_input_streaming": left_out("asks for arguments a little earlier"),
    "input_examples": only([]),
}
TOOLS: Final[Mapping[str, Table]] = {"custom": _TOOL}
_CHOICE: Final[Table] = {"type": CARRIED, "disable_parallel_tool_use": CARRIED}
CHOICES: Final[Mapping[str, Table]] = {
    "auto": _CHOICE,
    "any": _CHOICE,
    "tool": {**_CHOICE, "name": CARRIED},
    "none": {"type": CARRIED},
}
THINKING: Final[Mapping[str, Table]] = {
    "enabled": {"type": CARRIED, "budget_tokens": CARRIED, "display": CARRIED},
    "adaptive": {"type": CARRIED, "display": CARRIED},
    "disabled": {"type": CARRIED},
}

WORDS: Final[Mapping[str, str]] = {
    "sampling.stop": "stop_sequences",
    "sampling": "",
    "format": "output_config.format",
    "thinking.effort": "output_config.effort",
    "thinking": "thinking",
    "choice": "tool_choice",
    "parallel": "tool_choice.disable_parallel_tool_use",
    "tools": "tools",
    "system": "system",
    **dict.fromkeys(("assistant", "image", "document", "audio", "call", "result"), "messages"),
}
"""Where a client tells what a provider's side names."""
