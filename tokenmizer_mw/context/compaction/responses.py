"""Compactions in OpenAI's Responses dialect: items found in an input, and answers that carry one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from .asked import asked_of_responses
from .history import CONTINUE, Behind
from .seal import SealedContent, is_ours
from .streams import Events, StreamFrame, event, framed, is_number

NAME: Final = "openai_responses"
asked = asked_of_responses

_KIND: Final = "compaction"
ASKING: Final = ("context_management",)
"""Members that ask for compaction."""
_BEGINNING: Final = frozenset({"response.created", "response.queued", "response.in_progress"})
_ADDED: Final = 2
"""Events that are put into a stream."""


def behind(body: Mapping[str, Any], unseal: Callable[[str], SealedContent]) -> Behind:
    """The request without what its newest compaction stands for, and without what asks for one.

    Raises ``SealBroken`` where that compaction claims to be ours and is not.
    """
    items = body.get("input")
    rest = {name: value for name, value in body.items() if name not in ASKING}
    if not isinstance(items, list):
        return Behind(rest)
    place = next((place for place in reversed(range(len(items))) if _is_compaction(items[place])), None)
    if place is None:
        return Behind(rest)
    sealed = items[place].get("encrypted_content")
    if not is_ours(sealed):
        return Behind(rest, foreign=True)
    kept = unseal(sealed)
    told = [item for item in items[:place] if _instructs(item)]
    left = items[place + 1 :]
    repeated = [{"role": "user", "content": kept.open or CONTINUE}]
    return Behind({**rest, "input": [*told, *(left or repeated)]}, kept, bare=not left)


def _is_compaction(item: object) -> bool:
    return isinstance(item, dict) and item.get("type") == _KIND


def _instructs(item: object) -> bool:
    """Whether an item instructs the model: no compaction stands for that."""
    return isinstance(item, dict) and item.get("role") in ("system", "developer")


def item_of(sealed: str) -> dict[str, Any]:
    """The compaction as an item."""
    return {"id": f"cmp_{_name(sealed)}", "type": _KIND, "encrypted_content": sealed}


def _name(sealed: str) -> str:
    return hashlib.sha256(sealed.encode("ascii")).hexdigest()[:24]


def answer(model: str, kept: SealedContent, sealed: str, created: int) -> dict[str, Any]:
    """What the standalone endpoint answers: the items that are the next input."""
    usage = {
        "input_tokens": 0,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 0,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 0,
    }
    named = {"id": f"resp_{_name(sealed)}", "object": "response.compaction", "created_at": created, "model": model}
    return {**named, "output": [item_of(sealed)], "usage": usage}


class ResponsesAddition:
    """What is added to a provider's answer: the compaction in front of its items."""

    def __init__(self, kept: SealedContent | None, sealed: str, edits: Sequence[Mapping[str, Any]] = ()) -> None:
        self._item = item_of(sealed)
        self._begun = False

    def to_body(self, body: dict[str, Any]) -> dict[str, Any]:
        """A whole answer with it; what is no response stays as it is."""
        output = body.get("output")
        if body.get("object") != "response" or not isinstance(output, list):
            return body
        return {**body, "output": [self._item, *output]}

    def to_event(self, frame: StreamFrame) -> Events:
        """The events that an event of a stream becomes."""
        data = frame.data
        kind = data.get("type") if isinstance(data, dict) else None
        if not isinstance(kind, str) or kind in _BEGINNING:
            return [frame.raw]
        number = data.get("sequence_number")
        front: list[bytes] = []
        if not self._begun:
            self._begun = True
            front = self._item_events(number if is_number(number) else 0)
        moved = dict(data)
        if is_number(number):
            moved["sequence_number"] = number + _ADDED
        if is_number(index := data.get("output_index")):
            moved["output_index"] = index + 1
        if isinstance(response := data.get("response"), dict):
            moved["response"] = self.to_body(response)
        return [*front, framed(frame, moved)]

    def _item_events(self, number: int) -> list[bytes]:
        kinds = ("response.output_item.added", "response.output_item.done")
        told = {"output_index": 0, "item": self._item}
        return [
            event(kind, {"type": kind, "sequence_number": number + place, **told}) for place, kind in enumerate(kinds)
        ]
