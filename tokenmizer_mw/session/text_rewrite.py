"""Redact stored events: apply a change to every text in the events of a session."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from tokenmizer_mw.model.event import Event, MessageRecorded, NodeAdded, Recorded, decode, encode
from tokenmizer_mw.model.message import Message, digest

# fmt: off
_NAMES: Final = frozenset({
    "id", "ids", "type", "status", "kind", "role", "trust", "source", "target", "old", "new", "digest", "anchor",
    "outcome", "finish_reason", "carried", "flagged", "cut", "nodes",
})
# fmt: on
"""Members of stored events that are names of ours, never words of anybody."""


class EventRedaction:
    """Changes all texts in the events of one session, for redaction. The events are passed in log order.

    - ``message``: function that changes a message.
    - ``document``: function that changes JSON text written by a library.
    - ``text``: function that changes any other text.

    Message digests are computed again, so that a client that resends its transcript, redacted in the same way, is
    recognised.
    """

    def __init__(
        self, message: Callable[[Message], Message], text: Callable[[str], str], document: Callable[[str], str]
    ) -> None:
        self._message, self._text, self._document = message, text, document
        self._digests: dict[str, str] = {}
        self._turns: set[int] = set()

    def __call__(self, recorded: Recorded) -> Event:
        """The event as it should have been recorded; the same object when there is nothing to change."""
        event = recorded.event
        if isinstance(event, MessageRecorded):
            return self._rewrite_message(event)
        kind, version, payload = encode(event)
        told = json.loads(payload)
        changed = self._rewrite_value(told)
        if "anchor" in changed:
            changed["anchor"] = self._digests.get(changed["anchor"], changed["anchor"])
        new = event if changed == told else decode(kind, version, json.dumps(changed))
        if isinstance(new, NodeAdded) and new.node.source.turn in self._turns and new.node.source.span is not None:
            return NodeAdded(replace(new.node, source=replace(new.node.source, span=None)))
        return new

    def _rewrite_message(self, event: MessageRecorded) -> MessageRecorded:
        message, original = self._message(event.message), self._document(event.original)
        if message is event.message:
            return event if original == event.original else replace(event, original=original)
        mark = self._digests[event.digest] = digest(message)
        self._turns.add(event.turn)
        return replace(event, message=message, digest=mark, original=original)

    def _rewrite_value(self, value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: self._rewrite_value(inner, key) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._rewrite_value(inner, name) for inner in value]
        return self._text(value) if isinstance(value, str) and name not in _NAMES else value
