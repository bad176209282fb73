"""Refuse requests whose new text looks like an attempt to take over the model (prompt injection)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.errors import RequestBlocked
from tokenmizer_mw.model.message import Message, Role, digest
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.forking import make_lock
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.resilience.bounded_log import patience
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.reply import refusal

if TYPE_CHECKING:
    from tokenmizer_mw.chat.session_access import SessionAccess
    from tokenmizer_mw.safety.guard import Suspicion


REFUSED_MAX: Final = 10_000
"""Digests of at most this many messages of refused requests are remembered."""


class RequestGuard:
    """Searches the new text of requests for attempts to take over the model (prompt injection)."""

    def __init__(self, settings: Settings, access: SessionAccess, count: Callable[..., None]) -> None:
        self.blocks = settings.guard == "block"
        """Whether the guard may refuse a request."""
        self._settings = settings
        self._access = access
        self._count = count
        self._refused: OrderedDict[tuple[SessionKey, str], None] = OrderedDict()
        self._lock = make_lock()

    def refuse_suspicious(self, key: SessionKey, request: ChatRequest, dialect: str = "") -> None:
        """Raise ``RequestBlocked`` if the guard judges new messages of ``request`` as prompt injection. Reads the
        store.

        ``dialect``: the API format of the error's response; "" for an error without a response. Nothing of a refused
        request is recorded, because its sender may have no permission. This process remembers digests of the refused
        messages. A later request that has them in its history, followed by other messages, is not refused because of
        them.
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
        """Return the most serious finding in new messages (``news``, the newest last) and in messages that a client
        application sends beside the chat (``beside``). Messages that were refused before do not count, unless it is the
        newest one."""
        from tokenmizer_mw.safety.guard import NOTHING, judge  # what only reads judges nothing

        judged = [message for message, mark in zip(news[:-1], marks, strict=False) if mark not in self._refused]
        return max(map(judge, (*judged, *news[-1:], *beside)), key=lambda found: found.score, default=NOTHING)

    def _find_news(self, key: SessionKey, request: ChatRequest) -> tuple[Sequence[Message], Sequence[Message]]:
        """Return two lists of messages of ``request``. The first has the messages, without system messages, that the
        session does not have yet; the newest message is always among them. The second has the system messages that
        stand after the last message the session has: in them, client applications send such things as files anew in
        each request.
        """
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
