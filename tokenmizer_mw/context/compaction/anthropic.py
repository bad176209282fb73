"""Compactions in Anthropic's dialect: finds compaction blocks in a transcript, and builds responses that
contain one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from tokenmizer_mw.context.compaction.contract import (
    CONTINUE,
    Native,
    ReducedRequest,
    SealBroken,
    SealedContent,
    is_ours,
    native_at,
)
from tokenmizer_mw.context.compaction.request import format_agent_reply, read_context_edits
from tokenmizer_mw.context.compaction.streams import (
    Events,
    FollowingMessage,
    StreamFrame,
    event,
    frame_event,
    is_number,
)

NAME: Final = "anthropic"
read_wishes = read_context_edits
Following = FollowingMessage
MESSAGES: Final = "messages"
_KIND: Final = "compaction"
ASKING: Final = ("compaction", "context_management")
"""Fields of a request that ask for compaction and clearing."""
_NONE: Final = {"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
"""Token usage of a compaction that this package makes: no model is called."""


def reduce_request(body: Mapping[str, Any], unseal: Callable[[str], SealedContent]) -> ReducedRequest:
    """Return the request without the messages that its newest compaction (made by this server) replaces, and without
    the fields that ask for compaction.

    ``unseal``: decrypts a compaction. Raises ``SealBroken`` if the newest compaction claims to be this server's and was
    made by another server, or was changed.
    """
    messages = body.get("messages")
    rest = {name: value for name, value in body.items() if name not in ASKING}
    if not isinstance(messages, list):
        return ReducedRequest(rest)
    place = next(iter(_compactions(messages)), None)
    if place is None:
        left = _drop_compactions(messages)
        return ReducedRequest({**rest, "messages": left}, emptied=True) if left != messages else ReducedRequest(rest)
    block = messages[place[0]]["content"][place[1]]
    content = unseal(block.get("encrypted_content"))
    if block.get("content") != content.text:
        raise SealBroken("its content is not what was made here")
    left = _messages_after(messages, place)
    repeated = [{"role": "user", "content": content.open or CONTINUE}]
    return ReducedRequest({**rest, "messages": left or repeated}, content, bare=not left)


def find_native(body: Mapping[str, Any]) -> Native | None:
    """Return the newest compaction with content in the request ``body`` if a provider made it; ``None`` if this package
    made it, or if there is none.

    Only the mark at the beginning of ``encrypted_content`` is tested. Whether this server made a compaction with that
    mark shows when ``reduce_request`` decrypts it: it raises ``SealBroken`` for any other.
    """
    messages = body.get("messages")
    place = next(iter(_compactions(messages)), None) if isinstance(messages, list) else None
    if place is None or not isinstance(messages, list):
        return None
    block = messages[place[0]]["content"][place[1]]
    sealed = block.get("encrypted_content")
    return None if is_ours(sealed) else native_at(place[0], block.get("content"), sealed)


def follow(body: bytes, native: Native, block: str) -> tuple[bytes, str]:
    """Return the request body to forward, and the text to add before its messages.

    ``native``: the provider's own compaction in the request. ``block``: the text for the model. Here the body is
    unchanged and the text is ``block``. It must follow the client's system prompt, because the provider drops
    everything before its compaction.
    """
    return body, block


def _compactions(messages: Sequence[Any]) -> Iterator[tuple[int, int]]:
    """Yield the position of each compaction block with content, the newest first: the index of its message, and its
    index in that message."""
    for at in reversed(range(len(messages))):
        content = messages[at].get("content") if isinstance(messages[at], dict) else None
        blocks = content if isinstance(content, list) else []
        for within in reversed(range(len(blocks))):
            if _is_compaction(blocks[within]) and blocks[within].get("content") is not None:
                yield at, within


def _is_compaction(block: object) -> bool:
    return isinstance(block, dict) and block.get("type") == _KIND


def _messages_after(messages: Sequence[Any], place: tuple[int, int]) -> list[Any]:
    at, within = place
    first = {**messages[at], "content": messages[at]["content"][within + 1 :]}
    return _drop_compactions([first, *messages[at + 1 :]])


def _drop_compactions(messages: Sequence[Any]) -> list[Any]:
    """Return ``messages`` without compaction blocks, and without messages that contained nothing else."""
    left = [_without(message) for message in messages]
    return [message for message in left if not isinstance(message, dict) or message.get("content") != []]


def _without(message: Any) -> Any:
    """Return ``message`` without compaction blocks (here only blocks without content are left); the same object if it
    has none."""
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list) or not any(map(_is_compaction, content)):
        return message
    return {**message, "content": [block for block in content if not _is_compaction(block)]}


def block_of(content: SealedContent, sealed: str) -> dict[str, Any]:
    """Return the compaction as a content block of Anthropic's Messages API. ``sealed``: the same, encrypted by
    ``Seal.close``."""
    return {"type": _KIND, "content": content.text, "encrypted_content": sealed}


def restore_trigger(body: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``body``, which was made from the request ``given``, with the fields of ``given`` that ask for a
    compaction."""
    return {**body, **{name: given[name] for name in ASKING if name in given}}


