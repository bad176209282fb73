"""What follows on work: orders that alter it, claims that tell it better, answers to what was put up for choice."""

from __future__ import annotations

import pytest

from tokenmizer_mw.model.node import NodeType, Status

from .talks import changes, labels, talk


@pytest.mark.parametrize(
    ("order", "old"),
    [
        ("Please move the price list to the front page", "the price list as it was"),
        ("hide the phone numbers on the public page", "the phone numbers as it was"),
        ("Rewrite the intro so that it fits on a postcard", "the intro as it was"),
    ],
)
def test_an_order_that_alters_earlier_work_takes_its_place(order: str, old: str) -> None:
    graph = talk("u: Build a page for the bakery", "a: Here it is.", f"u: {order}")
    ((before, after),) = changes(graph)
    assert before == old
    assert after.casefold() in order.casefold()
    assert changes(talk(f"u: {order}")) == []


def test_a_claim_names_the_work_that_its_order_only_pointed_at() -> None:
    graph = talk("u: Build a page for the bakery", "a: Here it is.", "u: hide it from the menu for now", "a: Done.")
    assert labels(graph, NodeType.TASK, Status.COMPLETED) == ["hide it from the menu for now"]
    told = "a: I've removed the bakery page from the main menu."
    graph = talk("u: Build a page for the bakery", "a: Here it is.", "u: remove it from the menu for now", told)
    assert "removed the bakery page from the main menu" in labels(graph, NodeType.TASK, Status.COMPLETED)


@pytest.mark.parametrize(
    ("question", "reply", "decided"),
    [
        ("Should the list be sorted by name or by date?", "by date, people look for the newest", "by date"),
        ("Do you want the totals in one table?", "two tables, one for each branch", "two tables"),
    ],
)
def test_an_answer_to_a_choice_is_a_decision(question: str, reply: str, decided: str) -> None:
    graph = talk("u: Build a report for the bakery", f"a: I can start. {question}", f"u: {reply}")
    assert any(decided in label for label in labels(graph, NodeType.DECISION, Status.ACTIVE))


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("How many branches are there?", "seven in all"),
        ("Should the list be sorted by name or by date?", "no idea"),
        ("Should the list be sorted by name or by date?", "what would you do?"),
    ],
)
def test_other_answers_decide_nothing(question: str, reply: str) -> None:
    graph = talk("u: Build a report for the bakery", f"a: I can start. {question}", f"u: {reply}")
    assert labels(graph, NodeType.DECISION, Status.ACTIVE) == []


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("Would you like to proceed with this, or do you have any other concerns?", "I worry about the oven most."),
        ("Do you want the totals in one table?", "That overview is really helpful."),
        ("Should the list be sorted by name or by date?", "Thanks for the overview."),
        ("Do you need further tips on ovens?", "the oven in the second branch smokes"),
    ],
)
def test_remarks_and_answers_to_questions_that_keep_a_talk_going_decide_nothing(question: str, reply: str) -> None:
    graph = talk("u: Build a report for the bakery", f"a: I can start. {question}", f"u: {reply}")
    assert labels(graph, NodeType.DECISION, Status.ACTIVE) == []


def test_a_log_that_a_user_pastes_is_work_done_and_no_order() -> None:
    pasted = "u: ran it myself\n\nApplied edit to shop/cart.py\nCommit 4e0b17c fix: round the totals once"
    graph = talk("u: Build a cart for the bakery", "a: Here it is.", pasted)
    assert "fix: round the totals once" in labels(graph, NodeType.TASK, Status.COMPLETED)
    assert labels(graph, NodeType.TASK, Status.PENDING) == []


def test_a_decision_told_in_a_sentence_with_commas_stays_whole() -> None:
    said = "Decision: 20 free days a year, EU and UK, the manager always agrees in writing"
    (label,) = labels(talk("u: Write the rules for days off", "a: Gladly.", f"u: {said}"), NodeType.DECISION)
    assert label.startswith("20 free days a year, EU and UK")
