"""Agents that compact by a prompt of their own: the request without that prompt, and the answer that they expect."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tokenmizer_mw.wire.host_texts import HostTextKind, find_host_texts, remove_host_texts

SIGNS: Final = (b"Respond with TEXT ONLY", b"create a detailed summary of")
"""What stands in every compaction prompt of Claude Code: one of these."""

_PROMPT: Final = frozenset({HostTextKind.COMPACTION_PROMPT})
_NONE: Final = {"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}


def without_prompt(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """An Anthropic request without the compaction prompt that ends it; ``None`` where none does, or where nothing else
    is in it."""
    messages = body.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else None
    if not isinstance(messages, list) or not isinstance(last, dict) or last.get("role") != "user":
        return None
    left = _left(last.get("content"))
    if left is None or len(messages) < 2:
        return None
    ending = [{**last, "content": left}] if left else []
    return {**body, "messages": [*messages[:-1], *ending]}


def _left(content: object) -> Any:
    """A content without the prompt; ``None`` where there is none in it."""
    if isinstance(content, str):
        return remove_host_texts(content, _PROMPT) if _prompts(content) else None
    if not isinstance(content, list) or not any(_prompts(_text(block)) for block in content):
        return None
    return _without(content)


def _without(blocks: Sequence[Any]) -> list[Any]:
    kept = []
    for block in blocks:
        if not _prompts(text := _text(block)):
            kept.append(block)
        elif rest := remove_host_texts(text, _PROMPT):
            kept.append({**block, "text": rest})
    return kept


def _prompts(text: str) -> bool:
    return bool(text) and any(span.row.kind in _PROMPT for span in find_host_texts(text))


def _text(block: object) -> str:
    text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else None
    return text if isinstance(text, str) else ""


def answer(model: str, text: str) -> dict[str, Any]:
    """A reply that sums the session up by ``text``, as the agent cuts it out."""
    told = f"<analysis>\nFrom the session's record, without a model.\n</analysis>\n\n<summary>\n{text}\n</summary>"
    name = hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:24]
    message = {"id": f"msg_{name}", "type": "message", "role": "assistant", "model": model}
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    return {**message, "content": [{"type": "text", "text": told}], **ended, "usage": dict(_NONE)}
