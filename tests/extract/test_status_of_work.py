"""What fails or is left counts whoever says it, and a confirmation closes only what it is about."""

from __future__ import annotations

import pytest

from tests.extract.talks import judged, labels, talk
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import WENT_ON
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.node import NodeType, Status
from tokenmizer_mw.settings import Settings

OPENING = ("u: Help me with the museum's website.", "a: Sure, what do you need?", "u: go on")
OPEN = (Status.ACTIVE, Status.PENDING, Status.FAILED)


def read_with_model(*lines: str) -> SessionGraph:
    """The graph after these lines, read with the shipped classifier as well."""
    speakers = {"u": Role.USER, "a": Role.ASSISTANT}
    return judged([Message(speakers[line[0]], line[3:]) for line in lines], Settings())


REPORTED_BY_ASSISTANT = [
    ("The ticket page is finished, the map is not.", NodeType.TASK, "map"),
    ("Still red: test_prices and test_hours", NodeType.ERROR, "test_prices"),
    ("Only the audio guide stays broken.", NodeType.ERROR, "audio guide"),
    ("We haven't been able to get the scanner running.", NodeType.ERROR, "scanner"),
    ("The donation form isn't finished yet because the bank details are missing.", NodeType.TASK, "donation form"),
    ("The tests pass in Chrome, Safari is still failing.", NodeType.ERROR, "Safari"),
    ("The search works in Chrome, not in Safari.", NodeType.ERROR, "Safari"),
    ("The newsletter is half written.", NodeType.TASK, "newsletter"),
    ("Alle Tests laufen durch bis auf test_preise.", NodeType.ERROR, "test_preise"),
    ("Bei mir läuft es, aber nicht auf dem Server.", NodeType.ERROR, "Server"),
    ("4 bestehen, 1 schlägt noch fehl.", NodeType.ERROR, "1 schlägt"),
    ("Todas las páginas funcionan salvo la galería.", NodeType.ERROR, "galería"),
    ("4 pasan, 1 sigue fallando.", NodeType.ERROR, "1 sigue"),
    ("Toutes les pages passent sauf la galerie.", NodeType.ERROR, "galerie"),
    ("Le formulaire marche chez moi, mais pas en production.", NodeType.ERROR, "production"),
    ("4 passent, 1 échoue encore.", NodeType.ERROR, "1 échoue"),
]


@pytest.mark.parametrize(("said", "type_", "thing"), REPORTED_BY_ASSISTANT)
def test_bad_news_of_an_assistant_stands_open(said: str, type_: NodeType, thing: str) -> None:
    graph = read_with_model(*OPENING, f"a: {said}")
    assert [label for label in labels(graph, type_, *OPEN) if thing in label], said
    assert not [label for label in labels(graph, NodeType.TASK, Status.COMPLETED) if thing in label]
    assert labels(graph, NodeType.TEST, Status.COMPLETED) == []


@pytest.mark.parametrize(
    "said",
    [
        "You can check whether the map still fails.",
        "If the map is still broken, clear the cache.",
        "The old page was fine, but it crashed on phones.",
        "Write to a copy first, so a crash halfway leaves the old file intact.",
        "The cache is cleared, so that old pages are no longer wrong.",
    ],
)
def test_what_an_assistant_explains_or_supposes_is_no_error(said: str) -> None:
    graph = talk(*OPENING, f"a: {said}")
    assert labels(graph, NodeType.ERROR) == []
    assert labels(graph, NodeType.TASK, *OPEN) == []


def test_where_something_does_not_work_is_no_rejected_choice() -> None:
    graph = talk("u: Aide-moi avec le site.", "a: Bien sûr.", "u: ça fonctionne chez moi mais pas sur le serveur")
    assert labels(graph, NodeType.DECISION) == []
    assert labels(graph, NodeType.ERROR, *OPEN) == ["ça fonctionne chez moi mais pas sur le serveur"]


PLAN = ("u: Help me move the museum's archive.", "a: I'll move the photo index first, then the letters.")
PLANNED = "move the photo index first, then the letters"


@pytest.mark.parametrize(
    "lines",
    [
        ("u: I couldn't get the letters to load.",),
        ("u: The photo index works now.",),
        ("u: test_letters passes now.",),
        ("u: ok", "a: test_letters passes now."),
        ("u: ok", "a: The photo index is moved."),
    ],
)
def test_a_plan_stays_open_while_one_of_its_steps_is(lines: tuple[str, ...]) -> None:
    graph = read_with_model(*PLAN, *lines)
    assert PLANNED in labels(graph, NodeType.TASK, Status.IN_PROGRESS, Status.PENDING)


def test_a_plan_is_done_when_all_its_steps_are() -> None:
    graph = read_with_model(*PLAN, "u: ok", "a: The photo index and the letters are moved.")
    assert labels(graph, NodeType.TASK, Status.IN_PROGRESS, Status.PENDING) == []


