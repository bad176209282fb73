"""What messages say about tasks and errors, applied to the graph: open, begin, finish, fail and reopen them.

In: one finding and the ledger. Out: the node that changed, ``None`` if nothing did. The functions without a finding
apply what follows from the course of the session, such as the user moving on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from tokenmizer_mw.extract.candidates.finding_makers import find_paths
from tokenmizer_mw.extract.compose.meaningless_labels import is_pointing
from tokenmizer_mw.extract.finding import Finding, Move
from tokenmizer_mw.extract.match.ahead import is_postponement
from tokenmizer_mw.extract.match.rule_hits import read_hits
from tokenmizer_mw.extract.rules import Act, Speaker
from tokenmizer_mw.extract.rules.acknowledgement_words import LEAVES_OPEN
from tokenmizer_mw.extract.structure import is_covering
from tokenmizer_mw.extract.structure.failures import is_misuse
from tokenmizer_mw.extract.structure.plans import ITEM
from tokenmizer_mw.extract.text.pattern import PatternSet
from tokenmizer_mw.extract.text.phrases import bound_sentence
from tokenmizer_mw.extract.text.prose import find_sentences, replace_surrogates
from tokenmizer_mw.extract.text.similar import content, likeness, overlap, split_words
from tokenmizer_mw.model.event import WENT_ON, NodeRevised
from tokenmizer_mw.model.node import LABEL_MAX, EdgeType, Node, NodeType, Status, Trust

from .facts import ANSWERING, PRECISE, RELATED, find_asked_tasks, find_same_fact, is_asked_now, note_fact
from .ledger import Ledger, first, is_open
from .node_search import SAME_TASK, find_described, find_nearest
from .plan_items import archive_stale_items, move_item, note_item

REACH: Final = 12
"""Messages back to which "it works now" may reach for its error."""

SHOWN_MAX: Final = 64
"""Open errors that a successful command is compared with, the newest."""

TOLD_WORDS: Final = 3
TOLD_MAX: Final = 120
"""A claim that finishes an order tells it better than the order did when it has so many words of content at least, and
so many characters at most."""

FORMAL: Final = 0.9
"""Confidence of formal markers ("Completed:"), whose text is a detail of the order."""


CLAIMS_MAX: Final = 4
"""Pieces of finished work that one message may report without anybody having asked for them; more are details,
unless they speak of what was asked."""

POINTS_MAX: Final = 8
"""All that one message may report."""

COMMITTED: Final = "committed"
"""Detail of a commit."""

COMMIT_WORD: Final = "commit"

_OVER: Final = split_words("finished done fixed solved resolved gone over works working")
"""Words with which a user says that something is over."""

_LEAVES_OPEN: Final = PatternSet(*LEAVES_OPEN)

LEFT_WORDS: Final = 2
"""A postponing sentence of at most so many content stems names nothing else that it is about."""

_FIXED: Final = split_words("fixed solved resolved repaired")
"""Words with which a user says that what was wrong no longer is."""

_STEPS: Final = re.compile(r",? (?:and )?then |; | first, | danach | puis | luego | poi | depois |,?然后")
"""What separates the steps of a plan."""

ASKED_WORDS: Final = 2
"""Words that a report shares with the user's message when it speaks of what was asked."""


def close_tasks_left_by_user(ledger: Ledger, findings: Sequence[Finding], left: Status, text: str) -> None:
    """Close the pending orders of the user's last message when the user moves on without a complaint.

    ``left``: the status they get, from ``derive.status_when_user_moves_on``; ``text``: the user's new message. If the
    assistant did any work, errors that the user reported for it count as fixed: five of six are. A complaint anywhere
    in the message leaves all of them open. Errors that the message postpones stay open; a postponing sentence that
    names something else does not count.
    """
    if any(finding.type is NodeType.ERROR and finding.move in (Move.NOTE, Move.REOPEN) for finding in findings):
        return
    for task in find_asked_tasks(ledger):
        if task.status is Status.PENDING and task.source.turn == ledger.asked and _is_order(task):
            _move_as_gone_past(ledger, task, left)
    if left is Status.COMPLETED or _has_assistant_worked(ledger):
        put_off = _words_of_postponing_sentences(text)
        for error in find_nearest(ledger.graph, lambda node: _is_error_reported_by_user(ledger, node)):
            if not any(len(words) <= LEFT_WORDS or words & content(error.label) for words in put_off):
                _move_as_gone_past(ledger, error, Status.COMPLETED)


