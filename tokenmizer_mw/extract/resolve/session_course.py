"""Completes or archives tasks and errors because the session went on: the user wrote about something else, or the
assistant reported at the end of its work."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final

from tokenmizer_mw.extract.finding import Finding, Move
from tokenmizer_mw.extract.rules.acknowledgement_words import LEAVES_OPEN
from tokenmizer_mw.extract.structure.failures import is_misuse
from tokenmizer_mw.extract.text.pattern import PatternSet
from tokenmizer_mw.extract.text.phrases import bound_sentence
from tokenmizer_mw.extract.text.prose import find_sentences, replace_surrogates
from tokenmizer_mw.extract.text.similar import content, overlap
from tokenmizer_mw.model.event import WENT_ON
from tokenmizer_mw.model.node import Node, NodeType, Status, Trust

from .facts import ANSWERING, find_asked_tasks
from .ledger import Ledger
from .node_search import find_nearest
from .open_tasks import is_announced, is_order
from .plan_items import archive_stale_items

LEFT_WORDS: Final = 2
"""A sentence that postpones something and has at most this many content stems does not name what it postpones. It then
keeps every error open."""

NEWEST_MAX: Final = 64
"""Number of newest settled nodes that a report may archive, and of newest unfinished nodes that are searched for wrong
tool calls when the work ends."""

_LEAVES_OPEN: Final = PatternSet(*LEAVES_OPEN)


def close_tasks_left_by_user(ledger: Ledger, findings: Sequence[Finding], left: Status, text: str) -> None:
    """Close the pending orders of the user's last message when the user writes again without a complaint. A finding in
    ``findings`` that reports an error is a complaint: then nothing is closed.

    - ``left``: the new status, from ``message.status_when_user_moves_on``.
    - ``text``: the user's new message.

    If the orders are completed or the assistant finished any task, errors that the user reported count as fixed: five
    of six are. An error stays open if ``text`` postpones it, or postpones something without naming it.
    """
    if any(finding.type is NodeType.ERROR and finding.move in (Move.NOTE, Move.REOPEN) for finding in findings):
        return
    for task in find_asked_tasks(ledger):
        if task.status is Status.PENDING and task.source.turn == ledger.asked and is_order(task):
            move_as_gone_past(ledger, task, left)
    if left is Status.COMPLETED or _has_assistant_worked(ledger):
        put_off = words_of_postponing_sentences(text)
        for error in find_nearest(ledger.graph, lambda node: _is_error_reported_by_user(ledger, node)):
            if not any(len(words) <= LEFT_WORDS or words & content(error.label) for words in put_off):
                move_as_gone_past(ledger, error, Status.COMPLETED)


def words_of_postponing_sentences(text: str) -> list[frozenset[str]]:
    """Return the content stems of each sentence of ``text`` that postpones something; [] for none."""
    text = replace_surrogates(text)
    said = [bound_sentence(text[start:end]) for start, end in find_sentences(text, 0, len(text))]
    return [content(one) for one in said if _LEAVES_OPEN.any(one)]


def _has_assistant_worked(ledger: Ledger) -> bool:
    """Whether the assistant has finished a task since the user's last message."""
    return bool(find_nearest(ledger.graph, lambda node: _is_claimed_in_exchange(ledger, node), settled=True))


def _is_error_reported_by_user(ledger: Ledger, node: Node) -> bool:
    """Whether a node is an open error that the user reported and last mentioned before the assistant went to work."""
    of_user = node.type is NodeType.ERROR and node.source.role == "user"
    return of_user and node.status is Status.ACTIVE and ledger.asked <= ledger.last_touched(node) < ledger.turn


def move_as_gone_past(ledger: Ledger, node: Node, left: Status) -> None:
    """Move a node to status ``left`` because the session went on without it."""
    past = Finding(node.type, node.label, left, Trust.CLAIMED, node.confidence)
    ledger.move(node, left, past, WENT_ON)


