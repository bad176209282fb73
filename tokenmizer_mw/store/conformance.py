"""Conformance checks for event logs: what every ``EventLog`` must do, as a table of functions.

    for name, check in CHECKS.items():
        check(make_log)

``make_log(clock)`` returns a new, empty log that takes its times from ``clock``. A check closes the logs that it made.
It returns if the store conforms. Otherwise it raises ``AssertionError`` that describes the difference, or lets through
an error that the store should not have raised.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar

from tokenmizer_mw.errors import CallerError, Conflict, InvalidSession, StoreUnavailable, TokenMizerError
from tokenmizer_mw.model.event import (
    KINDS_BESIDE_MESSAGES,
    KINDS_BESIDE_NODES,
    Checkpointed,
    DecisionReplaced,
    Derived,
    EdgeAdded,
    Event,
    HistoryRevised,
    MessageRecorded,
    NodeAdded,
    NodeEdited,
    NodeRevised,
    NodesPruned,
    Recorded,
    Refined,
    Reminded,
    Rewritten,
    StatusChanged,
    TurnClosed,
    encode,
)
from tokenmizer_mw.model.message import Message, Outcome, Role, ToolCall, ToolResult
from tokenmizer_mw.model.node import DecisionKind, Edge, EdgeType, Node, NodeType, Source, Status, Transition, Trust
from tokenmizer_mw.model.session import SESSION_ID_MAX, SessionKey
from tokenmizer_mw.store.log import SECRET_BYTES, Clock, EventLog, PassageRows, Snapshot, pages

MakeLog = Callable[[Clock], EventLog]
"""A function that opens a new, empty log each time it is called. The log takes its times from the given clock."""

Check = Callable[[MakeLog], None]
KEY: Final = SessionKey("tenant", "session")
_SOURCE: Final = Source(3, "user", "use tabs, 日本 \U0001f600", Trust.STATED, (4, 12))
_NODE: Final = Node("d1", NodeType.DECISION, "indent: tabs", Status.ACTIVE, _SOURCE, 0.75, kind=DecisionKind.RULE)
_CALL: Final = Message(Role.ASSISTANT, "", (ToolCall("c1", "run", '{"cmd":"ls\\n"}'),), thinking="hm")
_RESULT: Final = Message(Role.TOOL, "", (), (ToolResult("c1", 'a\x00b\r\n"\u2028', True),))

EVERY_KIND: Final[tuple[Event, ...]] = (
    MessageRecorded(1, "0123456789abcdef", Message(Role.USER, "héllo", attachments=("image_url",))),
    MessageRecorded(2, "", _CALL),
    MessageRecorded(3, "", _RESULT),
    MessageRecorded(4, "", Message(Role.USER, "é"), 3, '{"text": "\u00e9\\u0000"}'),
    HistoryRevised((3,), (1, 2)),
    HistoryRevised((4,), redrawn=True),
    Rewritten(2),
    TurnClosed(2, Outcome.COMPLETE, "stop", {"prompt_tokens": 12}),
    TurnClosed(2, Outcome.ABORTED),
    Derived(2),
    Refined(2, 1, 300),
    Refined(2, 1, 300, ("It is about \u00e9.", "x\x00y"), 1),
    NodeAdded(_NODE),
    NodeAdded(Node("t1", NodeType.TASK, "x", Status.PENDING, Source(1, "user"), order=0, valid_from=0.5)),
    NodeRevised("d1", {"label": "indent: spaces", "source": _SOURCE, "kind": DecisionKind.CHOICE}, 3),
    StatusChanged("t1", Status.COMPLETED, 3, "done", "it works"),
    NodeEdited(
        1, "d1", {"label": "x\u00e9", "status": Status.ARCHIVED}, {"label": "x", "status": Status.ACTIVE}, 3, "hm"
    ),
    NodeEdited(2, "d1", {"pinned": True}, {"pinned": False}, undoes=1),
    NodeEdited(
        3, "d1", {"status": Status.ACTIVE}, {"status": Status.SUPERSEDED}, separated=Transition("d1", "d2", 4, "why")
    ),
    EdgeAdded(Edge("t1", EdgeType.IMPLEMENTS, "d1", 3)),
    DecisionReplaced(Transition("d1", "d2", 4, "why", "quote", -0.25)),
    NodesPruned(("f1", "f2")),
    Checkpointed("k1", 4, 180, "block\n", "anchor", 3, 9, ("n1", "n2")),
    Reminded(4, "k1", 90, ("d1",), (1, 3)),
    Reminded(4, "k1", 60),
)
"""At least one event of each kind, with texts that are hard to store, such as a NUL in a message."""

HOSTILE_IDS: Final = (
    "'; DROP TABLE events; --", "../../etc/passwd", "a/b\\c", "%00", "?", "*", "A", "a", "é", "e\u0301", "日本語",
    "\U0001f600", " ", "x" * SESSION_ID_MAX, "x" * (SESSION_ID_MAX - 1),
)  # fmt: skip
"""Valid ids that are easily confused or misused, such as "a" and "A". A store must keep them apart, exactly as
given."""

REFUSED_IDS: Final = ("", "a\0b", "\0", "line\nbreak", "\x1b[2J", "\ud800", "x" * (SESSION_ID_MAX + 1))
"""Ids that a store must refuse."""

_THREADS: Final = 16
_APPENDS_EACH: Final = 8
_REWRITINGS: Final = 12


def check_empty(make_log: MakeLog) -> None:
    """Check that a new log has no sessions and no events, that erasing or rewriting an unknown session changes nothing,
    and that appending nothing creates no session."""
    with _log(make_log) as log:
        expect(log.read(KEY), [], "events of an unknown session")
        expect(log.sessions("tenant"), [], "sessions of an unknown tenant")
        expect(log.forget(KEY), 0, "forgetting an unknown session")
        expect(log.rewrite(KEY, lambda old: None), 0, "rewriting an unknown session")
        expect(log.append(KEY, [], expected_seq=0), [], "appending nothing")
        expect(log.sessions("tenant"), [], "sessions after appending nothing")


def check_secret(make_log: MakeLog) -> None:
    """Check that a store's secret is random bytes of the right length and constant, and that another store has another
    secret."""
    with _log(make_log) as log, _log(make_log) as other:
        expect(log.secret(), log.secret(), "a secret asked for twice")
        expect(len(log.secret()), SECRET_BYTES, "the length of a secret")
        expect(log.secret() == other.secret(), False, "two stores with one secret")


def check_append_and_read(make_log: MakeLog) -> None:
    """Check that appended events are read back, numbered from 1 without gaps, after one or several appends."""
    with _log(make_log) as log:
        first = log.append(KEY, _turns(1, 3), expected_seq=0)
        second = log.append(KEY, _turns(4, 4), expected_seq=3)
        expect([event.seq for event in first + second], [1, 2, 3, 4], "numbers returned by append")
        expect([event.event for event in first + second], _turns(1, 4), "events returned by append")
        expect(log.read(KEY), first + second, "what read returns, against what append returned")


def check_slices(make_log: MakeLog) -> None:
    """Check that ``after`` is exclusive and ``upto`` inclusive, and that limits beyond the log are no error."""
    limits: tuple[tuple[int, int | None, list[int]], ...] = (
        (0, None, [1, 2, 3, 4, 5]), (2, None, [3, 4, 5]), (5, None, []), (99, None, []), (0, 2, [1, 2]),
        (2, 4, [3, 4]), (4, 2, []), (3, 3, []), (0, 0, []), (-1, 10**30, [1, 2, 3, 4, 5]), (10**30, None, []),
    )  # fmt: skip
    with _log(make_log) as log:
        log.append(KEY, _turns(1, 5), expected_seq=0)
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
    with _log(make_log) as log:
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
    with _log(make_log) as log:
        expect_raised(Conflict, lambda: log.append(KEY, _turns(1, 1), expected_seq=1), "a gap at the start")
        log.append(KEY, _turns(1, 2), expected_seq=0)
        for wrong in (0, 1, 3, -1, 10**30):
            late = partial(log.append, KEY, _turns(9, 9), expected_seq=wrong)
            expect_raised(Conflict, late, f"an append behind {wrong}")
        expect(_events(log), _turns(1, 2), "the log after refused appends")
        log.append(KEY, _turns(3, 3), expected_seq=2)
        expect(_events(log), _turns(1, 3), "the log after the next append")


def check_atomic(make_log: MakeLog) -> None:
    """Check that none of several events is stored when the append is refused, and that readers never see a part of an
    append."""
    with _log(make_log) as log:
        log.append(KEY, _turns(1, 1), expected_seq=0)
        expect_raised(Conflict, lambda: log.append(KEY, _turns(2, 50), expected_seq=0), "a late append")
        expect(len(log.read(KEY)), 1, "events after a late append")
        seen = {1}
        finished = threading.Event()

        def watch() -> None:
            while not finished.is_set():
                seen.add(len(log.read(KEY)) % 5)

        def write() -> None:
            try:
                for start in range(1, 1 + 40 * 5, 5):
                    log.append(KEY, _turns(1, 5), expected_seq=start)
            finally:
                finished.set()

        run_together([watch, write])
        expect(seen, {1}, "events seen beyond whole appends of five")


def check_tenants(make_log: MakeLog) -> None:
    """Check that two tenants with the same session id share nothing."""
    other = SessionKey("other", KEY.id)
    with _log(make_log) as log:
        log.append(KEY, _turns(1, 2), expected_seq=0)
        expect(log.read(other), [], "another tenant's view")
        log.append(other, _turns(7, 7), expected_seq=0)
        expect(_events(log), _turns(1, 2), "the first tenant's events")
        expect([info.key for info in log.sessions("other")], [other], "the other tenant's sessions")
        expect(log.forget(other), 1, "events forgotten")
        expect(_events(log), _turns(1, 2), "the first tenant's events after the other was forgotten")


def check_hostile_ids(make_log: MakeLog) -> None:
    """Check that unusual tenants and ids (quotes, paths, other alphabets) are kept exactly, or refused; never
    shortened, changed in case, or executed."""
    keys = [SessionKey(tenant, id_) for id_ in HOSTILE_IDS for tenant in ("a", id_)]
    keys = list(dict.fromkeys(keys))
    with _log(make_log) as log:
        for number, key in enumerate(keys, 1):
            log.append(key, [Derived(number)], expected_seq=0)
        for number, key in enumerate(keys, 1):
            expect(_events(log, key), [Derived(number)], f"events of {key}")
        expect({info.key for info in log.sessions("a")}, {key for key in keys if key.tenant == "a"}, "sessions")
        for id_ in REFUSED_IDS:
            for key in (SessionKey("a", id_), SessionKey(id_, "a")):
                _check_refusals(log, key)
            expect_raised(InvalidSession, partial(log.sessions, id_), f"sessions({id_!r})")
            expect_raised(InvalidSession, partial(log.sessions, "a", after=(1.0, id_)), f"sessions behind {id_!r}")


def _check_refusals(log: EventLog, key: SessionKey) -> None:
    calls: tuple[Callable[[], object], ...] = (
        lambda: log.append(key, [Derived(1)], expected_seq=0),
        lambda: log.read(key),
        lambda: log.forget(key),
        lambda: log.rewrite(key, lambda old: None),
        lambda: log.erase([key]),
        lambda: log.load(key, [], expected_seq=0),
        lambda: log.snapshot(key),
        lambda: log.keep_snapshot(key, Snapshot(1, 1.0, 1, b"")),
        lambda: log.passage_rows(key, "model"),
        lambda: log.keep_passage_rows(key, PassageRows(1, 1.0, "model", {}), most=1),
    )
    for call in calls:
        expect_raised(InvalidSession, call, f"a call with {key!r}")


def check_clock(make_log: MakeLog) -> None:
    """Check that ``recorded_at`` is the time of the clock, but never decreases within a session, even when the clock
    does."""
    ticks = iter([100.5, 90.0, 100.5, 101.25, 7.0])
    with _log(make_log, lambda: next(ticks)) as log:
        for seq in range(4):
            log.append(KEY, _turns(1, 1), expected_seq=seq)
        log.append(SessionKey("tenant", "later"), _turns(1, 1), expected_seq=0)
        expect([event.recorded_at for event in log.read(KEY)], [100.5, 100.5, 100.5, 101.25], "times of a session")
        expect([event.recorded_at for event in log.read(SessionKey("tenant", "later"))], [7.0], "another session's")


def check_sessions(make_log: MakeLog) -> None:
    """Check that sessions are listed with their last number and times, the most recently updated first."""
    ticks = iter([1.0, 2.0, 3.0, 4.0])
    keys = [SessionKey("tenant", name) for name in ("b", "a", "c")]
    with _log(make_log, lambda: next(ticks)) as log:
        for key in keys:
            log.append(key, _turns(1, 2), expected_seq=0)
        log.append(keys[0], _turns(3, 3), expected_seq=2)
        found = [(info.key.id, info.seq, info.created_at, info.updated_at) for info in log.sessions("tenant")]
        expect(found, [("b", 3, 1.0, 4.0), ("c", 2, 3.0, 3.0), ("a", 2, 2.0, 2.0)], "the listing")


def check_pages(make_log: MakeLog) -> None:
    """Check that all pages of a listing together are the whole listing, even if several sessions have the same time,
    that a page may begin after a session that does not exist, and that a page after a time that is not finite is
    refused."""
    ticks = iter([5.0, 5.0, 1.0, 5.0, 9.0, 9.0, 10.0])
    names = ("b", "\u00e9", "old", "a", "\U0001f600", "\uffee")
    with _log(make_log, lambda: next(ticks)) as log:
        for name in names:
            log.append(SessionKey("tenant", name), _turns(1, 2), expected_seq=0)
        log.append(SessionKey("other", "b"), _turns(1, 1), expected_seq=0)
        whole = log.sessions("tenant")
        expect([info.key.id for info in whole], ["\uffee", "\U0001f600", "a", "b", "\u00e9", "old"], "the listing")
        for size in (1, 2, 4, 6, 10**30):
            expect(list(pages(log, "tenant", size)), whole, f"pages of {size}")
        for at, info in enumerate(whole):
            expect(log.sessions("tenant", after=info.place), whole[at + 1 :], f"what is behind {info.key.id!r}")
        expect(log.sessions("tenant", limit=0), [], "a page of none")
        expect(log.sessions("tenant", after=(5.0, "aa"), limit=1), whole[3:4], "behind a session that is not there")
        for time_ in (float("nan"), float("inf")):
            expect_raised(InvalidSession, partial(log.sessions, "tenant", after=(time_, "a")), f"a page behind {time_}")


def check_snapshots(make_log: MakeLog) -> None:
    """Check that each session has at most one snapshot, which is stored unchanged. A newer one replaces it, and so does
    one of another fold version. One that does not fit an event of the session is refused. A session that does not exist
    has none, and none can be stored for it."""
    other, foreign = SessionKey("tenant", "other"), SessionKey("other", KEY.id)
    with _log(make_log, lambda: 5.0) as log:
        expect(log.snapshot(KEY), None, "the snapshot of an unknown session")
        expect(log.keep_snapshot(KEY, Snapshot(1, 5.0, 1, b"x")), False, "keeping one for an unknown session")
        log.append(KEY, _turns(1, 6), expected_seq=0)
        log.append(other, _turns(1, 6), expected_seq=0)
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
        log.append(KEY, _turns(7, 9), expected_seq=6)
        expect(log.snapshot(KEY), Snapshot(2, 5.0, 7, b"of another fold"), "a snapshot after an append")


def check_snapshots_go(make_log: MakeLog) -> None:
    """Check that no snapshot survives the erasure or rewriting of its session, and that an outdated one cannot be
    stored later."""
    late = Snapshot(3, 5.0, 1, b"what it said")
    with _log(make_log, lambda: 5.0) as log, _log(make_log, lambda: 5.0) as old:
        keys = _make_and_drop(log, old, lambda key: log.keep_snapshot(key, late))
        found = [log.snapshot(key) for key in keys]
        expect(found, [None, None, None, None, late], "snapshots left")
        expect([log.keep_snapshot(key, late) for key in keys[:3]], [False] * 3, "keeping late what is gone")
        rewritten = keys[2]
        expect(log.keep_snapshot(rewritten, Snapshot(4, 5.0, 1, b"new")), True, "keeping one of what it says now")
        log.append(rewritten, _turns(5, 6), expected_seq=4)
        expect(log.keep_snapshot(rewritten, Snapshot(6, 5.0, 1, b"newer")), True, "keeping one long after")


def _make_and_drop(log: EventLog, old: EventLog, keep: Callable[[SessionKey], bool]) -> list[SessionKey]:
    """Make five sessions of three events, and call ``keep`` to store something computed from each. Then forget, erase,
    rewrite and load into one of them each. Returns their keys in this order, and last that of the session that stays as
    it is."""
    keys = [SessionKey("tenant", name) for name in ("forgotten", "erased", "rewritten", "loaded", "left")]
    for key in keys:
        log.append(key, _turns(1, 3), expected_seq=0)
        expect(keep(key), True, "keeping one")
    forgotten, erased, rewritten, loaded, left = keys
    old.append(KEY, _turns(4, 5), expected_seq=0)
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
    with _log(make_log) as log:
        log.append(KEY, _turns(1, 1), expected_seq=0)

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
    with _log(make_log, lambda: 5.0) as log:
        expect(log.passage_rows(KEY, "a model"), {}, "vectors of an unknown session")
        expect(log.keep_passage_rows(KEY, first, most=9), False, "keeping some for an unknown session")
        log.append(KEY, _turns(1, 3), expected_seq=0)
        log.append(other, _turns(1, 3), expected_seq=0)
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
        log.append(KEY, _turns(4, 5), expected_seq=3)
        expect(len(log.passage_rows(KEY, "another")), 3, "vectors after an append")


def check_passages_go(make_log: MakeLog) -> None:
    """Check that no passage vector survives the erasure or rewriting of its session, and that outdated ones cannot be
    stored later."""
    late = PassageRows(3, 5.0, "model", {b"passage": b"what it means"})
    with _log(make_log, lambda: 5.0) as log, _log(make_log, lambda: 5.0) as old:
        keys = _make_and_drop(log, old, lambda key: log.keep_passage_rows(key, late, most=9))
        found = [len(log.passage_rows(key, "model")) for key in keys]
        expect(found, [0, 0, 0, 0, 1], "vectors left")
        expect([log.keep_passage_rows(key, late, most=9) for key in keys[:3]], [False] * 3, "keeping late what is gone")
        expect(log.keep_passage_rows(keys[2], replace(late, seq=4), most=9), True, "keeping what it says now")


def check_forget(make_log: MakeLog) -> None:
    """Check that an erased session is unknown afterwards, and that its id may be used again, from number 1."""
    other = SessionKey("tenant", "other")
    with _log(make_log) as log:
        log.append(KEY, _turns(1, 3), expected_seq=0)
        log.append(other, _turns(1, 1), expected_seq=0)
        expect(log.forget(KEY), 3, "events forgotten")
        expect(log.forget(KEY), 0, "events forgotten the second time")
        expect(log.read(KEY), [], "events of a forgotten session")
        expect([info.key for info in log.sessions("tenant")], [other], "sessions left")
        expect([event.seq for event in log.append(KEY, _turns(9, 9), expected_seq=0)], [1], "its next life")
        expect(_events(log, other), _turns(1, 1), "the other session")


def check_erase(make_log: MakeLog) -> None:
    """Check that ``EventLog.erase`` erases many sessions in one call, but neither those with an event at or after
    ``unless_since`` nor those of other tenants."""
    times = iter((10.0, 20.0, 30.0, 40.0, 50.0))
    old, fresh, other = (SessionKey("tenant", name) for name in ("old", "fresh", "other"))
    foreign = SessionKey("zoo", "old")
    with _log(make_log, lambda: next(times)) as log:
        for key in (old, fresh, other, foreign):
            log.append(key, _turns(1, 2), expected_seq=0)
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
    with _log(make_log, lambda: next(times)) as log, _log(make_log, lambda: 7.0) as other:
        log.append(KEY, EVERY_KIND, expected_seq=0)
        log.append(KEY, _turns(1, 2), expected_seq=len(EVERY_KIND))
        log.rewrite(KEY, lambda old: None if old.seq == len(EVERY_KIND) + 1 else old.event)
        recorded = log.read(KEY)
        other.load(KEY, recorded[:3], expected_seq=0)
        other.load(KEY, recorded[3:], expected_seq=3)
        other.load(KEY, [], expected_seq=99)
        expect(other.read(KEY), recorded, "events put back")
        expect(other.sessions("tenant"), log.sessions("tenant"), "the session in a listing")
        added = other.append(KEY, _turns(1, 1), expected_seq=recorded[-1].seq)
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
    with _log(make_log) as log:
        before = log.append(KEY, _turns(1, 5), expected_seq=0)

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
        expect_raised(Conflict, lambda: log.append(KEY, _turns(6, 6), expected_seq=5), "a writer that has not seen it")
        expect(log.append(KEY, _turns(6, 6), expected_seq=6)[0].seq, 7, "the next number")
        expect(log.rewrite(KEY, lambda old: old.event), 0, "events changed by changing nothing")
        expect(len(log.read(KEY)), 5, "events after changing nothing")


def check_rewrite_fails_whole(make_log: MakeLog) -> None:
    """Check that an error raised by ``change`` is passed on, and that nothing is changed then."""

    def change(old: Recorded) -> Event | None:
        if old.seq == 3:
            raise LookupError("from change")
        return None

    with _log(make_log) as log:
        log.append(KEY, _turns(1, 3), expected_seq=0)
        expect_raised(LookupError, lambda: log.rewrite(KEY, change), "rewriting with a change that raises")
        expect(_events(log), _turns(1, 3), "events after it")
        log.append(KEY, _turns(4, 4), expected_seq=3)


def check_every_kind(make_log: MakeLog) -> None:
    """Check that an event of each kind, appended to a log and read from it, equals the original."""
    with _log(make_log) as log:
        log.append(KEY, EVERY_KIND, expected_seq=0)
        found = _events(log)
        expect(len(found), len(EVERY_KIND), "number of events")
        for read, written in zip(found, EVERY_KIND, strict=True):
            expect(read, written, f"a {type(written).__name__} event")


def check_lone_surrogates(make_log: MakeLog) -> None:
    """Check that text with lone surrogates, which JSON can contain, is stored like any other."""
    event = MessageRecorded(1, "", Message(Role.USER, "cut \ud83d here, é"))
    with _log(make_log) as log:
        log.append(KEY, [event], expected_seq=0)
        expect(_events(log), [event], "a message with half a surrogate pair")


def check_large(make_log: MakeLog) -> None:
    """Check that a message of several megabytes and an append of a thousand events are stored."""
    large = MessageRecorded(1, "", Message(Role.USER, "0123456789abcdef" * (4 * 65536)))
    with _log(make_log) as log:
        log.append(KEY, [large], expected_seq=0)
        log.append(KEY, _turns(1, 1000), expected_seq=1)
        expect(_events(log), [large, *_turns(1, 1000)], "a large session")


def check_threads(make_log: MakeLog) -> None:
    """Check that threads that append to one session, retrying on conflict, lose nothing and leave no gap."""
    with _log(make_log) as log:
        run_together([partial(_append_all, log, name) for name in range(_THREADS)])
        recorded = log.read(KEY)
        expect([event.seq for event in recorded], list(range(1, 2 * _THREADS * _APPENDS_EACH + 1)), "numbers")
        times = [event.recorded_at for event in recorded]
        expect(times, sorted(times), "times")
        for name in range(_THREADS):
            own = [
                each.event for each in recorded if isinstance(each.event, StatusChanged) and each.event.id == str(name)
            ]
            expect(own, _steps(name, range(_APPENDS_EACH)), f"events of thread {name}")


def _append_all(log: EventLog, name: int) -> None:
    end = 0
    for step in range(_APPENDS_EACH):
        while True:
            try:
                end = log.append(KEY, _steps(name, [step]), expected_seq=end)[-1].seq
                break
            except Conflict:
                end = log.read(KEY, after=end)[-1].seq


def _steps(name: int, steps: Sequence[int]) -> list[Event]:
    return [StatusChanged(str(name), Status.ACTIVE, step, half) for step in steps for half in ("first", "second")]


def check_threads_apart(make_log: MakeLog) -> None:
    """Check that threads that append to different sessions never get a conflict."""

    def work(log: EventLog, key: SessionKey) -> None:
        for seq in range(_APPENDS_EACH):
            log.append(key, [Derived(seq)], expected_seq=seq)

    keys = [SessionKey("tenant", f"session {number}") for number in range(_THREADS)]
    with _log(make_log) as log:
        run_together([partial(work, log, key) for key in keys])
        for key in keys:
            expect(_events(log, key), [Derived(seq) for seq in range(_APPENDS_EACH)], f"events of {key.id}")


def check_close(make_log: MakeLog) -> None:
    """Check that reads and writes after ``close`` raise ``StoreUnavailable``, and that closing again is harmless."""
    log = make_log(time.time)
    log.append(KEY, _turns(1, 1), expected_seq=0)
    log.close()
    log.close()
    calls: tuple[Callable[[], object], ...] = (
        lambda: log.append(KEY, _turns(2, 2), expected_seq=1),
        lambda: log.append(KEY, [], expected_seq=1),
        lambda: log.read(KEY),
        lambda: log.sessions("tenant"),
        lambda: log.forget(KEY),
        lambda: log.rewrite(KEY, lambda old: None),
        lambda: log.snapshot(KEY),
        lambda: log.keep_snapshot(KEY, Snapshot(1, 1.0, 1, b"")),
        lambda: log.passage_rows(KEY, "model"),
        lambda: log.keep_passage_rows(KEY, PassageRows(1, 1.0, "model", {}), most=1),
    )
    for call in calls:
        expect_raised(StoreUnavailable, call, "a call after closing")


def check_errors_are_clear(make_log: MakeLog) -> None:
    """Check that the messages of the store's own errors are one line of text."""
    with _log(make_log) as log:
        for key, seq in ((KEY, 5), (SessionKey("tenant", "a\nb"), 0)):
            try:
                log.append(key, _turns(1, 1), expected_seq=seq)
            except TokenMizerError as error:
                expect(len(str(error).splitlines()), 1, f"lines of {error}")


