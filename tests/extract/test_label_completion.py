"""Thin labels of choices are told with what they take up; names that speak for themselves stay as they are."""

from __future__ import annotations

import pytest

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.extract.compose.label_completion import widen_labels
from tokenmizer_mw.extract.finding import Finding, Move
from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust

from .talks import RULES_ONLY


def decided(*talk: str) -> list[str]:
    """The choices in force after a talk of a user and an assistant, in turns."""
    memory = SessionMemory.open("memory://", RULES_ONLY)
    roles = ("user", "assistant")
    memory.record("s", [{"role": roles[at % 2], "content": text} for at, text in enumerate(talk)])
    found = [node.label for node in memory.graph("s").nodes(NodeType.DECISION, status=Status.ACTIVE)]
    memory.close()
    return found


OPENING = "Please help me to limit failed logins in our shop."


@pytest.mark.parametrize(
    ("told", "answer", "label"),
    [
        (
            "A counter in memory loses count at each restart. A small table with user and window is enough for this.",
            "table then.",
            "A small table with user and window",
        ),
        (
            "Where shall the counts live?",
            "use the table, it is written in one go",
            "use the table, it is written in one go",
        ),
    ],
)
def test_a_thin_answer_is_told_with_what_it_takes_up(told: str, answer: str, label: str) -> None:
    assert label in decided(OPENING, told, answer)


@pytest.mark.parametrize("name", ["PostgreSQL", "redis", "HTTP-01"])
def test_a_name_stays_a_name(name: str) -> None:
    told = f"One could store the counts in several places. {name} would do here as well, with little to set up."
    assert any(label == name for label in decided(OPENING, told, f"Let's use {name}."))


def test_what_judges_a_thing_is_left_out() -> None:
    told = "Either write the counts into a table of the shop, or keep them in memory. Still, a table is slow to write."
    assert "write the counts into a table of the shop" in decided(OPENING, told, "table then.")


@pytest.mark.parametrize(
    ("told", "answer", "label"),
    [
        (
            "The runner has no fonts. I could install `fonts-inter`, or bundle the files below `web/fonts`.",
            "bundle, the shop has no net at times",
            "bundle the files below web/fonts",
        ),
        ("For the nightly job I'd suggest `systemd` timers with a lock.", "timers yes", "systemd timers with a lock"),
        (
            "Fields `Qty` and `qty` are one column; I'd fold them.",
            "fold them yes",
            "Fields Qty and qty are one column; I'd fold them",
        ),
        (
            "Keep the check failing (or `level: note`) until she knows what the rest is.",
            "note, so the night run isn't red over the weekend",
            "level: note",
        ),
        ("清理可以按周做，避免高峰。", "嗯，按周。", "清理可以按周做"),
        (
            "La copia va con una clave firmada, para no pedir cuenta.",
            "me gusta lo de la clave. adelante",
            "La copia va con una clave firmada",
        ),
        ("Las fechas podrían ir en UTC, o en hora local de la tienda.", "hora local, sí", "en hora local de la tienda"),
    ],
)
def test_a_few_words_take_up_what_was_put_up(told: str, answer: str, label: str) -> None:
    assert label in decided(OPENING, told, answer)


@pytest.mark.parametrize(
    ("told", "answer"),
    [
        ("Do the shop and the app share a counter?", "the shop only."),
        ("The counter could live in the shop or in the app.", "the counter of the shop is wrong again"),
        ("The counter lives in the shop. It runs since Monday.", "the shop, hm"),
        ("The counter could live in the shop or in the app.", "which shop?"),
    ],
)
def test_facts_faults_and_questions_take_up_nothing(told: str, answer: str) -> None:
    assert not decided(OPENING, told, answer)


def test_one_thing_instead_of_another_is_one_choice() -> None:
    assert decided(OPENING, "Where shall it live?", "We switch to PostgreSQL instead of SQLite") == ["PostgreSQL"]


def test_a_brief_choice_is_told_with_what_goes_for_it() -> None:
    assert "median instead of mean" in decided(OPENING, "Which one?", "use median instead of mean")