def _words_of_postponing_sentences(text: str) -> list[frozenset[str]]:
    """Content stems of each sentence that postpones something."""
    text = replace_surrogates(text)
    said = [bound_sentence(text[start:end]) for start, end in find_sentences(text, 0, len(text))]
    return [content(one) for one in said if _LEAVES_OPEN.any(one)]


def _has_assistant_worked(ledger: Ledger) -> bool:
    """Whether the assistant has finished a task since the user's last message."""
    return bool(find_nearest(ledger.graph, lambda node: _is_claimed_in_exchange(ledger, node), settled=True))


def _is_error_reported_by_user(ledger: Ledger, node: Node) -> bool:
    """Whether a node is an open error that the user mentioned before the assistant went to work."""
    of_user = node.type is NodeType.ERROR and node.source.role == "user"
    return of_user and node.status is Status.ACTIVE and ledger.asked <= ledger.last_touched(node) < ledger.turn


def _move_as_gone_past(ledger: Ledger, node: Node, left: Status) -> None:
    """Move a node to status ``left`` because the session went on."""
    past = Finding(node.type, node.label, left, Trust.CLAIMED, node.confidence)
    ledger.move(node, left, past, WENT_ON)


def merge_into_report(ledger: Ledger, placed: Sequence[Node | None]) -> None:
    """Archive intermediate claims when the assistant reports at the end of its work; merge a finished order into the
    final report's task if the report restates it. Merged tasks are archived."""
    told = [node.label for node in placed if node is not None and _is_finished_in_message(ledger, node)]
    if not told:
        return
    for task in islice(ledger.graph.newest_settled(), SHOWN_MAX):
        if not _is_claimed_in_exchange(ledger, task):
            continue
        step = task.source.trust is Trust.CLAIMED
        if step or any(overlap(task.label, label) >= ANSWERING for label in told):
            past = Finding(task.type, task.label, Status.ARCHIVED, Trust.CLAIMED, task.confidence)
            ledger.move(task, Status.ARCHIVED, past, "told by the report")


def _is_claimed_in_exchange(ledger: Ledger, node: Node) -> bool:
    """Whether a node is a task of this exchange that was finished before the current message, according to words, not
    tool calls."""
    within = ledger.asked <= node.source.turn < ledger.turn
    spoken = node.source.trust is not Trust.STRUCTURE
    return node.type is NodeType.TASK and node.status is Status.COMPLETED and within and spoken


def complete_begun_steps(ledger: Ledger, findings: Sequence[Finding]) -> None:
    """Complete the steps of this exchange that were begun and have no recorded result, when the assistant reports at
    the end of its work. Does nothing if the report says that something failed."""
    if any(finding.type is NodeType.ERROR or finding.status is Status.FAILED for finding in findings):
        return
    for task in find_nearest(ledger.graph, lambda node: _is_begun_step(ledger, node)):
        ledger.move(task, Status.COMPLETED, Finding(task.type, task.label, Status.COMPLETED, Trust.CLAIMED, 0.9))


def close_tool_misuse(ledger: Ledger) -> None:
    """Close errors from malformed tool calls when the assistant finishes: it repeated the call correctly or did not
    need it."""
    for error in [
        node for node in islice(ledger.graph.newest_unfinished(), SHOWN_MAX) if _is_tool_misuse(ledger, node)
    ]:
        _move_as_gone_past(ledger, error, Status.COMPLETED)


def _is_tool_misuse(ledger: Ledger, node: Node) -> bool:
    of_tool = node.type is NodeType.ERROR and node.source.trust is Trust.STRUCTURE
    return of_tool and ledger.last_touched(node) < ledger.turn and is_misuse(node.label)


def _is_begun_step(ledger: Ledger, node: Node) -> bool:
    """Whether a node is a step that a tool call of this exchange began."""
    within = ledger.asked < node.source.turn < ledger.turn
    begun = node.type is NodeType.TASK and node.status is Status.IN_PROGRESS and node.source.quote == node.label
    return begun and within and node.source.trust is Trust.CLAIMED


def _is_finished_in_message(ledger: Ledger, node: Node) -> bool:
    return node.type is NodeType.TASK and node.status is Status.COMPLETED and node.source.turn == ledger.turn


def _is_order(task: Node) -> bool:
    if task.source.trust is Trust.ADOPTED:
        return True
    return not is_postponement(task.source.quote) and any(
        hit.rule.act is Act.REQUEST for hit in read_hits(task.source.quote, Speaker.USER)
    )


