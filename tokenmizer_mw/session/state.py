"""The state of a session, which is the result of applying (folding) its events, and the events that new messages add to
it: the messages and their facts. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Final

from tokenmizer_mw.context.resume.handover import Handover
from tokenmizer_mw.extract import CONTEXT_MESSAGES
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import (
    Checkpointed,
    DecisionReplaced,
    Derived,
    EdgeAdded,
    Event,
    HistoryRevised,
    MessageRecorded,
    NodeAdded,
    NodeEdited,
    NodeRevised,
    NodesPruned,
    Recorded,
    Refined,
    Reminded,
    StatusChanged,
    TurnClosed,
)
from tokenmizer_mw.model.message import Message, Outcome, Role, Written, digest, short_repr
from tokenmizer_mw.model.node import Status
from tokenmizer_mw.safety.fence import without_own_blocks
from tokenmizer_mw.safety.guard import judge
from tokenmizer_mw.session.resent import ResentMessages, Spelling
from tokenmizer_mw.session.transcript import Transcript
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.history import History

Numbered = tuple[int, Message]
"""A message with its number in the session, from 1."""


REMINDERS_MAX: Final = 64
"""Most reminders of a session that its state holds."""


@dataclass(frozen=True, slots=True)
class CheckpointMark:
    """A checkpoint (a named point of the session), with the number of its event in the log and the time at which that
    was recorded, in seconds since the epoch."""

    seq: int
    recorded_at: float
    checkpoint: Checkpointed


SHOWN_FIELDS: Final = ("label", "detail", "status", "pinned", "slot")
"""The fields of a fact whose values before and after an edit are shown to callers."""


@dataclass(frozen=True, slots=True)
class RecordedEdit:
    """A manual edit, and when it was recorded, in seconds since the epoch. ``added``: the label of the fact that it
    added; "" for other edits."""

    recorded_at: float
    edit: NodeEdited
    added: str = ""

    @property
    def number(self) -> int:
        """The number of the edit in its session, from 1; ``undo`` takes it."""
        return self.edit.number

    @property
    def operation(self) -> str:
        """What the edit did: "remember", "invalidate", "complete", "archive", "separate", "pin", "unpin", "correct",
        "date", "undo", or "mark as" and a status."""
        return _name_operation(self.edit)

    @property
    def fact(self) -> str:
        """The id of the fact that was changed."""
        return self.edit.id

    @property
    def reason(self) -> str:
        """Why the fact was changed, as the caller gave it; "" for none."""
        return self.edit.reason

    def to_dict(self) -> dict[str, Any]:
        """Return the edit as a dict for JSON.

        It has ``number`` and ``operation`` of the edit, the id of the ``fact``, the names of all changed ``fields``,
        the values ``before`` and ``after`` of those in ``SHOWN_FIELDS``, the ``reason``, the number of the edit that it
        ``undoes`` (0: none), and ``recorded_at``.
        """
        edit = self.edit
        return {
            "number": self.number,
            "operation": self.operation,
            "fact": self.fact,
            "fields": sorted(edit.changes),
            "before": _shown_values(edit.before),
            "after": ({"label": self.added} if self.added else {}) | _shown_values(edit.changes),
            "reason": self.reason,
            "undoes": edit.undoes,
            "recorded_at": self.recorded_at,
        }

    def __repr__(self) -> str:
        edit = self.edit
        label = (
            f" to {edit.changes['label']!r}" if "label" in edit.changes else f" {self.added!r}" if self.added else ""
        )
        reason = f": {edit.reason}" if edit.reason else ""
        undone = f" of {edit.undoes} on" if edit.undoes else ""
        return short_repr(self, f"{edit.number}: {self.operation}{undone} {edit.id}{label}{reason}")


def _shown_values(values: Mapping[str, Any]) -> dict[str, str | bool]:
    found = {name: values[name] for name in SHOWN_FIELDS if name in values}
    return {name: value if isinstance(value, bool) else str(value) for name, value in found.items()}


def _name_operation(edit: NodeEdited) -> str:
    """Return the name of what an edit did, in one word or a few."""
    if edit.undoes:
        return "undo"
    if edit.adds:
        return "remember"
    if edit.separated is not None:
        return "separate"
    if "pinned" in edit.changes:
        return "pin" if edit.changes["pinned"] else "unpin"
    if (status := edit.changes.get("status")) is not None:
        return _OPERATIONS.get(status, f"mark as {status.word}")
    return "date" if _DATES.intersection(edit.changes) else "correct"


_DATES: Final = frozenset({"valid_from", "valid_until"})
_OPERATIONS: Final = {Status.INVALIDATED: "invalidate", Status.ARCHIVED: "archive", Status.COMPLETED: "complete"}


@dataclass(slots=True)
class SessionState:
    """The state of a session: the result of applying all events of its log in order. Fields with the number of a
    message are 0 if there is no such message.

    - ``seq``, ``recorded_at``: number and time of the last event that was applied.
    - ``graph``: the facts. ``transcript``: the messages by digest, to recognise resent ones.
    - ``derived``: number of the last message that facts were extracted from. ``unextracted``: the messages after it;
      ``recent``: the last few before; ``stated_at``: maps numbers of messages without facts to when they were recorded.
    - ``spoken``: number of the newest message that is not a system message. ``messaged_at``: when the newest message
      was recorded, 0.0 without any.
    - ``kept``: true if a framework stores its chat history here (see ``SessionMemory.add``).
    - ``cut``: the checkpoint whose resume block currently replaces old messages; ``None``: no cut.
    - ``refined``: number of the last message that a model read for refinement; ``asked``: how often a model was asked;
      ``unrefined``: numbers of the messages after ``refined`` that began a turn.
    - ``handover``: the newest prose summary that a model wrote; ``None`` if there is none, or messages that it covers
      were withdrawn.
    - ``outcomes``: how many model calls ended in which way.
    - ``edits``: manual edits by number; ``edits_at_cut``: number of the newest one when ``cut`` was made, 0 for none.
    - ``reminders``: number of reminders sent; ``recent_reminders``: the newest ``REMINDERS_MAX`` of them.
    """

    seq: int = 0
    recorded_at: float = 0.0
    graph: SessionGraph = field(default_factory=SessionGraph)
    transcript: Transcript = field(default_factory=Transcript)
    spoken: int = 0
    messaged_at: float = 0.0
    kept: bool = False
    derived: int = 0
    unextracted: list[Numbered] = field(default_factory=list)
    stated_at: dict[int, float] = field(default_factory=dict)
    recent: deque[Numbered] = field(default_factory=lambda: deque(maxlen=CONTEXT_MESSAGES))
    checkpoints: list[CheckpointMark] = field(default_factory=list)
    cut: Checkpointed | None = None
    refined: int = 0
    asked: int = 0
    unrefined: list[int] = field(default_factory=list)
    handover: Handover | None = None
    outcomes: dict[Outcome, int] = field(default_factory=dict)
    edits: dict[int, RecordedEdit] = field(default_factory=dict)
    edits_at_cut: int = 0
    reminders: int = 0
    recent_reminders: list[Reminded] = field(default_factory=list)

    @property
    def next_checkpoint(self) -> str:
        """The id that the next checkpoint of the session gets, such as "checkpoint-3" after two checkpoints."""
        return f"checkpoint-{len(self.checkpoints) + 1}"

    def checkpoint_at(self, id: str) -> Checkpointed | None:
        """Return the checkpoint of the session with this id, the newest if several have it; ``None`` if there is
        none."""
        return next((one.checkpoint for one in reversed(self.checkpoints) if one.checkpoint.id == id), None)

    def copy(self) -> SessionState:
        """Return a copy of the session state; changes of one do not change the other."""
        found = object.__new__(SessionState)  # its initialiser would only set what is set here
        for name in self.__slots__:
            value = getattr(self, name)
            setattr(found, name, value.copy() if hasattr(value, "copy") else value)
        return found

    def apply(self, recorded: Recorded) -> None:
        """Change the state by the next event of the session's log. Events must be applied in the order of the log."""
        self.seq, self.recorded_at = recorded.seq, recorded.recorded_at
        if type(recorded.event) in _OF_GRAPH:  # most events: no pattern has to be tried for them
            self.graph.apply(recorded.event, self.known_since(recorded.event, recorded.recorded_at))
            return
        match recorded.event:
            case MessageRecorded(turn, mark, message, after, original):
                self.transcript.add(mark, after - 1, message)
                self.spoken = turn if message.role is not Role.SYSTEM else self.spoken
                self.unextracted.append((turn, message))
                self.stated_at[turn] = self.messaged_at = recorded.recorded_at
                self.unrefined += [turn] if message.role is Role.USER and message.opens_turn else []
                self.kept = self.kept or bool(original)
            case HistoryRevised(withdrawn, _, redrawn):
                waiting = [each for each in self.unextracted if each[0] not in withdrawn]
                known = [each for each in self.recent if each[0] not in withdrawn]
                self.unextracted = [] if redrawn else waiting
                self.recent = deque([*known, *waiting] if redrawn else known, self.recent.maxlen)
                self._forget_withdrawn(withdrawn, redrawn)
            case Derived(turn) as drawn:
                self.graph.apply(drawn)
                self._mark_derived(turn)
            case Refined(turn, calls, _, sentences, first):
                self.refined, self.asked = turn, self.asked + calls
                self.handover = Handover(sentences, first, turn) if sentences else self.handover
                self.unrefined = [opened for opened in self.unrefined if opened > turn]
            case Checkpointed() as checkpoint:
                self._add_checkpoint(CheckpointMark(recorded.seq, recorded.recorded_at, checkpoint))
            case Reminded() as reminded:
                self.reminders += 1
                self.recent_reminders = [*self.recent_reminders[1 - REMINDERS_MAX :], reminded]
            case TurnClosed(_, outcome):
                self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1
            case event:
                if isinstance(event, NodeEdited):
                    node = self.graph.get(event.id) if event.adds else None
                    added = node.label if node is not None else ""
                    self.edits[event.number] = RecordedEdit(recorded.recorded_at, event, added)
                self.graph.apply(event, self.known_since(event, recorded.recorded_at))

    def _add_checkpoint(self, mark: CheckpointMark) -> None:
        self.checkpoints.append(mark)
        if mark.checkpoint.anchor:
            self.cut, self.edits_at_cut = mark.checkpoint, max(self.edits, default=0)

    def known_since(self, event: Event, recorded_at: float) -> float:
        """Return since when an event about a fact holds, in seconds since the epoch. This is the time of the message
        that states the fact if the message was waiting for extraction, else ``recorded_at``, the time of the event."""
        if isinstance(event, NodeAdded):
            number = event.node.source.turn
        elif isinstance(event, StatusChanged):
            number = event.turn
        elif isinstance(event, DecisionReplaced):
            number = event.transition.trigger
        else:
            return recorded_at
        return self.stated_at.get(number, recorded_at)

    def _forget_withdrawn(self, withdrawn: Sequence[int], redrawn: bool) -> None:
        if self.handover is not None and any(number <= self.handover.last for number in withdrawn):
            self.handover = None
        if redrawn:
            self.graph, self.derived, self.refined, self.cut = SessionGraph(), 0, 0, None
            self.edits, self.edits_at_cut, self.recent_reminders, self.handover = {}, 0, [], None

    def _mark_derived(self, last: int) -> None:
        self.derived = max(last, self.derived)
        while self.unextracted and self.unextracted[0][0] <= last:
            self.recent.append(self.unextracted.pop(0))
        if self.stated_at:
            self.stated_at = {number: at for number, at in self.stated_at.items() if number > last}


