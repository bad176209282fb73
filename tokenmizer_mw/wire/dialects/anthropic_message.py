"""Parse an Anthropic message (text or content blocks) from a request or a library, and collect a response into a reply.

Lenient: a field of the wrong type counts as absent. Nothing here raises. The blocks of a stream are assembled as in a
complete body, and parsed like blocks of a request.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tokenmizer_mw.model.message import Message, Outcome, Role, ToolCall, ToolResult
from tokenmizer_mw.wire.dialect import Reply
from tokenmizer_mw.wire.dialects.openai_message import KIND_MAX
from tokenmizer_mw.wire.json_text import json_text, storable
from tokenmizer_mw.wire.reply import error_text, parse_json, token_counts
from tokenmizer_mw.wire.request import get_text, number_of, text_of
from tokenmizer_mw.wire.sse import ServerSentEvent

_SYSTEM, _USER, _ASSISTANT, _TOOL = Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL  # an enum's look-up is slow
ROLES: Final = {"user": _USER, "assistant": _ASSISTANT, "system": _SYSTEM}
COMPACTION: Final = "compaction"
TOOL_CHANGES: Final = frozenset({"tool_addition", "tool_removal"})
THINKING: Final = frozenset({"thinking", "redacted_thinking"})
"""Kinds of blocks that the provider accepts only unchanged and in their place in the chat."""

_TEXT: Final = "text"
_RESULT: Final = "tool_result"
_CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_UNSPOKEN: Final = frozenset({*THINKING, COMPACTION, "fallback", "mcp_tool_listing"})
"""Kinds of blocks that are neither said nor shown. A text continues after them."""

_SPOKEN: Final = frozenset({"", _TEXT, *_UNSPOKEN, *_CALLS})
_WRITTEN: Final = frozenset({"", _TEXT, *_UNSPOKEN, _RESULT})
"""``_SPOKEN``: kinds of blocks of an assistant's message that are parsed. ``_WRITTEN``: the same for all other
messages. Of other kinds only the name is noted, as an attachment."""

OWN_KINDS: Final = frozenset({*_CALLS, *THINKING, COMPACTION, _RESULT})
"""Kinds of blocks that occur in no other format of messages, by which this one is recognised."""


def role_of(raw: object) -> Role | None:
    """Return the role of a message object; ``None`` if it is unknown. A user message that contains tool results, and
    besides them at most blank texts, has the role of a tool."""
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
    """Return the type of a content block: "text" for a plain string, "unknown" for an object without a type, "" for
    anything else."""
    if isinstance(block, str):
        return _TEXT
    if not isinstance(block, dict):
        return ""
    kind = block.get("type")
    return kind if isinstance(kind, str) else "unknown"


def read_message(raw: object, _: int = 1) -> Message:
    """Parse a message object. Never raises.

    A value that is not an object, or has an unknown role, gives a system message: it begins no turn, and no facts are
    extracted from it. The second argument is not used.
    """
    role = role_of(raw) or _SYSTEM
    content = raw.get("content") if isinstance(raw, dict) else None
    if isinstance(content, str):
        return Message(role, storable(content))
    return read_blocks(role, content) if isinstance(content, list) else Message(role)


def read_blocks(role: Role, blocks: Sequence[object]) -> Message:
    """Parse content blocks as a message of ``role``.

    Blocks of kinds that have no field in ``Message``, such as images, are noted as attachments by their kind alone. So
    are, in the assistant's message, the results of tools that the provider ran itself.
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
    """Whether a content consists of tool results, without anything that a person added."""
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
    """Return what an assistant said. A text with citations comes in several blocks, which are joined; what follows a
    tool call begins a new line."""
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
    return get_text(block, "text") if isinstance(block, dict) and block.get("type") == _TEXT else ""


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
    """Return the kinds of the blocks whose content is not parsed."""
    kinds = (kind_of(block) for block in blocks)
    return tuple(storable(kind[:KIND_MAX]) for kind in kinds if kind not in read)


_DELTAS: Final = {
    "text_delta": ("text", "text", "text"),
    "thinking_delta": ("thinking", "thinking", "thinking"),
    "input_json_delta": ("partial_json", "tool_use", "input"),
}
"""For each kind of delta: its member with the piece, the kind of block that it begins if none was begun, and the member
of the block to which the piece is added."""

_COUNTS: Final = (
    ("input_tokens", "input"),
    ("cache_read_input_tokens", "cached_tokens"),
    ("cache_creation_input_tokens", "cache_write_tokens"),
    ("output_tokens", "completion_tokens"),
    ("output_tokens_details.thinking_tokens", "reasoning_tokens"),
)
_OUTCOMES: Final = {"max_tokens": Outcome.TRUNCATED, "model_context_window_exceeded": Outcome.TRUNCATED}


def collect_events(events: Iterable[ServerSentEvent]) -> Reply:
    """Parse the reply in a stream's events; events after ``message_stop`` or an error are ignored."""
    reply = _ReplyBuilder()
    for event in events:
        reply.add(event)
        if reply.done or reply.error:
            break
    return reply.close()


