"""Clears old tool results and old thinking from an Anthropic request, for providers that do not support these context
edits.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tokenmizer_mw.context.compaction.request import CLEAR_THINKING, CLEAR_TOOL_USES, ClearThinking, ClearToolUses

CLEARED: Final = "[cleared: an old tool result]"
"""Text that replaces a cleared tool result."""

Count = Callable[[str], int]
"""A function that returns the number of tokens of a text."""

_THINKING: Final = frozenset({"thinking", "redacted_thinking"})


@dataclass(frozen=True, slots=True)
class ClearedMessages:
    """The messages to forward. ``edit``: what was cleared, in the form in which Anthropic's responses report it;
    ``None`` if nothing was."""

    messages: list[Any]
    edit: Mapping[str, Any] | None = None


def clear_thinking(messages: Sequence[Any], edit: ClearThinking, count: Count) -> ClearedMessages:
    """Remove the thinking from old turns. A turn is everything the model says between two user messages.

    ``edit``: says for how many of the newest turns with thinking it stays. ``count``: returns the tokens of a text. A
    message that consists only of thinking stays.
    """
    turns = [turn for turn in _turns(messages) if any(_thinks(messages[place]) for place in turn)]
    old_turns = turns[: max(0, len(turns) - edit.keep)]
    old = [place for turn in old_turns for place in turn if _thinks(messages[place])]
    left, tokens, cleared = list(messages), 0, 0
    for place in old:
        blocks = messages[place]["content"]
        kept = [block for block in blocks if not _is_block_of(block, _THINKING)]
        if kept:
            gone = [block for block in blocks if _is_block_of(block, _THINKING)]
            tokens += sum(count(str(block.get("thinking") or block.get("data") or "")) for block in gone)
            left[place] = {**messages[place], "content": kept}
            cleared += 1
    if not cleared:
        return ClearedMessages(left)
    fields = {
        "type": CLEAR_THINKING,
        "cleared_thinking_turns": len(old_turns),
        "cleared_input_tokens": tokens,
    }
    return ClearedMessages(left, fields)


def clear_tool_uses(messages: Sequence[Any], edit: ClearToolUses, count: Count, tokens: int) -> ClearedMessages:
    """Clear the results of old tool calls if the request, which takes ``tokens`` tokens, exceeds the threshold of
    ``edit`` (its ``uses`` or ``tokens``). Nothing is cleared if that would save fewer than ``edit.least`` tokens.

    ``count``: returns the tokens of a text."""
    uses = _uses(messages)
    due = len(uses) > edit.uses if edit.uses is not None else edit.tokens is not None and tokens > edit.tokens
    old = uses[: -edit.keep] if edit.keep else uses
    old = [use for use in old if use.name not in edit.exclude]
    clearing = _Clearing(list(messages), edit, count)
    if not due or not old:
        return ClearedMessages(clearing.messages)
    for use in old:
        clearing.clear(use)
    if not clearing.uses or clearing.tokens < edit.least:
        return ClearedMessages(list(messages))
    fields = {"cleared_tool_uses": clearing.uses, "cleared_input_tokens": clearing.tokens}
    return ClearedMessages(clearing.messages, {"type": CLEAR_TOOL_USES, **fields})


@dataclass(frozen=True, slots=True)
class _Use:
    """A tool call with its result. ``name``: name of the tool. ``call``, ``result``: where the two content blocks are,
    as the index of the message and the index in that message."""

    name: str
    call: tuple[int, int]
    result: tuple[int, int]


@dataclass(slots=True)
class _Clearing:
    messages: list[Any]
    edit: ClearToolUses
    count: Count
    uses: int = 0
    tokens: int = 0
    _own: set[int] = field(default_factory=set)

    def clear(self, use: _Use) -> None:
        """Replace the result of one tool call by the text ``CLEARED``, and its arguments by ``{}`` if ``edit`` asks for
        that. Adds to ``uses`` (unless the result was cleared before) and to ``tokens``, the tokens saved."""
        result = self._block(use.result)
        if result.get("content") != CLEARED:
            self.uses += 1
            self._put(use.result, {**result, "content": CLEARED}, _content_text(result.get("content")), CLEARED)
        if self.edit.inputs is None or use.name in self.edit.inputs:
            call = self._block(use.call)
            self._put(use.call, {**call, "input": {}}, _content_text(call.get("input")), "{}")

    def _block(self, place: tuple[int, int]) -> dict[str, Any]:
        block: dict[str, Any] = self.messages[place[0]]["content"][place[1]]
        return block

    def _put(self, place: tuple[int, int], block: Mapping[str, Any], old: str, new: str) -> None:
        at, within = place
        if at not in self._own:
            self.messages[at] = {**self.messages[at], "content": list(self.messages[at]["content"])}
            self._own.add(at)
        self.messages[at]["content"][within] = block
        self.tokens += max(0, self.count(old) - self.count(new))


def _uses(messages: Sequence[Any]) -> list[_Use]:
    """Return the tool calls of ``messages`` whose results are there as well, in the order of the results. Calls without
    a result, and results without a call before them, are left out."""
    called: dict[str, tuple[str, tuple[int, int]]] = {}
    found: list[_Use] = []
    for at, message in enumerate(messages):
        for within, block in enumerate(_blocks(message)):
            kind = block.get("type") if isinstance(block, dict) else None
            if kind == "tool_use":
                called[str(block.get("id"))] = str(block.get("name")), (at, within)
            elif kind == "tool_result" and (call := called.pop(str(block.get("tool_use_id")), None)):
                found.append(_Use(*call, (at, within)))
    return found


def _turns(messages: Sequence[Any]) -> list[list[int]]:
    """Return the indexes of the assistant messages, one list for each turn with such messages, in order. A user message
    with anything but tool results starts a turn."""
    turns: list[list[int]] = [[]]
    for place, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if role == "assistant":
            turns[-1].append(place)
        elif role == "user" and not any(_is_block_of(block, frozenset({"tool_result"})) for block in _blocks(message)):
            turns.append([])
    return [turn for turn in turns if turn]


def _thinks(message: Any) -> bool:
    return any(_is_block_of(block, _THINKING) for block in _blocks(message))


def _blocks(message: Any) -> Sequence[Any]:
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, list) else ()


def _is_block_of(block: Any, kinds: frozenset[str]) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    return isinstance(kind, str) and kind in kinds


def _content_text(content: Any) -> str:
    """Return the text of ``content`` (a text, a list of content blocks, or other JSON data) for counting its tokens. A
    block without text, such as an image, counts as the name of its type."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(part.get("text", part.get("type"))) for part in content if isinstance(part, dict))
    return json.dumps(content, ensure_ascii=False)