_OF_GRAPH: Final = frozenset({NodeAdded, NodeRevised, StatusChanged, EdgeAdded, DecisionReplaced, NodesPruned})
"""Kinds of events that change only the graph of facts."""


class UnkeptTranscript(Transcript):
    """An always empty transcript, for a state of which only the facts are needed. It saves the cost of storing
    messages."""

    def add(self, mark: str, parent: int, message: Message | Spelling) -> None:
        """Do nothing: this transcript stays empty."""

    def copy(self) -> UnkeptTranscript:
        """Return the transcript itself, which never changes."""
        return self


_EVENT: Final = itemgetter(1)


def joining(
    transcript: Transcript, messages: Sequence[Message], *, part: bool = False, known: tuple[int, int] | None = None
) -> list[MessageRecorded]:
    """Return the events that record those of ``messages`` that the session does not have yet. ``messages`` contain no
    system message.

    ``part``: true if they are only the newest messages of a transcript. ``known``: used in place of the result of
    ``Transcript.first_new``; ``None``: that is called.
    """
    return list(map(_EVENT, find_new_messages(transcript, messages, part=part, known=known)))


def find_new_messages(
    transcript: Transcript, messages: Sequence[Message], *, part: bool = False, known: tuple[int, int] | None = None
) -> list[tuple[int, MessageRecorded]]:
    """Return the indexes of those of ``messages`` that the session does not have yet, in order, each with the event
    that records the message; ``[]`` if it has all. New messages need not be the last of ``messages``: those that a
    client's compaction preserved may stand between them.

    ``messages`` contain no system message. ``part``: true if they are only the newest messages of a transcript.
    ``known``: used in place of the result of ``Transcript.first_new``; ``None``: that is called.
    """
    resent = ResentMessages(messages)
    start, place = known if known is not None else transcript.first_new(messages, part=part, resent=resent)
    end, count = len(messages), len(transcript.digests)
    may_preserve = not part and end > start + 2  # a summary, what was kept, and what is new
    preserved = transcript.find_preserved(resent, start, place) if may_preserve else {}
    found: list[tuple[int, MessageRecorded]] = []
    for index in range(start, end):
        if index in preserved:
            continue
        number = count + len(found) + 1
        after = number - 1 if found else place + 1
        found.append((index, MessageRecorded(number, resent.mark(index), messages[index], after)))
    return found


