"""Reminders that requests carried and that are not on record yet. Pure but for a lock."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.model.event import Reminded
from tokenmizer_mw.model.reminder import Reminder, ReminderPart
from tokenmizer_mw.model.session import SessionKey

WAITING_MAX: Final = 8
"""Reminders of a session that wait; the oldest give way."""


@dataclass(frozen=True, slots=True)
class Carried:
    """What a request carried for the first time, of what the cut ``cut`` took out."""

    cut: str
    part: ReminderPart

    def event(self, turn: int) -> Reminded:
        """The event that says so, where message ``turn`` answers the request."""
        return Reminded(turn, self.cut, self.part.tokens, self.part.nodes, self.part.messages)


class CarriedReminders:
    """What was handed to a host that sends its requests itself: it is on record with the next messages of the session.

    Of at most ``capacity`` sessions. Threads may share it when they bring a ``lock``.
    """

    def __init__(self, capacity: int, lock: AbstractContextManager[object] | None = None) -> None:
        self._capacity = capacity
        self._waiting: OrderedDict[SessionKey, tuple[Carried, ...]] = OrderedDict()
        self._lock = lock if lock is not None else nullcontext()

    def put(self, key: SessionKey, carried: Sequence[Carried]) -> None:
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

    def take(self, key: SessionKey) -> tuple[Carried, ...]:
        """What requests of the session carried, for whoever puts it on record."""
        with self._lock:
            return self._waiting.pop(key, ())


def reminded(turn: int, reminder: Reminder | None) -> list[Reminded]:
    """The event that says what ``reminder`` carried in the request that message ``turn`` answers; none where nothing
    in it was new."""
    if reminder is None or reminder.new is None:
        return []
    return [Carried(reminder.cut, reminder.new).event(turn)]


def join_parts(parts: Sequence[ReminderPart]) -> ReminderPart | None:
    """Several parts as one; ``None`` for none."""
    if len(parts) <= 1:
        return parts[0] if parts else None
    return ReminderPart(
        "\n\n".join(part.text for part in parts),
        sum(part.tokens for part in parts),
        tuple(dict.fromkeys(id for part in parts for id in part.nodes)),
        tuple(dict.fromkeys(number for part in parts for number in part.messages)),
    )
