"""Checks of a whole store: its sessions and tenants, its secret, its errors, closing."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from tokenmizer_mw.errors import InvalidSession, StoreUnavailable, TokenMizerError
from tokenmizer_mw.model.event import Derived
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.log import SECRET_BYTES, EventLog, PassageRows, Snapshot, pages

from .expectations import KEY, MakeLog, expect, expect_raised, list_events, make_turns, open_empty_log
from .samples import HOSTILE_IDS, REFUSED_IDS


def check_empty(make_log: MakeLog) -> None:
    """Check that a new log has no sessions and no events, that erasing or rewriting an unknown session changes nothing,
    and that appending nothing creates no session."""
    with open_empty_log(make_log) as log:
        expect(log.read(KEY), [], "events of an unknown session")
        expect(log.sessions("tenant"), [], "sessions of an unknown tenant")
        expect(log.forget(KEY), 0, "forgetting an unknown session")
        expect(log.rewrite(KEY, lambda old: None), 0, "rewriting an unknown session")
        expect(log.append(KEY, [], expected_seq=0), [], "appending nothing")
        expect(log.sessions("tenant"), [], "sessions after appending nothing")


def check_secret(make_log: MakeLog) -> None:
    """Check that a store's secret is random bytes of the right length and constant, and that another store has another
    secret."""
    with open_empty_log(make_log) as log, open_empty_log(make_log) as other:
        expect(log.secret(), log.secret(), "a secret asked for twice")
        expect(len(log.secret()), SECRET_BYTES, "the length of a secret")
        expect(log.secret() == other.secret(), False, "two stores with one secret")


def check_tenants(make_log: MakeLog) -> None:
    """Check that two tenants with the same session id share nothing."""
    other = SessionKey("other", KEY.id)
    with open_empty_log(make_log) as log:
        log.append(KEY, make_turns(1, 2), expected_seq=0)
        expect(log.read(other), [], "another tenant's view")
        log.append(other, make_turns(7, 7), expected_seq=0)
        expect(list_events(log), make_turns(1, 2), "the first tenant's events")
        expect([info.key for info in log.sessions("other")], [other], "the other tenant's sessions")
        expect(log.forget(other), 1, "events forgotten")
        expect(list_events(log), make_turns(1, 2), "the first tenant's events after the other was forgotten")


def check_hostile_ids(make_log: MakeLog) -> None:
    """Check that unusual tenants and ids (quotes, paths, other alphabets) are kept exactly, or refused; never
    shortened, changed in case, or executed."""
    keys = [SessionKey(tenant, id_) for id_ in HOSTILE_IDS for tenant in ("a", id_)]
    keys = list(dict.fromkeys(keys))
    with open_empty_log(make_log) as log:
        for number, key in enumerate(keys, 1):
            log.append(key, [Derived(number)], expected_seq=0)
        for number, key in enumerate(keys, 1):
            expect(list_events(log, key), [Derived(number)], f"events of {key}")
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


def check_sessions(make_log: MakeLog) -> None:
    """Check that sessions are listed with their last number and times, the most recently updated first."""
    ticks = iter([1.0, 2.0, 3.0, 4.0])
    keys = [SessionKey("tenant", name) for name in ("b", "a", "c")]
    with open_empty_log(make_log, lambda: next(ticks)) as log:
        for key in keys:
            log.append(key, make_turns(1, 2), expected_seq=0)
        log.append(keys[0], make_turns(3, 3), expected_seq=2)
        found = [(info.key.id, info.seq, info.created_at, info.updated_at) for info in log.sessions("tenant")]
        expect(found, [("b", 3, 1.0, 4.0), ("c", 2, 3.0, 3.0), ("a", 2, 2.0, 2.0)], "the listing")


def check_pages(make_log: MakeLog) -> None:
    """Check that all pages of a listing together are the whole listing, even if several sessions have the same time,
    that a page may begin after a session that does not exist, and that a page after a time that is not finite is
    refused."""
    ticks = iter([5.0, 5.0, 1.0, 5.0, 9.0, 9.0, 10.0])
    names = ("b", "\u00e9", "old", "a", "\U0001f600", "\uffee")
    with open_empty_log(make_log, lambda: next(ticks)) as log:
        for name in names:
            log.append(SessionKey("tenant", name), make_turns(1, 2), expected_seq=0)
        log.append(SessionKey("other", "b"), make_turns(1, 1), expected_seq=0)
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


def check_close(make_log: MakeLog) -> None:
    """Check that reads and writes after ``close`` raise ``StoreUnavailable``, and that closing again is harmless."""
    log = make_log(time.time)
    log.append(KEY, make_turns(1, 1), expected_seq=0)
    log.close()
    log.close()
    calls: tuple[Callable[[], object], ...] = (
        lambda: log.append(KEY, make_turns(2, 2), expected_seq=1),
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
    with open_empty_log(make_log) as log:
        for key, seq in ((KEY, 5), (SessionKey("tenant", "a\nb"), 0)):
            try:
                log.append(key, make_turns(1, 1), expected_seq=seq)
            except TokenMizerError as error:
                expect(len(str(error).splitlines()), 1, f"lines of {error}")
