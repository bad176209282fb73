"""Languages other than English: every row reads its example and leaves its counter-example; guards, answers, cost."""

from __future__ import annotations

import pytest

from tokenmizer_mw.extract.languages import tongues_of
from tokenmizer_mw.extract.reading import hits
from tokenmizer_mw.extract.rules import RULES, Rule, Speaker
from tokenmizer_mw.extract.rules.tongues import TONGUES

ROWS = [
    pytest.param(rule, speaker, id=f"{rule.name}-{speaker}")
    for tongue in TONGUES
    for rule in tongue.rules
    for speaker in (Speaker.USER, Speaker.ASSISTANT)
    if rule.speaker in (speaker, Speaker.BOTH)
]


def names(sentence: str, speaker: Speaker) -> list[str]:
    return [hit.rule.name for hit in hits(sentence, speaker)]


@pytest.mark.parametrize(("rule", "speaker"), ROWS)
def test_row_reads_its_example(rule: Rule, speaker: Speaker) -> None:
    assert rule.name in names(rule.example, speaker)


@pytest.mark.parametrize(("rule", "speaker"), ROWS)
def test_row_leaves_its_counter_example(rule: Rule, speaker: Speaker) -> None:
    assert rule.name not in names(rule.counter, speaker)


def test_rows_have_names_of_their_own() -> None:
    rules = [rule.name for tongue in TONGUES for rule in tongue.rules] + [rule.name for rule in RULES]
    assert len(rules) == len(set(rules))


@pytest.mark.parametrize("tongue", TONGUES, ids=lambda tongue: tongue.code)
def test_examples_are_told_to_be_in_their_language(tongue) -> None:  # type: ignore[no-untyped-def]
    told = [tongue in tongues_of(rule.example) for rule in tongue.rules]
    assert sum(told) == len(told)


@pytest.mark.parametrize(
    "sentence",
    ["Use Postgres for the orders", "The build fails on the second run", "What is left to do?", "ok, do it", ""],
)
def test_english_is_no_other_language(sentence: str) -> None:
    assert tongues_of(sentence) == ()
