"""Add reminders to requests that a cut shortens: search the session, and repeat a turn's reminder in all its
requests.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from tokenmizer_mw.context.assembly import Reminder, ReminderPart
from tokenmizer_mw.context.prices import PUBLISHED
from tokenmizer_mw.context.recall import PassageIndex
from tokenmizer_mw.context.tokens import MessageCounter
from tokenmizer_mw.model.event import Checkpointed
from tokenmizer_mw.model.message import Message, digest
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.safety.fence import nonce_for, without_own_blocks
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.session.manual_edits import edits_in_force
from tokenmizer_mw.session.outdated_block import find_outdated_facts
from tokenmizer_mw.session.reminder.carried import TurnPart, TurnReminders, join_parts, keep_placed, turn_key
from tokenmizer_mw.session.reminder.content import (
    SearchTarget,
    beginnings_after_compaction,
    compose,
    other_branches,
    search,
)
from tokenmizer_mw.session.reminder.question import Question, ask, asked_names, opens_turn, read_question
from tokenmizer_mw.session.transcript_edits import HistoryMessages
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.passages import can_append

if TYPE_CHECKING:
    from tokenmizer_mw.context.recall.vectors import Matrix


@dataclass(frozen=True, slots=True)
class Shortening:
    """A request that is sent without some of its messages, because of a cut.

    - ``kept``: indexes of the messages that are sent after the leading system messages, in order.
    - ``left``: tokens of the model's context window that are still free.
    - ``cut``: the cut whose block replaces the other messages; ``None``: the session's current cut.
    - ``sent``: numbers of messages that the cut replaced and that are sent all the same.
    """

    key: SessionKey
    request: ChatRequest
    kept: Sequence[int]
    left: int
    counter: MessageCounter
    cut: Checkpointed | None = None
    sent: Collection[int] = ()

    @property
    def keep_from(self) -> int:
        """Index in the client's request of the first message behind the leading system messages that is kept."""
        return self.kept[0]

    @property
    def left_out(self) -> int:
        """Tokens of the messages of the request that are not sent. The leading system messages are always sent."""
        counts = self.counter.request_counts(self.request)
        return sum(counts[self.request.prefix :]) - sum(counts[place] for place in self.kept)


def count_upto(messages: Iterable[Message], enough: int, counter: MessageCounter) -> int:
    """Count the tokens of ``messages`` one after the other, and stop as soon as there are ``enough``."""
    tokens = 0
    for message in messages:
        tokens += counter.count(message)
        if tokens >= enough:
            break
    return tokens


T = TypeVar("T")
S_co = TypeVar("S_co", covariant=True)
NO_QUESTION: Final = "reminder_no_question"
NO_ROOM: Final = "reminder_no_room"
NO_PLACE: Final = "reminder_no_place"
NOTHING: Final = "reminder_nothing_relevant"
SHORTENED: Final = "reminder_question_shortened"
LATE: Final = "reminder_index_late"
BOUND: Final = "reminder_thinking_bound"


INDEX_STEP: Final = 50_000
"""Characters that are indexed at a time in the background, some 8 ms of CPU time."""

TURNS_A_SESSION: Final = 4
"""Turns whose reminders are cached for each cached session, on average."""


class Reads(Protocol[S_co]):
    """Type of a function that reads a session. It brings what it reads, such as the session's state, up to date with
    the event log, passes it to ``view`` and returns the result."""

    def __call__(self, key: SessionKey, view: Callable[[S_co], T], /) -> T:
        """Return what ``view`` returns for the session ``key`` as its event log is now."""


