"""Records findings about errors in the graph: adds errors, completes fixed ones, and reopens those that occur again.

Each public function takes the ledger and one finding. ``close_error`` returns ``None`` if nothing changed.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Final

from tokenmizer_mw.extract.finding import Finding, Move
from tokenmizer_mw.extract.match.ahead import is_postponement
from tokenmizer_mw.extract.structure import is_covering
from tokenmizer_mw.extract.structure.failures import is_misuse
from tokenmizer_mw.extract.text.similar import content, split_words
from tokenmizer_mw.model.event import WENT_ON
from tokenmizer_mw.model.node import LABEL_MAX, EdgeType, Node, NodeType, Status

from .facts import ANSWERING, RELATED, find_same_fact, is_asked_now
from .finished_tasks import is_surplus_claim
from .ledger import Ledger, is_open
from .node_search import find_described, find_nearest
from .open_tasks import find_open_task
from .plan_steps import covers_plan

REACH: Final = 12
"""An error that "it works now" is about was mentioned at most this many messages ago."""

SHOWN_MAX: Final = 64
"""Number of newest unfinished nodes that are searched for errors of a command which succeeds now."""

_FIXED: Final = split_words("fixed solved resolved repaired")
"""Words of users for an error that is gone."""


def note_error(ledger: Ledger, finding: Finding) -> Node:
    """Record an error and return its node. A fixed error that is reported again by a later message is reopened."""
    same = find_same_fact(ledger, finding)
    if same is None:
        return ledger.add(finding)
    if finding.status is Status.ACTIVE and same.status is Status.COMPLETED and ledger.last_touched(same) < ledger.turn:
        ledger.move(same, Status.ACTIVE, finding)
    elif finding.certain and finding.status is not same.status:
        ledger.move(same, finding.status, finding)
    ledger.merge(same, finding)
    return same


def close_error(ledger: Ledger, finding: Finding) -> Node | None:
    """Complete the error that was fixed according to the finding. Returns its node, or the task that fixed it if there
    is no such error; ``None`` if nothing changed.

    - ``finding.detail`` says what was done about the error. It is recorded as a finished task, which fixes the error.
    - Without it and without a matching error, the finding completes a task, or the error is added as fixed, if the user
      calls it fixed.
    - A finding from a tool call without a label is about a command that succeeds now: it completes the errors that this
      command showed before.
    """
    if finding.certain and not finding.label:
        return _close_shown_errors(ledger, finding)
    error = _find_open_error(ledger, finding)
    task = find_open_task(ledger, finding) if finding.label else None
    if error is not None:
        ledger.move(error, Status.COMPLETED, finding)
        ledger.merge(error, replace(finding, type=NodeType.ERROR, detail=""))
    if finding.detail:  # somebody says what was done about it
        task = _finish_fix(ledger, finding, task, error)
        if error is not None and task is not None:
            ledger.link(task, EdgeType.FIXES, error)
    elif error is None:
        task = _confirm_task(ledger, finding, task) or _add_fixed_error(ledger, finding)
    return error or task


def _close_shown_errors(ledger: Ledger, finding: Finding) -> Node | None:
    """Complete the errors that a command showed before, because the command succeeds now. Returns the newest of these
    errors; ``None`` if there is none."""
    shown = [
        node
        for node in islice(ledger.graph.newest_unfinished(), SHOWN_MAX)
        if node.type is NodeType.ERROR and is_covering(finding.target, node.detail)
    ]
    for error in shown:
        ledger.move(error, Status.COMPLETED, finding, WENT_ON if is_misuse(error.label) else "")
    return shown[0] if shown else None


def _find_open_error(ledger: Ledger, finding: Finding) -> Node | None:
    """The open error that was fixed according to a finding: the one that its label describes, else the newest; ``None``
    for none."""

    def recent(node: Node) -> bool:
        return node.type is NodeType.ERROR and ledger.last_touched(node) >= max(ledger.turn - REACH, 1)

    if not finding.label:
        return next(iter(find_nearest(ledger.graph, recent)), None)
    floor = ANSWERING if finding.detail else RELATED
    found = find_described(ledger.graph, finding.label, NodeType.ERROR, is_open, floor)
    if found is not None or not finding.detail:
        return found
    return next(iter(find_nearest(ledger.graph, lambda node: recent(node) and is_asked_now(ledger, node))), None)


def _finish_fix(ledger: Ledger, finding: Finding, task: Node | None, error: Node | None) -> Node | None:
    done = replace(finding, type=NodeType.TASK, move=Move.CLOSE, slot="", value="")
    if task is not None:
        ledger.move(task, Status.COMPLETED, done)
        ledger.merge(task, done)
        return task
    label = f"Fix: {error.label}: {finding.label}" if error is not None else f"Fix: {finding.label}"
    done = replace(done, label=label[:LABEL_MAX].rstrip(), detail="" if len(label) <= LABEL_MAX else done.detail)
    same = find_same_fact(ledger, done)
    if same is not None:
        return same
    ledger.claims += error is None
    return None if error is None and is_surplus_claim(ledger, done) else ledger.add(done, status=Status.COMPLETED)


def _confirm_task(ledger: Ledger, finding: Finding, task: Node | None) -> Node | None:
    """Complete ``task``; for a bare "works now", the task that was mentioned last, unless the message has already said
    the same of an error ("fixed, it's gone").

    A plan of several steps is not done when one of them works, and work that the user postponed has not begun.
    """

    def worked_on(node: Node) -> bool:
        recent = node.type is NodeType.TASK and ledger.last_touched(node) >= max(ledger.asked, 1)
        return recent and not (node.source.role == "user" and is_postponement(node.source.quote))

    if task is None and not finding.label:
        if find_nearest(ledger.graph, lambda node: _is_fixed_now(ledger, node), settled=True):
            return None
        task = next(iter(find_nearest(ledger.graph, worked_on)), None)
    elif task is not None and finding.label and not covers_plan(finding.label, task.label):
        return None
    if task is not None:
        ledger.move(task, Status.COMPLETED, finding)
    return task


def _is_fixed_now(ledger: Ledger, node: Node) -> bool:
    """Whether a node is an error that the current message says is fixed."""
    fixed = node.type is NodeType.ERROR and node.status is Status.COMPLETED and ledger.last_touched(node) == ledger.turn
    return fixed and ledger.graph.life(node.id).reason != WENT_ON


def _add_fixed_error(ledger: Ledger, finding: Finding) -> Node | None:
    """Add an error that nobody had reported as fixed, if the user says so. "It works" alone adds nothing."""
    said = split_words(finding.quote.casefold().replace(",", " ").replace(".", " "))
    if ledger.role != "user" or not finding.label or _FIXED.isdisjoint(said) or len(content(finding.label)) == 1:
        return None
    return ledger.add(finding, status=Status.COMPLETED)
