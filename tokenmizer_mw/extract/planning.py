"""Items of agents' plans: moved by their numbers, and left behind when a plan is not kept up."""

from __future__ import annotations

from itertools import islice
from typing import Final

from tokenmizer_mw.model.node import Node, NodeType, Status, Trust

from .finding import Finding
from .ledger import Ledger, first
from .matching import near
from .structure.certain import make_plan_task

ITEMS_MAX: Final = 64
"""Unfinished nodes, the newest, among which an item is looked for."""


def move_item(ledger: Ledger, finding: Finding) -> Node | None:
    """An item of a plan that is known by its number goes on. A step that only looked leaves nothing behind."""
    unfinished = islice(ledger.graph.newest_unfinished(), ITEMS_MAX)
    item = first(node for node in unfinished if node.detail == finding.target)
    item = item or first(near(ledger.graph, lambda node: node.detail == finding.target, settled=True))
    if item is not None:
        ledger.move(item, make_plan_task(item.label, finding.status).status, finding)
    return item


def leave_behind(ledger: Ledger) -> None:
    """The user speaks again: what a plan lists that was not written down again in a whole exchange is archived, as
    nobody knows what became of it."""
    for task in near(ledger.graph, lambda node: _is_left_behind(ledger, node)):
        past = make_plan_task(task.label, Status.ARCHIVED)
        ledger.move(task, Status.ARCHIVED, past, "the plan was not kept up")


def _is_left_behind(ledger: Ledger, node: Node) -> bool:
    planned_once = node.type is NodeType.TASK and node.source.trust is Trust.STRUCTURE
    return planned_once and node.open and ledger.last_touched(node) < ledger.asked
