"""Changes through forms: on record, shown, and taken back."""

from __future__ import annotations

import pytest

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.model.node import Node, Status
from tokenmizer_mw.server.dashboard import dashboard

from .visiting import TOKEN, Visitor, text_of


@pytest.fixture
def visitor(memory: SessionMemory) -> Visitor:
    return Visitor(dashboard(memory, token=TOKEN)).sign_in()


@pytest.fixture
def fact(memory: SessionMemory) -> Node:
    return next(node for node in memory.graph("hall").nodes("decision") if node.value == "postgresql")


def now(memory: SessionMemory, fact: Node) -> Node:
    found = memory.graph("hall").get(fact.id)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("fields", "field", "value"),
    [
        ({"do": "invalidate", "reason": "the host forbids it"}, "status", Status.INVALIDATED),
        ({"do": "archive", "reason": ""}, "status", Status.ARCHIVED),
        ({"do": "pin"}, "pinned", True),
        ({"do": "correct", "label": "MariaDB", "detail": "the host has nothing else"}, "label", "MariaDB"),
    ],
    ids=lambda given: given["do"] if isinstance(given, dict) else "",
)
def test_changed_and_undone(
    fields: dict[str, str], field: str, value: object, memory: SessionMemory, visitor: Visitor, fact: Node
) -> None:
    page = f"fact?id=hall&node={fact.id}"
    shown = visitor.submit(page, "change", id="hall", node=fact.id, **fields)
    assert shown.status == 200
    assert 'role="status"' in shown.body
    assert getattr(now(memory, fact), field) == value
    assert "Changed by hand" in text_of(shown.body)
    back = visitor.submit(page, "change", id="hall", node=fact.id, do="undo", number="1")
    assert "Undone" in text_of(back.body)
    assert now(memory, fact) == fact


def test_a_fact_is_withdrawn_as_never_true_also_when_it_was_invalidated(
    memory: SessionMemory, visitor: Visitor, fact: Node
) -> None:
    page = f"fact?id=hall&node={fact.id}"
    fields = {"id": "hall", "node": fact.id, "do": "invalidate", "reason": "misread"}
    assert "It never was true" in text_of(visitor.get(page).body)
    visitor.submit(page, "change", **fields)
    assert (now(memory, fact).status, now(memory, fact).is_withdrawn) == (Status.INVALIDATED, False)
    assert "It never was true" in text_of(visitor.get(page).body)
    shown = text_of(visitor.submit(page, "change", **fields, never_true="yes").body)
    assert now(memory, fact).is_withdrawn
    assert "it is shown to no model" in shown and "It never was true" not in shown
    assert "PostgreSQL" not in memory.resume("hall", "full").text
    visitor.submit(page, "change", id="hall", node=fact.id, do="undo", number="2")
    assert not now(memory, fact).is_withdrawn


@pytest.mark.parametrize(
    ("node_id", "never_true", "offered", "said"),
    [
        ("decision-1", "no", "It is rejected: blocks list it", "Blocks list it under \u201cRejected\u201d"),
        ("decision-1", "yes", "It never was true, such as something misread", "Withdrawn. No model is shown it"),
        ("file-1", "no", "Blocks no longer state it", "Invalidated. Blocks no longer state it."),
        ("file-1", "yes", "It never was true", "Withdrawn. No model is shown it"),
    ],
)
def test_a_wrong_fact_is_rejected_or_gone_as_the_page_says(
    node_id: str, never_true: str, offered: str, said: str, memory: SessionMemory, visitor: Visitor
) -> None:
    page = f"fact?id=hall&node={node_id}"
    assert offered in text_of(visitor.get(page).body)
    fields = {"id": "hall", "node": node_id, "do": "invalidate", "reason": "misread", "never_true": never_true}
    assert said in text_of(visitor.submit(page, "change", **fields).body)


def test_a_corrected_fact_has_its_speaker_and_the_value_of_its_words(memory: SessionMemory, visitor: Visitor) -> None:
    goal = memory.graph("hall").nodes("goal")[0]
    page = f"fact?id=hall&node={goal.id}"
    assert f"Said by user in message {goal.source.turn} " in text_of(visitor.get(page).body)
    visitor.submit(page, "change", id="hall", node=goal.id, do="correct", label="Rent out the hall")
    shown = text_of(visitor.get(page).body)
    assert f"Said by user in message {goal.source.turn} ; corrected by hand" in shown
    assert "Value" not in shown and "hand in message" not in shown


def test_what_is_corrected_is_in_the_block(memory: SessionMemory, visitor: Visitor, fact: Node) -> None:
    visitor.submit(f"fact?id=hall&node={fact.id}", "change", id="hall", node=fact.id, do="correct", label="MariaDB")
    assert "MariaDB" in text_of(visitor.get("session?id=hall").body)
    assert "PostgreSQL" in text_of(visitor.get("history?id=hall").body)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"do": "invalidate", "reason": " "}, "give a reason"),
        ({"do": "explode"}, "nothing that can be done"),
        ({"do": "correct", "label": "\u202e"}, "needs words"),
        ({"do": "undo", "number": "9"}, "no change 9"),
        ({"do": "undo", "number": "x"}, "no change 0"),
        ({"do": "pin", "node": "task-999"}, "no fact 'task-999'"),
    ],
)
def test_what_cannot_be_done_is_told(
    fields: dict[str, str], said: str, memory: SessionMemory, visitor: Visitor, fact: Node
) -> None:
    told = visitor.submit(f"fact?id=hall&node={fact.id}", "change", **{"id": "hall", "node": fact.id, **fields})
    assert told.status in (404, 422)
    assert said in text_of(told.body)
    assert memory.edits("hall") == []


