"""What goes when something else is chosen, where nobody names it as the thing that goes."""

from __future__ import annotations

import pytest

from tokenmizer_mw.extract.contrast import contrast

from .talks import changes, talk

OPENING = ("u: Help me to set up the archive of the choir, please.", "a: Gladly. What is there already?")


@pytest.mark.parametrize(
    ("sentence", "label", "target"),
    [
        ("polling instead of web sockets", "polling", "web sockets"),
        ("tables in Markdown rather than in pictures", "tables in Markdown", "in pictures"),
        ("lieber ein Ordner je Konzert statt einer langen Liste", "lieber ein Ordner je Konzert", "langen Liste"),
        ("un archivo por concierto en vez de una lista", "un archivo por concierto", "una lista"),
        ("папка на концерт вместо списка", "папка на концерт", "списка"),
        ("用标签而不是文件夹", "用标签", "文件夹"),
        ("フォルダではなくタグで", "タグで", "フォルダ"),
        ("폴더 말고 태그로", "태그로", "폴더"),
    ],
)
def test_what_a_sentence_tells_apart(sentence: str, label: str, target: str) -> None:
    assert contrast(sentence) == (label, target, True)


@pytest.mark.parametrize("sentence", ["why polling instead of web sockets?", "it is ready, not yet", "we store scans"])
def test_what_tells_nothing_apart(sentence: str) -> None:
    assert contrast(sentence)[1] == ""


def test_a_marker_may_name_what_goes() -> None:
    graph = talk(
        *OPENING,
        "u: Decision: scans as TIFF every 2 weeks.",
        "a: Noted.",
        "u: 2 weeks is too slow. Decision: uploads by the singers instead of scanning.",
    )
    ((old, new),) = changes(graph)
    assert (old, "uploads" in new) == ("scans as TIFF every 2 weeks", True)


def test_what_comes_back_with_another_number_is_told_with_it() -> None:
    graph = talk(
        *OPENING,
        "u: Decision: mail reminders every 30 days.",
        "a: Noted.",
        "u: Decision: a wall calendar instead of mail reminders.",
        "a: Fine.",
        "u: Decision: back to mail reminders, every 7 days.",
    )
    assert changes(graph)[-1] == ("a wall calendar instead of mail reminders", "mail reminders, every 7 days")


@pytest.mark.parametrize(
    ("told", "said", "old", "new"),
    [
        ("I'd pause for 250 ms before the search.", "150", "250 ms", "150 ms"),
        ("The list has 12 questions about the concerts.", "too long. at most 8", "12 questions", "8 questions"),
        ("Done.", "a rest of 30 seconds is too short. take 60", "30 seconds", "60"),
        ("Done.", "the fee is 3 € this year, not 2", "2", "3"),
        ("Termin steht.", "die Probe lieber am 13, am 12 ist zu viel los", "12", "13"),
    ],
)
def test_a_number_set_against_one_that_was_said(told: str, said: str, old: str, new: str) -> None:
    graph = talk(*OPENING, "u: go on with the search page", f"a: {told}", f"u: {said}")
    assert [(before, after) for before, after in changes(graph) if old in before and new in after]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("The page takes 40 ms. How many singers are there?", "25"),
        ("There are 12 folders; 1 is empty. Take 1. or 2.?", "2"),
        ("The archive has 900 files.", "fine, see you on the 12th of June in the hall at 8"),
    ],
)
def test_a_number_that_only_answers_or_tells(told: str, said: str) -> None:
    graph = talk(*OPENING, "u: go on with the search page", f"a: {told}", f"u: {said}")
    assert changes(graph) == []


def test_the_other_way_that_was_put_up_replaces_the_one_that_was_taken() -> None:
    graph = talk(
        *OPENING,
        "u: how do we name the files?",
        "a: Certificates can come by HTTP-01, which needs port 80, or DNS-01, which needs a token.",
        "u: HTTP-01 sounds simpler, use HTTP-01",
        "a: It waits for port 80.",
        "u: dns-01 it is",
    )
    assert [(old, new.partition(":")[0]) for old, new in changes(graph)] == [("HTTP-01", "dns-01")]


FORK = "Either a) add the missing headers and stay on Alpine, or b) change the base to debian-slim, which is larger."


@pytest.mark.parametrize("said", ["ok ok you win. slim", "hm. slim then?", "slim"])
def test_the_other_side_is_taken_in_a_word(said: str) -> None:
    graph = talk(*OPENING, "u: the image does not build", f"a: {FORK}", "u: a", "a: One more is missing.", f"u: {said}")
    ((old, new),) = changes(graph)
    assert ("Alpine" in old, "debian-slim" in new) == (True, True)


@pytest.mark.parametrize("said", ["is slim larger?", "thanks", "maybe slim, if it is small"])
def test_a_word_that_takes_no_side(said: str) -> None:
    graph = talk(*OPENING, "u: the image does not build", f"a: {FORK}", "u: a", "a: One more is missing.", f"u: {said}")
    assert changes(graph) == []


@pytest.mark.parametrize(
    ("told", "said", "old"),
    [
        (
            "You could keep one file per concert. Now it is a single blob.",
            "good, one file per concert. replaces the single blob",
            "single blob",
        ),
        (
            "A table of logins is enough for that; slowapi counts per worker.",
            "use the table of logins. slowapi removed",
            "slowapi",
        ),
    ],
)
def test_the_sentence_beside_a_choice_says_what_goes(told: str, said: str, old: str) -> None:
    graph = talk(*OPENING, "u: how do we store it?", f"a: {told}", f"u: {said}")
    assert old in [before for before, _ in changes(graph)]


def test_an_arrow_to_what_follows_is_no_change() -> None:
    graph = talk(*OPENING, "u: speed it up", "a: Done.", "u: 5 min thing → p95 19 ms.")
    assert changes(graph) == []
