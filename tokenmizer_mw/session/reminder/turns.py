"""The reminders of the turns under way, so that every call of a turn carries the same bytes. Pure but for a lock."""

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
    """A turn: the session, the cut in force, how many messages behind the cut it begins, and what it asks."""

    session: SessionKey
    cut: str
    behind: int
    digest: str


@dataclass(frozen=True, slots=True)
class TurnPart:
    """A part of a turn's reminder: it stands behind the message that is ``offset`` behind the question and has this
    ``digest``. ``part`` is ``None`` where there was nothing to remind of."""

    offset: int
    digest: str
    part: ReminderPart | None


class TurnReminders:
    """The reminders of the ``capacity`` turns used last. Threads may share it when they bring a ``lock``.

    A provider's prompt cache serves the calls of a turn with tools only while each request begins as the one before:
    what was put behind the question stays there until the turn is over.
    """

    def __init__(self, capacity: int, lock: AbstractContextManager[object] | None = None) -> None:
        self._capacity = capacity
        self._turns: OrderedDict[TurnKey, tuple[TurnPart, ...]] = OrderedDict()
        self._lock = lock if lock is not None else nullcontext()

    def find(self, key: TurnKey) -> tuple[TurnPart, ...]:
        """The parts of a turn so far, in the order of their messages."""
        with self._lock:
            found = self._turns.get(key, ())
            if found:
                self._turns.move_to_end(key)
            return found

    def keep(self, key: TurnKey, parts: Sequence[TurnPart]) -> None:
        """Remember the parts of a turn."""
        with self._lock:
            self._turns[key] = tuple(parts)
            self._turns.move_to_end(key)
            if len(self._turns) > self._capacity:
                self._turns.popitem(last=False)


def turn_key(session: SessionKey, cut: str, request: ChatRequest, keep_from: int, place: int) -> TurnKey:
    """The key of the turn of ``request`` that message ``place`` opens."""
    return TurnKey(session, cut, place - keep_from, digest(request.messages[place]))


def still_there(parts: Sequence[TurnPart], request: ChatRequest, opener: int) -> list[TurnPart]:
    """Those of the ``parts`` of the turn that message ``opener`` opens whose message stands where it stood: what
    follows another message is not carried on."""
    kept: list[TurnPart] = []
    for one in parts:
        place = opener + one.offset
        if place >= len(request.messages) or digest(request.messages[place]) != one.digest:
            break
        kept.append(one)
    return kept
