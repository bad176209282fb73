"""Gemini: POST {base}/models/{model}:generateContent and :streamGenerateContent. Model and stream flag are in the path.

A cut works on ``contents``. With ``cachedContent`` the provider puts a beginning of its own before them, which is the
same in every call and no part of what a client resends: the contents may be cut as usual.
"""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.wire.dialect import ChatRequest, Reply
from tokenmizer_mw.wire.known import KnownRequests
from tokenmizer_mw.wire.request import Shape, cut_edits, read_request
from tokenmizer_mw.wire.spans import Edit
from tokenmizer_mw.wire.text import json_text, storable
from tokenmizer_mw.wire.unread import models

from .base import JsonDialect
from .gemini_message import group, read_message, role_of, roles_of
from .gemini_reply import collect_json, collect_stream

REPLY_CONTINUED: Final = "reply_continued"
"""Why a request stands down that asks for the rest of a reply: it must say what the request before it said."""

_STREAMS: Final = {"generateContent": False, "streamGenerateContent": True}
_BOM: Final = b"\xef\xbb\xbf"

_SHAPE: Final = Shape(
    "gemini",
    role_of,
    roles_of,
    read_message,
    messages="contents",
    overhead=("systemInstruction", "system_instruction", "tools", "toolConfig", "tool_config",
              "generationConfig", "generation_config"),
    elsewhere={"continuationToken": REPLY_CONTINUED, "continuation_token": REPLY_CONTINUED},
    group=group,
    content=("parts",),
    part={},
)  # fmt: skip


class Gemini(JsonDialect):
    """The dialect. Every call names its model in the path; where the path names none, the body may."""

    name = _SHAPE.name
    shape = _SHAPE
    linked = (b'"fileData"', b'"file_data"')

    def models(self, body: bytes, path: str = "") -> tuple[str, ...]:
        """The model that ``path`` names; the models that an unread request may name where it names none."""
        model = _model(path)
        return (model,) if model else models(body)

    def read(self, body: bytes, known: KnownRequests | None = None, *, path: str = "") -> ChatRequest:
        """The request in ``body``, sent to ``path``. Raises ``MalformedRequest`` unless it is a JSON object with a
        list of contents."""
        stream = _STREAMS.get(path.rpartition(":")[2])
        return read_request(_SHAPE, body, known, model=_model(path) or None, stream=stream)

    def cut(self, request: ChatRequest, keep_from: int, block: str, role: str) -> list[Edit]:
        """Return the edits of a cut. The block is always a user content, because a list of contents must begin with
        one.
        """
        return cut_edits(request, keep_from, _block_content(block) if block else "")

    def ends(self, tail: bytes) -> bool:
        """False: a stream has no terminal event. A reason to stop may stand in every chunk, or before the text."""
        return False

    def collect(self, data: bytes, *, stream: bool) -> Reply:
        """The reply in a captured response body. Never raises. What came decides how it is read: a stream is made of
        events or of JSON, as the query asked, and its errors are JSON."""
        start = data.removeprefix(_BOM).lstrip()
        return collect_json(data) if start.startswith((b"{", b"[")) else collect_stream(data)


def _model(path: str) -> str:
    """What stands before the method in a path, without the collection it is of; "" when there is no method."""
    target, _, method = path.rpartition(":")
    return storable(target.rpartition("/")[2]) if method in _STREAMS else ""


def _block_content(block: str) -> str:
    return json_text({"role": "user", "parts": [{"text": storable(block)}]})