def test_a_plan_that_is_withdrawn_is_neither_done_nor_in_force() -> None:
    graph = talk(
        "u: Help me move the archive.",
        "a: Sure.",
        "u: We'll open in March.",
        "a: Ok, March.",
        "u: no, that was the old idea, forget March. 9 May.",
    )
    assert labels(graph, NodeType.TASK, Status.COMPLETED, *OPEN) == []
    assert not [label for label in labels(graph, NodeType.DECISION, Status.ACTIVE) if "March" in label]


def test_tests_that_pass_close_the_errors_that_name_them() -> None:
    failing = (*OPENING, "a: Still failing: test_prices and test_hours")
    one = talk(*failing, "u: go on", "a: test_hours passes now.")
    assert labels(one, NodeType.ERROR, *OPEN) == ["test_prices and test_hours"]
    both = talk(*failing, "u: go on", "a: test_hours and test_prices pass now.")
    assert labels(both, NodeType.ERROR, *OPEN) == []
    every = talk(*OPENING, "a: 2 pass, 3 still fail.", "u: go on", "a: All 5 tests pass now.")
    assert labels(every, NodeType.ERROR, *OPEN) == []


RECOVERED = [
    ("The search crashes on phones.", "The search no longer crashes."),
    ("Die Suche stürzt auf dem Handy ab.", "Die Suche stürzt nicht mehr ab."),
    ("La búsqueda falla en el móvil.", "La búsqueda ya no falla."),
    ("La recherche plante sur mobile.", "La recherche ne plante plus."),
]


@pytest.mark.parametrize(("before", "after"), RECOVERED)
def test_what_no_longer_fails_is_mended(before: str, after: str) -> None:
    graph = read_with_model(*OPENING, "a: Here.", f"u: {before}", "a: Noted.", f"u: {after}")
    assert labels(graph, NodeType.ERROR, *OPEN) == []
    alone = read_with_model(*OPENING, "a: Here.", f"u: {after}")
    assert labels(alone, NodeType.ERROR, *OPEN) == []
    assert labels(alone, NodeType.DECISION) == []


@pytest.mark.parametrize(
    "said", ["No page loads any more.", "Die Suche geht nicht mehr.", "La recherche ne marche plus."]
)
def test_what_no_longer_works_is_an_error(said: str) -> None:
    assert labels(talk(*OPENING, "a: Here.", f"u: {said}"), NodeType.ERROR, *OPEN)


def test_work_that_ran_is_done_and_no_choice() -> None:
    graph = read_with_model(*OPENING[:2], "u: run the backfill", "a: The backfill ran.")
    assert labels(graph, NodeType.TASK, Status.COMPLETED) == ["The backfill ran"]
    assert labels(graph, NodeType.DECISION) == []


def test_an_english_word_that_is_a_fault_in_another_language_is_none() -> None:
    assert labels(talk("u: Help me plan our rota for July"), NodeType.ERROR) == []
    assert labels(talk("u: Hola", "a: Hola.", "u: la impresora está rota"), NodeType.ERROR, *OPEN)


@pytest.mark.parametrize(
    "said", ["I heard that the town library dropped Koha last year", "my cousin's printer broke, poor man"]
)
def test_hearsay_and_the_things_of_others_are_no_work(said: str) -> None:
    graph = read_with_model(*OPENING, "a: Here.", f"u: {said}")
    assert labels(graph, NodeType.TASK) == labels(graph, NodeType.ERROR) == []


@pytest.mark.parametrize(
    "said",
    ["Never restart the printer by hand, Jonas handles it.", "Don't touch the old labels, Marek prints them."],
)
def test_a_rule_with_the_person_in_charge_is_no_task(said: str) -> None:
    graph = talk(*OPENING, "a: Here.", f"u: {said}")
    assert labels(graph, NodeType.TASK) == []
    assert labels(graph, NodeType.DECISION, Status.ACTIVE, Status.INVALIDATED)


@pytest.mark.parametrize("marker", ["Open now", "Still open", "Open at the moment"])
def test_a_list_of_what_is_open_gives_tasks(marker: str) -> None:
    graph = talk(*OPENING, f"a: {marker}: the floor plan, the prices, and the opening hours.")
    assert labels(graph, NodeType.TASK, *OPEN) == ["the floor plan", "the prices", "the opening hours"]


def test_what_was_tried_and_worked_closes_its_error() -> None:
    failing = (*OPENING, "a: Here.", "u: The upload fails with error 413.", "a: Try clearing the cache.")
    graph = talk(*failing, "u: Clearing the cache worked, so the photos are uploaded")
    assert labels(graph, NodeType.ERROR, *OPEN) == []
    other = talk(*failing, "u: The second lamp worked.")
    assert labels(other, NodeType.ERROR, *OPEN) == ["The upload fails with error 413"]