def append_messages(state: SessionState, messages: Sequence[Written]) -> list[MessageRecorded]:
    """Return the events that append ``messages``, even if the session already has equal ones.

    No message follows a system message in the stored order, so that the chat is recognised when it is resent without
    them.
    """
    events: list[MessageRecorded] = []
    before = state.spoken
    for number, written in enumerate(messages, len(state.transcript) + 1):
        message = written.message
        events.append(MessageRecorded(number, digest(message), message, before, written.original))
        before = number if message.role is not Role.SYSTEM else before
    return events


def fold(recorded: Iterable[Recorded], state: SessionState | None = None) -> SessionState:
    """Return the state after applying these events, in order, to ``state``, which changes (``None``: an empty
    session)."""
    state = SessionState() if state is None else state
    for event in recorded:
        state.apply(event)
    return state


def number_of(event: Event) -> int | None:
    """Return the number of the message that an event about a fact was derived from. For a change by hand this is the
    number of the newest message at that time. ``None`` for events that are not about a fact."""
    match event:
        case NodeAdded(node):
            return node.source.turn
        case EdgeAdded(edge):
            return edge.turn
        case DecisionReplaced(transition):
            return transition.trigger
        case NodeRevised() | StatusChanged() | NodeEdited():
            return event.turn
    return None