def archive_announced_step(ledger: Ledger) -> None:
    """Archive the newest open task that the assistant announced, because the assistant now reports or announces
    something else. Nobody looks for such a step later."""
    for task in find_nearest(ledger.graph, is_announced)[:1]:
        past = Finding(task.type, task.label, Status.ARCHIVED, Trust.CLAIMED, task.confidence)
        ledger.move(task, Status.ARCHIVED, past, "a step on the way")


def archive_announced_tasks(ledger: Ledger) -> None:
    """Archive pending tasks that the assistant announced but did not begin, and stale plan items (see
    ``archive_stale_items``). Called when the user writes again."""
    for task in find_nearest(ledger.graph, lambda node: is_announced(node) and node.status is Status.PENDING):
        past = Finding(task.type, task.label, Status.ARCHIVED, Trust.CLAIMED, task.confidence)
        ledger.move(task, Status.ARCHIVED, past, "left to the user")
    archive_stale_items(ledger)


def merge_into_report(ledger: Ledger, placed: Sequence[Node | None]) -> None:
    """Archive the tasks that the assistant claimed to have finished since the user's last message, now that a later
    report covers them. ``placed``: nodes of the report's findings. A finished order is archived only if the report says
    the same. Does nothing if the report finishes no task."""
    told = [node.label for node in placed if node is not None and _is_finished_in_message(ledger, node)]
    if not told:
        return
    for task in islice(ledger.graph.newest_settled(), NEWEST_MAX):
        if not _is_claimed_in_exchange(ledger, task):
            continue
        step = task.source.trust is Trust.CLAIMED
        if step or any(overlap(task.label, label) >= ANSWERING for label in told):
            past = Finding(task.type, task.label, Status.ARCHIVED, Trust.CLAIMED, task.confidence)
            ledger.move(task, Status.ARCHIVED, past, "told by the report")


def _is_finished_in_message(ledger: Ledger, node: Node) -> bool:
    return node.type is NodeType.TASK and node.status is Status.COMPLETED and node.source.turn == ledger.turn


def _is_claimed_in_exchange(ledger: Ledger, node: Node) -> bool:
    """Whether a node is a completed task that was added since the user's last message and before the current one, from
    words rather than from a tool call."""
    within = ledger.asked <= node.source.turn < ledger.turn
    spoken = node.source.trust is not Trust.STRUCTURE
    return node.type is NodeType.TASK and node.status is Status.COMPLETED and within and spoken


def complete_begun_steps(ledger: Ledger, findings: Sequence[Finding]) -> None:
    """Complete the steps that tool calls began since the user's last message and whose results were not recorded.
    Called when the assistant reports at the end of its work. ``findings``: those of the report; if one says that
    something failed, nothing changes."""
    if any(finding.type is NodeType.ERROR or finding.status is Status.FAILED for finding in findings):
        return
    for task in find_nearest(ledger.graph, lambda node: _is_begun_step(ledger, node)):
        ledger.move(task, Status.COMPLETED, Finding(task.type, task.label, Status.COMPLETED, Trust.CLAIMED, 0.9))


def _is_begun_step(ledger: Ledger, node: Node) -> bool:
    """Whether a node is a step that a tool call of this exchange began."""
    within = ledger.asked < node.source.turn < ledger.turn
    begun = node.type is NodeType.TASK and node.status is Status.IN_PROGRESS and node.source.quote == node.label
    return begun and within and node.source.trust is Trust.CLAIMED


def close_tool_misuse(ledger: Ledger) -> None:
    """Complete the errors of wrong tool calls (such as an unknown option) when the assistant finishes: it has repeated
    the calls correctly or did not need them."""
    for error in [
        node for node in islice(ledger.graph.newest_unfinished(), NEWEST_MAX) if _is_tool_misuse(ledger, node)
    ]:
        move_as_gone_past(ledger, error, Status.COMPLETED)


def _is_tool_misuse(ledger: Ledger, node: Node) -> bool:
    of_tool = node.type is NodeType.ERROR and node.source.trust is Trust.STRUCTURE
    return of_tool and ledger.last_touched(node) < ledger.turn and is_misuse(node.label)
