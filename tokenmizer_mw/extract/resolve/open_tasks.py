"""Finds the open task that a message is about, and tells tasks that the user ordered from those that the assistant
announced."""

from __future__ import annotations

from tokenmizer_mw.extract.finding import Finding
from tokenmizer_mw.extract.match.ahead import is_postponement
from tokenmizer_mw.extract.match.rule_hits import read_hits
from tokenmizer_mw.extract.rules import Act, Speaker
from tokenmizer_mw.extract.text.similar import likeness, overlap
from tokenmizer_mw.model.node import Node, NodeType, Trust

from .facts import ANSWERING, RELATED, find_asked_tasks, is_asked_now
from .ledger import Ledger, is_open
from .node_search import SAME_TASK, find_described, find_nearest


def is_order(task: Node) -> bool:
    """Whether the user ordered a task, or accepted it when the assistant proposed it. False if the user's sentence
    postpones it."""
    if task.source.trust is Trust.ADOPTED:
        return True
    return not is_postponement(task.source.quote) and any(
        hit.rule.act is Act.REQUEST for hit in read_hits(task.source.quote, Speaker.USER)
    )


def is_announced(node: Node) -> bool:
    """Whether a node is a task that the assistant announced or proposed and that the user has not accepted."""
    return node.type is NodeType.TASK and node.source.trust is Trust.PROPOSED


def find_open_task(ledger: Ledger, finding: Finding) -> Node | None:
    """Return the open task that a finding is about; ``None`` for none. Tasks mentioned since the user's last message
    need an ``overlap`` of ``ANSWERING`` with the finding's label, others of ``RELATED``; announced tasks that the
    assistant announces again need a ``likeness`` of ``SAME_TASK``."""

    def is_meant(node: Node) -> bool:
        if finding.trust is Trust.PROPOSED and is_announced(node):  # one step after another, in like words
            return is_open(node) and likeness(finding.label, node.label) >= SAME_TASK
        return is_open(node) and (is_asked_now(ledger, node) or overlap(finding.label, node.label) >= RELATED)

    return find_described(ledger.graph, finding.label, NodeType.TASK, is_meant, ANSWERING)


def find_only_asked(ledger: Ledger) -> Node | None:
    """Return the only open task that the user's last message ordered. ``None`` if there are none or several, if the
    current message has already closed a task, or if it is not the assistant's."""
    asked = [task for task in find_asked_tasks(ledger) if task.source.turn == ledger.asked]
    closed = find_nearest(
        ledger.graph, lambda node: node.type is NodeType.TASK and ledger.last_touched(node) == ledger.turn, settled=True
    )
    return asked[0] if len(asked) == 1 and not closed and ledger.role == "assistant" else None
