"""OpenAI Responses requests: how each field is handled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .openai_shared import COMMON, GRAMMAR, JSON_SCHEMA
from .request_parts import CACHED, CARRIED, READ, REFUSED, Table, carried, left_out, only

NAME: Final = "openai_responses"
HIDDEN: Final = "hidden:"
"""Stands before the seal of a thought that its provider does not show, since an item cannot tell it otherwise."""

REQUEST: Final[Table] = {
    **COMMON,
    "access_programs": REFUSED,
    "background": only(False),
    "background_options": REFUSED,
    "context_management": only([]),
    "client_metadata": left_out("what Codex tells its own provider of its turns"),
    "conversation": REFUSED,
    "image": only({}, {"context_compression": "auto"}),
    **carried("include", "input", "instructions", "max_output_tokens"),
    "max_tool_calls": left_out("counts calls of tools that the provider runs, of which there are none"),
    "previous_response_id": REFUSED,
    "prompt": REFUSED,
    **carried("reasoning", "text"),
    "truncation": only("disabled"),
}
STREAM_OPTIONS: Final[Table] = {"include_obfuscation": left_out("padding against listeners, which says nothing")}
REASONING: Final[Table] = {
    **carried("effort", "summary", "generate_summary"),
    "context": only("auto"),
    "mode": only("standard"),
}
TEXT: Final[Table] = carried("format", "verbosity")
FORMATS: Final[Mapping[str, Table]] = {
    "text": carried("type"),
    "json_object": carried("type"),
    "json_schema": {"type": CARRIED, **JSON_SCHEMA},
}
INCLUDED: Final[Table] = {
    "reasoning.encrypted_content": left_out("signatures are always sent"),
    **dict.fromkeys(
        (
            "code_interpreter_call.outputs",
            "computer_call_output.output.image_url",
            "file_search_call.results",
            "message.input_image.image_url",
            "web_search_call.action.sources",
            "web_search_call.results",
        ),
        left_out("of tools that the provider runs, or of what the client sent itself"),
    ),
}
"""What may be asked for besides; anything else is refused."""

_OWN: Final = left_out("the name or the state of what the provider keeps")
_ITEM: Final[Table] = {
    "type": CARRIED,
    "id": _OWN,
    "status": _OWN,
    "internal_chat_message_metadata_passthrough": left_out("what Codex tells its own provider of its items"),
}
_CALLER: Final = only({"type": "direct"})
_CALL: Final[Table] = {
    **_ITEM,
    **carried("call_id", "name"),
    "caller": _CALLER,
    "namespace": CARRIED,
    "async": only(False),
    "async_": only(False),
}
_OUTPUT: Final[Table] = {**_ITEM, "call_id": CARRIED, "output": CARRIED, "caller": _CALLER}
ITEMS: Final[Mapping[str, Table]] = {
    "message": {
        **_ITEM,
        **carried("role", "content"),
        "phase": left_out("a hint of the provider to its own models"),
    },
    "function_call": {**_CALL, "arguments": CARRIED, "parsed_arguments": READ},
    "function_call_output": {**_OUTPUT, "name": CARRIED, "namespace": CARRIED},
    "custom_tool_call": {**_CALL, "input": CARRIED},
    "custom_tool_call_output": _OUTPUT,
    "local_shell_call": {**_ITEM, "call_id": CARRIED, "action": CARRIED},
    "local_shell_call_output": {**_OUTPUT, "id": CARRIED},
    "reasoning": {**_ITEM, "summary": CARRIED, "content": CARRIED, "encrypted_content": CARRIED},
}
ROLES: Final[Mapping[str, Table]] = dict.fromkeys(("user", "assistant", "system", "developer"), ITEMS["message"])
_PART: Final[Table] = {"type": CARRIED, "prompt_cache_breakpoint": CACHED}
PARTS: Final[Mapping[str, Table]] = {
    "input_text": {**_PART, "text": CARRIED},
    "input_image": {**_PART, "image_url": CARRIED, "detail": CARRIED, "file_id": REFUSED},
    "input_file": {
        **_PART,
        **carried("file_data", "file_url", "filename"),
        "file_id": REFUSED,
        "detail": CARRIED,
    },
    "output_text": {
        **_PART,
        "text": CARRIED,
        "parsed": READ,
        "annotations": left_out("where the text was found; the text is whole without"),
        "logprobs": left_out("how likely the text was; the text is whole without"),
    },
    "refusal": {**_PART, "refusal": CARRIED},
}
SUMMARIES: Final[Mapping[str, Table]] = {"summary_text": carried("type", "text")}
THOUGHTS: Final[Mapping[str, Table]] = {"reasoning_text": carried("type", "text")}

TOOLS: Final[Mapping[str, Table]] = {
    "function": {
        **carried("type", "name", "description", "parameters", "strict"),
        "allowed_callers": only(["direct"]),
        "async": only(False),
        "defer_loading": only(False),
        "output_schema": left_out("tells the provider's own programs what comes back"),
    },
    "custom": {
        **carried("type", "name", "description", "format"),
        "allowed_callers": only(["direct"]),
        "async": only(False),
        "defer_loading": only(False),
    },
    "local_shell": carried("type"),
    "namespace": carried("type", "name", "description", "tools"),
}
GROUPED: Final[Mapping[str, Table]] = {kind: TOOLS[kind] for kind in ("function", "custom")}
"""What may be in a namespace."""

CUSTOM_FORMATS: Final[Mapping[str, Table]] = {"text": carried("type"), "grammar": {"type": CARRIED, **GRAMMAR}}
CHOICES: Final[Mapping[str, Table]] = {kind: carried("type", "name") for kind in ("function", "custom")}

WORDS: Final[Mapping[str, str]] = {
    "sampling.max_tokens": "max_output_tokens",
    "sampling": "",
    "format": "text.format",
    "thinking": "reasoning",
    "choice": "tool_choice",
    "parallel": "parallel_tool_calls",
    "tools": "tools",
    **dict.fromkeys(("system", "assistant", "image", "document", "audio", "call", "result"), "input"),
}
"""Where a client tells what a provider's side names."""
