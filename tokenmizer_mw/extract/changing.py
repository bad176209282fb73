"""What a user's sentence changes: the one place where something that was settled goes without being named by a rule.

A fact in force is superseded only by a sentence that asserts something (see ``frames``) and that likely speaks of the
same thing and gives another value, names the old one, or says that it changes (see ``contrast``). The sentence as it
stands is what holds from then on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice
from operator import itemgetter
from typing import Final, NamedTuple

from tokenmizer_mw.graph.values import Value, equal, same_sort, values_in
from tokenmizer_mw.model.event import NodeRevised
from tokenmizer_mw.model.node import GOAL_CHANGED, LABEL_MAX, DecisionKind, Node, NodeType, Status, Trust

from .agreed import find_agreed
from .ahead import puts_off
from .contrast import (
    Claim,
    Stated,
    are_of_other_things,
    closeness,
    denies,
    gives_no_other_value,
    is_of_another,
    says_change,
    stated_in,
    weigh,
)
from .facts import supersede
from .finding import Finding, Move, Segment, SegmentKind
from .foreign import lies_in
from .frames import frames_of
from .hit import anaphoric
from .layout import Span
from .ledger import Ledger
from .pattern import PatternSet, compile_lazily
from .phrases import asks, bound_sentence, has_digit, order_in, split_reason, without_lead
from .reading import hits, may_be_why
from .rules import Act, Speaker
from .set_by_assistant import find_set
from .similar import content
from .slots import find_member
from .told import parts_of
from .validate import clean_label, format_quote

SENTENCES_READ: Final = 8
SENTENCE_MAX: Final = 200
FACTS_MAX: Final = 32
"""Newest facts among which the old one is looked for."""
ORDERS_MAX: Final = 12
"""Newest open orders among which it is."""
PROPOSAL_MAX: Final = 100
"""Characters of a proposal that a few words agree to as a whole; a longer one has several."""
GOAL_WORDS: Final = 2
"""Words of an old label that a goal names at least, where it names no value."""
NAMED: Final = 0.5
"""Share of an old label's content that a goal names at least."""

LIKELY: Final = 0.25
"""How likely a message changes one certain fact, for it to be taken to do so."""
LEAST_WEIGHT: Final = -1.9
"""Log odds of the likeliest fact up to which no sum of a few facts comes near ``LIKELY``."""
LEAST_ODDS: Final = -2.5
"""Log odds that a sentence changes anything, below which no fact is looked at."""

_CONFIDENCE: Final = 0.75
_NAMES: Final = frozenset({"name", "term", "word", "code"})
_TYPES: Final = (NodeType.DECISION, NodeType.ENVIRONMENT, NodeType.CONCEPT)


ReadClaim = tuple[Segment, Claim, str]
"""A sentence of a user's message, what it claims, and why."""


def change(ledger: Ledger, claims: Sequence[ReadClaim], findings: Sequence[Finding]) -> list[Finding]:
    """Supersede what the claims of a user's message change, unless rules read that change; ``findings`` without what
    the sentence would state besides."""
    known_ = {finding.span for finding in findings if _is_change(ledger, finding)}
    found = _find_change(ledger, claims)
    if found is None:
        return list(findings)
    segment, reason, old = found
    span = (segment.start, segment.end)
    if span in known_ and not any(_puts_in_place(segment, one) for one in findings if one.span == span):
        return list(findings)
    _replace(ledger, old, segment, reason)
    return [finding for finding in findings if finding.type not in _OPEN_TYPES or finding.span != span]


def read_claims(
    turn: int,
    segments: Sequence[Segment],
    elsewhere: list[Span],
    meaning: Callable[[int, Sequence[Segment]], float | None] | None = None,
) -> Iterator[ReadClaim]:
    """The sentences of the user's message ``turn`` that may change something, and why they do. ``elsewhere``: places
    where others speak; ``meaning``: what a sentence model says for it that one of some sentences changes something."""
    said = [one for one in segments if one.kind in (SegmentKind.PROSE, SegmentKind.LIST_ITEM)][:SENTENCES_READ]
    for at, segment in enumerate(said):
        if not lies_in(elsewhere, segment.start) and _may_change(segment.text) and not _is_marked(segment.text):
            beside = " . ".join(one.text for one in said[max(at - 1, 0) : at + 2])
            line = bound_sentence(segment.text)
            parts = tuple(part for part in parts_of(line) if part.strip()) or (line,)
            claim = Claim(_line_of(segment), parts, beside, turn, at == len(said) - 1)
            if meaning is not None:
                claim = replace(claim, read_meaning=partial(meaning, at, said))
            yield segment, claim, _reason(said, at)