def archive_announced_step(ledger: Ledger) -> None:
    """Archive the newest task that the assistant announced, once it reports or announces another: nobody looks for such
    a step later."""
    for task in find_nearest(ledger.graph, _is_announced)[:1]:
        past = Finding(task.type, task.label, Status.ARCHIVED, Trust.CLAIMED, task.confidence)
        ledger.move(task, Status.ARCHIVED, past, "a step on the way")


def archive_announced_tasks(ledger: Ledger) -> None:
    """Archive announced tasks when the user speaks again, and plan items that were not written down again."""
    for task in find_nearest(ledger.graph, lambda node: _is_announced(node) and node.status is Status.PENDING):
        past = Finding(task.type, task.label, Status.ARCHIVED, Trust.CLAIMED, task.confidence)
        ledger.move(task, Status.ARCHIVED, past, "left to the user")
    archive_stale_items(ledger)


def _is_announced(node: Node) -> bool:
    return node.type is NodeType.TASK and node.source.trust is Trust.PROPOSED


def note_task(ledger: Ledger, finding: Finding) -> Node | None:
    """Record a task: pending, in progress or done."""
    if finding.certain and finding.detail.startswith(ITEM):
        return note_item(ledger, finding)
    if finding.status is Status.IN_PROGRESS:
        return _begin_task(ledger, finding)
    if finding.status is Status.COMPLETED and not finding.certain:
        return close_work(ledger, finding)
    same = find_same_fact(ledger, finding)
    if same is None:
        return _find_restated_goal(ledger, finding) or ledger.add(finding)
    again = finding.trust is Trust.STATED and ledger.last_touched(same) < ledger.turn
    if finding.certain or again or not same.current:
        ledger.move(same, finding.status, finding)
    ledger.merge(same, finding)
    return same


def _find_restated_goal(ledger: Ledger, finding: Finding) -> Node | None:
    """The goal node if an order only repeats the goal; else ``None``."""
    if finding.status is Status.COMPLETED:
        return None
    goal = find_described(ledger.graph, finding.label, NodeType.GOAL, lambda node: node.current, PRECISE)
    if goal is None or likeness(goal.label, finding.label) < PRECISE:
        return None
    ledger.touch(goal)
    return goal


def _begin_task(ledger: Ledger, finding: Finding) -> Node | None:
    """Move a task to in progress: an open one that the label describes, or the ones that were just asked for; a new one
    if there is none."""
    tasks = [_find_open_task(ledger, finding)] if finding.label else find_asked_tasks(ledger)
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


def _find_open_task(ledger: Ledger, finding: Finding) -> Node | None:
    """The open task that a claim or an announcement speaks of; a task of the user's last message needs fewer shared
    words."""

    def is_meant(node: Node) -> bool:
        if finding.trust is Trust.PROPOSED and _is_announced(node):  # one step after another, in like words
            return is_open(node) and likeness(finding.label, node.label) >= SAME_TASK
        return is_open(node) and (is_asked_now(ledger, node) or overlap(finding.label, node.label) >= RELATED)

    return find_described(ledger.graph, finding.label, NodeType.TASK, is_meant, ANSWERING)


def note_error(ledger: Ledger, finding: Finding) -> Node:
    """Record an error; reopen it, and the tasks that fixed it, if it was fixed before."""
    same = find_same_fact(ledger, finding)
    if same is None:
        return ledger.add(finding)
    if finding.status is Status.ACTIVE and same.status is Status.COMPLETED and ledger.last_touched(same) < ledger.turn:
        ledger.move(same, Status.ACTIVE, finding)
        _reopen_fixes(ledger, same, finding)
    elif finding.certain and finding.status is not same.status:
        ledger.move(same, finding.status, finding)
    ledger.merge(same, finding)
    return same


def _reopen_fixes(ledger: Ledger, error: Node, finding: Finding) -> None:
    for task in find_nearest(ledger.graph, lambda node: node.status is Status.COMPLETED, settled=True):
        if ledger.graph.has_edge(task.id, EdgeType.FIXES, error.id):
            ledger.move(task, Status.IN_PROGRESS, finding)


def close_work(ledger: Ledger, finding: Finding) -> Node | None:
    """Close a task or an error: the finding says that it was finished or fixed."""
    if finding.type is NodeType.ERROR:
        return _close_error(ledger, finding)
    if finding.type is not NodeType.TASK:
        return note_fact(ledger, finding)
    if finding.target.startswith(ITEM):
        return move_item(ledger, finding)
    return _close_named(ledger, finding) if finding.label else _close_asked(ledger, finding)


