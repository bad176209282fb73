"""Edits a provider's stream as it passes: events that are not changed keep their bytes. A resume block is added at the
end of the model's last text, so that an agent that stores the text also stores the block.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

import re2

from tokenmizer_mw.wire.sse import EVENT_MAX

Events = Sequence[bytes]
_END = re2.compile(rb"\r\n\r\n|\n\n|\r\r")
_LINE = re2.compile(rb"\r\n|\n|\r")
_NUMBER_MAX: Final = 2**53
_BEHIND: Final = 3
"""This many of the last bytes are searched again with the next piece, because the end of an event may be split between
pieces."""


@dataclass(frozen=True, slots=True)
class StreamFrame:
    """One event of a stream: its bytes as received, its name ("" for none), and its parsed data (``None`` if it is not
    JSON)."""

    raw: bytes
    name: str
    data: Any


def event(name: str, data: Mapping[str, Any]) -> bytes:
    """Return a server-sent event as UTF-8 bytes: the line "event: NAME", the line "data:" with ``data`` as JSON, and an
    empty line."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"event: {name}\ndata: {text}\n\n".encode("utf-8", "replace")


def frame_event(frame: StreamFrame, data: Mapping[str, Any]) -> bytes:
    """Return a server-sent event as UTF-8 bytes, with the name of ``frame`` and with ``data`` as JSON in place of the
    data of ``frame``. An event without a name gets no "event:" line."""
    if frame.name:
        return event(frame.name, data)
    return b"data: " + json.dumps(data, ensure_ascii=False).encode("utf-8", "replace") + b"\n\n"


def is_number(value: object) -> TypeGuard[int]:
    """Whether ``value`` is an integer from 0 to 2**53 (no boolean), as an index or a sequence number is."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _NUMBER_MAX


class StreamEditor:
    """Edits a stream of server-sent events: takes its bytes in pieces of any size, and replaces each complete event by
    the events that ``change`` returns (an empty list drops it). An event for which ``change`` raises ``ValueError`` is
    passed on unchanged. If an event is longer than ``event_max`` bytes, it and the rest of the stream pass
    unchanged."""

    def __init__(self, change: Callable[[StreamFrame], Events], event_max: int = EVENT_MAX) -> None:
        self._change = change
        self._event_max = event_max
        self._held = bytearray()
        self._looked = 0
        self._unread = False

    def feed(self, piece: bytes) -> bytes:
        """Add the next piece of the stream. Return the edited events that are complete now, as bytes; ``b""`` if none
        is. The bytes of an incomplete event are kept for the next call."""
        if self._unread:
            return piece
        self._held += piece
        out: list[bytes] = []
        begins, looked = 0, self._looked
        for found in _END.finditer(bytes(self._held[looked:])):
            raw, begins = bytes(self._held[begins : looked + found.end()]), looked + found.end()
            out += [raw] if raw.isspace() else self._change_event(raw)
        del self._held[:begins]
        self._looked = max(0, len(self._held) - _BEHIND)
        if len(self._held) > self._event_max:
            self._unread = True
            out.append(self.end())
        return b"".join(out)

    def _change_event(self, raw: bytes) -> Events:
        try:
            return self._change(_read(raw))
        except (ValueError, RecursionError):  # what can be read and not be written
            return [raw]

    def end(self) -> bytes:
        """Return the bytes of an incomplete event at the end of the stream, unchanged; ``b""`` if there are none. Call
        it once after the last ``feed``."""
        rest = bytes(self._held)
        self._held.clear()
        return rest


def _read(raw: bytes) -> StreamFrame:
    name, data = "", []
    for line in _LINE.split(raw):
        field, _, value = line.partition(b":")
        if field == b"event":
            name = value.strip().decode("utf-8", "replace")
        elif field == b"data":
            data.append(value.removeprefix(b" "))
    try:
        return StreamFrame(raw, name, json.loads(b"\n".join(data)) if data else None)
    except (ValueError, RecursionError):
        return StreamFrame(raw, name, None)


_ENDED: Final = frozenset({"end_turn", "stop_sequence", "max_tokens"})
"""Stop reasons of Anthropic's messages that end with text, not with a tool call."""

_CLIENT_CALLS: Final = (
    "function_call",
    "custom_tool_call",
    "shell_call",
    "local_shell_call",
    "apply_patch_call",
    "computer_call",
    "mcp_approval_request",
)
"""Types of items in OpenAI's Responses dialect that the client answers, so that the model's turn goes on."""

_DELTA: Final = "response.output_text.delta"


