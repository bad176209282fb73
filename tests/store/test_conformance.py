"""The published suite on every store, and what is the same of those that last."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from tests.store.worker import open_at
from tokenmizer_mw.errors import Conflict, StoreError
from tokenmizer_mw.model.event import Derived, Event, ReadDetail, Recorded
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store import conformance
from tokenmizer_mw.store.conformance import CHECKS, EVERY_KIND, Check, MakeLog
from tokenmizer_mw.store.memory import MemoryLog


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_store_conforms(check: Check, make_log: MakeLog) -> None:
    check(make_log)


def test_the_table_has_every_check() -> None:
    assert {name for name in vars(conformance) if name.startswith("check_")} == {f"check_{name}" for name in CHECKS}


def test_the_suite_has_an_event_of_every_kind() -> None:
    assert {type(event) for event in EVERY_KIND} == set(Event.__args__)


KEY = SessionKey("tenant", "session")


def test_a_log_outlives_its_object(place: str) -> None:
    log = open_at(place)
    recorded = log.append(KEY, [Derived(turn) for turn in range(5)], expected_seq=0)
    log.close()
    log = open_at(place)
    assert log.read(KEY) == recorded
    with pytest.raises(Conflict, match=r"ends at 5, (not at 0|and not where)"):
        log.append(KEY, [Derived(0)], expected_seq=0)
    log.close()


def test_two_objects_see_each_others_appends_at_once(place: str) -> None:
    one, other = open_at(place), open_at(place)
    for end in range(20):
        one, other = other, one
        assert len(one.read(KEY)) == end
        one.append(KEY, [Derived(0)], expected_seq=end)
    one.close()
    assert len(other.read(KEY)) == 20
    other.close()


def test_recorded_at_never_decreases_across_objects(place: str) -> None:
    ticks = iter([50.0, 40.0, 60.0])
    for end in range(3):
        log = open_at(place, lambda: next(ticks))
        log.append(KEY, [Derived(0)], expected_seq=end)
        assert [each.recorded_at for each in log.read(KEY)] == [50.0, 50.0, 60.0][: end + 1]
        log.close()


def test_a_clock_that_raises_leaves_the_log_usable(place: str) -> None:
    ticks = iter([1.0, "broken", 3.0])

    def clock() -> float:
        tick = next(ticks)
        if isinstance(tick, str):
            raise LookupError(tick)
        return tick

    log = open_at(place, clock)
    log.append(KEY, [Derived(0)], expected_seq=0)
    with pytest.raises(LookupError):
        log.append(KEY, [Derived(0)], expected_seq=1)
    assert log.append(KEY, [Derived(0)], expected_seq=1)[0].recorded_at == 3.0
    log.close()


class Lossy(MemoryLog):
    """Forgets the last event of each append."""

    def append(self, session: SessionKey, events: Sequence[Event], *, expected_seq: int) -> list[Recorded]:
        return super().append(session, events[:-1] or events, expected_seq=expected_seq)


class Unchecked(MemoryLog):
    """Appends wherever the log ends, whatever the caller expected."""

    def append(self, session: SessionKey, events: Sequence[Event], *, expected_seq: int) -> list[Recorded]:
        end = max((recorded.seq for recorded in self.read(session)), default=0)
        return super().append(session, events, expected_seq=end)


class OneTenant(MemoryLog):
    """Keeps all tenants together."""

    def append(self, session: SessionKey, events: Sequence[Event], *, expected_seq: int) -> list[Recorded]:
        return super().append(SessionKey("all", session.id), events, expected_seq=expected_seq)

    def read(
        self, session: SessionKey, *, after: int = 0, upto: int | None = None, detail: ReadDetail = "all"
    ) -> list[Recorded]:
        return super().read(SessionKey("all", session.id), after=after, upto=upto, detail=detail)


class NeverClosed(MemoryLog):
    """Goes on after it was closed."""

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("broken", "caught_by"),
    [
        (Lossy, ["append_and_read", "every_kind", "slices"]),
        (Unchecked, ["conflict", "rewrite"]),
        (OneTenant, ["tenants"]),
        (NeverClosed, ["close"]),
    ],
)
def test_the_suite_catches_a_broken_store(broken: type[MemoryLog], caught_by: list[str]) -> None:
    for name in caught_by:
        with pytest.raises((AssertionError, StoreError)):
            CHECKS[name](broken)


def test_the_memory_log_takes_its_time_from_the_wall_clock_by_default() -> None:
    before = time.time()
    log = MemoryLog()
    recorded = log.append(SessionKey("a", "b"), EVERY_KIND[:1], expected_seq=0)
    assert before <= recorded[0].recorded_at <= time.time()
