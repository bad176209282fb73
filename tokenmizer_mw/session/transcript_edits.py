"""The history of a session whose chat is kept here, and how it comes to be another one. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from tokenmizer_mw.context.recall import PassageIndex, message_text
from tokenmizer_mw.context.resume.prepared import PreparedSentences
from tokenmizer_mw.context.resume.sentences import CHARACTERS_MAX, READ_MAX
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
    Recorded,
    Reminded,
    StatusChanged,
    TurnClosed,
)
from tokenmizer_mw.model.message import Message, Written
from tokenmizer_mw.session import SessionState, appended
from tokenmizer_mw.session.derivation import Drawing

Change = Callable[[Sequence[Written]], Sequence[Written]]
"""From a history to the one that takes its place: messages of it, with their numbers, and new ones without."""


@dataclass(frozen=True, slots=True)
class Revision:
    """The changes that turn one transcript into another.

    - ``withdrawn``: numbers of the messages to remove.
    - ``archived``: numbers of the messages that stay in the transcript but are no longer used.
    - ``added``: messages to append at the end; their ``number`` is 0.
    """

    withdrawn: tuple[int, ...]
    archived: tuple[int, ...]
    added: tuple[Written, ...]


@dataclass(slots=True)
class HistoryMessages:
    """The messages that a session's log leaves in its history, by their numbers, in the order in which they joined.

    ``size`` is about how many characters they take, or took before they were withdrawn. ``index`` finds passages of
    them, once ``passages`` was asked for it. ``prepared`` holds their sentences, for blocks.
    """

    seq: int = 0
    recorded_at: float = 0.0
    messages: dict[int, Written] = field(default_factory=dict)
    size: int = 0
    index: PassageIndex | None = None
    prepared: PreparedSentences = field(default_factory=PreparedSentences)
    _unindexed: list[int] = field(default_factory=list)

    def passages(
        self, clean: Callable[[Message], Message], passages_max: int, *, most: int | None = None
    ) -> PassageIndex:
        """The index over the passages of these messages. It is made when it is first asked for and grown from then on.
        ``clean`` takes out of a message what must not be found, ``passages_max`` bounds a new index. ``most``: no
        further message is added behind so many characters; ``None``: all are."""
        if self.index is None:
            self.index = PassageIndex(passages_max=passages_max)
        characters = taken = 0
        for number in self._unindexed:
            if most is not None and characters >= most:
                break
            taken += 1
            if (written := self.messages.get(number)) is not None:
                message = clean(written.message)
                characters += _characters(message)
                self.index.add(number, message.role.value, message_text(message))
        del self._unindexed[:taken]
        return self.index

    @property
    def unindexed(self) -> int:
        """How many characters the next call of ``passages`` has to index."""
        found = (self.messages.get(number) for number in self._unindexed)
        return sum(_characters(written.message) for written in found if written is not None)

    def prepare_sentences(self, clean: Callable[[Message], Message], most: int) -> bool:
        """Read the sentences of the newest messages that were not read yet, until that were ``most`` characters. False
        when a block would look at no others. ``clean`` takes out of a message what must not be quoted."""
        room = dict(CHARACTERS_MAX)
        for number in reversed(self.messages):
            message = self.messages[number].message
            if room.get(message.role, 0) <= 0:
                continue
            if number not in self.prepared:
                if most <= 0:
                    return True
                most -= max(1, self.prepared.prepare(number, clean(message)))
            room[message.role] -= min(_characters(message), READ_MAX)
        return False

    @property
    def weight(self) -> int:
        """About how many characters are held, the index included."""
        return (self.size if self.index is None else 2 * self.size) + _SENTENCE_WEIGHT * self.prepared.size

    def apply(self, recorded: Recorded) -> None:
        """Fold the next event of the log."""
        self.seq, self.recorded_at = recorded.seq, recorded.recorded_at
        match recorded.event:
            case MessageRecorded() as told:
                self.messages[told.turn] = Written(told.message, told.original, told.turn)
                self._unindexed.append(told.turn)
                self.size += _BARE + _characters(told.message) + len(told.original)
            case HistoryRevised(withdrawn, archived):
                for number in withdrawn:
                    self.messages.pop(number, None)
                    if self.index is not None:
                        self.index.remove(number)
                for number in archived:
                    if (one := self.messages.get(number)) is not None:
                        self.messages[number] = replace(one, archived=True)


_SENTENCE_WEIGHT: Final = 8
"""About how many characters a character takes whose sentences are at hand."""

_BARE: Final = 500
"""What a message takes besides its texts."""


def _characters(message: Message) -> int:
    calls = sum(len(call.arguments) + len(call.name) for call in message.tool_calls)
    results = sum(len(result.text) for result in message.tool_results)
    return len(message.text) + len(message.thinking) + len(message.refusal) + calls + results


def standing(log: Iterable[Recorded]) -> list[Written]:
    """The messages that a session's log leaves in its history, in the order in which they joined."""
    told = HistoryMessages()
    for recorded in log:
        told.apply(recorded)
    return list(told.messages.values())


