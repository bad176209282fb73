"""Items of agents' plans: changed by their numbers, and archived when the plan is not kept up."""

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
"""Unfinished nodes, and settled ones, among which an item is looked for, the newest."""


def note_item(ledger: Ledger, finding: Finding) -> Node:
    """Record a plan item with its number. An order with the same content becomes that item; an item with another number
    is another item, however similar."""
    same = find_same_fact(ledger, finding)
    if same is None or is_item(same):
        return ledger.add(finding)
    if not same.current or same.status is Status.COMPLETED:
        ledger.move(same, finding.status, finding)
    changes = {"label": finding.label, "detail": finding.detail, "source": ledger.make_source(finding)}
    ledger.emit(NodeRevised(same.id, changes, ledger.turn))
    return same


def move_item(ledger: Ledger, finding: Finding) -> Node | None:
    """Change subject or status of the plan item with the finding's number. A step that only looked at something is
    archived when done."""
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
    """The newest item with that number, open or settled."""
    nodes = (ledger.graph.newest_unfinished(), ledger.graph.newest_settled())
    return first(node for some in nodes for node in islice(some, ITEMS_MAX) if node.detail == number)


def is_item(node: Node) -> bool:
    """Whether a task is a plan item with a number."""
    return node.type is NodeType.TASK and node.detail.startswith(ITEM)


def archive_stale_items(ledger: Ledger) -> None:
    """Archive plan items, when the user speaks again, that were not written down again in a whole exchange: nobody
    knows what became of them. Numbered items stay, because they are not written down again."""
    for task in find_nearest(ledger.graph, lambda node: _is_stale(ledger, node)):
        past = make_plan_task(task.label, Status.ARCHIVED)
        ledger.move(task, Status.ARCHIVED, past, "the plan was not kept up")


def _is_stale(ledger: Ledger, node: Node) -> bool:
    planned_once = node.type is NodeType.TASK and node.source.trust is Trust.STRUCTURE and not is_item(node)
    return planned_once and node.open and ledger.last_touched(node) < ledger.asked
