"""Adds reminders to requests that a cut shortens: reads the session, remembers the turns under way, counts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol, TypeVar

from tokenmizer_mw.fence import nonce_for, without_own_blocks
from tokenmizer_mw.model.event import Checkpointed, Reminded
from tokenmizer_mw.model.message import digest
from tokenmizer_mw.model.reminder import Reminder, ReminderPart
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.recall import PassageIndex
from tokenmizer_mw.revising import Told
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.tokens import MessageCounter
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.edits import can_append

from .branches import other_branches
from .compose import compose
from .names import asked_names
from .question import Question, read_question
from .relevance import Found, relevant
from .turns import TurnPart, TurnReminders, still_there, turn_key

T = TypeVar("T")
S_co = TypeVar("S_co", covariant=True)

NO_QUESTION: Final = "reminder_no_question"
NO_ROOM: Final = "reminder_no_room"
NO_PLACE: Final = "reminder_no_place"
NOTHING: Final = "reminder_nothing_relevant"
SHORTENED: Final = "reminder_question_shortened"
LATE: Final = "reminder_index_late"
BOUND: Final = "reminder_thinking_bound"


READ_MAX: Final = 2_000
"""Messages that a request waits for being indexed; where more are new, that is done in the background."""


class Reads(Protocol[S_co]):
    """Reads a session: ``view`` of what its log folds into."""

    def __call__(self, key: SessionKey, view: Callable[[S_co], T], /) -> T:
        """``view`` of the session as its log has it now."""


@dataclass(frozen=True, slots=True)
class Shortening:
    """A request that a cut shortens: of its messages none before ``keep_from`` is sent, and ``left`` tokens of the
    window are free then."""

    key: SessionKey
    request: ChatRequest
    keep_from: int
    left: int
    counter: MessageCounter


class ReminderService:
    """Makes the reminders of one memory's requests. Safe for threads; blocks on the store.

    ``states`` and ``texts`` read a session's folded state and its messages, ``count`` adds to a counter.
    """

    def __init__(
        self,
        settings: Settings,
        secret: bytes,
        *,
        states: Reads[SessionState],
        texts: Reads[Told],
        count: Callable[[str], None],
        lock: AbstractContextManager[object] | None = None,
    ) -> None:
        self._settings = settings
        self._secret = secret
        self._states = states
        self._texts = texts
        self._count = count
        self._turns = TurnReminders(settings.sessions_cached, lock)

    def remind(self, shortening: Shortening) -> Reminder | None:
        """The reminder of a request; ``None`` when it carries none, and a counter says why."""
        request = shortening.request
        question = read_question(request, shortening.keep_from)
        if question is None or not (question.text or question.in_loop):
            self._count(NO_QUESTION)
            return None
        if request.bound or request.binds:
            self._count(BOUND)
            return None
        cut = self._states(shortening.key, lambda state: state.cut)
        if cut is None:
            return None
        turn = turn_key(shortening.key, cut.id, request, shortening.keep_from, question)
        before = still_there(self._turns.find(turn), request, question)
        parts = [*before, *self._new_parts(shortening, question, cut, before)]
        if len(parts) > len(before):
            self._turns.keep(turn, parts)
        new = [one.part for one in parts[len(before) :] if one.part is not None]
        places = tuple((question.place + one.offset, one.part) for one in parts if one.part is not None)
        return Reminder(places, cut.id, _joined(new)) if places else None

    def _new_parts(
        self, shortening: Shortening, question: Question, cut: Checkpointed, before: Sequence[TurnPart]
    ) -> list[TurnPart]:
        """The parts of a turn that no call before had: for its question, and for what tools returned last."""
        found: list[TurnPart] = []
        if not before:
            found.append(self._part(shortening, question, cut, question.place, question.text, ()))
            if question.shortened:
                self._count(SHORTENED)
        offset = question.newest - question.place
        if question.in_loop and all(one.offset < offset for one in before):
            given = [one.part for one in (*before, *found) if one.part is not None]
            names = asked_names(shortening.request, shortening.keep_from, question.newest, cut.block, given)
            if names:
                found.append(self._part(shortening, question, cut, question.newest, names, given))
        return found

    def _part(
        self,
        shortening: Shortening,
        question: Question,
        cut: Checkpointed,
        place: int,
        asked: str | Sequence[str],
        given: Sequence[ReminderPart],
    ) -> TurnPart:
        """What is put behind message ``place`` about ``asked``: a question, or names. ``given``: what the turn was
        reminded of already."""
        mark = digest(shortening.request.messages[place])
        budget = self._budget(shortening, cut) - sum(part.tokens for part in given)
        part = self._composed(shortening, cut, place, asked, question.asks, budget)
        return TurnPart(place - question.place, mark, part)

    def _composed(
        self, shortening: Shortening, cut: Checkpointed, place: int, asked: str | Sequence[str], asks: bool, budget: int
    ) -> ReminderPart | None:
        request = shortening.request
        if why := _hindered(request, place, asked, budget):
            self._count(why)
            return None
        elsewhere = self._states(shortening.key, lambda state: other_branches(state.transcript, cut.anchor_turn))
        look = partial(
            _found, index_of=self._index_of, asked=asked, asks=asks, before=cut.anchor_turn, elsewhere=elsewhere
        )
        found = self._texts(shortening.key, look)
        if found is None:
            self._count(LATE)
            return None
        nonce = nonce_for(self._secret, shortening.key, f"{cut.id}/{digest(request.messages[place])}/{place}")
        counter = shortening.counter.counter

        def view(state: SessionState) -> ReminderPart | None:
            return compose(state.graph, cut, found, budget=budget, counter=counter, nonce=nonce)

        part = self._states(shortening.key, view) if found.weights else None
        if part is None:
            self._count(NOTHING)
        return part

    def warm(self, key: SessionKey) -> None:
        """Have the passages of a session at hand before a request needs them, where a cut is in force."""
        if self._states(key, lambda state: state.cut is not None):
            self._texts(key, self._index_of)

    def _index_of(self, told: Told) -> PassageIndex:
        return told.passages(partial(without_own_blocks, secret=self._secret), self._settings.passages_max)

    def _budget(self, shortening: Shortening, cut: Checkpointed) -> int:
        """Tokens that a reminder may take: the setting, less than the cut saves in this request, and at most half of
        what the window has left."""
        request, counter = shortening.request, shortening.counter
        counts = counter.request_counts(request)
        saved = sum(counts[request.prefix : shortening.keep_from]) - cut.tokens
        return min(self._settings.reminder_tokens, saved - 1, shortening.left // 2)


def reminded(turn: int, reminder: Reminder | None) -> list[Reminded]:
    """The event that says what ``reminder`` carried in the request that message ``turn`` answers; none where nothing
    in it was new."""
    if reminder is None or reminder.new is None:
        return []
    return [Reminded(turn, reminder.cut, reminder.new.tokens, reminder.new.nodes, reminder.new.messages)]


def _hindered(request: ChatRequest, place: int, asked: str | Sequence[str], budget: int) -> str:
    """Why nothing can be put behind message ``place``, as the name of a counter; "" where it can."""
    if not asked:
        return NO_QUESTION
    if request.text and not can_append(request, place):
        return NO_PLACE
    return NO_ROOM if budget <= 0 else ""


def _found(
    told: Told,
    *,
    index_of: Callable[[Told], PassageIndex],
    asked: str | Sequence[str],
    asks: bool,
    before: int,
    elsewhere: Collection[int],
) -> Found | None:
    """What the messages with numbers below ``before``, but for those ``elsewhere``, have for a question, or for names;
    ``None`` where too much of them would have to be read first."""
    if told.unindexed > READ_MAX:
        return None
    index = index_of(told)
    if isinstance(asked, str):
        return relevant(asked, index.rank(asked, upto=before - 1, exclude=elsewhere), asks=asks)
    names = " ".join(asked)
    hits = index.rank(names, upto=before - 1, exclude=elsewhere)
    named = [hit for hit in hits if any(name in hit.text for name in asked)]
    return relevant(names, named, asks=True)


def _joined(parts: Sequence[ReminderPart]) -> ReminderPart | None:
    """Several parts as one; ``None`` for none."""
    if len(parts) <= 1:
        return parts[0] if parts else None
    return ReminderPart(
        "\n\n".join(part.text for part in parts),
        sum(part.tokens for part in parts),
        tuple(dict.fromkeys(id for part in parts for id in part.nodes)),
        tuple(dict.fromkeys(number for part in parts for number in part.messages)),
    )