def _is_marked(text: str) -> bool:
    """Whether a formal marker says that a sentence tells of work, of an error, or what something is: "Error: ..."."""
    return any(hit.rule.explicit and hit.rule.act in _OF_WORK for hit in hits(text, Speaker.USER))


def _puts_in_place(segment: Segment, finding: Finding) -> bool:
    """Whether a sentence that turns something down also says what takes its place: "drop the mails, chat is nicer"."""
    if finding.move is not Move.REJECT or not finding.label:
        return False
    turned_down = content(finding.label)
    rest = [part for part in parts_of(_line_of(segment)) if turned_down.isdisjoint(content(part))]
    return any(content(part) and not anaphoric(part) for part in rest)


def _is_change(ledger: Ledger, finding: Finding) -> bool:
    """Whether a finding replaces something by itself."""
    if finding.type not in _OPEN_TYPES:
        return False
    return finding.move in _CHANGING or bool(finding.near) or ledger.graph.in_slot(finding.slot) is not None


def withdraw_with(ledger: Ledger, withdrawn: Sequence[tuple[Finding, Node]]) -> None:
    """Let go what else says what this message has turned down."""
    for finding, old in withdrawn:
        for node in _stating(ledger, old):
            ledger.move(node, Status.INVALIDATED, finding)


def change_read(ledger: Ledger, claims: Sequence[ReadClaim], segments: Sequence[Segment], told: str) -> None:
    """Supersede what claims change of which rules only read the new value, or what the assistant's last words
    ``told`` propose to change and the user agrees to; and let go what else says what this message has replaced."""
    if not ledger.find_replacements() and (found := _find_change(ledger, claims)) is not None:
        segment, reason, old = found
        _replace(ledger, old, segment, reason)
    _change_agreed(ledger, segments, told)
    for step in ledger.find_replacements():
        before, after = ledger.graph.get(step.old), ledger.graph.get(step.new)
        if before is not None and after is not None and after.current:
            _spread(ledger, before, after)


def _change_agreed(ledger: Ledger, segments: Sequence[Segment], told: str) -> None:
    if ledger.find_replacements():
        return
    spoken = [one for one in segments if one.kind in (SegmentKind.PROSE, SegmentKind.LIST_ITEM)]
    found = find_agreed(spoken, told, list(changeable(ledger)), ledger.turn)
    if found is not None and len(found[1]) <= PROPOSAL_MAX:
        old, proposal = found
        label = f"{proposal.rstrip(' .!?？。')}: {bound_sentence(spoken[0].text).rstrip(' .!')}"
        _supersede(ledger, old, label, spoken[0], "")


_CHANGING: Final = frozenset({Move.REPLACE, Move.SET, Move.REJECT})
_OF_WORK: Final = frozenset({Act.COMPLAINT, Act.LATER, Act.ASSIGN})
_OPEN_TYPES: Final = frozenset({NodeType.DECISION, NodeType.CONCEPT})


def _may_change(text: str) -> bool:
    line = bound_sentence(text)
    if len(line) > SENTENCE_MAX or _CHANGES_NOTHING.any(line) or puts_off(text):
        return False
    if _AGREES.any(line) or (_complains(text) and not says_change(line)):
        return False
    if _POINTS.any(line) and all(value.kind == "name" for value in values_in(line.replace(" one", ""))):
        return False
    return not (asks(line) and not order_in(without_lead(line))) and not frames_of(line)


def _complains(text: str) -> bool:
    return any(hit.rule.act is Act.COMPLAINT for hit in hits(text, Speaker.USER))


_AGREES: Final = PatternSet(r"(?:yes|yep|yeah|ja|jep|oui|sí|sim|да|はい|是的|네)[ ,.!:、，].*")
"""An answer to what the assistant asked or proposed, which ``find_agreed`` reads."""

_POINTS: Final = PatternSet(
    r"(?:please )?\pL+ (?:that|this|these|those)(?: ones?)?(?: \pL+ly)?(?: please)?(?:$|[,.;!].*)"
)
"""An order about what was just spoken of: "test that one properly"."""

