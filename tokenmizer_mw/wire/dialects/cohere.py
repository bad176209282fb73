"""Cohere Chat, version 2: POST {base}/v2/chat. Messages are spelled nearly as OpenAI spells them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.wire.dialect import ChatRequest, Reply
from tokenmizer_mw.wire.request import Shape, cut_edits, text_of
from tokenmizer_mw.wire.spans import Edit
from tokenmizer_mw.wire.text import json_text, storable

from . import openai_message
from .base import JsonDialect
from .cohere_reply import collect
from .openai_message import role_of, roles_of

_TERMINAL: Final = (b'"message-end"', b"event: message-end", b"event:message-end")


def read_message(raw: object, _: int = 1) -> Message:
    """A message object as a message. Never raises.

    The plan that comes with tool calls is thinking: Cohere describes it as a chain of thought, and a client that
    leaves it out when it sends the message back has sent the same message. What a tool returned as documents is
    text, since that is what the model reads of them.
    """
    if not isinstance(raw, dict):
        return openai_message.read_message(raw)
    content = raw.get("content")
    if isinstance(content, dict):
        raw = {**raw, "content": [content]}
    elif isinstance(content, list) and raw.get("role") == "tool":
        raw = {**raw, "content": [_readable(part) for part in content]}
    message = openai_message.read_message(raw)
    plan = text_of(raw, "tool_plan") if message.role is Role.ASSISTANT else ""
    return replace(message, thinking="\n".join(filter(None, (message.thinking, plan)))) if plan else message


_SHAPE: Final = Shape("cohere", role_of, roles_of, read_message, overhead=("tools", "documents", "response_format"))


class Cohere(JsonDialect):
    """The dialect. What it reads, it reads leniently; what it rewrites, it rewrites to the byte."""

    name = _SHAPE.name
    shape = _SHAPE
    linked = (b'"image_url"',)

    def cut(self, request: ChatRequest, keep_from: int, block: str, role: str) -> list[Edit]:
        """Return the edits of a cut. A block of the role "developer" gets the role "system", because Cohere has no
        other.
        """
        return cut_edits(request, keep_from, _block_message(role, block) if block else "")

    def ends(self, tail: bytes) -> bool:
        """Whether the event that ends a stream begins in ``tail``."""
        if tail.rfind(b"message-end") < 0:  # per chunk of every stream; faster than "in" and than from the start
            return False
        return any(mark in tail for mark in _TERMINAL)

    def collect(self, data: bytes, *, stream: bool) -> Reply:
        """The reply in a captured response body, whatever was asked for: what came decides. Never raises."""
        return collect(data)


def _readable(part: object) -> object:
    """A part of a tool's result; a document as a part with the text of its data."""
    document = part.get("document") if isinstance(part, dict) and part.get("type") == "document" else None
    if document is None:
        return part
    return {"type": "text", "text": _document_text(document)}


def _document_text(document: Any) -> str:
    """The text of a document's data: as it is, or an object as compact JSON."""
    data = document.get("data") if isinstance(document, dict) else document
    if data is None:
        return ""
    return data if isinstance(data, str) else json_text(data)


def _block_message(role: str, block: str) -> str:
    return json_text({"role": "system" if role == "developer" else role, "content": storable(block)})
