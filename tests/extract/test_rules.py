"""Every row of the rule tables reads its example and leaves its counter-example alone."""

from __future__ import annotations

import pytest

from tokenmizer_mw.extract.match.rule_hits import read_hits
from tokenmizer_mw.extract.rules import MEANINGS, RULES, Act, Rule, Speaker
from tokenmizer_mw.extract.rules.states import SENTENCES

ROWS = [
    (rule, speaker)
    for rule in RULES
    for speaker in (Speaker.USER, Speaker.ASSISTANT)
    if rule.speaker in (speaker, Speaker.BOTH)
]


def names(sentence: str, speaker: Speaker) -> list[str]:
    return [hit.rule.name for hit in read_hits(sentence, speaker)]


def test_rows_read_their_examples_and_leave_their_counter_examples() -> None:
    assert [rule.name for rule, speaker in ROWS if rule.name not in names(rule.example, speaker)] == []
    assert [rule.name for rule, speaker in ROWS if rule.name in names(rule.counter, speaker)] == []


STATES = [row for rows in SENTENCES.values() for row in rows]


@pytest.mark.parametrize("row", STATES, ids=lambda row: row.name)
def test_a_state_is_read_by_its_row_or_by_an_earlier_one_of_the_same_meaning(row: Rule) -> None:
    assert row.act in [hit.rule.act for hit in read_hits(row.example, Speaker.USER)]
    assert row.name not in names(row.counter, Speaker.USER)


def test_rows_have_names_of_their_own() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_every_act_has_a_meaning() -> None:
    assert set(MEANINGS) == set(Act)
    assert {rule.act for rule in RULES} <= set(MEANINGS)


def test_confidence_is_a_share() -> None:
    assert [rule.name for rule in RULES if not 0.5 <= rule.confidence <= 1.0] == []


SILENT = [
    "Should we use Redis for this?",
    "If we used Redis, we would need another server",
    "What if the database goes down",
    "The docs say you should use MongoDB",
    "My brother-in-law says we should use MQTT",
    "Maybe we should switch to Vue",
    "For example, use Redis for sessions",
    "You could use Postgres",
    "How does the login work?",
    "",
    "   ",
    "...",
]


@pytest.mark.parametrize("sentence", SILENT)
@pytest.mark.parametrize("speaker", [Speaker.USER, Speaker.ASSISTANT])
def test_questions_suppositions_and_reports_state_nothing(sentence: str, speaker: Speaker) -> None:
    """An assistant's question may be an offer, which is no statement either."""
    assert {hit.rule.act for hit in read_hits(sentence, speaker)} <= {Act.PROPOSAL}
    assert speaker is Speaker.ASSISTANT or names(sentence, speaker) == []


def test_polite_questions_are_orders() -> None:
    assert names("Can you add a dark mode?", Speaker.USER) == ["user.order"]
    assert names("could you please use Vitest instead?", Speaker.USER) == ["user.instead"]


def test_a_sentence_with_two_orders_has_two_hits() -> None:
    found = read_hits("use Postgres, and add a Redis cache", Speaker.USER)
    assert [(hit.rule.act, hit.label) for hit in found] == [
        (Act.CHOICE, "Postgres"),
        (Act.REQUEST, "add a Redis cache"),
    ]
