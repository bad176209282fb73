"""The algorithm of limits, against a plain simulation of a bucket."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.server.access.counting import Limit, RateState, charge, take_amount

LIMIT = Limit("requests", 6, 60.0)


def test_a_burst_and_then_one_at_a_time() -> None:
    level: float | None = None
    for _ in range(6):
        taken = take_amount(LIMIT, level, 100.0)
        assert not isinstance(taken, RateState)
        level = taken
    refused = take_amount(LIMIT, level, 100.0)
    assert isinstance(refused, RateState)
    assert (refused.remaining, refused.reset, refused.wait) == (0, pytest.approx(60.0), pytest.approx(10.0))
    assert isinstance(take_amount(LIMIT, level, 109.9), RateState)
    assert not isinstance(take_amount(LIMIT, level, 110.0), RateState)


def test_never_twice_the_amount_around_the_edge_of_a_minute() -> None:
    level: float | None = None
    let_in = []
    for tick in range(1_200):
        now = tick / 10
        taken = take_amount(LIMIT, level, now)
        if not isinstance(taken, RateState):
            level = taken
            let_in.append(now)
    assert all(sum(start <= at < start + 10 for at in let_in) <= 7 for start in range(110))
    assert len(let_in) <= 6 + 12


def test_asking_takes_nothing() -> None:
    assert take_amount(LIMIT, 105.0, 100.0, 0) == 105.0
    assert isinstance(take_amount(LIMIT, 160.0, 100.0, 0), RateState)


def test_debts_drain() -> None:
    level = charge(LIMIT, None, 0.0, 60)
    assert level == 600.0
    refused = take_amount(LIMIT, level, 0.0, 0)
    assert isinstance(refused, RateState) and refused.remaining == 0 and refused.wait == pytest.approx(550.0)
    assert not isinstance(take_amount(LIMIT, level, 550.0, 0), RateState)


@given(
    amount=st.integers(1, 50),
    steps=st.lists(st.tuples(st.floats(0, 40), st.integers(1, 5), st.booleans()), max_size=60),
)
def test_as_a_bucket_that_drains(amount: int, steps: list[tuple[float, int, bool]]) -> None:
    limit = Limit("tokens", amount, 60.0)
    level: float | None = None
    content = now = 0.0
    for pause, cost, forced in steps:
        now += pause
        content = max(content - pause * amount / 60.0, 0.0)
        if forced:
            level = charge(limit, level, now, cost)
            content += cost
            continue
        taken = take_amount(limit, level, now, cost)
        if abs(content + cost - amount) > 1e-6 * amount:
            assert isinstance(taken, RateState) is (content + cost > amount)
        if isinstance(taken, RateState):
            assert taken.wait > 0
        else:
            level = taken
            content += cost
