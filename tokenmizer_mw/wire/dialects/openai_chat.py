"""OpenAI Chat Completions: POST {base}/chat/completions. Also what DeepSeek, Mistral, OpenRouter and Grok speak."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.model.message import Message
from tokenmizer_mw.wire.context_edits import removing_edit
from tokenmizer_mw.wire.dialect import ChatRequest, Reply
from tokenmizer_mw.wire.markers import Marker, lost_marker
from tokenmizer_mw.wire.request import HISTORY_ON_SERVER, PROVIDER_COMPACTS, Shape, cut_edits
from tokenmizer_mw.wire.spans import Edit
from tokenmizer_mw.wire.sse import events_in
from tokenmizer_mw.wire.text import json_text, storable

from .base import JsonDialect
from .openai_message import read_message, role_of, roles_of
from .openai_reply import collect_body, collect_events

_MARKS: Final = ("cache_control", "prompt_cache_breakpoint")
_TERMINAL: Final = (b"data: [DONE]", b"data:[DONE]")


def _read_message(raw: object, _: int) -> Message:
    return read_message(raw)


_SHAPE: Final = Shape(
    "openai_chat",
    role_of,
    roles_of,
    _read_message,
    overhead=("tools", "functions", "response_format"),
    elsewhere={
        "previous_response_id": HISTORY_ON_SERVER,
        "conversation": HISTORY_ON_SERVER,
        "context_management": PROVIDER_COMPACTS,
    },
    causes={"context_management": removing_edit},
)


class OpenAIChat(JsonDialect):
    """The dialect. What it reads, it reads leniently; what it rewrites, it rewrites to the byte."""

    name = _SHAPE.name
    shape = _SHAPE
    linked = (b'"image_url"', b'"file_id"')

    def cut(self, request: ChatRequest, keep_from: int, block: str, role: str) -> list[Edit]:
        """Return the edits of a cut. Prompt cache markers of removed messages move to the end of the block."""
        marker = lost_marker(request, keep_from, _MARKS) if block else {}
        return cut_edits(request, keep_from, _block_message(role, block, marker) if block else "")

    def ends(self, tail: bytes) -> bool:
        """Whether a line of ``tail`` starts with the event that ends a stream.

        With the last 12 bytes of the chunk before in front, a marker torn apart is found too.
        """
        if tail.rfind(b"[DONE]") < 0:  # per chunk of every stream; faster than "in" and than from the start
            return False
        return any(tail.startswith(mark) or b"\n" + mark in tail or b"\r" + mark in tail for mark in _TERMINAL)

    def collect(self, data: bytes, *, stream: bool) -> Reply:
        """The reply in a captured response body. Never raises."""
        events = events_in(data, stream=stream)
        return collect_body(data) if events is None else collect_events(events)


def _block_message(role: str, block: str, marker: Marker) -> str:
    """The message that carries the block; a marker needs a part to stand on."""
    text = storable(block)
    return json_text({"role": role, "content": [{"type": "text", "text": text, **marker}] if marker else text})
