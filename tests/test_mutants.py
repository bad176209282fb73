"""The faults of ``make mutants`` stand in the code that they are put into."""

from __future__ import annotations

from collections import Counter

import pytest

from scripts.mutants import ROOT, Mutant, read_table

AREAS, MUTANTS = read_table([])


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_fault_has_one_place_in_the_code(mutant: Mutant) -> None:
    text = (ROOT / "tokenmizer_mw" / mutant.file).read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1
    assert mutant.new != mutant.old


def test_each_area_has_ten_faults_or_more_and_tests() -> None:
    faults = Counter(mutant.area for mutant in MUTANTS)
    assert set(faults) == set(AREAS) and min(faults.values()) >= 10
    assert all((ROOT / test).exists() for tests in AREAS.values() for test in tests)
