"""Where rules, pinned facts and facts changed by hand stand in blocks of any size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.context.resume.sections import Section, section_of
from tokenmizer_mw.model.node import NOTE_CONFIDENCE, Node, NodeType, Source, Status

GOAL = "an invoice service for the finance department of a logistics company"
TOOLS = ("FastAPI for the API", "Celery for background jobs", "Redis for the queue", "Sentry for errors")


@pytest.fixture
def memory() -> Iterator[SessionMemory]:
    found = SessionMemory.open()
    said = f"Let's build {GOAL}. Use SQLite for storage. Never push to main without a review. Always write tests first."
    chat = [
        {"role": "user", "content": said},
        {"role": "assistant", "content": "Working on: the invoice model in app/models.py"},
    ]
    for number, tool in enumerate(TOOLS):
        chat += [
            {"role": "user", "content": f"Use {tool}."},
            {
                "role": "assistant",
                "content": f"Done. I updated app/part{number}.py accordingly and ran all of its tests.",
            },
        ]
    found.record("s", chat)
    yield found
    found.close()


@pytest.mark.parametrize("budget", [80, 100, 150, 200, 300, 600])
def test_rules_and_pinned_facts_are_in_every_block(memory: SessionMemory, budget: int) -> None:
    memory.pin("s", "Sentry for errors")
    text = memory.resume("s", budget=budget).text
    assert "Never push to main without a review" in text
    assert "Always write tests first" in text
    assert "Decided: Sentry for errors" in text


def test_a_pinned_fact_stays_in_a_block_that_rules_fill(memory: SessionMemory) -> None:
    for number in range(14):
        memory.remember("s", f"Never touch the accounts of customer number {number} on a Friday")
    memory.pin("s", "Sentry for errors")
    assert "Sentry for errors" in memory.resume("s", budget=300).text


@pytest.mark.parametrize("budget", [80, 150, 300])
def test_a_pinned_fact_stays_in_a_block_that_facts_by_hand_fill(memory: SessionMemory, budget: int) -> None:
    for number in range(14):
        memory.remember("s", f"We run service {'abcdefghijklmn'[number]} on host number {number}")
    memory.pin("s", "Sentry for errors")
    assert "Sentry for errors" in memory.resume("s", budget=budget).text


@pytest.mark.parametrize("budget", [100, 300, 600])
def test_a_pinned_remark_and_a_rule_by_hand_are_in_every_block(memory: SessionMemory, budget: int) -> None:
    """Of what was only said by the way a block states nothing, unless somebody pins it."""
    said = Source(1, "user", "never book automatically")
    passing = Node("note", NodeType.CONCEPT, said.quote, Status.ACTIVE, said, NOTE_CONFIDENCE)
    pinned = replace(passing, pinned=True)
    assert passing.is_note and section_of(passing) is None
    assert not pinned.is_note and section_of(pinned) is Section.ABOUT
    for number in range(14):
        memory.remember("s", f"We run service {'abcdefghijklmn'[number]} on host number {number}")
    memory.remember("s", "Never book automatically", "rule")
    assert "Never book automatically" in memory.resume("s", budget=budget).text


def test_a_long_goal_is_shortened_where_there_is_no_room(memory: SessionMemory) -> None:
    assert f"Goal: build {GOAL}" in memory.resume("s", "full").text
    shown = memory.resume("s", budget=66).text.partition("Goal: ")[2].partition("\n")[0]
    assert shown
    assert len(shown) < len(GOAL)
    assert f"build {GOAL}".startswith(shown)


def test_facts_by_hand_come_first_in_their_section(memory: SessionMemory) -> None:
    memory.remember("s", "We deploy on Nomad")
    memory.pin("s", "Sentry for errors")
    assert "Decided: Sentry for errors; We deploy on Nomad; " in memory.resume("s", "full").text


@pytest.mark.parametrize("budget", [100, 200, 300, 600])
def test_what_is_rejected_by_hand_is_in_small_blocks(memory: SessionMemory, budget: int) -> None:
    memory.invalidate("s", "Celery", "too heavy")
    assert "Rejected: Celery for background jobs - too heavy" in memory.resume("s", budget=budget).text


@pytest.mark.parametrize(("fact", "is_rejected"), [("Celery", True), ("app/part1.py", False), ("goal-1", False)])
def test_only_decisions_and_work_are_rejected(memory: SessionMemory, fact: str, is_rejected: bool) -> None:
    """Of a fact of another type "rejected" would say that somebody turned it down."""
    label = memory.invalidate("s", fact, "misread").after.label
    blocks = [memory.resume("s", budget=budget).text for budget in (100, 300, 600)]
    found = memory.recall("s", label, budget=400).text
    assert [f"Rejected: {label}" in text for text in blocks] == [is_rejected] * 3
    assert [f"rejected: {label}" in found, "misread" in "".join([*blocks, found])] == [is_rejected] * 2


@pytest.mark.parametrize("budget", [150, 200, 300, 600])
def test_the_goal_stays_behind_facts_by_hand(budget: int) -> None:
    said = [
        "I want to sell tickets for the concert of our choir on 12 December.",
        "The concert of our choir is moved to 19 December, because the hall is booked on the 12th.",
        *(f"Use {tool}." for tool in TOOLS),
        *(f"Decided: table {number} is read at {number} in the night." for number in range(30)),
    ]
    with SessionMemory.open() as memory:
        memory.record("s", [{"role": "user", "content": text} for text in said])
        memory.remember("s", "We deploy on Nomad")
        memory.invalidate("s", "Celery", "too heavy")
        assert "Goal: sell tickets" in memory.resume("s", budget=budget).text


BY_HAND = (
    "The board is an STM32WL", "The gateway sits on the cabin roof", "Alerts go out through ntfy",
    "Accounts with a sign-in link by e-mail", "The amplifier is an NAU7802", "The database runs in Linz",
    "The case is printed in ASA", "The swarm alarm rings at 2 kg", "The page uses htmx and uPlot",
)  # fmt: skip


@pytest.mark.parametrize("budget", [300, 400, 600])
def test_facts_by_hand_come_before_quotations_and_other_facts(budget: int) -> None:
    """Also where they take more than the half of a block that other facts may take."""
    said = ["I want to build a monitor for the hives of my sister. Use Go for the server. Never log a name."]
    for number in range(40):
        said += [f"We measured {number * 7} grams in hive {number} after the storm, {number} below the neighbours."]
        said += [f"Use module{number} for the part with number {number}, because the others are too slow for it."]
    with SessionMemory.open() as memory:
        memory.record("s", [{"role": "user", "content": text} for text in said])
        for label in BY_HAND:
            memory.remember("s", label, reason="so that nobody has to guess it later on again")
        memory.invalidate("s", "Go for the server", "we move to Elixir")
        block = memory.resume("s", budget=budget)
        assert block.tokens <= budget
        assert all(label in block.text for label in BY_HAND)
        assert "Rejected: Go for the server - we move to Elixir" in block.text
        assert "Never log a name" in block.text and "Goal: build a monitor" in block.text


@pytest.mark.parametrize("invalid", [False, True])
def test_a_correction_of_another_fact_does_not_mark_the_goal(invalid: bool) -> None:
    """One ordinary word that the old wording had does not make the goal a statement of the corrected fact."""
    said = "My sister keeps bees and I want to build a thing that tells her when a hive swarms. Never log her name."
    with SessionMemory.open() as memory:
        memory.record("s", [{"role": "user", "content": said}])
        fact = memory.remember("s", "SMS thing, ntfy is what she already has")
        if invalid:
            memory.invalidate("s", fact.id, "she has no network there")
        memory.correct("s", fact.id, label="SMS through Twilio")
        (goal,) = (line for line in memory.resume("s", "full").text.splitlines() if line.startswith("Goal: "))
        assert "thing" in goal and "corrected" not in goal


def test_a_goal_that_states_a_corrected_value_is_marked() -> None:
    with SessionMemory.open() as memory:
        memory.record("s", [{"role": "user", "content": "I want to build a booking service with SQLite for the hall."}])
        fact = memory.remember("s", "bookings are kept in sqlite")
        memory.correct("s", fact.id, label="bookings are kept in PostgreSQL")
        assert "for the hall (corrected to bookings are kept in PostgreSQL)" in memory.resume("s", "full").text


def test_the_last_of_several_values_by_hand_is_told(memory: SessionMemory) -> None:
    memory.record("s", [{"role": "user", "content": "Hello there."}])
    for text in ("queue: RabbitMQ", "queue: Kafka", "queue: NATS"):
        memory.remember("s", text)
    assert "queue: NATS (was queue: Kafka" in memory.resume("s", "full").text