def collect_body(data: bytes) -> Reply:
    """Parse the reply in a complete JSON body. A JSON object with an error or without a list of content has the outcome
    ``ERROR``; a body that is no JSON object has the outcome ``TRUNCATED`` and no message."""
    body = parse_json(data.decode("utf-8-sig", "replace"))
    reply = _ReplyBuilder()
    if isinstance(body, dict):
        reply.failed = not isinstance(body.get("content"), list)
        reply.error = error_text(body["error"]) if body.get("error") else ""
        reply.start(body)
    return reply.close()


@dataclass(slots=True)
class _Block:
    """A content block that is being assembled from a stream: as it began, and the pieces that were added to its
    members."""

    begun: dict[str, Any]
    pieces: dict[str, list[str]] = field(default_factory=dict)

    def close(self) -> dict[str, Any]:
        """Return the block as a complete body would have it. If a call's input came in pieces, it is their text."""
        grown = {name: "".join(pieces) for name, pieces in self.pieces.items()}
        if not grown.get("input"):
            grown.pop("input", None)
        starts = {name: self.begun[name] for name in grown if isinstance(self.begun.get(name), str)}
        return {**self.begun, **{name: starts.get(name, "") + text for name, text in grown.items()}}


@dataclass(slots=True)
class _ReplyBuilder:
    """What was received of a response so far."""

    blocks: list[_Block] = field(default_factory=list)
    by_index: dict[object, _Block] = field(default_factory=dict)
    stop_reason: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    error: str = ""
    done: bool = False
    failed: bool = False

    def add(self, event: ServerSentEvent) -> None:
        """Add the next event. Its kind is in its data, else it is the event's name."""
        data = parse_json(event.data)
        kind = data.get("type") if isinstance(data, dict) else None
        kind = kind if isinstance(kind, str) else event.event
        if kind == "error" or event.event == "error":
            self.error = error_text(data.get("error") if isinstance(data, dict) else event.data)
        elif kind == "message_stop":
            self.done = True
        elif isinstance(data, dict):
            self._add(kind, data)

    def start(self, message: object) -> None:
        """Add a message, as it is at the beginning of a stream or complete."""
        if not isinstance(message, dict):
            return
        content = message.get("content")
        blocks = content if isinstance(content, list) else ()
        self.blocks += [_Block(block) for block in blocks if isinstance(block, dict)]
        self._note_stop(message, message.get("usage"))

    def close(self) -> Reply:
        """Return the reply. Its message is ``None`` if there is neither content nor a stop reason."""
        message = read_blocks(Role.ASSISTANT, [block.close() for block in self.blocks])
        closed = message if self.stop_reason or message != Message(Role.ASSISTANT) else None
        return Reply(closed, self._outcome(), self.stop_reason, self._usage(), self.error)

    def _add(self, kind: str, data: dict[str, Any]) -> None:
        if error := data.get("error"):
            self.error = error_text(error)
        elif kind == "message_start":
            self.start(data.get("message"))
        elif kind == "content_block_start":
            self._begin(data.get("index"), data.get("content_block"))
        elif kind == "content_block_delta":
            self._grow(data.get("index"), data.get("delta"))
        elif kind == "message_delta":
            self._note_stop(data.get("delta"), data.get("usage"))

    def _begin(self, index: object, begun: object) -> None:
        if isinstance(begun, dict):
            block = _Block(begun)
            self.blocks.append(block)
            self.by_index[number_of(index, -1)] = block

    def _grow(self, index: object, delta: object) -> None:
        kind = delta.get("type") if isinstance(delta, dict) else None
        if not isinstance(delta, dict) or not isinstance(kind, str) or kind not in _DELTAS:
            return
        member, makes, grows = _DELTAS[kind]
        if number_of(index, -1) not in self.by_index:
            self._begin(index, {"type": makes})
        piece = delta.get(member)
        if isinstance(piece, str):
            self.by_index[number_of(index, -1)].pieces.setdefault(grows, []).append(piece)

    def _note_stop(self, delta: object, usage: object) -> None:
        """Note why the model stopped, if that is known, and the token counts of the message so far."""
        if isinstance(delta, dict):
            self.stop_reason = text_of(delta, "stop_reason") or self.stop_reason
        self.counts.update(token_counts(usage, _COUNTS))

    def _usage(self) -> dict[str, int]:
        """Return the counts under this package's names. Anthropic's input count leaves out tokens read from and written
        to the cache; they are added."""
        counts = dict(self.counts)
        fresh = counts.pop("input", None)
        if fresh is not None:
            counts["prompt_tokens"] = fresh + counts.get("cached_tokens", 0) + counts.get("cache_write_tokens", 0)
            if "completion_tokens" in counts:
                counts["total_tokens"] = counts["prompt_tokens"] + counts["completion_tokens"]
        return counts

    def _outcome(self) -> Outcome:
        """Return how the reply ended. One with a stop reason is complete, even if its last event is missing."""
        if self.error or self.failed:
            return Outcome.ERROR
        if not self.stop_reason:
            return Outcome.COMPLETE if self.done else Outcome.TRUNCATED
        return _OUTCOMES.get(self.stop_reason, Outcome.COMPLETE)
