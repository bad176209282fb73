"""What both speakers agree on holds, and what a sentence of the user changes goes, in any language."""

from __future__ import annotations

from collections import Counter

import pytest

from tokenmizer_mw.extract.match.stated_values import differ_counted, read_stated
from tokenmizer_mw.extract.score.contrast import (
    Claim,
    KnownFacts,
    weigh,
)
from tokenmizer_mw.extract.text.phrases import split_reason
from tokenmizer_mw.model.node import Node, NodeType, Source, Status

from .talks import changes, labels, talk

AGREED = (
    "u: We plan a fair for the school. Six stalls, and it ends at 17:00.",
    "a: Six stalls, end at 17:00. And food?",
)


def test_what_an_answer_says_again_is_settled_item_by_item() -> None:
    graph = talk(*AGREED)
    assert {"Six stalls", "end at 17:00"} <= set(labels(graph, NodeType.DECISION, Status.ACTIVE))


@pytest.mark.parametrize(
    ("sentence", "old"),
    [
        ("make it eight stalls instead", "Six stalls"),
        ("the caretaker leaves early, so it ends at 16:00", "end at 17:00"),
    ],
)
def test_a_changed_value_takes_the_place_of_what_was_agreed(sentence: str, old: str) -> None:
    graph = talk(*AGREED, "u: Pancakes.", "a: Pancakes.", f"u: {sentence}")
    assert old not in labels(graph, NodeType.DECISION, Status.ACTIVE)
    assert changes(graph)


@pytest.mark.parametrize(
    "sentence",
    [
        "would eight stalls be too many?",
        "the school next door has eight stalls",
        "last year it ended at 15:00",
        "if it rains we could have four stalls",
        "we are not going to switch to eight stalls",
        "caretaker suggests eight stalls",
        "Error: the plan shows eight stalls and ends at 15:00",
    ],
)
def test_a_sentence_in_a_frame_changes_nothing(sentence: str) -> None:
    graph = talk(*AGREED, "u: Pancakes.", "a: Pancakes.", f"u: {sentence}")
    assert {"Six stalls", "end at 17:00"} <= set(labels(graph, NodeType.DECISION, Status.ACTIVE))
    assert changes(graph) == []


@pytest.mark.parametrize(
    "sentence",
    ["the last run took 14 min", "3 parents so far", "now do step 4", "we counted 212 tickets at 15:00"],
)
def test_what_somebody_observes_changes_nothing(sentence: str) -> None:
    graph = talk(*AGREED, "u: Pancakes.", "a: Pancakes.", f"u: {sentence}")
    assert {"Six stalls", "end at 17:00"} <= set(labels(graph, NodeType.DECISION, Status.ACTIVE))
    assert changes(graph) == []


def test_a_value_said_again_with_one_of_another_thing_stays() -> None:
    assert changes(talk("u: The hall opens at 9:00.", "a: OK.", "u: The hall opens at 9:00 and closes at 17:00.")) == []


def test_the_same_words_with_a_not_are_a_change() -> None:
    graph = talk("u: Use tabs for indentation.", "a: OK.", "u: Don't use tabs for indentation.")
    assert changes(graph) == [("tabs for indentation", "Don't use tabs for indentation")]


def test_two_facts_in_force_never_hold_one_slot() -> None:
    graph = talk("u: We use SQLite. Use Celery for the jobs.", "a: OK.", "u: Replace Celery with PostgreSQL.")
    assert [node.slot for node in graph.nodes(status=Status.ACTIVE) if node.slot] == ["database"]


def test_numbers_that_tell_things_apart_replace_nothing() -> None:
    graph = talk("u: We use PostgreSQL for part 1.", "a: Part 1 is done.", "u: Now do part 3.", "a: Part 3 is done.")
    assert "PostgreSQL for part 1" in labels(graph, NodeType.DECISION, Status.ACTIVE)


@pytest.mark.parametrize("greeting", ["Bonjour", "Guten Morgen", "Hola", "Привет", "Hello"])
def test_a_greeting_that_comes_back_is_nothing_agreed_on(greeting: str) -> None:
    graph = talk(f"u: {greeting}! The fair has six stalls.", f"a: {greeting}, six stalls. What about food?")
    assert greeting not in labels(graph, NodeType.DECISION, Status.ACTIVE)


