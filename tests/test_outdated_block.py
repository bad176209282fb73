"""Changes by hand after a cut: a block that states what was changed is built anew, and what a model reads beside it
marks what was corrected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from tokenmizer_mw.context.recall import QuotedPiece, outdated_mark
from tokenmizer_mw.context.tokens import counter_for
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.event import Checkpointed, Event, NodeAdded, NodeEdited, Recorded
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.node import HAND, Node, NodeType, Source, Status
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.session.outdated_block import find_outdated_facts, find_renewed_blocks, is_outdated
from tokenmizer_mw.session.reminder.content import RelevantContent, compose
from tokenmizer_mw.session.truncation import HeldCut

WINDOW = 2_000
NONCE = "0123456789abcdef"


def user(text: str) -> Message:
    return Message(Role.USER, text)


def assistant(text: str) -> Message:
    return Message(Role.ASSISTANT, text)


def talk(turns: int) -> list[Message]:
    """A chat that decides two things at its start and goes on at length."""
    decided = "Use SQLite for storage in the invoice service. Use RabbitMQ for the queue."
    said = [user(decided), assistant("Understood.")]
    for number in range(turns):
        said += [user(f"Explain detail {number} of invoices. " + "Words " * 40), assistant("Well. " * 40)]
    return [*said, user("What is left to explain?")]


@pytest.mark.parametrize(
    ("edit", "stated"),
    [
        (lambda memory: memory.correct("s", "RabbitMQ", label="NATS for the queue"), "Decided: NATS for the queue"),
        (lambda memory: memory.remember("s", "queue: NATS"), "Decided: queue: NATS (was RabbitMQ for the queue)"),
        (lambda memory: memory.invalidate("s", "RabbitMQ", "too slow"), "Rejected: RabbitMQ for the queue - too slow"),
        (lambda memory: memory.correct("s", "RabbitMQ", detail="ops know it"), "queue (ops know it)"),
    ],
)
def test_a_block_that_states_what_was_changed_by_hand_is_built_anew_once(
    edit: Callable[[SessionMemory], object], stated: str
) -> None:
    """A correction reaches the model with the next request, also for a question that shares no word with it."""
    chat = talk(20)
    with closing(SessionMemory.open("memory://")) as memory:
        first = memory.shorten("s", chat, window=WINDOW)
        assert first is not None and "RabbitMQ for the queue" in first.block
        assert edit(memory)
        second = memory.shorten("s", chat, window=WINDOW)
        assert second is not None and stated in second.block and second.kept == first.kept
        again = memory.shorten("s", [*chat, assistant("Yes."), user("Thanks.")], window=WINDOW)
        assert again is not None and again.block == second.block, "once"
        memory.undo("s")
        undone = memory.shorten("s", [*chat, assistant("Yes."), user("Thanks.")], window=WINDOW)
        assert undone is not None and stated not in undone.block and "RabbitMQ for the queue" in undone.block
        assert (memory.counters()["cut_made"], memory.counters()["block_renewed"]) == (1, 2)
        marks = memory.view("s", lambda state: [one.checkpoint for one in state.checkpoints])
        assert find_renewed_blocks(marks) == {one.id for one in marks[1:]}


@pytest.mark.parametrize(
    "edit",
    [
        lambda memory: memory.pin("s", "RabbitMQ"),
        lambda memory: memory.archive("s", "RabbitMQ"),
    ],
)
def test_other_changes_by_hand_leave_the_block_as_it_is(edit: Callable[[SessionMemory], object]) -> None:
    chat = talk(20)
    with closing(SessionMemory.open("memory://")) as memory:
        first = memory.shorten("s", chat, window=WINDOW)
        edit(memory)
        second = memory.shorten("s", chat, window=WINDOW)
        assert first is not None and second is not None and second.block == first.block


@pytest.mark.parametrize("text", ["Never deploy on a Friday", "Grafana shows the charts"])
def test_a_fact_added_by_hand_after_a_cut_is_in_the_block_of_the_next_request(text: str) -> None:
    """Also beside more rules that were read than the block has room for."""
    chat = talk(20)
    rules = [f"Never change module number {number} of the service without my word." for number in range(40)]
    chat[0] = user(f"{chat[0].text} {' '.join(rules)}")
    with closing(SessionMemory.open("memory://")) as memory:
        first = memory.shorten("s", chat, window=WINDOW)
        memory.remember("s", text)
        second = memory.shorten("s", chat, window=WINDOW)
        assert first is not None and second is not None and second.kept == first.kept
        assert text not in first.block and text in second.block
        again = memory.shorten("s", [*chat, assistant("Yes."), user("Thanks.")], window=WINDOW)
        assert again is not None and again.block == second.block, "once"
        memory.undo("s")
        undone = memory.shorten("s", [*chat, assistant("Yes."), user("Thanks.")], window=WINDOW)
        assert undone is not None and text not in undone.block


def test_a_fact_that_is_added_and_undone_before_the_next_request_leaves_the_block() -> None:
    chat = talk(20)
    with closing(SessionMemory.open("memory://")) as memory:
        first = memory.shorten("s", chat, window=WINDOW)
        memory.remember("s", "Never deploy on a Friday")
        memory.undo("s")
        second = memory.shorten("s", chat, window=WINDOW)
        assert first is not None and second is not None and second.block == first.block


def test_a_cut_whose_facts_were_corrected_meanwhile_is_not_recorded() -> None:
    state, cut = SessionState(), Checkpointed("checkpoint-1", 3, 10, "block", "digest", 3, 2, ("decision-1",))
    node = Node("decision-1", NodeType.DECISION, "Use SQLite", Status.ACTIVE, Source(1, "user"))
    state.apply(Recorded(1, 0.0, NodeAdded(node)))
    held = HeldCut.of(state.copy(), [cut])
    assert held.events_for(state) == [cut]
    state.apply(Recorded(2, 0.0, NodeEdited(1, node.id, {"label": "Use Redis"}, {"label": "Use SQLite"}, 3)))
    assert held.events_for(state) == ()


def _state(*edits: NodeEdited, block: str = "", before: int = 0) -> SessionState:
    """A session whose block states two facts, with ``edits``, of which the first ``before`` came before the cut."""
    state = SessionState()
    facts = [("decision-1", "25 per slot"), ("decision-2", "Use SQLite")]
    nodes = [Node(id, NodeType.DECISION, label, Status.ACTIVE, Source(1, "user", label)) for id, label in facts]
    cut = Checkpointed("checkpoint-1", 3, 10, block, "digest", 3, 2, ("decision-1",))
    events: list[Event] = [*map(NodeAdded, nodes), *edits[:before], cut, *edits[before:]]
    for event in events:
        state.apply(Recorded(state.seq + 1, 0.0, event))
    return state


LABEL = NodeEdited(1, "decision-1", {"label": "30 per slot"}, {"label": "25 per slot"}, 3)
NEVER = {"status": Status.INVALIDATED, "confidence": 0.0}


@pytest.mark.parametrize(
    ("edit", "outdated"),
    [
        (LABEL, True),
        (NodeEdited(1, "decision-1", {"detail": "law"}, {"detail": ""}, 3), True),
        (NodeEdited(1, "decision-1", {"status": Status.INVALIDATED}, {"status": Status.ACTIVE}, 3), True),
        (NodeEdited(1, "decision-1", {"status": Status.ACTIVE}, {"status": Status.SUPERSEDED}, 3), True),
        (NodeEdited(1, "decision-1", {"status": Status.ACTIVE}, {"status": Status.ARCHIVED}, 3, undoes=7), True),
        (NodeEdited(1, "decision-1", {"status": Status.COMPLETED}, {"status": Status.ACTIVE}, 3), False),
        (NodeEdited(1, "decision-1", {"pinned": True}, {"pinned": False}, 3), False),
        (NodeEdited(1, "decision-2", {"pinned": True}, {"pinned": False}, 3), False),
    ],
)
def test_which_edits_make_the_statement_of_a_block_outdated(edit: NodeEdited, outdated: bool) -> None:
    state = _state(edit)
    assert state.cut is not None
    assert is_outdated(state) is outdated
    assert find_outdated_facts(state, state.cut) == (("decision-1",) if outdated else ())
    assert not is_outdated(_state(edit, before=1)), "the block was made with the edit"


@pytest.mark.parametrize(
    ("edit", "outdated"),
    [
        (NodeEdited(1, "decision-2", {"label": "Use Redis"}, {"label": "Use SQLite"}, 3), True),
        (NodeEdited(1, "decision-2", {"status": Status.ACTIVE}, {"status": Status.INVALIDATED}, 3), True),
        (NodeEdited(1, "decision-2", {"status": Status.INVALIDATED}, {"status": Status.ACTIVE}, 3), False),
        (NodeEdited(1, "decision-2", {"status": Status.COMPLETED}, {"status": Status.ACTIVE}, 3), False),
    ],
)
def test_a_block_lacks_what_was_worded_or_restored_by_hand(edit: NodeEdited, outdated: bool) -> None:
    state = _state(edit)
    assert state.cut is not None
    assert is_outdated(state) is outdated
    assert find_outdated_facts(state, state.cut) == (("decision-2",) if outdated else ())


@pytest.mark.parametrize("changes", [NEVER, {"status": Status.INVALIDATED}])
@pytest.mark.parametrize(
    ("block", "outdated"),
    [
        ("Decided: 25 per slot (use sqlite)", True),
        ("Decided: 25 per slot\nSaid (User, Assistant, Tool; message number):\nU1: SQLite is what we use.", True),
        ("Decided: 25 per slot\nSaid (User, Assistant, Tool; message number):\nU2: SQLite is what we use.", False),
        ("Decided: 25 per slot", False),
    ],
)
def test_a_block_with_the_words_of_a_changed_fact_is_outdated(
    changes: dict[str, Any], block: str, outdated: bool
) -> None:
    """Also where they stand as the reason of another fact, or in a quotation."""
    before = {"status": Status.ACTIVE, "confidence": 1.0, "label": "Use SQLite"}
    edit = NodeEdited(1, "decision-2", changes, {name: before[name] for name in changes}, 3)
    assert is_outdated(_state(edit, block=block)) is outdated


def test_a_reminder_begins_with_what_the_block_states_no_longer_truly() -> None:
    """Where a block stays, as after a client's own compaction, whatever the question is."""
    state = _state(LABEL)
    cut = state.cut
    assert cut is not None
    counter, nothing = counter_for(""), RelevantContent((), {}, asks=False)
    outdated = find_outdated_facts(state, cut)
    part = compose(state.graph, cut, nothing, budget=200, counter=counter, nonce=NONCE, outdated=outdated)
    assert part is not None
    assert "- decision: 30 per slot [1]" in part.text and part.nodes == ("decision-1",)
    assert compose(state.graph, cut, nothing, budget=200, counter=counter, nonce=NONCE) is None


