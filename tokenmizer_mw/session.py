"""One session folded: its transcript, its graph, how far extraction got, and the cut in force. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from tokenmizer_mw.extract.derive import CONTEXT_MESSAGES
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import (
    Checkpointed,
    Derived,
    HistoryRevised,
    MessageRecorded,
    NodeEdited,
    Recorded,
    Refined,
    TurnClosed,
)
from tokenmizer_mw.model.message import Message, Outcome, Role, Written, digest

_MATCHED_BEFORE: Final = 2
_PART_LEAST: Final = 4
_PART_MOST: Final = 64
_PLACES_MAX: Final = 8

Numbered = tuple[int, Message]
"""A message with its number in the session, from 1."""


@dataclass(slots=True)
class Transcript:
    """Which messages the session has, by digest, so that a resent history can be told from news.

    A client may go back, change a question and go on from there: the transcript is a tree. ``parents`` holds for
    each message the index of the one it follows, -1 for a first one; ``depths`` how many stand before it.
    """

    digests: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    _places: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.digests)

    @classmethod
    def of(cls, digests: list[str], parents: list[int]) -> Transcript:
        """The transcript that ``add`` makes of these one after the other; it takes the lists over."""
        depths: list[int] = []
        places: dict[str, tuple[int, ...]] = {}
        for index, (mark, parent) in enumerate(zip(digests, parents, strict=True)):
            before = places.get(mark)
            places[mark] = (index,) if before is None else (*before[1 - _PLACES_MAX :], index)
            depths.append(depths[parent] + 1 if parent >= 0 else 0)
        return cls(digests, parents, depths, places)

    def copy(self) -> Transcript:
        """An independent transcript: what is added to either does not show in the other."""
        return Transcript(list(self.digests), list(self.parents), list(self.depths), dict(self._places))

    def add(self, mark: str, parent: int) -> None:
        """The next message has the digest ``mark`` and follows the one at index ``parent``."""
        self._places[mark] = (*self._places.get(mark, ())[1 - _PLACES_MAX :], len(self.digests))
        self.digests.append(mark)
        self.parents.append(parent)
        self.depths.append(self.depths[parent] + 1 if parent >= 0 else 0)

    def first_new(
        self, messages: Sequence[Message], *, part: bool = False, marks: Marks | None = None
    ) -> tuple[int, int]:
        """Index of the first message that the session does not have (``len(messages)`` when it has them all), and
        the index in the transcript of the message that it follows.

        Clients resend the whole history with every call, trim it, or send only what is new. The search runs from
        the end, where the news is: for a whole history its cost is that of the new messages. ``part`` says that it
        is certainly not the whole: then what the assistant says in it was just made, however often it said so before.
        ``marks`` are the messages' own.
        """
        marks = Marks(messages) if marks is None else marks
        for index in range(len(messages) - 1, -1, -1):
            if part and messages[index].role is Role.ASSISTANT:
                continue
            for place in reversed(self._places.get(marks[index], ())):
                if self._continues(marks, index, place, part):
                    return index + 1, place
        return 0, len(self.digests) - 1

    def holds(self, messages: Sequence[Message]) -> bool:
        """Whether the session has all of ``messages`` one behind the other, wherever that is."""
        marks = Marks(messages)
        end = len(messages) - 1
        places = self._places.get(marks[end], ()) if messages else ()
        return not messages or any(
            self.depths[place] >= end and self._same_before(marks, end, place, end) for place in places
        )

    def edited(self, marks: Sequence[str], start: int, place: int) -> tuple[int, int] | None:
        """What ``first_new``, which gave ``start`` and ``place``, would say if it compared the whole of a history with
        what the session has: ``None`` when that is the same. ``marks`` are the digests of its messages."""
        if start == 0 or self.depths[place] != start - 1:
            return None
        found: tuple[int, int] | None = None
        for index in range(start - 1, -1, -1):
            before = self.parents[place]
            if marks[index] != self.digests[place]:
                found = index, before
            place = before
        return found

    def behind(self, start: int, place: int, index: int) -> int:
        """The index in the transcript of message ``index``, where ``first_new`` gave ``start`` and ``place`` and the
        messages from ``start`` on are added next."""
        if index >= start:
            return len(self.digests) + index - start
        for _ in range(start - 1 - index):
            place = self.parents[place]
        return place

    def indexes(self, start: int, place: int, count: int) -> list[int]:
        """``behind`` for the messages from the first one up to number ``count`` (exclusive), in one pass."""
        known: list[int] = []
        for _ in range(start):
            known.append(place)
            place = self.parents[place] if place >= 0 else -1
        return [*reversed(known), *range(len(self.digests), len(self.digests) + max(0, count - start))][:count]

    def _continues(self, marks: Marks, index: int, place: int, part: bool) -> bool:
        """Whether message ``index`` is the one at ``place``.

        In a history from its very start the few messages before it must be the same. Of a part of a history, which
        may just as well be something new that repeats what was said before ("yes", "done"), everything before it
        must be, and it must be long or reach to the newest message.
        """
        if self.depths[place] == index and not part:
            return self._same_before(marks, index, place, _MATCHED_BEFORE)
        if self.depths[place] < index or (index + 1 < _PART_LEAST and place != len(self.digests) - 1):
            return False
        return self._same_before(marks, index, place, _PART_MOST)

    def _same_before(self, marks: Marks, index: int, place: int, most: int) -> bool:
        for back in range(1, min(most, index) + 1):
            place = self.parents[place]
            if marks[index - back] != self.digests[place]:
                return False
        return True


class Marks:
    """The digests of messages, each made once and when it is asked for."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._made: dict[int, str] = {}

    def __getitem__(self, index: int) -> str:
        mark = self._made.get(index)
        if mark is None:
            mark = self._made[index] = digest(self._messages[index])
        return mark