def test_no_reason_is_taken_from_a_message_about_something_else() -> None:
    graph = talk(
        "u: Use Redis for the queue.",
        "a: OK.",
        "u: Paint the logo green.",
        "a: OK.",
        "u: Let's move the queue to PostgreSQL instead of Redis.",
    )
    (step,) = graph.transitions()
    assert step.reason == ""


@pytest.mark.parametrize("count", [7, 14])
def test_a_version_takes_the_place_of_no_count(count: int) -> None:
    graph = talk("u: Run the tests.", f"a: All {count} tests pass.", "u: We deploy on Debian 12.")
    assert not any("Debian" in label for pair in changes(graph) for label in pair)


def test_what_is_put_off_is_open_and_settles_nothing() -> None:
    graph = talk("u: Use Redis for the queue.", "a: OK.", "u: Leave test_retry for tomorrow.")
    assert "Leave test_retry for tomorrow" in labels(graph, NodeType.TASK, Status.PENDING)
    assert "Leave test_retry for tomorrow" not in labels(graph, NodeType.DECISION, Status.ACTIVE)


def test_an_attribute_of_one_thing_replaces_none_of_another() -> None:
    graph = talk(
        "u: Use port 9001 for the api.",
        "a: Done.",
        "u: Use port 9002 for the admin page.",
        "a: Done.",
        "u: Use port 9005 for the api instead.",
        "a: Done.",
    )
    assert labels(graph, NodeType.DECISION, Status.ACTIVE) == ["port 9002 for the admin page", "port 9005 for the api"]
    assert labels(graph, NodeType.DECISION, Status.SUPERSEDED) == ["port 9001 for the api"]


@pytest.mark.parametrize(
    "change",
    [
        "Change of plan: SQLite for the shop.",
        "Actually we keep the orders in SQLite.",
        "Let's move the orders to SQLite.",
    ],
)
@pytest.mark.parametrize(
    ("goal", "noted"),
    [
        ("Build an order service for the shop.", False),
        ("I want an order service for the shop.", False),
        ("Build an order service with PostgreSQL for the shop.", True),
    ],
)
def test_a_goal_notes_a_change_only_of_a_value_that_it_names(goal: str, noted: bool, change: str) -> None:
    graph = talk(f"u: {goal}", "u: We keep the orders of the shop in PostgreSQL.", "a: Fine.", f"u: {change}")
    (label,) = labels(graph, NodeType.GOAL, Status.ACTIVE)
    assert changes(graph)
    assert ("(now: " in label, "SQLite" in label) == (noted, noted)


@pytest.mark.parametrize(
    ("goal", "noted"), [("Plan a fair for the school", False), ("Plan a fair of six stalls", True)]
)
def test_a_goal_notes_a_change_only_of_a_number_that_it_names(goal: str, noted: bool) -> None:
    graph = talk(
        f"u: {goal}.", "u: The fair of the school has six stalls.", "a: Six stalls.", "u: make it eight stalls"
    )
    assert any("(now: " in label for label in labels(graph, NodeType.GOAL, Status.ACTIVE)) == noted


SETTLED = (
    "u: We paint the club house. The walls are grey, two coats, and Petra orders the paint.",
    "a: Grey walls, two coats, Petra orders the paint. When do you start?",
    "u: On Saturday.",
    "a: Start on Saturday.",
)


@pytest.mark.parametrize(
    ("sentence", "old"),
    [
        ("We've decided on Sunday, so we start then", "Start on Saturday"),
        ("the first one hardly covers. We're doing three coats", "two coats"),
    ],
)
def test_numbers_and_days_as_words_are_values(sentence: str, old: str) -> None:
    graph = talk(*SETTLED, f"u: {sentence}")
    assert old not in labels(graph, NodeType.DECISION, Status.ACTIVE)


