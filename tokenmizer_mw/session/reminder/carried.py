"""Reminders that were sent with requests and are not yet in the event log. Pure but for a lock."""

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
    """A reminder that a request contained for the first time. ``cut`` is the id of the cut that removed its content."""

    cut: str
    part: ReminderPart

    def event(self, turn: int) -> Reminded:
        """Return the event that records the reminder; message ``turn`` answers the request."""
        return Reminded(turn, self.cut, self.part.tokens, self.part.nodes, self.part.messages)


class CarriedReminders:
    """Queues reminders that were returned to a host, until they are recorded with the session's next messages.

    Holds at most ``capacity`` sessions. Threads may share it if they pass a ``lock``.
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
        """Remove and return the queued reminders of session ``key``, for the caller to record; ``()`` if there are
        none.
        """
        with self._lock:
            return self._waiting.pop(key, ())


def reminder_events(turn: int, reminder: Reminder | None) -> list[Reminded]:
    """Return the event that records ``reminder`` for the request that message ``turn`` answers; ``[]`` when the
    reminder is ``None`` or contains nothing new.
    """
    if reminder is None or reminder.new is None:
        return []
    return [Carried(reminder.cut, reminder.new).event(turn)]


def join_parts(parts: Sequence[ReminderPart]) -> ReminderPart | None:
    """Join several parts into one; ``None`` for none."""
    if len(parts) <= 1:
        return parts[0] if parts else None
    return ReminderPart(
        "\n\n".join(part.text for part in parts),
        sum(part.tokens for part in parts),
        tuple(dict.fromkeys(id for part in parts for id in part.nodes)),
        tuple(dict.fromkeys(number for part in parts for number in part.messages)),
    )
