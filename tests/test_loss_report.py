import json
from contextlib import closing
from dataclasses import replace

import pytest

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.context.loss_report import LossReport, loss_report
from tokenmizer_mw.context.resume import build_resume
from tokenmizer_mw.context.resume.layout import QUOTES_HEAD
from tokenmizer_mw.context.tokens import TokenCounter
from tokenmizer_mw.errors import UnknownSession
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import Checkpointed, NodeAdded, NodeRevised, Reminded, StatusChanged
from tokenmizer_mw.model.message import Message, Role, Written
from tokenmizer_mw.model.node import Node, NodeType, Source, Status
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.safety.fence import nonce_for


@pytest.fixture
def graph() -> SessionGraph:
    graph = SessionGraph()
    for turn in range(1, 31):
        label = f"step number {turn}"
        graph.apply(NodeAdded(Node(f"task-{turn}", NodeType.TASK, label, Status.COMPLETED, Source(turn, "user"))))
    return graph


def cut(carried: tuple[str, ...] = (), anchor_turn: int = 21) -> Checkpointed:
    return Checkpointed("checkpoint-1", 30, 40, "block", "digest", anchor_turn, anchor_turn - 1, carried)


def test_no_cut_no_loss(graph: SessionGraph) -> None:
    assert loss_report(graph, None) == LossReport()
    assert (LossReport().text, LossReport().items) == ("", ())
    with SessionMemory.open() as memory:
        memory.record("s", [{"role": "user", "content": "Hello there."}])
        assert memory.loss_report("s") == LossReport()
        with pytest.raises(UnknownSession):
            memory.loss_report("nobody")


def test_facts_of_dropped_messages_that_the_block_does_not_carry(graph: SessionGraph) -> None:
    report = loss_report(graph, cut(carried=tuple(f"task-{turn}" for turn in range(3, 21))))
    assert [node.id for node in report.items] == ["task-1", "task-2"]
    assert (report.checkpoint, report.dropped, report.before_turn) == ("checkpoint-1", 20, 21)
    assert report.text == "[1] task: step number 1\n[2] task: step number 2"


def test_what_a_kept_message_mentions_again_is_not_lost(graph: SessionGraph) -> None:
    graph.apply(NodeRevised("task-1", {"detail": "said again"}, 25))
    graph.apply(StatusChanged("task-2", Status.INVALIDATED, 22))
    graph.apply(NodeRevised("task-3", {"detail": "said again"}, 12))
    lost = {node.id for node in loss_report(graph, cut()).items}
    assert lost == {f"task-{turn}" for turn in range(3, 21)}


def test_what_reminders_of_this_cut_told_is_marked(graph: SessionGraph) -> None:
    reminders = [
        Reminded(22, "checkpoint-1", 90, ("task-1", "task-25"), (1, 4)),
        Reminded(24, "checkpoint-1", 60, (), (2, 4)),
        Reminded(20, "checkpoint-0", 60, ("task-2",), (3,)),
    ]
    report = loss_report(graph, cut(carried=tuple(f"task-{turn}" for turn in range(3, 21))), reminders)
    assert report.returned == ("task-1",)
    assert report.quoted == (1, 2, 4)
    assert report.text == "[1] task: step number 1 (brought back by a reminder)\n[2] task: step number 2"


def test_a_fact_that_the_block_quotes_is_not_lost(graph: SessionGraph) -> None:
    """Only in the words of its own message, and only with all of its words."""
    lines = ("U3: I finished step number 3 today.", "A4: That was a step.", "U6: After step number 7, lunch.")
    block = f"<x>\nDone: something{QUOTES_HEAD}\n" + "\n".join(lines) + "\n</x>"
    lost = {node.id for node in loss_report(graph, replace(cut(), block=block)).items}
    assert lost == {f"task-{turn}" for turn in range(1, 21)} - {"task-3"}


def test_nothing_quoted_is_reported_as_lost() -> None:
    """With a real block of a real cut."""
    talk = [
        {"role": "user", "content": "Let's build the invoice service. The deployment window is on Friday evenings."},
        {"role": "assistant", "content": "Fine. I wrote the importer. I will write the exporter next."},
    ]
    talk += [
        {"role": role, "content": f"It rained for {n} hours. {'More about the weather of that day. ' * 12}"}
        for n in range(100, 130)
        for role in ("user", "assistant")
    ]
    with closing(SessionMemory.open("memory://")) as memory:
        memory.add("s", [Written(Message(Role(one["role"]), one["content"]), json.dumps(one)) for one in talk])
        block = memory.context("s", limit=3_000, reserved=500).block
        report = memory.loss_report("s")
    assert report.checkpoint
    assert all(node.label not in block for node in report.items)


def test_a_report_as_json(graph: SessionGraph) -> None:
    report = json.loads(json.dumps(loss_report(graph, cut(anchor_turn=2)).to_dict()))
    assert report == {
        "checkpoint": "checkpoint-1",
        "dropped": 1,
        "before_turn": 2,
        "returned": [],
        "quoted": [],
        "items": [{"id": "task-1", "type": "task", "status": "completed", "label": "step number 1", "turn": 1}],
    }


@pytest.mark.parametrize("budget", [100, 150, 1_000])
def test_carried_and_lost_together_are_everything_dropped(graph: SessionGraph, budget: int) -> None:
    nonce = nonce_for(b"secret", SessionKey("local", "s"), "checkpoint-1")
    resume = build_resume(
        graph, budget=budget, counter=TokenCounter("thirds", False, lambda t: len(t) // 3), nonce=nonce
    )
    lost = {node.id for node in loss_report(graph, cut(carried=resume.node_ids)).items}
    assert lost | set(resume.node_ids) >= {f"task-{turn}" for turn in range(1, 21)}
    assert not lost & set(resume.node_ids)
    assert bool(lost) == (budget < 1_000)