@pytest.mark.parametrize(
    "said",
    ["The login test passes occasionally.", "The printer only works sometimes.", "Der Drucker geht nur manchmal."],
)
def test_what_works_at_times_is_an_error(said: str) -> None:
    graph = read_with_model(*OPENING, "a: Here.", f"u: {said}")
    assert labels(graph, NodeType.ERROR, *OPEN) == [said.rstrip(".")]
    assert labels(graph, NodeType.TEST) == []


BROKEN = (
    *OPENING,
    "u: The audio guide crashes when the phone is locked.",
    "a: Which phone is it?",
    "u: A Pixel 8. By the way, please add the new opening hours to the first page.",
    "a: Fine.",
    "u: The photos are by Anna.",
    "a: Noted.",
)
AUDIO = "The audio guide crashes when the phone is locked"


def test_an_error_is_probably_fixed_when_the_user_goes_on_to_other_work() -> None:
    before, after = talk(*BROKEN), talk(*BROKEN, "u: Write a page about the café, too.")
    assert labels(before, NodeType.ERROR, Status.ACTIVE) == [AUDIO]
    (node,) = [one for one in after.nodes() if one.type is NodeType.ERROR]
    assert (node.label, node.status, after.life(node.id).reason) == (AUDIO, Status.COMPLETED, WENT_ON)


@pytest.mark.parametrize(
    "said",
    ["The audio guide still crashes when the phone is locked.", "Tomorrow I'll look at the crash of the audio guide."],
)
def test_a_mentioned_error_stays_open(said: str) -> None:
    graph = talk(*BROKEN, f"u: {said}", "a: OK.", "u: Write a page about the café, too.")
    assert [label for label in labels(graph, NodeType.ERROR, Status.ACTIVE) if "audio guide" in label]


@pytest.mark.parametrize(
    "said",
    [
        "The audio guide crash: I got the log, it says SIGKILL.",
        "What about the audio guide crash? It isn't solved.",
        "Let's get back to the crash of the audio guide now.",
    ],
)
def test_an_error_that_the_user_mentions_after_it_was_left_is_open_again(said: str) -> None:
    graph = talk(*BROKEN, "u: Write a page about the café, too.", "a: Sure.", f"u: {said}")
    assert AUDIO in labels(graph, NodeType.ERROR, Status.ACTIVE)


def test_an_error_that_was_left_can_be_called_fixed() -> None:
    said = "u: The crash of the audio guide is fixed now."
    graph = talk(*BROKEN, "u: Write a page about the café, too.", "a: Sure.", said)
    (node,) = [one for one in graph.nodes() if one.type is NodeType.ERROR]
    assert (node.label, node.status, graph.life(node.id).reason) == (AUDIO, Status.COMPLETED, "")


LEFT = (
    "u: Add the opening hours.",
    "a: Fine.",
    "u: Write a page about the café.",
    "a: Noted.",
    "u: Add a search field.",
)


@pytest.mark.parametrize(
    ("reported", "told"),
    [
        ("The audio guide crashes when the phone is locked. Leave that for next week.", LEFT),
        (f"{AUDIO}.", (*LEFT[:3], "a: Noted. The audio guide crash is still open.", LEFT[4])),
        (f"{AUDIO}.", (*LEFT[:2], "u: It still happens. Write a page about the café.", *LEFT[3:])),
        (f"{AUDIO}.", (*LEFT[:3], "a: Noted. Which phone is it?", LEFT[4])),
    ],
)
def test_an_error_that_is_postponed_or_spoken_of_stays_open(reported: str, told: tuple[str, ...]) -> None:
    left = talk(*OPENING, f"u: {AUDIO}.", "a: I'll see.", *LEFT)
    assert labels(left, NodeType.ERROR, Status.ACTIVE) == []
    graph = talk(*OPENING, f"u: {reported}", "a: I'll see.", *told)
    assert AUDIO in labels(graph, NodeType.ERROR, Status.ACTIVE)


def test_words_that_close_an_error_close_no_task_as_well() -> None:
    graph = talk(*OPENING, "u: Write a page about the café.", "u: The audio guide crashes.", "u: Fixed. Works now.")
    assert labels(graph, NodeType.ERROR, Status.COMPLETED) == ["The audio guide crashes"]
    assert "Write a page about the café" in labels(graph, NodeType.TASK, Status.PENDING)


def test_an_error_stays_open_while_its_cause_is_searched() -> None:
    tries = ("u: I restarted it, no change", "a: And the cache?", "u: cleared it", "a: Is it on?", "u: yes, nothing")
    graph = talk(*OPENING, "u: The audio guide crashes when the phone is locked.", "a: Restart it?", *tries)
    assert labels(graph, NodeType.ERROR, Status.ACTIVE) == [AUDIO]


def test_an_error_that_occurs_again_is_open_again() -> None:
    talked = (*BROKEN, "u: Write a page about the café, too.", "a: Sure.")
    graph = talk(*talked, "u: The audio guide crashes when the phone is locked, again.")
    assert [label for label in labels(graph, NodeType.ERROR, Status.ACTIVE) if "audio guide" in label]
