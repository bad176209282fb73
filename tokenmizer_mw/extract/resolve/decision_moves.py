"""Applies findings of decisions, rules, preferences and options to the graph: states, restates, replaces, rejects them.

In: one finding and the ledger. Out: the node that states it now, ``None`` if nothing changed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tokenmizer_mw.extract.candidates.choices import is_absence
from tokenmizer_mw.extract.candidates.finding_makers import is_name
from tokenmizer_mw.extract.dialogue.situation import stems_in
from tokenmizer_mw.extract.finding import Finding, Move
from tokenmizer_mw.extract.match.scope import is_exception
from tokenmizer_mw.extract.match.slots import is_same_value
from tokenmizer_mw.extract.text.phrases import split_reason
from tokenmizer_mw.extract.text.similar import content
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Status, Trust

from .correction import is_value
from .facts import (
    DECIDING,
    PRECISE,
    RELATED,
    adopt_option,
    drop_taken_slot,
    find_same_fact,
    supersede,
)
from .ledger import Ledger, is_open
from .node_search import find_current_heir, find_described, find_nearest
from .succession import (
    NAMED_KINDS,
    PreviousValue,
    drop_false_target,
    find_previous_value,
)

_OLD_CONFIDENCE: Final = 0.6
_BARE_WORDS: Final = 2
_TOLD_MAX: Final = 80
"""``_BARE_WORDS``: most content stems of a label that is only a name; ``_TOLD_MAX``: most characters of an old label in
which that name takes the place of the old one."""


def note_decision(ledger: Ledger, finding: Finding) -> Node | None:
    """Record a decision, rule, preference or option: as a new node, as a restatement of a known one, or as the new
    value of a slot. Returns its node; ``None`` if only the assistant states again what was replaced."""
    same = find_same_fact(ledger, finding)
    if same is not None:
        return _restate_decision(ledger, same, finding)
    holder = ledger.graph.in_slot(finding.slot)
    if holder is not None and finding.trust in DECIDING and not is_same_value(holder.value, finding.value):
        return supersede(ledger, holder, finding)
    if (new := replace_value(ledger, finding)) is not None:
        return new
    return ledger.add(drop_taken_slot(ledger, finding))


def replace_value(ledger: Ledger, finding: Finding) -> Node | None:
    """Supersede the fact whose value the user's new value replaces, and return the new node.
    ``None`` if nothing is replaced."""
    if not finding.near:
        return None
    finding = drop_false_target(finding)
    before = find_previous_value(ledger, finding)
    if before is None and finding.target:
        before = find_previous_value(ledger, replace(finding, target=""))
        before = before if before is not None and before.value.kind not in NAMED_KINDS else None
    if before is None or (not before.named and ledger.find_replacements()):  # the message names what it replaces
        return None
    old = before.node
    if old.type is not NodeType.DECISION:
        old = ledger.add(
            finding,
            label=old.label,
            confidence=_OLD_CONFIDENCE,
            kind=DecisionKind.CHOICE,
            slot="",
            value=before.value.text.casefold(),
            detail="",
            status=Status.ACTIVE,
        )
    return supersede(ledger, old, replace(finding, label=_label_with_new_value(before, finding), target=""))


def _label_with_new_value(before: PreviousValue, finding: Finding) -> str:
    """The finding's label; for a bare number, the old label with the new number."""
    old = before.value
    if finding.about or not finding.value or old.kind in NAMED_KINDS or old.text not in before.node.label:
        return _label_in_place_of(before.node, finding)
    return before.node.label.replace(old.text, finding.value, 1)


def _restate_decision(ledger: Ledger, same: Node, finding: Finding) -> Node | None:
    """Record that a known decision was stated again. One that had been replaced is in force again, in place of its
    successor."""
    if finding.trust not in DECIDING:
        ledger.touch(same)
        return same
    if same.current:
        if same.kind is DecisionKind.OPTION:
            adopt_option(ledger, same, finding)
        ledger.merge(ledger.graph.get(same.id) or same, finding)
        return same
    if _is_outdated(ledger, same, finding):
        return None
    heir = find_current_heir(ledger.graph, same) or ledger.graph.in_slot(same.slot)
    if heir is not None:
        return supersede(ledger, heir, finding)
    ledger.move(same, Status.ACTIVE, finding)
    ledger.merge(same, finding)
    return same


def _is_outdated(ledger: Ledger, same: Node, finding: Finding) -> bool:
    """Whether an assistant only mentions a choice that was replaced, which does not bring it back."""
    return finding.move is not Move.REPLACE and finding.trust is not Trust.STATED


def replace_decision(ledger: Ledger, finding: Finding) -> Node | None:
    """Supersede the decision that ``finding.target`` describes, and return the new node. Without a target, the old
    decision is the one with the same slot or category, or the one that had replaced what the finding states.

    An unknown target is added as a decision first. A finding that only claims or proposes replaces nothing and is
    recorded as by ``note_decision``. ``None`` if nothing changed.
    """
    if finding.trust not in DECIDING:
        return note_decision(ledger, replace(finding, move=Move.NOTE, target=""))
    if is_value(finding.label):
        return None
    if (new := replace_value(ledger, finding)) is not None:
        return new
    same = find_same_fact(ledger, replace(finding, label=_new_part(finding)))
    old = _find_target(ledger, finding, same)
    if (
        same is not None
        and same.current
        and same.kind is not DecisionKind.OPTION
        and (old is None or old.id == same.id)
    ):
        ledger.merge(same, finding)
        return same
    if old is not None and old.current:
        return supersede(ledger, old, replace(finding, label=_label_in_place_of(old, finding)))
    if old is not None or not finding.target:
        return note_decision(ledger, finding)
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
    return supersede(ledger, stated, finding)