_CHANGES_NOTHING: Final = PatternSet(
    r"(?:.*[^\pL\pN])?[\"“„«「'‘][^\"”“»」']{16,}",
    r"[^\"“„«「]{16,}[\"”»」][.!?]?$",
    r".*\b(?:took|takes|failed|fails|prints|printed|shows|showed|returned|returns|saw|measured|counted|crashed|opened)\b",
    r"(?:todo|fixme)\b",
    r"(?:fatal|cannot|could not|unable to|failed to|invalid|unexpected|uncaught|no such|permission denied)\b",
    r".*\b(?:also|as well|additionally|in addition|besides|either|auch|aussi|también|anche|também)\b|.*(?:также|тоже)",
    r".*\b(?:as (?:i|we) (?:said|wrote|agreed)|like i said|as (?:before|agreed|planned)"
    r"|wie (?:gesagt|besprochen|gehabt)|comme (?:je l'ai dit|convenu|prévu|avant)"
    r"|como (?:dije|dicho|antes|acordamos|combinado|eu disse)|come (?:detto|prima))\b"
    r"|.*(?:как я (?:говорил|сказал|писал)|как раньше|我说过|照旧)",
)
"""Sentences that quote somebody, tell what somebody observes, say what holds beside the rest, or say it again."""


def _reason(said: Sequence[Segment], at: int) -> str:
    """Why a sentence changes something: what it says behind its statement, else the sentence before it or behind."""
    reason = split_reason(bound_sentence(said[at].text))[1]
    around = (*((one, False) for one in said[max(at - 1, 0) : at]), *((one, True) for one in said[at + 1 : at + 2]))
    beside = [one.text for one, behind in around if not asks(one.text) and may_be_why(one.text, behind=behind)]
    return reason or next((bound_sentence(text).rstrip(" .!") for text in beside if len(content(text)) > 1), "")


def _line_of(segment: Segment) -> str:
    return without_lead(bound_sentence(segment.text)).rstrip(" .!")


def _find_change(ledger: Ledger, claims: Sequence[ReadClaim]) -> tuple[Segment, str, Node] | None:
    """The sentence of a message that changes a fact in force, why, and that fact; ``None`` where most likely none
    does. Sentences and facts compete: the reason for a change names what is changed as well."""
    likely = [(-at, read) for at, read in enumerate(claims) if read[1].odds >= LEAST_ODDS]
    if not likely:
        return None
    facts = find_changeable(ledger)
    pairs = [_Pair(weigh(node, read[1], len(facts)), at, node.id, read, node) for at, read in likely for node in facts]
    ranked = sorted(pairs, key=itemgetter(0, 1, 2), reverse=True)
    best = _find_likeliest(ranked)
    if best is None:
        return None
    alike = {node.id for node in facts if node is best.node or _say_the_same(best.node, node)}
    same = [one for one in pairs if one.id in alike and one.may_change]
    if not _is_likely(sum(one.chance for one in same), [one for one in ranked if one.id not in alike]):
        return None
    told = max(same, key=lambda one: (one.names_matter, not one.node.is_note, one.by_user, one.weight))
    return best.read[0], best.read[2], told.node


class _Pair(NamedTuple):
    """What all evidence weighs that a sentence changes a fact. ``at``: negative number of the sentence."""

    weight: float
    at: int
    id: str
    read: ReadClaim
    node: Node

    @property
    def chance(self) -> float:
        """How likely it is against that nothing changes."""
        return math.exp(self.weight)

    @property
    def names_matter(self) -> bool:
        """Whether the sentence itself, not the one beside it, has a word or a sort of value of the fact: not "I mixed
        that up"."""
        return not stated_in(self.node.label).keys.isdisjoint(self.read[1].stated.keys)

    @property
    def by_user(self) -> bool:
        """Whether the user stated the fact."""
        return self.node.source.role == "user"

    @property
    def may_change(self) -> bool:
        """Whether the sentence may take the place of the fact."""
        return may_replace(self.read[1], self.node)


def _find_likeliest(ranked: Sequence[_Pair]) -> _Pair | None:
    """The first one that may change something, as long as it is likely with all that is behind it."""
    if not ranked or ranked[0].weight <= LEAST_WEIGHT:
        return None
    rest = sum(one.chance for one in ranked)
    for one in ranked:
        if rest < LIKELY * (1 + rest):
            return None
        if one.may_change:
            return one
        rest -= one.chance
    return None


def _is_likely(chance: float, others: Sequence[_Pair]) -> bool:
    """Whether a chance is large enough beside that nothing changes, or what others change. Whether these may change it
    is looked at as long as it matters."""
    known, rest = 1 + chance, sum(one.chance for one in others)
    for one in others:
        if chance >= LIKELY * (known + rest) or chance < LIKELY * known:
            break
        rest -= one.chance
        known += one.chance * one.may_change
    return chance >= LIKELY * known


