"""What a block tells must be true: complaints are no choices, agreement is no content, dates stay whole."""

from __future__ import annotations

import pytest

from tests.extract.talks import RULES_ONLY, changes, labels, talk
from tokenmizer_mw.context.resume.sentences import split_parts
from tokenmizer_mw.extract.compose.validate import validate_findings
from tokenmizer_mw.extract.finding import Finding
from tokenmizer_mw.extract.match.rule_hits import may_be_reason
from tokenmizer_mw.extract.text.prose import find_sentences
from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust

OPENING = ("u: Help me with the ferry timetable.", "a: Sure, what do you need?")


@pytest.mark.parametrize(
    ("complaint", "answer"),
    [
        ('"print" link is not clickable', 'Hmm, the "print" link isn\'t clickable. Let me look.'),
        ("the harbour list doesn't load", "The harbour list doesn't load."),
        ("la lista no carga", "La lista no carga."),
        ("der Link reagiert nicht", "Der Link reagiert nicht."),
    ],
)
def test_a_complaint_that_is_repeated_is_not_agreed_on(complaint: str, answer: str) -> None:
    assert labels(talk(*OPENING, f"u: {complaint}", f"a: {answer}"), NodeType.DECISION) == []


def test_an_assistant_that_begins_to_work_agrees_on_nothing() -> None:
    graph = talk(*OPENING, "u: Write the winter table, then the prices", "a: On it. Starting with the winter table.")
    assert labels(graph, NodeType.DECISION) == []


@pytest.mark.parametrize(
    ("said", "answer", "agreed"),
    [
        ("Wir brauchen SMS und E-Mail.", "Einverstanden: SMS und E-Mail.", ["SMS", "E-Mail"]),
        ("Las salidas son cada hora, los domingos no hay.", "De acuerdo: salidas cada hora.", ["salidas cada hora"]),
    ],
)
def test_the_word_that_takes_a_statement_up_is_no_part_of_it(said: str, answer: str, agreed: list[str]) -> None:
    assert labels(talk(*OPENING, f"u: {said}", f"a: {answer}"), NodeType.DECISION, Status.ACTIVE) == agreed


@pytest.mark.parametrize("said", ["Passt.", "Gut.", "Einverstanden.", "Perfecto."])
def test_agreement_alone_decides_nothing(said: str) -> None:
    graph = talk(*OPENING, "u: Fahrten im Winter?", "a: Im Winter fahren wir stündlich.", f"u: {said}")
    assert labels(graph, NodeType.DECISION) == []


def choice(label: str, trust: Trust) -> Finding:
    return Finding(NodeType.DECISION, label, Status.ACTIVE, trust, 0.8, kind=DecisionKind.CHOICE, quote=label)


@pytest.mark.parametrize(
    "said",
    ["The banner still points to the summer page", "Only the ticket mail isn't arriving", "The map won't load"],
)
def test_what_does_not_work_is_no_choice(said: str) -> None:
    (found,) = validate_findings([choice(said, Trust.STATED)], RULES_ONLY)
    assert (found.type, found.status, found.label) == (NodeType.ERROR, Status.ACTIVE, said)
    assert validate_findings([choice(said, Trust.ADOPTED)], RULES_ONLY) == []


@pytest.mark.parametrize("said", ["The pier page isn't public", "We still use the old logo", "no gifts"])
def test_what_shall_not_be_is_a_choice(said: str) -> None:
    (found,) = validate_findings([choice(said, Trust.STATED)], RULES_ONLY)
    assert found.type is NodeType.DECISION


DATES = [
    ("Wir fahren am 3. Oktober statt am 4. Danach ist Pause.", 2),
    ("Afgang er den 12. maj fra kaj 2. Husk billetter.", 2),
    ("We have 12. September is next.", 1),
    ("The gate is number 5. May I board?", 2),
]


@pytest.mark.parametrize(("text", "count"), DATES)
def test_the_dot_of_a_date_ends_no_sentence(text: str, count: int) -> None:
    assert len(find_sentences(text, 0, len(text))) == count


def test_a_quoted_sentence_keeps_its_date() -> None:
    text = "Die erste Fähre fährt in diesem Jahr am 27. Februar um neun Uhr ab. Im Winter ruht der Betrieb ganz."
    assert [part.text for part in split_parts(text, person=True)] == [
        "Die erste Fähre fährt in diesem Jahr am 27. Februar um neun Uhr ab.",
        "Im Winter ruht der Betrieb ganz.",
    ]


@pytest.mark.parametrize(
    ("said", "before", "behind"),
    [
        ("The gulls are noisy.", True, True),
        ("Here is my list:", False, False),
        ("Never sound it at night.", False, False),
        ("No bells either, they rust.", True, False),
        ("Bells are overkill.", True, True),
    ],
)
def test_what_is_laid_down_beside_a_change_is_not_why_it_is_made(said: str, before: bool, behind: bool) -> None:
    assert (may_be_reason(said, behind=False), may_be_reason(said, behind=True)) == (before, behind)


@pytest.mark.parametrize("said", ["it's up again", "It's back online now", "raised the limit, it's up and running"])
def test_what_runs_again_is_no_open_error(said: str) -> None:
    graph = talk(*OPENING, "u: the booking page fails with error 502", "a: How much memory has it got?", f"u: {said}")
    assert labels(graph, NodeType.ERROR, Status.ACTIVE) == []


def test_an_order_is_not_replaced_by_what_names_nothing_of_it() -> None:
    graph = talk(
        "u: I train rowers. Client: 38, rowed in 3 regattas, wants a medal on October 12.",
        "a: Sprints on Friday, long rows on Sunday.",
        "u: Friday doesn't work for sprints, two have exams. Put them on Thursday.",
    )
    assert not any("medal" in old for old, _ in changes(graph))


def test_only_the_first_answer_is_told_with_its_question() -> None:
    graph = talk(
        *OPENING, "u: We want tickets.", "a: Shall we sell them on paper or online?", "u: Paper. Cash is fine."
    )
    assert not any("Cash" in label and "online" in label for label in labels(graph, NodeType.DECISION))


@pytest.mark.parametrize("asked", ["Do you want it in the kiosk or on board?", "Soll es an den Kai oder aufs Schiff?"])
def test_a_question_between_two_things_is_no_work(asked: str) -> None:
    graph = talk(*OPENING, "u: Where does the sign go?", f"a: {asked}", "u: on board, I'll do that myself.")
    assert not any("?" in label or asked.rstrip("?") in label for label in labels(graph, NodeType.TASK))


@pytest.mark.parametrize("title", ["Dr.", "Prof.", "Prof. Dr.", "St."])
def test_a_title_ends_no_quoted_sentence(title: str) -> None:
    text = f"The captain of the evening ferry is {title} Hale, who also sells the tickets at the kiosk."
    assert [part.text for part in split_parts(text, person=True)] == [text]


def test_what_the_assistant_asks_about_needs_is_no_work() -> None:
    graph = talk(*OPENING, "u: A page for tickets.", "a: Fine. Do you need refunds between seasons?", "u: yes later.")
    assert not any("refunds" in label for label in labels(graph, NodeType.TASK))