@pytest.mark.parametrize(
    "said",
    [
        "While measuring: p99 went from 12 to 40 ms, the lock I guess",
        "the list loads on every visit and it's the slowest thing we have",
        "I'd begun with a lock, it's in the branch since noon",
    ],
)
def test_how_things_are_or_went_is_no_choice(said: str) -> None:
    assert not decided(OPENING, "Good.", said)


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        (
            "leave the footer out and we draw a wide border around the whole page",
            "leave the footer out and we draw a wide border around the whole page",
        ),
        ("leave the footer out", "leave the footer out"),
    ],
)
def test_the_smaller_part_of_a_short_sentence_is_told_by_all_of_it(answer: str, label: str) -> None:
    assert decided(OPENING, "Anything else?", answer) == [label]


def labelled(said: str, type_: NodeType) -> list[str]:
    """The labels of one type after a short chat whose last message is ``said``."""
    memory = SessionMemory.open("memory://")
    memory.record(
        "s",
        [
            {"role": "user", "content": "Please help me to plan the open day of our school."},
            {"role": "assistant", "content": "Gladly. What is fixed so far?"},
            {"role": "user", "content": said},
        ],
    )
    found = [node.label for node in memory.graph("s").nodes(type_)]
    memory.close()
    return found


@pytest.mark.parametrize(
    ("said", "type_", "label"),
    [
        (
            "The charts are Nora's, I'll ask her for a legend tomorrow.",
            NodeType.TASK,
            "The charts are Nora's, I'll ask her for a legend tomorrow",
        ),
        ("Why not, let's use Kotlin for the app.", NodeType.DECISION, "Kotlin for the app"),
        (
            "The neighbours are away, I have to feed their cat until Sunday.",
            NodeType.TASK,
            "I have to feed their cat until Sunday",
        ),
        (
            "Go ahead, but always ask me before you delete a file.",
            NodeType.DECISION,
            "always ask me before you delete a file",
        ),
        (
            "so we go with Paul, Nora and Lena for the panel then",
            NodeType.DECISION,
            "we go with Paul, Nora and Lena for the panel",
        ),
        ("Decided: no cookies on the start page.", NodeType.DECISION, "no cookies on the start page"),
        ("We use Redis.", NodeType.DECISION, "Redis"),
    ],
)
def test_a_short_sentence_is_the_label_unless_it_adds_nothing(said: str, type_: NodeType, label: str) -> None:
    assert labelled(said, type_) == [label]


def test_a_long_sentence_is_no_label() -> None:
    said = f"The charts are Nora's{', as you know from the last time' * 3}, I'll ask her for a legend tomorrow."
    assert [len(label) <= 100 for label in labelled(said, NodeType.TASK)] == [True]


def test_a_rule_is_no_part_of_a_choice_beside_it() -> None:
    said = "We use oat milk for the pancakes and never add sugar."
    assert labelled(said, NodeType.DECISION) == ["oat milk for the pancakes", "never add sugar"]


def test_what_stands_behind_a_task_is_no_part_of_its_label() -> None:
    said = "Ich muss noch die Rechnung an Frau Kern schicken, das darf ich nicht vergessen."
    assert labelled(said, NodeType.TASK) == ["Ich muss noch die Rechnung an Frau Kern schicken"]


def test_what_has_no_label_gets_none() -> None:
    again = Finding(
        NodeType.TASK, "", Status.PENDING, Trust.STATED, 0.7, Move.REOPEN, quote="It is not done yet.", span=(0, 19)
    )
    assert widen_labels([again]) == [again]


def test_a_label_that_is_not_in_its_sentence_stays() -> None:
    tagged = "always tag the release first"
    chosen = Finding(
        NodeType.DECISION,
        tagged,
        Status.ACTIVE,
        Trust.STATED,
        0.7,
        kind=DecisionKind.CHOICE,
        quote="For the new service we deploy on Fridays.",
        span=(0, 41),
    )
    assert [one.label for one in widen_labels([chosen])] == [tagged]
