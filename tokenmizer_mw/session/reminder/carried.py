"""Reminders that requests contained: those that are not in the event log yet, and those of current turns, so that every
request of a turn (a user's message and all that answers it) contains the same bytes. Pure except for locks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.context.assembly import Reminder, ReminderPart
from tokenmizer_mw.model.event import Reminded
from tokenmizer_mw.model.message import digest
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.wire.dialect import ChatRequest

WAITING_MAX: Final = 8
"""Most reminders of a session that wait to be recorded. The oldest ones are dropped."""


@dataclass(frozen=True, slots=True)
class CarriedReminder:
    """A reminder that a request contained for the first time. ``cut``: id of the cut that removed what the reminder
    states."""

    cut: str
    part: ReminderPart

    def event(self, number: int) -> Reminded:
        """Return the event that records the reminder; message ``number`` answers the request."""
        return Reminded(number, self.cut, self.part.tokens, self.part.nodes, self.part.messages)


class CarriedReminders:
    """Queues reminders that were returned to a host, until they are recorded with the session's next messages.

    Holds at most ``capacity`` sessions. Threads may share it if they pass a ``lock``.
    """

    def __init__(self, capacity: int, lock: AbstractContextManager[object] | None = None) -> None:
        self._capacity = capacity
        self._waiting: OrderedDict[SessionKey, tuple[CarriedReminder, ...]] = OrderedDict()
        self._lock = lock if lock is not None else nullcontext()

    def put(self, key: SessionKey, carried: Sequence[CarriedReminder]) -> None:
        """Queue reminders that requests of session ``key`` contained, until ``take`` returns them.

        At most ``WAITING_MAX`` per session and ``capacity`` sessions are kept; the oldest are dropped. An empty
        ``carried`` changes nothing.
        """
        if not carried:
            return
        with self._lock:
            self._waiting[key] = (*self._waiting.get(key, ()), *carried)[-WAITING_MAX:]
            self._waiting.move_to_end(key)
            if len(self._waiting) > self._capacity:
                self._waiting.popitem(last=False)

    def take(self, key: SessionKey) -> tuple[CarriedReminder, ...]:
        """Remove and return the queued reminders of session ``key``, for the caller to record; ``()`` if there are
        none."""
        with self._lock:
            return self._waiting.pop(key, ())


def reminder_events(number: int, reminder: Reminder | None) -> list[Reminded]:
    """Return the event that records ``reminder`` for the request that message ``number`` answers; ``[]`` when the
    reminder is ``None`` or contains nothing new."""
    if reminder is None or reminder.new is None:
        return []
    return [CarriedReminder(reminder.cut, reminder.new).event(number)]


def join_parts(parts: Sequence[ReminderPart]) -> ReminderPart | None:
    """Join several parts of a reminder into one, with a blank line between their texts; ``None`` for an empty
    sequence. Facts and message numbers that several parts have are listed once."""
    if len(parts) <= 1:
        return parts[0] if parts else None
    return ReminderPart(
        "\n\n".join(part.text for part in parts),
        sum(part.tokens for part in parts),
        tuple(dict.fromkeys(id for part in parts for id in part.nodes)),
        tuple(dict.fromkeys(number for part in parts for number in part.messages)),
    )


@dataclass(frozen=True, slots=True)
class TurnKey:
    """Identifies a turn, a user's message with all that answers it.

    - ``cut``: id of the session's current cut.
    - ``behind``: how many messages after the first message that the cut kept the turn begins.
    - ``digest``: digest of the turn's first message.
    """

    session: SessionKey
    cut: str
    behind: int
    digest: str


@dataclass(frozen=True, slots=True)
class TurnPart:
    """A part of a turn's reminder, put after one message of the turn. ``offset``: how many messages after the turn's
    first one that message stands; ``digest``: the message's digest. ``part`` is ``None`` if nothing relevant was found
    there."""

    offset: int
    digest: str
    part: ReminderPart | None


class TurnReminders:
    """Caches the reminders of the ``capacity`` most recently used turns. Threads may share it if they pass a ``lock``.

    A provider's prompt cache serves the requests of a turn only while each begins like the one before. Therefore a
    reminder stays where it is in the request until its turn is over.
    """

    def __init__(self, capacity: int, lock: AbstractContextManager[object] | None = None) -> None:
        self._capacity = capacity
        self._turns: OrderedDict[TurnKey, tuple[TurnPart, ...]] = OrderedDict()
        self._lock = lock if lock is not None else nullcontext()

    def find(self, key: TurnKey) -> tuple[TurnPart, ...]:
        """Return the parts of a turn so far, in message order; ``()`` for an unknown turn."""
        with self._lock:
            found = self._turns.get(key, ())
            if found:
                self._turns.move_to_end(key)
            return found

    def keep(self, key: TurnKey, parts: Sequence[TurnPart]) -> None:
        """Store ``parts`` as the reminder parts of a turn, in place of those stored before. If more than ``capacity``
        turns are stored, the one used longest ago is dropped."""
        with self._lock:
            self._turns[key] = tuple(parts)
            self._turns.move_to_end(key)
            if len(self._turns) > self._capacity:
                self._turns.popitem(last=False)


def turn_key(session: SessionKey, cut: str, request: ChatRequest, keep_from: int, place: int) -> TurnKey:
    """Return the key of the turn that message ``place`` of ``request`` opens. ``cut``: id of the checkpoint of the
    current cut; ``keep_from``: index of the first message that the cut keeps."""
    return TurnKey(session, cut, place - keep_from, digest(request.messages[place]))


def keep_placed(parts: Sequence[TurnPart], request: ChatRequest, opener: int) -> list[TurnPart]:
    """Return the ``parts`` of a turn's reminder before the first one whose message moved or changed in ``request``.
    ``opener``: index of the turn's first message."""
    kept: list[TurnPart] = []
    for one in parts:
        place = opener + one.offset
        if place >= len(request.messages) or digest(request.messages[place]) != one.digest:
            break
        kept.append(one)
    return kept
