"""OpenAI Chat Completions requests: how each field is handled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .fields import CACHED, CARRIED, READ, REFUSED, Table, left_out, only
from .openai_shared import COMMON

NAME: Final = "openai_chat"

REQUEST: Final[Table] = {
    **COMMON,
    "audio": REFUSED,
    "frequency_penalty": CARRIED,
    "function_call": REFUSED,
    "functions": only([]),
    "logit_bias": only({}),
    "logprobs": only(False),
    "max_completion_tokens": CARRIED,
    "max_tokens": CARRIED,
    "messages": CARRIED,
    "modalities": only(["text"]),
    "n": only(1),
    "prediction": left_out("a guess at the answer that makes it quicker and no other"),
    "presence_penalty": CARRIED,
    "reasoning_effort": CARRIED,
    "response_format": CARRIED,
    "seed": CARRIED,
    "stop": CARRIED,
    "verbosity": CARRIED,
    "web_search_options": REFUSED,
}
STREAM_OPTIONS: Final[Table] = {
    "include_obfuscation": left_out("padding against listeners, which says nothing"),
    "include_usage": CARRIED,
}

_SYSTEM: Final[Table] = {"role": CARRIED, "content": CARRIED, "name": REFUSED}
MESSAGES: Final[Mapping[str, Table]] = {
    "developer": _SYSTEM,
    "system": _SYSTEM,
    "user": _SYSTEM,
    "assistant": {
        **_SYSTEM,
        "annotations": left_out("where the text was found; the text is whole without"),
        "audio": REFUSED,
        "function_call": REFUSED,
        "reasoning": CARRIED,
        "reasoning_content": CARRIED,
        "reasoning_details": CARRIED,
        "parsed": READ,
        "refusal": CARRIED,
        "tool_calls": CARRIED,
    },
    "tool": {"role": CARRIED, "content": CARRIED, "tool_call_id": CARRIED, "name": CARRIED},
}
_PART: Final[Table] = {"type": CARRIED, "prompt_cache_breakpoint": CACHED, "cache_control": CACHED}
PARTS: Final[Mapping[str, Table]] = {
    "text": {**_PART, "text": CARRIED},
    "refusal": {**_PART, "refusal": CARRIED},
    "image_url": {**_PART, "image_url": CARRIED},
    "input_audio": {**_PART, "input_audio": CARRIED},
    "file": {**_PART, "file": CARRIED},
}
IMAGE: Final[Table] = {"url": CARRIED, "detail": CARRIED}
AUDIO: Final[Table] = {"data": CARRIED, "format": CARRIED}
FILE: Final[Table] = {"file_data": CARRIED, "filename": CARRIED, "file_id": REFUSED}

_CALL: Final[Table] = {"type": CARRIED, "id": CARRIED, "index": left_out("its place in a stream")}
CALLS: Final[Mapping[str, Table]] = {
    "function": {**_CALL, "function": CARRIED},
    "custom": {**_CALL, "custom": CARRIED},
}
CALLED: Final[Mapping[str, Table]] = {
    "function": {"name": CARRIED, "arguments": CARRIED, "parsed_arguments": READ},
    "custom": {"name": CARRIED, "input": CARRIED},
}
TOOLS: Final[Mapping[str, Table]] = {
    "function": {"type": CARRIED, "function": CARRIED, "cache_control": CACHED},
    "custom": {"type": CARRIED, "custom": CARRIED, "cache_control": CACHED},
}
FUNCTION: Final[Table] = {"name": CARRIED, "description": CARRIED, "parameters": CARRIED, "strict": CARRIED}
CUSTOM: Final[Table] = {"name": CARRIED, "description": CARRIED, "format": CARRIED}
CUSTOM_FORMATS: Final[Mapping[str, Table]] = {
    "text": {"type": CARRIED},
    "grammar": {"type": CARRIED, "grammar": CARRIED},
}
CHOICES: Final[Mapping[str, Table]] = {
    "function": {"type": CARRIED, "function": CARRIED},
    "custom": {"type": CARRIED, "custom": CARRIED},
}
CHOSEN: Final[Table] = {"name": CARRIED}
FORMATS: Final[Mapping[str, Table]] = {
    "text": {"type": CARRIED},
    "json_object": {"type": CARRIED},
    "json_schema": {"type": CARRIED, "json_schema": CARRIED},
}
_DETAIL: Final[Table] = {
    "type": CARRIED,
    "format": CARRIED,
    "id": left_out("its name for the provider that made it"),
    "index": left_out("its place in a stream"),
}
DETAILS: Final[Mapping[str, Table]] = {
    "reasoning.text": {**_DETAIL, "text": CARRIED, "signature": CARRIED},
    "reasoning.encrypted": {**_DETAIL, "data": CARRIED},
    "reasoning.summary": {**_DETAIL, "summary": CARRIED},
}

WORDS: Final[Mapping[str, str]] = {
    "sampling.max_tokens": "max_completion_tokens",
    "sampling": "",
    "format": "response_format",
    "thinking": "reasoning_effort",
    "choice": "tool_choice",
    "parallel": "parallel_tool_calls",
    "tools": "tools",
    **dict.fromkeys(("system", "assistant", "image", "document", "audio", "call", "result"), "messages"),
}
"""Where a client tells what a provider's side names."""
