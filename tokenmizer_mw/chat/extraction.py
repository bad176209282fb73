"""Schedule the extraction of facts in the background, or run it at once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.chat.redaction import ContentRedaction
from tokenmizer_mw.chat.session_access import SessionAccess, no_view
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.session.reminder import ReminderService
from tokenmizer_mw.session.transcript_edits import HistoryMessages
from tokenmizer_mw.settings import Settings

if TYPE_CHECKING:
    from tokenmizer_mw.context.passage_embedding import PassageEmbedding

SENTENCES_STEP: Final = 20_000
"""Characters whose sentences are read at a time in the background, some 8 ms of CPU time."""


class ExtractionSchedule:
    """Facts are derived from messages that are durable, in the background or now."""

    def __init__(
        self,
        settings: Settings,
        access: SessionAccess,
        redaction: ContentRedaction,
        *,
        reminders: Callable[[], ReminderService],
        embedding: PassageEmbedding | None,
        defer: Callable[[Hashable, Callable[[], object]], bool],
        count: Callable[..., None],
    ) -> None:
        self._settings = settings
        self._access = access
        self._redaction = redaction
        self._find_reminders = reminders
        self._embedding = embedding
        self._defer = defer
        self._count = count

    def schedule(self, key: SessionKey) -> None:
        """Draw the facts of what was committed, in the background. Never blocks; when the queue is full the next
        look at the session does the work."""
        if not self._defer(key, partial(self.extract, key)):
            self._count("extraction_deferred_queue_full")

    def extract(self, key: SessionKey) -> None:
        """Draw the facts of all messages that were committed and not looked at yet. Where another thread is at it,
        this returns at once, and that one does these messages as well."""
        self._access.extract(key, no_view, wait=False)
        if self._settings.reminder_tokens:
            self._find_reminders().warm(key)
        if self._find_reminders().expects_cut(key):
            while self._access.messages.read(key, self._prepare_sentences):
                pass
        if self._embedding is not None:
            self._embedding.embed_passages_later(key)

    def _prepare_sentences(self, told: HistoryMessages) -> bool:
        """Whether there is more of a session to read before a cut needs it."""
        return told.prepare_sentences(self._redaction.remove_blocks, SENTENCES_STEP)
