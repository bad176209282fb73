"""Changes items of an agent's plan (its to-do list) by their numbers, and archives items of plans that are no longer
updated."""

from __future__ import annotations

from itertools import islice
from typing import Final

from tokenmizer_mw.extract.finding import Finding
from tokenmizer_mw.extract.structure.certain import make_plan_task
from tokenmizer_mw.extract.structure.plans import ITEM
from tokenmizer_mw.model.event import NodeRevised
from tokenmizer_mw.model.node import Node, NodeType, Status, Trust

from .facts import find_same_fact
from .ledger import Ledger, first
from .node_search import find_nearest

ITEMS_MAX: Final = 64
"""Number of newest unfinished nodes, and of newest settled ones, that are searched for a plan item."""


def note_item(ledger: Ledger, finding: Finding) -> Node:
    """Record a plan item with its number, and return its node. A task without a number that says the same becomes that
    item. If a numbered item says the same, a second item is added."""
    same = find_same_fact(ledger, finding)
    if same is None or is_item(same):
        return ledger.add(finding)
    if not same.current or same.status is Status.COMPLETED:
        ledger.move(same, finding.status, finding)
    changes = {"label": finding.label, "detail": finding.detail, "source": ledger.make_source(finding)}
    ledger.emit(NodeRevised(same.id, changes, ledger.turn))
    return same


def move_item(ledger: Ledger, finding: Finding) -> Node | None:
    """Change the label or the status of the plan item whose number is ``finding.target``, and return its node; ``None``
    if there is no such item. A completed item that only looked something up is archived."""
    item = _find_item(ledger, finding.target)
    if item is None:
        return None
    label = finding.label or item.label
    if label != item.label:
        ledger.emit(NodeRevised(item.id, {"label": label}, ledger.turn))
    status = make_plan_task(label, finding.status).status
    if item.status is Status.ARCHIVED and status is Status.IN_PROGRESS:
        ledger.move(item, Status.PENDING, finding)
    ledger.move(item, status, finding)
    return item


def _find_item(ledger: Ledger, number: str) -> Node | None:
    """The newest item, open or settled, with the detail ``number`` ("task #3"); ``None`` for none."""
    nodes = (ledger.graph.newest_unfinished(), ledger.graph.newest_settled())
    return first(node for some in nodes for node in islice(some, ITEMS_MAX) if node.detail == number)


def is_item(node: Node) -> bool:
    """Whether a node is a task that is a plan item with a number."""
    return node.type is NodeType.TASK and node.detail.startswith(ITEM)


def archive_stale_items(ledger: Ledger) -> None:
    """Archive open plan items without numbers that the plan has not listed again since the user's last message: what
    became of them is unknown. Called when the user writes again. Numbered items stay, because agents do not list them
    again."""
    for task in find_nearest(ledger.graph, lambda node: _is_stale(ledger, node)):
        past = make_plan_task(task.label, Status.ARCHIVED)
        ledger.move(task, Status.ARCHIVED, past, "the plan was not kept up")


def _is_stale(ledger: Ledger, node: Node) -> bool:
    planned_once = node.type is NodeType.TASK and node.source.trust is Trust.STRUCTURE and not is_item(node)
    return planned_once and node.open and ledger.last_touched(node) < ledger.asked
