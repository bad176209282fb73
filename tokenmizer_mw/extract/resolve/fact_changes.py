"""Changes of facts in force by a user's sentences that no rule reads as a change.

In: the sentences of a user's message as claims, and the ledger. Out: superseded nodes in the ledger. A sentence
supersedes a fact only if it asserts something (see ``frames``) and is probably about the same thing: it gives another
value, names the old one, or says that it changes (see ``contrast``). The sentence becomes the label of the new fact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, starmap
from operator import itemgetter
from typing import Final, NamedTuple

from tokenmizer_mw.extract.candidates.agreed_changes import find_agreed
from tokenmizer_mw.extract.candidates.claims import ReadClaim, strip_sentence
from tokenmizer_mw.extract.compose.validate import clean_label, format_quote
from tokenmizer_mw.extract.dialogue.situation import last_question
from tokenmizer_mw.extract.finding import Finding, Move, Segment, SegmentKind
from tokenmizer_mw.extract.match.hit import is_anaphoric
from tokenmizer_mw.extract.match.stated_values import StatedValues, read_stated
from tokenmizer_mw.extract.rules.change_words import PERMITS
from tokenmizer_mw.extract.score.contrast import (
    Claim,
    closeness,
    count_words,
    find_sharing_key,
    is_denial,
    weigh,
)
from tokenmizer_mw.extract.text.clauses import split_statements
from tokenmizer_mw.extract.text.pattern import PatternSet, compile_lazily
from tokenmizer_mw.extract.text.phrases import (
    bound_sentence,
)
from tokenmizer_mw.extract.text.similar import content, overlap, split_words
from tokenmizer_mw.graph.values import Value, same_sort, values_in
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Status, Trust

from .correction import is_value
from .decision_moves import find_superseded
from .facts import PRECISE, supersede
from .ledger import Ledger
from .may_replace import may_replace
from .node_search import find_nearest
from .restatements import NAME_KINDS, find_duplicates, iterate_in_force, supersede_restatements
from .set_by_assistant import find_set_by_assistant
from .succession import find_previous_value

ORDERS_MAX: Final = 12
"""How many of the newest tasks are searched for open orders that a sentence may change."""
PROPOSAL_MAX: Final = 100
"""Longest proposal, in characters, to which a few words agree as a whole; a longer one contains several."""

LIKELY: Final = 0.25
"""Lowest probability that a message changes one particular fact at which it is taken to do so."""
LEAST_WEIGHT: Final = -1.9
"""Log odds of the likeliest fact up to which no fact is changed: even several such facts together stay far below
``LIKELY``."""
LEAST_ODDS: Final = -2.5
"""Log odds that a sentence changes anything; below them, it is compared with no fact."""

SETTLES_LEAST: Final = 0.2
"""Lowest probability that a sentence decides something at which what replaces a mere statement is a decision."""

_CONFIDENCE: Final = 0.55
"""Confidence of a change that only the statistical comparison finds. For authors whose texts it was not trained on,
half of these changes are right."""


def apply_change(ledger: Ledger, claims: Sequence[ReadClaim], findings: Sequence[Finding]) -> list[Finding]:
    """Find the sentence of a user's message that changes a current fact, and supersede that fact with it. Returns the
    findings that remain to be placed: after a change, those without the decisions and notes of that sentence.

    ``claims``: the sentences of the message. The new fact is added to ``ledger``. Its label is the sentence, or the
    label of a rule's finding from the same sentence if that says nearly all of it. Nothing is superseded if such a
    finding changes or rejects a fact itself; a rejection that also names a replacement does not count.
    """
    found = _find_change(ledger, claims)
    if found is None:
        return list(findings)
    segment, reason, old = found.segment, found.reason, found.old
    span = (segment.start, segment.end)
    same = [one for one in findings if one.span == span]
    by_rule = any(_is_change_by_rule(ledger, one) for one in same)
    if by_rule and not any(_names_replacement(segment, one) for one in same):
        return list(findings)
    if _is_unrelated_rule(ledger, segment, old, findings):
        return list(findings)
    read = next(filter(_is_new_choice, same), None)
    reason = (read.reason or clean_label(read.why) if read is not None else "") or reason
    if read is None or _substitute_value(old.label, strip_sentence(segment)) or not _says_all(read, segment):
        _replace_fact(ledger, found._replace(reason=reason))
    else:
        kind = old.kind if old.kind is DecisionKind.RULE else read.kind
        sure = min(read.confidence, _CONFIDENCE)
        _supersede_and_correct(ledger, old, replace(read, reason=reason, kind=kind, confidence=sure))
    return [finding for finding in findings if finding.type not in _OPEN_TYPES or finding.span != span]


def _is_new_choice(finding: Finding) -> bool:
    """Whether a finding states a choice of the user."""
    chosen = finding.type is NodeType.DECISION and finding.kind is DecisionKind.CHOICE
    return chosen and finding.move is not Move.REJECT and finding.status is Status.ACTIVE


def _says_all(finding: Finding, segment: Segment) -> bool:
    """Whether a label has nearly all words of its sentence, so that it can stand for the sentence."""
    said = content(strip_sentence(segment))
    return len(said & content(finding.label)) >= _WHOLE * len(said) > 0


_WHOLE: Final = 0.7
"""Smallest share of the words of a sentence in a label that stands for it."""


def _names_replacement(segment: Segment, finding: Finding) -> bool:
    """Whether a sentence that rejects something also names what replaces it ("drop the mails, chat is nicer")."""
    if finding.move is not Move.REJECT or not finding.label:
        return False
    turned_down = content(finding.label)
    rest = [part for part in split_statements(strip_sentence(segment)) if turned_down.isdisjoint(content(part))]
    return any(content(part) and not is_anaphoric(part) for part in rest)


def _is_change_by_rule(ledger: Ledger, finding: Finding) -> bool:
    """Whether a finding replaces or rejects something by itself, so that this module need not look for a change."""
    if finding.type not in _OPEN_TYPES:
        return False
    if finding.target or finding.move is Move.REJECT or ledger.graph.in_slot(finding.slot) is not None:
        return True
    if not finding.near or is_value(finding.label):
        return finding.move in _CHANGING
    if finding.move is Move.REPLACE and find_superseded(ledger, finding) is not None:
        return True
    before = find_previous_value(ledger, finding)
    return before is not None and before.named


def withdraw_duplicates(ledger: Ledger, withdrawn: Sequence[tuple[Finding, Node]]) -> None:
    """Invalidate the other facts that state what this message rejected, and open tasks from the same sentence.
    ``withdrawn``: each rejecting finding with the node that it invalidated."""
    for finding, old in withdrawn:
        gone = [old, *find_duplicates(ledger, old, content(finding.label) | content(finding.quote))]
        for node in (*gone[1:], *(task for one in gone for task in _find_tasks_beside(ledger, one))):
            ledger.move(node, Status.INVALIDATED, finding)


def _find_tasks_beside(ledger: Ledger, old: Node) -> list[Node]:
    """The open tasks that the sentence which stated a fact also announced: "we'll start in June" both decides and
    plans."""
    source = old.source
    return find_nearest(
        ledger.graph,
        lambda node: node.type is NodeType.TASK and (node.source.turn, node.source.span) == (source.turn, source.span),
    )


def apply_changes_after_rules(
    ledger: Ledger,
    claims: Sequence[ReadClaim],
    findings: Sequence[Finding],
    segments: Sequence[Segment],
    told: str,
    asked: str = "",
) -> None:
    """Supersede the fact that a user's message changes although none of its findings says so. Call it after the
    ``findings`` were placed.

    1. If the message has replaced no fact yet, look for the fact that a sentence of ``claims`` most likely changes. A
       new fact made of that sentence supersedes it, unless the change is too unlikely (``LIKELY``).
    2. If the message has still replaced none, and is a short reply (``segments``) that agrees to a proposal, a new fact
       made of the proposal and the reply supersedes the fact that the proposal concerns. First the end of the
       assistant's last message (``told``) is searched for such a proposal. If none is there, it may be the question at
       the end of the user's message before (``asked``, "" for none), unless ``told`` is "" or denies something.
    3. Correct the other facts that state what the message has replaced by now, also through the ``findings``
       (``supersede_restatements``).
    """
    found = _find_change(ledger, claims) if not ledger.find_replacements() else None
    if found is not None and not _is_unrelated_rule(ledger, found.segment, found.old, findings):
        _replace_fact(ledger, found)
    _apply_agreed_change(ledger, segments, told, asked)
    for step in ledger.find_replacements():
        before, after = ledger.graph.get(step.old), ledger.graph.get(step.new)
        if before is not None and after is not None and after.current:
            supersede_restatements(ledger, before, after)


def _is_unrelated_rule(ledger: Ledger, segment: Segment, old: Node, findings: Sequence[Finding]) -> bool:
    """Whether a sentence states a rule, and ``old`` is none: the assistant only mentioned it, or it states a value
    and the rule none. Then neither replaces the other."""
    span = (segment.start, segment.end)
    if not any(one.span == span and one.kind is DecisionKind.RULE for one in findings):
        return False
    known, said = read_stated(old.label), read_stated(segment.text)
    states_value = old.kind is not DecisionKind.RULE and bool(known.values)
    return ledger.graph.get(old.id) is None or (states_value and not said.values | said.names)


def _apply_agreed_change(ledger: Ledger, segments: Sequence[Segment], told: str, asked: str) -> None:
    """Supersede the fact that the user changes by agreeing: to the assistant's proposal ("what about Postmark?",
    "good, do that"), or to its positive answer to the user's own question ("shall we use Postmark?",
    "Postmark works well", "do that")."""
    if ledger.find_replacements():
        return
    spoken = [one for one in segments if one.kind in (SegmentKind.PROSE, SegmentKind.LIST_ITEM)]
    facts = list(iterate_changeable(ledger))
    found = find_agreed(spoken, told, facts, ledger.turn)
    if found is None and last_question(asked) and told and not is_denial(told):
        found = find_agreed(spoken, asked, facts, ledger.turn)
    if found is not None and len(found[1]) <= PROPOSAL_MAX:
        old, proposal = found
        _supersede_fact(ledger, old, _label_agreement(proposal, spoken[0]), spoken[0], "")


def _label_agreement(proposal: str, reply: Segment) -> str:
    """The label of what a reply agrees to: the reply if it names the value itself ("yes, I switched to SQLite"), else
    the proposal without its question ("use SQLite") followed by the reply."""
    said, told = strip_sentence(reply), read_stated(proposal)
    if not read_stated(said).names.isdisjoint(told.names):
        return said
    stated = proposal.rstrip(" .!?？。")
    match = _ASKS.match(stated)
    return f"{stated[match.end() :] if match is not None else stated}: {bound_sentence(reply.text).rstrip(' .!')}"


_ASKS: Final = compile_lazily(
    r"(?:(?:and|but|so|or|then),? )?(?:(?:shall|should|could|can|may) (?:i|we) (?:just |maybe |also )?"
    r"|(?:do you )?want me to |would you like me to |(?:how|what) about |why (?:don't|not) (?:we |you )?|sollen wir "
    r"|soll ich"
    r"|on (?:peut|pourrait) |¿?(?:podemos|podríamos) )"
)
"""Words at the beginning of a proposal that make it a question."""


_CHANGING: Final = frozenset({Move.REPLACE, Move.SET, Move.REJECT})
_OPEN_TYPES: Final = frozenset({NodeType.DECISION, NodeType.CONCEPT})


class _Change(NamedTuple):
    """A sentence, its claim, the reason for the change ("" for none), and the fact that it changes."""

    segment: Segment
    claim: Claim
    reason: str
    old: Node


def _find_change(ledger: Ledger, claims: Sequence[ReadClaim]) -> _Change | None:
    """The sentence of a message that changes a fact in force, and that fact; ``None`` if probably none does.

    All pairs of a sentence and a fact that share a word or a kind of value are compared with each other, because the
    sentence that gives the reason often names the changed thing as well.
    """
    if (lifted := _find_lifted_rule(ledger, claims)) is not None:
        return lifted
    likely = [(-at, read) for at, read in enumerate(claims) if read[1].odds >= LEAST_ODDS]
    if not likely:
        return None
    facts = find_changeable(ledger, [read[1] for _, read in likely])
    words = count_words(facts)
    weighed = [
        (weigh(node, read[1], words), at, node.id, read, node)
        for at, read in likely
        for node in find_sharing_key(facts, read[1])
    ]
    if max(map(itemgetter(0), weighed), default=LEAST_WEIGHT) <= LEAST_WEIGHT:
        return None
    pairs = list(starmap(_Pair, weighed))
    ranked = sorted(pairs, key=itemgetter(0, 1, 2), reverse=True)
    best = _find_likeliest_pair(ranked)
    if best is None:
        return None
    alike = {node.id for node in facts if node is best.node or _is_same_statement(best.node, node)}
    same = [one for one in pairs if one.id in alike and one.may_change]
    if not _is_likely(sum(one.chance for one in same), [one for one in ranked if one.id not in alike]):
        return None
    told = max(same, key=lambda one: (one.names_matter, not one.node.is_note, one.by_user, one.weight))
    segment, claim, find_reason = best.read
    return _Change(segment, claim, find_reason(), told.node)


def _find_lifted_rule(ledger: Ledger, claims: Sequence[ReadClaim]) -> _Change | None:
    """The sentence that allows what a rule of the user's forbids ("you may push to main again"), and that rule;
    ``None`` for none."""
    for segment, claim, find_reason in claims:
        if not _PERMITS.any(claim.said) or is_denial(claim.said):
            continue
        for node in iterate_in_force(ledger):
            forbids = node.kind is DecisionKind.RULE and node.source.role == "user" and is_denial(node.label)
            if forbids and overlap(node.label, claim.said) >= PRECISE:
                return _Change(segment, claim, find_reason(), node)
    return None


_PERMITS: Final = PatternSet(*PERMITS)


class _Pair(NamedTuple):
    """A sentence and a fact. ``weight``: the log odds that the sentence changes the fact; ``at``: the index of the
    sentence, negated, so that earlier ones sort higher."""

    weight: float
    at: int
    id: str
    read: ReadClaim
    node: Node

    @property
    def chance(self) -> float:
        """The odds of this change against the outcome that nothing changes."""
        return math.exp(self.weight)

    @property
    def names_matter(self) -> bool:
        """Whether the sentence itself, not only its neighbours, has a word or a kind of value of the fact.
        "I mixed that up" has none."""
        return not read_stated(self.node.label).keys.isdisjoint(self.read[1].stated.keys)

    @property
    def by_user(self) -> bool:
        """Whether the user stated the fact."""
        return self.node.source.role == "user"

    @property
    def may_change(self) -> bool:
        """Whether the sentence may replace the fact at all (see ``may_replace``)."""
        return may_replace(self.read[1], self.node)


def _find_likeliest_pair(ranked: Sequence[_Pair]) -> _Pair | None:
    """The likeliest pair that may change something, if it is likely together with all pairs ranked below it; else
    ``None``."""
    rest = sum(one.chance for one in ranked)
    for one in ranked:
        if rest < LIKELY * (1 + rest):
            return None
        if one.may_change:
            return one
        rest -= one.chance
    return None


def _is_likely(chance: float, others: Sequence[_Pair]) -> bool:
    """Whether ``chance`` is a sufficient share of the odds of all outcomes: no change, and the ``others`` that may
    change something. Stops as soon as the answer is certain, because ``may_change`` is slow."""
    known, rest = 1 + chance, sum(one.chance for one in others)
    for one in others:
        if chance >= LIKELY * (known + rest) or chance < LIKELY * known:
            break
        rest -= one.chance
        known += one.chance * one.may_change
    return chance >= LIKELY * known


def _is_same_statement(one: Node, other: Node) -> bool:
    """Whether all words of one fact are in the other, as for a choice and the note of the same sentence."""
    mine, yours = content(one.label), content(other.label)
    return bool(mine and yours) and (mine <= yours or yours <= mine)


def _replace_fact(ledger: Ledger, change: _Change) -> None:
    """Supersede a fact by what a sentence says. If the fact is a mere statement, and the sentence names no tool and
    probably decides nothing, the new fact is a concept."""
    segment, claim, reason, old = change
    line = strip_sentence(segment)
    said = read_stated(line)
    if reason and read_stated(old.label).keys.isdisjoint(said.keys) and read_stated(reason).keys:
        line = f"{line}: {reason}"
    label = _substitute_value(old.label, line) or line
    states = old.type is NodeType.CONCEPT and not said.members and claim.settles < SETTLES_LEAST
    type_ = NodeType.CONCEPT if states else NodeType.DECISION
    _supersede_fact(ledger, old, label, segment, reason or _parts_beside_change(line, old), type_)


def _substitute_value(old: str, line: str) -> str:
    """The old label with the new value in it, if the sentence says nothing else ("make it 9:30"); "" if it says more,
    or if either of them has not exactly one value."""
    said, known = read_stated(line), read_stated(old)
    new, before = _values_in_text(line), _values_in_text(old)
    if len(new) != 1 or len(before) != 1 or not same_sort(before[0], new[0]) or not said.words <= known.words:
        return ""
    if _word_before(line, new[0]) not in _VALUE_FOLLOWS | {_word_before(old, before[0])}:
        return ""
    return old.replace(before[0].text, new[0].text, 1)


_VALUE_FOLLOWS: Final = split_words("to it is be make only just up auf a à") | {""}
"""Words before a new value that do not say what it is a value of: "make it 9:30". In "at 5", the word does: that is no
number of seats."""


def _word_before(text: str, value: Value) -> str:
    """The word before a value, in lower case; "" at the beginning."""
    return (text[: value.start].casefold().split() or [""])[-1].strip(".,;:!?()")


def _values_in_text(text: str) -> list[Value]:
    """The values in a text, such as numbers and dates, without names."""
    return [value for value in values_in(text) if value.kind not in NAME_KINDS and value.kind != "tool"]


def _supersede_fact(
    ledger: Ledger, old: Node, label: str, segment: Segment, reason: str, type_: NodeType = NodeType.DECISION
) -> None:
    finding = Finding(
        type_,
        clean_label(label),
        Status.ACTIVE,
        Trust.STATED,
        _CONFIDENCE,
        Move.REPLACE,
        reason=clean_label(reason),
        kind=_kind_after(old) if type_ is NodeType.DECISION else None,
        quote=format_quote(segment.text),
        span=(segment.start, segment.end),
    )
    if finding.label:
        _supersede_and_correct(ledger, old, finding)


def _kind_after(old: Node) -> DecisionKind:
    """The kind of a decision that replaces a fact: a rule if that is one, else a choice."""
    return DecisionKind.RULE if old.kind is DecisionKind.RULE else DecisionKind.CHOICE


def _supersede_and_correct(ledger: Ledger, old: Node, finding: Finding) -> None:
    """Supersede a fact, and correct the other facts that state the same, before further findings are compared with
    them."""
    replaced = ledger.ensure_node(old)
    supersede_restatements(ledger, replaced, supersede(ledger, replaced, finding, verbatim=True))


def _parts_beside_change(line: str, old: Node) -> str:
    """The parts of a sentence between commas, without the one that is closest to the old fact and so changes it."""
    parts = line.split(", ")
    known_ = read_stated(old.label)
    scores = [closeness(known_, read_stated(part)) for part in parts]
    return ", ".join(part for part, score in zip(parts, scores, strict=True) if score < max(scores))


def find_changeable(ledger: Ledger, claims: Sequence[Claim]) -> list[Node]:
    """Return everything that a user's sentences (``claims``) may change: facts in force, the user's newest orders, and
    what the assistant stated with a word or value of theirs."""
    keys = frozenset[str]().union(*(claim.keys for claim in claims))
    known = list(iterate_changeable(ledger))
    told = [read_stated(node.label) for node in known]
    values = frozenset[str]().union(*[one.values for one in told])
    names = frozenset([one.names for one in told])

    def is_news(said: StatedValues) -> bool:
        """Whether a clause of the assistant states no known fact: none of their values or, if it has no values, a name
        besides those of each fact."""
        return said.values.isdisjoint(values) if said.values else not any(map(said.names.issubset, names))

    return [*known, *find_set_by_assistant(ledger.put_up(), keys, is_news)]


_CLOSED: Final = frozenset({Status.COMPLETED, Status.ARCHIVED})
"""Statuses of orders that are done or left, whose content a user may still change ("set it to 30", "make it 60")."""


def iterate_changeable(ledger: Ledger) -> Iterator[Node]:
    """Iterate over the newest facts in force and the user's newest open orders, both from earlier messages."""
    yield from iterate_in_force(ledger)
    graph = ledger.graph
    for number in islice(range(graph.count_added(NodeType.TASK), 0, -1), ORDERS_MAX):
        node = graph.get(f"{NodeType.TASK.value}-{number}")
        if node is None or node.source.role != "user" or node.source.turn >= ledger.turn:
            continue
        if node.open or node.status in _CLOSED:
            yield node
