"""A choice that goes, in the ways people say it: what was better, a change of plan, the reason beside a version."""

from __future__ import annotations

import pytest

from tokenmizer_mw.model.node import NodeType, Status

from .talks import changes, labels, talk


def test_what_was_better_holds_again() -> None:
    graph = talk(
        "u: the sidebar stays on the left",
        "a: OK, left.",
        "u: move the sidebar to the right side",
        "a: The sidebar is on the right.",
        "u: never mind, left was better, it covers the chat button",
    )
    assert changes(graph)[-1][0] == "move the sidebar to the right side"
    assert "left" in changes(graph)[-1][1]
    assert graph.transitions()[-1].reason == "it covers the chat button"


@pytest.mark.parametrize(
    "said",
    [
        "which one was better?",
        "it was better",
        "everything was better, honestly",
        "a change of plan is never easy",
    ],
)
def test_what_only_sounds_like_a_return(said: str) -> None:
    graph = talk(
        "u: Build the page of the club", "a: Here.", "u: the sidebar stays on the left", "a: OK.", f"u: {said}"
    )
    assert changes(graph) == []


def test_a_change_of_plan_names_what_goes_by_what_is_wrong_with_it() -> None:
    graph = talk(
        "u: Build the shop",
        "a: Here.",
        "u: let's host it on Fly.io",
        "a: Done.",
        "u: Change of plan, our own Hetzner server, Fly.io lost a volume last night.",
    )
    ((old, new),) = changes(graph)
    assert "Fly.io" in old
    assert "Hetzner" in new
    assert "lost a volume" in graph.transitions()[0].reason


def test_a_version_changes_for_the_reason_beside_it() -> None:
    graph = talk(
        "u: Build the parser",
        "a: Here.",
        "u: target python 3.10",
        "a: ok",
        "u: raise it to python 3.12, i want the new generics syntax",
    )
    assert [step.reason for step in graph.transitions()] == ["i want the new generics syntax"]


def test_a_version_for_some_day_is_not_what_runs() -> None:
    graph = talk(
        "u: Build the shop", "a: Here.", "u: We stay on Django 4.2.", "a: ok", "u: Django 5.2 maybe next year."
    )
    assert not any("5.2" in label for label in labels(graph, NodeType.ENVIRONMENT))
    runs = talk("u: Build the shop", "a: Here.", "u: the server has Django 5.2 and two disks")
    assert any("5.2" in label for label in labels(runs, NodeType.ENVIRONMENT))


def test_two_rules_that_share_a_word_both_hold() -> None:
    graph = talk("u: Build the shop", "a: Here.", "u: never push to main", "a: ok", "u: never force-push either")
    rules = labels(graph, NodeType.DECISION, Status.ACTIVE)
    assert len(rules) == 2
    again = talk("u: Build the shop", "a: Here.", "u: never push to main", "a: ok", "u: and never push to main")
    assert len(labels(again, NodeType.DECISION, Status.ACTIVE)) == 1


@pytest.mark.parametrize(
    ("lines", "change"),
    [
        (
            ("u: Wir nehmen Hetzner für den Server.", "a: Gut.", "u: Doch nicht Hetzner, wir nehmen Netcup."),
            ("Hetzner", "Netcup"),
        ),
        (("u: 消息队列用 RabbitMQ", "a: 好的。", "u: 还是换成 Kafka 吧，因为要保留历史消息"), ("RabbitMQ", "Kafka")),
    ],
)
def test_changed_minds_in_other_languages(lines: tuple[str, ...], change: tuple[str, str]) -> None:
    ((old, new),) = changes(talk("u: Build the shop", "a: Here.", *lines))
    assert change[0] in old
    assert change[1] in new


def test_a_noun_behind_of_is_no_order_to_change_something() -> None:
    graph = talk("u: Build the clock", "a: Here.", "u: test it past midnight and at the change of clocks")
    assert changes(graph) == []


def test_another_spelling_of_the_same_text_changes_nothing() -> None:
    came_back = ("u: Build the page of the club", "a: Here.", "u: the heading is invalid")
    assert changes(talk(*came_back, "a: Line 12: Tea & Cake → Tea &amp; Cake")) == []
    assert changes(talk(*came_back, "a: Line 12: Tea & Cake → Tea and Biscuits")) != []


@pytest.mark.parametrize(
    "said", ["self = Parser(dest='cmd', nargs='A...', const=None, required=True, help=None)", "<args>use it</args>"]
)
def test_pasted_code_decides_nothing(said: str) -> None:
    graph = talk("u: Build the shop", "a: Here.", "u: run the tests", "a: Which one fails?", f"u: {said}")
    assert labels(graph, NodeType.DECISION, Status.ACTIVE) == []


def test_an_option_of_ones_own_question_is_picked_and_left_for_the_other() -> None:
    opening = ("u: hi, mead or cider for the autumn fair?", "a: Cider is quicker, mead keeps longer.")
    graph = talk(*opening, "u: Cider. We brew 200 litres.")
    assert "mead or cider for the autumn fair: Cider" in labels(graph, NodeType.DECISION, Status.ACTIVE)
    graph = talk(
        *opening,
        "u: Cider. The labels are printed with Inkwell.",
        "a: Fine, cider and Inkwell.",
        "u: Mead after all, the press is broken",
    )
    assert [old for old, _ in changes(graph)] == ["mead or cider for the autumn fair: Cider"]


@pytest.mark.parametrize("said", ["Cider?", "what a cold morning", "I asked my brother", "neither of them, thanks"])
def test_what_picks_no_option_of_ones_own_question(said: str) -> None:
    graph = talk("u: mead or cider for the autumn fair?", "a: Both sell well.", f"u: {said}")
    assert not any(label.startswith("mead or cider") for label in labels(graph, NodeType.DECISION, Status.ACTIVE))
