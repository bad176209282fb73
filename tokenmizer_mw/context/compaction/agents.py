"""Agents that compact by a prompt of their own: which requests may hold one, and what is left without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tokenmizer_mw.wire.host_texts import HostTextKind, find_host_texts, remove_host_texts

SIGNS: Final = (
    b"Respond with TEXT ONLY",
    b"create a detailed summary of",
    b"CONTEXT CHECKPOINT COMPACTION",
)
"""What stands in every compaction prompt of Claude Code and of Codex: one of these."""

_PROMPT: Final = frozenset({HostTextKind.COMPACTION_PROMPT})


def may_sum_up(body: bytes) -> bool:
    """Whether a request may be an agent's own compaction. Cheap."""
    return any(body.rfind(sign) >= 0 for sign in SIGNS)


def without_prompt(body: Mapping[str, Any], member: str) -> Mapping[str, Any] | None:
    """A request without the compaction prompt that ends it, but for what the system says behind that; ``None`` where
    none does, or where nothing else is in it. ``member`` names the list of its messages."""
    messages = body.get(member)
    place = _newest(messages) if isinstance(messages, list) else None
    if not isinstance(messages, list) or not place or _role(messages[place]) != "user":
        return None
    left = _remove_prompts(messages[place].get("content"))
    if left is None:
        return None
    ending = [{**messages[place], "content": left}] if left else []
    return {**body, member: [*messages[:place], *ending, *messages[place + 1 :]]}


def summary(block: str) -> str:
    """A whole reply that sums a session up by ``block``, as Claude Code cuts it out; other agents take it as it is."""
    return f"<analysis>\nFrom the session's record, without a model.\n</analysis>\n\n<summary>\n{block}\n</summary>"


def _newest(messages: Sequence[Any]) -> int | None:
    """The place of the newest message that is not the system's."""
    places = reversed(range(len(messages)))
    return next((place for place in places if _role(messages[place]) not in ("system", "developer")), None)


def _role(message: object) -> object:
    return message.get("role") if isinstance(message, dict) else None


def _remove_prompts(content: object) -> Any:
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
    text = block.get("text") if isinstance(block, dict) and block.get("type") in ("text", "input_text") else None
    return text if isinstance(text, str) else ""
