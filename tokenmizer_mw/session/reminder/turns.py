"""Cache of the reminders of current turns, so that every request of a turn contains the same bytes. Pure but for a
lock.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from tokenmizer_mw.model.message import digest
from tokenmizer_mw.model.reminder import ReminderPart
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.wire.dialect import ChatRequest


@dataclass(frozen=True, slots=True)
class TurnKey:
    """Identifies a turn: the session, the id of the cut in force, the distance of the turn's first message from the
    first kept message (``behind``), and the digest of that message.
    """

    session: SessionKey
    cut: str
    behind: int
    digest: str


@dataclass(frozen=True, slots=True)
class TurnPart:
    """A part of a turn's reminder. It follows the message that is ``offset`` messages after the question and has this
    ``digest``. ``part`` is ``None`` when nothing relevant was found.
    """

    offset: int
    digest: str
    part: ReminderPart | None


class TurnReminders:
    """Reminders of the ``capacity`` most recently used turns. Threads may share it if they pass a ``lock``.

    A provider's prompt cache serves the requests of a turn only while each begins like the one before. Therefore a
    reminder stays in place until its turn is over.
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
        """Store the parts of a turn."""
        with self._lock:
            self._turns[key] = tuple(parts)
            self._turns.move_to_end(key)
            if len(self._turns) > self._capacity:
                self._turns.popitem(last=False)


def turn_key(session: SessionKey, cut: str, request: ChatRequest, keep_from: int, place: int) -> TurnKey:
    """The key of the turn of ``request`` that message ``place`` opens."""
    return TurnKey(session, cut, place - keep_from, digest(request.messages[place]))


def still_there(parts: Sequence[TurnPart], request: ChatRequest, opener: int) -> list[TurnPart]:
    """Return the leading ``parts`` whose message is still at its place in ``request``; ``opener`` is the index of the
    turn's first message. The first part whose message moved or changed ends the list.
    """
    kept: list[TurnPart] = []
    for one in parts:
        place = opener + one.offset
        if place >= len(request.messages) or digest(request.messages[place]) != one.digest:
            break
        kept.append(one)
    return kept
