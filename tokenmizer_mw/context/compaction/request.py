"""The context edits that a request asks for: compaction above a threshold or at once, clearing of old parts, or a
coding agent's own compaction prompt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.wire.host_rows import HostTextKind
from tokenmizer_mw.wire.host_texts import find_host_texts, remove_host_texts

INSTRUCTIONS_MAX: Final = 4_000
"""At most this many characters of a client's instructions for a summary are used."""

COMPACT: Final = "compact_20260112"
CLEAR_TOOL_USES: Final = "clear_tool_uses_20250919"
CLEAR_THINKING: Final = "clear_thinking_20251015"
TRIGGER: Final = "compaction_trigger"
"""Type of the item that ends an OpenAI Responses input and asks for its compaction at once."""

_COMPACT_TRIGGER: Final = 150_000
_CLEAR_TRIGGER: Final = 100_000
_CLEAR_KEEP: Final = 3


@dataclass(frozen=True, slots=True)
class CompactAbove:
    """Replace the history by a summary when the request takes more than ``tokens`` tokens.

    ``instructions``: the client's wishes for the summary, "" for none. ``pause``: respond with the summary alone, and
    do not ask the model.
    """

    tokens: int
    instructions: str = ""
    pause: bool = False


@dataclass(frozen=True, slots=True)
class CompactNow:
    """Compact the whole conversation, and respond with the compaction alone. ``instructions``: the client's wishes for
    it, "" for none."""

    instructions: str = ""


@dataclass(frozen=True, slots=True)
class ClearToolUses:
    """Clear the results of old tool calls when the request exceeds a threshold.

    - ``uses``: clear if the request has more tool calls with results than this; ``None``: ``tokens`` decides.
    - ``tokens``: clear if the whole request takes more tokens than this; ``None``: never.
    - ``keep``: number of the newest tool calls whose results stay.
    - ``exclude``: names of tools whose results stay; empty: none.
    - ``inputs``: names of tools whose call arguments are cleared, too; empty: none, ``None``: all tools.
    - ``least``: nothing is cleared if that would save fewer tokens than this.
    """

    tokens: int | None = _CLEAR_TRIGGER
    uses: int | None = None
    keep: int = _CLEAR_KEEP
    least: int = 0
    exclude: frozenset[str] = frozenset()
    inputs: frozenset[str] | None = frozenset()


@dataclass(frozen=True, slots=True)
class ClearThinking:
    """Clear the model's thinking, except in the newest ``keep`` turns that contain thinking."""

    keep: int = 1


@dataclass(frozen=True, slots=True)
class CompactionRequest:
    """All context edits that a request asks for; a field is ``None`` if it does not ask for that edit."""

    compact: CompactAbove | CompactNow | None = None
    clear_tool_uses: ClearToolUses | None = None
    clear_thinking: ClearThinking | None = None

    @property
    def anything(self) -> bool:
        """Whether the request asks for at least one context edit, so that a field is not ``None``."""
        return self != CompactionRequest()


def read_context_edits(body: Mapping[str, Any]) -> CompactionRequest | None:
    """Parse the context edits of an Anthropic request; ``None`` if it contains an unknown edit. A request without edits
    gives an empty ``CompactionRequest``. Raises ``MalformedRequest`` for fields that break Anthropic's format."""
    compaction, management = body.get("compaction"), body.get("context_management")
    if compaction is not None:
        return CompactionRequest(compact=_read_now(_mapping(compaction, "compaction"), management))
    if management is None:
        return CompactionRequest()
    edits = _mapping(management, "context_management").get("edits") or []
    if not isinstance(edits, list):
        raise MalformedRequest("context_management.edits: a list is needed")
    found: dict[str, Any] = {}
    for place, edit in enumerate(edits):
        where = f"context_management.edits.{place}"
        kind = _mapping(edit, where).get("type")
        if not isinstance(kind, str):
            raise MalformedRequest(f"{where}.type: text is needed")
        if kind not in _EDITS:
            return None
        name, read = _EDITS[kind]
        if name in found:
            raise MalformedRequest(f"{where}: a second edit of the type {kind}")
        if name == "clear_thinking" and place:
            raise MalformedRequest(f"{where}: {CLEAR_THINKING} is the first edit of the list")
        found[name] = read(edit, where)
    return CompactionRequest(**found)


