"""Record an imported transcript with the times at which its messages were written."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tokenmizer_mw.errors import Conflict
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.event import Event, MessageRecorded, Recorded
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.session import SessionState, fold, joining
from tokenmizer_mw.wire.messages import history


def record_at(
    memory: SessionMemory,
    key: SessionKey,
    messages: Sequence[Message],
    times: Sequence[float | None],
    now: float,
    *,
    advance: Callable[[int], object] = int,
) -> int:
    """Add the messages that the session does not have yet, and their facts, at the times of the messages.

    Returns the number of new messages. All or nothing. Times never go back within a session: a message without a time,
    or with one that is too early, gets that of the message before it. None is later than ``now``. ``advance`` is called
    with 1 for each message whose facts are extracted.
    """
    redactor = memory.service.redaction.redactor
    spoken = history(messages).without_system().through(memory.service.redaction.remove_echoes)
    if redactor is not None:
        spoken = spoken.through(redactor.message)
    while True:
        state = fold(memory.log.read(key))
        end = state.seq
        news = joining(state.transcript, spoken)
        settled = _settle(times[len(times) - len(news) :], state.recorded_at, now)
        try:
            memory.log.load(key, _record(memory, state, news, settled, advance), expected_seq=end)
        except Conflict:
            continue
        return len(news)


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
) -> list[Recorded]:
    """Return the events of messages and, behind each turn, of its facts; ``state`` then includes them."""
    found: list[Recorded] = []

    def add(event: Event, time: float) -> None:
        found.append(Recorded(state.seq + 1, time, event))
        state.apply(found[-1])

    for place, (event, time) in enumerate(zip(news, times, strict=True), 1):
        add(event, time)
        advance(1)
        if place == len(news) or news[place].message.role is Role.USER:
            for fact in memory.service.access.derivation.facts(state):
                add(fact, time)
    return found
