"""Completes the tasks that a message reports as finished, and adds finished work that nobody had asked for.

A claim is a statement that something was done.
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
"""The words of a claim replace the label of the task that it finishes only if the claim has at least ``TOLD_WORDS``
content stems and at most ``TOLD_MAX`` characters. A claim with fewer stems replaces the label if it has all of its
stems and more."""

FORMAL: Final = 0.9
"""Confidence of claims with a formal marker such as "Completed:". Their text usually does not replace the task's
label."""

CLAIMS_MAX: Final = 4
"""Claims of work that nobody asked for are added without further conditions, up to this many in a message. Above, a
claim is added only if it shares ``ASKED_WORDS`` words with the user's last message."""

POINTS_MAX: Final = 8
"""Most claims of work that nobody asked for that one message may add, whatever words they have."""

ASKED_WORDS: Final = 2
"""Fewest content stems that a claim shares with the user's last message to count as an answer to it."""

COMMITTED: Final = "committed"
"""Value of ``Finding.detail`` for a finding read from a commit."""

COMMIT_WORD: Final = "commit"


def close_task(ledger: Ledger, finding: Finding) -> Node | None:
    """Complete a task, and return its node; ``None`` if nothing changed.

    - If ``finding.target`` is the number of an item of the agent's plan ("task #3"), that item.
    - If the finding has a label, the open task that the label describes; without such a task, the work is added as a
      completed task.
    - Without a label, all open tasks of the user's last message. The first is returned.
    """
    if finding.target.startswith(ITEM):
        return move_item(ledger, finding)
    return _close_named(ledger, finding) if finding.label else _close_asked(ledger, finding)


def _close_named(ledger: Ledger, finding: Finding) -> Node | None:
    """Complete the task that the finding's label describes, and return its node. If there is none, add the work as a
    completed task; ``None`` if it is left out (see ``is_surplus_claim``) or its label is a single word that the user
    did not use."""
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
    """Whether the task was announced by the assistant, with or without the user's consent, and the finding states in
    words, not by a tool call, that it is finished."""
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
    """Complete the pending orders of the user's last message, if that message asked for a commit. ``finding`` is that
    commit."""
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
    """Whether a claim is left out, because the message has already reported enough work that nobody had asked for: more
    than ``POINTS_MAX`` claims, or more than ``CLAIMS_MAX`` if it shares fewer than ``ASKED_WORDS`` words with the
    user's last message. Never true for tool calls."""
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
    """The claim's label, as the detail of the task that it finishes; "" if it names other files than the task, adds no
    word to the task's label, or comes from a tool call."""
    if finding.certain or content(finding.label) <= content(task.label):
        return ""
    theirs, ours = set(find_paths(finding.label)), set(find_paths(task.label))
    return finding.label if not (theirs and ours) or theirs & ours else ""
