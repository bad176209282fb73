"""Handle a hook event: record the new part of the transcript, create a checkpoint, and return the resume block (a text
with the facts of the session)."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from tokenmizer_mw.errors import UnknownSession
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.event import MessageRecorded, TurnClosed
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.operations.agent_transcripts import ShownContext, TranscriptMessage, messages_in
from tokenmizer_mw.operations.transcripts import record_at
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.session.resent import spelling_of
from tokenmizer_mw.store.log import EventLog

from . import STEER, STEERED, WorkerFiles
from .events import Event, add_to_context, name_session, project_named, root_of
from .notes import Notes, length_of, part_of
from .start import BlockBuilder, has_block, must_wait, read_shown_context, read_waiting_sessions

_AGAIN: Final = 8
"""Number of known messages that are passed before the new ones, so that the session finds where the new ones belong."""

_AT_ONCE: Final = 200
_LONG_AGO_SECONDS: Final = 600.0
"""Age in seconds from which on a new line of a transcript is recorded at its own time, not at that of the hook."""

_TWICE_SECONDS: Final = 5.0
"""Seconds within which the same event counts as a repetition: a host whose hooks are in several configurations sends it
once for each."""


class Hooks:
    """Handles the hook events of all sessions.

    - ``memory``: stores the sessions; its settings must name a project separator.
    - ``notes``: folder that stores how far transcripts were read; ``None`` keeps that in this process.
    - ``pending``: file with the sessions whose next prompt must wait for an answer (see ``WorkerFiles``); ``None`` for
      none.
    - ``path`` and ``spot``: the SQLite file of the memory and the files of the worker. With both, ``prepare`` builds
      resume blocks in advance.
    - ``clock``: returns seconds from any starting point.
    """

    def __init__(
        self,
        memory: SessionMemory,
        *,
        notes: Path | None = None,
        pending: Path | None = None,
        path: str = "",
        spot: WorkerFiles | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._memory = memory
        self._separator = memory.settings.project_separator
        self._notes = Notes(notes, memory.log.secret())
        self._pending = pending
        self._proxied = ProxiedSessions(memory.log)
        self._names: dict[str, str] = {}
        self._last_message: dict[str, Message] = {}
        self._clock = clock
        self._given: dict[str, tuple[str, int, float]] = {}
        self._rest: list[Callable[[], None]] = []
        self._seen: dict[str, tuple[str, str]] = {}
        self._builder = BlockBuilder(path, spot, self._build_block, self._separator) if path and spot else None

    def handle(self, event: Event) -> str:
        """Record what is new in the session of ``event``, and return the answer for the host, in its format; "" if it
        gets none, or if the event names no session. Raises ``TokenMizerError``.

        Work that the host need not wait for, such as a checkpoint, is left to ``finish``: call that when the host has
        the answer. If work of an earlier event is left, it is done first.
        """
        self.finish()
        if not event.session:
            return ""
        session = self._session(event)
        self._seen[event.session] = (session, project_named(root_of(event.folder)))
        self._record(session, event)
        work = _EVENTS.get(event.name)
        return work(self, session, event) if work is not None else ""

    def finish(self) -> None:
        """Do the work that the last call of ``handle`` left over; nothing if there is none. If it is not called, the
        next ``handle`` does the work. Raises ``TokenMizerError``; the rest of the work is then dropped."""
        rest, self._rest = self._rest, []
        for work in rest:
            work()

    def prepare(self) -> None:
        """Build resume blocks in advance: for the sessions seen since the last call, and for a new session in each of
        their projects. Does nothing without ``path`` and ``spot``."""
        if self._builder is None:
            return
        for chat, (session, project) in self._seen.items():
            self._builder.build_for(chat, session, project)
        for project in {project for _, project in self._seen.values()}:
            self._builder.build_again(project)
        self._seen.clear()

    def note_unanswered(self, event: Event, answer: str) -> None:
        """Note that the host did not receive ``answer``, the answer to ``event``, so that the next prompt of the
        session gets a resume block. Does nothing if ``answer`` is "", or for events other than the start of a session
        and a prompt."""
        if answer and event.name in _GIVING:
            self._given.pop(event.session, None)
            self._note_given(event, given=-1)
            self._ask(event.session)

    # -- sessions --------------------------------------------------------------------------------------------

    def _session(self, event: Event) -> str:
        """Return the id under which the session is stored: the project's name and the host's id.

        A session that is stored already keeps its id, for example if the agent has changed its folder, or if a proxy
        recorded it under the host's id alone.
        """
        known = self._names.get(event.session)
        if known is None:
            ours = name_session(event.folder, event.session, self._separator)
            ids = [info.key.id for info in self._memory.sessions()]
            end = self._separator + event.session
            theirs = (id for id in ids if id == event.session or id.endswith(end))
            known = ours if ours in ids else next(theirs, ours)
            self._names[event.session] = known
        return known

    # -- recording -------------------------------------------------------------------------------------------

    def _record(self, session: str, event: Event) -> None:
        if not self._from_transcript(session, event):
            self._from_event(session, event)

    def _from_transcript(self, session: str, event: Event) -> bool:
        """Record the messages that are new in the transcript, their facts perhaps later. Messages that a proxy records
        are left out. Returns false if the event names no transcript or it cannot be read."""
        transcript, key = event.transcript, SessionKey(LOCAL_TENANT, session)
        if not transcript:
            return False
        most = self._memory.settings.transcript_max
        while True:
            note = self._notes.of(transcript)
            raw = part_of(transcript, note.start, most)
            if raw is None:
                return False
            values, end = messages_in(raw, note.start)
            proxied = len(raw) < most and self._proxied.is_proxied(key)
            known = proxied and self._proxied.has_last_turn(key, [one.message for one in values])
            if proxied and not known and event.name not in _AFTER_REPLY:
                return True  # the proxy is about to record the reply, or has gone: the next event sees
            if not known:
                self._record_messages(key, values, known=note.end, later=event.name in _DRAWN_LATER)
            if len(raw) < most:
                start = values[-_AGAIN:][0].place if values else note.start
                if values or end > note.end:
                    self._notes.keep(transcript, replace(note, start=start, end=end))
                return True
            further = values[-1].place if values else end
            self._notes.keep(transcript, replace(note, start=further if further > note.start else note.start + most))

    def _record_messages(self, key: SessionKey, values: list[TranscriptMessage], *, known: int, later: bool) -> None:
        """Record messages of a transcript whose first ``known`` bytes are recorded already. If new ones were written
        long ago, as in a session from before the hooks, all are recorded at the times of their lines."""
        now = time.time()
        if any(one.time is not None and one.place >= known and one.time < now - _LONG_AGO_SECONDS for one in values):
            messages, times = [one.message for one in values], [one.time for one in values]
            record_at(self._memory, key, messages, times, now, later=later)
            return
        for some in [values] if later else _batches(values):  # facts of one batch would be in the way of the next
            self._memory.record(key.id, [one.message for one in some], later=later)

    def _from_event(self, session: str, event: Event) -> None:
        """Record the message in the event itself, because some hosts write no transcript."""
        role, text = (Role.USER, event.prompt) if event.name == "userpromptsubmit" else (Role.ASSISTANT, event.reply)
        message = Message(role, text)
        if not text.strip() or self._last_message.get(session) == message:
            return
        self._last_message[session] = message
        newest = [written.message for written in self._memory.messages(session)[-_AGAIN:]]
        self._memory.record(session, [*newest, message])

    # -- what events do --------------------------------------------------------------------------------------

    def _handle_start(self, session: str, event: Event) -> str:
        before = self._read_shown_context(event)
        if must_wait(event.source, before):
            self._ask(event.session)
            return ""
        if has_block(event.source, before):
            return ""
        return self._block(session, event)

    def _handle_prompt(self, session: str, event: Event) -> str:
        if event.session not in self._read_waiting_sessions():
            return ""
        before = self._read_shown_context(event)
        if before.last and not before.present:
            return ""  # the host has yet to write down what it was given and whether that stayed: the next prompt sees
        self._ask(event.session, no_more=True)
        return "" if before.present else self._block(session, event)

    def _handle_end(self, session: str, event: Event) -> str:
        """Prepare for the next session, and forget which block was returned last, so that a resumed session gets one
        again."""
        self._given.pop(event.session, None)
        self._rest.append(self.prepare)
        return ""

    def _mark_compaction(self, session: str, event: Event) -> str:
        """Create a checkpoint before a compaction, but after the host has its answer: the messages are stored by then,
        and extraction takes longer. Returns the instructions for the summary, "" for a host that takes none or a
        session without messages."""
        if not self._memory.log.read(SessionKey(LOCAL_TENANT, session), upto=1):
            return ""
        self._rest.append(partial(self._mark, session))
        return STEER if event.host in STEERED else ""

    def _mark(self, session: str) -> None:
        """Create a checkpoint, unless there are no messages since the last one."""
        try:
            text, marked = self._memory.view(session, _count_messages)
        except UnknownSession:
            return
        if text > marked:
            self._memory.checkpoint(session)

    def _block(self, session: str, event: Event) -> str:
        source, end, since = self._given.get(event.session, ("", -1, 0.0))
        if (source, end) == (event.source, length_of(event.transcript)) and self._clock() - since < _TWICE_SECONDS:
            return ""
        text = self._build_block(session)
        if not text:
            return ""
        end = length_of(event.transcript)
        self._note_given(event, given=end)
        self._given[event.session] = (event.source, end, self._clock())
        return add_to_context(event, text)

    def _build_block(self, session: str) -> str:
        try:
            return self._memory.resume(session, budget=self._memory.settings.block_tokens).text
        except UnknownSession:
            return ""

    # -- what the model has before it ------------------------------------------------------------------------

    def _read_shown_context(self, event: Event) -> ShownContext:
        most = self._memory.settings.transcript_max
        return read_shown_context(event.transcript, self._notes, self._memory.log.secret(), most)

    def _note_given(self, event: Event, given: int) -> None:
        if event.transcript:
            self._notes.keep(event.transcript, replace(self._notes.of(event.transcript), given=given))

    def _read_waiting_sessions(self) -> list[str]:
        """Return the hosts' ids of the sessions whose next prompt must wait."""
        return read_waiting_sessions(str(self._pending)) if self._pending is not None else []

    def _ask(self, session: str, *, no_more: bool = False) -> None:
        if self._pending is None:
            return
        others = [one for one in self._read_waiting_sessions() if one != session]
        wanted = others if no_more else [*others, session]
        if wanted:
            self._pending.write_text("\n".join(wanted), encoding="utf-8")
        else:
            self._pending.unlink(missing_ok=True)


