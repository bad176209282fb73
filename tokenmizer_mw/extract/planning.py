"""Items of agents' plans: moved by their numbers, and left behind when a plan is not kept up."""

from __future__ import annotations

from itertools import islice
from typing import Final

from tokenmizer_mw.model.event import NodeRevised
from tokenmizer_mw.model.node import Node, NodeType, Status, Trust

from .facts import find_same_fact
from .finding import Finding
from .ledger import Ledger, first
from .matching import find_nearest
from .structure.certain import make_plan_task
from .structure.plans import ITEM

ITEMS_MAX: Final = 64
"""Unfinished nodes, and settled ones, among which an item is looked for, the newest."""


def note_item(ledger: Ledger, finding: Finding) -> Node:
    """The client puts an item on its plan, under a number. An order that it repeats becomes that item; one of another
    number is another item, however alike the two are."""
    same = find_same_fact(ledger, finding)
    if same is None or is_item(same):
        return ledger.add(finding)
    if not same.current or same.status is Status.COMPLETED:
        ledger.move(same, finding.status, finding)
    changes = {"label": finding.label, "detail": finding.detail, "source": ledger.source(finding)}
    ledger.emit(NodeRevised(same.id, changes, ledger.turn))
    return same


def move_item(ledger: Ledger, finding: Finding) -> Node | None:
    """An item of a plan that is known by its number gets another subject or goes on, whatever was said about it. A step
    that only looked leaves nothing behind."""
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
    """The newest item of that number, open or settled."""
    nodes = (ledger.graph.newest_unfinished(), ledger.graph.newest_settled())
    return first(node for some in nodes for node in islice(some, ITEMS_MAX) if node.detail == number)


def is_item(node: Node) -> bool:
    """Whether the client knows a task by a number."""
    return node.type is NodeType.TASK and node.detail.startswith(ITEM)


def archive_stale_items(ledger: Ledger) -> None:
    """The user speaks again: what a plan lists that was not written down again in a whole exchange is archived, as
    nobody knows what became of it. Items with numbers stay: they are not written down again."""
    for task in find_nearest(ledger.graph, lambda node: _is_stale(ledger, node)):
        past = make_plan_task(task.label, Status.ARCHIVED)
        ledger.move(task, Status.ARCHIVED, past, "the plan was not kept up")


def _is_stale(ledger: Ledger, node: Node) -> bool:
    planned_once = node.type is NodeType.TASK and node.source.trust is Trust.STRUCTURE and not is_item(node)
    return planned_once and node.open and ledger.last_touched(node) < ledger.asked
