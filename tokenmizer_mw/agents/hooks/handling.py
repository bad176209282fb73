"""Handles a hook event: records the new part of the transcript, creates a checkpoint, and returns the resume block."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw.context.resume import BUDGET_MIN
from tokenmizer_mw.errors import UnknownSession
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.session import LOCAL_TENANT, SESSION_ID_MAX, SessionKey
from tokenmizer_mw.operations.agent_transcripts import ShownContext, TranscriptMessage, find_shown_context, messages_in
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.session.project import project_named

from .entry import STEER, STEERED
from .notes import Notes, part_of
from .proxied import ProxiedSessions

_AGAIN: Final = 8
"""Known messages before the new ones, by which a session sees where these go on."""

_AT_ONCE: Final = 200
_TWICE_SECONDS: Final = 5.0
"""Within which the same event once more is the same one: hosts start hooks of several configurations side by side."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event of an agent host.

    ``name``: in lower case; ``session``: the host's session id; ``folder``: the working directory; ``transcript``: path
    of the host's transcript, "" for none.
    """

    name: str
    host: str
    session: str
    folder: str
    transcript: str
    source: str
    prompt: str
    reply: str


def read_event(name: str, host: str, payload: bytes, *, project: str = "", folder: str = "") -> Event:
    """Parse an event. Members that are missing or not strings are "".

    ``project``: the folder that the host calls its project; ``folder``: the folder in which the hook was started.
    Raises ``ValueError`` if the payload is not a JSON object.
    """
    values = json.loads(payload or b"{}")
    if not isinstance(values, dict):
        raise ValueError("the event is not a JSON object")

    def text(*names: str) -> str:
        return next((value for name in names if isinstance(value := values.get(name), str) and value), "")

    return Event(
        name,
        host,
        text("session_id", "sessionId", "conversation_id"),
        project or text("cwd") or folder,
        text("transcript_path", "transcriptPath"),
        text("source"),
        text("prompt"),
        text("last_assistant_message"),
    )


class Hooks:
    """Handles the events of all sessions.

    - ``memory``: its settings must name a project separator.
    - ``notes``: folder that stores how far transcripts were read; ``None`` keeps that in this process.
    - ``pending``: file that exists while the next prompt of a session has to wait for an answer.
    - ``clock``: returns seconds from any starting point.
    """

    def __init__(
        self,
        memory: SessionMemory,
        *,
        notes: Path | None = None,
        pending: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._memory = memory
        self._separator = memory.settings.project_separator
        self._notes = Notes(notes, memory.log.secret())
        self._pending = pending
        self._proxied = ProxiedSessions(memory.log)
        self._names: dict[str, str] = {}
        self._last_said: dict[str, Message] = {}
        self._clock = clock
        self._given: dict[str, tuple[str, int, float]] = {}
        self._rest: list[Callable[[], None]] = []

    def handle(self, event: Event) -> str:
        """Handle ``event``; work that the host need not wait for is left to ``finish``.

        Returns the text for the host, "" for none. Raises ``TokenMizerError``.
        """
        self.finish()
        if not event.session:
            return ""
        session = self._session(event)
        self._record(session, event)
        work = _EVENTS.get(event.name)
        return work(self, session, event) if work is not None else ""

    def finish(self) -> None:
        """Complete the work of the previous event. Raises ``TokenMizerError``."""
        rest, self._rest = self._rest, []
        for work in rest:
            work()

    def not_told(self, event: Event, answer: str) -> None:
        """Note that the host left without ``answer``; the next prompt gets it."""
        if answer and event.name in _GIVING:
            self._given.pop(event.session, None)
            self._note_given(event, given=-1)
            self._ask(event.session)

    # -- sessions --------------------------------------------------------------------------------------------

    def _session(self, event: Event) -> str:
        """The session's id here: the project's name and the host's id. Where the agent went elsewhere meanwhile, or a
        proxy has recorded it under the host's id alone, it stays the session that it was."""
        known = self._names.get(event.session)
        if known is None:
            ours = f"{project_named(root_of(event.folder))}{self._separator}{event.session}"[-SESSION_ID_MAX:]
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
        """Record what is new in a transcript, its facts perhaps later; ``False`` when there is none to read."""
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
                self._record_messages(session, values, later=event.name in _DRAWN_LATER)
            if len(raw) < most:
                if values:
                    self._notes.keep(transcript, replace(note, start=values[-_AGAIN:][0].place))
                return True
            further = values[-1].place if values else end
            self._notes.keep(transcript, replace(note, start=further if further > note.start else note.start + most))

    def _record_messages(self, session: str, values: list[TranscriptMessage], *, later: bool) -> None:
        for some in [values] if later else _batches(values):  # facts of one batch would be in the way of the next
            self._memory.record(session, [one.message for one in some], later=later)

    def _from_event(self, session: str, event: Event) -> None:
        """Record the words that the event itself carries: some hosts keep no transcript."""
        role, text = (Role.USER, event.prompt) if event.name == "userpromptsubmit" else (Role.ASSISTANT, event.reply)
        message = Message(role, text)
        if not text.strip() or self._last_said.get(session) == message:
            return
        self._last_said[session] = message
        self._memory.record(session, [*self._context(session), message])

    def _context(self, session: str) -> list[Message]:
        """The newest messages of a session, behind which one more goes on."""
        return [written.message for written in self._memory.messages(session)[-_AGAIN:]]

    # -- what events do --------------------------------------------------------------------------------------

    def _handle_start(self, session: str, event: Event) -> str:
        before = self._read_shown_context(event)
        if event.source == "compact" and before.last:
            self._ask(event.session)  # what came last most likely stays; the next prompt sees whether it did
            return ""
        if event.source == "resume" and before.present:
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
        """Whoever comes back, and be it at once, starts anew."""
        self._given.pop(event.session, None)
        return ""

    def _compacting(self, session: str, event: Event) -> str:
        """Mark this point once the host has its answer: the messages are durable then, and extraction takes longer."""
        if not self._memory.log.read(SessionKey(LOCAL_TENANT, session), upto=1):
            return ""
        self._rest.append(partial(self._mark, session))
        return STEER if event.host in STEERED else ""

    def _mark(self, session: str) -> None:
        """Mark this point, unless there are no messages since the last one."""
        try:
            text, marked = self._memory.view(session, _said_and_marked)
        except UnknownSession:
            return
        if text > marked:
            self._memory.checkpoint(session)

    def _block(self, session: str, event: Event) -> str:
        source, end, since = self._given.get(event.session, ("", -1, 0.0))
        if (source, end) == (event.source, _end(event.transcript)) and self._clock() - since < _TWICE_SECONDS:
            return ""
        try:
            text = self._memory.resume(session, budget=max(BUDGET_MIN, self._memory.settings.block_tokens)).text
        except UnknownSession:
            return ""
        if not text:
            return ""
        end = _end(event.transcript)
        self._note_given(event, given=end)
        self._given[event.session] = (event.source, end, self._clock())
        return _SPELLED[event.host](event.name, text)

    # -- what the model has before it ------------------------------------------------------------------------

    def _read_shown_context(self, event: Event) -> ShownContext:
        most = self._memory.settings.transcript_max
        start = max(0, _end(event.transcript) - most) if event.transcript else 0
        raw = part_of(event.transcript, start, most) if event.transcript else None
        if raw is None:
            return ShownContext()
        given = self._notes.of(event.transcript).given
        return find_shown_context(raw, self._memory.log.secret(), max(0, given - start) if given >= 0 else -1)

    def _note_given(self, event: Event, given: int) -> None:
        if event.transcript:
            self._notes.keep(event.transcript, replace(self._notes.of(event.transcript), given=given))

    def _read_waiting_sessions(self) -> list[str]:
        """The sessions whose next prompt should wait."""
        try:
            return self._pending.read_text(encoding="utf-8").splitlines() if self._pending is not None else []
        except (OSError, UnicodeDecodeError):
            return []

    def _ask(self, session: str, *, no_more: bool = False) -> None:
        if self._pending is None:
            return
        others = [one for one in self._read_waiting_sessions() if one != session]
        wanted = others if no_more else [*others, session]
        if wanted:
            self._pending.write_text("\n".join(wanted), encoding="utf-8")
        else:
            self._pending.unlink(missing_ok=True)