def _count_messages(state: SessionState) -> tuple[int, int]:
    """Return the number of messages of a session, and that at its last checkpoint (-1 if there is none)."""
    return len(state.transcript), max((mark.checkpoint.turn for mark in state.checkpoints[-1:]), default=-1)


def _batches(values: list[TranscriptMessage]) -> Iterator[list[TranscriptMessage]]:
    """Yield the messages in batches; each begins with some messages of the batch before, which are known by then."""
    for start in range(0, len(values), _AT_ONCE):
        yield values[max(0, start - _AGAIN) : start + _AT_ONCE]


_GIVING: Final = frozenset({"sessionstart", "userpromptsubmit"})
_AFTER_REPLY: Final = frozenset({"sessionstart", "userpromptsubmit", "precompact", "sessionend"})
"""Events before which a proxy, if there is one, has already recorded the model's reply."""

_DRAWN_LATER: Final = frozenset({"precompact"})

_EVENTS: Final[dict[str, Callable[[Hooks, str, Event], str]]] = {
    "sessionstart": Hooks._handle_start,
    "userpromptsubmit": Hooks._handle_prompt,
    "precompact": Hooks._mark_compaction,
    "sessionend": Hooks._handle_end,
}
"""What is done for an event besides recording its session."""


_NEWEST: Final = 256
"""Number of newest messages of a session among which a turn is looked for."""