def fold_until_message(recorded: Sequence[Recorded], number: int) -> SessionState:
    """Return the state after message ``number``: the facts of the messages up to it, and the manual edits before the
    next message. From the last message on, this is the current state. ``recorded``: all events of the session.

    Facts are derived in the order of the messages, so the events before the first one of a later message are applied.
    If messages were withdrawn, all facts were derived again; that first event is then looked for after the last time.
    """
    events = [one.event for one in recorded]
    rebuilt = (at for at, event in enumerate(events) if isinstance(event, HistoryRevised) and event.redrawn)
    started = max(rebuilt, default=0)
    numbers = [event.turn if isinstance(event, Derived) else number_of(event) or 0 for event in events]
    end = next((at for at in range(started, len(events)) if numbers[at] > number), len(events))
    state = fold(
        one for one in recorded[:end] if not isinstance(one.event, MessageRecorded) or one.event.turn <= number
    )
    if end < len(recorded):
        state.unextracted = []  # their facts were derived together with those of later messages, and are applied
    return state


@dataclass(frozen=True, slots=True)
class FactDerivation:
    """Extracts facts from messages, as ``settings`` say. ``secret``: the store's secret, with which resume blocks made
    by this installation are recognised."""

    settings: Settings
    secret: bytes

    def facts(self, state: SessionState, news: Sequence[MessageRecorded] = ()) -> list[Event]:
        """Extract facts from the messages of ``state`` that have none yet and from those of ``news``, which ``state``
        does not contain. Returns the events of the facts and a ``Derived`` event, to be recorded; ``[]`` if there are
        no such messages."""
        from tokenmizer_mw.extract.derive import derive  # a third of the package: loaded when a memory is opened

        waiting = [*state.unextracted, *((event.turn, event.message) for event in news)]
        if not waiting:
            return []
        seen = [(number, without_own_blocks(message, self.secret)) for number, message in waiting]
        found = {number: judge(message) for number, message in seen} if self.settings.guard != "off" else {}
        flagged = {number: suspicion.signals for number, suspicion in found.items() if suspicion.flagged}
        return derive(state.graph, seen, list(state.recent), self.settings, flagged)

    def news(self, state: SessionState, spoken: History, known: tuple[int, int] | None = None) -> list[Event]:
        """Return the events that record the new messages of a resent transcript, followed by the events of their facts.

        ``spoken``: the resent transcript without system messages. ``known``: used in place of the result of
        ``Transcript.first_new``; ``None``: that is called.
        """
        news = joining(state.transcript, spoken, known=known)
        return [*news, *self.facts(state, news)]

    def derived_graph(self, state: SessionState) -> SessionGraph:
        """Return the graph with the facts of all messages, including those whose facts are not recorded yet."""
        if not state.unextracted:
            return state.graph
        graph = state.graph.fork()
        for event in self.facts(state):
            graph.apply(event, state.known_since(event, state.recorded_at))
        return graph
