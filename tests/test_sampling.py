from __future__ import annotations

from itertools import combinations, product

from tests.sampling import NIGHTLY, covering, sample


def test_every_combination_is_there_and_every_pair_in_the_normal_run() -> None:
    choices = (range(5), "ab", range(3))
    rows = covering(*choices)
    assert [row.values for row in rows] == list(product(*choices))
    normal = [row.values for row in rows if not row.marks]
    assert len(normal) <= 16
    for one, other in combinations(range(3), 2):
        assert {(row[one], row[other]) for row in normal} == set(product(choices[one], choices[other]))


def test_of_two_choices_every_value_is_in_the_normal_run() -> None:
    normal = [row.values for row in covering(range(7), "abc") if not row.marks]
    assert len(normal) == 7
    assert [set(column) for column in zip(*normal, strict=True)] == [set(range(7)), set("abc")]


def test_a_sample_has_each_nth_value() -> None:
    rows = sample(range(5), 2)
    assert [row.values[0] for row in rows] == [0, 1, 2, 3, 4]
    assert [row.values[0] for row in rows if NIGHTLY not in row.marks] == [0, 2, 4]