@dataclass(slots=True)
class _Tail:
    """What is known of a session's events up to sequence number ``seq``. ``proxied``: true if a proxy has closed a turn
    in it; ``texts``: digests of the normalised texts of the newest messages."""

    seq: int = 0
    proxied: bool = False
    texts: deque[str] = field(default_factory=lambda: deque(maxlen=_NEWEST))


class ProxiedSessions:
    """Finds out which messages of a transcript a proxy of this package has recorded already, so that hooks do not
    record them again.

    The messages of a transcript and those of a proxy cannot be compared one by one from the start: a request after a
    compaction begins with a summary, a transcript does not.
    """

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._tails: dict[SessionKey, _Tail] = {}

    def is_proxied(self, key: SessionKey) -> bool:
        """Return whether a proxy has recorded turns (a user message with all that answers it) of the session."""
        return self._read(key).proxied

    def has_last_turn(self, key: SessionKey, messages: Sequence[Message]) -> bool:
        """Return whether the stored session contains, among its 256 newest messages, the last reply in ``messages`` and
        the last user message before it; false if there is no reply in ``messages``."""
        spoken = [one for one in messages if one.text.strip() and one.role in (Role.USER, Role.ASSISTANT)]
        while spoken and spoken[-1].role is Role.USER:
            spoken.pop()
        question = next((one for one in reversed(spoken) if one.role is Role.USER), None)
        texts = self._read(key).texts
        return bool(spoken) and all(spelling_of(one).text in texts for one in (spoken[-1], question) if one is not None)

    def _read(self, key: SessionKey) -> _Tail:
        tail = self._tails.setdefault(key, _Tail())
        for recorded in self._log.read(key, after=tail.seq):
            tail.seq = recorded.seq
            match recorded.event:
                case TurnClosed():
                    tail.proxied = True
                case MessageRecorded(message=message):
                    tail.texts.append(spelling_of(message).text)
        return tail
