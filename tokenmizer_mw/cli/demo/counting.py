"""Counts tokens of requests and messages on the wire, independently of the middleware."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tokenmizer_mw.context.tokens import MessageCounter
from tokenmizer_mw.context.tokens.messages import MESSAGE_TOKENS, TOOL_TOKENS

from .script import ChatMessage, text_of


def request_tokens(request: Mapping[str, Any], counter: MessageCounter) -> int:
    """Return the tokens of a request: messages and tool definitions. Raises ``ValueError`` for malformed messages."""
    tools = counter.text(_compact(request["tools"])) if request.get("tools") else 0
    return tools + sum(message_tokens(message, counter) for message in request["messages"])


def message_tokens(message: ChatMessage, counter: MessageCounter) -> int:
    """Return the tokens of one message with its framing. Raises ``ValueError`` for malformed tool calls."""
    tokens = MESSAGE_TOKENS + counter.text(text_of(message))
    try:
        functions = [call["function"] for call in message.get("tool_calls") or ()]
        tokens += sum(TOOL_TOKENS + counter.text(f["name"]) + counter.text(f["arguments"]) for f in functions)
    except (KeyError, TypeError):
        raise ValueError("Invalid value for 'tool_calls'.") from None
    return tokens + (TOOL_TOKENS if message.get("role") == "tool" else 0)


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
