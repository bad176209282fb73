"""What a user only suggests and an assistant goes along with."""

from __future__ import annotations

import pytest

from tokenmizer_mw import SessionMemory

from .talks import RULES_ONLY

TAKEN = [
    ("With all those writes, maybe Cassandra is worth a try.", "Sounds good, going with that.", "Cassandra"),
    ("Not my field, but a flat file layout would probably work better.", "OK, running with it.", "a flat file layout"),
    ("What about a nightly cron instead?", "Good idea, let's do that.", "a nightly cron"),
    ("Could we use Meilisearch for the catalogue?", "Agreed, that works.", "Meilisearch for the catalogue"),
]


def decided(*said: str) -> list[str]:
    memory = SessionMemory.open("memory://", RULES_ONLY)
    roles = ("user", "assistant")
    memory.record("s", [{"role": roles[at % 2], "content": text} for at, text in enumerate(said)])
    return [node.label for node in memory.graph("s").nodes() if node.type == "decision" and node.status == "active"]


@pytest.mark.parametrize(("suggested", "taken", "label"), TAKEN)
def test_a_suggestion_that_is_taken_up_is_decided(suggested: str, taken: str, label: str) -> None:
    assert label in decided("Build a shop for used bikes", "Sure.", suggested, taken)


@pytest.mark.parametrize(
    "reply",
    ["That could work, but it is slow.", "Let me look at what it costs.", "Sure, I can explain how that works."],
)
def test_a_suggestion_that_is_not_taken_up_is_not(reply: str) -> None:
    assert decided("Build a shop for used bikes", "Sure.", "maybe Cassandra is worth a try", reply) == []


def test_a_remark_is_no_suggestion() -> None:
    assert (
        decided("Build a shop for used bikes", "Sure.", "Maybe we talk tomorrow.", "Sounds good, let's do that.") == []
    )


def test_how_things_stand_tells_what_was_decided() -> None:
    said = ("Build a shop for used bikes", "Sure.", "Any issues so far?", "Decided: Postgres for the offers.")
    assert decided(*said) == ["Postgres for the offers"]


def test_decided_is_decided_whatever_was_asked() -> None:
    said = (
        "Build a shop for used bikes",
        "Sure.",
        "And how do you find duplicates?",
        "Decided: compare frame numbers.",
    )
    assert decided(*said) == ["compare frame numbers"]


def test_one_that_takes_up_the_last_of_several_suggestions() -> None:
    asked = "Maybe Redis is an option. How about Memcached instead?"
    assert decided("Build a shop", "Sure.", asked, "Sure, I'll use that.") == ["Memcached"]
    asked = "Maybe Redis is an option. How about a cron job for the cleanup?"
    assert len(decided("Build a shop", "Sure.", asked, "Sure, I'll use both.")) == 2
