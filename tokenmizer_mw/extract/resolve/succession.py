"""Finds the earlier value that a new value replaces: a value of the same kind that the message names, or that belongs
to the same thing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from tokenmizer_mw.extract.finding import BETWEEN_SENTENCES, Finding, Move
from tokenmizer_mw.extract.match.slots import are_of_different_things, find_member
from tokenmizer_mw.extract.match.value_assignments import AGAINST
from tokenmizer_mw.extract.text.pattern import PatternSet
from tokenmizer_mw.extract.text.phrases import strip_lead
from tokenmizer_mw.extract.text.similar import content
from tokenmizer_mw.graph.values import Value, alike, equal, names_again, same_sort, values_in
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Status

from .facts import is_recent
from .ledger import Ledger

DECISIONS_MAX: Final = 24
TASKS_MAX: Final = 12
"""Numbers of newest nodes that are searched for the earlier value: of decisions (``DECISIONS_MAX``), and of each other
type (``TASKS_MAX``)."""

_REACH: Final = 8
"""Words such as "switch to" may replace a value that was mentioned at most this many messages ago."""

_TALKED_OF: Final = 4
"""Like ``_REACH``, if the message names neither the old value nor what it is a value of."""

_BESIDE: Final = PatternSet(r".*(?:\b(?:also|as well|additionally|in addition|besides)\b| too$| too[.,!])")
_SYNONYMS: Final = {"due": "deadlin", "launch": "releas", "ship": "releas", "expir": "liv", "run": "", "listen": ""}
NAMED_KINDS: Final = frozenset({"name", "tool", "code", "term"})


_BRIEF: Final = 8
_NAME_WORDS: Final = 4


@dataclass(frozen=True, slots=True)
class PreviousValue:
    """A value that was replaced.

    - ``node``: the fact that states it; ``value``: the value.
    - ``named``: whether the message names the value, or what it is a value of. If not, it is only the newest value of
      its kind.
    """

    node: Node
    value: Value
    named: bool


def find_previous_value(ledger: Ledger, finding: Finding) -> PreviousValue | None:
    """Return the earlier value that the finding's value replaces.

    ``None`` if no earlier value fits, if the finding has no value, or if its sentence says that it applies in addition
    ("also") and names nothing that it replaces.
    """
    new = _new(finding)
    if new is None or (_BESIDE.any(finding.quote) and not finding.target):
        return None
    best: PreviousValue | None = None
    best_score = 0
    for node in _candidates(ledger):
        for old in _values_of(node) if node.source.turn != ledger.turn else ():
            score = _score(ledger, finding, new, node, old)
            if score > best_score:
                best, best_score = PreviousValue(node, old, score >= _NAMED_SCORE), score
    return best


def find_holder_of_value(ledger: Ledger, finding: Finding) -> Node | None:
    """Return the newest decision in force that states the finding's value (without one, its label); ``None`` for
    none."""
    value = finding.value or finding.label
    for node in islice(_candidates(ledger), DECISIONS_MAX):
        if node.type is NodeType.DECISION and any(equal(known.text, value) for known in _values_of(node)):
            return node
    return None


def drop_false_target(finding: Finding) -> Finding:
    """Return the finding without its target, if the value in the target is of another kind than the new value: in
    "40 ms is too slow, take B", B does not replace 40 ms. The target then becomes the beginning of the reason.
    Otherwise the finding is returned unchanged."""
    new = _new(finding)
    old = next(iter(values_in(finding.target)), None)
    if new is None or old is None or alike(old, new) or old.kind in NAMED_KINDS:
        return finding
    return replace(finding, target="", reason=f"{finding.target} {finding.reason}".strip())


def _new(finding: Finding) -> Value | None:
    """The value that a finding states. ``None`` if it has neither value nor label, or if it is a rule without value and
    target."""
    if finding.kind is DecisionKind.RULE and not finding.value and not finding.target:
        return None
    typed = next((value for value in values_in(finding.value or finding.label)), None)
    if typed is not None and typed.start == 0:
        return typed
    text = finding.value or finding.label
    return Value(text, "term", 0, len(text)) if text else None


def _candidates(ledger: Ledger) -> Iterator[Node]:
    graph = ledger.graph
    for number in islice(range(graph.count_added(NodeType.DECISION), 0, -1), DECISIONS_MAX):
        node = graph.get(f"{NodeType.DECISION.value}-{number}")
        if node is not None and node.status is Status.ACTIVE and node.kind is not DecisionKind.OPTION:
            yield node
    for type_ in (NodeType.ENVIRONMENT, NodeType.CONCEPT):
        for number in islice(range(graph.count_added(type_), 0, -1), TASKS_MAX):
            node = graph.get(f"{type_.value}-{number}")
            if node is not None and node.status is Status.ACTIVE and not node.is_note:
                yield node
    for number in islice(range(graph.count_added(NodeType.TASK), 0, -1), TASKS_MAX):
        node = graph.get(f"{NodeType.TASK.value}-{number}")
        if node is not None and node.source.role == "user" and node.status is not Status.INVALIDATED:
            yield node


def _values_of(node: Node) -> Iterator[Value]:
    """Iterate over the values that a node states; names only if the label says little else."""
    brief = len(node.label.split()) <= _BRIEF or node.type is NodeType.TASK
    typed = [value for value in values_in(node.label) if not _is_gerund(value)]
    for value in typed:
        if brief or value.kind not in NAMED_KINDS or equal(value.text, node.value):
            yield value
    if node.value and not any(equal(value.text, node.value) for value in typed):
        yield Value(node.value, "term", 0, 0)


def _is_gerund(value: Value) -> bool:
    """Whether a value is only a capitalised verb at the beginning of a sentence ("Checking every minute")."""
    return value.kind == "name" and value.start == 0 and value.text.endswith("ing") and " " not in value.text


def _score(ledger: Ledger, finding: Finding, new: Value, node: Node, old: Value) -> int:
    if equal(old.text, new.text):
        return 0
    if not finding.target and are_of_different_things(node.slot, finding.slot):
        return 0
    if finding.target:
        return 9 if alike(old, new) and names_again(old, finding.target) else 0
    named = names_again(old, finding.near)
    if new.kind == "number" and not named and has_other_number(finding, new.text):
        return 0
    shared = _is_about_same(finding.about, node.label, old)
    if not alike(old, new) and not (shared and finding.single and "term" in (old.kind, new.kind)):
        return 0
    if not named and not shared and _is_address(old) != _is_address(new):
        return 0
    option = _is_option_of(new, node)
    sure = option or _is_replaced(ledger, finding, node, old, new, named=named, shared=shared)
    return (5 * (named or option) + _NAMED_SCORE * shared + 2 * is_recent(ledger, node) + 1) if sure else 0


_NAMED_SCORE: Final = 4
"""Lowest score of a value that the message names, or whose thing it names. Values that are only recent score less."""


def _is_option_of(new: Value, node: Node) -> bool:
    """Whether a choice answers a question that also offered the new value. Its label consists of question and answer:
    "Svelte or Vue: Svelte"."""
    question, answers, answer = node.label.partition(": ")
    return bool(answers) and names_again(new, question) and not names_again(new, answer)


def has_other_number(finding: Finding, new: str) -> bool:
    """Whether the sentences around the finding (``finding.near``) have a number or a measure other than ``new``, to
    which "make it 12" may refer."""
    return any(value.kind not in NAMED_KINDS and not equal(value.text, new) for value in values_in(finding.near))


def _is_replaced(
    ledger: Ledger, finding: Finding, node: Node, old: Value, new: Value, *, named: bool, shared: bool
) -> bool:
    """Whether there is enough evidence that the new value replaces ``old``. ``named``: the message names the old value;
    ``shared``: the message names the thing that the old value is a value of."""
    against = named and any(
        names_again(old, sentence) and AGAINST.any(sentence) for sentence in finding.near.split(BETWEEN_SENTENCES)
    )
    both = old.kind in NAMED_KINDS and new.kind in NAMED_KINDS
    if finding.about:
        return (shared and (finding.single or against or not both)) or (against and both)
    if node.type is NodeType.ENVIRONMENT:
        return named and finding.single
    if node.kind in (DecisionKind.RULE, DecisionKind.PREFERENCE):
        return named and finding.single and not both
    told = finding.move is Move.REPLACE or (finding.move is Move.SET and finding.single)
    close = ledger.turn - ledger.last_touched(node) <= _REACH
    if not named and not shared:
        switched = finding.move is Move.REPLACE or not equal(strip_lead(finding.label), new.text)
        talked_of = ledger.turn - ledger.last_touched(node) <= _TALKED_OF
        counted = old.kind == new.kind == "amount" and close and same_sort(old, new)
        return against or counted or (told and talked_of and _are_of_one_kind(old, new, switched=switched))
    if both and node.type is NodeType.TASK:
        return against or (told and close and old.kind == new.kind == "code")
    if both:
        return _are_short_names(old, new) and (against or (told and close))
    return against or (close and (told or same_sort(old, new)) and (named or same_sort(old, new)))


def _are_of_one_kind(old: Value, new: Value, *, switched: bool) -> bool:
    """Whether two values are of one kind: the same unit or format, known names of one category, or unknown names that
    share a word. If the user says that something is ``switched``, names need not share one."""
    if new.text[:1].isdigit() and not switched:
        return False
    if old.kind not in NAMED_KINDS or new.kind not in NAMED_KINDS:
        return same_sort(old, new)
    one, other = _member_of(old), _member_of(new)
    if one is not None and other is not None:
        return one[0] == other[0]
    akin = one is other and not content(old.text).isdisjoint(content(new.text))
    return (switched or akin) and _are_short_names(old, new)


def _member_of(value: Value) -> tuple[str, str] | None:
    """Category and canonical spelling of the known name in a value, which may include its version ("Python 3.11");
    ``None`` for none."""
    return find_member(value.text) or find_member(value.text.split()[0])


def _is_address(value: Value) -> bool:
    """Whether a value is a technical name with a dot in it that is no number ("db.example.com"). No plain name replaces
    it."""
    return value.kind == "code" and "." in value.text.strip(".") and not value.text.replace(".", "").isdigit()


def _are_short_names(old: Value, new: Value) -> bool:
    return len(new.text.split()) <= _NAME_WORDS and len(old.text.split()) <= _NAME_WORDS


def _is_about_same(about: str, label: str, old: Value) -> bool:
    """Whether a label is about the thing that a value is assigned to: the words of one contain those of the other.
    ``about``: that thing; ``old``: the value in the label, which does not count."""
    mine = _subject(about)
    other = _subject(label.replace(old.text, " "))
    return bool(mine & other) and (mine <= other or other <= mine)


def _subject(text: str) -> frozenset[str]:
    return frozenset(kept for word in content(text) if (kept := _SYNONYMS.get(word, word)))