def _say_the_same(one: Node, other: Node) -> bool:
    """Whether all that one fact says is part of the other: a choice, and the note of the sentence it stands in."""
    mine, yours = content(one.label), content(other.label)
    return bool(mine and yours) and (mine <= yours or yours <= mine)


def may_replace(claim: Claim, node: Node) -> bool:
    """Whether a sentence may take the place of a fact: it says something else, of the same thing."""
    again = _are_of_numbered_things(node.label, claim.line) or _says_again(claim.line, node.label)
    again = again or (not claim.last and _only_denies(claim, node))
    other = are_of_other_things(node, claim) or is_of_another(node, claim) or gives_no_other_value(node, claim)
    return not (again or other) and _concerns(node, claim)


def _concerns(node: Node, claim: Claim) -> bool:
    """Whether a sentence may change ``node``: an order is changed by what names its matter, a rule by that or by words
    for a change."""
    if node.type is not NodeType.TASK and (node.kind is not DecisionKind.RULE or says_change(claim.line)):
        return True
    matter = content(node.label)
    return not (matter.isdisjoint(content(claim.beside)) and matter.isdisjoint(content(claim.line)))


def _says_again(line: str, old: str) -> bool:
    """Whether a sentence only repeats a fact, or some of it: it has no other words, and denies none of them."""
    said, known = content(line), content(old)
    if not said or not said <= known or denies(line) != denies(old):
        return False
    return said == known or not says_change(line)


def _only_denies(claim: Claim, node: Node) -> bool:
    """Whether a sentence denies a fact and names nothing else: what takes its place stands behind it."""
    old, said = stated_in(node.label), claim.stated
    known = old.values | old.names
    named = said.values | said.names
    return bool(named) and named <= known and denies(claim.line) and not denies(node.label)


_NUMBERED_THING: Final = compile_lazily(
    r"(?:the |our |my )?(?P<thing>\pL+) (?P<number>\d{1,4}) \pL|.* for (?:the )?(?P<what>\pL+) (?P<which>\d{1,4})$"
)


def _are_of_numbered_things(old: str, line: str) -> bool:
    """Whether numbers tell the things apart of which two texts speak: "service 1 runs ...", "service 2 runs ..."."""
    one, other = _numbered_thing(old), _numbered_thing(line)
    return one[0] != "" and one[0] == other[0] and one[1] != other[1] and find_member(one[0]) is None


@lru_cache(maxsize=512)
def _numbered_thing(text: str) -> tuple[str, str]:
    """The thing with a number that a text begins with, or is for, and its number; "" for none."""
    match = _NUMBERED_THING.match(text) if has_digit(text) else None
    if match is None:
        return "", ""
    thing, number = (
        (match.group("thing"), match.group("number"))
        if match.group("thing")
        else (match.group("what"), match.group("which"))
    )
    return thing.casefold(), number


def _replace(ledger: Ledger, old: Node, segment: Segment, reason: str) -> None:
    """What a sentence says takes the place of a fact."""
    line = _line_of(segment)
    if reason and stated_in(old.label).keys.isdisjoint(stated_in(line).keys) and stated_in(reason).keys:
        line, reason = f"{line}: {reason}", ""
    _supersede(ledger, old, _with_new_value(old.label, line) or line, segment, reason or _other_parts(line, old))


def _with_new_value(old: str, line: str) -> str:
    """What a fact says, with the value of a sentence that says nothing else ("make it 9:30"); "" where it says more, or
    where either has several values."""
    said, known = stated_in(line), stated_in(old)
    new, before = _figures(line), _figures(old)
    if len(new) != 1 or len(before) != 1 or not same_sort(before[0], new[0]) or not said.words <= known.words:
        return ""
    return old.replace(before[0].text, new[0].text, 1)


def _figures(text: str) -> list[Value]:
    return [value for value in values_in(text) if value.kind not in _NAMES and value.kind != "tool"]


def _supersede(ledger: Ledger, old: Node, label: str, segment: Segment, reason: str) -> None:
    finding = Finding(
        NodeType.DECISION,
        clean_label(label),
        Status.ACTIVE,
        Trust.STATED,
        _CONFIDENCE,
        Move.REPLACE,
        reason=clean_label(reason),
        kind=DecisionKind.CHOICE if old.kind is not DecisionKind.RULE else DecisionKind.RULE,
        quote=format_quote(segment.text),
        span=(segment.start, segment.end),
    )
    if finding.label:
        known = ledger.know(old)
        _spread(ledger, known, supersede(ledger, known, finding))