def test_a_form_that_is_none(visitor: Visitor) -> None:
    assert visitor.post("change", {"x": "y" * 70_000}).status == 400
    assert visitor.post("change", {}, {"content-type": "application/json"}).status == 400


def test_a_checkpoint_by_hand(memory: SessionMemory, visitor: Visitor) -> None:
    shown = visitor.submit("session?id=hall", "checkpoint", id="hall")
    assert "Checkpoint made" in text_of(shown.body)
    assert memory.view("hall", lambda state: len(state.checkpoints)) == 2


def test_a_session_is_erased_when_one_is_sure(memory: SessionMemory, visitor: Visitor) -> None:
    assert "cannot be undone" in text_of(visitor.get("forget?id=hall").body)
    unsure = visitor.submit("forget?id=hall", "forget", id="hall")
    assert "tick the box" in text_of(unsure.body)
    assert memory.log.sessions("local")
    visitor.get("history?id=hall")
    visitor.get("")
    gone = visitor.submit("forget?id=hall", "forget", id="hall", sure="yes")
    assert "erased for good" in gone.body
    assert memory.log.sessions("local") == []
    assert visitor.get("history?id=hall").status == 404
    assert "village hall" not in visitor.get("").body


def test_a_change_that_is_undone_has_no_button(memory: SessionMemory, visitor: Visitor, fact: Node) -> None:
    memory.pin("hall", fact.id)
    memory.correct("hall", fact.id, label="MariaDB")
    memory.undo("hall", 2)
    shown = visitor.get(f"fact?id=hall&node={fact.id}").body
    assert [f"Undo change {number}" in shown for number in (1, 2, 3)] == [True, False, True]


def test_a_fact_by_hand_was_said_in_no_message(memory: SessionMemory, visitor: Visitor) -> None:
    added = memory.remember("hall", "Never print the guest list")
    shown = text_of(visitor.get(f"fact?id=hall&node={added.id}").body)
    assert "by hand" in shown
    assert "hand in message" not in shown
    assert "guest list" not in text_of(visitor.get("transcript?id=hall").body)


def test_a_task_is_completed(memory: SessionMemory, visitor: Visitor, fact: Node) -> None:
    form = "<summary>Complete</summary>"
    task = memory.remember("hall", "Sweep the hall", "task")
    page = f"fact?id=hall&node={task.id}"
    assert form in visitor.get(page).body
    assert form not in visitor.get(f"fact?id=hall&node={fact.id}").body
    shown = visitor.submit(page, "change", id="hall", node=task.id, do="complete", reason="swept").body
    assert "Blocks list it as done." in text_of(shown)
    assert form not in shown
    assert task.id in [one.id for one in memory.graph("hall").nodes("task", status="completed")]


def test_a_replaced_fact_is_kept_beside_the_one_that_replaced_it(memory: SessionMemory, visitor: Visitor) -> None:
    (step,) = memory.graph("hall").transitions()
    page = f"fact?id=hall&node={step.old}"
    assert "What replaced it" in text_of(visitor.get(page).body)
    shown = visitor.submit(page, "change", id="hall", node=step.old, do="separate", reason="the tests use it")
    assert "It holds again, beside the fact that replaced it." in text_of(shown.body)
    assert memory.graph("hall").transitions() == []
    assert "Kept beside the fact that had replaced it change 1 value of: database nothing the tests use it" in text_of(
        shown.body
    )
    assert "Keep both" not in text_of(visitor.get(page).body)
    assert "Keep both" not in text_of(visitor.get(f"fact?id=hall&node={step.new}").body)
    visitor.submit(page, "change", id="hall", node=step.old, do="undo", number="1")
    assert memory.graph("hall").transitions() == [step]


def test_a_reason_by_hand_takes_the_place_of_the_one_that_was_read(memory: SessionMemory, visitor: Visitor) -> None:
    memory.record("swap", [{"role": "user", "content": "We use DuckDB for the timetable."}])
    memory.record("swap", [{"role": "user", "content": "SQLite instead of DuckDB, because I am a bit sad."}])
    node = next(one for one in memory.graph("swap").nodes(status="active") if "SQLite" in one.label)
    memory.invalidate("swap", node.id, "I am sad")
    memory.undo("swap", 1)
    assert memory.graph("swap").life(node.id).reason
    memory.correct("swap", node.id, detail="DuckDB ran out of memory")
    card = str(visitor.get(f"fact?id=swap&node={node.id}").body).partition("</dl>")[0]
    assert "DuckDB ran out of memory" in card
    assert "<dt>Reason</dt>" not in card
