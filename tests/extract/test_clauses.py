"""What a statement holds for stays with it."""

from __future__ import annotations

import pytest

from tokenmizer_mw.extract.text.clauses import split_statements


@pytest.mark.parametrize(
    ("said", "parts"),
    [
        ("for the second ferry, 15 minutes is too long", ["for the second ferry, 15 minutes is too long"]),
        ("on Sundays, the last boat is at 18:30, so hurry", ["on Sundays, the last boat is at 18:30", "hurry"]),
        ("in addition, tickets cost 12 euros", ["in addition", "tickets cost 12 euros"]),
        ("the boat is late, on Sundays too", ["the boat is late", "on Sundays too"]),
    ],
)
def test_a_fact_keeps_what_it_holds_for(said: str, parts: list[str]) -> None:
    assert split_statements(said, scoped=True) == parts