@dataclass(frozen=True, slots=True)
class Marked:
    """A checkpoint and its place in the log."""

    seq: int
    recorded_at: float
    checkpoint: Checkpointed


@dataclass(frozen=True, slots=True)
class Edited:
    """A change by hand, and when it was recorded, in seconds since the epoch."""

    recorded_at: float
    edit: NodeEdited


@dataclass(slots=True)
class SessionState:
    """Everything that the log of a session folds into.

    ``derived`` is the number of the last message that facts were drawn from; ``undrawn`` holds the messages after
    it, ``recent`` the last few before. ``spoken`` is the number of the newest message that is not the system's;
    ``kept``: a host keeps its chat here. ``cut`` is the checkpoint whose block replaces old messages now. ``refined``
    is the number of the last message that a model was shown, ``asked`` how often it was asked, and ``unrefined`` holds
    the numbers of the turns that were opened since. ``edits`` are the changes by hand, by their numbers.
    """

    seq: int = 0
    recorded_at: float = 0.0
    graph: SessionGraph = field(default_factory=SessionGraph)
    transcript: Transcript = field(default_factory=Transcript)
    spoken: int = 0
    kept: bool = False
    derived: int = 0
    undrawn: list[Numbered] = field(default_factory=list)
    recent: deque[Numbered] = field(default_factory=lambda: deque(maxlen=CONTEXT_MESSAGES))
    checkpoints: list[Marked] = field(default_factory=list)
    cut: Checkpointed | None = None
    refined: int = 0
    asked: int = 0
    unrefined: list[int] = field(default_factory=list)
    outcomes: dict[Outcome, int] = field(default_factory=dict)
    edits: dict[int, Edited] = field(default_factory=dict)

    @property
    def next_checkpoint(self) -> str:
        """The id that the next checkpoint gets."""
        return f"checkpoint-{len(self.checkpoints) + 1}"

    def copy(self) -> SessionState:
        """An independent state: what is folded into either does not show in the other."""
        found = replace(self)
        for name in self.__slots__:
            if hasattr(value := getattr(self, name), "copy"):
                setattr(found, name, value.copy())
        return found

    def apply(self, recorded: Recorded) -> None:
        """Fold the next event of the log."""
        self.seq, self.recorded_at = recorded.seq, recorded.recorded_at
        match recorded.event:
            case MessageRecorded(turn, mark, message, after, original):
                self.transcript.add(mark, after - 1)
                self.spoken = turn if message.role is not Role.SYSTEM else self.spoken
                self.undrawn.append((turn, message))
                self.unrefined += [turn] if message.opens_turn else []
                self.kept = self.kept or bool(original)
            case HistoryRevised(withdrawn, _, redrawn):
                waiting = [each for each in self.undrawn if each[0] not in withdrawn]
                known = [each for each in self.recent if each[0] not in withdrawn]
                self.undrawn = [] if redrawn else waiting
                self.recent = deque([*known, *waiting] if redrawn else known, self.recent.maxlen)
                if redrawn:
                    self._forget_facts()
            case Derived(turn) as drawn:
                self.graph.apply(drawn)
                self._drawn(turn)
            case Refined(turn, calls):
                self.refined, self.asked = turn, self.asked + calls
                self.unrefined = [opened for opened in self.unrefined if opened > turn]
            case Checkpointed() as checkpoint:
                self.checkpoints.append(Marked(recorded.seq, recorded.recorded_at, checkpoint))
                self.cut = checkpoint if checkpoint.anchor else self.cut
            case TurnClosed(_, outcome):
                self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1
            case event:
                if isinstance(event, NodeEdited):
                    self.edits[event.number] = Edited(recorded.recorded_at, event)
                self.graph.apply(event, recorded.recorded_at)

    def _forget_facts(self) -> None:
        self.graph, self.derived, self.refined, self.cut = SessionGraph(), 0, 0, None
        self.edits = {}

    def _drawn(self, turn: int) -> None:
        self.derived = max(turn, self.derived)
        while self.undrawn and self.undrawn[0][0] <= turn:
            self.recent.append(self.undrawn.pop(0))


def joining(
    transcript: Transcript, messages: Sequence[Message], *, part: bool = False, known: tuple[int, int] | None = None
) -> list[MessageRecorded]:
    """The events that add what is new in ``messages``, none of which is a system message. ``part``: they are only the
    newest ones of a history. ``known`` is what ``first_new`` says, or knows better."""
    marks = Marks(messages)
    start, place = known if known is not None else transcript.first_new(messages, part=part, marks=marks)
    events: list[MessageRecorded] = []
    for index in range(start, len(messages)):
        turn = len(transcript) + len(events) + 1
        after = turn - 1 if events else place + 1
        events.append(MessageRecorded(turn, marks[index], messages[index], after))
    return events


def appended(state: SessionState, messages: Sequence[Written]) -> list[MessageRecorded]:
    """The events that add ``messages`` behind the newest one, whether or not the session has such already. Those of
    the system stand beside the chat, so that it is known again when it comes without them."""
    events: list[MessageRecorded] = []
    before = state.spoken
    for turn, written in enumerate(messages, len(state.transcript) + 1):
        message = written.message
        events.append(MessageRecorded(turn, digest(message), message, before, written.original))
        before = turn if message.role is not Role.SYSTEM else before
    return events


def fold(recorded: Sequence[Recorded]) -> SessionState:
    """The state after these events, from nothing."""
    state = SessionState()
    for event in recorded:
        state.apply(event)
    return state
