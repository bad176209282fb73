"""OpenAI Responses: POST {base}/responses. Also what OpenRouter and others speak under the same name."""

from __future__ import annotations

import json
from typing import Final

from tokenmizer_mw.wire.context_edits import removing_edit
from tokenmizer_mw.wire.dialect import ChatRequest, Reply
from tokenmizer_mw.wire.request import HISTORY_ON_SERVER, PROVIDER_COMPACTS, Shape, cut_edits
from tokenmizer_mw.wire.spans import Edit
from tokenmizer_mw.wire.sse import events_in
from tokenmizer_mw.wire.text import storable

from .base import JsonDialect
from .openai_responses_item import group, read_message, refuses, role_of, roles_of
from .openai_responses_reply import TERMINAL, collect_body, collect_events

_SHAPE: Final = Shape(
    "openai_responses",
    role_of,
    roles_of,
    read_message,
    messages="input",
    overhead=("instructions", "tools", "text"),
    elsewhere={
        "previous_response_id": HISTORY_ON_SERVER,
        "conversation": HISTORY_ON_SERVER,
        "context_management": PROVIDER_COMPACTS,
    },
    causes={"context_management": removing_edit},
    group=group,
    alone=lambda text: {"role": "user", "content": text},
    refuses=refuses,
    part={"type": "input_text"},
)

_MARKS: Final = (b'"type":"error"', b'"type": "error"', *(b'"%s"' % name.encode() for name in TERMINAL))
"""What the last event of a stream has in its data. In the text of a reply, quotes are escaped."""

_LINES: Final = tuple(form % name.encode() for name in (*TERMINAL, "error") for form in (b"event: %s", b"event:%s"))


class OpenAIResponses(JsonDialect):
    """The dialect. A list of items is rewritten to the byte; a text in its place is read and never rewritten.

    With ``previous_response_id`` or ``conversation`` the provider has the history and a request brings only what is
    new: the session accumulates.
    """

    name = _SHAPE.name
    shape = _SHAPE
    linked = (b'"image_url"', b'"file_id"', b'"file_url"', b'"image_generation_call"')

    def cut(self, request: ChatRequest, keep_from: int, block: str, role: str) -> list[Edit]:
        """The edits of a cut. Raises ``ValueError`` also when the input is no list."""
        if not request.text.startswith("[", request.array):
            raise ValueError("an input that is one text has nothing to cut")
        return cut_edits(request, keep_from, _block_item(role, block) if block else "")

    def ends(self, tail: bytes) -> bool:
        """Whether ``tail`` names an event that ends a stream. The whole response may stand behind the name."""
        if tail.rfind(b"omplete") < 0 and tail.rfind(b"failed") < 0 and tail.rfind(b"error") < 0:
            return False  # per chunk of every stream: faster than a pattern, and than looking from the start
        if any(mark in tail for mark in _MARKS):
            return True
        return any(tail.startswith(line) or b"\n" + line in tail or b"\r" + line in tail for line in _LINES)

    def collect(self, data: bytes, *, stream: bool) -> Reply:
        """The reply in a captured response body. Never raises."""
        events = events_in(data, stream=stream)
        return collect_body(data) if events is None else collect_events(events)


def _block_item(role: str, block: str) -> str:
    return json.dumps({"role": role, "content": storable(block)}, ensure_ascii=False, separators=(",", ":"))
