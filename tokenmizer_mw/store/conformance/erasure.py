"""Checks of erasing, rewriting and loading stored events."""

from __future__ import annotations

from functools import partial

from tokenmizer_mw.errors import CallerError, Conflict
from tokenmizer_mw.model.event import Derived, Event, Recorded, Rewritten
from tokenmizer_mw.model.session import SessionKey

from .expectations import KEY, MakeLog, expect, expect_raised, list_events, make_turns, open_empty_log
from .samples import EVERY_KIND


def check_forget(make_log: MakeLog) -> None:
    """Check that an erased session is unknown afterwards, and that its id may be used again, from number 1."""
    other = SessionKey("tenant", "other")
    with open_empty_log(make_log) as log:
        log.append(KEY, make_turns(1, 3), expected_seq=0)
        log.append(other, make_turns(1, 1), expected_seq=0)
        expect(log.forget(KEY), 3, "events forgotten")
        expect(log.forget(KEY), 0, "events forgotten the second time")
        expect(log.read(KEY), [], "events of a forgotten session")
        expect([info.key for info in log.sessions("tenant")], [other], "sessions left")
        expect([event.seq for event in log.append(KEY, make_turns(9, 9), expected_seq=0)], [1], "its next life")
        expect(list_events(log, other), make_turns(1, 1), "the other session")


def check_erase(make_log: MakeLog) -> None:
    """Check that many sessions are erased in one call, except those with newer events and those of other tenants."""
    times = iter((10.0, 20.0, 30.0, 40.0, 50.0))
    old, fresh, other = (SessionKey("tenant", name) for name in ("old", "fresh", "other"))
    foreign = SessionKey("zoo", "old")
    with open_empty_log(make_log, lambda: next(times)) as log:
        for key in (old, fresh, other, foreign):
            log.append(key, make_turns(1, 2), expected_seq=0)
        expect(log.tenants(), ["tenant", "zoo"], "tenants")
        expect(log.erase([]), [], "no sessions erased")
        expect(log.erase([old, fresh, KEY, old], unless_since=20.0), [old], "sessions erased that are old")
        expect([info.key for info in log.sessions("tenant")], [other, fresh], "sessions left")
        expect(log.read(old), [], "events of an erased session")
        expect(log.erase([foreign]), [foreign], "sessions erased whatever their age")
        expect(log.tenants(), ["tenant"], "tenants left")


def check_load(make_log: MakeLog) -> None:
    """Check that events read from one log can be loaded into another with the same numbers, gaps and times, that
    appends continue after them, and that events in another order are refused."""
    times = iter((10.0, 20.0, 30.0, 5.0))
    with open_empty_log(make_log, lambda: next(times)) as log, open_empty_log(make_log, lambda: 7.0) as other:
        log.append(KEY, EVERY_KIND, expected_seq=0)
        log.append(KEY, make_turns(1, 2), expected_seq=len(EVERY_KIND))
        log.rewrite(KEY, lambda old: None if old.seq == len(EVERY_KIND) + 1 else old.event)
        recorded = log.read(KEY)
        other.load(KEY, recorded[:3], expected_seq=0)
        other.load(KEY, recorded[3:], expected_seq=3)
        other.load(KEY, [], expected_seq=99)
        expect(other.read(KEY), recorded, "events put back")
        expect(other.sessions("tenant"), log.sessions("tenant"), "the session in a listing")
        added = other.append(KEY, make_turns(1, 1), expected_seq=recorded[-1].seq)
        expect([one.recorded_at for one in added], [recorded[-1].recorded_at], "the time of what follows")
        expect_raised(Conflict, lambda: other.load(KEY, recorded, expected_seq=0), "loading twice")
        for wrong in ([recorded[1], recorded[0]], [Recorded(99, float("nan"), Derived(1))]):
            expect_raised(
                CallerError, partial(other.load, SessionKey("a", "b"), wrong, expected_seq=0), "loading disorder"
            )
        expect(other.read(SessionKey("a", "b")), [], "events of a session that could not be loaded")


def check_rewrite(make_log: MakeLog) -> None:
    """Check that rewriting replaces and erases events and keeps numbers and times, that the number of an erased event
    is not used again, that a ``Rewritten`` event is appended, and that rewriting without a change appends nothing."""
    with open_empty_log(make_log) as log:
        before = log.append(KEY, make_turns(1, 5), expected_seq=0)

        def change(old: Recorded) -> Event | None:
            return None if old.seq in (2, 5) else Derived(99) if old.seq == 3 else old.event

        expect(log.rewrite(KEY, change), 3, "events changed")
        expected = [before[0], Recorded(3, before[2].recorded_at, Derived(99)), before[3]]
        *found, mark = log.read(KEY)
        expect(found, expected, "events after rewriting")
        expect((mark.seq, mark.event), (6, Rewritten(3)), "the event that tells of it")
        expect(mark.recorded_at >= before[4].recorded_at, True, "whether that is later than the rest")
        expect(log.read(KEY, after=1, upto=3), expected[1:2], "a slice after rewriting")
        expect([info.seq for info in log.sessions("tenant")], [6], "the last number")
        expect_raised(
            Conflict, lambda: log.append(KEY, make_turns(6, 6), expected_seq=5), "a writer that has not seen it"
        )
        expect(log.append(KEY, make_turns(6, 6), expected_seq=6)[0].seq, 7, "the next number")
        expect(log.rewrite(KEY, lambda old: old.event), 0, "events changed by changing nothing")
        expect(len(log.read(KEY)), 5, "events after changing nothing")


def check_rewrite_fails_whole(make_log: MakeLog) -> None:
    """Check that an error raised by ``change`` is passed on, and that nothing is changed then."""

    def change(old: Recorded) -> Event | None:
        if old.seq == 3:
            raise LookupError("from change")
        return None

    with open_empty_log(make_log) as log:
        log.append(KEY, make_turns(1, 3), expected_seq=0)
        expect_raised(LookupError, lambda: log.rewrite(KEY, change), "rewriting with a change that raises")
        expect(list_events(log), make_turns(1, 3), "events after it")
        log.append(KEY, make_turns(4, 4), expected_seq=3)
