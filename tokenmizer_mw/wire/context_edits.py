"""Detect requests that ask the provider to remove messages (``context_management``).

Anthropic lists such edits in an object (``{"edits": [...]}``), OpenAI in a plain list. An edit that removes nothing
does not prevent a cut by this package: Claude Code sends ``clear_thinking_20251015`` with ``"keep": "all"`` in each
request.
"""

from __future__ import annotations

from typing import Any, Final

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