def alone(model: str, content: SealedContent, sealed: str, created: int, *, standalone: bool) -> dict[str, Any]:
    """Return a complete response that contains only a compaction.

    ``content``: the compaction. ``sealed``: the same, encrypted by ``Seal.close``. ``created`` (seconds since the
    epoch) and ``standalone`` have no effect in this dialect.
    """
    name = hashlib.sha256(sealed.encode("ascii")).hexdigest()[:24]
    usage = {**_NONE, "iterations": [{"type": _KIND, **_NONE}]}
    message = {"id": f"msg_{name}", "type": "message", "role": "assistant", "model": model}
    ended = {"stop_reason": _KIND, "stop_sequence": None}
    return {**message, "content": [block_of(content, sealed)], **ended, "usage": usage}


def make_answer(model: str, text: str, created: int) -> dict[str, Any]:
    """Return a complete response to an agent that asked for a summary of its chat: a message with ``text``. ``created``
    has no effect in this dialect."""
    name = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]
    message = {"id": f"msg_{name}", "type": "message", "role": "assistant", "model": model}
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    return {**message, "content": [{"type": "text", "text": format_agent_reply(text)}], **ended, "usage": dict(_NONE)}


def make_stream(whole: Mapping[str, Any]) -> bytes:
    """Return the server-sent events that stream a complete message of the Messages API.

    ``whole``: a message from ``make_answer`` or ``alone``. It must have exactly one content block, a text or a
    compaction. This is not checked: other messages raise an error or lose content.
    """
    begun = {**whole, "content": [], "stop_reason": None}
    block = whole["content"][0]
    delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    return b"".join(
        (
            _event("message_start", message=begun),
            *_block_events(block),
            _event("message_delta", delta=delta, usage=whole["usage"]),
            _event("message_stop"),
        )
    )


def _event(kind: str, **members: Any) -> bytes:
    return event(kind, {"type": kind, **members})


def _block_events(block: Mapping[str, Any]) -> Iterator[bytes]:
    if block["type"] == "text":
        yield _event("content_block_start", index=0, content_block={**block, "text": ""})
        yield _event("content_block_delta", index=0, delta={"type": "text_delta", "text": block["text"]})
        yield _event("content_block_stop", index=0)
        return
    content = {name: block[name] for name in ("content", "encrypted_content")}
    yield _event("content_block_start", index=0, content_block={"type": _KIND, "content": None})
    yield _event("content_block_delta", index=0, delta={"type": "compaction_delta", **content})
    yield _event("content_block_stop", index=0)


class MessagesAddition:
    """Adds content to a provider's response: a compaction of this package before the model's content, and the list of
    the context edits (such as cleared tool results) that were applied.

    ``content``: the compaction, ``None`` for none; ``sealed``: the same, encrypted. ``edits``: the list; empty: none.
    """

    def __init__(self, content: SealedContent | None, sealed: str, edits: Sequence[Mapping[str, Any]]) -> None:
        self._block = block_of(content, sealed) if content is not None else None
        self._edits = list(edits)

    def to_body(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return a complete response with both added: the compaction as the first content block, the edits as
        ``context_management.applied_edits``. A body that is not a message (such as an error) is returned unchanged."""
        content = body.get("content")
        if body.get("type") != "message" or not isinstance(content, list):
            return body
        front = [self._block] if self._block is not None else []
        return self._add_applied_edits({**body, "content": [*front, *content], "usage": self._usage(body.get("usage"))})

    def to_event(self, frame: StreamFrame) -> Events:
        """Return the events, as bytes, to send in place of one event of a stream.

        After "message_start" come the events of the compaction. The indexes of the model's content blocks are raised
        by one. "message_delta" gets the applied edits and the token counts. Other events are returned unchanged."""
        data = frame.data
        index = data.get("index", 0) if isinstance(data, dict) else None
        match data.get("type") if isinstance(data, dict) else None:
            case "message_start" if self._block is not None:
                return [frame.raw, *_block_events(self._block)]
            case "content_block_start" | "content_block_delta" | "content_block_stop" if self._block and is_number(
                index
            ):
                return [frame_event(frame, {**data, "index": index + 1})]
            case "message_delta":
                return [frame_event(frame, self._add_applied_edits({**data, "usage": self._usage(data.get("usage"))}))]
        return [frame.raw]

    def _add_applied_edits(self, holder: dict[str, Any]) -> dict[str, Any]:
        return {**holder, "context_management": {"applied_edits": self._edits}} if self._edits else holder

    def _usage(self, usage: Any) -> Any:
        """Return ``usage``, the token counts of a message, with a first entry for the compaction in ``iterations``: 0
        tokens each, because no model made it. Unchanged without a compaction, or if ``usage`` is no mapping."""
        if self._block is None or not isinstance(usage, dict):
            return usage
        counts = {name: count if isinstance(count := usage.get(name), int) else 0 for name in _NONE}
        iterations = usage.get("iterations")
        sampled = iterations if iterations and isinstance(iterations, list) else [{"type": "message", **counts}]
        return {**usage, "iterations": [{"type": _KIND, **_NONE}, *sampled]}


Addition = MessagesAddition