class FollowingMessage:
    """Adds ``block``, a resume block, after the last text of a message in Anthropic's dialect. A message that calls a
    tool, or that ends with anything but text, is not changed."""

    def __init__(self, block: str) -> None:
        self._text_added = f"\n\n{block}"
        self._texts: set[int] = set()
        self._held: tuple[int, bytes] | None = None

    def to_body(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return a complete message with the resume block added to its last text; ``body`` itself if its last block is
        not text or its stop reason is none of "end_turn", "stop_sequence" and "max_tokens"."""
        content = body.get("content")
        last = content[-1] if isinstance(content, list) and content else None
        if body.get("stop_reason") not in _ENDED or not isinstance(last, dict) or not isinstance(content, list):
            return body
        if last.get("type") != "text" or not isinstance(last.get("text"), str):
            return body
        return {**body, "content": [*content[:-1], {**last, "text": last["text"] + self._text_added}]}

    def to_event(self, frame: StreamFrame) -> Events:
        """Return the events, as bytes, to send in place of one event of a stream.

        The event that ends a text is held back (an empty list) until the next event other than a "ping". If that gives
        a stop reason other than a tool call, an event that adds the block to the text comes before the held one.
        Events are never changed."""
        data = frame.data if isinstance(frame.data, dict) else {}
        index = data.get("index", 0)
        match data.get("type"):
            case "ping":
                return [frame.raw]
            case "content_block_start" if is_number(index) and _type_of(data.get("content_block")) == "text":
                self._texts.add(index)
            case "content_block_stop" if is_number(index) and index in self._texts:
                return self._hold(index, frame.raw)
            case "message_delta":
                return [*self._release_held(_reason(data) in _ENDED), frame.raw]
        return [*self._release_held(False), frame.raw]

    def _hold(self, index: int, raw: bytes) -> Events:
        before = self._release_held(False)
        self._held = (index, raw)
        return before

    def _release_held(self, with_block: bool) -> list[bytes]:
        held, self._held = self._held, None
        if held is None:
            return []
        delta = {
            "type": "content_block_delta",
            "index": held[0],
            "delta": {"type": "text_delta", "text": self._text_added},
        }
        return [*([event("content_block_delta", delta)] if with_block else []), held[1]]


class FollowingResponse:
    """Adds ``block``, a resume block, after the first text of each message in a response of OpenAI's Responses dialect,
    because an agent uses the last message. A complete response that calls a tool of the client is not changed; in a
    stream, messages before a tool call get the block.
    """

    def __init__(self, block: str) -> None:
        self._text_added = f"\n\n{block}"
        self._added = 0

    def to_body(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return a complete response with the resume block added to its messages; ``body`` itself if it calls a tool of
        the client."""
        output = body.get("output")
        if isinstance(output, list) and any(_type_of(item) in _CLIENT_CALLS for item in output):
            return body
        return self._add_to_response(body)

    def _add_to_response(self, body: dict[str, Any]) -> dict[str, Any]:
        output = body.get("output")
        if body.get("object") != "response" or not isinstance(output, list):
            return body
        return {**body, "output": [self._item(item) for item in output]}

    def to_event(self, frame: StreamFrame) -> Events:
        """Return the events, as bytes, to send in place of one event of a stream.

        When a text ends, an event that adds the block comes first; that text also gets the block in the later events
        that repeat it. Sequence numbers are raised by the number of added events. An unchanged event keeps its
        bytes."""
        data = frame.data
        if not isinstance(data, dict) or not isinstance(data.get("type"), str):
            return [frame.raw]
        changed, front = dict(data), []
        match data["type"]:
            case "response.output_text.done" if _is_first(data) and isinstance(data.get("text"), str):
                front = [self._delta(data)]
                changed["text"] = data["text"] + self._text_added
            case "response.content_part.done" if _is_first(data):
                changed["part"] = self._part(data.get("part"))
            case "response.output_item.done":
                changed["item"] = self._item(data.get("item"))
            case "response.completed" | "response.incomplete" if isinstance(data.get("response"), dict):
                changed["response"] = self._add_to_response(data["response"])
        if is_number(number := data.get("sequence_number")):
            changed["sequence_number"] = number + self._added
        return [*front, frame.raw if changed == data else frame_event(frame, changed)]

    def _delta(self, done: Mapping[str, Any]) -> bytes:
        number = done.get("sequence_number")
        fields = {name: value for name, value in done.items() if name != "text"}
        fields |= {"type": _DELTA, "delta": self._text_added}
        if is_number(number):
            fields["sequence_number"] = number + self._added
        self._added += 1
        return event(_DELTA, fields)

    def _item(self, item: Any) -> Any:
        content = item.get("content") if _type_of(item) == "message" else None
        if not isinstance(content, list) or not content:
            return item
        return {**item, "content": [self._part(content[0]), *content[1:]]}

    def _part(self, part: Any) -> Any:
        if _type_of(part) != "output_text" or not isinstance(part.get("text"), str):
            return part
        return {**part, "text": part["text"] + self._text_added}


def _type_of(value: object) -> object:
    return value.get("type") if isinstance(value, dict) else None


def _reason(data: Mapping[str, Any]) -> object:
    delta = data.get("delta")
    return delta.get("stop_reason") if isinstance(delta, dict) else None


def _is_first(data: Mapping[str, Any]) -> bool:
    return data.get("content_index") == 0
