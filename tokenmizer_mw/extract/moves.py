"""What each move of a finding does to the graph, through the ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from tokenmizer_mw.model.event import NodeRevised
from tokenmizer_mw.model.node import DecisionKind, EdgeType, Node, NodeType, Status, Trust

from .finding import Finding, Move
from .ledger import Ledger, is_open
from .matching import current_heir, described, near, same_fact
from .similar import content, likeness
from .slots import known, members_of, same_value
from .structure import covers

RELATED: Final = 0.5
"""Share of the shorter label's content that a claim has in common with the work it finishes."""

ANSWERING: Final = 0.3
"""The same within one exchange, where little else can be meant."""

PRECISE: Final = 0.6
"""The same where a mistake would throw something away."""

REACH: Final = 12
"""Messages back to which "it works now" may reach for its error."""

SHOWN_MAX: Final = 64
"""Open errors that a successful command is compared with, the newest."""

CLAIMS_MAX: Final = 4
"""Pieces of finished work that one message may report without anybody having asked for them; more are details."""

_DECIDING: Final = frozenset({Trust.STATED, Trust.ADOPTED})
_OLD_CONFIDENCE: Final = 0.6


def place(ledger: Ledger, finding: Finding) -> Node | None:
    """Do what the finding says; the node that it is about now, ``None`` when it changed nothing."""
    node = _MOVES[finding.move](ledger, finding)
    return ledger.graph.get(node.id) if node is not None else None


def went_on(ledger: Ledger, findings: Sequence[Finding]) -> None:
    """The user goes on to something else after the assistant worked on an order: the order is taken as done.

    A complaint anywhere in the message leaves it open.
    """
    if any(finding.type is NodeType.ERROR and finding.move in (Move.NOTE, Move.REOPEN) for finding in findings):
        return
    for task in _asked_tasks(ledger):
        if task.status is Status.PENDING and task.source.turn == ledger.asked:
            done = Finding(task.type, task.label, Status.COMPLETED, Trust.CLAIMED, task.confidence)
            ledger.move(task, Status.COMPLETED, done, "the conversation went on")


# -- stating -----------------------------------------------------------------------------------------------------


def _note(ledger: Ledger, finding: Finding) -> Node | None:
    return _NOTES.get(finding.type, _note_fact)(ledger, finding)


def _note_fact(ledger: Ledger, finding: Finding) -> Node | None:
    known_node = _same(ledger, finding)
    if known_node is None:
        return ledger.add(_slot_free(ledger, finding))
    if not known_node.current or (finding.certain and finding.status is not known_node.status):
        ledger.move(known_node, finding.status, finding)
    ledger.merge(known_node, finding)
    return known_node


def _same(ledger: Ledger, finding: Finding) -> Node | None:
    return same_fact(ledger.graph, finding, adjacent=lambda node: _recent(ledger, node))


def _recent(ledger: Ledger, node: Node) -> bool:
    """Mentioned since the user's last message before this one."""
    since = min(turn for turn in (ledger.asked, ledger.told, ledger.turn) if turn)
    return ledger.touched(node) >= since


def _slot_free(ledger: Ledger, finding: Finding) -> Finding:
    """Two current facts never share a slot: what may not replace its holder goes without one."""
    if finding.slot and ledger.graph.in_slot(finding.slot) is not None:
        return replace(finding, slot="", value="")
    return finding


def _note_environment(ledger: Ledger, finding: Finding) -> Node | None:
    holder = ledger.graph.in_slot(finding.slot)
    if holder is None or same_value(holder.value, finding.value):
        if holder is not None:
            ledger.touch(holder)
            return holder
        return _note_fact(ledger, finding)
    if holder.type is NodeType.ENVIRONMENT and finding.trust in (Trust.STATED, Trust.STRUCTURE):
        return _supersede(ledger, holder, finding)
    return _note_fact(ledger, replace(finding, slot="", value=""))


def _note_file(ledger: Ledger, finding: Finding) -> Node | None:
    node = _note_fact(ledger, finding)
    if node is not None and len(finding.label) > len(node.label):
        ledger.emit(NodeRevised(node.id, {"label": finding.label}, ledger.turn))
    return node


def _note_goal(ledger: Ledger, finding: Finding) -> Node | None:
    same = _same(ledger, finding)
    if same is not None and same.current:
        ledger.merge(same, finding)
        return same
    holder = ledger.graph.in_slot(finding.slot)
    if holder is None:
        return ledger.add(finding)
    return _supersede(ledger, holder, finding) if finding.trust is Trust.STATED else None