class ReminderService:
    """Makes the reminders for one memory's requests. Thread-safe; blocks on the store.

    - ``states``, ``texts``: read the state and the messages of a session.
    - ``count``: adds to a counter.
    - ``embed``: returns the vector of a question, or ``None`` if it is not ready in time. Without this function,
      passages are searched by words alone.
    - ``secret``: the store's secret. ``lock``: guards the caches; ``None``: only one thread uses the service.
    """

    def __init__(
        self,
        settings: Settings,
        secret: bytes,
        *,
        states: Reads[SessionState],
        texts: Reads[HistoryMessages],
        count: Callable[[str], None],
        embed: Callable[[str], Matrix | None] | None = None,
        lock: AbstractContextManager[object] | None = None,
    ) -> None:
        self._settings = settings
        self._secret = secret
        self._states = states
        self._texts = texts
        self._count = count
        self._embed = embed
        self._lock = lock if lock is not None else nullcontext()
        self._expected: dict[SessionKey, None] = {}
        self._turns = TurnReminders(TURNS_A_SESSION * settings.sessions_cached, lock)

    def reading(self, states: Reads[SessionState], texts: Reads[HistoryMessages]) -> ReminderService:
        """Return a copy of this service that reads the states and the messages of sessions with the functions
        ``states`` and ``texts``."""
        found = copy(self)
        found._states, found._texts = states, texts
        return found

    def remind(self, shortening: Shortening) -> Reminder | None:
        """Return the reminder for a request, with the parts that earlier requests of its turn had; ``None`` when there
        is none. A counter (docs/counters.md) counts why a new part was not made."""
        request = shortening.request
        question = read_question(request, shortening.keep_from)
        if question is None:
            self._count(NO_QUESTION)
            return None
        if request.bound or request.binds:
            self._count(BOUND)
            return None
        cut = shortening.cut or self._states(shortening.key, lambda state: state.cut)
        return None if cut is None else self._make_reminder(shortening, question, cut)

    def _make_reminder(self, shortening: Shortening, question: Question, cut: Checkpointed) -> Reminder | None:
        earlier = self._earlier(shortening, question, cut)
        shortening = replace(shortening, left=shortening.left - sum(part.tokens for _, part in earlier))
        turn = turn_key(shortening.key, cut.id, shortening.request, shortening.keep_from, question.place)
        before = keep_placed(self._turns.find(turn), shortening.request, question.place)
        parts = [*before, *self._new_parts(shortening, question, cut, before)]
        if len(parts) > len(before):
            self._turns.keep(turn, parts)
        new = [one.part for one in parts[len(before) :] if one.part is not None]
        placed = ((question.place + one.offset, one.part) for one in parts if one.part is not None)
        places = tuple((place, part) for place, part in (*earlier, *placed) if place in shortening.kept)
        return Reminder(places, cut.id, join_parts(new)) if places else None

    def _earlier(self, shortening: Shortening, question: Question, cut: Checkpointed) -> list[tuple[int, ReminderPart]]:
        """Return the reminders of earlier turns with their places in the request; ``[]`` for none.

        They are needed for a provider whose cache serves a request only if it begins with the whole of an earlier one.
        They stay until the next cut, or until they would take half of the free tokens; then all of them are dropped for
        good.
        """
        request = shortening.request
        if PUBLISHED.caching(request.model).anywhere:
            return []
        found: list[tuple[int, ReminderPart]] = []
        openers = [at for at in shortening.kept if at < question.place and opens_turn(request, at)]
        turns = {at: turn_key(shortening.key, cut.id, request, shortening.keep_from, at) for at in openers}
        for at, turn in turns.items():
            parts = keep_placed(self._turns.find(turn), request, at)
            found += [(at + one.offset, one.part) for one in parts if one.part is not None]
        if sum(part.tokens for _, part in found) <= shortening.left // 2:
            return found
        for turn in turns.values():
            self._turns.keep(turn, ())
        return []

    def _new_parts(
        self, shortening: Shortening, question: Question, cut: Checkpointed, before: Sequence[TurnPart]
    ) -> list[TurnPart]:
        """Return the parts of a turn's reminder that no earlier request of the turn had: for its question, and for the
        newest tool results."""
        found: list[TurnPart] = []
        if not (question.text or question.in_loop):
            self._count(NO_QUESTION)
            return found
        if not before:
            wanted = SearchTarget(question.text, question.asks, shortening.sent)
            found.append(self._part(shortening, question, cut, question.place, wanted, ()))
            if question.shortened:
                self._count(SHORTENED)
        offset = question.newest - question.place
        if question.in_loop and all(one.offset < offset for one in before):
            given = [one.part for one in (*before, *found) if one.part is not None]
            names = asked_names(shortening.request, shortening.kept, question.newest, cut.block, given)
            if names:
                wanted = SearchTarget(names, sent=shortening.sent)
                found.append(self._part(shortening, question, cut, question.newest, wanted, given))
        return found

    def _part(
        self,
        shortening: Shortening,
        question: Question,
        cut: Checkpointed,
        place: int,
        wanted: SearchTarget,
        given: Sequence[ReminderPart],
    ) -> TurnPart:
        """Return the part of a reminder that is put after message ``place``. ``given``: the parts that the turn already
        has."""
        mark = digest(shortening.request.messages[place])
        budget = self._budget(shortening, cut) - sum(part.tokens for part in given)
        part: ReminderPart | None = None
        if why := _find_hindrance(shortening.request, place, wanted, budget):
            self._count(why)
        else:
            nonce = nonce_for(self._secret, shortening.key, f"{cut.id}/{mark}/{place}")
            part = self._compose_reminder(shortening.key, cut, wanted, budget, shortening.counter, nonce)
        return TurnPart(place - question.place, mark, part)

    def answer(
        self, key: SessionKey, cut: Checkpointed, question: str, budget: int, counter: MessageCounter
    ) -> ReminderPart | None:
        """Return what the messages that ``cut`` removed say about ``question``, a text that was not sent as a message.

        At most ``budget`` tokens, and fewer than ``cut`` saves. ``None`` if they say nothing about it, or nothing that
        fits; a counter (docs/counters.md) then counts the reason.
        """
        asked = ask(question)
        budget = min(budget, self._count_removed(key, cut, budget, counter) - 1)
        if not asked.text or budget <= 0:
            self._count(NO_ROOM if asked.text else NO_QUESTION)
            return None
        nonce = nonce_for(self._secret, key, f"{cut.id}/{asked.text}")
        return self._compose_reminder(key, cut, SearchTarget(asked.text, asked.asks), budget, counter, nonce)

    def _compose_reminder(
        self, key: SessionKey, cut: Checkpointed, wanted: SearchTarget, budget: int, counter: MessageCounter, nonce: str
    ) -> ReminderPart | None:
        """Return the text about ``wanted`` from the messages before the anchor of ``cut``, within ``budget`` tokens;
        ``None`` if they have nothing."""
        elsewhere = self._states(
            key, lambda state: other_branches(state.transcript, cut.anchor_turn, beginnings_after_compaction(state))
        )
        look = partial(
            search,
            wanted=wanted,
            index_of=self._index_of,
            before=cut.anchor_turn,
            elsewhere=elsewhere,
            meaning=self._meaning(wanted),
        )
        found = self._texts(key, look)
        if found is None:
            self._count(LATE)
            return None

        def view(state: SessionState) -> ReminderPart | None:
            outdated = find_outdated_facts(state, cut)
            if not (found.weights or found.hits or outdated):
                return None
            return compose(
                state.graph,
                cut,
                found,
                budget=budget,
                counter=counter.counter,
                nonce=nonce,
                edits=edits_in_force([one.edit for one in state.edits.values()]),
                outdated=outdated,
            )

        part = self._states(key, view)
        if part is None:
            self._count(NOTHING)
        return part

    def _meaning(self, wanted: SearchTarget) -> Matrix | None:
        """Return the vector of a question, for search by meaning; ``None`` for names, for a text that asks nothing,
        without a sentence model, and if the vector is not ready in time."""
        if self._embed is None or not wanted.asks or not isinstance(wanted.asked, str):
            return None
        return self._embed(wanted.asked)

    def expect_cut(self, key: SessionKey) -> None:
        """Note that the session's requests are so long that one of the next may be cut. The ``sessions_cached``
        sessions that were noted last are remembered."""
        with self._lock:
            self._expected.pop(key, None)
            self._expected[key] = None
            while len(self._expected) > self._settings.sessions_cached:
                del self._expected[next(iter(self._expected))]

    def awaits_cut(self, key: SessionKey) -> bool:
        """Whether ``expect_cut`` was called for this session, and since then for fewer than ``sessions_cached``
        others."""
        return key in self._expected

    def warm(self, key: SessionKey) -> None:
        """Index the messages of a session, so that a reminder can search them without delay. Returns when all are
        indexed; meant for a background thread.

        Indexes about ``INDEX_STEP`` characters at a time: a request of the same session that arrives meanwhile waits
        for one step at most.
        """
        while self._texts(key, self._index_step):
            pass

    def _index_step(self, history: HistoryMessages) -> bool:
        """Index a part of the messages. Returns whether there is more to index."""
        self._index_of(history, most=INDEX_STEP)
        return history.unindexed > 0

    def _index_of(self, history: HistoryMessages, *, most: int | None = None) -> PassageIndex:
        clean = partial(without_own_blocks, secret=self._secret)
        return history.passages(clean, self._settings.passages_max, most=most)

    def _budget(self, shortening: Shortening, cut: Checkpointed) -> int:
        """Return how many tokens a reminder may take: at most the setting, half of the free tokens, and less than the
        cut saves in this request. If the client itself compacted its chat, the compaction is what saves."""
        most = self._settings.reminder_tokens
        if cut.dropped:
            saved = shortening.left_out - cut.tokens
        else:
            saved = self._count_removed(shortening.key, cut, most, shortening.counter)
        return min(most, saved - 1, shortening.left // 2)

    def _count_removed(self, key: SessionKey, cut: Checkpointed, most: int, counter: MessageCounter) -> int:
        """Return the tokens of the session's messages before the anchor of ``cut`` minus those of its block. Counting
        stops as soon as the result is more than ``most``."""

        def count(history: HistoryMessages) -> int:
            removed = (one.message for one in reversed(history.messages.values()) if one.number < cut.anchor_turn)
            return count_upto(removed, most + cut.tokens + 1, counter)

        return self._texts(key, count) - cut.tokens


def _find_hindrance(request: ChatRequest, place: int, wanted: SearchTarget, budget: int) -> str:
    """Return why no reminder can be put after message ``place`` of ``request``, as the name of a counter: there is
    nothing to search for, the message's format allows no text after it, or ``budget`` (tokens) is not above 0. "" if
    one can."""
    if not wanted.asked:
        return NO_QUESTION
    if request.text and not can_append(request, place):
        return NO_PLACE
    return NO_ROOM if budget <= 0 else ""