def _new_part(finding: Finding) -> str:
    """The label of the new choice without "instead of ..."."""
    return finding.label.removesuffix(f"instead of {finding.target}").rstrip(", ") or finding.label


def _label_in_place_of(old: Node, finding: Finding) -> str:
    """The old label with the new name in it, if the finding's label is only a name: "Postmark for the receipts" after
    "Mailgun for the receipts". Other labels are returned unchanged."""
    article, _, named = finding.target.partition(" ")
    target, new = named if article in _ARTICLES and named else finding.target, _new_part(finding)
    label = split_reason(old.label)[0]
    at = label.casefold().find(target.casefold()) if target else -1
    rest = content(label) - content(target)
    if is_exception(old.label, finding.label):
        return finding.label
    bare = len(content(new)) <= _BARE_WORDS and new not in (finding.quote, finding.quote.rstrip(".!。"))
    if at < 0 or not rest or rest & content(new) or not bare:
        return finding.label
    ahead, behind = label[:at], label[at + len(target) :]
    if new.partition(" ")[0] in _ARTICLES:
        ahead = (
            ahead.removesuffix(f"{ahead.split()[-1]} ") if ahead.split() and ahead.split()[-1] in _ARTICLES else ahead
        )
    if _is_inside_word(ahead[-1:]) or _is_inside_word(behind[:1]) or len(old.label) > _TOLD_MAX:
        return finding.label
    kept = ahead.removesuffix(" a ").removesuffix(" an ")
    return f"{kept}{' ' if kept != ahead else ''}{new}{behind}"


_ARTICLES: Final = frozenset({"the", "a", "an", "our", "my"})


def _is_inside_word(beside: str) -> bool:
    """Whether the character beside a name makes it part of a longer word."""
    return beside.isascii() and (beside.isalnum() or beside in ("-", "_", ".", "/"))


def _find_target(ledger: Ledger, finding: Finding, same: Node | None) -> Node | None:
    """The decision that a finding replaces: found by its target, its slot, or an earlier replacement. ``same``: the
    node that already states what the finding states, if any. ``None`` for none."""
    graph = ledger.graph

    def replaceable(node: Node) -> bool:
        return node.current and node.kind is not DecisionKind.OPTION and (same is None or node.id != same.id)

    if finding.target:
        for type_ in (NodeType.DECISION, NodeType.DEPENDENCY, NodeType.ENVIRONMENT):
            found = find_described(graph, finding.target, type_, replaceable, PRECISE)
            if found is not None:
                return found
        exact = graph.find(NodeType.DECISION, finding.target)
        if exact is not None and not exact.current:
            return exact
    holder = graph.in_slot(finding.slot)
    if holder is not None and replaceable(holder) and not is_same_value(holder.value, finding.value):
        return holder
    if finding.target:
        return None
    before = same if same is not None and not same.current else find_superseded(ledger, finding)
    return find_current_heir(graph, before) if before is not None else None


def find_superseded(ledger: Ledger, finding: Finding) -> Node | None:
    """Return the superseded choice that a finding states again in other words: "back to polling, every 2 s" finds
    "polling every 30 s". ``None`` for none."""
    return find_described(
        ledger.graph, finding.label, NodeType.DECISION, lambda node: node.status is Status.SUPERSEDED, RELATED
    )


def reject_fact(ledger: Ledger, finding: Finding) -> Node | None:
    """Invalidate what the finding rejects: a choice in force, a note or an open task. Returns its node, ``None`` if
    nothing changed.

    If nobody had chosen it, it is added as a rejected option. What shall never be ("no new packages") is added as a
    rule.
    """
    if finding.certain:
        return _undo_work(ledger, finding)
    if finding.trust not in DECIDING:
        return None
    if not finding.label:
        return None
    choice = find_described(ledger.graph, finding.label, NodeType.DECISION, lambda node: node.current, PRECISE)
    if choice is not None and choice.source.turn < ledger.turn:
        ledger.move(choice, Status.INVALIDATED, finding)
        return choice
    noted = find_described(ledger.graph, finding.label, NodeType.CONCEPT, lambda node: node.current, PRECISE)
    if noted is not None and noted.source.turn < ledger.turn:
        ledger.move(noted, Status.INVALIDATED, finding)
        return noted
    floor = PRECISE if finding.type is NodeType.TASK else 0.75
    task = find_described(ledger.graph, finding.label, NodeType.TASK, is_open, floor)
    if task is not None:
        ledger.move(task, Status.INVALIDATED, finding)
        return task
    if finding.type is not NodeType.DECISION or find_same_fact(ledger, finding) is not None:
        return None
    if finding.kind is DecisionKind.RULE:  # nobody had put it up: it shall never be
        ruled = replace(finding, label=finding.target, target="", status=Status.ACTIVE)
        return note_decision(ledger, replace(ruled, move=Move.NOTE))
    if is_absence(finding.quote, finding.label) and not _is_choosable(ledger, finding.label):
        return None
    option = ledger.add(finding, status=Status.PENDING, kind=DecisionKind.OPTION, slot="", value="")
    ledger.move(option, Status.INVALIDATED, finding)
    return option


def _is_choosable(ledger: Ledger, label: str) -> bool:
    """Whether something could have been chosen at all: its label is a name, or the assistant mentioned it."""
    words = content(label)
    return is_name(label) or any(words <= stems_in(text) for _, text in ledger.put_up())


def _undo_work(ledger: Ledger, finding: Finding) -> Node | None:
    """Invalidate the finished task with the detail ``finding.target``, such as a commit that a tool call undid."""
    undone = find_nearest(
        ledger.graph, lambda node: bool(finding.target) and node.detail == finding.target, settled=True
    )
    for task in undone[:1]:
        ledger.move(task, Status.INVALIDATED, finding)
        return task
    return None