def _note_error(ledger: Ledger, finding: Finding) -> Node | None:
    same = _same(ledger, finding)
    if same is None:
        return ledger.add(finding)
    if finding.status is Status.ACTIVE and same.status is Status.COMPLETED and ledger.touched(same) < ledger.turn:
        ledger.move(same, Status.ACTIVE, finding)
        _reopen_fixes(ledger, same, finding)
    elif finding.certain and finding.status is not same.status:
        ledger.move(same, finding.status, finding)
    ledger.merge(same, finding)
    return same


def _reopen_fixes(ledger: Ledger, error: Node, finding: Finding) -> None:
    for task in near(ledger.graph, lambda node: node.status is Status.COMPLETED, settled=True):
        if ledger.graph.linked(task.id, EdgeType.FIXES, error.id):
            ledger.move(task, Status.IN_PROGRESS, finding)


def _note_task(ledger: Ledger, finding: Finding) -> Node | None:
    if finding.status is Status.IN_PROGRESS:
        return _begin(ledger, finding)
    if finding.status is Status.COMPLETED and not finding.certain:
        return _close(ledger, finding)
    same = _same(ledger, finding)
    if same is None:
        return _goal_again(ledger, finding) or ledger.add(finding)
    again = finding.trust is Trust.STATED and ledger.touched(same) < ledger.turn
    if finding.certain or again or not same.current:
        ledger.move(same, finding.status, finding)
    ledger.merge(same, finding)
    return same


def announced_over(ledger: Ledger) -> None:
    """What the assistant said it would do next is past: it reports, or announces something else. A step on the way is
    no task that anybody would look for later."""
    for task in near(ledger.graph, _is_announced)[:1]:
        past = Finding(task.type, task.label, Status.ARCHIVED, Trust.CLAIMED, task.confidence)
        ledger.move(task, Status.ARCHIVED, past, "a step on the way")


def _is_announced(node: Node) -> bool:
    return node.type is NodeType.TASK and node.source.trust is Trust.PROPOSED


def _goal_again(ledger: Ledger, finding: Finding) -> Node | None:
    """The goal, when an order only says it once more."""
    goal = described(ledger.graph, finding.label, NodeType.GOAL, lambda node: node.current, PRECISE)
    if goal is None or likeness(goal.label, finding.label) < PRECISE:
        return None
    ledger.touch(goal)
    return goal


def _begin(ledger: Ledger, finding: Finding) -> Node | None:
    """Work on a task started: an open one that the label describes, or that was asked for just before."""
    tasks = [_open_task(ledger, finding)] if finding.label else _asked_tasks(ledger)
    found = [task for task in tasks if task is not None]
    for task in found:
        ledger.move(task, Status.IN_PROGRESS, finding)
        ledger.merge(task, finding)
    if found or not finding.label:
        return found[0] if found else None
    if finding.trust is Trust.PROPOSED:
        announced_over(ledger)
    same = _same(ledger, finding)
    if same is not None and same.status is Status.COMPLETED:
        ledger.touch(same)
        return same
    return ledger.add(finding)


def _open_task(ledger: Ledger, finding: Finding) -> Node | None:
    """The open task that a claim or an announcement speaks of."""

    def just_asked(node: Node) -> bool:
        return is_open(node) and _asked_now(ledger, node)

    found = described(ledger.graph, finding.label, NodeType.TASK, is_open, RELATED)
    return found or described(ledger.graph, finding.label, NodeType.TASK, just_asked, ANSWERING)


def _asked_now(ledger: Ledger, node: Node) -> bool:
    return ledger.asked > 0 and ledger.touched(node) >= ledger.asked


def _asked_tasks(ledger: Ledger) -> list[Node]:
    return near(ledger.graph, lambda node: node.type is NodeType.TASK and _asked_now(ledger, node))


# -- deciding ----------------------------------------------------------------------------------------------------


def _note_decision(ledger: Ledger, finding: Finding) -> Node | None:
    same = _same(ledger, finding)
    if same is not None:
        return _restate(ledger, same, finding)
    holder = ledger.graph.in_slot(finding.slot)
    if holder is not None and finding.trust in _DECIDING and not same_value(holder.value, finding.value):
        return _supersede(ledger, holder, finding)
    return ledger.add(_slot_free(ledger, finding))