def read_context_settings(body: Mapping[str, Any]) -> CompactionRequest | None:
    """Parse the context edits of an OpenAI Responses request; ``None`` if it contains an unknown edit. A request
    without edits gives an empty ``CompactionRequest``. Raises ``MalformedRequest`` for fields that break OpenAI's
    format, and for a trigger that is not the last item of the input."""
    if _is_triggered(body.get("input")):
        return CompactionRequest(compact=CompactNow())
    entries = body.get("context_management")
    if not entries:
        return CompactionRequest()
    if not isinstance(entries, list):
        raise MalformedRequest("context_management: a list is needed")
    compact: CompactAbove | None = None
    for place, entry in enumerate(entries):
        where = f"context_management.{place}"
        if _mapping(entry, where).get("type") != "compaction":
            return None
        threshold = entry.get("compact_threshold")
        tokens = _COMPACT_TRIGGER if threshold is None else _count(threshold, f"{where}.compact_threshold", 1)
        compact = CompactAbove(tokens)
    return CompactionRequest(compact=compact)


def is_trigger(item: object) -> bool:
    """Whether an item of an OpenAI Responses request asks for a compaction of everything before it."""
    return isinstance(item, dict) and item.get("type") == TRIGGER


def _is_triggered(items: object) -> bool:
    found = [place for place, item in enumerate(items) if is_trigger(item)] if isinstance(items, list) else []
    if found and isinstance(items, list) and found != [len(items) - 1]:
        raise MalformedRequest(f"input.{found[0]}: {TRIGGER} is the last item of the input")
    return bool(found)


def _read_now(compaction: Mapping[str, Any], management: object) -> CompactNow:
    if management is not None:
        raise MalformedRequest("compaction: cannot be combined with context_management")
    if compaction.get("type") != "summarize":
        raise MalformedRequest("compaction.type: expected summarize")
    return CompactNow(_instructions(compaction, "compaction"))


def _compact(edit: Mapping[str, Any], where: str) -> CompactAbove:
    trigger = edit.get("trigger")
    tokens = _COMPACT_TRIGGER if trigger is None else _parse_amount(trigger, f"{where}.trigger", "input_tokens", 1)
    pause = edit.get("pause_after_compaction")
    if pause is not None and not isinstance(pause, bool):
        raise MalformedRequest(f"{where}.pause_after_compaction: true or false is needed")
    return CompactAbove(tokens, _instructions(edit, where), bool(pause))


def _clear_tool_uses(edit: Mapping[str, Any], where: str) -> ClearToolUses:
    trigger, keep, least = edit.get("trigger"), edit.get("keep"), edit.get("clear_at_least")
    tokens, uses = _clear_trigger(trigger, f"{where}.trigger")
    return ClearToolUses(
        tokens,
        uses,
        _CLEAR_KEEP if keep is None else _parse_amount(keep, f"{where}.keep", "tool_uses", 0),
        0 if least is None else _parse_amount(least, f"{where}.clear_at_least", "input_tokens", 0),
        _names(edit.get("exclude_tools"), f"{where}.exclude_tools"),
        _inputs(edit.get("clear_tool_inputs"), f"{where}.clear_tool_inputs"),
    )


def _clear_trigger(trigger: object, where: str) -> tuple[int | None, int | None]:
    if trigger is None:
        return _CLEAR_TRIGGER, None
    if _mapping(trigger, where).get("type") == "tool_uses":
        return None, _parse_amount(trigger, where, "tool_uses", 1)
    return _parse_amount(trigger, where, "input_tokens", 1), None


def _clear_thinking(edit: Mapping[str, Any], where: str) -> ClearThinking | None:
    keep = edit.get("keep")
    if keep in ("all", {"type": "all"}):
        return None
    return ClearThinking() if keep is None else ClearThinking(_parse_amount(keep, f"{where}.keep", "thinking_turns", 1))


