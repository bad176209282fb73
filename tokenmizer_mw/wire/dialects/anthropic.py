"""Anthropic Messages: POST {base}/v1/messages. Also what DeepSeek and others speak beside their own dialect.

A cut removes messages and adds the resume block to the system prompt. The block follows the client's own system prompt,
because a conversation must begin with a user message. If the first kept message is the assistant's, the block is a user
message before it. Removed system messages also go to the system prompt, since Anthropic accepts them only between a
user's and an assistant's message. Prompt cache markers of removed messages move to the end of the block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import re2

from tokenmizer_mw.model.message import Role
from tokenmizer_mw.wire.dialect import (
    ChatRequest,
    Marker,
    Reply,
    lost_marker,
    marker,
    markers,
    message_markers,
    removing_edit,
)
from tokenmizer_mw.wire.dialects.anthropic_message import (
    COMPACTION,
    THINKING,
    TOOL_CHANGES,
    collect_body,
    collect_events,
    kind_of,
    read_message,
    role_of,
    roles_of,
)
from tokenmizer_mw.wire.json_text import Edit, json_text, storable
from tokenmizer_mw.wire.request import HISTORY_ON_SERVER, PROVIDER_COMPACTS, TOOLS_CHANGE, JsonDialect, Shape, text_of
from tokenmizer_mw.wire.spans import element_spans, read_object, replace_elements, value_start
from tokenmizer_mw.wire.sse import events_in

MARKERS_MAX: Final = 4
"""Most prompt cache markers that a request may have."""

_MARKS: Final = ("cache_control",)
_SYSTEM_FIELD: Final = "system"
_OWN_MARKER: Final[Marker] = {"cache_control": {"type": "ephemeral"}}


def cut_edits(request: ChatRequest, keep_from: int, block: str, *, mark_block: bool) -> list[Edit]:
    """Return the edits that remove the messages from ``request.prefix`` up to but not including ``keep_from``, and
    append the texts of the system messages among them, and then ``block`` ("" for none), to the client's system prompt.

    If the first kept message is the assistant's, ``block`` is a user message before it instead. Messages of unknown
    roles are not removed, and neither are those that the client application sends beside the chat. ``mark_block``: see
    ``Anthropic``.

    Raises ``ValueError`` unless ``keep_from`` is between ``request.prefix`` and the number of messages.
    """
    spans, sent = request.spans, request.messages.sent
    staying = [(index, role_of(sent[index]) is Role.SYSTEM) for index in request.staying(keep_from)]
    others = [request.text[slice(*spans[index])] for index, is_system in staying if not is_system]
    new = [text for index, is_system in staying if is_system for text in _system_blocks(request, index, keep_from)]
    if block:
        part = {"type": "text", "text": storable(block), **_mark(request, keep_from, mark_block)}
        if _begins_with_assistant(request, keep_from):
            others.append(json_text({"role": "user", "content": [part]}))
        else:
            new.append(json_text(part))
    edits = replace_elements(spans, request.prefix, keep_from, ",".join(others), close=request.array + 1)
    return edits + _system_edits(request, new)


def _begins_with_assistant(request: ChatRequest, keep_from: int) -> bool:
    return keep_from < len(request.messages) and request.messages.roles[keep_from] is Role.ASSISTANT


def _system_blocks(request: ChatRequest, index: int, keep_from: int) -> Iterator[str]:
    """Yield the content of a system message as blocks of a system prompt, as JSON text spelled as the client sent it.
    Blank blocks are left out, and so is a message that the client limits to the time before the next user message."""
    found = read_object(request.text[slice(*request.spans[index])])
    content = found.values.get("content")
    if found.values.get("clear_at") == "next_user_message" and keep_from < len(request.messages):
        return
    if isinstance(content, list):
        spans = element_spans(found.text, found.places["content"])
        places = zip(content, spans, strict=True)
        yield from (found.text[slice(*span)] for block, span in places if _has_content(block))
    elif isinstance(content, str) and content.strip():
        end = next(end for name, (_, end) in reversed(found.members) if name == "content")
        yield _text_block(found.text[found.places["content"] : end])


def _has_content(block: object) -> bool:
    text = block.get("text") if isinstance(block, dict) and kind_of(block) == "text" else None
    return isinstance(text, str) and bool(text.strip())


def _text_block(spelled: str) -> str:
    return f'{{"type":"text","text":{spelled}}}'


def _system_edits(request: ChatRequest, new: Sequence[str]) -> list[Edit]:
    """Return the edits that append ``new`` to the client's system prompt. A prompt that is a text becomes the first
    block of a list; a blank one is dropped, since a block must not be blank."""
    if not new:
        return []
    system = request.fields.get(_SYSTEM_FIELD)
    joined = ",".join(new)
    if _SYSTEM_FIELD not in request.fields:
        start = next(start for _, (start, end) in request.members if start < request.array < end)
        return [(start, start, f'"{_SYSTEM_FIELD}":[{joined}],')]
    member = next(span for name, span in reversed(request.members) if name == _SYSTEM_FIELD)
    start, end = value_start(request.text, member), member[1]
    if isinstance(system, list):
        spans = element_spans(request.text, start)
        return replace_elements(spans, len(spans), len(spans), joined, close=end - 1)
    if system is None or (isinstance(system, str) and not system.strip()):
        return [(start, end, f"[{joined}]")]
    return [(start, end, f"[{_text_block(request.text[start:end])},{joined}]")]


def _mark(request: ChatRequest, keep_from: int, mark_block: bool) -> Marker:
    """Return the marker of the block: the last one of the removed messages. If they have none, and the block is to be
    marked and there is room: a copy of the first marker after the block, or one of this package if none follows.
    ``{}``: no marker."""
    if lost := lost_marker(request, keep_from, _MARKS):
        return lost
    kept = request.messages.sent[keep_from:]
    behind = list(chain(message_markers(kept, _MARKS), marker(request.fields, _MARKS)))
    if not mark_block or len(behind) + sum(1 for _ in _before(request, keep_from)) >= MARKERS_MAX:
        return {}
    return behind[0] if behind else _OWN_MARKER  # a marker that lasts longer must not follow one that lasts less


def _before(request: ChatRequest, keep_from: int) -> Iterator[Marker]:
    """Yield the markers before the messages that are kept."""
    tools: Any = request.fields.get("tools")
    yield from chain.from_iterable(marker(tool, _MARKS) for tool in (tools if isinstance(tools, list) else ()))
    yield from markers(request.fields.get(_SYSTEM_FIELD), _MARKS)
    yield from message_markers(request.messages.sent[:keep_from], _MARKS)


_TERMINAL: Final = b"message_stop"
_IN_DATA: Final = b'"message_stop"'
_LINES: Final = (b"event: message_stop", b"event:message_stop")
_VERSION = re2.compile(r"claude(?:-[a-z]+)*-(\d{1,2})(?:[-.](\d{1,2}))?(?:\D|$)")
_BINDS_FROM: Final = (5, 1)
"""The version from which Claude models bind thinking to the conversation before it: an altered history makes it
invalid."""


def _refuses(sent: Sequence[Any]) -> str:
    """Return why these messages must not be cut: the provider compacted what was before them, or they change the tools.
    "" if they may be."""
    kinds = {kind for raw in sent for kind in _kinds(raw)}
    if COMPACTION in kinds:
        return PROVIDER_COMPACTS
    return "" if kinds.isdisjoint(TOOL_CHANGES) else TOOLS_CHANGE


def _kinds(raw: object) -> list[str]:
    content = raw.get("content") if isinstance(raw, dict) else None
    return [kind_of(block) for block in content] if isinstance(content, list) else []


def _count_bound(sent: Sequence[Any], fields: Mapping[str, Any]) -> int:
    """Return how many leading messages there are up to the last one with thinking. 0 if the model does not check that
    the messages before its thinking are unchanged, or drops thinking that fails the check."""
    if not _binds(text_of(fields, "model")) or _drops_what_fails(fields):
        return 0
    places = (place for place in reversed(range(len(sent))) if not THINKING.isdisjoint(_kinds(sent[place])))
    return next(places, -1) + 1


def _binds_reply(fields: Mapping[str, Any]) -> bool:
    """Whether the reply may contain thinking that is valid only after the unchanged conversation before it."""
    thinking = fields.get("thinking")
    if not isinstance(thinking, dict) or thinking.get("type") == "disabled":
        return False
    return _binds(text_of(fields, "model")) and not _drops_what_fails(fields)


def _binds(model: str) -> bool:
    """Whether a model binds thinking to the conversation before it. A Claude model without a version in its name
    may."""
    found = _VERSION.search(model.lower())
    if found is None:
        return "claude" in model.lower()
    return (int(found.group(1)), int(found.group(2) or 0)) >= _BINDS_FROM


def _drops_what_fails(fields: Mapping[str, Any]) -> bool:
    thinking = fields.get("thinking")
    rules = thinking.get("block_binding") if isinstance(thinking, dict) else None
    return isinstance(rules, dict) and rules.get("prefix_mismatch_behavior") == "drop_block"


_SHAPE: Final = Shape(
    "anthropic",
    role_of,
    roles_of,
    read_message,
    overhead=("system", "tools", "output_config"),
    elsewhere={"thread": HISTORY_ON_SERVER, "context_management": PROVIDER_COMPACTS, "compaction": PROVIDER_COMPACTS},
    causes={"context_management": removing_edit},
    refuses=_refuses,
    bound=_count_bound,
    binds=_binds_reply,
)


@dataclass(frozen=True, slots=True)
class Anthropic(JsonDialect):
    """The dialect of Anthropic Messages. Parses leniently (a field of the wrong type counts as absent); a rewrite
    changes no other byte.

    ``mark_block``: whether the resume block gets a prompt cache marker at its end, if the request has room for one. If
    the removed messages had a marker, the block gets it in any case.
    """

    mark_block: bool = False

    name = _SHAPE.name
    shape = _SHAPE
    linked = (b'"url"', b'"file_id"')
    end_mark = _TERMINAL

    def cut(self, request: ChatRequest, keep_from: int, block: str, role: str) -> list[Edit]:
        """Return the edits of a cut. The block goes to the system prompt, whatever ``role`` is: after the client's own
        prompt, and after the texts of removed system messages. If the first kept message is the assistant's, the block
        is a user message before it. Raises as ``JsonDialect.cut`` does."""
        return cut_edits(request, keep_from, block, mark_block=self.mark_block)

    def ends(self, tail: bytes) -> bool:
        """Whether ``tail`` may contain the event that ends a stream: ``message_stop`` as a JSON string or in an
        ``event:`` line. ``tail``: a piece of the stream, preceded by the last bytes of the previous piece."""
        if _IN_DATA in tail:
            return True
        return any(tail.startswith(mark) or b"\n" + mark in tail or b"\r" + mark in tail for mark in _LINES)

    def collect(self, data: bytes, *, stream: bool) -> Reply:
        """Parse the reply in a captured response body. Never raises. See ``Dialect.collect``."""
        events = events_in(data, stream=stream)
        return collect_body(data) if events is None else collect_events(events)