@pytest.mark.parametrize(
    ("settled", "answer", "sentence", "old"),
    [
        (
            "Wir treffen uns am Dienstag.",
            "Treffen am Dienstag.",
            "ab jetzt treffen wir uns am Freitag",
            "Treffen am Dienstag",
        ),
        ("On joue à quatre équipes.", "quatre équipes.", "finalement on joue à six équipes", "quatre équipes"),
        ("Ensayamos los lunes.", "ensayo los lunes.", "ahora ensayamos los viernes", "ensayo los lunes"),
        ("Берём восемь стульев.", "восемь стульев.", "теперь берём двенадцать стульев", "восемь стульев"),
    ],
)
def test_a_change_is_read_in_each_language(settled: str, answer: str, sentence: str, old: str) -> None:
    graph = talk(f"u: {settled}", f"a: {answer}", f"u: {sentence}")
    assert not [label for label in labels(graph, NodeType.DECISION, Status.ACTIVE) if label == old]


@pytest.mark.parametrize("answer", ["yes, go ahead", "good idea, do it", "you're right, let's do that"])
def test_a_change_that_was_proposed_holds_when_the_user_agrees(answer: str) -> None:
    graph = talk(
        "u: The queue runs on RabbitMQ.",
        "a: RabbitMQ for the queue. Shall I switch the queue to NATS instead of RabbitMQ?",
        f"u: {answer}",
    )
    assert changes(graph)
    assert any("NATS" in label for label in labels(graph, NodeType.DECISION, Status.ACTIVE))


@pytest.mark.parametrize("answer", ["not yet, I must ask Ben", "what would that cost?", "yes, but not before May"])
def test_a_proposal_that_nobody_agrees_to_changes_nothing(answer: str) -> None:
    graph = talk(
        "u: The queue runs on RabbitMQ.",
        "a: RabbitMQ for the queue. Shall I switch the queue to NATS instead of RabbitMQ?",
        f"u: {answer}",
    )
    assert changes(graph) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "our sister club had four coats on theirs",
        "my brother paints his house blue",
        "two coats, as I said",
        "the mail says “four coats are the least for damp walls”",
    ],
)
def test_what_others_do_and_what_is_said_again_changes_nothing(sentence: str) -> None:
    graph = talk(*SETTLED, f"u: {sentence}")
    assert {"Grey walls", "two coats"} <= set(labels(graph, NodeType.DECISION, Status.ACTIVE))
    assert changes(graph) == []


def test_a_new_value_keeps_the_words_of_the_fact_that_it_changes() -> None:
    graph = talk(
        "u: The choir rehearses in the old gym. Decided: rehearsals begin at 6 pm and end before the caretaker leaves.",
        "a: Rehearsals begin at 6 pm.",
        "u: make it 7 pm",
    )
    assert any("7 pm" in label and "rehearsals" in label.casefold() for _, label in changes(graph))


@pytest.mark.parametrize(
    "said",
    [
        "I'll collect the reports",
        "One thing: never throw a report away",
        "We rent the boathouse for 600 euros",
    ],
)
def test_what_gives_a_fact_no_other_value_replaces_nothing(said: str) -> None:
    graph = talk(
        "u: Plan the review day. Budget is 2,500 euros, and collect the reports of the offices from the archive.",
        "a: Noted: budget 2,500 euros; I'll draft the mail for the reports of the offices.",
        f"u: {said}",
    )
    assert changes(graph) == []


@pytest.mark.parametrize(
    ("fact", "rule"),
    [
        ("Bookings close at 20:00.", "Never delete a booking without asking me first."),
        ("Invoices are due within 14 days.", "Never send invoices without a second look."),
        ("The members book online until Friday.", "Members must never see each other's data."),
    ],
)
@pytest.mark.parametrize("restated", [True, False])
def test_a_rule_without_a_value_replaces_no_value_beside_which_it_shares_a_word(
    fact: str, rule: str, restated: bool
) -> None:
    graph = talk(f"u: {fact}", f"a: {fact[:-1]}, noted." if restated else "a: Noted.", f"u: {rule}")
    assert changes(graph) == []
    assert rule[:-1] in labels(graph, NodeType.DECISION, Status.ACTIVE)


def test_a_rule_that_names_the_value_replaces_it() -> None:
    said = "Deploys happen on Fridays."
    graph = talk(f"u: {said}", f"a: {said}", "u: From now on never deploy on Fridays.")
    assert labels(graph, NodeType.DECISION, Status.ACTIVE) == ["From now on never deploy on Fridays"]


