"""Check requests for prompt injection, and refuse them if the settings say so."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tokenmizer_mw.chat.session_access import SessionAccess
from tokenmizer_mw.errors import RequestBlocked
from tokenmizer_mw.model.message import Message, Outcome
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.safety.guard import NOTHING, Suspicion, judge
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.resilience.bounded_log import patience
from tokenmizer_mw.wire.dialect import ChatRequest, Reply


class RequestGuard:
    """Searches the new text of requests for attempts to take over the model (prompt injection)."""

    def __init__(
        self,
        settings: Settings,
        access: SessionAccess,
        commit_turn: Callable[[SessionKey, Sequence[Message], Reply | None], object],
        count: Callable[..., None],
    ) -> None:
        self._settings = settings
        self._access = access
        self._commit_turn = commit_turn
        self._count = count

    @property
    def blocks(self) -> bool:
        """Whether the guard may refuse a request for its contents."""
        return self._settings.guard == "block"

    def judge_news(self, key: SessionKey, request: ChatRequest) -> Suspicion:
        """Judge the messages of a request that the session does not have yet, and its newest message. Reads
        the store.
        """
        spoken = request.messages.without_system()
        with patience(self._settings.store_wait_seconds):
            start = self._access.sessions.read(
                key, lambda state: state.transcript.first_new(spoken, part=spoken.part)[0]
            )
        news = spoken[max(0, min(start, len(spoken) - 1)) :]
        return max(map(judge, news), key=lambda found: found.score, default=NOTHING)

    def refuse_suspicious(self, key: SessionKey, request: ChatRequest) -> None:
        """Raise ``RequestBlocked`` for a suspicious request. Its messages are recorded, so that a later request that
        has them in its history, followed by other messages, is not refused because of them.
        """
        suspicion = self.judge_news(key, request)
        if suspicion.flagged:
            self._commit_turn(key, request.messages, Reply(None, Outcome.ERROR))
            self._count("request_blocked")
            raise RequestBlocked(suspicion.signals)