def test_a_quotation_of_what_was_corrected_is_marked() -> None:
    graph = SessionGraph()
    quote = "The museum agreed that 25 visitors may come in each slot."
    graph.apply(NodeAdded(Node("decision-1", NodeType.DECISION, "25 per slot", Status.ACTIVE, Source(2, HAND, quote))))
    graph.apply(LABEL)

    def mark(number: int, text: str, edits: tuple[NodeEdited, ...] = (LABEL,)) -> str:
        return outdated_mark(graph, QuotedPiece(number, "user", text), edits)

    assert mark(2, quote) == " (corrected to 30 per slot)"
    assert mark(1, "So it is 25 per slot.") == " (corrected to 30 per slot)"
    assert mark(2, f"... {quote} It is small.") == " (corrected to 30 per slot)", "the sentence itself"
    assert mark(1, quote) == ""
    assert mark(4, "So it is 25 per slot.") == "", "said after the correction"
    assert mark(1, "25 per slot was too few: 30 per slot.") == ""
    assert mark(2, quote, ()) == ""


def test_recall_marks_what_was_corrected(recorded: SessionMemory) -> None:
    recorded.correct("s", "RabbitMQ", label="NATS for the queue")
    text = recorded.recall("s", "Which queue do we use?", budget=200).text
    assert "- decision: NATS for the queue [1]" in text
    assert "[1 user] (corrected to NATS for the queue) Use SQLite" in text


@pytest.fixture
def recorded() -> Iterator[SessionMemory]:
    with closing(SessionMemory.open("memory://")) as memory:
        memory.record("s", talk(1))
        yield memory
