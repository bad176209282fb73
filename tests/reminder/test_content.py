"""What a reminder shows within its budget: the most relevant passages, old values marked."""

from __future__ import annotations

import pytest

from tokenmizer_mw.context.assembly import ReminderPart
from tokenmizer_mw.context.recall import PassageIndex
from tokenmizer_mw.context.tokens import counter_for
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import Checkpointed, DecisionReplaced, NodeAdded
from tokenmizer_mw.model.node import Node, NodeType, Source, Status, Transition
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.safety.fence import nonce_for
from tokenmizer_mw.session.reminder.content import compose, select_relevant

QUESTION = "Where is the nightly report of the warehouse stored?"
NEW = "PostgreSQL on the machine in the second rack, reached through the pooler of the operations team"
CUT = Checkpointed("checkpoint-1", 9, 40, "nothing of it", "anchor", 9, 8)
NONCE = nonce_for(b"secret", SessionKey("local", "s"), "checkpoint-1/reminder")
COUNTER = counter_for("gpt-4o")
BEST = "The nightly report of the warehouse is stored in sqlite, in the file stock.db of the warehouse."
OTHERS = (
    "Somebody stored a report of the holidays in sqlite as well, three years ago, and nobody has opened it.",
    "The warehouse asks for a report with colours; sqlite has nothing to do with it, says the designer.",
    "A report on sqlite was read aloud in the meeting, which took place in the warehouse for lack of rooms.",
)


def graph_with_change() -> SessionGraph:
    graph = SessionGraph()
    for id, label, status, turn in (
        ("decision-1", "sqlite", Status.SUPERSEDED, 1),
        ("decision-2", NEW, Status.ACTIVE, 8),
    ):
        graph.apply(NodeAdded(Node(id, NodeType.DECISION, label, status, Source(turn, "user"))))
    graph.apply(DecisionReplaced(Transition("decision-1", "decision-2", 8, "", ())))
    return graph


def remind(budget: int) -> ReminderPart | None:
    index = PassageIndex()
    for number, text in enumerate((*OTHERS, BEST), 1):
        index.add(number, "assistant", text)
    found = select_relevant(QUESTION, index.rank(QUESTION), asks=True)
    return compose(graph_with_change(), CUT, found, budget=budget, counter=COUNTER, nonce=NONCE)


@pytest.mark.parametrize("budget", range(130, 260, 10))
def test_a_tight_budget_costs_the_least_relevant_passage(budget: int) -> None:
    part = remind(budget)
    assert part is not None
    assert part.tokens == COUNTER.count(part.text) <= budget
    assert BEST in part.text


def test_a_new_value_is_named_once() -> None:
    part = remind(600)
    assert part is not None
    assert all(text in part.text for text in (BEST, *OTHERS))
    assert part.text.count(f"replaced in [8] by {NEW}") == 1
    assert part.text.count("(old)") == len(OTHERS)


def test_no_budget_no_reminder() -> None:
    assert remind(20) is None


@pytest.mark.parametrize(("role", "is_stated"), [("hand", True), ("user", False)])
def test_a_fact_by_hand_is_stated_although_the_cut_is_older(role: str, is_stated: bool) -> None:
    """No message that the request still has states it."""
    graph = graph_with_change()
    label = "the nightly report of the warehouse lies on the share"
    graph.apply(NodeAdded(Node("decision-3", NodeType.DECISION, label, Status.ACTIVE, Source(12, role))))
    index = PassageIndex()
    index.add(4, "assistant", BEST)
    found = select_relevant(QUESTION, index.rank(QUESTION), asks=True)
    part = compose(graph, CUT, found, budget=300, counter=COUNTER, nonce=NONCE)
    assert part is not None and (label in part.text) is is_stated
