"""What there shall not be is a rule, unless it was put up before: then it is turned down."""

from __future__ import annotations

import pytest

from tokenmizer_mw.model.node import NodeType, Status

from .talks import labels, talk

BEGUN = ("u: Help me with the leaflet of our choir", "a: Gladly. Which parts does it have?")


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("no glossy paper please", "no glossy paper"),
        ("short sentences, no capitals", "short sentences, no capitals"),
        ("Style: short sentences, no capitals.", "short sentences, no capitals"),
        ("Keine fremden Schriften", "Keine fremden Schriften"),
        ("sin fotos de niños", "sin fotos de niños"),
    ],
)
def test_what_there_shall_not_be(said: str, rule: str) -> None:
    assert rule in labels(talk(*BEGUN, f"u: {said}"), NodeType.DECISION, Status.ACTIVE)


@pytest.mark.parametrize(
    "said", ["no errors since monday", "no photos came with 12 of the mails", "hm no wait, the date is open", "no MQTT"]
)
def test_what_there_was_not(said: str) -> None:
    assert not labels(talk(*BEGUN, f"u: {said}"), NodeType.DECISION, Status.ACTIVE)


def test_what_was_put_up_is_turned_down() -> None:
    graph = talk(*BEGUN[:1], "a: A frame around the photos would look festive.", "u: no frame")
    assert labels(graph, NodeType.DECISION) == ["frame"]
    assert not labels(graph, NodeType.DECISION, Status.ACTIVE)


@pytest.mark.parametrize("said", ["Tickets last 30 days. Help me to sell more.", "Help me: page 3 prints 418 copies."])
def test_how_things_are_at_the_beginning_was_not_decided_here(said: str) -> None:
    assert not labels(talk(f"u: {said}"), NodeType.DECISION, Status.ACTIVE)
