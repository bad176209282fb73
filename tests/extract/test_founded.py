"""A choice is replaced only where the words say so: what merely stands near it takes nobody's place."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.model.event import WENT_ON
from tokenmizer_mw.model.node import NodeType, Status


def decisions(*talk: str) -> dict[str, Status]:
    """Labels and statuses of the decisions of a talk in which user and assistant speak by turns."""
    with SessionMemory.open("memory://") as memory:
        roles = ("user", "assistant")
        memory.record("s", [{"role": roles[at % 2], "content": text} for at, text in enumerate(talk)])
        return {node.label: node.status for node in memory.graph("s").nodes() if node.type is NodeType.DECISION}


def in_force(*talk: str) -> set[str]:
    return {label for label, status in decisions(*talk).items() if status is Status.ACTIVE}


def test_a_number_is_of_what_is_counted_beside_it() -> None:
    talk = (
        "Use PostgreSQL 16.",
        "Ok, PostgreSQL 16.",
        "Members can cancel up to 24 hours before. Make it 12.",
        "Done.",
    )
    assert decisions(*talk) == {
        "PostgreSQL 16": Status.ACTIVE,
        "Members can cancel up to 24 hours before": Status.ACTIVE,
    }


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("PostgreSQL for the orders", "Use SQLite for the tests instead of PostgreSQL."),
        ("MinIO for the pictures", "Take the local disk for development instead of MinIO."),
    ],
)
def test_an_exception_leaves_the_rule_in_force(first: str, second: str) -> None:
    assert first in in_force(f"Use {first}.", "Done.", second)


@pytest.mark.parametrize(
    "talk",
    [
        ("We use Label Studio for the labels.", "OK.", "Magic links it is."),
        ("Go ahead with the schema.", "Passwords or links?", "Magic links it is."),
    ],
)
def test_a_pick_among_offers_replaces_no_other_choice(talk: Sequence[str]) -> None:
    assert Status.SUPERSEDED not in decisions(*talk).values()


@pytest.mark.parametrize(
    "talk",
    [
        ("We export the labels from Audacity.", "OK.", "Can we come back to the threshold?"),
        ("Keep the limit under 0.75.", "OK.", "Hm, 0.71."),
    ],
)
def test_a_subject_that_comes_up_again_replaces_nothing(talk: Sequence[str]) -> None:
    assert Status.SUPERSEDED not in decisions(*talk).values()


def test_a_complaint_is_no_choice() -> None:
    assert (
        in_force("Redis for the queue.", "Recall is 0.62 at 0.9 precision.", "0.62 is too low. What could we do?")
        == set()
    )
    assert "15 minutes is too short though" not in in_force("Go.", "Which lifetime?", "15 minutes is too short though.")


def test_what_follows_something_turned_down_is_its_reason() -> None:
    talk = ("Build the queue.", "With Celery?", "We don't want Celery, operations won't run it.")
    assert decisions(*talk) == {"Celery": Status.INVALIDATED}


def test_a_reason_is_taken_from_the_message_that_changes() -> None:
    with SessionMemory.open("memory://") as memory:
        texts = (
            "Use PostgreSQL for the orders.",
            "Done.",
            "The old queue is too slow and nobody can run it.",
            "I see.",
            "Use MySQL instead of PostgreSQL.",
        )
        memory.record("s", [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(texts)])
        told = memory.why("s", "MySQL")
    assert told is not None and "queue" not in told.text


def test_numbers_tell_things_of_one_kind_apart() -> None:
    talk = [text for n in range(1, 4) for text in (f"Service {n} runs on port {8000 + n}.", "Noted.")]
    with SessionMemory.open("memory://") as memory:
        memory.record("s", [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(talk)])
        assert not memory.graph("s").transitions()


@pytest.mark.parametrize("again", ["Use SQLite for storage.", "SQLite for storage, please"])
def test_what_is_said_again_replaces_nothing(again: str) -> None:
    assert Status.SUPERSEDED not in decisions("Use SQLite for storage.", "OK.", again).values()


def test_what_is_denied_is_replaced() -> None:
    talk = ("Use SQLite for storage.", "OK.", "Don't use SQLite for storage.")
    assert decisions(*talk)["SQLite for storage"] is Status.SUPERSEDED


def test_a_change_leaves_no_control_character_in_a_label() -> None:
    labels = decisions("Our goal is to ship the parcel portal.", "OK.", "Decided: Redis for the parcel portal \x1b[31m")
    assert not any("\x1b" in label for label in labels)


FAILING = (
    "The export fails with 'KeyError: total' since the update.",
    "The column was renamed. I changed the reader:\n```python\nrow['sum']\n```",
)


def errors(*said: str) -> dict[str, tuple[Status, str]]:
    with SessionMemory.open("memory://") as memory:
        memory.record("s", [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(said)])
        graph = memory.graph("s")
        return {node.label: (node.status, graph.life(node.id).reason) for node in graph.nodes(type=NodeType.ERROR)}


def test_an_error_that_nobody_mentions_after_the_work_on_it_counts_as_fixed() -> None:
    assert set(errors(*FAILING).values()) == {(Status.ACTIVE, "")}
    assert set(errors(*FAILING, "Now add a header to the export.").values()) == {(Status.COMPLETED, WENT_ON)}


def test_a_complaint_leaves_errors_open() -> None:
    still = errors(*FAILING, "Still 'KeyError: total' when I export.")
    assert Status.COMPLETED not in {status for status, _ in still.values()}


def test_a_block_says_which_errors_only_went_unmentioned() -> None:
    with SessionMemory.open("memory://") as memory:
        said = (*FAILING, "Now add a header to the export.")
        memory.record("s", [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(said)])
        text = memory.resume("s").text
    assert "Errors, probably fixed:" in text
    assert "Open errors:" not in text
    assert "Done:" not in text


def test_a_figure_that_is_said_again_stays_whole() -> None:
    talk = (
        "Plan the trip to Lisbon.",
        "OK.",
        "We cap it at 2,400 euros for all four of us.",
        "Got it, 2,400 euros for four.",
    )
    assert not {"2", "400 euros for four"} & set(decisions(*talk))


def test_what_the_user_puts_off_stays_an_open_error() -> None:
    assert set(errors(*FAILING, "Leave that for now, the header first.").values()) == {(Status.ACTIVE, "")}


def test_an_error_of_a_tool_needs_a_run_that_succeeds() -> None:
    call = {"id": "1", "name": "Bash", "arguments": {"command": "npm test"}}
    with SessionMemory.open("memory://") as memory:
        memory.record(
            "s",
            [
                {"role": "user", "content": "Run the tests."},
                {"role": "assistant", "content": "", "tool_calls": [call]},
                {
                    "role": "tool",
                    "tool_call_id": "1",
                    "content": "TypeError: x is undefined\n1 failed",
                    "is_error": True,
                },
                {"role": "assistant", "content": "One test fails. I don't know why yet."},
                {"role": "user", "content": "Add a header to the page."},
            ],
        )
        graph = memory.graph("s")
        assert all(node.status is Status.ACTIVE for node in graph.nodes(type=NodeType.ERROR))


def test_an_answer_to_a_question_and_a_complaint_replace_nothing() -> None:
    talk = (
        "The second site writes into the same database too.",
        "The tests need a database. Shall I create one per run?",
        "Yes, one scratch database per run, and drop it afterwards.",
    )
    assert Status.SUPERSEDED not in decisions(*talk).values()
    limit = ("Use an upload limit of 5 MB.", "OK.", "Anna says uploads crash on her Pixel when the file is above 3 MB.")
    assert Status.SUPERSEDED not in decisions(*limit).values()


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("Leave it for now.", Status.ACTIVE),
        ("Let's ignore the export for now.", Status.ACTIVE),
        ("Good. Tomorrow we print the parcel labels for Monday.", Status.COMPLETED),
        ("Bien. Mañana escribo las etiquetas nuevas.", Status.COMPLETED),
    ],
)
def test_what_is_put_off_beside_an_error_leaves_it_fixed(said: str, status: Status) -> None:
    assert {found for found, _ in errors(*FAILING, said).values()} == {status}


def test_what_went_wrong_before_the_talk_is_no_open_error() -> None:
    assert errors("I help out at a food bank, and twice this year a fridge failed overnight. Build an alarm.") == {}


def test_a_measurement_that_takes_the_place_of_another_decides_nothing() -> None:
    measured = "The queue holds 900 jobs this morning, strange"
    talk = ("Help me with the booking site.", "Sure.", "The queue holds 200 jobs.", "OK.", f"{measured}.")
    with SessionMemory.open("memory://") as memory:
        roles = ("user", "assistant")
        memory.record("s", [{"role": roles[at % 2], "content": text} for at, text in enumerate(talk)])
        graph = memory.graph("s")
    (step,) = graph.transitions()
    new = graph.get(step.new)
    assert new is not None
    assert (new.type, new.label, new.status) == (NodeType.CONCEPT, measured, Status.ACTIVE)


def test_a_tool_that_takes_the_place_of_another_is_a_decision() -> None:
    talk = ("Help me with the booking site.", "Sure.", "The orders are in MySQL.", "OK.")
    assert [one for one in in_force(*talk, "The orders are in PostgreSQL since yesterday.") if "PostgreSQL" in one]