CHECKS: Final[dict[str, Check]] = {
    check.__name__.removeprefix("check_"): check
    for check in (
        check_empty, check_secret, check_append_and_read, check_slices, check_outlines, check_conflict, check_atomic,
        check_tenants, check_hostile_ids, check_clock, check_sessions, check_pages, check_snapshots,
        check_snapshots_go, check_snapshots_race, check_passages, check_passages_go, check_forget, check_erase,
        check_load, check_rewrite, check_rewrite_fails_whole, check_every_kind, check_lone_surrogates, check_large,
        check_threads, check_threads_apart, check_close, check_errors_are_clear,
    )
}  # fmt: skip
"""Maps the name of every check, such as "forget", to its function."""


@contextmanager
def _log(make_log: MakeLog, clock: Clock = time.time) -> Iterator[EventLog]:
    log = make_log(clock)
    try:
        yield log
    finally:
        log.close()


def _turns(first: int, last: int) -> list[Event]:
    return [Derived(turn) for turn in range(first, last + 1)]


def _events(log: EventLog, key: SessionKey = KEY) -> list[Event]:
    return [recorded.event for recorded in log.read(key)]


T = TypeVar("T")


def expect(found: T, expected: T, what: str) -> None:
    """Raise ``AssertionError`` unless ``found`` equals ``expected``. ``what``: names the compared thing in the
    message."""
    if found != expected:
        raise AssertionError(f"{what}: expected {_short(expected)}, found {_short(found)}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 500 else f"{text[:500]}..."


def expect_raised(kind: type[Exception], call: Callable[[], object], what: str) -> None:
    """Raise ``AssertionError`` unless ``call`` raises an error of class ``kind``. ``what``: names the call in the
    message."""
    try:
        call()
    except kind:
        return
    raise AssertionError(f"{what}: expected {kind.__name__}, nothing was raised")


def run_together(calls: Sequence[Callable[[], object]]) -> None:
    """Run all ``calls`` at once, each in a thread. Raises the first error that one of them raised."""
    errors: list[BaseException] = []

    def run(call: Callable[[], object]) -> None:
        try:
            call()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
