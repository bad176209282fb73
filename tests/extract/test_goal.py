"""What a session is for, when its first message tells it in more than one sentence."""

from __future__ import annotations

import pytest

from tokenmizer_mw.model.node import NodeType, Status

from .talks import labels, talk


@pytest.mark.parametrize(
    ("opening", "goal"),
    [
        ("The label printer jams on long names. Please fix it.", "The label printer jams on long names"),
        ("Hi! I never did databases. I want a small catalogue for my stamps.", "a small catalogue for my stamps"),
        ("6 vans, 2 drivers, one depot. Our company has to plan the routes better.", "plan the routes better"),
        ("Our choir wants to sell tickets online. Can you help me with this?", "wants to sell tickets online"),
        ("Optimise the export. The file format must not change.", "The file format must not change"),
        ("Is there an easy way to stop the scheduler from running twice?", "stop the scheduler from running twice"),
        ("We have to get off the old mail server. Two people, three weeks.", "get off the old mail server"),
        ("The atlas should open saved maps without network. Right now it shows nothing.", "open saved maps without"),
        (
            "TaxTest fails on CI since May and passes here. Fix it please, and don't just skip it.",
            "TaxTest fails on CI",
        ),
        ("Every time I open the album it asks again, I want to have it so that it asks once.", "so that it asks once"),
        ("Your task is to first, make the relay safe for small groups.", "make the relay safe for small groups"),
        ("/architect when I start the relay I get an error in the log", "when I start the relay I get an error"),
        (
            "Moin. Unser Build dauert 12 Minuten. Ich soll herausfinden, ob sich ein Cache lohnt.",
            "ob sich ein Cache lohnt",
        ),
        (
            "Bonjour, je dois préparer le dossier de l'atelier. Il y a un vieux texte.",
            "préparer le dossier de l'atelier",
        ),
        (
            "Hello! I need a hand planning a rota for our rowing club. We are twelve.",
            "planning a rota for our rowing club",
        ),
        (
            "I'm not a programmer but my niece is. Help me write down what the booking page has to do.",
            "write down what the booking page has to do",
        ),
    ],
)
def test_a_goal_is_told_by_the_sentence_that_names_it(opening: str, goal: str) -> None:
    (found,) = labels(talk(f"u: {opening}"), NodeType.GOAL)
    assert goal in found


@pytest.mark.parametrize(
    ("opening", "goal"),
    [
        ("How do I sort the stamps by year?", "sort the stamps by year"),
        ("how can we make the importer faster", "make the importer faster"),
        ("Is it possible to export the catalogue as PDF?", "export the catalogue as PDF"),
        ("Is there a quick fix for the flaky login test?", "a quick fix for the flaky login test"),
        ("Do you know how to set up a mail relay for two offices?", "set up a mail relay for two offices"),
        ("I wonder how I can speed up the nightly build.", "speed up the nightly build"),
        ("What would be the best way to cache the answers?", "cache the answers"),
    ],
)
def test_a_question_that_wants_something_done_is_told_as_that(opening: str, goal: str) -> None:
    assert labels(talk(f"u: {opening}"), NodeType.GOAL) == [goal]


@pytest.mark.parametrize(
    "opening",
    [
        "Why is the sky blue in the morning?",
        "Which database suits the stamp catalogue?",
        "How does the scheduler choose a worker?",
        "Does the relay support two offices?",
        "Was ist der Unterschied zwischen TCP und UDP?",
    ],
)
def test_a_question_that_only_wants_to_know_stays_a_question(opening: str) -> None:
    assert labels(talk(f"u: {opening}"), NodeType.GOAL) == [opening]


def test_a_symptom_that_is_the_goal_is_an_error_as_well() -> None:
    graph = talk("u: The label printer fails on long names")
    assert labels(graph, NodeType.ERROR, Status.ACTIVE) == ["The label printer fails on long names"]


def test_a_question_that_wants_something_stays_the_goal() -> None:
    asked = "u: Any idea why the nightly backup of the photo archive is empty?"
    (goal,) = labels(talk(asked, "a: Yes.", "u: Add a checksum to every archive that is written"), NodeType.GOAL)
    assert "nightly backup" in goal


