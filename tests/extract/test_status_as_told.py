"""What is told as half well stands as what fails, whoever says so; marked statements count without a table's help."""

from __future__ import annotations

import pytest

from tests.extract.talks import labels, talk
from tokenmizer_mw.model.node import NodeType, Status

OPENING = ("u: Help me with the web shop backend.", "a: Sure, what do you need?")
OPEN = (Status.ACTIVE, Status.PENDING, Status.FAILED)


@pytest.mark.parametrize("speaker", ["u", "a"])
@pytest.mark.parametrize(
    "said",
    ["All tests pass except test_vat", "It works locally but not in CI", "2 pass, 3 still fail", "40 passed, 1 failed"],
)
def test_what_fails_in_half_of_a_sentence_is_open(speaker: str, said: str) -> None:
    graph = talk(*OPENING, f"{speaker}: {said}.")
    assert said in labels(graph, NodeType.ERROR, *OPEN)
    assert labels(graph, NodeType.TASK, Status.COMPLETED) == []


@pytest.mark.parametrize("said", ["All tests pass in CI", "40 passed, 0 failed", "It works on each runner"])
def test_what_goes_well_is_no_error(said: str) -> None:
    assert labels(talk(*OPENING, f"a: {said}."), NodeType.ERROR) == []


@pytest.mark.parametrize("speaker", ["u", "a"])
@pytest.mark.parametrize("marker", ["Defect", "Bug found", "FAIL", "ERROR", "Known issue"])
def test_a_marked_error_counts_from_both_speakers(speaker: str, marker: str) -> None:
    graph = talk(*OPENING, f"{speaker}: {marker}: the nightly import chokes on empty rows.")
    assert labels(graph, NodeType.ERROR, *OPEN) == ["the nightly import chokes on empty rows"]


def test_a_line_of_a_log_is_no_sentence() -> None:
    graph = talk(*OPENING, 'u: ERROR: relation "ratings" = {missing} at /srv/db.js:5')
    assert not any("relation" in label and "=" in label for label in labels(graph, NodeType.TASK))


@pytest.mark.parametrize("speaker", ["u", "a"])
@pytest.mark.parametrize("when", ["an hour ago", "yesterday", "this morning"])
def test_what_got_merged_is_done(speaker: str, when: str) -> None:
    done = labels(talk(*OPENING, f"{speaker}: The export page got merged {when}."), NodeType.TASK, Status.COMPLETED)
    assert any("export page" in label for label in done)


@pytest.mark.parametrize("said", ["Fixed the login bug", "I fixed the login bug", "We solved the timeout problem"])
def test_what_a_user_has_fixed_is_done(said: str) -> None:
    graph = talk(*OPENING, f"u: {said}.")
    assert labels(graph, NodeType.ERROR, *OPEN) == []
    assert len(labels(graph, NodeType.TASK, Status.COMPLETED)) == 1


def test_what_nobody_reported_before_it_was_fixed_is_known_as_fixed() -> None:
    graph = talk(*OPENING, "u: The flash wear problem is fixed.")
    assert labels(graph, NodeType.ERROR, Status.COMPLETED) == ["The flash wear problem"]


def test_a_test_that_is_named_behind_except_is_an_open_error() -> None:
    assert labels(talk(*OPENING, "u: all green except TestNestedFilter"), NodeType.ERROR, *OPEN)


@pytest.mark.parametrize(
    ("said", "option"),
    [
        ("we decided against a queue, nobody can run one", "queue"),
        ("we're not doing websockets, way over the top for us", "websockets"),
    ],
)
def test_what_is_decided_against_is_rejected(said: str, option: str) -> None:
    assert option in labels(talk(*OPENING, f"u: {said}"), NodeType.DECISION, Status.INVALIDATED)


