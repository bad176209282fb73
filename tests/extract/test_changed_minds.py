"""A choice that goes, in the ways people say it: what was better, a change of plan, the reason beside a version."""

from __future__ import annotations

import pytest

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.message import Message
from tokenmizer_mw.model.node import NodeType, Status
from tokenmizer_mw.settings import Settings

from .talks import SPEAKERS, changes, judged, labels, talk


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


@pytest.mark.parametrize("said", ["Cider?", "what a cold morning", "I asked my brother", "neither of them, thanks"])
def test_what_picks_no_option_of_ones_own_question(said: str) -> None:
    graph = talk("u: mead or cider for the autumn fair?", "a: Both sell well.", f"u: {said}")
    assert not any(label.startswith("mead or cider") for label in labels(graph, NodeType.DECISION, Status.ACTIVE))


def in_force(graph: SessionGraph) -> list[str]:
    return labels(graph, NodeType.DECISION, Status.ACTIVE) + labels(graph, NodeType.CONCEPT, Status.ACTIVE)


def heard(*lines: str) -> SessionGraph:
    """The graph after such lines, with the learned stage."""
    return judged([Message(SPEAKERS[line[0]], line[3:]) for line in lines], Settings())


def test_what_is_turned_down_takes_along_what_says_the_same() -> None:
    graph = heard(
        "u: Build the booking page. One common calendar would do for the rooms.",
        "a: Fine, one common calendar.",
        "u: Actually forget the common calendar. Each room gets its own, no common entries at all.",
    )
    assert not [label for label in in_force(graph) if "common calendar" in label and "forget" not in label]


def test_what_one_message_turns_down_it_does_not_choose() -> None:
    graph = talk(
        "u: Build the alarm. Letters through Postbox for the reports.",
        "a: OK, Postbox it is.",
        "u: Drop the letters, fax is nicer.",
    )
    assert "letters" not in [label.casefold() for label in in_force(graph)]
    assert ("Postbox it is", "Drop the letters, fax is nicer") in changes(graph)


def test_a_clause_is_no_part_of_what_it_stands_behind() -> None:
    graph = talk(
        "u: Build the shop",
        "a: Here.",
        "u: put the orders in LevelDB",
        "a: Done.",
        "u: Then let's switch to SQLite, because three jobs need it at once.",
    )
    assert changes(graph) == [("put the orders in LevelDB", "SQLite")]
    graph = talk(
        "u: Build the shop",
        "a: Here.",
        "u: pymongo is the driver",
        "a: OK.",
        "u: asyncpg instead of pymongo, the rest stays as it is",
    )
    assert "pymongo" in [old for old, _ in changes(graph)]


def test_what_is_pointed_at_is_turned_down_without_the_next_clause() -> None:
    graph = talk("u: Build the shop", "a: Here.", "u: No, skip that, first the invoices.")
    assert not [label for label in labels(graph, NodeType.DECISION, Status.INVALIDATED) if "invoices" in label]


@pytest.mark.parametrize(
    ("before", "said", "after"),
    [
        (
            "Paint: dark red and grey, no pictures in the hall",
            "Make it blue instead of grey",
            "dark red and blue, no pictures in the hall",
        ),
        (
            "Use Bottle for the page and store guests in a text file",
            "Make it SQLite instead of the text file",
            "Use Bottle for the page and store guests in SQLite",
        ),
        (
            "Fine, four letters for the door code.",
            "nine digits instead of four letters",
            "nine digits for the door code",
        ),
    ],
)
def test_a_part_is_replaced_and_the_rest_stays(before: str, said: str, after: str) -> None:
    graph = heard("u: Build the booking page", "a: Here.", f"u: {before}", "a: OK.", f"u: {said}")
    assert after in [new for _, new in changes(graph)]


def test_a_correction_is_told_with_what_is_right() -> None:
    graph = talk(
        "u: Build the timetable",
        "a: Here.",
        "u: Rooms 1 to 4 have paper plans, the rest has screens.",
        "a: OK.",
        "u: Sorry, I mixed that up. 1 to 4 are the rooms with screens.",
    )
    assert "I mixed that up" not in in_force(graph)


def test_a_quoted_decision_is_not_the_users() -> None:
    told = 'My boss wrote: "We agreed on Oracle for all. Please move." What do you make of that?'
    graph = heard("u: Build the shop", "a: Here.", f"u: {told}")
    assert labels(graph, NodeType.DECISION, Status.ACTIVE) == []


def test_an_error_that_names_a_status_is_no_rule() -> None:
    graph = talk("u: Build the site", "a: Here.", "u: The build fails: Error: cannot fetch the theme: 403 Forbidden")
    assert labels(graph, NodeType.DECISION) == []
    assert len(labels(graph, NodeType.ERROR)) == 1
