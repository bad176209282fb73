"""The corpus of the benchmark: recall and precision hold for values that were never seen."""

from __future__ import annotations

import pytest

from benchmarks.redaction import HOSTILE, _caught, _collateral
from benchmarks.redaction_corpus import cases, negatives
from tokenmizer_mw.safety.redact import Redactor

SEEDS = ["1", "tests"]


def test_the_corpus_is_large_enough() -> None:
    assert len(cases()) >= 400
    assert len({case.kind for case in cases()}) >= 150
    assert len(negatives()) >= 300


@pytest.mark.parametrize("seed", SEEDS)
def test_recall(seed: str, redactor: Redactor) -> None:
    found = cases(seed)
    missed = [case.kind for case in found if not _caught(redactor, case)]
    assert len(missed) <= 0.02 * len(found), missed


@pytest.mark.parametrize("seed", SEEDS)
def test_precision(seed: str, redactor: Redactor) -> None:
    found = negatives(seed)
    wrong = [case for case in found if redactor.find(case.text)]
    assert len(wrong) <= 0.01 * len(found), [case.text for case in wrong]
    assert [case.text for case in wrong if case.group == "strict"] == []


def test_collateral(redactor: Redactor) -> None:
    gone = sorted(_collateral(redactor, case) for case in cases())
    assert gone[int(0.95 * len(gone))] <= 12


def test_redacted_texts_are_left_alone(redactor: Redactor) -> None:
    for case in cases():
        once = redactor.redact(case.text)
        assert redactor.redact(once) == once


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_stops_do_not_grow_faster_than_the_text(unit: str, redactor: Redactor) -> None:
    counts = []
    for size in (4_000, 8_000):
        found, refused = redactor._scanner.scan((unit * (size // len(unit) + 1))[:size].encode())
        counts.append(len(found) + len(refused))
    assert counts[1] <= 2.3 * counts[0] + 20
