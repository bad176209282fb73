"""Checks of the events of one session: appending and reading."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from tokenmizer_mw.errors import Conflict
from tokenmizer_mw.model.event import KINDS_BESIDE_MESSAGES, KINDS_BESIDE_NODES, MessageRecorded, Recorded, encode
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.session import SessionKey

from .expectations import KEY, MakeLog, expect, expect_raised, list_events, make_turns, open_empty_log
from .samples import EVERY_KIND


def check_append_and_read(make_log: MakeLog) -> None:
    """Check that appended events are read back, numbered from 1 without gaps, after one or several appends."""
    with open_empty_log(make_log) as log:
        first = log.append(KEY, make_turns(1, 3), expected_seq=0)
        second = log.append(KEY, make_turns(4, 4), expected_seq=3)
        expect([event.seq for event in first + second], [1, 2, 3, 4], "numbers returned by append")
        expect([event.event for event in first + second], make_turns(1, 4), "events returned by append")
        expect(log.read(KEY), first + second, "what read returns, against what append returned")


def check_slices(make_log: MakeLog) -> None:
    """Check that ``after`` is exclusive and ``upto`` inclusive, and that limits beyond the log are no error."""
    limits: tuple[tuple[int, int | None, list[int]], ...] = (
        (0, None, [1, 2, 3, 4, 5]), (2, None, [3, 4, 5]), (5, None, []), (99, None, []), (0, 2, [1, 2]),
        (2, 4, [3, 4]), (4, 2, []), (3, 3, []), (0, 0, []), (-1, 10**30, [1, 2, 3, 4, 5]), (10**30, None, []),
    )  # fmt: skip
    with open_empty_log(make_log) as log:
        log.append(KEY, make_turns(1, 5), expected_seq=0)
        for after, upto, expected in limits:
            found = [recorded.seq for recorded in log.read(KEY, after=after, upto=upto)]
            expect(found, expected, f"read(after={after}, upto={upto})")


def check_outlines(make_log: MakeLog) -> None:
    """Check what ``read`` returns for each ``detail``, compared with the whole log.

    - "graph": all events, in order. Those of messages have their number and need not have their content.
    - "nodes": at least the events that change a fact, unchanged.
    - "messages": at least the events that change a message, and the last event of the log, unchanged.
    - "numbers": the event of every message, with its number and time.
    """
    with open_empty_log(make_log) as log:
        whole = log.append(KEY, EVERY_KIND, expected_seq=0)
        for one, outline in zip(whole, log.read(KEY, detail="graph"), strict=True):
            expect((one.seq, one.recorded_at), (outline.seq, outline.recorded_at), "number and time of an outline")
            if isinstance(one.event, MessageRecorded) and isinstance(outline.event, MessageRecorded):
                expect(one.event.turn, outline.event.turn, "the number of a message without its content")
            else:
                expect(one.event, outline.event, "an event that is no message")
        found = {one.seq: one for one in log.read(KEY, detail="nodes")}
        wanted = [one for one in whole if encode(one.event)[0] not in KINDS_BESIDE_NODES]
        expect([found.get(one.seq) for one in wanted], wanted, "the events that change a fact")
        found = {one.seq: one for one in log.read(KEY, detail="messages")}
        wanted = [one for one in whole if encode(one.event)[0] not in KINDS_BESIDE_MESSAGES] + whole[-1:]
        expect([found.get(one.seq) for one in wanted], wanted, "the events that change a message, and the last one")
        expect(_numbers(log.read(KEY, detail="numbers")), _numbers(whole), "the numbers of messages")


def _numbers(events: Iterable[Recorded]) -> list[tuple[int, float, int]]:
    messages = ((one.seq, one.recorded_at, one.event) for one in events)
    return [(seq, at, event.turn) for seq, at, event in messages if isinstance(event, MessageRecorded)]


def check_conflict(make_log: MakeLog) -> None:
    """Check that an append with any ``expected_seq`` but the last number is refused and changes nothing."""
    with open_empty_log(make_log) as log:
        expect_raised(Conflict, lambda: log.append(KEY, make_turns(1, 1), expected_seq=1), "a gap at the start")
        log.append(KEY, make_turns(1, 2), expected_seq=0)
        for wrong in (0, 1, 3, -1, 10**30):
            late = partial(log.append, KEY, make_turns(9, 9), expected_seq=wrong)
            expect_raised(Conflict, late, f"an append behind {wrong}")
        expect(list_events(log), make_turns(1, 2), "the log after refused appends")
        log.append(KEY, make_turns(3, 3), expected_seq=2)
        expect(list_events(log), make_turns(1, 3), "the log after the next append")


def check_clock(make_log: MakeLog) -> None:
    """Check that ``recorded_at`` is the time of the clock, but never decreases within a session, even when the clock
    does."""
    ticks = iter([100.5, 90.0, 100.5, 101.25, 7.0])
    with open_empty_log(make_log, lambda: next(ticks)) as log:
        for seq in range(4):
            log.append(KEY, make_turns(1, 1), expected_seq=seq)
        log.append(SessionKey("tenant", "later"), make_turns(1, 1), expected_seq=0)
        expect([event.recorded_at for event in log.read(KEY)], [100.5, 100.5, 100.5, 101.25], "times of a session")
        expect([event.recorded_at for event in log.read(SessionKey("tenant", "later"))], [7.0], "another session's")


def check_every_kind(make_log: MakeLog) -> None:
    """Check that events of all kinds are read back equal."""
    with open_empty_log(make_log) as log:
        log.append(KEY, EVERY_KIND, expected_seq=0)
        found = list_events(log)
        expect(len(found), len(EVERY_KIND), "number of events")
        for read, written in zip(found, EVERY_KIND, strict=True):
            expect(read, written, f"a {type(written).__name__} event")


def check_lone_surrogates(make_log: MakeLog) -> None:
    """Check that text with lone surrogates, which JSON can contain, is stored like any other."""
    event = MessageRecorded(1, "", Message(Role.USER, "cut \ud83d here, é"))
    with open_empty_log(make_log) as log:
        log.append(KEY, [event], expected_seq=0)
        expect(list_events(log), [event], "a message with half a surrogate pair")


def check_large(make_log: MakeLog) -> None:
    """Check that a message of several megabytes and an append of a thousand events are stored."""
    large = MessageRecorded(1, "", Message(Role.USER, "0123456789abcdef" * (4 * 65536)))
    with open_empty_log(make_log) as log:
        log.append(KEY, [large], expected_seq=0)
        log.append(KEY, make_turns(1, 1000), expected_seq=1)
        expect(list_events(log), [large, *make_turns(1, 1000)], "a large session")
