"""Members of a request that tell the provider what to do with its messages: prompt cache markers, and edits of the
context.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from tokenmizer_mw.model.message import Role
from tokenmizer_mw.wire.dialect import ChatRequest

DEPTH_MAX: Final = 3
"""Levels of parts within parts that are looked at: a document in a tool's result, and the texts in it."""

Marker = dict[str, Any]
"""The members that mark a part, by name."""


def markers(content: object, names: Sequence[str], depth: int = DEPTH_MAX) -> Iterator[Marker]:
    """Yield the prompt cache markers of a content's parts, in order; those of nested parts before that of the outer
    part.
    """
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, dict):
            continue
        source = part.get("source")
        within = [part.get("content"), source.get("content") if isinstance(source, dict) else None]
        for inner in within if depth > 1 else ():
            yield from markers(inner, names, depth - 1)
        yield from marker(part, names)


def marker(holder: object, names: Sequence[str]) -> Iterator[Marker]:
    """Yield the prompt cache marker of a part, a tool or a request, if it has one."""
    if isinstance(holder, dict):
        found = {name: holder[name] for name in names if _marks(holder.get(name))}
        if found:
            yield found


def _marks(value: object) -> bool:
    return isinstance(value, dict) and not any(isinstance(member, dict | list) for member in value.values())


def message_markers(messages: Sequence[object], names: Sequence[str]) -> Iterator[Marker]:
    """Yield the prompt cache markers in the contents of message objects, in order."""
    for message in messages:
        if isinstance(message, dict):
            yield from markers(message.get("content"), names)


def lost_marker(request: ChatRequest, keep_from: int, names: Sequence[str]) -> Marker:
    """Return the last prompt cache marker of the messages that a cut removes, which the resume block then gets; empty
    when there is none. System messages stay with their markers.
    """
    taken = slice(request.prefix, keep_from)
    sent = zip(request.messages.sent[taken], request.messages.roles[taken], strict=True)
    gone = [message for message, role in sent if role is not Role.SYSTEM]
    return next(reversed(list(message_markers(gone, names))), {})


_CAUSES: Final = (
    ("compact", "compaction"),
    ("clear_tool_uses", "clear_tool_uses"),
    ("clear_thinking", "clear_thinking"),
)
"""Starts of the types of edits, which end in a date, and the cause that each one is reported as."""

UNKNOWN_EDIT: Final = "unknown_edit"


def removing_edit(value: object) -> str:
    """Return the type of the first edit in ``value`` that removes or replaces messages or parts of them, as a counter
    name; "" if there is none. An edit of an unknown type counts as one.
    """
    edits = value.get("edits") if isinstance(value, dict) and "edits" in value else value
    if not edits:
        return ""
    listed = edits if isinstance(edits, list) else [edits]
    return next((cause for edit in listed if (cause := _cause(edit))), "")


def _cause(edit: Any) -> str:
    kind = edit.get("type") if isinstance(edit, dict) else None
    if not isinstance(kind, str):
        return UNKNOWN_EDIT
    cause = next((cause for start, cause in _CAUSES if kind.startswith(start)), UNKNOWN_EDIT)
    keeps_all = cause == "clear_thinking" and edit.get("keep") in ("all", {"type": "all"})
    return "" if keeps_all else cause
