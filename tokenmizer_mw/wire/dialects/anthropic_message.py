"""Parse an Anthropic message (text or content blocks), from requests, responses or libraries.

Lenient: a field of the wrong type counts as absent. Nothing here raises.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult
from tokenmizer_mw.wire.dialects.openai_message import KIND_MAX
from tokenmizer_mw.wire.json_text import json_text, storable
from tokenmizer_mw.wire.request import text_of

_SYSTEM, _USER, _ASSISTANT, _TOOL = Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL  # an enum's look-up is slow

ROLES: Final = {"user": _USER, "assistant": _ASSISTANT, "system": _SYSTEM}

COMPACTION: Final = "compaction"
TOOL_CHANGES: Final = frozenset({"tool_addition", "tool_removal"})
THINKING: Final = frozenset({"thinking", "redacted_thinking"})
"""Kinds of blocks that are only valid as they came, and with their turn."""

_TEXT: Final = "text"
_RESULT: Final = "tool_result"
_CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_UNSPOKEN: Final = frozenset({*THINKING, COMPACTION, "fallback", "mcp_tool_listing"})
"""Kinds of blocks between which a text goes on, and that stand for nothing that was said or shown."""

_SPOKEN: Final = frozenset({"", _TEXT, *_UNSPOKEN, *_CALLS})
_WRITTEN: Final = frozenset({"", _TEXT, *_UNSPOKEN, _RESULT})
"""Kinds of blocks of which more is read than their kind: the assistant's, and everybody else's."""

OWN_KINDS: Final = frozenset({*_CALLS, *THINKING, COMPACTION, _RESULT})
"""Kinds of blocks that no other shape of messages has."""


def role_of(raw: object) -> Role | None:
    """Return the role of a message object; ``None`` if it is unknown. A user message with nothing but tool results has
    the role of a tool.
    """
    role = raw.get("role") if isinstance(raw, dict) else None
    speaker = ROLES.get(role) if isinstance(role, str) else None
    return _TOOL if speaker is _USER and isinstance(raw, dict) and _only_answers(raw.get("content")) else speaker


def roles_of(sent: Sequence[Any]) -> list[Role]:
    """Return the roles of many message objects; an unknown role counts as system."""
    try:
        roles = [ROLES[raw["role"]] for raw in sent]  # nearly always, and much faster than asking each one
    except (KeyError, TypeError, IndexError):
        return [role_of(raw) or _SYSTEM for raw in sent]
    for place, raw in enumerate(sent):
        if roles[place] is _USER and _only_answers(raw.get("content")):
            roles[place] = _TOOL
    return roles


def kind_of(block: object) -> str:
    """Return the type of a content block: "text" for a plain string, "" for anything that is not a block."""
    if isinstance(block, str):
        return _TEXT
    if not isinstance(block, dict):
        return ""
    kind = block.get("type")
    return kind if isinstance(kind, str) else "unknown"


def read_message(raw: object) -> Message:
    """Parse a message object. An unknown role is parsed as system: such a message begins no turn, and no facts are
    extracted from it.
    """
    role = role_of(raw) or _SYSTEM
    content = raw.get("content") if isinstance(raw, dict) else None
    if isinstance(content, str):
        return Message(role, storable(content))
    return read_blocks(role, content) if isinstance(content, list) else Message(role)


def read_blocks(role: Role, blocks: Sequence[object]) -> Message:
    """Parse content blocks as a message of ``role``.

    Results of tools that the provider itself runs are inside the assistant's message; they are noted as an attachment.
    """
    return _assistant(blocks) if role is _ASSISTANT else _other(role, blocks)


def _assistant(blocks: Sequence[object]) -> Message:
    objects = [block for block in blocks if isinstance(block, dict)]
    thinking = [text_of(block, "thinking") for block in objects if block.get("type") == "thinking"]
    return Message(
        _ASSISTANT,
        storable(_join_paragraphs(blocks)),
        tuple(_call(block) for block in objects if kind_of(block) in _CALLS),
        thinking="\n".join(thinking),
        attachments=_attachments(objects, _SPOKEN),
    )


def _other(role: Role, blocks: Sequence[object]) -> Message:
    results = [block for block in blocks if isinstance(block, dict) and block.get("type") == _RESULT]
    within = [part for result in results for part in _parts(result.get("content"))]
    return Message(
        role,
        storable(_join_texts(blocks)),
        tool_results=tuple(map(_result, results)),
        attachments=_attachments(blocks, _WRITTEN) + _attachments(within, _WRITTEN),
    )


def _only_answers(content: object) -> bool:
    """Whether a content holds tool results and nothing that a person added."""
    if not isinstance(content, list):
        return False
    answers = False
    for block in content:
        kind = kind_of(block)
        if kind == _RESULT:
            answers = True
        elif kind != _TEXT or _text(block).strip():
            return False
    return answers


def _join_paragraphs(blocks: Sequence[object]) -> str:
    """What an assistant said: a text with citations comes in several blocks, what is said behind a call is new."""
    paragraphs: list[list[str]] = [[]]
    for block in blocks:
        kind = kind_of(block)
        if kind == _TEXT:
            paragraphs[-1].append(_text(block))
        elif kind not in _UNSPOKEN:
            paragraphs.append([])
    return "\n".join(filter(None, map("".join, paragraphs)))


def _join_texts(blocks: Sequence[object]) -> str:
    return "\n".join(_text(block) for block in blocks if kind_of(block) == _TEXT)


def _text(block: object) -> str:
    """The text of a text block, as sent; "" for a block of another kind."""
    if isinstance(block, str):
        return block
    text = block.get("text") if isinstance(block, dict) and block.get("type") == _TEXT else None
    return text if isinstance(text, str) else ""


def _call(block: dict[str, Any]) -> ToolCall:
    given = block.get("input")
    arguments = given if isinstance(given, str) else json_text({} if given is None else given)
    return ToolCall(text_of(block, "id"), text_of(block, "name"), storable(arguments))


def _result(block: dict[str, Any]) -> ToolResult:
    text = _join_texts(_parts(block.get("content")))
    return ToolResult(text_of(block, "tool_use_id"), storable(text), block.get("is_error") is True)


def _parts(content: object) -> Sequence[object]:
    return content if isinstance(content, list) else [content] if isinstance(content, str) else []


def _attachments(blocks: Sequence[object], read: frozenset[str]) -> tuple[str, ...]:
    """The kinds of the blocks that are not read."""
    kinds = (kind_of(block) for block in blocks)
    return tuple(storable(kind[:KIND_MAX]) for kind in kinds if kind not in read)
