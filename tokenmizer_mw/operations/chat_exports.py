"""Parser of chat exports: ChatGPT's and Claude's ``conversations.json``.

ChatGPT writes a tree of messages for each conversation and names the newest one: the path to it is the conversation;
edits and regenerated replies are beside it. Claude writes a list. Messages of neither the user nor the model (system
messages, hidden ones, calls of the site's tools) are dropped. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tokenmizer_mw.model.message import Message, Role

_CHATGPT_ROLES: Final = {"user": Role.USER, "assistant": Role.ASSISTANT}
_CLAUDE_ROLES: Final = {"human": Role.USER, "assistant": Role.ASSISTANT}


def is_chat_export(value: object) -> bool:
    """Return whether ``value``, parsed JSON, is such a conversation or a list that begins with one."""
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        return False
    return isinstance(first.get("mapping"), dict) or isinstance(first.get("chat_messages"), list)


def read_chat_export(value: object) -> Iterator[tuple[str, list[Message]]]:
    """Return id and messages of each non-empty conversation in ``value``."""
    for number, one in enumerate(value if isinstance(value, list) else [value], 1):
        if not is_chat_export(one):
            continue
        told = _chatgpt(one) if isinstance(one.get("mapping"), dict) else _claude(one["chat_messages"])
        messages = [message for message in told if message.text.strip()]
        name = next((one[key] for key in ("conversation_id", "id", "uuid") if isinstance(one.get(key), str)), "")
        if messages:
            yield name or f"conversation-{number}", messages


def _chatgpt(conversation: dict[str, Any]) -> list[Message]:
    nodes, place = conversation["mapping"], conversation.get("current_node")
    if not isinstance(place, str) or place not in nodes:
        place = next((name for name, node in reversed(nodes.items()) if isinstance(node, dict)), None)
    found: list[Message] = []
    seen: set[str] = set()
    while isinstance(place, str) and place not in seen and isinstance(node := nodes.get(place), dict):
        seen.add(place)
        message = _chatgpt_message(node.get("message"))
        found += [message] if message is not None else []
        place = node.get("parent")
    return found[::-1]


def _chatgpt_message(message: object) -> Message | None:
    if not isinstance(message, dict):
        return None
    author, content, about = (message.get(name) for name in ("author", "content", "metadata"))
    hidden = isinstance(about, dict) and about.get("is_visually_hidden_from_conversation") is True
    role = _CHATGPT_ROLES.get(str(author.get("role"))) if isinstance(author, dict) else None
    to_tool = message.get("recipient") not in (None, "all")
    if role is None or hidden or to_tool or not isinstance(content, dict):
        return None
    parts = content.get("parts")
    texts = [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else []
    return Message(role, "\n\n".join(texts))


def _claude(messages: list[Any]) -> Iterator[Message]:
    for message in messages:
        role = _CLAUDE_ROLES.get(str(message.get("sender"))) if isinstance(message, dict) else None
        if role is not None:
            yield Message(role, _claude_text(message))


def _claude_text(message: dict[str, Any]) -> str:
    blocks = message.get("content")
    texts = [
        block["text"]
        for block in (blocks if isinstance(blocks, list) else [])
        if isinstance(block, dict) and block.get("type", "text") == "text" and isinstance(block.get("text"), str)
    ]
    text = message.get("text")
    return "\n\n".join(texts) if texts else text if isinstance(text, str) else ""
