"""Cut an Anthropic request: remove messages, and add the resume block to the system prompt.

The block follows the client's own system prompt, because a conversation must begin with a user message. If the first
kept message is the assistant's, the block is a user message before it. Removed system messages also go to the system
prompt, since Anthropic accepts them only between a user's and an assistant's message. Prompt cache markers of removed
messages move to the end of the block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final

from tokenmizer_mw.model.message import Role
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.markers import Marker, lost_marker, marker, markers, message_markers
from tokenmizer_mw.wire.spans import (
    Edit,
    element_spans,
    read_object,
    replace_elements,
    value_start,
)
from tokenmizer_mw.wire.text import json_text, storable

from .anthropic_message import kind_of, role_of

MARKERS_MAX: Final = 4
"""Markers for the prompt cache that a request may have."""

_MARKS: Final = ("cache_control",)
_SYSTEM_FIELD: Final = "system"
_OWN_MARKER: Final[Marker] = {"cache_control": {"type": "ephemeral"}}


def cut_edits(request: ChatRequest, keep_from: int, block: str, *, mark_block: bool) -> list[Edit]:
    """Return the edits that remove the messages between the prefix and ``keep_from``, and append their system messages
    and ``block`` ("" for none) to the client's system prompt. Messages of unknown roles stay.

    Raises ``ValueError`` when ``keep_from`` is not the index of a message after the prefix.
    """
    spans, sent = request.spans, request.messages.sent
    taken = range(request.prefix, min(keep_from, len(sent)))
    system = [index for index in taken if request.messages.roles[index] is Role.SYSTEM]
    others = [request.text[slice(*spans[index])] for index in system if role_of(sent[index]) is None]
    new = [text for index in system if role_of(sent[index]) for text in _system_blocks(request, index, keep_from)]
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
    """What a system message says, as blocks of a system prompt, spelled as it was."""
    found = read_object(request.text[slice(*request.spans[index])])
    content = found.values.get("content")
    if found.values.get("clear_at") == "next_user_message" and keep_from < len(request.messages):
        return
    if isinstance(content, list):
        spans = element_spans(found.text, found.places["content"])
        places = zip(content, spans, strict=True)
        yield from (found.text[slice(*span)] for block, span in places if _says_something(block))
    elif isinstance(content, str) and content.strip():
        end = next(end for name, (_, end) in reversed(found.members) if name == "content")
        yield _text_block(found.text[found.places["content"] : end])


def _says_something(block: object) -> bool:
    text = block.get("text") if isinstance(block, dict) and kind_of(block) == "text" else None
    return isinstance(text, str) and bool(text.strip())


def _text_block(spelled: str) -> str:
    return f'{{"type":"text","text":{spelled}}}'


def _system_edits(request: ChatRequest, new: Sequence[str]) -> list[Edit]:
    """Edits that put ``new`` behind the client's system prompt. Text becomes a list whose first block it is; a blank
    one goes, since a block must not be blank."""
    if not new:
        return []
    told = request.fields.get(_SYSTEM_FIELD)
    joined = ",".join(new)
    if _SYSTEM_FIELD not in request.fields:
        start = next(start for _, (start, end) in request.members if start < request.array < end)
        return [(start, start, f'"{_SYSTEM_FIELD}":[{joined}],')]
    member = next(span for name, span in reversed(request.members) if name == _SYSTEM_FIELD)
    start, end = value_start(request.text, member), member[1]
    if isinstance(told, list):
        spans = element_spans(request.text, start)
        return replace_elements(spans, len(spans), len(spans), joined, close=end - 1)
    if told is None or (isinstance(told, str) and not told.strip()):
        return [(start, end, f"[{joined}]")]
    return [(start, end, f"[{_text_block(request.text[start:end])},{joined}]")]


def _mark(request: ChatRequest, keep_from: int, mark_block: bool) -> Marker:
    """The marker of the block: the last one of the messages that are taken out, else one of ours if it is wanted and
    there is room."""
    if lost := lost_marker(request, keep_from, _MARKS):
        return lost
    kept = request.messages.sent[keep_from:]
    behind = list(chain(message_markers(kept, _MARKS), marker(request.fields, _MARKS)))
    if not mark_block or len(behind) + sum(1 for _ in _before(request, keep_from)) >= MARKERS_MAX:
        return {}
    return behind[0] if behind else _OWN_MARKER  # a marker that lasts longer must not follow one that lasts less


def _before(request: ChatRequest, keep_from: int) -> Iterator[Marker]:
    """The markers that stand before the messages that are kept."""
    tools: Any = request.fields.get("tools")
    yield from chain.from_iterable(marker(tool, _MARKS) for tool in (tools if isinstance(tools, list) else ()))
    yield from markers(request.fields.get(_SYSTEM_FIELD), _MARKS)
    yield from message_markers(request.messages.sent[:keep_from], _MARKS)