def revision(current: Sequence[Written], wanted: Sequence[Written]) -> Revision:
    """How ``current`` becomes ``wanted``. A log only grows at its end: messages keep their places as long as their
    order is the same and nothing new stands before them; from there on they leave and are added again."""
    known = {one.number: one for one in current}
    kept: dict[int, Written] = {}
    added: list[Written] = []
    last = 0
    for one in wanted:
        before = known.get(one.number)
        if before is None or added or one.number <= last or (before.archived and not one.archived):
            added.append(replace(one, number=0))
        else:
            kept[one.number], last = one, one.number
    withdrawn = tuple(number for number in known if number not in kept)
    archived = tuple(number for number, one in kept.items() if one.archived and not known[number].archived)
    return Revision(withdrawn, archived, tuple(added))


def revised(state: SessionState, log: Sequence[Recorded], change: Change, drawing: Drawing) -> list[Event]:
    """The events that carry out ``change`` on the session that ``log`` folds into ``state``.

    Facts that messages leave behind when they are withdrawn would be facts of nobody. What was drawn before the first
    of them is said again as it was; from there on the graph is drawn anew from what stays, with the rules of today.
    """
    current = standing(log)
    step = revision(current, change(current))
    news = appended(state, step.added)
    archived = (*step.archived, *(new.turn for new, one in zip(news, step.added, strict=True) if one.archived))
    if not (step.withdrawn or archived):
        return list(news)
    if not drawn_from(log, frozenset(step.withdrawn)):
        return [*news, HistoryRevised(step.withdrawn, archived)]
    said = drawn_before(log, min(step.withdrawn))
    anew = SessionState()
    for event in said:
        anew.apply(Recorded(0, state.recorded_at, event))
    for one in current:
        if one.number not in step.withdrawn:
            (anew.recent if one.number <= anew.derived else anew.undrawn).append((one.number, one.message))
    return [*news, HistoryRevised(step.withdrawn, archived, redrawn=True), *said, *drawing.facts(anew, news)]


def drawn_before(log: Iterable[Recorded], number: int) -> list[Event]:
    """The events that drew facts, in order, up to the last time that this was from messages before ``number`` alone;
    and what was corrected by hand right behind."""
    drawn: list[Event] = []
    settled = last = 0
    for recorded in log:
        match recorded.event:
            case HistoryRevised(redrawn=True):
                drawn, settled, last = [], 0, 0
            case Derived(turn) as event:
                drawn.append(event)
                settled, last = (len(drawn), turn) if turn < number else (settled, last)
            case MessageRecorded() | HistoryRevised() | TurnClosed() | Checkpointed() | Reminded():
                continue
            case event:
                drawn.append(event)
                behind = settled == len(drawn) - 1 and (_turn(event) or number) <= last
                settled += behind
    return drawn[:settled]


def drawn_from(log: Iterable[Recorded], numbers: Collection[int]) -> bool:
    """Whether a fact in ``log`` stems from one of these messages, or was changed by one."""
    return bool(numbers) and any(_turn(recorded.event) in numbers for recorded in log)


def _turn(event: Event) -> int | None:
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
