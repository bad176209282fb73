"""Compactions in OpenAI's Responses dialect: finds compaction items in the input, and builds responses that contain
one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tokenmizer_mw.context.compaction.contract import (
    CONTINUE,
    Native,
    ReducedRequest,
    SealedContent,
    is_ours,
    native_at,
)
from tokenmizer_mw.context.compaction.request import TRIGGER, is_trigger, read_context_settings
from tokenmizer_mw.context.compaction.streams import (
    Events,
    FollowingResponse,
    StreamFrame,
    event,
    frame_event,
    is_number,
)
from tokenmizer_mw.wire.spans import decode_body, element_spans, read_object, splice

NAME: Final = "openai_responses"
read_wishes = read_context_settings
Following = FollowingResponse
MESSAGES: Final = "input"
_KIND: Final = "compaction"
ASKING: Final = ("context_management",)
"""Fields of a request that ask for compaction."""
_BEGINNING: Final = frozenset({"response.created", "response.queued", "response.in_progress"})
_ADDED: Final = 2
"""Number of events that ``ResponsesAddition`` inserts into a stream."""


def reduce_request(body: Mapping[str, Any], unseal: Callable[[str], SealedContent]) -> ReducedRequest:
    """Return the request without the items that its newest compaction (made by this server) replaces, and without the
    items that ask for compaction.

    ``unseal``: decrypts a compaction. Raises ``SealBroken`` if the newest compaction claims to be this server's and was
    made by another server, or was changed.
    """
    given = body.get("input")
    rest = {name: value for name, value in body.items() if name not in ASKING}
    if not isinstance(given, list):
        return ReducedRequest(rest)
    items = [item for item in given if not is_trigger(item)]
    place = _newest(items)
    if place is None:
        return (
            ReducedRequest({**rest, "input": items}, emptied=True) if len(items) < len(given) else ReducedRequest(rest)
        )
    content = unseal(items[place].get("encrypted_content"))
    instructions = [item for item in items[:place] if _instructs(item)]
    left = items[place + 1 :]
    repeated = [{"role": "user", "content": content.open or CONTINUE}]
    return ReducedRequest({**rest, "input": [*instructions, *(left or repeated)]}, content, bare=not left)


def restore_trigger(body: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of ``body``, which was made from the request ``given``, that asks for a compaction as ``given``
    does: with its fields ``ASKING``, and with a trigger item at the end of the input if it had one."""
    asking = {name: given[name] for name in ASKING if name in given}
    if not any(map(is_trigger, given["input"] if isinstance(given.get("input"), list) else ())):
        return {**body, **asking}
    return {**body, **asking, "input": [*body["input"], {"type": TRIGGER}]}


def find_native(body: Mapping[str, Any]) -> Native | None:
    """Return the newest compaction in the request ``body`` if a provider made it; ``None`` if this package made it, or
    if there is none.

    Only the mark at the beginning of ``encrypted_content`` is tested. Whether this server made a compaction with that
    mark shows when ``reduce_request`` decrypts it: it raises ``SealBroken`` for any other.
    """
    items = body.get("input")
    place = _newest(items) if isinstance(items, list) else None
    if place is None or not isinstance(items, list):
        return None
    sealed = items[place].get("encrypted_content")
    return None if is_ours(sealed) else native_at(place, sealed if sealed is not None else items[place].get("id"))


def follow(body: bytes, native: Native, block: str) -> tuple[bytes, str]:
    """Return the request body with ``block`` as an item directly after ``native``, the provider's own compaction,
    because providers may drop everything before it. All other bytes stay. The second value, the text to add before the
    messages, is always ""."""
    found = read_object(decode_body(body))
    end = element_spans(found.text, found.places["input"])[native.place][1]
    item = json.dumps({"role": "developer", "content": block}, ensure_ascii=False, separators=(",", ":"))
    return splice(found.text, [(end, end, f",{item}")]).encode("utf-8", "surrogatepass"), ""


def _newest(items: Sequence[Any]) -> int | None:
    return next((place for place in reversed(range(len(items))) if _is_compaction(items[place])), None)


def _is_compaction(item: object) -> bool:
    return isinstance(item, dict) and item.get("type") == _KIND


def _instructs(item: object) -> bool:
    """Whether an item is a system or developer message. A compaction does not replace these."""
    return isinstance(item, dict) and item.get("role") in ("system", "developer")


def item_of(sealed: str) -> dict[str, Any]:
    """Return the compaction item of the Responses API with ``sealed``, an encrypted compaction (``Seal.close``)."""
    return {"id": f"cmp_{_name(sealed)}", "type": _KIND, "encrypted_content": sealed}