def _restate(ledger: Ledger, same: Node, finding: Finding) -> Node | None:
    if finding.trust not in _DECIDING:
        ledger.touch(same)
        return same
    if same.current:
        if same.kind is DecisionKind.OPTION:
            _adopt_option(ledger, same, finding)
        ledger.merge(ledger.graph.get(same.id) or same, finding)
        return same
    if _outdated(ledger, same, finding):
        return None
    heir = current_heir(ledger.graph, same)
    if heir is not None:
        return _supersede(ledger, heir, finding)
    ledger.move(same, Status.ACTIVE, finding)
    ledger.merge(same, finding)
    return same


def _outdated(ledger: Ledger, same: Node, finding: Finding) -> bool:
    """An assistant that names a replaced choice in passing does not bring it back."""
    return finding.move is not Move.REPLACE and finding.trust is not Trust.STATED


def _adopt_option(ledger: Ledger, option: Node, finding: Finding) -> None:
    changes: dict[str, object] = {"kind": finding.kind or DecisionKind.CHOICE, "source": ledger.source(finding)}
    if finding.slot and ledger.graph.in_slot(finding.slot) is None:
        changes |= {"slot": finding.slot, "value": finding.value}
    changes["confidence"] = max(option.confidence, finding.confidence)
    ledger.emit(NodeRevised(option.id, changes, ledger.turn))
    ledger.move(option, Status.ACTIVE, finding)


def _supersede(ledger: Ledger, old: Node, finding: Finding) -> Node:
    """The finding's fact takes the place of ``old``: a new node, or one that held before and holds again."""
    same = _same(ledger, finding)
    if same is None or same.id == old.id:
        new = ledger.add(finding)
    else:
        new = same
        if same.kind is DecisionKind.OPTION:
            _adopt_option(ledger, same, finding)
        else:
            ledger.move(same, Status.ACTIVE, finding)
            ledger.emit(NodeRevised(same.id, _renewed(ledger, same, finding), ledger.turn))
    ledger.replace(old, new, finding)
    return new


def _renewed(ledger: Ledger, node: Node, finding: Finding) -> dict[str, object]:
    changes: dict[str, object] = {"source": ledger.source(finding)}
    if finding.reason:
        changes["detail"] = finding.reason
    if finding.slot and not node.slot:
        changes |= {"slot": finding.slot, "value": finding.value}
    return changes


def _replace(ledger: Ledger, finding: Finding) -> Node | None:
    """``label`` for ``target``; without a target for what holds its slot, its category, or replaced it before."""
    if finding.trust not in _DECIDING:
        return _note(ledger, replace(finding, move=Move.NOTE, target=""))
    same = _same(ledger, finding)
    old = _target(ledger, finding, same)
    if (
        same is not None
        and same.current
        and same.kind is not DecisionKind.OPTION
        and (old is None or old.id == same.id)
    ):
        ledger.merge(same, finding)
        return same
    if old is not None and old.current:
        return _supersede(ledger, old, finding)
    if old is not None:
        return _replace_again(ledger, old, same, finding)
    if not finding.target:
        return _note_decision(ledger, finding)
    stated = ledger.add(
        finding,
        label=finding.target,
        confidence=_OLD_CONFIDENCE,
        kind=DecisionKind.CHOICE,
        slot="",
        value="",
        detail="",
        status=Status.ACTIVE,
    )
    return _supersede(ledger, stated, finding)


def _replace_again(ledger: Ledger, old: Node, same: Node | None, finding: Finding) -> Node | None:
    """``old`` was replaced before: the assistant repeats what the user ordered, or a third choice comes in."""
    heir = current_heir(ledger.graph, old)
    if same is None and heir is not None and _recent(ledger, heir) and finding.trust is Trust.ADOPTED:
        ledger.merge(heir, finding)
        return heir
    if same is not None:
        return _restate(ledger, same, finding)
    return _note_decision(ledger, finding)


def _target(ledger: Ledger, finding: Finding, same: Node | None) -> Node | None:
    graph = ledger.graph

    def replaceable(node: Node) -> bool:
        return node.current and node.kind is not DecisionKind.OPTION and (same is None or node.id != same.id)

    if finding.target:
        for type_ in (NodeType.DECISION, NodeType.DEPENDENCY, NodeType.ENVIRONMENT):
            found = described(graph, finding.target, type_, replaceable, PRECISE)
            if found is not None:
                return found
        exact = graph.find(NodeType.DECISION, finding.target)
        return exact if exact is not None and not exact.current else _in_category(ledger, finding, replaceable)
    holder = graph.in_slot(finding.slot)
    if holder is not None and replaceable(holder) and not same_value(holder.value, finding.value):
        return holder
    if same is not None and not same.current:
        return current_heir(graph, same)
    return _in_category(ledger, finding, replaceable)


