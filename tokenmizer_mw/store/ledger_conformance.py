"""Conformance checks for usage ledgers: what every ``UsageLedger`` must do, as a table of functions.

    for name, check in LEDGER_CHECKS.items():
        check(make_log)

``make_log(clock)`` returns a new, empty log that has a ``ledger``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final, Protocol

from tokenmizer_mw.errors import CallerError, InvalidSession, StoreUnavailable
from tokenmizer_mw.model.event import Rewritten
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.model.usage import CALL, CUT, Sum, UsageRecord, UsageSums, total
from tokenmizer_mw.store.conformance import expect, expect_raised, run_together
from tokenmizer_mw.store.ledger import By, UsageLedger
from tokenmizer_mw.store.log import Clock, EventLog


class Keeping(EventLog, Protocol):
    """An event log that also has a usage ledger."""

    @property
    def ledger(self) -> UsageLedger:
        """The usage ledger of this store, which has the cost and savings of model calls."""


MakeKeeping = Callable[[Clock], Keeping]
"""A function that opens a new, empty log with a usage ledger each time it is called."""

NOON: Final = 1_795_262_400.0
"""2026-11-21 12:00 UTC, in seconds since the epoch. The clock of the logs that the checks make."""

_BY_SESSION: Final[tuple[By, ...]] = ("session",)
_BY_MODEL: Final[tuple[By, ...]] = ("model",)
_DAY: Final = 86_400.0
_ONE: Final = SessionKey("tenant", "one")
_OTHER: Final = SessionKey("tenant", "other")
_CALL: Final = UsageSums(1, 1, 0, 800, 300, 100, 20, 5_000_000_000_000, 1_000, 4_000_000_000_000)
_LOSS: Final = UsageSums(1, 0, 0, 800, client_tokens=1_000, client_cost=-1_000_000_000_000)


def _make_spent(call: str, *, model: str = "gpt-5", at: float = NOON) -> UsageRecord:
    return UsageRecord(call, at, model, {CALL: _CALL, CUT: _LOSS})


@contextmanager
def _open_ledger(make_log: MakeKeeping, *sessions: SessionKey) -> Iterator[Keeping]:
    """Make a log that has these sessions, and close it at the end of the ``with`` block."""
    log = make_log(lambda: NOON)
    try:
        for session in sessions:
            log.append(session, [Rewritten(0)], expected_seq=0)
        yield log
    finally:
        log.close()


def check_sums(make_log: MakeKeeping) -> None:
    """Check the sums of calls by stage, with large and negative numbers."""
    with _open_ledger(make_log, _ONE) as log:
        expect(log.ledger.sums("tenant"), [], "sums of nothing")
        expect(log.ledger.sums("tenant", by=()), [], "the sum of nothing")
        expect(log.ledger.add(_ONE, _make_spent("a")), True, "adding a call")
        expect(log.ledger.add(_ONE, _make_spent("b")), True, "adding another")
        twice = [Sum("", "", CALL, "", _CALL + _CALL), Sum("", "", CUT, "", _LOSS + _LOSS)]
        expect(log.ledger.sums("tenant"), twice, "sums by stage")
        expect(log.ledger.sums("tenant", by=()), [Sum("", "", "", "", total([_CALL, _LOSS] * 2))], "the sum of all")


def check_once(make_log: MakeKeeping) -> None:
    """Check that a call counts once, however often it is added."""
    with _open_ledger(make_log, _ONE, _OTHER, SessionKey("else", "one")) as log:
        expect(log.ledger.add(_ONE, _make_spent("a")), True, "adding a call")
        expect(log.ledger.add(_ONE, _make_spent("a")), False, "adding it again")
        expect(log.ledger.add(_OTHER, _make_spent("a")), False, "adding it under another session")
        expect(log.ledger.add(SessionKey("else", "one"), _make_spent("a")), True, "adding one of that name for another")
        expect(log.ledger.sums("tenant")[0].figures, _CALL, "sum")


def check_grouped_sums(make_log: MakeKeeping) -> None:
    """Check sums by session, model and day, and sums of one session, model or period."""
    with _open_ledger(make_log, _ONE, _OTHER) as log:
        log.ledger.add(_ONE, _make_spent("a"))
        log.ledger.add(_ONE, _make_spent("b", model="claude", at=NOON + _DAY))
        log.ledger.add(_OTHER, _make_spent("c", at=NOON + 2 * _DAY))

        def list_sums(**asked: object) -> list[tuple[str, str, str, int]]:
            sums = log.ledger.sums("tenant", **asked)  # type: ignore[arg-type]
            return [(one.session, one.model, one.day, one.figures.calls) for one in sums]

        expect(list_sums(by=("session",)), [("one", "", "", 4), ("other", "", "", 2)], "by session")
        expect(list_sums(by=("model",)), [("", "claude", "", 2), ("", "gpt-5", "", 4)], "by model")
        days = [("", "", f"2026-11-{day}", 2) for day in (21, 22, 23)]
        expect(list_sums(by=("day",)), days, "by day")
        expect(list_sums(by=("day",), since="2026-11-22"), days[1:], "since a day")
        expect(list_sums(by=("day",), until="2026-11-22"), days[:2], "until a day")
        expect(list_sums(by=("day",), since="2026-11-22", until="2026-11-22"), days[1:2], "on a day")
        expect(
            list_sums(by=("model",), session="one", model="claude"), [("", "claude", "", 2)], "one session and model"
        )
        expect(list_sums(by=(), model="unheard of"), [], "a model that nobody asked")
        expect_raised(CallerError, lambda: list_sums(by=("weather",)), "an unknown way to tell apart")


def check_tenants(make_log: MakeKeeping) -> None:
    """Check that a tenant neither sees nor changes the figures of another one."""
    theirs = SessionKey("else", "one")
    with _open_ledger(make_log, _ONE, theirs) as log:
        log.ledger.add(_ONE, _make_spent("a"))
        expect(log.ledger.sums("else"), [], "sums of somebody else")
        expect(log.ledger.calls(theirs, limit=9), [], "calls of somebody else")
        log.forget(theirs)
        expect(len(log.ledger.calls(_ONE, limit=9)), 1, "calls after somebody else's were erased")


def check_newest_calls(make_log: MakeKeeping) -> None:
    """Check that the calls of a session are listed newest first, with the figures that were added."""
    with _open_ledger(make_log, _ONE) as log:
        spent = [_make_spent(name, at=NOON + place) for place, name in enumerate("abc")]
        for one in (spent[1], spent[0], spent[2]):
            log.ledger.add(_ONE, one)
        expect(log.ledger.calls(_ONE, limit=2), [spent[2], spent[1]], "the newest two")
        expect(log.ledger.calls(_ONE, limit=0), [], "none")
        expect(log.ledger.calls(_ONE, limit=-1), [], "a negative number of calls")
        expect(log.ledger.calls(_OTHER, limit=2), [], "calls of an unknown session")


def check_erase(make_log: MakeKeeping) -> None:
    """Check that the figures of an erased session stay in the tenant's sums, without the session's name; also those of
    a call that is added later."""
    with _open_ledger(make_log, _ONE, _OTHER) as log:
        log.ledger.add(_ONE, _make_spent("a"))
        log.ledger.add(_OTHER, _make_spent("b"))
        log.forget(_ONE)
        log.ledger.add(_ONE, _make_spent("late"))
        expect(log.ledger.add(_ONE, _make_spent("late")), False, "adding a late call again")
        names = [(one.session, one.figures.calls) for one in log.ledger.sums("tenant", by=_BY_SESSION)]
        expect(names, [("", 4), ("other", 2)], "calls by session")
        expect(log.ledger.calls(_ONE, limit=9), [], "calls of an erased session")
        log.erase([_OTHER])
        expect(log.ledger.sums("tenant")[0].figures, total([_CALL] * 3), "the tenant's sum")
        expect([one.session for one in log.ledger.sums("tenant", by=_BY_SESSION)], [""], "sessions")


def check_names(make_log: MakeKeeping) -> None:
    """Check that unusual model names are stored as far as possible, and that calls without a name and invalid sessions
    are refused."""
    with _open_ledger(make_log, _ONE) as log:
        log.ledger.add(_ONE, _make_spent("a", model="mo\x00del\ud800" + "x" * 500))
        (found,) = log.ledger.sums("tenant", by=_BY_MODEL)
        expect(found.model, ("mo?del?" + "x" * 500)[:200], "model")
        expect_raised(InvalidSession, lambda: log.ledger.add(_ONE, _make_spent("")), "a call without a name")
        expect_raised(InvalidSession, lambda: log.ledger.add(SessionKey("tenant", ""), _make_spent("b")), "no session")
        expect_raised(InvalidSession, lambda: log.ledger.sums(""), "no tenant")


def check_threads(make_log: MakeKeeping) -> None:
    """Check that no call is lost when several threads add calls at the same time. A call that two threads add must
    count once."""
    with _open_ledger(make_log, _ONE, _OTHER) as log:

        def work(number: int) -> None:
            for place in range(10):
                key = _ONE if place % 2 else _OTHER
                log.ledger.add(key, _make_spent(f"{number % 2}-{place}"))

        run_together([partial(work, number) for number in range(4)])
        expect(log.ledger.sums("tenant")[0].figures, total([_CALL] * 20), "sum")


def check_close(make_log: MakeKeeping) -> None:
    """Check that the ledger of a closed store raises ``StoreUnavailable``."""
    with _open_ledger(make_log, _ONE) as log:
        ledger = log.ledger
        ledger.add(_ONE, _make_spent("a"))
        log.close()
        expect_raised(StoreUnavailable, lambda: ledger.add(_ONE, _make_spent("b")), "adding to closed books")
        expect_raised(StoreUnavailable, lambda: ledger.sums("tenant"), "sums of closed books")
        expect_raised(StoreUnavailable, lambda: ledger.calls(_ONE, limit=1), "calls of closed books")


LEDGER_CHECKS: Final[dict[str, Callable[[MakeKeeping], None]]] = {
    check.__name__.removeprefix("check_"): check
    for check in (
        check_sums, check_once, check_grouped_sums, check_tenants, check_newest_calls, check_erase, check_names,
        check_threads, check_close,
    )
}  # fmt: skip
"""Maps the name of every check, such as "sums", to its function."""