def _name(sealed: str) -> str:
    return hashlib.sha256(sealed.encode("ascii")).hexdigest()[:24]


def alone(model: str, content: SealedContent, sealed: str, created: int, *, standalone: bool) -> dict[str, Any]:
    """Return a complete response that contains only a compaction; for the ``standalone`` endpoint, the items to use as
    the next input.

    ``content``: the compaction. ``sealed``: the same, encrypted by ``Seal.close``. ``created``: seconds since the
    epoch.
    """
    if not standalone:
        return _response(f"resp_{_name(sealed)}", model, [item_of(sealed)], created)
    named = {"id": f"resp_{_name(sealed)}", "object": "response.compaction", "created_at": created, "model": model}
    return {**named, "output": [item_of(sealed)], "usage": _no_usage()}


def make_answer(model: str, text: str, created: int) -> dict[str, Any]:
    """Return a complete response to an agent that asked for a summary of its chat: a message with ``text``.
    ``created``: seconds since the epoch."""
    name = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    message = {"id": f"msg_{name}", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    return _response(f"resp_{name}", model, [message], created)


def _response(id: str, model: str, output: list[dict[str, Any]], created: int) -> dict[str, Any]:
    return {
        "id": id,
        "object": "response",
        "created_at": created,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "model": model,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": _no_usage(),
    }


def _no_usage() -> dict[str, Any]:
    return {
        "input_tokens": 0,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 0,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 0,
    }


def make_stream(whole: Mapping[str, Any]) -> bytes:
    """Return the server-sent events that stream a complete response of the Responses API.

    ``whole``: a response from ``make_answer``, or from ``alone`` with ``standalone=False``. Each item of its output
    must be a compaction, or a message with exactly one text part. This is not checked: other items raise an error or
    lose text.
    """
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: list[tuple[str, dict[str, Any]]] = [("created", {"response": begun}), ("in_progress", {"response": begun})]
    for place, item in enumerate(whole["output"]):
        events += _events_of(item, place)
    events.append(("completed", {"response": whole}))
    return b"".join(_event(name, number, members) for number, (name, members) in enumerate(events))


def _event(name: str, number: int, members: Mapping[str, Any]) -> bytes:
    kind = f"response.{name}"
    return event(kind, {"type": kind, "sequence_number": number, **members})


def _events_of(item: Mapping[str, Any], place: int) -> list[tuple[str, dict[str, Any]]]:
    """Return the events that stream one item of an output, each as its name without "response." and its fields.

    ``item``: a compaction, or a message with exactly one text part; ``place``: its index in the output."""
    where = {"output_index": place}
    if item["type"] == _KIND:
        return [(f"output_item.{end}", {**where, "item": item}) for end in ("added", "done")]
    part, within = item["content"][0], {**where, "item_id": item["id"], "content_index": 0}
    return [
        ("output_item.added", {**where, "item": {**item, "status": "in_progress", "content": []}}),
        ("content_part.added", {**within, "part": {**part, "text": ""}}),
        ("output_text.delta", {**within, "delta": part["text"], "logprobs": []}),
        ("output_text.done", {**within, "text": part["text"], "logprobs": []}),
        ("content_part.done", {**within, "part": part}),
        ("output_item.done", {**where, "item": item}),
    ]


class ResponsesAddition:
    """Adds a compaction of this package before the items of a provider's response. ``sealed``: the encrypted
    compaction. ``content`` and ``edits`` have no effect in this dialect."""

    def __init__(self, content: SealedContent | None, sealed: str, edits: Sequence[Mapping[str, Any]] = ()) -> None:
        self._item = item_of(sealed)
        self._begun = False

    def to_body(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return a complete response with the compaction as the first item of its output. A body that is not a response
        (such as an error) is returned unchanged."""
        output = body.get("output")
        if body.get("object") != "response" or not isinstance(output, list):
            return body
        return {**body, "output": [self._item, *output]}

    def to_event(self, frame: StreamFrame) -> Events:
        """Return the events, as bytes, to send in place of one event of a stream.

        Before the first event after the opening ones come two events of the compaction item. From there on, sequence
        numbers are raised by two and output indexes by one, and a complete response in an event gets the item, too.
        The opening events, and data that is not JSON or has no type, are returned unchanged."""
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
        return [*front, frame_event(frame, moved)]

    def _item_events(self, number: int) -> list[bytes]:
        kinds = ("response.output_item.added", "response.output_item.done")
        fields = {"output_index": 0, "item": self._item}
        return [
            event(kind, {"type": kind, "sequence_number": number + place, **fields}) for place, kind in enumerate(kinds)
        ]


Addition = ResponsesAddition
