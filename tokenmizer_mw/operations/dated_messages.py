"""Records messages, and their facts, at the times at which the messages were written."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tokenmizer_mw.errors import Conflict
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.event import Event, MessageRecorded, Recorded
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.session import SessionState, find_new_messages, fold
from tokenmizer_mw.wire.messages import history


def record_at(
    memory: SessionMemory,
    key: SessionKey,
    messages: Sequence[Message],
    times: Sequence[float | None],
    now: float,
    *,
    later: bool = False,
    advance: Callable[[int], object] = int,
) -> int:
    """Add the messages that the session does not have yet, and their facts, at the times of the messages.

    Returns the number of new messages. All or nothing. System messages are left out.

    - ``times``: one per message, in seconds since the epoch; ``None``: unknown. Times never go back within a session: a
      message without a time, or with one that is too early, gets that of the message before it. The first messages of
      a session get the first time that is known, else ``now``. None is later than ``now``.
    - ``later``: true to add the messages alone, and extract their facts in the background.
    - ``advance``: called with 1 for each new message; again from the first one after a conflict with another writer.

    Raises ``InvalidMessage`` for anything that is not a chat message, and ``ValueError`` if ``times`` has another
    length than ``messages``.
    """
    redactor = memory.service.redaction.redactor
    whole = history(messages)
    known_times = [time for role, time in zip(whole.roles, times, strict=True) if role is not Role.SYSTEM]
    spoken = whole.without_system().through(memory.service.redaction.remove_echoes)
    if redactor is not None:
        spoken = spoken.through(redactor.message)
    while True:
        state = fold(memory.log.read(key))
        end = state.seq
        new = find_new_messages(state.transcript, spoken)
        settled = _settle([known_times[index] for index, _ in new], state.recorded_at, now)
        try:
            recorded = _record(memory, state, [event for _, event in new], settled, advance, later)
            memory.log.load(key, recorded, expected_seq=end)
        except Conflict:
            continue
        if later and new:
            memory.service.extraction.schedule(key)
        return len(new)


def _settle(times: Sequence[float | None], earliest: float, now: float) -> list[float]:
    last = earliest or min(now, next((time for time in times if time is not None), now))
    settled = []
    for time in times:
        last = max(last, min(time, now)) if time is not None else last
        settled.append(last)
    return settled


def _record(
    memory: SessionMemory,
    state: SessionState,
    news: Sequence[MessageRecorded],
    times: Sequence[float],
    advance: Callable[[int], object],
    later: bool,
) -> list[Recorded]:
    """Return the events of messages and, behind each turn unless ``later``, of its facts; ``state`` then includes
    them."""
    found: list[Recorded] = []

    def add(event: Event, time: float) -> None:
        found.append(Recorded(state.seq + 1, time, event))
        state.apply(found[-1])

    for place, (event, time) in enumerate(zip(news, times, strict=True), 1):
        add(event, time)
        advance(1)
        if not later and (place == len(news) or news[place].message.role is Role.USER):
            for fact in memory.service.access.derivation.facts(state):
                add(fact, time)
    return found
