"""Records findings about tasks in the graph: adds new tasks and sets tasks in progress. ``finished_tasks`` completes
them."""

from __future__ import annotations

from tokenmizer_mw.extract.finding import Finding
from tokenmizer_mw.extract.structure.plans import ITEM
from tokenmizer_mw.extract.text.similar import likeness
from tokenmizer_mw.model.node import Node, NodeType, Status, Trust

from .facts import PRECISE, find_asked_tasks, find_same_fact
from .finished_tasks import close_task
from .ledger import Ledger
from .node_search import find_described
from .open_tasks import find_open_task
from .plan_items import note_item
from .session_course import archive_announced_step


def note_task(ledger: Ledger, finding: Finding) -> Node | None:
    """Record a task with the finding's status, and return its node.

    An order that only repeats the goal of the session adds no task; the goal is returned. ``None`` if nothing changed,
    as when the finding has no label and there is no open task that it may be about.
    """
    if finding.certain and finding.detail.startswith(ITEM):
        return note_item(ledger, finding)
    if finding.status is Status.IN_PROGRESS:
        return _begin_task(ledger, finding)
    if finding.status is Status.COMPLETED and not finding.certain:
        return close_task(ledger, finding)
    same = find_same_fact(ledger, finding)
    if same is None:
        return _find_restated_goal(ledger, finding) or ledger.add(finding)
    again = finding.trust is Trust.STATED and ledger.last_touched(same) < ledger.turn
    if finding.certain or again or not same.current:
        ledger.move(same, finding.status, finding)
    ledger.merge(same, finding)
    return same


def _find_restated_goal(ledger: Ledger, finding: Finding) -> Node | None:
    """The goal of the session, if an order only repeats it; else ``None``."""
    if finding.status is Status.COMPLETED:
        return None
    goal = find_described(ledger.graph, finding.label, NodeType.GOAL, lambda node: node.current, PRECISE)
    if goal is None or likeness(goal.label, finding.label) < PRECISE:
        return None
    ledger.touch(goal)
    return goal


def _begin_task(ledger: Ledger, finding: Finding) -> Node | None:
    """Move a task to in progress: the open one that the label describes; without a label, those that were just asked
    for. If there is none, a new one is added."""
    tasks = [find_open_task(ledger, finding)] if finding.label else find_asked_tasks(ledger)
    found = [task for task in tasks if task is not None]
    for task in found:
        ledger.move(task, Status.IN_PROGRESS, finding)
        ledger.merge(task, finding)
    if found or not finding.label:
        return found[0] if found else None
    if finding.trust is Trust.PROPOSED:
        archive_announced_step(ledger)
    same = find_same_fact(ledger, finding)
    if same is not None and same.status is Status.COMPLETED:
        ledger.touch(same)
        return same
    return ledger.add(finding)
