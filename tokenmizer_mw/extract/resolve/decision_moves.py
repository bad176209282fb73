"""Records findings about decisions (choices, rules, preferences and options) in the graph: a new decision is added, a
known one is confirmed, replaced or rejected.

Each public function takes the ledger and one finding, and returns the node that states the finding now, or ``None`` if
nothing changed. A slot is the name of what a decision sets, such as "database"; at most one decision in force has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from tokenmizer_mw.extract.candidates.choices import is_absence
from tokenmizer_mw.extract.candidates.finding_makers import is_name
from tokenmizer_mw.extract.compose.validate import clean_label
from tokenmizer_mw.extract.dialogue.situation import last_question, stems_in
from tokenmizer_mw.extract.finding import BETWEEN_SENTENCES, Finding, Move
from tokenmizer_mw.extract.match.scope import is_exception
from tokenmizer_mw.extract.match.slots import find_member, is_same_value, members_of
from tokenmizer_mw.extract.match.value_assignments import AGAINST
from tokenmizer_mw.extract.score.contrast import answers_another
from tokenmizer_mw.extract.text.clauses import split_statements
from tokenmizer_mw.extract.text.pattern import PatternSet, compile_lazily
from tokenmizer_mw.extract.text.phrases import bound_sentence, split_reason, strip_lead
from tokenmizer_mw.extract.text.similar import content
from tokenmizer_mw.graph.values import names_again, values_in
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Status, Trust

from .correction import correct_number, is_value
from .facts import (
    DECIDING,
    PRECISE,
    RELATED,
    adopt_option,
    drop_taken_slot,
    find_same_fact,
    is_asked_now,
    is_recent,
    supersede,
)
from .ledger import Ledger, is_open
from .node_search import find_current_heir, find_described, find_nearest
from .succession import (
    NAMED_KINDS,
    PreviousValue,
    drop_false_target,
    find_holder_of_value,
    find_previous_value,
)

CHOICES_MAX: Final = 12
"""Number of newest decisions that are searched for the choice which a new choice replaces."""
_OLD_CONFIDENCE: Final = 0.6
_BARE_WORDS: Final = 2
_TOLD_MAX: Final = 80
"""``_BARE_WORDS``: a label with at most this many content stems is only a name. ``_TOLD_MAX``: such a name is put into
an old label in place of the old name only if the old label has at most this many characters."""


def note_decision(ledger: Ledger, finding: Finding) -> Node | None:
    """Record a decision, rule, preference or option, and return the node that states it now.

    - If a node states the same, that node is confirmed and returned. If it had been replaced, the user's statement puts
      it in force again; if the finding is only adopted (the user accepted it, or the assistant carried it out), nothing
      changes and ``None`` is returned.
    - If another decision has the finding's slot with another value, and the user states or accepted the finding, the
      finding replaces it.
    - If the finding's value replaces the value of another fact (see ``replace_value``), the finding replaces that fact.
    - Otherwise a new node is added.
    """
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
    """Replace the fact whose value the finding's value takes the place of, and return the new node: "make it 12"
    replaces "the limit is 10".

    If no fact has such a value, the finding names what it replaces (``finding.target``), and a decision already states
    the new value, that decision is returned. ``None`` if nothing is replaced: no fact has such a value, the finding has
    no sentences around it (``finding.near``), the sentence answers the assistant's question about something else, or
    the message has already replaced a decision and does not name this value.
    """
    if not finding.near:
        return None
    finding = drop_false_target(finding)
    before = find_previous_value(ledger, finding)
    if before is None and finding.target:
        if (held := find_holder_of_value(ledger, finding)) is not None:
            ledger.touch(held)
            return held
        before = find_previous_value(ledger, replace(finding, target=""))
        before = before if before is not None and before.value.kind not in NAMED_KINDS else None
    if before is None or _answers_another(ledger, before.node, finding):
        return None
    if not before.named and ledger.find_replacements():
        return None  # the message names what it replaces
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
    if _says_more(finding, before.value.text):
        sentence = clean_label(strip_lead(bound_sentence(finding.quote)).rstrip(" .!"))
        return supersede(ledger, old, replace(finding, label=sentence, reason="", target=""))
    return supersede(ledger, old, replace(finding, label=_label_with_new_value(before, finding), target=""))


def _answers_another(ledger: Ledger, old: Node, finding: Finding) -> bool:
    """Whether the sentence of ``finding`` answers the question at the end of the assistant's last message, and that
    question is about another fact than ``old``."""
    texts = ledger.put_up()
    question = last_question(texts[-1][1]) if texts else ""
    return question != "" and answers_another(old.label, bound_sentence(finding.quote), question)


_ADDED: Final = PatternSet(r"(?s:.*)[ ,](?:and|but|und|aber|y|pero|et|mais|e|ma|mas|и|но) $")
"""Matches the beginning of a sentence that ends in "and" or "but" (in several languages). What follows is another
statement, not a reason."""


def _says_more(finding: Finding, old: str) -> bool:
    """Whether the sentence of a bare number has a clause with neither the new number nor the ``old`` value, so that the
    old label with the new number would not say everything ("48 hours instead of 24, and no money back")."""
    if finding.about or not finding.value[:1].isdigit():
        return False
    number, beside = finding.value.split()[0], finding.reason
    if beside and not _ADDED.any(finding.quote[: finding.quote.find(beside)]):
        return False
    clauses = split_statements(bound_sentence(finding.quote))
    return any(len(content(clause)) > 1 and number not in clause and old not in clause for clause in clauses)


def _label_with_new_value(before: PreviousValue, finding: Finding) -> str:
    """The finding's label; for a bare number, the old label with the new number."""
    old = before.value
    if finding.about or not finding.value or old.kind in NAMED_KINDS or old.text not in before.node.label:
        return _label_in_place_of(before.node, finding)
    return before.node.label.replace(old.text, finding.value, 1)


