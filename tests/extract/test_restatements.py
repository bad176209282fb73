"""What becomes of the other facts that state a value which a message replaced."""

from __future__ import annotations

import pytest

from tokenmizer_mw.extract.resolve.restatements import find_old_values
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import NodeType, Status

from .talks import talk


def in_force(graph: SessionGraph) -> list[str]:
    return [node.label for node in graph.nodes(NodeType.DECISION, Status.ACTIVE)]


@pytest.mark.parametrize(
    ("old", "new", "quote", "typed", "names"),
    [
        ("closing at 22:00", "closing at 23:00 now", "closing at 23:00 now", {("time", "22:00")}, set()),
        ("the bucket is in ap-south-1", "ap-east-2", "move it to ap-east-2", set(), {"apsouth1"}),
        ("the hall is Zum Anker", "Kornhof takes us", "Anker is full. Kornhof takes us", set(), set()),
        ("we print at Lumen", "so Halden prints it", "We lost Lumen, so Halden prints it", set(), {"lumen"}),
        ("30 chairs and 4 tables", "6 tables", "make it 6 tables", {("tabl", "4")}, set()),
        ("the walls are blue", "we paint them green", "we paint them green", set(), set()),
    ],
)
def test_old_values_are_those_that_another_one_replaces(
    old: str, new: str, quote: str, typed: set[tuple[str, str]], names: set[str]
) -> None:
    found = find_old_values(old, new, quote)
    assert (set(found.typed), set(found.names)) == (typed, names)


def test_a_restatement_by_the_assistant_gives_way_with_the_statement() -> None:
    graph = talk(
        "u: Please plan our street fair with me.",
        "a: Gladly.",
        "u: The music stops at 22:00, and the tombola costs 3 euros a ticket.",
        "a: End of the music at 22:00, tickets at 3 euros.",
        "u: the music stops at 23:00 now",
    )
    assert not any("22:00" in label and "23:00" not in label for label in in_force(graph))
    assert any("3 euros" in label for label in in_force(graph))


def test_a_fact_that_states_more_keeps_the_rest() -> None:
    graph = talk(
        "u: We set up a telemetry service together.",
        "a: Gladly.",
        "u: We stay on Jenkins, the dashboards run in Grafana, and everything lives in ap-south-1.",
        "a: Noted.",
        "u: move everything from ap-south-1 to ap-east-2, it is cheaper",
    )
    assert any("Grafana" in label for label in in_force(graph))
    assert not any("ap-south-1" in label and "ap-east-2" not in label for label in in_force(graph))


def test_a_statement_with_another_value_is_another_fact() -> None:
    graph = talk(
        "u: Please plan our household with me.",
        "a: Gladly.",
        "u: We decided on laundry on Saturdays.",
        "a: Laundry on Saturdays.",
        "u: we do the laundry on Fridays now",
    )
    labels = in_force(graph)
    assert any("Fridays" in label for label in labels)
    assert not any("Saturdays" in label and "Fridays" not in label for label in labels)


def test_a_change_that_names_nothing_takes_the_fact_it_is_about() -> None:
    """Not the newest fact of any kind."""
    graph = talk(
        "u: Please plan our wedding with me.",
        "a: Gladly. What is settled?",
        "u: We decided that a string quartet plays. Invitations go out on paper.",
        "a: String quartet, invitations on paper.",
        "u: the quartet has cancelled on us, so it's a pianist now",
    )
    labels = " | ".join(in_force(graph))
    assert "paper" in labels and "pianist" in labels
