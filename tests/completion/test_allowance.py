"""The budget of calls and the circuit, on a clock of our own."""

from __future__ import annotations

from dataclasses import dataclass

from tokenmizer_mw.session.refinement.client import HOUR, Allowance


@dataclass
class Clock:
    now: float = 1_000.0

    def __call__(self) -> float:
        return self.now


def allowance(clock: Clock, *, per_hour: int = 100, failures_max: int = 3) -> Allowance:
    return Allowance(per_hour=per_hour, failures_max=failures_max, rest_seconds=60, clock=clock)


def test_an_hour_has_so_many_calls() -> None:
    clock = Clock()
    allowed = allowance(clock, per_hour=2)
    assert [allowed.take() for _ in range(3)] == ["", "", "over_budget"]
    clock.now += HOUR - 1
    assert allowed.take() == "over_budget"
    clock.now += 1
    assert [allowed.take() for _ in range(3)] == ["", "", "over_budget"]


def test_no_call_at_all_may_be_allowed() -> None:
    assert allowance(Clock(), per_hour=0).take() == "over_budget"


def test_the_circuit_opens_after_failures_in_a_row_and_one_call_tries_again() -> None:
    clock = Clock()
    allowed = allowance(clock)
    for _ in range(2):
        assert allowed.take() == ""
        allowed.note_failure()
    allowed.note_success()
    for _ in range(3):
        assert allowed.take() == ""
        allowed.note_failure()
    assert allowed.take() == "circuit_open"
    clock.now += 61
    assert [allowed.take() for _ in range(3)] == ["", "circuit_open", "circuit_open"]
    allowed.note_failure()
    clock.now += 59
    assert allowed.take() == "circuit_open"
    clock.now += 2
    assert allowed.take() == ""
    allowed.note_success()
    assert [allowed.take() for _ in range(5)] == [""] * 5


def test_a_trial_that_nobody_reports_back_does_not_keep_the_circuit_open_for_good() -> None:
    clock = Clock()
    allowed = allowance(clock, failures_max=1)
    allowed.note_failure()
    for _ in range(3):
        clock.now += 61
        assert [allowed.take(), allowed.take()] == ["", "circuit_open"]


def test_a_refused_trial_does_not_keep_the_circuit_open() -> None:
    clock = Clock()
    allowed = allowance(clock, per_hour=2, failures_max=2)
    for _ in range(2):
        assert allowed.take() == ""
        allowed.note_failure()
    clock.now += HOUR - 1
    assert allowed.take() == "over_budget"
    assert not allowed.rests
    clock.now += 1
    assert allowed.take() == ""