_EDITS: Final = {
    COMPACT: ("compact", _compact),
    CLEAR_TOOL_USES: ("clear_tool_uses", _clear_tool_uses),
    CLEAR_THINKING: ("clear_thinking", _clear_thinking),
}


def _mapping(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise MalformedRequest(f"{where}: an object is needed")
    return value


def _parse_amount(value: object, where: str, kind: str, least: int) -> int:
    found = _mapping(value, where)
    if found.get("type") != kind:
        raise MalformedRequest(f"{where}.type: expected {kind}")
    return _count(found.get("value"), f"{where}.value", least)


def _count(value: object, where: str, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise MalformedRequest(f"{where}: a whole number of at least {least} is needed")
    return value


def _instructions(holder: Mapping[str, Any], where: str) -> str:
    instructions = holder.get("instructions")
    if instructions is not None and not isinstance(instructions, str):
        raise MalformedRequest(f"{where}.instructions: text is needed")
    return (instructions or "").strip()[:INSTRUCTIONS_MAX]


def _names(value: object, where: str) -> frozenset[str]:
    if value is None:
        return frozenset()
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise MalformedRequest(f"{where}: a list of names is needed")
    return frozenset(value)


def _inputs(value: object, where: str) -> frozenset[str] | None:
    if isinstance(value, bool) or value is None:
        return None if value else frozenset()
    return _names(value, where)


SIGNS: Final = (b"Respond with TEXT ONLY", b"create a detailed summary of", b"CONTEXT CHECKPOINT COMPACTION")
"""Every compaction prompt of Claude Code and of Codex contains one of these texts."""

_PROMPT: Final = frozenset({HostTextKind.COMPACTION_PROMPT})


def may_sum_up(body: bytes) -> bool:
    """Whether a request may contain an agent's compaction prompt. A quick search that may be true wrongly."""
    return any(body.rfind(sign) >= 0 for sign in SIGNS)


def without_prompt(body: Mapping[str, Any], member: str) -> Mapping[str, Any] | None:
    """Return a request without the compaction prompt in its last user message; system messages after it stay. ``None``
    if it ends with no such prompt, or contains nothing else. ``member``: name of the field with the messages."""
    messages = body.get(member)
    place = _newest(messages) if isinstance(messages, list) else None
    if not isinstance(messages, list) or not place or _role(messages[place]) != "user":
        return None
    left = _remove_prompts(messages[place].get("content"))
    if left is None:
        return None
    ending = [{**messages[place], "content": left}] if left else []
    return {**body, member: [*messages[:place], *ending, *messages[place + 1 :]]}


def format_agent_reply(block: str) -> str:
    """Return a complete reply to an agent that asked for a summary, with ``block`` as the summary. Claude Code extracts
    the text between the ``summary`` tags; other agents use the whole reply."""
    return f"<analysis>\nFrom the session's record, without a model.\n</analysis>\n\n<summary>\n{block}\n</summary>"


def _newest(messages: Sequence[Any]) -> int | None:
    """Return the index of the newest message that is no system message; ``None`` if there is none."""
    places = reversed(range(len(messages)))
    return next((place for place in places if _role(messages[place]) not in ("system", "developer")), None)


def _role(message: object) -> object:
    return message.get("role") if isinstance(message, dict) else None


def _remove_prompts(content: object) -> Any:
    """Return a message's content without the compaction prompt; ``None`` if it contains none."""
    if isinstance(content, str):
        return remove_host_texts(content, _PROMPT) if _prompts(content) else None
    if not isinstance(content, list) or not any(_prompts(_text(block)) for block in content):
        return None
    return _without(content)


def _without(blocks: Sequence[Any]) -> list[Any]:
    kept = []
    for block in blocks:
        if not _prompts(text := _text(block)):
            kept.append(block)
        elif rest := remove_host_texts(text, _PROMPT):
            kept.append({**block, "text": rest})
    return kept


def _prompts(text: str) -> bool:
    return bool(text) and any(span.row.kind in _PROMPT for span in find_host_texts(text))


def _text(block: object) -> str:
    text = block.get("text") if isinstance(block, dict) and block.get("type") in ("text", "input_text") else None
    return text if isinstance(text, str) else ""