def _close_named(ledger: Ledger, finding: Finding) -> Node | None:
    """Complete the task that the finding names; add reported work that nobody had asked for as a completed task."""
    task = _find_open_task(ledger, finding) or _find_only_asked(ledger)
    if task is not None and _is_own_plan(task, finding) and not _covers_plan(finding.label, task.label):
        task = None
    if finding.certain and finding.detail == COMMITTED:
        _complete_committed(ledger, finding)
    if task is not None:
        ledger.move(task, Status.COMPLETED, finding)
        if _is_announced(task) or _is_better_label(task, finding):
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
    if _is_surplus_claim(ledger, finding):
        return None
    words = content(finding.label)
    is_told = len(words) > 1 or (bool(words) and words <= ledger.wanted())
    return ledger.add(finding, status=Status.COMPLETED) if is_told else None


def _close_asked(ledger: Ledger, finding: Finding) -> Node | None:
    """Complete everything that the user's last message asked for."""
    closed = find_asked_tasks(ledger)
    for asked in closed:
        told = _is_covered_by_commit(asked, finding, alone=len(closed) == 1) or (
            _is_announced(asked) and is_pointing(asked.label)
        )
        ledger.move(asked, Status.ARCHIVED if told else Status.COMPLETED, finding)
    return first(closed)


def _complete_committed(ledger: Ledger, finding: Finding) -> None:
    """Complete the orders of a user's message that asked for this commit."""
    if COMMIT_WORD in ledger.wanted():
        for asked in find_asked_tasks(ledger):
            if asked.status is Status.PENDING and asked.source.turn == ledger.asked and _is_order(asked):
                ledger.move(asked, Status.COMPLETED, finding)


def _is_covered_by_commit(asked: Node, finding: Finding, *, alone: bool) -> bool:
    """Whether a commit makes the task it closes redundant: an announced step, or the only order if the commit message
    shares words with it."""
    if not finding.certain:
        return False
    return _is_announced(asked) or (alone and bool(content(asked.label) & content(finding.quote)))


def _is_surplus_claim(ledger: Ledger, finding: Finding) -> bool:
    """Whether a message has already reported enough finished work, and the user did not ask for this."""
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
    """What a claim adds to the task that it finishes; "" if it names other files or repeats the task."""
    if finding.certain or content(finding.label) <= content(task.label):
        return ""
    theirs, ours = set(find_paths(finding.label)), set(find_paths(task.label))
    return finding.label if not (theirs and ours) or theirs & ours else ""


def _find_only_asked(ledger: Ledger) -> Node | None:
    """The only open task of the user's last message, if this message has closed nothing yet; else ``None``."""
    asked = [task for task in find_asked_tasks(ledger) if task.source.turn == ledger.asked]
    closed = find_nearest(
        ledger.graph, lambda node: node.type is NodeType.TASK and ledger.last_touched(node) == ledger.turn, settled=True
    )
    return asked[0] if len(asked) == 1 and not closed and ledger.role == "assistant" else None


def _close_shown_errors(ledger: Ledger, finding: Finding) -> Node | None:
    """Close the errors that a command showed before, now that it succeeds."""
    shown = [
        node
        for node in islice(ledger.graph.newest_unfinished(), SHOWN_MAX)
        if node.type is NodeType.ERROR and is_covering(finding.target, node.detail)
    ]
    for error in shown:
        ledger.move(error, Status.COMPLETED, finding, WENT_ON if is_misuse(error.label) else "")
    return shown[0] if shown else None


def _close_error(ledger: Ledger, finding: Finding) -> Node | None:
    if finding.certain and not finding.label:
        return _close_shown_errors(ledger, finding)
    error = _find_open_error(ledger, finding)
    task = _find_open_task(ledger, finding) if finding.label else None
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


def _add_fixed_error(ledger: Ledger, finding: Finding) -> Node | None:
    """Add a fixed error that the user mentions although nobody had reported it. "It works" alone adds nothing."""
    said = split_words(finding.quote.casefold().replace(",", " ").replace(".", " "))
    if ledger.role != "user" or not finding.label or _FIXED.isdisjoint(said) or len(content(finding.label)) == 1:
        return None
    return ledger.add(finding, status=Status.COMPLETED)


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
    return None if error is None and _is_surplus_claim(ledger, done) else ledger.add(done, status=Status.COMPLETED)


