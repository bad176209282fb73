"""Completes the tasks that a message reports as finished, and adds finished work that nobody had asked for.

In: a finding that closes a task, and the ledger. Out: the node of the task, ``None`` if nothing changed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tokenmizer_mw.extract.candidates.finding_makers import find_paths
from tokenmizer_mw.extract.compose.meaningless_labels import is_pointing
from tokenmizer_mw.extract.finding import Finding
from tokenmizer_mw.extract.structure.plans import ITEM
from tokenmizer_mw.extract.text.similar import content
from tokenmizer_mw.model.event import NodeRevised
from tokenmizer_mw.model.node import Node, Status, Trust

from .facts import find_asked_tasks, find_same_fact
from .ledger import Ledger, first
from .open_tasks import find_only_asked, find_open_task, is_announced, is_order
from .plan_items import move_item
from .plan_steps import covers_plan

TOLD_WORDS: Final = 3
TOLD_MAX: Final = 120
"""A claim replaces the label of the order that it finishes only if it has at least ``TOLD_WORDS`` content stems and at
most ``TOLD_MAX`` characters."""

FORMAL: Final = 0.9
"""Confidence of formal markers ("Completed:"). Their text does not replace the label of the order."""

CLAIMS_MAX: Final = 4
"""How many pieces of finished work that nobody asked for one message may add. More are details, unless they share words
with the user's message."""

POINTS_MAX: Final = 8
"""How many one message may add, even of work that shares words with the user's message."""

ASKED_WORDS: Final = 2
"""Fewest words that a claim shares with the user's message if it is about what was asked."""

COMMITTED: Final = "committed"
"""Detail of the finding of a commit."""

COMMIT_WORD: Final = "commit"


def close_task(ledger: Ledger, finding: Finding) -> Node | None:
    """Complete the task that a finding is about: a plan item by its number, the task that the label describes, or,
    without a label, everything that the user's last message asked for."""
    if finding.target.startswith(ITEM):
        return move_item(ledger, finding)
    return _close_named(ledger, finding) if finding.label else _close_asked(ledger, finding)


def _close_named(ledger: Ledger, finding: Finding) -> Node | None:
    """Complete the task that the label describes. Reported work that nobody had asked for is added as a completed
    task."""
    task = find_open_task(ledger, finding) or find_only_asked(ledger)
    if task is not None and _is_own_plan(task, finding) and not covers_plan(finding.label, task.label):
        task = None
    if finding.certain and finding.detail == COMMITTED:
        _complete_committed(ledger, finding)
    if task is not None:
        ledger.move(task, Status.COMPLETED, finding)
        if is_announced(task) or _is_better_label(task, finding):
            ledger.emit(
                NodeRevised(task.id, {"label": finding.label, "source": ledger.make_source(finding)}, ledger.turn)
            )
        else:
            ledger.merge(task, replace(finding, detail=finding.detail or _detail_from_claim(task, finding), order=None))
        return task
    same = find_same_fact(ledger, finding)
    if same is not None:
        if same.current:
            ledger.touch(same)
        return same
    ledger.claims += 1
    if is_surplus_claim(ledger, finding):
        return None
    words = content(finding.label)
    is_told = len(words) > 1 or (bool(words) and words <= ledger.wanted())
    return ledger.add(finding, status=Status.COMPLETED) if is_told else None


def _is_own_plan(task: Node, finding: Finding) -> bool:
    """Whether the assistant announced a task itself, with or without the user's consent, and the finding is only a
    claim."""
    return task.source.trust in (Trust.PROPOSED, Trust.ADOPTED) and not finding.certain


def _close_asked(ledger: Ledger, finding: Finding) -> Node | None:
    """Complete everything that the user's last message asked for."""
    closed = find_asked_tasks(ledger)
    for asked in closed:
        told = _is_covered_by_commit(asked, finding, alone=len(closed) == 1) or (
            is_announced(asked) and is_pointing(asked.label)
        )
        ledger.move(asked, Status.ARCHIVED if told else Status.COMPLETED, finding)
    return first(closed)


def _complete_committed(ledger: Ledger, finding: Finding) -> None:
    """Complete the orders of the user's last message, if it asked for a commit and the finding is that commit."""
    if COMMIT_WORD in ledger.wanted():
        for asked in find_asked_tasks(ledger):
            if asked.status is Status.PENDING and asked.source.turn == ledger.asked and is_order(asked):
                ledger.move(asked, Status.COMPLETED, finding)


def _is_covered_by_commit(asked: Node, finding: Finding, *, alone: bool) -> bool:
    """Whether a commit makes a task redundant that it completes: an announced step, or the only order if the commit
    message shares words with it."""
    if not finding.certain:
        return False
    return is_announced(asked) or (alone and bool(content(asked.label) & content(finding.quote)))


def is_surplus_claim(ledger: Ledger, finding: Finding) -> bool:
    """Whether a claim is not added, because the message has already reported enough finished work that nobody asked
    for."""
    if finding.certain or ledger.claims <= CLAIMS_MAX:
        return False
    return ledger.claims > POINTS_MAX or len(content(finding.label) & ledger.wanted()) < ASKED_WORDS


def _is_better_label(task: Node, finding: Finding) -> bool:
    """Whether a claim describes the finished work in more detail than the order did."""
    ordered = task.source.trust is not Trust.STRUCTURE
    formal = finding.confidence >= FORMAL and not is_pointing(task.label)
    told = len(content(finding.label)) >= TOLD_WORDS or content(task.label) < content(finding.label)
    told = told and len(finding.label) <= TOLD_MAX
    return ordered and told and not formal and not finding.certain


def _detail_from_claim(task: Node, finding: Finding) -> str:
    """What a claim adds to the task that it finishes, as its detail; "" if it names other files or repeats the task."""
    if finding.certain or content(finding.label) <= content(task.label):
        return ""
    theirs, ours = set(find_paths(finding.label)), set(find_paths(task.label))
    return finding.label if not (theirs and ours) or theirs & ours else ""