def _other_parts(line: str, old: Node) -> str:
    """What a sentence says beside the part that changes something."""
    parts = line.split(", ")
    known_ = stated_in(old.label)
    scores = [closeness(known_, stated_in(part)) for part in parts]
    return ", ".join(part for part, score in zip(parts, scores, strict=True) if score < max(scores))


def _spread(ledger: Ledger, old: Node, new: Node) -> None:
    """Let go what else says what the old fact said, and note the change with a goal that says it."""
    again = content(new.label)
    told = Finding(new.type, new.label, Status.ACTIVE, new.source.trust, new.confidence, quote=new.source.quote)
    for node in _stating(ledger, old):
        if node.id != new.id and not again <= content(node.label):
            ledger.replace(node, new, told)
    goal = ledger.graph.in_slot("goal")
    if goal is not None and _names_replaced(goal.label, old, new):
        label = f"{goal.label}{GOAL_CHANGED}{new.label})"
        if len(label) <= LABEL_MAX and GOAL_CHANGED not in goal.label:
            ledger.emit(NodeRevised(goal.id, {"label": label}, ledger.turn))


def _names_replaced(goal: str, old: Node, new: Node) -> bool:
    """Whether the words of a goal hold the value that ``new`` replaced; where no value is known, whether they hold half
    of the words of ``old``, and one that ``new`` does not say."""
    if members := _members(old.label) - _members(new.label):
        return bool(members & _members(goal))
    if figures := _changed_figures(old.label, new.label):
        return any(equal(one, told.text) for one in figures for told in values_in(goal))
    if old.is_note:
        return old.label.casefold() in goal.casefold()
    said, named = content(old.label), content(goal)
    if old.slot and (value := content(old.value)):
        return value <= named
    return bool(said & named - content(new.label)) and len(said & named) >= max(GOAL_WORDS, NAMED * len(said))


def _changed_figures(old: str, new: str) -> list[str]:
    """The values but for names of which a text gives another one of the same sort."""
    return [
        one.text
        for one in values_in(old)
        for other in values_in(new)
        if one.kind not in _NAMES and same_sort(one, other) and not equal(one.text, other.text)
    ]


def _members(text: str) -> frozenset[str]:
    """The known products and the like that a text names, each in one spelling."""
    found = (find_member(word.strip(".,:;()")) for word in text.split())
    return frozenset(member[1] for member in found if member is not None)


def _stating(ledger: Ledger, old: Node) -> list[Node]:
    """The other facts in force that say what the old one said."""
    words = content(old.label)
    known_ = ((node, content(node.label)) for node in _in_force(ledger))
    return [node for node, said in known_ if said and words and (words <= said or said <= words)]


def find_changeable(ledger: Ledger) -> list[Node]:
    """What a user's sentence may change: facts in force, open orders, and what the assistant said that it set."""
    known = list(changeable(ledger))
    told = [stated_in(node.label) for node in known]
    values = frozenset(value for one in told for value in one.values)
    return [*known, *(node for node in find_set(ledger.put_up()) if not _restates(stated_in(node.label), values, told))]


def _restates(said: Stated, values: frozenset[str], told: Sequence[Stated]) -> bool:
    """Whether a clause of the assistant's states a known fact: it has a value of one, or no name but those of one."""
    return not said.values.isdisjoint(values) if said.values else any(said.names <= one.names for one in told)


def changeable(ledger: Ledger) -> Iterator[Node]:
    """The newest facts in force, and the user's open orders."""
    yield from _in_force(ledger)
    graph = ledger.graph
    for number in islice(range(graph.count_added(NodeType.TASK), 0, -1), ORDERS_MAX):
        node = graph.get(f"{NodeType.TASK.value}-{number}")
        if node is not None and node.open and node.source.role == "user" and node.source.turn < ledger.turn:
            yield node


def _in_force(ledger: Ledger) -> Iterator[Node]:
    """The newest facts in force that are older than this message."""
    graph = ledger.graph
    for type_ in _TYPES:
        for number in islice(range(graph.count_added(type_), 0, -1), FACTS_MAX):
            node = graph.get(f"{type_.value}-{number}")
            if node is None or node.status is not Status.ACTIVE or node.kind is DecisionKind.OPTION:
                continue
            if node.source.turn < ledger.turn:
                yield node
