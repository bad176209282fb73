"""One session folded: its transcript, its graph, how far extraction got, and the cut in force. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import Checkpointed, Derived, Event, MessageRecorded, Recorded, TurnClosed
from tokenmizer_mw.model.message import Message, Outcome, Role, digest

CONTEXT_MESSAGES: Final = 6
"""Messages before the new ones that extraction looks back at, for answers such as "yes, do that"."""

_MATCHED_BEFORE: Final = 2
_PLACES_MAX: Final = 8

Numbered = tuple[int, Message]
"""A message with its number in the session, from 1."""


@dataclass(slots=True)
class Transcript:
    """Which messages the session has, by digest, so that a resent history can be told from news."""

    digests: list[str] = field(default_factory=list)
    _places: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.digests)

    def add(self, mark: str) -> None:
        """The next message has the digest ``mark``."""
        self._places[mark] = (*self._places.get(mark, ())[1 - _PLACES_MAX :], len(self.digests))
        self.digests.append(mark)

    def first_new(self, messages: Sequence[Message]) -> int:
        """Index of the first message that the session does not have; ``len(messages)`` when it has them all.

        Clients resend the whole history with every call, trim it, or send only what is new. The search runs from
        the end, where the news is: its cost is that of the new messages, not of the history.
        """
        for index in range(len(messages) - 1, -1, -1):
            mark = digest(messages[index])
            for place in reversed(self._places.get(mark, ())):
                if self._continues(messages, index, place):
                    return index + 1
        return 0

    def _continues(self, messages: Sequence[Message], index: int, place: int) -> bool:
        """Whether message ``index`` is the one at ``place``: what stands before it must be the same, too.

        A message without anything before it is the known one only at either end of the transcript; in between, a
        second "yes" is a new one.
        """
        depth = min(_MATCHED_BEFORE, index, place)
        if depth == 0:
            return index == 0 and place in (0, len(self.digests) - 1)
        return all(digest(messages[index - back]) == self.digests[place - back] for back in range(1, depth + 1))


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
            case MessageRecorded(turn, mark, message):
                self.transcript.add(mark)
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
    """The events that add what is new in ``messages``. System messages are not part of a transcript."""
    spoken = [message for message in messages if message.role is not Role.SYSTEM]
    new = spoken[transcript.first_new(spoken) :]
    first = len(transcript) + 1
    return [MessageRecorded(first + index, digest(message), message) for index, message in enumerate(new)]


def fold(recorded: Sequence[Recorded]) -> SessionState:
    """The state after these events, from nothing."""
    state = SessionState()
    for event in recorded:
        state.apply(event)
    return state


__all__ = ["CONTEXT_MESSAGES", "Event", "Marked", "Numbered", "SessionState", "Transcript", "fold", "joining"]
