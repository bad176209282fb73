"""Check and clean the text of chats: remove secrets, and this package's own blocks and reminders, from what is stored;
refuse requests that look like an attempt to take over the model; change the texts of stored events everywhere.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from tokenmizer_mw.errors import RequestBlocked
from tokenmizer_mw.model.event import Event, MessageRecorded, NodeAdded, Recorded, decode, encode
from tokenmizer_mw.model.message import Message, Role, Written, digest
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.forking import make_lock
from tokenmizer_mw.safety.fence import remove_echoes, without_own_blocks
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.resilience.bounded_log import patience
from tokenmizer_mw.wire.dialect import ChatRequest, Reply
from tokenmizer_mw.wire.reply import refusal

if TYPE_CHECKING:
    from tokenmizer_mw.chat.session_access import SessionAccess
    from tokenmizer_mw.safety.guard import Suspicion
    from tokenmizer_mw.safety.request_redaction import RequestRedactor

REFUSED_MAX: Final = 10_000
"""Messages of refused requests whose digests are remembered."""

FINISH_REASON_MAX: Final = 64
"""Characters of what a provider says about the end of a reply that are kept."""


class ContentRedaction:
    """Cleans messages before they are stored: redacts secrets, and removes resume blocks and reminders that this
    package added to the chat.

    ``read_secret`` reads the store's secret; it is called once, at first use.
    """

    def __init__(self, settings: Settings, read_secret: Callable[[], bytes], count: Callable[[str], None]) -> None:
        self._settings = settings
        self._read_secret = read_secret
        self._count = count

    @cached_property
    def secret(self) -> bytes:
        """The store's secret. Raises ``StoreError``."""
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
        """Return ``message`` without reminders of this package that a client sent back."""
        return remove_echoes(message, self.secret)

    def remove_blocks(self, message: Message) -> Message:
        """Return ``message`` without resume blocks of this package."""
        return without_own_blocks(message, self.secret)

    def redact_message(self, message: Message) -> Message:
        """Return ``message`` with secrets redacted."""
        return message if self.redactor is None else self.redactor.message(message)

    def redact_text(self, text: str) -> str:
        """Return ``text`` with secrets redacted; the same object if it contains none."""
        return text if self.redactor is None else self.redactor.text(text)

    def redact_written(self, written: Written) -> Written:
        """Return ``written`` with secrets redacted in the message and in its original JSON text."""
        if self.redactor is None:
            return written
        message, original = self.redactor.message(written.message), self.redactor.document(written.original)
        return replace(written, message=message, original=original)

    def redact_reply(self, reply: Reply | None) -> Reply | None:
        """Return ``reply`` with secrets redacted."""
        if reply is None:
            return None
        finish_reason = self.redact_text(reply.finish_reason[:FINISH_REASON_MAX])
        message = reply.message if reply.message is None else self.redact_message(reply.message)
        if message is reply.message and finish_reason == reply.finish_reason:
            return reply
        self._count("reply_redacted")
        return replace(reply, message=message, finish_reason=finish_reason)


class RequestGuard:
    """Searches the new text of requests for attempts to take over the model (prompt injection)."""

    def __init__(self, settings: Settings, access: SessionAccess, count: Callable[..., None]) -> None:
        self._settings = settings
        self._access = access
        self._count = count
        self._refused: OrderedDict[tuple[SessionKey, str], None] = OrderedDict()
        self._lock = make_lock()

    @property
    def blocks(self) -> bool:
        """Whether the guard may refuse a request: the setting ``guard`` is "block"."""
        return self._settings.guard == "block"

    def refuse_suspicious(self, key: SessionKey, request: ChatRequest, dialect: str = "") -> None:
        """Raise ``RequestBlocked`` for a suspicious request, with a response in the format of ``dialect`` ("": without
        one). Nothing of it is recorded, since its sender may not be allowed to. This process remembers digests of its
        messages, so that a later request that has them in its history, followed by other messages, is not refused
        because of them. Reads the store.
        """
        news, beside = self._find_news(key, request)
        marks = [(key, digest(message)) for message in news]
        suspicion = self._judge_news(news, marks, beside)
        if not suspicion.flagged:
            return
        with self._lock:
            self._refused.update(dict.fromkeys(marks))
            while len(self._refused) > REFUSED_MAX:
                self._refused.popitem(last=False)
        self._count("request_blocked")
        status, message = RequestBlocked.STATUS, RequestBlocked.MESSAGE
        body = refusal(dialect, status, "blocked_by_guard", message) if dialect else b""
        raise RequestBlocked(suspicion.signals, body)

    def _judge_news(
        self, news: Sequence[Message], marks: Sequence[tuple[SessionKey, str]], beside: Sequence[Message]
    ) -> Suspicion:
        """What the guard finds in ``news``, the newest message last, where others that were refused before do not
        count, and in what a client application sends ``beside`` the chat."""
        from tokenmizer_mw.safety.guard import NOTHING, judge  # what only reads judges nothing

        judged = [message for message, mark in zip(news[:-1], marks, strict=False) if mark not in self._refused]
        return max(map(judge, (*judged, *news[-1:], *beside)), key=lambda found: found.score, default=NOTHING)

    def _find_news(self, key: SessionKey, request: ChatRequest) -> tuple[Sequence[Message], Sequence[Message]]:
        """The messages that the session does not have yet with the newest one, and those that a client application
        sends beside the chat among them: files come in each request anew."""
        messages = request.messages
        spoken = messages.without_system()
        with patience(self._settings.store_wait_seconds):
            start = self._access.sessions.read(
                key, lambda state: state.transcript.first_new(spoken, part=spoken.part)[0]
            )
        places = [place for place, role in enumerate(messages.roles) if role is not Role.SYSTEM]
        known = max(0, min(start, len(spoken) - 1))
        first = places[known - 1] + 1 if known else 0
        others = (place for place in range(first, len(messages)) if messages.roles[place] is Role.SYSTEM)
        return spoken[known:], list(map(messages.as_sent, others))


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
