"""What people say in ordinary words: standing rules, corrections, fragments, what belongs together."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tokenmizer_mw.extract.derive import derive
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Status, Trust
from tokenmizer_mw.settings import Settings

SPEAKERS = {"u": Role.USER, "a": Role.ASSISTANT}


def judged(messages: Sequence[Message]) -> SessionGraph:
    graph = SessionGraph()
    for event in derive(graph, list(enumerate(messages, 1)), [], Settings()):
        graph.apply(event)
    return graph


def talk(*lines: str) -> SessionGraph:
    return judged([Message(SPEAKERS[line[0]], line[3:]) for line in lines])


def labels(graph: SessionGraph, type_: NodeType, *statuses: Status) -> list[str]:
    return [node.label for node in graph.nodes(type_) if not statuses or node.status in statuses]


def rules(graph: SessionGraph) -> list[Node]:
    return [node for node in graph.nodes(NodeType.DECISION) if node.kind is DecisionKind.RULE]


@pytest.mark.parametrize(
    "sentence",
    [
        "members' phone numbers must never appear on any page that isn't behind the admin login",
        "Phone numbers must never appear on public pages.",
        "We must not store credit card numbers.",
        "Secrets should never be committed.",
        "Nobody may see the phone numbers except the admin.",
        "Make sure all dates are shown as DD.MM.YYYY.",
        "I don't want any tracking scripts on the site.",
        "I don't want anyone to see the addresses.",
        "Members are not allowed to see each other's addresses.",
        "One thing up front: the phone numbers must never appear on a public page.",
        "Important: secrets may only be read from the environment.",
    ],
)
@pytest.mark.parametrize("before", [(), ("u: Build a booking page", "a: Gladly.")], ids=["first", "later"])
def test_rules_in_ordinary_words(sentence: str, before: tuple[str, ...]) -> None:
    graph = talk(*before, f"u: {sentence}")
    (rule,) = rules(graph)
    assert (rule.status, rule.source.trust) == (Status.ACTIVE, Trust.STATED)
    assert graph.nodes(NodeType.ERROR) == []
    assert len(graph.nodes(NodeType.GOAL)) == (1 if before else 0)
    assert "up front" not in rule.label


@pytest.mark.parametrize(
    "sentence",
    ["I don't want to lose anything", "This should never have happened", "Nobody can log in", "I must not forget that"],
)
def test_no_rules(sentence: str) -> None:
    graph = talk("u: Build a booking page", "a: Gladly.", f"u: {sentence}")
    assert rules(graph) == []
    assert graph.nodes(NodeType.DECISION) == []


def test_background_is_no_goal_the_wish_is() -> None:
    graph = talk(
        "u: I run the tool library in our neighbourhood: 200 members, 300 tools, all in a spreadsheet. I'd like a"
        " little web thing where members reserve tools and I see what's overdue."
    )
    assert labels(graph, NodeType.GOAL) == ["a little web thing where members reserve tools and I see what's overdue"]
