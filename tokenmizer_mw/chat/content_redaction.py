"""Redaction of what is stored: secrets, and this package's own blocks and reminders, are removed from new messages, and
secrets in events that are stored already are replaced."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from tokenmizer_mw.model.event import Event, MessageRecorded, NodeAdded, Recorded, decode, encode
from tokenmizer_mw.model.message import Message, Written, digest
from tokenmizer_mw.runtime.forking import make_lock
from tokenmizer_mw.safety.fence import remove_echoes, without_own_blocks
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.dialect import Reply

if TYPE_CHECKING:
    from tokenmizer_mw.safety.request_redaction import RequestRedactor


FINISH_REASON_MAX: Final = 64
"""At most this many characters of a provider's finish reason ("stop", "length") are stored."""


class ContentRedaction:
    """Cleans messages before they are stored: redacts secrets, and removes resume blocks and reminders that this
    package added to the chat.

    ``read_secret`` reads the store's secret (a random key that marks this package's own texts); it is called once, at
    first use. ``count`` increments the counter of a name.
    """

    def __init__(self, settings: Settings, read_secret: Callable[[], bytes], count: Callable[[str], None]) -> None:
        self._settings = settings
        self._read_secret = read_secret
        self._count = count

    @cached_property
    def secret(self) -> bytes:
        """The store's secret: random bytes with which this package recognises its own resume blocks and reminders. Read
        from the store at the first access, which raises ``StoreError`` if that fails."""
        return self._read_secret()

    @cached_property
    def redactor(self) -> RequestRedactor | None:
        """The redactor of secrets; ``None`` if redaction is off. Raises ``ConfigError`` for invalid redaction rules."""
        settings = self._settings
        if not settings.redact:
            return None
        from tokenmizer_mw.safety.redact.config import redactor_of  # what only reads has nothing to redact
        from tokenmizer_mw.safety.request_redaction import RequestRedactor

        return RequestRedactor(
            redactor_of(settings, self.secret),
            beginnings_max=settings.sessions_cached,
            bytes_max=settings.known_requests_max,
            lock=make_lock(),
        )

    @property
    def is_ready(self) -> bool:
        """Whether the redaction rules are loaded; if not, a request must wait for them and for the store."""
        return not self._settings.redact or "redactor" in self.__dict__

    def remove_echoes(self, message: Message) -> Message:
        """Return ``message`` without the resume blocks and reminders that this package added to an earlier request and
        a client sent back; the same object if it contains none. A message that would be empty without them is returned
        unchanged."""
        return remove_echoes(message, self.secret)

    def remove_blocks(self, message: Message) -> Message:
        """Return ``message`` with spaces in place of the resume blocks and reminders of this package in its text and
        tool results, so that no fact is extracted from them; the same object if it contains none."""
        return without_own_blocks(message, self.secret)

    def redact_message(self, message: Message) -> Message:
        """Return ``message`` with each secret replaced by a placeholder; the same object if it contains none, or if
        redaction is off."""
        return message if self.redactor is None else self.redactor.message(message)

    def redact_text(self, text: str) -> str:
        """Return ``text`` with each secret replaced by a placeholder; the same object if it contains none, or if
        redaction is off."""
        return text if self.redactor is None else self.redactor.text(text)

    def redact_written(self, written: Written) -> Written:
        """Return ``written`` with secrets redacted in the message and in its original JSON text."""
        if self.redactor is None:
            return written
        message, original = self.redactor.message(written.message), self.redactor.document(written.original)
        return replace(written, message=message, original=original)

    def redact_reply(self, reply: Reply | None) -> Reply | None:
        """Return ``reply`` with secrets redacted and its finish reason cut to ``FINISH_REASON_MAX`` characters; the
        same object if nothing changes, ``None`` for ``None``. A change is counted ("reply_redacted")."""
        if reply is None:
            return None
        finish_reason = self.redact_text(reply.finish_reason[:FINISH_REASON_MAX])
        message = reply.message if reply.message is None else self.redact_message(reply.message)
        if message is reply.message and finish_reason == reply.finish_reason:
            return reply
        self._count("reply_redacted")
        return replace(reply, message=message, finish_reason=finish_reason)


# fmt: off
_NAMES: Final = frozenset({
    "id", "ids", "type", "status", "kind", "role", "trust", "source", "target", "old", "new", "digest", "anchor",
    "outcome", "finish_reason", "carried", "flagged", "cut", "nodes",
})
# fmt: on
"""Fields of stored events that contain identifiers of this package, never text that somebody wrote. They are not
redacted."""


class EventRedaction:
    """Changes all texts in the events of one session, for redaction. The events are passed in log order.

    - ``message``: function that changes a message.
    - ``document``: function that changes JSON text written by a library.
    - ``text``: function that changes any other text.

    Message digests are computed again, so that a client that resends its transcript, redacted in the same way, is
    recognised. Facts from a changed message lose their position in its text (``Source.span``).
    """

    def __init__(
        self, message: Callable[[Message], Message], text: Callable[[str], str], document: Callable[[str], str]
    ) -> None:
        self._message, self._text, self._document = message, text, document
        self._digests: dict[str, str] = {}
        self._changed: set[int] = set()

    def __call__(self, recorded: Recorded) -> Event:
        """Return the event of ``recorded`` with all its texts changed; the same object when there is nothing to
        change."""
        event = recorded.event
        if isinstance(event, MessageRecorded):
            return self._rewrite_message(event)
        kind, version, payload = encode(event)
        values = json.loads(payload)
        changed = self._rewrite_value(values)
        if "anchor" in changed:
            changed["anchor"] = self._digests.get(changed["anchor"], changed["anchor"])
        new = event if changed == values else decode(kind, version, json.dumps(changed))
        if isinstance(new, NodeAdded) and new.node.source.turn in self._changed and new.node.source.span is not None:
            return NodeAdded(replace(new.node, source=replace(new.node.source, span=None)))
        return new

    def _rewrite_message(self, event: MessageRecorded) -> MessageRecorded:
        message, original = self._message(event.message), self._document(event.original)
        if message is event.message:
            return event if original == event.original else replace(event, original=original)
        mark = self._digests[event.digest] = digest(message)
        self._changed.add(event.turn)
        return replace(event, message=message, digest=mark, original=original)

    def _rewrite_value(self, value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: self._rewrite_value(inner, key) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._rewrite_value(inner, name) for inner in value]
        return self._text(value) if isinstance(value, str) and name not in _NAMES else value