@pytest.mark.parametrize(
    ("opening", "goal"),
    [
        ("Replace the parser; it's in tools. Sheets must keep their order, three teams use it", "Replace the parser"),
        ("expose the wiki (2 pods, arm64) to the internet with real certificates", "expose the wiki to the internet"),
        (
            "move the slow checks of the importer to a folder so they don't end up in the package",
            "move the slow checks of the importer to a folder",
        ),
        ("The audit says that our tokens can't be taken back, which, yes", "The audit says that our tokens can't"),
    ],
)
def test_a_goal_is_told_without_what_is_only_said_about_it(opening: str, goal: str) -> None:
    (found,) = labels(talk(f"u: {opening}"), NodeType.GOAL)
    assert found.startswith(goal)
    assert not any(aside in found for aside in ("three teams", "arm64", "end up", "which"))


def test_what_is_wrong_stands_beside_a_short_goal() -> None:
    (goal,) = labels(talk("u: Our nightly import fails at random. Find a way to see why."), NodeType.GOAL)
    assert "nightly import fails" in goal


def test_a_plan_that_is_handed_over_is_named_by_its_title() -> None:
    plan = (
        "Implement the following plan:\n\n# Plan: Add Export Formats to the Album\n\n## Context\n\nGoal: more formats"
    )
    assert labels(talk(f"u: {plan}"), NodeType.GOAL) == ["Add Export Formats to the Album"]


def test_what_a_template_hands_over_is_the_goal() -> None:
    filled = (
        "## User Input\n\n```text\nShow a number beside each line of the scan\n```\n\nYou must consider it.\n\n1. Do it"
    )
    assert labels(talk(f"u: {filled}"), NodeType.GOAL) == ["Show a number beside each line of the scan"]


@pytest.mark.parametrize(
    "chore", ["commit this please", "run the tests", "prepare a commit title for all we have made"]
)
def test_a_chore_gives_way_to_the_first_sizable_order(chore: str) -> None:
    graph = talk(f"u: {chore}", "a: Done.", "u: Add a retry with backoff to the webhook sender")
    assert labels(graph, NodeType.GOAL, Status.ACTIVE) == ["Add a retry with backoff to the webhook sender"]


@pytest.mark.parametrize(
    ("later", "goal"),
    [
        ("the point is that I can hand this to the front desk on Monday", "hand this to the front desk on Monday"),
        ("Ada saw it and now we're supposed to support three languages", "support three languages"),
    ],
)
def test_a_goal_that_is_told_later_takes_the_place_of_the_first(later: str, goal: str) -> None:
    graph = talk("u: docker build fails. help", "a: Which base image?", f"u: {later}")
    assert labels(graph, NodeType.GOAL, Status.ACTIVE) == [goal]


def test_what_an_assistant_calls_the_goal_is_none() -> None:
    graph = talk("u: hello there", "a: Goal: rewrite the whole album.", "u: Add a checksum to every archive we write")
    assert labels(graph, NodeType.GOAL) == ["Add a checksum to every archive we write"]


def test_lines_of_a_pasted_log_are_no_goal() -> None:
    log = "2s\nRun python -m pytest -q\n..F....  [100%]\ntmp_path = PosixPath('/tmp/pytest-0')\nE   KeyError: 'x'"
    assert labels(talk(f"u: {log}"), NodeType.GOAL) == []


def test_a_goal_that_was_only_asked_gives_way_without_a_trace() -> None:
    graph = talk(
        "u: What does the warning about the loop mean?",
        "a: Nothing.",
        "u: Add a retry to the webhook sender with a log",
    )
    assert [node.status for node in graph.nodes(NodeType.GOAL)] == [Status.ARCHIVED, Status.ACTIVE]
    assert not list(graph.transitions())


def test_what_is_decided_later_is_no_goal() -> None:
    graph = talk(
        "u: Let's work on a hardening pass.", "a: Sure.", "u: I think we should use mTLS between services here."
    )
    assert labels(graph, NodeType.GOAL) == ["a hardening pass"]


def test_alternatives_that_a_goal_names_are_no_dependencies() -> None:
    graph = talk("u: Please build a nightly import with Airflow, Dagster or Prefect on PostgreSQL for two people.")
    assert labels(graph, NodeType.DEPENDENCY) == ["PostgreSQL"]


def test_what_is_being_made_takes_the_place_of_a_first_question() -> None:
    graph = talk(
        "u: Quick question: which library reads calendars?",
        "a: `icalendar` is common; `ics` is smaller.",
        "u: Fine. We're building a duty plan for our big shelter kitchen.",
    )
    assert labels(graph, NodeType.GOAL, Status.ACTIVE) == ["We're building a duty plan for our big shelter kitchen"]