def test_a_statement_with_a_value_does_not_replace_a_task_without_one() -> None:
    graph = talk(
        "u: Let's build a booking service for the village hall. We use SQLite, it is one file.",
        "a: Shall I write the schema first?",
        "u: Yes",
        "a: Will do.",
        "u: PostgreSQL holds the schema now, SQLite was too slow for two clerks.",
    )
    assert all(old != "write the schema first" for old, _ in changes(graph))


def test_what_the_assistant_set_becomes_a_fact_when_the_user_changes_it() -> None:
    graph = talk(
        "u: Build the login for the clinic's portal.",
        "a: The login page is up. I set the magic link to expire after 15 minutes.",
        "u: the link should rather expire after 5 minutes",
    )
    assert any("15 minutes" in old and "5 minutes" in new for old, new in changes(graph))
    assert graph.transitions()[0].trigger == 3


@pytest.mark.parametrize(
    "talked",
    [
        (
            "u: We write the tests first and let them drive the code.",
            "a: Tests first, then. The bell rings when a stall is empty.",
            "u: Please test that one properly, it's the heart of the thing.",
        ),
        (
            "u: Length 60 to 80 pages, APA style",
            "a: Which hypotheses?",
            "u: H1: later bedtimes. H2: the effect is stronger at home",
        ),
    ],
)
def test_an_order_about_what_was_just_spoken_of_and_what_looks_alike_change_nothing(talked: tuple[str, ...]) -> None:
    assert changes(talk(*talked)) == []


def test_things_with_numbers_take_the_place_of_none_of_another_number() -> None:
    graph = talk("u: Nginx for part 0", "a: ok", "u: Traefik for part 1", "a: ok", "u: Caddy for part 2", "a: ok")
    assert changes(graph) == []
    graph = talk("u: Use Tool0 for part 0", "a: ok", "u: Use Tool1 for part 1", "a: ok")
    assert "Tool1 for part 0" not in labels(graph, NodeType.DECISION)


def test_what_only_denies_leaves_its_place_to_what_stands_behind_it() -> None:
    graph = talk(
        "u: PostgreSQL for the database, Redis for the queue.",
        "a: PostgreSQL for the database, Redis for the queue. Noted.",
        "u: no wait, not PostgreSQL. MariaDB for the database",
    )
    assert changes(graph) == [("PostgreSQL for the database", "MariaDB for the database")]


def test_a_marked_choice_of_another_thing_replaces_nothing() -> None:
    graph = talk(
        "u: PostgreSQL for the database.",
        "a: PostgreSQL for the database. Noted.",
        "u: My pick for the cache is SQLite.",
    )
    assert changes(graph) == []
    assert "PostgreSQL for the database" in labels(graph, NodeType.DECISION, Status.ACTIVE)


def test_a_sentence_changes_one_of_many_facts_less_likely_than_the_only_one() -> None:
    claim = Claim("make it 12 hours", ("make it 12 hours",), "make it 12 hours", 3, True)
    node = Node("decision-1", NodeType.DECISION, "cancel up to 24 hours before", Status.ACTIVE, Source(1, "user"))
    assert weigh(node, claim, KnownFacts(20, Counter())) < weigh(node, claim, KnownFacts(1, Counter()))


def test_a_value_that_stands_again_beside_another_is_no_other_value() -> None:
    old = read_stated("3 seats")
    assert differ_counted(old, read_stated("4 seats"))
    assert not differ_counted(old, read_stated("3 seats on Monday and 4 seats on Sunday"))


def test_what_a_program_prints_changes_nothing() -> None:
    graph = talk(
        "u: The list is a Vector of ports.",
        "a: A Vector of ports, noted.",
        "u: Cannot convert argument 1 from String to Vector.",
        "a: The file holds text.",
        "u: Fatal: unable to open ports.txt: no such file or directory",
    )
    assert changes(graph) == []
    assert not [label for label in labels(graph, NodeType.DECISION) if "such" in label or "Cannot" in label]


