"""Anthropic Messages: POST {base}/v1/messages. Also what DeepSeek and others speak beside their own dialect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import re2

from tokenmizer_mw.model.message import Message
from tokenmizer_mw.wire.context_edits import removing_edit
from tokenmizer_mw.wire.dialect import ChatRequest, Reply
from tokenmizer_mw.wire.request import (
    HISTORY_ON_SERVER,
    PROVIDER_COMPACTS,
    TOOLS_CHANGE,
    Shape,
    text_of,
)
from tokenmizer_mw.wire.spans import Edit
from tokenmizer_mw.wire.sse import events_in

from .anthropic_cut import cut_edits
from .anthropic_message import COMPACTION, THINKING, TOOL_CHANGES, kind_of, read_message, role_of, roles_of
from .anthropic_reply import collect_body, collect_events
from .base import JsonDialect

_TERMINAL: Final = b"message_stop"
_IN_DATA: Final = b'"message_stop"'
_LINES: Final = (b"event: message_stop", b"event:message_stop")

_VERSION = re2.compile(r"claude(?:-[a-z]+)*-(\d{1,2})(?:[-.](\d{1,2}))?(?:\D|$)")
_BINDS_FROM: Final = (5, 1)
"""The version of the Claude models from which thinking is bound to the conversation before it."""


def _read_message(raw: object, _: int) -> Message:
    return read_message(raw)


def _refuses(sent: Sequence[Any]) -> str:
    """Why these messages must stay: the provider compacted what was before them, or they change the tools."""
    kinds = {kind for raw in sent for kind in _kinds(raw)}
    if COMPACTION in kinds:
        return PROVIDER_COMPACTS
    return "" if kinds.isdisjoint(TOOL_CHANGES) else TOOLS_CHANGE


def _kinds(raw: object) -> list[str]:
    content = raw.get("content") if isinstance(raw, dict) else None
    return [kind_of(block) for block in content] if isinstance(content, list) else []


def _count_bound(sent: Sequence[Any], fields: Mapping[str, Any]) -> int:
    """How many messages at the start reach up to the last one with thinking, where the model checks that what stands
    before it has not changed; 0 where it does not, or leaves out what fails."""
    if not _binds(text_of(fields, "model")) or _drops_what_fails(fields):
        return 0
    places = (place for place in reversed(range(len(sent))) if not THINKING.isdisjoint(_kinds(sent[place])))
    return next(places, -1) + 1


def _binds_reply(fields: Mapping[str, Any]) -> bool:
    """Whether the reply may bring thinking that is bound to what stands before it."""
    thinking = fields.get("thinking")
    if not isinstance(thinking, dict) or thinking.get("type") == "disabled":
        return False
    return _binds(text_of(fields, "model")) and not _drops_what_fails(fields)


def _binds(model: str) -> bool:
    """Whether a model binds thinking; one of Claude's that does not tell its version may."""
    found = _VERSION.search(model.lower())
    if found is None:
        return "claude" in model.lower()
    return (int(found.group(1)), int(found.group(2) or 0)) >= _BINDS_FROM


def _drops_what_fails(fields: Mapping[str, Any]) -> bool:
    thinking = fields.get("thinking")
    binding = thinking.get("block_binding") if isinstance(thinking, dict) else None
    return isinstance(binding, dict) and binding.get("prefix_mismatch_behavior") == "drop_block"


_SHAPE: Final = Shape(
    "anthropic",
    role_of,
    roles_of,
    _read_message,
    overhead=("system", "tools", "output_config"),
    elsewhere={
        "thread": HISTORY_ON_SERVER,
        "context_management": PROVIDER_COMPACTS,
        "compaction": PROVIDER_COMPACTS,
    },
    causes={"context_management": removing_edit},
    refuses=_refuses,
    bound=_count_bound,
    binds=_binds_reply,
)


@dataclass(frozen=True, slots=True)
class Anthropic(JsonDialect):
    """The dialect of Anthropic Messages. Parses leniently, and rewrites without changing any other byte.

    ``mark_block``: put a prompt cache marker at the end of the resume block, if the request has room for one.
    """

    mark_block: bool = False

    name = _SHAPE.name
    shape = _SHAPE
    linked = (b'"url"', b'"file_id"')

    def cut(self, request: ChatRequest, keep_from: int, block: str, role: str) -> list[Edit]:
        """Return the edits of a cut. Whatever ``role`` is, the block is added to the system prompt after the client's
        own, and after the texts of removed system messages; if the first kept message is the assistant's, it is a user
        message before it.
        """
        return cut_edits(request, keep_from, block, mark_block=self.mark_block)

    def ends(self, tail: bytes) -> bool:
        """Whether ``tail`` names the event that ends a stream: in its data, or in a line of its own."""
        if tail.rfind(_TERMINAL) < 0:  # per chunk of every stream; faster than "in" and than from the start
            return False
        if _IN_DATA in tail:
            return True
        return any(tail.startswith(mark) or b"\n" + mark in tail or b"\r" + mark in tail for mark in _LINES)

    def collect(self, data: bytes, *, stream: bool) -> Reply:
        """The reply in a captured response body. Never raises."""
        events = events_in(data, stream=stream)
        return collect_body(data) if events is None else collect_events(events)
