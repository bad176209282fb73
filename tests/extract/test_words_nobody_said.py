"""Labels are what somebody said: no number is put into a sentence that it does not belong to."""

from __future__ import annotations

import pytest

from tokenmizer_mw.model.message import Message
from tokenmizer_mw.model.node import DecisionKind, NodeType, Status
from tokenmizer_mw.settings import Settings

from .talks import SPEAKERS, changes, judged, labels, talk

OPENING = ("u: I'm building a small app for our club.", "a: Sure, tell me more.")


def _all_labels(*lines: str) -> list[str]:
    graph = judged([Message(SPEAKERS[line[0]], line[3:]) for line in (*OPENING, *lines)], Settings())
    return [node.label for node in graph.nodes()]


@pytest.mark.parametrize(
    ("lines", "invented"),
    [
        (("u: The meeting room seats 23.", "a: OK.", "u: From now on at 5."), "seats 5"),
        (("a: Gut, alle 23 Tests laufen durch.", "u: Also künftig am 5."), "am 23"),
        (
            (
                "u: Visitors should be able to cancel until 24 hours before and get the full amount back.",
                "a: OK.",
                "u: She wants 48 hours instead of 24, and no money back but a voucher.",
            ),
            "48 hours before and get",
        ),
        (("u: All 8 tests pass against staging.",), "pass again"),
    ],
)
def test_no_label_is_made_of_two_sentences(lines: tuple[str, ...], invented: str) -> None:
    assert not [label for label in _all_labels(*lines) if invented in label]


def test_a_reason_stays_with_what_it_was_given_for() -> None:
    graph = talk(
        *OPENING,
        "u: Use the train to get there because it is cheap.",
        "a: OK.",
        "u: Scrap the train, use the minibus because nobody wants to walk.",
    )
    new = graph.get(graph.transitions()[-1].new)
    assert new is not None and "cheap" not in new.label and "the the" not in new.label


@pytest.mark.parametrize(
    ("settled", "announced", "name"),
    [
        ("We use Hugo.", "I changed my mind about Hugo.", "Hugo"),
        ("Wir nehmen MariaDB.", "Ich habe es mir anders überlegt.", "MariaDB"),
        ("Usamos Hugo.", "He cambiado de idea.", "Hugo"),
    ],
)
def test_an_announcement_of_a_change_takes_no_place(settled: str, announced: str, name: str) -> None:
    graph = talk(*OPENING, f"u: {settled}", "a: OK.", f"u: {announced}")
    assert changes(graph) == []
    assert any(name in label for label in labels(graph, NodeType.DECISION))


def test_what_follows_an_announcement_is_read() -> None:
    graph = judged(
        [
            Message(SPEAKERS[line[0]], line[3:])
            for line in (
                *OPENING,
                "u: Wir nehmen MariaDB.",
                "a: Gut.",
                "u: Ich habe es mir anders überlegt: statt MariaDB nehmen wir SQLite.",
            )
        ],
        Settings(),
    )
    assert [("MariaDB" in old, "SQLite" in new) for old, new in changes(graph)] == [(True, True)]


def test_a_command_sets_no_value() -> None:
    graph = talk(*OPENING, "a: Run `manage make_slots --weeks 8` to fill the table.", "u: 25 per slot, no more.")
    assert not [old for old, _ in changes(graph) if "make_slots" in old]


def test_the_dot_of_an_ordinal_number_ends_no_sentence() -> None:
    labels_ = _all_labels("u: Die Beiträge ziehen wir am 1. jedes Monats per Lastschrift ein.")
    assert any("am 1. jedes Monats" in label for label in labels_)


def test_what_somebody_changed_their_mind_about_holds_no_more() -> None:
    graph = talk(*OPENING, "u: We use Hugo.", "a: OK.", "u: I changed my mind about Hugo.")
    assert "Hugo" not in labels(graph, NodeType.DECISION, Status.ACTIVE)


def test_an_answer_to_a_question_for_a_number_is_told_by_itself() -> None:
    found = _all_labels(
        "a: Two questions first: how many boats go out at once, and who pays?", "u: Three boats, mine and two of hers."
    )
    assert not [label for label in found if "how many" in label]


@pytest.mark.parametrize(
    "said",
    [
        "One thing that matters to me: members' addresses must never be shown",
        "Every boat gets a life vest",
    ],
)
def test_a_number_word_at_the_beginning_is_no_name(said: str) -> None:
    lines = ("u: Two boats, one of them hers.", "a: Two boats, noted.", f"u: {said}")
    graph = judged([Message(SPEAKERS[line[0]], line[3:]) for line in (*OPENING, *lines)], Settings())
    assert not graph.transitions()


def test_what_there_is_not_to_do_is_no_rule() -> None:
    graph = talk(*OPENING, "u: I'd rather start with paper lists, no program to learn.")
    assert not [node for node in graph.nodes() if node.kind is DecisionKind.RULE]


def test_habits_of_people_are_no_errors() -> None:
    graph = talk(*OPENING, "u: Reminders by post then. People don't read e-mail.")
    assert not list(graph.nodes(NodeType.ERROR))


def test_a_topic_that_is_announced_is_no_work() -> None:
    graph = talk(*OPENING, "u: Next: what counts as late. Ten minutes is late.")
    assert not list(graph.nodes(NodeType.TASK))


def test_a_choice_by_pronoun_is_no_label_of_its_own() -> None:
    found = _all_labels("u: A buffet from Lumen, the place on Mill Street. We've decided on that, the club loves it.")
    assert not [label for label in found if label.startswith("that")]


def test_turning_down_what_nobody_took_replaces_nothing() -> None:
    graph = judged(
        [
            Message(SPEAKERS[line[0]], line[3:])
            for line in ("u: Use SQLite for storage.", "a: OK.", "u: Not MySQL, nobody here knows it")
        ],
        Settings(),
    )
    assert not graph.transitions()


def test_dropping_one_thing_for_another_replaces_it() -> None:
    graph = talk(
        *OPENING,
        "u: For getting there let's hire a coach, then nobody has to drive.",
        "a: Good.",
        "u: Let's drop the coach and go by train with group tickets.",
    )
    assert [new for _, new in changes(graph)] and "train" in changes(graph)[-1][1]


def test_a_no_to_a_question_is_about_the_question() -> None:
    graph = talk(*OPENING, "u: Wir nehmen PostgreSQL.", "a: Rechnungen per Post?", "u: Nein, lieber per Mail.")
    assert changes(graph) == []