def _in_category(ledger: Ledger, finding: Finding, accept: Callable[[Node], bool]) -> Node | None:
    """The current decision of the same kind of choice ("Vitest instead" speaks of Jest)."""
    if finding.target:
        return None
    kind = next((found[0] for word in finding.label.split() if (found := known(word)) is not None), "")
    others = " ".join(members_of(kind)) if kind else ""
    mine = content(finding.label)

    def other(node: Node) -> bool:
        return accept(node) and not content(node.label) <= mine

    return described(ledger.graph, others, NodeType.DECISION, other, 1e-6) if others else None


def _adopt(ledger: Ledger, finding: Finding) -> Node | None:
    return _note(ledger, replace(finding, move=Move.NOTE))


def _reject(ledger: Ledger, finding: Finding) -> Node | None:
    if finding.trust not in _DECIDING:
        return None
    if not finding.label:
        return _retract_last(ledger, finding)
    choice = described(ledger.graph, finding.label, NodeType.DECISION, lambda node: node.current, PRECISE)
    if choice is not None and choice.source.turn < ledger.turn:
        ledger.move(choice, Status.INVALIDATED, finding)
        return choice
    floor = PRECISE if finding.type is NodeType.TASK else 0.75
    task = described(ledger.graph, finding.label, NodeType.TASK, is_open, floor)
    if task is not None:
        ledger.move(task, Status.INVALIDATED, finding)
        return task
    if finding.type is not NodeType.DECISION or _same(ledger, finding) is not None:
        return None
    option = ledger.add(finding, status=Status.PENDING, kind=DecisionKind.OPTION, slot="", value="")
    ledger.move(option, Status.INVALIDATED, finding)
    return option


def _retract_last(ledger: Ledger, finding: Finding) -> Node | None:
    tasks = near(ledger.graph, lambda node: node.type is NodeType.TASK and _asked_now(ledger, node))
    for task in tasks[:1]:
        ledger.move(task, Status.INVALIDATED, finding)
        return task
    return None


# -- finishing ---------------------------------------------------------------------------------------------------


def _close(ledger: Ledger, finding: Finding) -> Node | None:
    if finding.type is NodeType.ERROR:
        return _close_error(ledger, finding)
    if finding.type is not NodeType.TASK:
        return _note_fact(ledger, finding)
    if not finding.label:
        closed = _asked_tasks(ledger)
        for asked in closed:
            ledger.move(asked, Status.COMPLETED, finding)
        return closed[0] if closed else None
    task = _open_task(ledger, finding) or _only_asked(ledger)
    if task is not None:
        ledger.move(task, Status.COMPLETED, finding)
        if _is_announced(task):
            ledger.emit(NodeRevised(task.id, {"label": finding.label, "source": ledger.source(finding)}, ledger.turn))
        else:
            ledger.merge(task, replace(finding, detail=finding.detail or finding.label, order=None))
        return task
    same = _same(ledger, finding)
    if same is not None:
        if same.current:
            ledger.touch(same)
        return same
    ledger.claims += 1
    if ledger.claims > CLAIMS_MAX and not finding.certain:
        return None
    return ledger.add(finding, status=Status.COMPLETED)


def _only_asked(ledger: Ledger) -> Node | None:
    """The one open task that the user's last message asked for, when this message has closed nothing yet."""
    asked = [task for task in _asked_tasks(ledger) if task.source.turn == ledger.asked]
    closed = near(
        ledger.graph, lambda node: node.type is NodeType.TASK and ledger.touched(node) == ledger.turn, settled=True
    )
    return asked[0] if len(asked) == 1 and not closed and ledger.role == "assistant" else None


def _close_shown(ledger: Ledger, finding: Finding) -> Node | None:
    """A command succeeded: the errors that it showed before are fixed."""
    shown = [
        node
        for node in islice(ledger.graph.newest_unfinished(), SHOWN_MAX)
        if node.type is NodeType.ERROR and covers(finding.target, node.detail)
    ]
    for error in shown:
        ledger.move(error, Status.COMPLETED, finding)
    return shown[0] if shown else None


def _close_error(ledger: Ledger, finding: Finding) -> Node | None:
    if finding.certain and not finding.label:
        return _close_shown(ledger, finding)
    error = _error_meant(ledger, finding)
    task = _open_task(ledger, finding) if finding.label else None
    if error is not None:
        ledger.move(error, Status.COMPLETED, finding)
        ledger.merge(error, replace(finding, type=NodeType.ERROR, detail=""))
    if finding.detail:  # somebody says what was done about it
        task = _finish(ledger, finding, task, error)
        if error is not None:
            ledger.link(task, EdgeType.FIXES, error)
    elif error is None:
        task = _confirm(ledger, finding, task)
    return error or task


