"""Findings of rules are believed if the classifier finds what their sentence does likely enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tokenmizer_mw.extract.dialogue.situation import read_situation
from tokenmizer_mw.extract.finding import Finding, Move
from tokenmizer_mw.extract.read.segment import segment
from tokenmizer_mw.extract.score.classifier import DialogueAct, Model
from tokenmizer_mw.extract.score.classifier_findings import drop_unlikely_findings
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust

from .talks import labels, talk

TEXT = "The orders go into MySQL."
CHOICE = Finding(
    NodeType.DECISION,
    "orders go into MySQL",
    Status.ACTIVE,
    Trust.STATED,
    0.8,
    kind=DecisionKind.CHOICE,
    quote=TEXT,
    span=(0, len(TEXT)),
)


def kept(finding: Finding, log_odds: Mapping[DialogueAct, int]) -> bool:
    """Whether a user's finding is believed if each act has these log odds, and -6 if it is not named."""
    weights = bytes(log_odds.get(act, -6) % 256 for act in DialogueAct)
    model = Model(tuple(DialogueAct), ["user:bias"], weights, 1.0)
    situation = read_situation((1, Message(Role.USER, TEXT)), [], has_goal=True)
    return drop_unlikely_findings([finding], segment(TEXT), [()], situation, model) == [finding]


@pytest.mark.parametrize(
    ("finding", "act"),
    [
        (CHOICE, DialogueAct.DECISION),
        (replace(CHOICE, move=Move.SET, value="mysql"), DialogueAct.CHANGE),
        (replace(CHOICE, type=NodeType.TASK, move=Move.CLOSE), DialogueAct.COMPLETION),
        (replace(CHOICE, type=NodeType.ERROR, move=Move.CLOSE), DialogueAct.COMPLETION),
        (replace(CHOICE, type=NodeType.ERROR), DialogueAct.COMPLAINT),
        (replace(CHOICE, type=NodeType.TASK), DialogueAct.POSTPONEMENT),
    ],
)
def test_a_finding_needs_its_act(finding: Finding, act: DialogueAct) -> None:
    assert kept(finding, {act: 0})
    assert not kept(finding, {act: -4})
    assert not kept(finding, {DialogueAct.GOAL: 3})


def test_values_and_rules_need_less() -> None:
    little = {DialogueAct.STATE: -2}
    assert not kept(CHOICE, little)
    assert kept(replace(CHOICE, value="mysql"), little)
    assert kept(replace(CHOICE, kind=DecisionKind.RULE), little)
    assert not kept(replace(CHOICE, kind=DecisionKind.RULE), {})


def test_what_no_sentence_states_stays() -> None:
    assert kept(replace(CHOICE, span=None), {})
    assert kept(replace(CHOICE, type=NodeType.FILE), {})
    assert kept(replace(CHOICE, trust=Trust.ADOPTED), {})


def test_a_report_behind_an_acknowledgement_repeats_no_proposal() -> None:
    graph = talk(
        "u: Let's build an invoice service. Use SQLite for storage.",
        "a: Decided: SQLite for storage. Working on: the invoice model in app/models.py",
        "u: Never push to main without a review.",
        "a: Understood. Completed: invoice model in app/models.py",
    )
    assert labels(graph, NodeType.DECISION) == ["SQLite for storage", "Never push to main without a review"]


def test_what_a_marker_or_an_accepted_offer_says_is_believed() -> None:
    graph = talk("u: Let's build a barn. TODO: write the tests.", "a: Shall I write the schema first?", "u: Yes.")
    assert labels(graph, NodeType.TASK) == ["write the tests", "write the schema first"]
