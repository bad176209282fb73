"""Values that users give in plain words: what they are, what they take the place of, and what is none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tokenmizer_mw.extract.derive import derive
from tokenmizer_mw.extract.match.assignment_patterns import WAYS, ValueWay
from tokenmizer_mw.extract.match.value_assignments import find_assignments
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.values import alike, value_at_start, values_in
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.node import NodeType, Status
from tokenmizer_mw.settings import Settings

SPEAKERS = {"u": Role.USER, "a": Role.ASSISTANT}
OPENING = ("u: Please help me to plan and run the reading club of the library.", "a: Gladly, I have the notes open.")


def talk(*lines: str) -> SessionGraph:
    graph = SessionGraph()
    messages = [Message(SPEAKERS[line[0]], line[3:]) for line in (*OPENING, *lines)]
    for event in derive(graph, list(enumerate(messages, 1)), [], Settings()):
        graph.apply(event)
    return graph


def steps(graph: SessionGraph) -> list[tuple[str, str, str]]:
    """What decisions replaced: old, new and reason; a goal that gives way to the next one is left out."""
    known = {
        node.id: f"{node.label} {node.value}".casefold() for node in graph.nodes() if node.type is not NodeType.GOAL
    }
    found = [step for step in graph.transitions() if step.old in known and step.new in known]
    return [(known[step.old], known[step.new], step.reason.casefold()) for step in found]


def in_force(graph: SessionGraph) -> str:
    return " | ".join(node.label for node in graph.nodes(NodeType.DECISION, Status.ACTIVE)).casefold()


REPLACED = [
    ("the proxy listens on port 9000", "9000 is used by the scanner. use 9210 instead", "9000", "9210", "scanner"),
    ("set the pool size to 10", "set the pool size to 25, the workers wait too long", "10", "25", "wait"),
    (
        "The deadline is June 4.",
        "The client asked for more time, so the deadline moves to June 18.",
        "june 4",
        "18",
        "more",
    ),
    ("The meeting is on Tuesday.", "Move the meeting to Thursday because Ola is away on Tuesday.", "tue", "thu", "ola"),
    ("the rate limit is 20", "the rate limit should be 50, not 20", "20", "50", ""),
    ("call it Phoenix", "let's call it Atlas instead of Phoenix", "phoenix", "atlas", ""),
    ("Our budget is 12,000 euros.", "The board cut it. Our budget is 9,500 euros now.", "12,000", "9,500", "board"),
    ("We ship on April 2.", "QA found a leak, so we ship on April 9.", "april 2", "april 9", "leak"),
    (
        "the session timeout is 30 minutes",
        "make the session timeout 10 minutes, audit wants it short",
        "30",
        "10",
        "audit",
    ),
    ("Our host is web1.example", "typo, it's web2.example", "web1", "web2", ""),
    ("set the batch size to 64", "no, I meant 32", "64", "32", ""),
    ("Our contact is called Lena Marsh", "sorry, Lena Marks, with a k", "marsh", "marks", ""),
    ("Tickets cost 15 euros.", "Nobody buys at 15. Tickets cost 12 euros from today.", "15", "12", "nobody"),
    ("the retention is 90 days", "legal wants less, so the retention is 30 days", "90 days", "30 days", "legal"),
    ("the region is us-west-2", "most users sit in Asia. move it to ap-south-1", "us-west-2", "ap-south-1", "asia"),
    (
        "We host the blog on Netlify.",
        "We're leaving Netlify for Vercel because builds queue up.",
        "netlify",
        "vercel",
        "queue",
    ),
    ("For state we'll use Redux.", "Rip out Redux and put in MobX.", "redux", "mobx", ""),
    ("Standup starts at 9:30.", "9:30 is too early for Lisbon. Standup starts at 10:30.", "9:30", "10:30", "lisbon"),
    ("We recruit 60 participants.", "The grant was cut, so we recruit 40 participants.", "60", "40", "cut"),
    (
        "My goal for the book is 1,500 words a day.",
        "I can't do that with a baby. Lower it to 800 words a day.",
        "1,500",
        "800",
        "baby",
    ),
    ("make the accent color teal", "make the accent color coral, teal looks cold", "teal", "coral", "cold"),
    (
        "answer in French please",
        "my colleague reads along, so answer in English from here on",
        "french",
        "english",
        "reads",
    ),
    ("The launch is on May 5.", "push the launch from May 5 to May 12", "may 5", "may 12", ""),
    ("the budget is 12k", "budget: 12k -> 15k", "12k", "15k", ""),
    ("the interval is 5 minutes", "5 minutes is too often. 20 minutes it is", "5 minutes", "20", "often"),
]


@pytest.mark.parametrize(("first", "then", "old", "new", "why"), REPLACED)
def test_a_new_value_takes_the_place_of_the_one_before(first: str, then: str, old: str, new: str, why: str) -> None:
    graph = talk(f"u: {first}", "a: All right.", f"u: {then}", "a: Done.")
    assert [step for step in steps(graph) if old in step[0] and new in step[1] and why in step[2]]
    assert new in in_force(graph)


def test_words_that_name_nothing_do_not_reach_far_back() -> None:
    first, then = "u: My goal for the book is 1,500 words a day.", "u: Lower it to 800 words a day."
    pages = [line for n in range(6) for line in (f"u: Now write page number {n} please.", f"a: Page {n} is written.")]
    assert steps(talk(first, "a: All right.", then)) != []
    assert steps(talk(first, "a: All right.", *pages, then)) == []


def test_a_chain_keeps_every_link() -> None:
    graph = talk(
        *("u: set the request timeout to 4 seconds", "a: OK."),
        *("u: too short for the report, make the timeout 40 seconds", "a: OK."),
        *("u: the gateway gives up at 30. make the timeout 25 seconds", "a: OK."),
    )
    found = steps(graph)
    assert [("4" in old, "40" in new) for old, new, _ in found[:1]] == [(True, True)]
    assert ("40 seconds" in found[1][0], "25 seconds" in found[1][1]) == (True, True)


def test_what_was_given_up_comes_back() -> None:
    graph = talk(
        *("u: log level info in production", "a: OK."),
        *("u: set the log level to debug, I chase a bug", "a: OK."),
        *("u: put the log level back to info", "a: OK."),
    )
    assert [("info" in old, "info" in new) for old, new, _ in steps(graph)] == [(True, False), (False, True)]


HOLD = [
    ("the frontend runs on port 5100", "the backend runs on port 8100"),
    ("Juniors meet on Mondays.", "Seniors meet on Fridays."),
    ("We support Chrome.", "We also support Edge, the owner uses it."),
    ("free users get a limit of 10 exports per day", "paying users get a limit of 500 exports per day"),
    ("in staging use the test key of the bank", "in production use the live key of the bank"),
    ("use Postgres for the ledger", "use DuckDB for the reports"),
    ("The workshop is in Porto.", "The deadline is June 3."),
    ("The launch is on May 5.", "The rent is 900 euros."),
]


@pytest.mark.parametrize(("first", "then"), HOLD)
def test_values_of_different_things_hold_side_by_side(first: str, then: str) -> None:
    assert not steps(talk(f"u: {first}", "a: Noted.", f"u: {then}", "a: Noted."))


PASSING = [
    "The tests took 42 seconds.",
    "it failed 3 times on Tuesday",
    "would 30 seconds be enough?",
    "if we moved it to Friday, who could come?",
    "maybe 5.2 next year",
    "41 rows idle in transaction, oldest 00:26:10",
    'text = text.encode("ascii", "ignore")',
    "my old team moved from Slack to Zulip and hated it",
    "I suspect we have 3 leaks",
    "TODO: roll out in May, not before 16 May",
    "2 files changed, 10 insertions",
]


@pytest.mark.parametrize("text", PASSING)
def test_numbers_in_passing_change_nothing(text: str) -> None:
    graph = talk("u: the timeout is 30 seconds", "a: OK.", "u: The review is on Monday.", "a: OK.", f"u: {text}")
    assert not steps(graph)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_every_way_reads_its_example(way: ValueWay) -> None:
    assert find_assignments(way.example)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_no_value_stands_alone_in_a_counter_example(way: ValueWay) -> None:
    assert not [said for said in find_assignments(way.counter) if said.alone]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("May 12", "date"),
        ("24 de maio", "date"),
        ("04:30", "time"),
        ("Fridays", "day"),
        ("$1,200", "money"),
        ("15 percent", "share"),
        ("90 days", "duration"),
        ("80 chairs", "amount"),
        ("eu-central-1", "code"),
        ("Postgres", "tool"),
        ("Ada Quist", "name"),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    assert [value.kind for value in values_in(text)] == [kind]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", None),
        ("use Postgres", None),
        ("Postgres for orders", "Postgres"),
        ("sqlite", "sqlite"),
        ("monday", "monday"),
        ("8080 now", "8080"),
    ],
)
def test_the_value_that_a_text_begins_with(text: str, found: str | None) -> None:
    value = value_at_start(text)
    assert (value.text if value is not None else None) == found
    assert value == next((one for one in values_in(text) if one.start == 0), None)


def test_places_count_characters() -> None:
    text = "über «größe»: ab 12:30 \ud800 œuvre nach Bern"
    found = [(value.text, value.start) for value in values_in(text)]
    assert found == [("12:30", text.index("12:30")), ("Bern", text.index("Bern"))]


def test_only_values_of_one_kind_are_alike() -> None:
    port, day, chairs, words = (values_in(text)[0] for text in ("8080", "Friday", "80 chairs", "80 words"))
    assert not alike(port, day)
    assert not alike(chairs, words)
    assert alike(chairs, values_in("90 chairs")[0])


@pytest.mark.parametrize("unit", ["move it to 5, ", "a: b -> c ", "the x is 4 and ", "use "])
def test_reading_is_linear(unit: str, growth: Callable[[Callable[[str], object], str, int], float]) -> None:
    assert growth(find_assignments, unit, 20_000) < 3.5