def _finish(ledger: Ledger, finding: Finding, task: Node | None, error: Node | None) -> Node:
    done = replace(finding, type=NodeType.TASK, move=Move.CLOSE, slot="", value="")
    if task is not None:
        ledger.move(task, Status.COMPLETED, done)
        ledger.merge(task, done)
        return task
    label = f"Fix: {error.label}: {finding.label}" if error is not None else f"Fix: {finding.label}"
    done = replace(done, label=label[:200].rstrip())
    same = _same(ledger, done)
    return same if same is not None else ledger.add(done, status=Status.COMPLETED)


def _error_meant(ledger: Ledger, finding: Finding) -> Node | None:
    """The open error that a fix or a confirmation speaks of."""

    def recent(node: Node) -> bool:
        return node.type is NodeType.ERROR and ledger.touched(node) >= max(ledger.turn - REACH, 1)

    if not finding.label:
        return next(iter(near(ledger.graph, recent)), None)
    floor = ANSWERING if finding.detail else RELATED
    found = described(ledger.graph, finding.label, NodeType.ERROR, is_open, floor)
    if found is not None or not finding.detail:
        return found
    return next(iter(near(ledger.graph, lambda node: recent(node) and _asked_now(ledger, node))), None)


def _confirm(ledger: Ledger, finding: Finding, task: Node | None) -> Node | None:
    """The task named, or for a bare "works now" the one that was worked on last, is done."""

    def worked_on(node: Node) -> bool:
        return node.type is NodeType.TASK and ledger.touched(node) >= max(ledger.asked, 1)

    if task is None and not finding.label:
        task = next(iter(near(ledger.graph, worked_on)), None)
    if task is not None:
        ledger.move(task, Status.COMPLETED, finding)
    return task


def _fail(ledger: Ledger, finding: Finding) -> Node | None:
    found = described(ledger.graph, finding.label, finding.type, lambda node: node.current, RELATED)
    if found is None:
        return ledger.add(_slot_free(ledger, finding), status=Status.FAILED)
    ledger.move(found, Status.FAILED, finding)
    ledger.merge(found, finding)
    return found


def _reopen(ledger: Ledger, finding: Finding) -> Node | None:
    """What was said to be finished is not: the thing named, or what the assistant's last message claimed."""
    if finding.label:
        found = _finished(ledger, finding)
    else:
        found = [node for node in near(ledger.graph, _is_finished, settled=True) if ledger.touched(node) >= ledger.told]
    for node in found:
        ledger.move(node, Status.ACTIVE if node.type is NodeType.ERROR else Status.IN_PROGRESS, finding)
    if found:
        return found[0]
    opened = near(ledger.graph, lambda node: node.type is NodeType.ERROR)
    if opened and not finding.label:
        ledger.touch(opened[0])
        return opened[0]
    return _note_error(ledger, finding) if len(content(finding.label)) > 1 else None


def _finished(ledger: Ledger, finding: Finding) -> list[Node]:
    kinds = (finding.type, *(kind for kind in (NodeType.ERROR, NodeType.TASK) if kind is not finding.type))
    for kind in kinds:
        found = described(ledger.graph, finding.label, kind, _is_finished, PRECISE)
        if found is not None:
            return [found]
    return []


def _is_finished(node: Node) -> bool:
    return node.status is Status.COMPLETED and node.type in (NodeType.TASK, NodeType.ERROR)


def _archive(ledger: Ledger, finding: Finding) -> Node | None:
    found = same_fact(ledger.graph, finding, adjacent=lambda _: False)
    if found is not None:
        ledger.move(found, Status.ARCHIVED, finding)
    return found


_NOTES: Final[dict[NodeType, Callable[[Ledger, Finding], Node | None]]] = {
    NodeType.DECISION: _note_decision,
    NodeType.TASK: _note_task,
    NodeType.ERROR: _note_error,
    NodeType.ENVIRONMENT: _note_environment,
    NodeType.FILE: _note_file,
    NodeType.GOAL: _note_goal,
}

_MOVES: Final[dict[Move, Callable[[Ledger, Finding], Node | None]]] = {
    Move.NOTE: _note,
    Move.CLOSE: _close,
    Move.FAIL: _fail,
    Move.REOPEN: _reopen,
    Move.REPLACE: _replace,
    Move.REJECT: _reject,
    Move.ADOPT: _adopt,
    Move.ARCHIVE: _archive,
}