def root_of(folder: str) -> str:
    """Return the project of ``folder``: the nearest parent with a repository, else ``folder`` itself."""
    start = Path(os.path.abspath(folder or "."))
    for place in (start, *start.parents):
        if (place / ".git").exists():
            return str(place)
    return str(start)


def _said_and_marked(state: SessionState) -> tuple[int, int]:
    """How many messages a session has, and how many it had at its last checkpoint."""
    return len(state.transcript), max((mark.checkpoint.turn for mark in state.checkpoints[-1:]), default=-1)


def _batches(values: list[TranscriptMessage]) -> Iterator[list[TranscriptMessage]]:
    """Some at a time, each with known ones before the new ones."""
    for start in range(0, len(values), _AT_ONCE):
        yield values[max(0, start - _AGAIN) : start + _AT_ONCE]


def _end(transcript: str) -> int:
    try:
        return os.stat(transcript).st_size
    except OSError:
        return 0


_GIVING: Final = frozenset({"sessionstart", "userpromptsubmit"})
_AFTER_REPLY: Final = frozenset({"sessionstart", "userpromptsubmit", "precompact", "sessionend"})
"""Events by which a proxy has recorded the reply before."""

_DRAWN_LATER: Final = frozenset({"precompact"})

_EVENTS: Final[dict[str, Callable[[Hooks, str, Event], str]]] = {
    "sessionstart": Hooks._handle_start,
    "userpromptsubmit": Hooks._handle_prompt,
    "precompact": Hooks._compacting,
    "sessionend": Hooks._handle_end,
}
"""What events do besides being recorded."""

_NAMES: Final = {"sessionstart": "SessionStart", "userpromptsubmit": "UserPromptSubmit"}


def _as_specific(event: str, text: str) -> str:
    values: dict[str, Any] = {"hookEventName": _NAMES[event], "additionalContext": text}
    return json.dumps({"hookSpecificOutput": values})


def _as_member(event: str, text: str) -> str:
    return json.dumps({"additional_context": text})


_SPELLED: Final = {"claude-code": _as_specific, "codex": _as_specific, "vscode": _as_specific, "cursor": _as_member}
"""Fields in which hosts take what is added to the context."""