def test_what_an_answer_says_it_could_not_do_stays_open() -> None:
    refused = (
        "The list could not be opened: it has a password that nobody told me. I need that password before I can write"
        " the import. Tell me when it is there, and until then I go on with the calendar and its colours for each room."
    )
    done = refused.replace("could not be opened: it has a password that nobody told me", "has 40 rows, all read")
    done = done.replace("I need that password before I can write the import.", "The import is in lists.py.")
    for answer, is_open in ((refused, True), (done, False)):
        graph = talk(
            "u: Build the hotel page",
            "a: Here.",
            "u: Write the import of the old list of guests.",
            f"a: {answer}",
            "u: How is the weather?",
        )
        order = next(node for node in graph.nodes(NodeType.TASK) if node.label.startswith("Write the import"))
        assert order.open is is_open


def test_what_is_put_off_to_some_day_stays_open() -> None:
    said = "we'll need a smoke alarm too, at some point, when a room gets too warm"
    graph = talk(
        "u: Build the hotel page", "a: Here.", f"u: {said}", "a: Noted, I come back to it.", "u: next, the menu"
    )
    assert len(labels(graph, NodeType.TASK, Status.PENDING)) == 1


def test_a_plan_is_not_told_with_the_end_of_a_long_sentence() -> None:
    graph = talk(
        "u: Build the hotel page",
        "a: Here.",
        "u: Write the import of the list.",
        "a: I could not read it. Such a thing usually takes an hour or two the first time, and much less the second"
        " time, because most of the work goes into finding out whom to ask.",
        "u: I'll sort that out with the porter tomorrow.",
    )
    assert not [label for label in labels(graph, NodeType.TASK) if "because" in label or label.startswith("not ")]


HALVES = [
    ("I fixed the gallery but not the contact form.", "contact form", NodeType.ERROR),
    ("The gallery is fixed, the contact form isn't.", "contact form", NodeType.ERROR),
    ("The posters are printed, the flyers aren't.", "flyers", NodeType.TASK),
    ("Got the gallery working, the map not yet.", "map", NodeType.TASK),
    ("Done with the posters, flyers next.", "flyers", NodeType.TASK),
    ("The posters are finished; now the flyers", "flyers", NodeType.TASK),
    ("The search works, the filter doesn't.", "filter", NodeType.ERROR),
    ("Green on the laptop, red on the tablet.", "tablet", NodeType.ERROR),
    ("One of the leaks is gone, the one under the sink remains.", "sink", NodeType.ERROR),
    ("About half of the letters are translated.", "letters", NodeType.TASK),
    ("The move is halfway through.", "move", NodeType.TASK),
    ("Everything is packed apart from the lamps.", "lamps", NodeType.TASK),
    ("The permit is waiting for Ines.", "permit", NodeType.TASK),
    ("Die Suche geht, der Filter nicht.", "Filter", NodeType.ERROR),
    ("Die Plakate sind gedruckt, die Karten noch nicht.", "Karten", NodeType.TASK),
    ("Les affiches sont terminées, les cartes pas encore.", "cartes", NodeType.TASK),
    ("La búsqueda funciona, el filtro no.", "filtro", NodeType.ERROR),
]


@pytest.mark.parametrize(("said", "thing", "type_"), HALVES)
def test_what_is_not_done_beside_what_is_stands_open(said: str, thing: str, type_: NodeType) -> None:
    graph = talk(*OPENING, f"u: {said}")
    assert [label for label in labels(graph, type_, *OPEN) if thing in label], said


@pytest.mark.parametrize(
    "said",
    [
        "All 40 tests pass, 0 failures.",
        "If the search works, we print the posters.",
        "The posters are printed, thanks to Ines.",
        "The kids have gone on strike, no more soup.",
    ],
)
def test_what_tells_nothing_open_opens_nothing(said: str) -> None:
    graph = talk(*OPENING, f"u: {said}")
    assert labels(graph, NodeType.ERROR, *OPEN) == labels(graph, NodeType.TASK, Status.PENDING) == []


def test_the_name_of_a_product_is_no_month() -> None:
    assert labels(talk(*OPENING, "u: the customer only runs MariaDB"), NodeType.TASK) == []


def test_not_being_sure_is_no_work() -> None:
    assert labels(talk(*OPENING, "u: Not sure yet"), NodeType.TASK) == []
