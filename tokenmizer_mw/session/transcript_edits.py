"""Changes of a transcript that a framework keeps in this memory: which messages were removed, archived or added, and
the events that record this. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Final

from tokenmizer_mw.context.recall import PassageIndex, message_text
from tokenmizer_mw.context.resume.sentences import CHARACTERS_MAX, READ_MAX, PreparedSentences
from tokenmizer_mw.model.event import (
    Checkpointed,
    Derived,
    Event,
    HistoryRevised,
    MessageRecorded,
    Recorded,
    Reminded,
    TurnClosed,
)
from tokenmizer_mw.model.message import Message, Written
from tokenmizer_mw.session import SessionState, append_messages
from tokenmizer_mw.session.state import FactDerivation, number_of

Change = Callable[[Sequence[Written]], Sequence[Written]]
"""A function that edits a transcript: it gets the current messages, oldest first, and returns those that take their
place. Messages that stay keep their ``number``; new messages have the number 0."""


@dataclass(frozen=True, slots=True)
class Revision:
    """The changes that turn one transcript into another.

    - ``withdrawn``: numbers of the messages to remove.
    - ``archived``: numbers of the messages that stay stored but are no longer sent to the model; their facts stay.
    - ``added``: messages to append at the end; their ``number`` is 0, because they are not stored yet.
    """

    withdrawn: tuple[int, ...]
    archived: tuple[int, ...]
    added: tuple[Written, ...]


@dataclass(slots=True)
class HistoryMessages:
    """The messages of a session that were not withdrawn, by number, in the order in which they were added.

    - ``size``: about how many characters the messages take, withdrawn ones included.
    - ``index``: the search index of their passages (paragraphs); ``None`` until ``passages`` is called.
    - ``prepared``: sentences of the messages, split beforehand for resume blocks.
    """

    seq: int = 0
    recorded_at: float = 0.0
    messages: dict[int, Written] = field(default_factory=dict)
    size: int = 0
    index: PassageIndex | None = None
    prepared: PreparedSentences = field(default_factory=PreparedSentences)
    _unindexed: list[int] = field(default_factory=list)
    _beside: tuple[Message, ...] = ()
    _prepared_to: int = 0

    def passages(
        self, clean: Callable[[Message], Message], passages_max: int, *, most: int | None = None
    ) -> PassageIndex:
        """Return the index over the passages of these messages; it is made on the first call and extended on later
        ones.

        - ``clean``: removes from a message what must not be found.
        - ``passages_max``: maximum number of passages in an index that is made now.
        - ``most``: stop adding messages after this many characters; ``None``: add all.
        """
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
        beside = [message_text(clean(message)) for message in self._beside]
        return self.index.beside(beside) if beside else self.index

    def with_messages(self, events: Iterable[MessageRecorded]) -> HistoryMessages:
        """Return a copy that also has the messages of ``events``, which are not recorded yet, and that has an index of
        its own."""
        seq, at = self.seq, self.recorded_at
        found = HistoryMessages(seq, at, dict(self.messages), self.size, _unindexed=list(self.messages))
        for event in events:
            found.apply(Recorded(seq, at, event))
        return found

    def beside(self, events: Iterable[MessageRecorded], passages_max: int) -> HistoryMessages:
        """Return a copy for one search, which shares the index of these messages and also knows the messages of
        ``events``, which are not recorded yet. A search does not find those messages, but counts their words when it
        weighs how rare a word is.

        ``passages_max``: maximum number of passages in the index.
        """
        if self.index is None:
            self.index = PassageIndex(passages_max=passages_max)
        found = copy(self)
        found._beside = tuple(event.message for event in events)
        return found

    @property
    def unindexed(self) -> int:
        """Number of characters in the messages that are not yet in the search index."""
        found = (self.messages.get(number) for number in self._unindexed)
        return sum(_characters(written.message) for written in found if written is not None)

    def prepare_sentences(self, clean: Callable[[Message], Message], most: int) -> bool:
        """Split the newest messages into sentences in advance, up to ``most`` characters, so that resume blocks can
        quote them quickly. Returns whether more messages remain to be split.

        ``clean``: removes from a message what must not be quoted. Messages that an earlier call prepared, and those
        before them, are not looked at again until a message is withdrawn.
        """
        room = dict(CHARACTERS_MAX)
        for number in reversed(self.messages):
            if number <= self._prepared_to:
                break
            message = self.messages[number].message
            if room.get(message.role, 0) <= 0:
                continue
            if number not in self.prepared:
                if most <= 0:
                    return True
                most -= max(1, self.prepared.prepare(number, clean(message)))
            room[message.role] -= min(_characters(message), READ_MAX)
            if number not in self.prepared:  # dropped at once: nothing older has room
                room[message.role] = 0
        self._prepared_to = next(reversed(self.messages), 0)
        return False

    @property
    def weight(self) -> int:
        """About how much memory the messages take, with their search index and prepared sentences, in characters."""
        return (self.size if self.index is None else 2 * self.size) + _SENTENCE_WEIGHT * self.prepared.size

    def apply(self, recorded: Recorded) -> None:
        """Update the messages by the next event of the log: add a recorded message, remove withdrawn ones, or mark
        messages as archived. Other events change only ``seq`` and ``recorded_at``."""
        self.seq, self.recorded_at = recorded.seq, recorded.recorded_at
        match recorded.event:
            case MessageRecorded() as event:
                self.messages[event.turn] = Written(
                    event.message, event.original, event.turn, recorded_at=recorded.recorded_at
                )
                self._unindexed.append(event.turn)
                self.size += _BARE + _characters(event.message) + len(event.original)
            case HistoryRevised(withdrawn, archived):
                self._prepared_to = 0 if withdrawn else self._prepared_to
                for number in withdrawn:
                    self.messages.pop(number, None)
                    self.prepared.drop(number)
                    if self.index is not None:
                        self.index.remove(number)
                for number in archived:
                    if (one := self.messages.get(number)) is not None:
                        self.messages[number] = replace(one, archived=True)


_SENTENCE_WEIGHT: Final = 8
"""About how many characters of memory a character takes whose message was split into sentences."""

_BARE: Final = 500
"""About how many characters of memory a message takes besides its texts."""


def _characters(message: Message) -> int:
    calls = sum(len(call.arguments) + len(call.name) for call in message.tool_calls)
    results = sum(len(result.text) for result in message.tool_results)
    return len(message.text) + len(message.thinking) + len(message.refusal) + calls + results


def read_standing(log: Iterable[Recorded]) -> list[Written]:
    """Return the messages in a log that were not withdrawn, in the order in which they were added."""
    history = HistoryMessages()
    for recorded in log:
        history.apply(recorded)
    return list(history.messages.values())


def make_revision(current: Sequence[Written], wanted: Sequence[Written]) -> Revision:
    """Return the changes that turn the transcript ``current`` into ``wanted``.

    A log only grows at its end. A message keeps its number as long as the order is unchanged and no new message
    precedes it. Messages from the first difference on are withdrawn and added again.
    """
    known = {one.number: one for one in current}
    listed: dict[int, Written] = {}
    added: list[Written] = []
    last = 0
    for one in wanted:
        before = known.get(one.number)
        if before is None or added or one.number <= last or (before.archived and not one.archived):
            added.append(replace(one, number=0))
        else:
            listed[one.number], last = one, one.number
    withdrawn = tuple(number for number in known if number not in listed)
    archived = tuple(number for number, one in listed.items() if one.archived and not known[number].archived)
    return Revision(withdrawn, archived, tuple(added))


def edit_transcript(
    state: SessionState, log: Sequence[Recorded], change: Change, derivation: FactDerivation
) -> list[Event]:
    """Return the events that carry out ``change`` on a session.

    ``log``: the session's events; ``state``: its state. ``derivation``: extracts facts. If facts come from withdrawn
    messages, the graph is built again: facts derived before the first withdrawn message are repeated as they were, and
    later facts are extracted again from the remaining messages.
    """
    current = read_standing(log)
    step = make_revision(current, change(current))
    news = append_messages(state, step.added)
    archived = (*step.archived, *(new.turn for new, one in zip(news, step.added, strict=True) if one.archived))
    if not (step.withdrawn or archived):
        return list(news)
    if not is_derived_from(log, frozenset(step.withdrawn)):
        return [*news, HistoryRevised(step.withdrawn, archived)]
    earlier = derived_before(log, min(step.withdrawn))
    anew = SessionState()
    for event in earlier:
        anew.apply(Recorded(0, state.recorded_at, event))
    for one in current:
        if one.number not in step.withdrawn:
            (anew.recent if one.number <= anew.derived else anew.unextracted).append((one.number, one.message))
    return [*news, HistoryRevised(step.withdrawn, archived, redrawn=True), *earlier, *derivation.facts(anew, news)]


def derived_before(log: Iterable[Recorded], number: int) -> list[Event]:
    """Return the events with facts that come only from messages before ``number``, in order, and the manual edits that
    directly follow them."""
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
                behind = settled == len(drawn) - 1 and (number_of(event) or number) <= last
                settled += behind
    return drawn[:settled]


def is_derived_from(log: Iterable[Recorded], numbers: Collection[int]) -> bool:
    """Whether one of the messages with these ``numbers`` created or changed a fact in ``log``."""
    return bool(numbers) and any(number_of(recorded.event) in numbers for recorded in log)
