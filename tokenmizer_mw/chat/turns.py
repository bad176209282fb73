"""Write turns (new messages and reply) to the event log through a queue, wait until they are durable, and schedule the
extraction of their facts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.chat.content_redaction import ContentRedaction
from tokenmizer_mw.chat.session_access import SessionAccess, no_view
from tokenmizer_mw.context.assembly import Reminder
from tokenmizer_mw.model.event import Event, TurnClosed
from tokenmizer_mw.model.message import Message, Outcome
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.tracing import span
from tokenmizer_mw.session import SessionState, joining
from tokenmizer_mw.session.reminder import ReminderService, reminder_events
from tokenmizer_mw.session.transcript_edits import HistoryMessages
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.log import Snapshot
from tokenmizer_mw.store.resilience.bounded_log import drop_patience
from tokenmizer_mw.store.resilience.spool import SpooledTurn, TurnSpool
from tokenmizer_mw.wire.dialect import Reply
from tokenmizer_mw.wire.history import History, history_of
from tokenmizer_mw.wire.host_texts import is_side_call

if TYPE_CHECKING:
    from tokenmizer_mw.context.embedding import PassageEmbedding
    from tokenmizer_mw.session.truncation import HeldCut


class TurnCommit:
    """Writes turns durably, through a queue (the spool) that keeps the order within each session. Callers wait for a
    turn for at most ``Settings.store_wait_seconds`` (the deadline)."""

    def __init__(
        self, settings: Settings, access: SessionAccess, redaction: ContentRedaction, count: Callable[..., None]
    ) -> None:
        self._settings = settings
        self._access = access
        self._redaction = redaction
        self._count = count
        self._monitor = access.bounded_log.monitor
        nobody, nothing = SessionKey("tokenmizer.health", "probe"), Snapshot(1, 0.0, 0, b"")
        self.spool = TurnSpool(
            self._monitor,
            turns_max=settings.spool_turns,
            bytes_max=settings.spool_bytes,
            # A session that nobody has keeps no snapshot, but the store must be ready to write one.
            probe=lambda: access.bounded_log.keep_snapshot(nobody, nothing),
            count=count,
            rest_seconds=settings.store_rest_seconds,
            drain_seconds=settings.drain_seconds,
        )

    def commit_turn(
        self, key: SessionKey, messages: Sequence[Message], reply: Reply | None, *, cut: HeldCut | None = None
    ) -> bool:
        """Record a turn durably: those of ``messages`` that the session does not have yet, the ``reply`` and how it
        ended, and the ``cut`` of its request (``None``: no new cut). ``reply`` is ``None`` if it could not be parsed;
        then only the messages are recorded. Facts are not extracted yet.

        Blocks until the turn is durable, at most ``Settings.store_wait_seconds``. Returns whether it is; if not, it is
        written later.
        """
        return self.wait_for_turn(self.submit_turn(key, messages, reply, cut=cut))

    def submit_turn(
        self,
        key: SessionKey,
        messages: Sequence[Message],
        reply: Reply | None,
        *,
        size: int | None = None,
        after: Callable[[], None] = lambda: None,
        reminder: Reminder | None = None,
        may_echo: bool = True,
        side_call: bool | None = None,
        writes: bool = False,
        cut: HeldCut | None = None,
    ) -> SpooledTurn:
        """Redact the reply and queue the turn for writing; do not wait for that. Returns the turn, for
        ``wait_for_turn``.

        - ``messages``: all messages of the request; ``reply``: the model's reply, ``None`` if it could not be parsed.
        - ``size``: bytes that the turn holds in memory; ``None``: the characters of its messages.
        - ``after``: called once the turn is durable, in the thread that wrote it.
        - ``reminder``: the reminder that the request contained; ``None`` for none.
        - ``may_echo``: the messages may contain reminders of this package, which are removed.
        - ``side_call``: whether this is a call of the client application itself (for a title or a summary), which is
          counted and not recorded; ``None`` to find out.
        - ``writes``: true if the calling thread may write queued turns itself and wait for the store. If ``go_on`` of
          the returned turn is set, the caller must call that next.
        - ``cut``: the new cut of the request, which is recorded with the turn; ``None`` for none.

        A turn that does not fit into the queue is counted and not stored.
        """
        if is_side_call(messages) if side_call is None else side_call:
            self._count("side_call")
            after()
            nothing = SpooledTurn(lambda: None, after)
            nothing.settle(True)
            return nothing
        reply = self._redaction.redact_reply(reply)
        transcript = messages if isinstance(messages, History) else history_of(messages)
        if may_echo:
            transcript = transcript.through(self._redaction.remove_echoes)
        if reply is not None and reply.message is not None:
            transcript = transcript.with_messages(reply.message)
        spoken = transcript.without_system()

        def decide(state: SessionState) -> list[Event]:
            transcript, held = (state.transcript, ()) if cut is None else cut.before_turn(state)
            added = joining(transcript, spoken, part=spoken.part)
            news: list[Event] = [*held, *added]
            if reply is None or not (news or reply.outcome is Outcome.ERROR):
                return news
            number = added[-1].turn if added else len(transcript)
            if reminder is not None:
                news += reminder_events(number, reminder)
            return [*news, TurnClosed(number, reply.outcome, reply.finish_reason, reply.usage)]

        append = partial(self._access.sessions.update_and_view, key, decide, no_view)
        if cut is not None:  # facts are among its events, and others want to know of them
            append = partial(self._access.update, key, decide)

        def write() -> None:
            drop_patience()  # in the turn's own context: it waits as long as the store takes
            with span("commit"):
                append()
            if reply is not None:
                self._count(f"turn_{reply.outcome.value}")

        turn = SpooledTurn(write, after)
        held = sum(len(message.text) for message in transcript) if size is None else size
        self.spool.put(key, turn, held, writes=writes)
        return turn

    def wait_for_turn(self, turn: SpooledTurn | None) -> bool:
        """Wait until a turn is durable, at most until the deadline. Returns whether it is; ``False`` for ``None``.
        Blocks.

        Does not wait while the store is known not to answer.
        """
        if turn is None:
            return False
        return self.note_waited(turn, turn.wait(self.seconds_to_wait))

    @property
    def seconds_to_wait(self) -> float:
        """How many seconds a chat waits for its turn to be written; 0 while the store is known not to answer."""
        return 0.0 if self._monitor.is_open else self._settings.store_wait_seconds

    def note_waited(self, turn: SpooledTurn, written: bool) -> bool:
        """Note that a chat stops waiting for its turn, and return ``written`` unchanged. ``written``: whether the turn
        is durable. If it is not, but is still queued, it is counted once (``turn_spooled``)."""
        if not written and turn.release():
            self._count("turn_spooled")
            if self._access.bounded_log.longest_wait() * 2 > self._settings.store_wait_seconds:
                self._monitor.late(self._access.bounded_log.place)
        return written


SENTENCES_STEP: Final = 20_000
"""Characters whose sentences are read at a time in the background, some 8 ms of CPU time."""


class ExtractionSchedule:
    """Schedules the extraction of facts from durable messages, in the background or at once.

    ``soon``, ``defer``: run work in the background under a name, as soon as possible or when the process is less busy;
    they return false when the queue is full. ``embedding``: computes vectors of passages; ``None`` without a model.
    """

    def __init__(
        self,
        settings: Settings,
        access: SessionAccess,
        redaction: ContentRedaction,
        *,
        reminders: Callable[[], ReminderService],
        embedding: PassageEmbedding | None,
        soon: Callable[[Hashable, Callable[[], object]], bool],
        defer: Callable[[Hashable, Callable[[], object]], bool],
        count: Callable[..., None],
    ) -> None:
        self._settings = settings
        self._access = access
        self._redaction = redaction
        self._find_reminders = reminders
        self._embedding = embedding
        self._soon = soon
        self._defer = defer
        self._count = count
        self._is_warm = False

    def schedule(self, key: SessionKey, *, is_chat: bool = False) -> None:
        """Extract the facts of a session's new messages in the background, when the process is less busy. Never blocks.
        When the queue is full, the next method that reads the session extracts them.

        ``is_chat``: the messages came with a chat's call, whose next one may be cut. The first such messages of a
        process are extracted at once, because that compiles the patterns of extraction, which a cut might need soon.
        """
        waits = self._is_warm or not is_chat
        self._is_warm = self._is_warm or is_chat
        queue = self._defer if waits else self._soon
        if not queue(key, partial(self.extract, key)):
            self._count("extraction_deferred_queue_full")

    def extract(self, key: SessionKey) -> None:
        """Extract the facts of all messages of a session whose facts were not extracted yet. If another thread is doing
        that for this session, return at once: that thread extracts the facts of these messages too.

        If the session has been cut or may be cut soon, this also prepares the search index for reminders and the
        sentences that a resume block may quote. Raises ``StoreError``.
        """
        is_cut = self._access.extract(key, lambda state: state.cut is not None, wait=False)
        if is_cut or self._find_reminders().awaits_cut(key):
            if self._settings.reminder_tokens:
                self._find_reminders().warm(key)
            while self._access.messages.read(key, self._prepare_sentences):
                pass
        if self._embedding is not None:
            self._embedding.embed_passages_later(key)

    def _prepare_sentences(self, history: HistoryMessages) -> bool:
        """Split further messages of a session into sentences, so that the next cut need not wait for that. Returns
        whether messages are left to split."""
        return history.prepare_sentences(self._redaction.remove_blocks, SENTENCES_STEP)
