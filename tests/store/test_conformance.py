"""The published suite on every store."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from tokenmizer_mw.errors import StoreError
from tokenmizer_mw.model.event import Event, ReadDetail, Recorded
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.conformance import CHECKS, EVERY_KIND, Check, MakeLog
from tokenmizer_mw.store.memory import MemoryLog


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_store_conforms(check: Check, make_log: MakeLog) -> None:
    check(make_log)


def test_the_suite_has_an_event_of_every_kind() -> None:
    assert {type(event) for event in EVERY_KIND} == set(Event.__args__)


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
