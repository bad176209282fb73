"""One session folded: its transcript, its graph, how far extraction got, and the cut in force. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from tokenmizer_mw.extract.derive import CONTEXT_MESSAGES
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import Checkpointed, Derived, MessageRecorded, Recorded, TurnClosed
from tokenmizer_mw.model.message import Message, Outcome, digest

_MATCHED_BEFORE: Final = 2
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

    def add(self, mark: str, parent: int) -> None:
        """The next message has the digest ``mark`` and follows the one at index ``parent``."""
        self._places[mark] = (*self._places.get(mark, ())[1 - _PLACES_MAX :], len(self.digests))
        self.digests.append(mark)
        self.parents.append(parent)
        self.depths.append(self.depths[parent] + 1 if parent >= 0 else 0)

    def first_new(self, messages: Sequence[Message]) -> tuple[int, int]:
        """Index of the first message that the session does not have (``len(messages)`` when it has them all), and
        the index in the transcript of the message that it follows.

        Clients resend the whole history with every call, trim it, or send only what is new. The search runs from
        the end, where the news is: its cost is that of the new messages, not of the history.
        """
        for index in range(len(messages) - 1, -1, -1):
            mark = digest(messages[index])
            for place in reversed(self._places.get(mark, ())):
                if self._continues(messages, index, place):
                    return index + 1, place
        return 0, len(self.digests) - 1

    def _continues(self, messages: Sequence[Message], index: int, place: int) -> bool:
        """Whether message ``index`` is the one at ``place``: what stands before it must be the same, too.

        A lone message is the known one only at either end of the transcript: in between, a second "yes" is new.
        """
        if self.depths[place] < index:
            return False
        if index == 0:
            return self.depths[place] == 0 or place == len(self.digests) - 1
        for back in range(1, min(_MATCHED_BEFORE, index) + 1):
            place = self.parents[place]
            if digest(messages[index - back]) != self.digests[place]:
                return False
        return True


@dataclass(frozen=True, slots=True)
class Marked:
    """A checkpoint and its place in the log."""

    seq: int
    recorded_at: float
    checkpoint: Checkpointed


@dataclass(slots=True)
class SessionState:
    """Everything that the log of a session folds into.

    ``derived`` is the number of the last message that facts were drawn from; ``undrawn`` holds the messages after
    it, ``recent`` the last few before. ``cut`` is the checkpoint whose block replaces old messages now.
    """

    seq: int = 0
    recorded_at: float = 0.0
    graph: SessionGraph = field(default_factory=SessionGraph)
    transcript: Transcript = field(default_factory=Transcript)
    derived: int = 0
    undrawn: list[Numbered] = field(default_factory=list)
    recent: deque[Numbered] = field(default_factory=lambda: deque(maxlen=CONTEXT_MESSAGES))
    checkpoints: list[Marked] = field(default_factory=list)
    cut: Checkpointed | None = None
    outcomes: dict[Outcome, int] = field(default_factory=dict)

    def apply(self, recorded: Recorded) -> None:
        """Fold the next event of the log."""
        self.seq, self.recorded_at = recorded.seq, recorded.recorded_at
        match recorded.event:
            case MessageRecorded(turn, mark, message, after):
                self.transcript.add(mark, after - 1)
                self.undrawn.append((turn, message))
            case Derived(turn) as drawn:
                self.graph.apply(drawn)
                self._drawn(turn)
            case Checkpointed() as checkpoint:
                self.checkpoints.append(Marked(recorded.seq, recorded.recorded_at, checkpoint))
                self.cut = checkpoint if checkpoint.anchor else self.cut
            case TurnClosed(_, outcome):
                self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1
            case event:
                self.graph.apply(event, recorded.recorded_at)

    def _drawn(self, turn: int) -> None:
        self.derived = max(turn, self.derived)
        while self.undrawn and self.undrawn[0][0] <= turn:
            self.recent.append(self.undrawn.pop(0))


def joining(transcript: Transcript, messages: Sequence[Message]) -> list[MessageRecorded]:
    """The events that add what is new in ``messages``, none of which is a system message."""
    start, place = transcript.first_new(messages)
    known, events = len(transcript), list[MessageRecorded]()
    for message in messages[start:]:
        turn = known + len(events) + 1
        after = turn - 1 if events else place + 1
        events.append(MessageRecorded(turn, digest(message), message, after))
    return events


def fold(recorded: Sequence[Recorded]) -> SessionState:
    """The state after these events, from nothing."""
    state = SessionState()
    for event in recorded:
        state.apply(event)
    return state