def test_what_follows_with_so_is_the_statement_and_what_stands_before_it_the_reason() -> None:
    assert split_reason("it is 8 cents cheaper, so we take Vetro") == ("we take Vetro", "it is 8 cents cheaper")
    assert split_reason("one table, so we can lock rows") == ("one table", "so we can lock rows")


def test_an_answer_with_a_number_of_its_own_repeats_nothing() -> None:
    graph = talk("u: Move the image to alpine, the image is 900 MB.", "a: The image is 210 MB on alpine.")
    assert not [label for label in labels(graph, NodeType.DECISION, Status.ACTIVE) if "210" in label]


@pytest.mark.parametrize(
    ("answer", "changed"),
    [("PostgreSQL works well here.", True), ("PostgreSQL is not needed here.", False)],
)
def test_a_question_of_the_user_is_agreed_to_after_its_answer(answer: str, changed: bool) -> None:
    said = (
        "u: Use SQLite for the storage.",
        "a: OK, SQLite.",
        "u: What about PostgreSQL instead of SQLite?",
        f"a: {answer}",
    )
    graph = talk("u: I build an app for our club.", "a: Tell me more.", *said, "u: Good, do that.")
    assert any("PostgreSQL" in new for _, new in changes(graph)) is changed


def test_a_sentence_that_may_be_the_reason_of_another_is_noted_itself() -> None:
    graph = talk("u: Max speed 0.4 m/s. The DDS is Cyclone. Video goes in H.264, one camera at a time.")
    assert any("Cyclone" in node.label for node in graph.nodes())


def test_an_order_that_is_done_can_still_be_changed() -> None:
    graph = talk(
        "u: We build the page of the shop.",
        "a: Good. What first?",
        "u: Set the session timeout to 30 minutes, please.",
        "a: I have changed the configuration, and all tests pass.",
        "u: Fine. Next, the footer needs the new address.",
        "a: I put the new address into the footer.",
        "u: Make the session timeout 60 minutes after all, people complain.",
    )
    assert any("30" in old and "60" in new for old, new in changes(graph))


def test_a_date_that_is_put_off_replaces_the_old_one() -> None:
    graph = talk(
        "u: We start the pilot on 12 May in the north shop.",
        "a: Pilot on 12 May in the north shop. Noted.",
        "u: The north shop floods its cellar, so the pilot starts two weeks later, on 26 May.",
    )
    assert any("12 May" in old and "26 May" in new for old, new in changes(graph))


def test_what_the_assistant_set_many_messages_ago_can_be_changed() -> None:
    asides = [line for number in range(5) for line in (f"u: And row {number}?", "a: It has a title and a date.")]
    graph = talk(
        "u: Build the export of the orders.",
        "a: The export is there. It runs every night at 04:00 and writes one file per shop.",
        *asides,
        "u: Let the export run at 05:30 instead of 04:00, please.",
    )
    assert any("04:00" in old and "05:30" in new for old, new in changes(graph))


@pytest.mark.parametrize(
    ("settled", "answer", "said"),
    [
        ("バックアップは毎晩3時です。", "わかりました。毎晩3時ですね。", "バックアップは毎晩4時、前に言ったとおり。"),
        ("バックアップは毎晩3時です。", "わかりました。毎晩3時ですね。", "バックアップは毎晩4時ですよね"),
        (
            "Резервная копия каждую ночь в 3 часа.",
            "Понял, в 3 часа.",
            "Резервная копия каждую ночь в 4 часа, как договаривались.",
        ),
        ("백업은 매일 밤 3시입니다.", "알겠습니다. 매일 밤 3시.", "백업은 매일 밤 4시, 말했던 대로."),
    ],
)
def test_what_is_asked_back_or_said_to_be_agreed_changes_nothing(settled: str, answer: str, said: str) -> None:
    assert changes(talk(f"u: {settled}", f"a: {answer}", f"u: {said}")) == []


def test_what_held_before_may_be_named_in_a_change() -> None:
    graph = talk(
        "u: We meet on Fridays.", "a: Fridays, noted.", "u: We meet on Saturdays instead of Fridays as before."
    )
    assert [new for _, new in changes(graph)] == ["We meet on Saturdays instead of Fridays as before"]
