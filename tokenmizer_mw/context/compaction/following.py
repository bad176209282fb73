"""A block put behind what a model says: into its last text, so that an agent that takes the text takes the block."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .streams import Events, StreamFrame, event, frame_event, is_number

_ENDED: Final = frozenset({"end_turn", "stop_sequence", "max_tokens"})
"""Why Anthropic's models stop once they have said what they had to say: none of these calls a tool."""

_DELTA: Final = "response.output_text.delta"


class FollowingMessage:
    """``block`` behind the last text of a message in Anthropic's dialect; what calls a tool stays as it is."""

    def __init__(self, block: str) -> None:
        self._told = f"\n\n{block}"
        self._texts: set[int] = set()
        self._held: tuple[int, bytes] | None = None

    def to_body(self, body: dict[str, Any]) -> dict[str, Any]:
        """A whole message with the block."""
        content = body.get("content")
        last = content[-1] if isinstance(content, list) and content else None
        if body.get("stop_reason") not in _ENDED or not isinstance(last, dict) or not isinstance(content, list):
            return body
        if last.get("type") != "text" or not isinstance(last.get("text"), str):
            return body
        return {**body, "content": [*content[:-1], {**last, "text": last["text"] + self._told}]}

    def to_event(self, frame: StreamFrame) -> Events:
        """The events that an event of a stream becomes: the end of a text waits until it is known to be the last."""
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
        delta = {"type": "content_block_delta", "index": held[0], "delta": {"type": "text_delta", "text": self._told}}
        return [*([event("content_block_delta", delta)] if with_block else []), held[1]]


class FollowingResponse:
    """``block`` behind the text of each message of a response: an agent takes the last one. What calls a tool stays as
    it is where it came whole; in a stream, the messages before a call have it."""

    def __init__(self, block: str) -> None:
        self._told = f"\n\n{block}"
        self._added = 0

    def to_body(self, body: dict[str, Any]) -> dict[str, Any]:
        """A whole response with the block."""
        output = body.get("output")
        if body.get("object") != "response" or not isinstance(output, list):
            return body
        return {**body, "output": [self._item(item) for item in output]}

    def to_event(self, frame: StreamFrame) -> Events:
        """The events that an event of a stream becomes."""
        data = frame.data
        if not isinstance(data, dict) or not isinstance(data.get("type"), str):
            return [frame.raw]
        changed, front = dict(data), []
        match data["type"]:
            case "response.output_text.done" if _is_first(data) and isinstance(data.get("text"), str):
                front = [self._delta(data)]
                changed["text"] = data["text"] + self._told
            case "response.content_part.done" if _is_first(data):
                changed["part"] = self._part(data.get("part"))
            case "response.output_item.done":
                changed["item"] = self._item(data.get("item"))
            case "response.completed" | "response.incomplete" if isinstance(data.get("response"), dict):
                changed["response"] = self.to_body(data["response"])
        if is_number(number := data.get("sequence_number")):
            changed["sequence_number"] = number + self._added
        return [*front, frame.raw if changed == data else frame_event(frame, changed)]

    def _delta(self, done: Mapping[str, Any]) -> bytes:
        number = done.get("sequence_number")
        told = {name: value for name, value in done.items() if name != "text"}
        told |= {"type": _DELTA, "delta": self._told}
        if is_number(number):
            told["sequence_number"] = number + self._added
        self._added += 1
        return event(_DELTA, told)

    def _item(self, item: Any) -> Any:
        content = item.get("content") if _type_of(item) == "message" else None
        if not isinstance(content, list) or not content:
            return item
        return {**item, "content": [self._part(content[0]), *content[1:]]}

    def _part(self, part: Any) -> Any:
        if _type_of(part) != "output_text" or not isinstance(part.get("text"), str):
            return part
        return {**part, "text": part["text"] + self._told}


def _type_of(value: object) -> object:
    return value.get("type") if isinstance(value, dict) else None


def _reason(data: Mapping[str, Any]) -> object:
    delta = data.get("delta")
    return delta.get("stop_reason") if isinstance(delta, dict) else None


def _is_first(data: Mapping[str, Any]) -> bool:
    return data.get("content_index") == 0
