"""Message parts that OpenAI and Cohere serialise in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tokenmizer_mw.server.translate.chat import Attachment, ChatTurn, ModelToolCall, ModelToolResult, Part, Text

from .asking import CallIds, join_texts, present, result_text

Writer = Callable[[Attachment], dict[str, Any]]
"""How an attachment is written as a part of a content."""


def calls_in(said: ChatTurn, ids: CallIds) -> list[dict[str, Any]]:
    """Return the tool calls of an assistant turn."""
    calls = [part for part in said.parts if isinstance(part, ModelToolCall)]
    return [
        {
            "id": ids.fit(call.id),
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments or "{}"},
        }
        for call in calls
    ]


def user_messages(said: ChatTurn, ids: CallIds, attached: Mapping[str, Writer]) -> Iterator[dict[str, Any]]:
    """Yield the messages of a user turn.

    Each tool result is a text message of its own; one user message follows, with the results' attachments before the
    user's own content.
    """
    results = [part for part in said.parts if isinstance(part, ModelToolResult)]
    for result in results:
        yield {"role": "tool", "tool_call_id": ids.fit(result.call_id), "content": result_text(result)}
    spoken: list[Part] = [part for result in results for part in result.parts if isinstance(part, Attachment)]
    spoken += [part for part in said.parts if not isinstance(part, ModelToolResult)]
    if spoken or not results:
        yield {"role": "user", "content": _content(spoken, attached)}


def image(part: Attachment) -> dict[str, Any]:
    """Return an image part, as a link or a data URL."""
    url = part.url or f"data:{part.media_type};base64,{part.data}"
    return {"type": "image_url", "image_url": {"url": url, **present(detail=part.detail)}}


def _content(parts: Sequence[Part], attached: Mapping[str, Writer]) -> str | list[dict[str, Any]]:
    """Text alone as a text, which every server takes."""
    content: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Text):
            content.append({"type": "text", "text": part.text})
        elif isinstance(part, Attachment):
            content.append(attached[part.kind](part))
    return content if any(isinstance(part, Attachment) for part in parts) else join_texts(parts)