def _find_open_error(ledger: Ledger, finding: Finding) -> Node | None:
    """The open error that a fix or a confirmation speaks of."""

    def recent(node: Node) -> bool:
        return node.type is NodeType.ERROR and ledger.last_touched(node) >= max(ledger.turn - REACH, 1)

    if not finding.label:
        return next(iter(find_nearest(ledger.graph, recent)), None)
    floor = ANSWERING if finding.detail else RELATED
    found = find_described(ledger.graph, finding.label, NodeType.ERROR, is_open, floor)
    if found is not None or not finding.detail:
        return found
    return next(iter(find_nearest(ledger.graph, lambda node: recent(node) and is_asked_now(ledger, node))), None)


def _confirm_task(ledger: Ledger, finding: Finding, task: Node | None) -> Node | None:
    """Complete the task named, or for a bare "works now" the task that was mentioned last.

    A plan of several steps is not done when one of them works, and work that the user put off is not begun.
    """

    def worked_on(node: Node) -> bool:
        recent = node.type is NodeType.TASK and ledger.last_touched(node) >= max(ledger.asked, 1)
        return recent and not (node.source.role == "user" and is_postponement(node.source.quote))

    if task is None and not finding.label:
        task = next(iter(find_nearest(ledger.graph, worked_on)), None)
    elif task is not None and finding.label and not _covers_plan(finding.label, task.label):
        return None
    if task is not None:
        ledger.move(task, Status.COMPLETED, finding)
    return task


def _is_own_plan(task: Node, finding: Finding) -> bool:
    """Whether a task is what the assistant announced, alone or with the user's consent, and words say that it is
    done."""
    return task.source.trust in (Trust.PROPOSED, Trust.ADOPTED) and not finding.certain


def _covers_plan(label: str, plan: str) -> bool:
    """Whether what works is all that a plan names; true for a task of one step."""
    steps = [_step_words(step) for step in _STEPS.split(plan.casefold()) if content(step)]
    return len(steps) < 2 or all(step & content(label) for step in steps)


def _step_words(step: str) -> frozenset[str]:
    """The content stems of a plan's step, without the verb it begins with."""
    return content(step.partition(" ")[2]) or content(step)


def reopen_work(ledger: Ledger, finding: Finding) -> Node | None:
    """Reopen what was called finished and is not: what the finding names, else what the assistant's last message
    claimed."""
    if finding.label:
        found = _find_finished(ledger, finding)
    else:
        found = [
            node for node in find_nearest(ledger.graph, _is_finished, settled=True) if _is_claimed_before(ledger, node)
        ]
    for node in found:
        ledger.move(node, _status_when_reopened(node), finding)
    if found:
        return found[0]
    opened = find_nearest(ledger.graph, lambda node: node.type is NodeType.ERROR)
    if opened and not finding.label:
        ledger.touch(opened[0])
        return opened[0]
    return note_error(ledger, finding) if len(content(finding.label)) > 1 else None


def _is_claimed_before(ledger: Ledger, node: Node) -> bool:
    """Whether the assistant's last message, or the user's own, said that a task is finished. If an assistant takes
    something back, results of tools stay."""
    if ledger.role == "assistant":
        return ledger.last_touched(node) >= ledger.told and node.source.trust is not Trust.STRUCTURE
    own = node.source.role == "user" and node.source.turn == ledger.asked
    return ledger.last_touched(node) >= ledger.told or (own and _says_over(node.label))


def _says_over(label: str) -> bool:
    """Whether a label says that something is over ("the import works")."""
    return not _OVER.isdisjoint(label.casefold().replace(",", " ").split())


def _status_when_reopened(node: Node) -> Status:
    """The status of a node that is reopened; a claim that nobody had asked for is archived, because it is no open
    work."""
    if node.type is NodeType.ERROR:
        return Status.ACTIVE
    only_claimed = node.source.trust in (Trust.CLAIMED, Trust.STATED) and not _is_order(node)
    return Status.ARCHIVED if only_claimed else Status.IN_PROGRESS


def _find_finished(ledger: Ledger, finding: Finding) -> list[Node]:
    """The finished task or error that a finding describes, as a list of one; [] if there is none."""
    kinds = (finding.type, *(kind for kind in (NodeType.ERROR, NodeType.TASK) if kind is not finding.type))
    for kind in kinds:
        found = find_described(ledger.graph, finding.label, kind, _is_finished, PRECISE)
        if found is not None:
            return [found]
    return []


def _is_finished(node: Node) -> bool:
    return node.status is Status.COMPLETED and node.type in (NodeType.TASK, NodeType.ERROR)