def _restate_decision(ledger: Ledger, same: Node, finding: Finding) -> Node | None:
    """Record that a known decision was stated again. A decision that had been replaced is in force again and replaces
    its successor. ``None`` if the statement does not bring it back (see ``_is_outdated``)."""
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
    """Whether the finding does not bring back a decision that was replaced: the user accepted it but did not state it,
    and it does not say that it replaces something."""
    return finding.move is not Move.REPLACE and finding.trust is not Trust.STATED


def replace_decision(ledger: Ledger, finding: Finding) -> Node | None:
    """Replace the decision that ``finding.target`` describes, and return the new node. ``None`` if nothing changed.

    - Without a target, the old decision is the one with the same slot, the one that the message criticises, the one
      that had replaced what the finding states, or the one with another value of the same category (Jest, if the
      finding states Vitest).
    - If no decision fits the target, the target is first added as a decision and then replaced.
    - If the finding's label is only a number, see ``correct_number``.
    - If neither the user stated the finding nor accepted it, nothing is replaced, and the finding is recorded by
      ``note_decision``.
    """
    if finding.trust not in DECIDING:
        return note_decision(ledger, replace(finding, move=Move.NOTE, target=""))
    if is_value(finding.label):
        return correct_number(ledger, finding)
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
    if old is not None:
        return _replace_superseded(ledger, old, same, finding)
    if not finding.target:
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
    """The finding's label without the words "instead of ..." at its end."""
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
    version = _VERSION.match(behind)
    kept = ahead.removesuffix(" a ").removesuffix(" an ")
    return f"{kept}{' ' if kept != ahead else ''}{new}{behind[version.end() :] if version is not None else behind}"


_ARTICLES: Final = frozenset({"the", "a", "an", "our", "my"})


_VERSION: Final = compile_lazily(r" v?\d[\d.]*(?:\b|$)")
"""Matches the version of the old product, which its successor does not have."""


def _is_inside_word(beside: str) -> bool:
    """Whether the character beside a name makes it part of a longer word."""
    return beside.isascii() and (beside.isalnum() or beside in ("-", "_", ".", "/"))


def _replace_superseded(ledger: Ledger, old: Node, same: Node | None, finding: Finding) -> Node | None:
    """Record a finding that replaces ``old``, a decision which another one had already replaced.

    If the assistant carries out the same order again, the current decision is confirmed. If ``same`` (the node that
    states what the finding states) is given, it is confirmed or in force again. Otherwise the finding is recorded as a
    new decision.
    """
    heir = find_current_heir(ledger.graph, old)
    if same is None and heir is not None and is_recent(ledger, heir) and finding.trust is Trust.ADOPTED:
        ledger.merge(heir, finding)
        return heir
    if same is not None:
        return _restate_decision(ledger, same, finding)
    return note_decision(ledger, finding)


