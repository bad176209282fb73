"""Checks of what is computed from events and stored beside them: snapshots and passage vectors."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from tokenmizer_mw.model.event import Derived, Event, Recorded
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.log import EventLog, PassageRows, Snapshot

from .expectations import KEY, MakeLog, expect, make_turns, open_empty_log, run_together

_REWRITINGS: Final = 12


def check_snapshots(make_log: MakeLog) -> None:
    """Check that each session has at most one snapshot, which is stored unchanged. A newer one replaces it, and so does
    one of another fold version. One that does not fit an event of the session is refused. A session that does not exist
    has none, and none can be stored for it."""
    other, foreign = SessionKey("tenant", "other"), SessionKey("other", KEY.id)
    with open_empty_log(make_log, lambda: 5.0) as log:
        expect(log.snapshot(KEY), None, "the snapshot of an unknown session")
        expect(log.keep_snapshot(KEY, Snapshot(1, 5.0, 1, b"x")), False, "keeping one for an unknown session")
        log.append(KEY, make_turns(1, 6), expected_seq=0)
        log.append(other, make_turns(1, 6), expected_seq=0)
        expect(log.snapshot(KEY), None, "a snapshot that nobody kept")
        first = Snapshot(3, 5.0, 2**32 - 1, bytes(range(256)) * 400)
        expect(log.keep_snapshot(KEY, first), True, "keeping one")
        expect(log.snapshot(KEY), first, "what was kept")
        for wrong in (Snapshot(7, 5.0, 1, b"late"), Snapshot(4, 4.0, 1, b"time"), Snapshot(10**30, 5.0, 1, b"")):
            expect(log.keep_snapshot(KEY, wrong), False, f"keeping one of event {wrong.seq} at {wrong.recorded_at}")
        expect(log.keep_snapshot(KEY, replace(first, seq=2)), False, "keeping an older one")
        expect(log.snapshot(KEY), first, "what was kept, after others were refused")
        for newer in (Snapshot(6, 5.0, 2**32 - 1, b""), Snapshot(2, 5.0, 7, b"of another fold")):
            expect(log.keep_snapshot(KEY, newer), True, "keeping a newer one, or one of another fold")
            expect(log.snapshot(KEY), newer, "the newer one")
        expect((log.snapshot(other), log.snapshot(foreign)), (None, None), "snapshots of others")
        log.append(KEY, make_turns(7, 9), expected_seq=6)
        expect(log.snapshot(KEY), Snapshot(2, 5.0, 7, b"of another fold"), "a snapshot after an append")


def check_snapshots_go(make_log: MakeLog) -> None:
    """Check that no snapshot survives the erasure or rewriting of its session, and that an outdated one cannot be
    stored later."""
    late = Snapshot(3, 5.0, 1, b"what it said")
    with open_empty_log(make_log, lambda: 5.0) as log, open_empty_log(make_log, lambda: 5.0) as old:
        keys = _make_and_drop(log, old, lambda key: log.keep_snapshot(key, late))
        found = [log.snapshot(key) for key in keys]
        expect(found, [None, None, None, None, late], "snapshots left")
        expect([log.keep_snapshot(key, late) for key in keys[:3]], [False] * 3, "keeping late what is gone")
        rewritten = keys[2]
        expect(log.keep_snapshot(rewritten, Snapshot(4, 5.0, 1, b"new")), True, "keeping one of what it says now")
        log.append(rewritten, make_turns(5, 6), expected_seq=4)
        expect(log.keep_snapshot(rewritten, Snapshot(6, 5.0, 1, b"newer")), True, "keeping one long after")


def _make_and_drop(log: EventLog, old: EventLog, keep: Callable[[SessionKey], bool]) -> list[SessionKey]:
    """Make five sessions of three events, and call ``keep`` to store something computed from each. Then forget, erase,
    rewrite and load into one of them each. Returns their keys in this order, and last that of the session that stays as
    it is."""
    keys = [SessionKey("tenant", name) for name in ("forgotten", "erased", "rewritten", "loaded", "left")]
    for key in keys:
        log.append(key, make_turns(1, 3), expected_seq=0)
        expect(keep(key), True, "keeping one")
    forgotten, erased, rewritten, loaded, left = keys
    old.append(KEY, make_turns(4, 5), expected_seq=0)
    log.forget(forgotten)
    log.erase([erased])
    expect(log.rewrite(left, lambda old: old.event), 0, "events changed by changing nothing")
    log.rewrite(rewritten, lambda old: Derived(99) if old.seq == 2 else old.event)
    log.load(loaded, [replace(one, seq=one.seq + 3) for one in old.read(KEY)], expected_seq=3)
    return keys


def check_snapshots_race(make_log: MakeLog) -> None:
    """Check that no outdated snapshot remains when one thread rewrites a session repeatedly while others store
    snapshots of states that they read earlier."""
    over = threading.Event()
    with open_empty_log(make_log) as log:
        log.append(KEY, make_turns(1, 1), expected_seq=0)

        def rewriting() -> None:
            try:
                for number in range(_REWRITINGS):
                    log.rewrite(KEY, partial(_first_is, Derived(100 + number)))
            finally:
                over.set()

        def keeping(version: int) -> None:
            while not over.is_set():
                end = log.read(KEY)[-1]
                log.keep_snapshot(KEY, Snapshot(end.seq, end.recorded_at, version, b"what was read"))

        run_together([rewriting, partial(keeping, 1), partial(keeping, 2)])
        snapshot, end = log.snapshot(KEY), log.read(KEY)[-1]
        expect(
            snapshot is None or snapshot.seq >= end.seq, True, "whether the snapshot is of what the session says now"
        )


def _first_is(event: Event, old: Recorded) -> Event:
    return event if old.seq == 1 else old.event


def check_passages(make_log: MakeLog) -> None:
    """Check that passage vectors are returned as stored and in that order, and only the newest up to the limit. Vectors
    of another model replace all earlier ones. A session that does not exist has none, and none can be stored for
    it."""
    other = SessionKey("other", KEY.id)
    first = PassageRows(2, 5.0, "a model", {b"\x00a": bytes(range(256)), b"b": b"", b"c": b"3"})
    with open_empty_log(make_log, lambda: 5.0) as log:
        expect(log.passage_rows(KEY, "a model"), {}, "vectors of an unknown session")
        expect(log.keep_passage_rows(KEY, first, most=9), False, "keeping some for an unknown session")
        log.append(KEY, make_turns(1, 3), expected_seq=0)
        log.append(other, make_turns(1, 3), expected_seq=0)
        for wrong in (replace(first, seq=4), replace(first, recorded_at=4.0), replace(first, seq=10**30)):
            expect(log.keep_passage_rows(KEY, wrong, most=9), False, f"keeping some of event {wrong.seq}")
        expect(log.keep_passage_rows(KEY, first, most=9), True, "keeping some")
        expect(list(log.passage_rows(KEY, "a model").items()), list(first.rows.items()), "what was kept")
        more = replace(first, rows={b"d": b"4", b"c": b"3", b"e": b"5"})
        expect(log.keep_passage_rows(KEY, more, most=9), True, "keeping more")
        expect(list(log.passage_rows(KEY, "a model")), [b"\x00a", b"b", b"c", b"d", b"e"], "all that was kept")
        expect(log.keep_passage_rows(KEY, replace(first, rows={b"f": b"6"}), most=3), True, "keeping one of three")
        expect(list(log.passage_rows(KEY, "a model")), [b"d", b"e", b"f"], "the newest three")
        expect(log.passage_rows(KEY, "another"), {}, "vectors of a model that gave none")
        expect(log.keep_passage_rows(KEY, replace(first, model="another"), most=9), True, "keeping another model's")
        expect(log.passage_rows(KEY, "a model"), {}, "vectors of the model before")
        expect(log.passage_rows(KEY, "another"), dict(first.rows), "vectors of the model that took its place")
        expect(log.passage_rows(other, "another"), {}, "vectors of another tenant's session")
        log.append(KEY, make_turns(4, 5), expected_seq=3)
        expect(len(log.passage_rows(KEY, "another")), 3, "vectors after an append")


def check_passages_go(make_log: MakeLog) -> None:
    """Check that no passage vector survives the erasure or rewriting of its session, and that outdated ones cannot be
    stored later."""
    late = PassageRows(3, 5.0, "model", {b"passage": b"what it means"})
    with open_empty_log(make_log, lambda: 5.0) as log, open_empty_log(make_log, lambda: 5.0) as old:
        keys = _make_and_drop(log, old, lambda key: log.keep_passage_rows(key, late, most=9))
        found = [len(log.passage_rows(key, "model")) for key in keys]
        expect(found, [0, 0, 0, 0, 1], "vectors left")
        expect([log.keep_passage_rows(key, late, most=9) for key in keys[:3]], [False] * 3, "keeping late what is gone")
        expect(log.keep_passage_rows(keys[2], replace(late, seq=4), most=9), True, "keeping what it says now")
