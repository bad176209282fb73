"""What becomes of the other facts that state a value which a message replaced."""

from __future__ import annotations

import pytest

from tokenmizer_mw.extract.resolve.restatements import find_old_values
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import DecisionKind, NodeType, Status

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


@pytest.mark.parametrize(
    ("rule", "permission"),
    [
        ("Never push to the release branch.", "You may push to the release branch again."),
        ("Don't touch the fixtures folder.", "you can touch the fixtures folder now"),
        ("Never write into the archive.", "It's fine to write into the archive from now on."),
        ("Niemals auf den Hauptzweig pushen.", "Du darfst jetzt wieder auf den Hauptzweig pushen."),
    ],
)
def test_a_permission_ends_what_the_user_forbade(rule: str, permission: str) -> None:
    graph = talk("u: Please fix the parser of our tool.", "a: Gladly.", f"u: {rule}", "a: OK.", f"u: {permission}")
    assert not any(label.casefold().startswith(("never", "don't", "niemals")) for label in in_force(graph))


def test_a_permission_for_something_else_ends_nothing() -> None:
    graph = talk(
        "u: Please fix the parser of our tool.",
        "a: Gladly.",
        "u: Never push to the release branch.",
        "a: OK.",
        "u: You may delete the old screenshots now.",
    )
    assert any("release branch" in label for label in in_force(graph))


def test_a_rule_of_the_user_replaces_no_estimate_of_the_assistant() -> None:
    graph = talk(
        "u: Hello, let's make a weather station.",
        "a: One reading every ten minutes is about 144 rows a day, so the disk will cope.",
        "u: The sensor must never wake up more than once every ten minutes.",
    )
    rules = [node for node in graph.nodes(NodeType.DECISION, Status.ACTIVE) if node.kind is DecisionKind.RULE]
    assert [node.label for node in rules] == ["The sensor must never wake up more than once every ten minutes"]


def test_a_change_of_one_clause_leaves_what_others_state_of_the_rest() -> None:
    graph = talk(
        "u: Let's plan the reading week. We hold it in the library and the flyers are printed by Lumen.",
        "a: The library for the readings, Lumen for the flyers.",
        "u: Scrap Lumen, have the flyers printed by Halden",
    )
    labels = " | ".join(in_force(graph))
    assert "library for the readings" in labels
    assert "Lumen for the flyers" not in labels


def test_of_two_products_in_one_label_only_the_replaced_one_goes() -> None:
    graph = talk(
        "u: Flask with SQLite please.",
        "a: Flask with SQLite.",
        "u: Two people write at once, so move it to PostgreSQL",
    )
    labels = in_force(graph)
    assert "Flask" in labels
    assert not any("SQLite" in label for label in labels)


def test_what_somebody_says_of_itself_is_replaced_by_no_plain_statement() -> None:
    graph = talk(
        "u: I run a small pottery and want people to book courses online. My sister helps me.",
        "a: Good. Shall people pay when they book?",
        "u: No online payment, they pay at the pottery",
    )
    assert not graph.transitions()


def test_turning_down_one_thing_for_another_names_both() -> None:
    graph = talk(
        "u: The prints come from Lumen.",
        "a: Prints from Lumen, noted.",
        "u: I've decided against Lumen and for Halden",
    )
    assert any("Halden" in label for label in in_force(graph))
    assert not any("Lumen" in label for label in in_force(graph))