def _find_target(ledger: Ledger, finding: Finding, same: Node | None) -> Node | None:
    """The decision that a finding replaces: found by its target, its slot, criticism beside it, an earlier replacement,
    or its category. ``same``: the node that already states what the finding states, if any. ``None`` for none."""
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
    if (blamed := _find_criticised(ledger, finding, replaceable)) is not None or finding.target:
        return blamed
    before = same if same is not None and not same.current else find_superseded(ledger, finding)
    if before is not None:
        return find_current_heir(graph, before)
    return _find_in_category(ledger, finding, replaceable)


def find_superseded(ledger: Ledger, finding: Finding) -> Node | None:
    """Return the replaced decision that a finding states again in other words: "back to polling, every 2 s" finds
    "polling every 30 s". ``None`` if there is none."""
    return find_described(
        ledger.graph, finding.label, NodeType.DECISION, lambda node: node.status is Status.SUPERSEDED, RELATED
    )


def _find_criticised(ledger: Ledger, finding: Finding, accept: Callable[[Node], bool]) -> Node | None:
    """The choice in force that a neighbouring sentence criticises ("30 s polling is too slow"); ``None`` for none."""
    told = [sentence for sentence in finding.near.split(BETWEEN_SENTENCES) if AGAINST.any(sentence)]
    if not told:
        return None
    mine = content(finding.label)
    others = (
        node
        for node in iterate_choices_in_force(ledger)
        if accept(node) and node.source.turn < ledger.turn and not content(node.label) <= mine
    )
    return next((node for node in others if any(_is_named_in(node, sentence) for sentence in told)), None)


def iterate_choices_in_force(ledger: Ledger) -> Iterator[Node]:
    """Iterate over the choices in force among the ``CHOICES_MAX`` newest decisions, newest first. Rules, preferences
    and options are left out but count towards that number."""
    graph = ledger.graph
    for number in islice(range(graph.count_added(NodeType.DECISION), 0, -1), CHOICES_MAX):
        node = graph.get(f"{NodeType.DECISION.value}-{number}")
        if node is not None and node.status is Status.ACTIVE and node.kind is DecisionKind.CHOICE:
            yield node


def _is_named_in(node: Node, sentence: str) -> bool:
    """Whether a sentence names a choice: it contains one of its values, or at least two and 60 % of its content
    stems."""
    words = content(node.label)
    shared = words & content(sentence)
    values = (value for value in values_in(node.label) if value.kind not in NAMED_KINDS)
    return len(shared) >= max(2, PRECISE * len(words)) or any(names_again(value, sentence) for value in values)


def _find_in_category(ledger: Ledger, finding: Finding, accept: Callable[[Node], bool]) -> Node | None:
    """The current decision for another value of the same category: "Vitest instead" finds the decision for Jest."""
    kind = next((found[0] for word in finding.label.split() if (found := find_member(word)) is not None), "")
    others = " ".join(members_of(kind)) if kind else ""
    mine = content(finding.label)

    def other(node: Node) -> bool:
        return accept(node) and not content(node.label) <= mine

    return find_described(ledger.graph, others, NodeType.DECISION, other, 1e-6) if others else None


def reject_fact(ledger: Ledger, finding: Finding) -> Node | None:
    """Mark as invalidated what the user rejects, and return its node; ``None`` if nothing changed.

    The rejected node is the first of these that the finding's label describes: a decision or concept that still holds
    and that an earlier message stated, or an open task. If there is none, and the finding is about a decision:

    - A finding of kind rule ("no new packages") is added as a rule.
    - Something that nobody had chosen is added as a rejected option. It is not added if the sentence only says that it
      is absent, and it neither is a name nor was mentioned by the assistant.

    Without a label, the newest task of the user's last message is rejected. A finding from a tool call (an undone
    commit) rejects the finished task of that commit. If neither the user stated the finding nor accepted it, nothing
    changes.
    """
    if finding.certain:
        return _undo_work(ledger, finding)
    if finding.trust not in DECIDING:
        return None
    if not finding.label:
        return _retract_last_task(ledger, finding)
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


def _retract_last_task(ledger: Ledger, finding: Finding) -> Node | None:
    """Invalidate the newest task of the user's last message."""
    tasks = find_nearest(ledger.graph, lambda node: node.type is NodeType.TASK and is_asked_now(ledger, node))
    for task in tasks[:1]:
        ledger.move(task, Status.INVALIDATED, finding)
        return task
    return None
