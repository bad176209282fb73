"""What a user's sentence changes: the one place where something that was settled goes without being named by a rule.

A fact in force is superseded only by a sentence that asserts something (see ``frames``), that has a word of change,
is a bare value, or settles something by the model's judgement, and that names the old value, or speaks of the same
thing and gives another value of the same sort. What was said by the way (``passing``) is changed by another value
only. The sentence as it stands is what holds from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Final

from tokenmizer_mw.graph.values import Value, equal, same_sort, values_in
from tokenmizer_mw.model.event import NodeRevised
from tokenmizer_mw.model.node import LABEL_MAX, DecisionKind, Node, NodeType, Status, Trust

from .facts import supersede
from .finding import Finding, Move, Segment, SegmentKind
from .foreign import lies_in
from .frames import frames_of
from .layout import Span
from .ledger import Ledger
from .pattern import PatternSet
from .phrases import asks, bound_sentence, order_in, split_reason, without_lead
from .rules.changing import CHANGES, EXPLICIT
from .similar import content
from .slots import find_member, is_attribute

SENTENCES_READ: Final = 8
SENTENCE_MAX: Final = 200
FACTS_MAX: Final = 32
"""Newest facts among which the old one is looked for."""
BARE_WORDS: Final = 7
"""Words of a sentence that is little else than a value."""
NAMED: Final = 0.5
"""Share of an old label's content that a sentence names at least."""

ANOTHER_VALUE: Final = 1.0
"""Score above which a sentence gives another value of what it changes, and does not only name it."""

SAME_MATTER: Final = 2.0
"""Score above which a sentence without a word of change gives a value of the same sort for the same thing."""

NOTE_LEAST: Final = 1.0
"""The same where what it changes was only said by the way."""

SETTLING: Final = 0.08
"""How likely a sentence without a word of change settles something, for it to change something."""

Settling = Callable[[Segment], float]

GOAL_CHANGED: Final = " (now: "
"""What stands in a goal before the sentence that changed a part of it."""

_CONFIDENCE: Final = 0.75
_UNTYPED: Final = frozenset({"name", "term", "word", "code"})
_CHANGES: Final = PatternSet(*(f"(?s:.*?)(?:{row})" for row in CHANGES))
_TYPES: Final = (NodeType.DECISION, NodeType.ENVIRONMENT, NodeType.CONCEPT)


def change(
    ledger: Ledger, segments: Sequence[Segment], elsewhere: list[Span], findings: Sequence[Finding], settling: Settling
) -> list[Finding]:
    """Supersede what the user's sentences change, but for those that rules read as a change; ``findings`` without
    what such a sentence would state besides. ``elsewhere``: places where others speak; ``settling``: how likely a
    sentence settles something."""
    known_ = {finding.span for finding in findings if _is_change(ledger, finding)}
    changed: set[Span] = set()
    for segment, reason in _changing(segments, elsewhere):
        span = (segment.start, segment.end)
        old = _changed_by(ledger, segment) if span not in known_ else None
        if old is not None and (_least(_line_of(segment)) < SAME_MATTER or settling(segment) >= SETTLING):
            _replace(ledger, old, segment, reason)
            changed.add(span)
    return [finding for finding in findings if finding.type not in _OPEN_TYPES or finding.span not in changed]


def _changing(segments: Sequence[Segment], elsewhere: list[Span]) -> Iterator[tuple[Segment, str]]:
    """The sentences of the speaker that may change something, and why they do."""
    said = [one for one in segments if one.kind in (SegmentKind.PROSE, SegmentKind.LIST_ITEM)][:SENTENCES_READ]
    for at, segment in enumerate(said):
        if not lies_in(elsewhere, segment.start) and _may_change(segment.text):
            yield segment, _reason(said, at)


def _is_change(ledger: Ledger, finding: Finding) -> bool:
    """Whether a finding replaces something by itself."""
    if finding.type not in _OPEN_TYPES:
        return False
    return finding.move in _CHANGING or bool(finding.near) or ledger.graph.in_slot(finding.slot) is not None


def change_named(ledger: Ledger, segments: Sequence[Segment], elsewhere: list[Span]) -> None:
    """Supersede what sentences change in so many words of which rules only read the new value, and let go what else
    says what this message has replaced."""
    done = {step.evidence for step in ledger.graph.transitions() if step.trigger == ledger.turn}
    for segment, reason in _changing(segments, elsewhere):
        if segment.text not in done and _EXPLICIT.any(bound_sentence(segment.text)):
            old = _changed_by(ledger, segment)
            if old is not None:
                _replace(ledger, old, segment, reason)
    for step in [one for one in ledger.graph.transitions() if one.trigger == ledger.turn]:
        old, new = ledger.graph.get(step.old), ledger.graph.get(step.new)
        if old is not None and new is not None and new.current:
            _spread(ledger, old, new)


_CHANGING: Final = frozenset({Move.REPLACE, Move.SET, Move.REJECT})
_OPEN_TYPES: Final = frozenset({NodeType.DECISION, NodeType.CONCEPT})
_EXPLICIT: Final = PatternSet(*(f"(?s:.*?)(?:{row})" for row in EXPLICIT))
_BESIDE: Final = PatternSet(
    r".*(?:\b(?:also|as well|additionally|in addition|besides|both|too|auch|aussi|también|anche|também)\b|также"
    r"|тоже|也|都)"
)
"""Words by which something stands beside what was settled."""


def _may_change(text: str) -> bool:
    line = bound_sentence(text)
    if len(line) > SENTENCE_MAX or (asks(line) and not order_in(without_lead(line))) or frames_of(line):
        return False
    return not _COMPLAINS.any(line)


def _least(line: str) -> float:
    """Above which score a sentence changes a fact: little where it has a word of change, more where it is only a value,
    most where it has neither."""
    if _CHANGES.any(line):
        return 0.0
    return ANOTHER_VALUE if _is_bare(line) else SAME_MATTER


_COMPLAINS: Final = PatternSet(
    r".*\b(?:took|takes|failed|fails|prints|printed|shows|showed|returned|returns|saw|measured|crashed|opened)\b",
    r".*[\"“„«「'‘][^\"”“»」']{16,}",
    r".*?\b(?:(?:is|are|was|were|'s) (?:way |far |just |a bit )?too \w+"
    r"|(?:doesn't|don't|isn't|can't|won't) \w+)[^,;:]*$",
)
"""Sentences that quote somebody, tell what somebody observes, or only speak against what was settled."""


def _is_bare(line: str) -> bool:
    return len(line.split()) <= BARE_WORDS and any(value.kind not in _UNTYPED for value in values_in(line))


def _reason(said: Sequence[Segment], at: int) -> str:
    """Why a sentence changes something: what it says behind its statement, else the sentence before it or behind."""
    reason = split_reason(bound_sentence(said[at].text))[1]
    beside = [one.text for one in (*said[max(at - 1, 0) : at], *said[at + 1 : at + 2]) if not asks(one.text)]
    return reason or next((bound_sentence(text).rstrip(" .!") for text in beside if len(content(text)) > 1), "")


def _line_of(segment: Segment) -> str:
    return without_lead(bound_sentence(segment.text)).rstrip(" .!")


def _changed_by(ledger: Ledger, segment: Segment) -> Node | None:
    """The fact in force that a sentence changes, ``None`` for none."""
    line = _line_of(segment)
    least = _least(line)
    if least >= SAME_MATTER and not values_in(line):
        return None
    scored = [
        (score, node)
        for node in _in_force(ledger)
        if (score := _score(node, line)) > (max(least, NOTE_LEAST) if node.is_note else least)
    ]
    if not scored:
        return None
    best = max(score for score, _ in scored)
    return next(node for score, node in scored if score == best)


def _replace(ledger: Ledger, old: Node, segment: Segment, reason: str) -> None:
    """What a sentence says takes the place of a fact."""
    line = _line_of(segment)
    reason = reason or _other_parts(line, old)
    finding = Finding(
        NodeType.DECISION,
        line,
        Status.ACTIVE,
        Trust.STATED,
        _CONFIDENCE,
        Move.REPLACE,
        reason=reason,
        kind=DecisionKind.CHOICE if old.kind is not DecisionKind.RULE else DecisionKind.RULE,
        quote=segment.text,
        span=(segment.start, segment.end),
    )
    new = supersede(ledger, old, finding)
    _spread(ledger, old, new)


def _other_parts(line: str, old: Node) -> str:
    """What a sentence says beside the part that changes something."""
    parts = line.split(", ")
    scores = [_score(old, part) for part in parts]
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
        label = f"{goal.label} (now: {new.label})"
        if len(label) <= LABEL_MAX and GOAL_CHANGED not in goal.label:
            ledger.emit(NodeRevised(goal.id, {"label": label}, ledger.turn))


def _names_replaced(goal: str, old: Node, new: Node) -> bool:
    """Whether the words of a goal hold the value that ``new`` replaced; where no value is known, whether they hold half
    of the words of ``old``, and one that ``new`` does not say."""
    if members := _members(old.label) - _members(new.label):
        return bool(members & _members(goal))
    if figures := [one for one, other in _pairs(old.label, new.label) if _differ(one, other)]:
        return any(equal(one.text, told.text) for one in figures for told in values_in(goal))
    said, named = content(old.label), content(goal)
    if old.slot and (value := content(old.value)):
        return value <= named
    return bool(said & named - content(new.label)) and len(said & named) >= NAMED * len(said)


def _differ(old: Value, new: Value) -> bool:
    return same_sort(old, new) and not equal(old.text, new.text)


def _members(text: str) -> frozenset[str]:
    """The known products and the like that a text names, each in one spelling."""
    found = (find_member(word.strip(".,:;()")) for word in text.split())
    return frozenset(member[1] for member in found if member is not None)


def _stating(ledger: Ledger, old: Node) -> list[Node]:
    """The other facts in force that say what the old one said."""
    words = content(old.label)
    known_ = ((node, content(node.label)) for node in _in_force(ledger))
    return [node for node, said in known_ if said and words and (words <= said or said <= words)]


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


def _score(node: Node, line: str) -> float:
    """How much speaks for it that a sentence changes a fact, 0 for nothing."""
    mine, other = content(line), content(node.label)
    if not other or (other <= mine and not _names_more(mine, other)):
        return 0.0
    shared = len(mine & other) / len(other)
    if any(_differ(old, new) for old, new in _pairs(node.label, line)):
        return 2.0 + shared if _same_words(mine, other) else 0.0
    if _same_category(node.label, line):
        return 1.5 + shared
    if _EXPLICIT.any(bound_sentence(line)) and _same_noun(node.label, line):
        return 1.5 + shared
    return shared if shared >= NAMED else 0.0


def _same_words(mine: frozenset[str], other: frozenset[str]) -> bool:
    """Whether both have a word that is no number: "17:00" and "15:00" have none in common."""
    return not all(word.isdigit() for word in mine & other)


def _names_more(mine: frozenset[str], other: frozenset[str]) -> bool:
    """Whether a sentence that names all of a fact says what comes in its place."""
    return len(mine - other) > 0


def _pairs(old: str, new: str) -> Iterator[tuple[Value, Value]]:
    for one in values_in(old):
        for other in values_in(new):
            if one.kind not in _UNTYPED and other.kind not in _UNTYPED and not _numbers_things(old, one, new, other):
                yield one, other


def _numbers_things(old: str, one: Value, new: str, other: Value) -> bool:
    """Whether two numbers only tell things of one kind apart: "part 1" and "part 3", but not "port 1" and "port 3"."""
    before = (old[: one.start].split() or [""])[-1].casefold()
    again = (new[: other.start].split() or [""])[-1].casefold()
    return one.kind == other.kind == "number" and before == again and before.isalpha() and not is_attribute(before)


def _same_noun(old: str, new: str) -> bool:
    """Whether both speak of one thing with another word beside it: "five lives" and "three lives", "gas hob" and
    "induction hob", "un thème clair" and "un thème sombre"."""
    mine, other = _neighbours(old), _neighbours(new)
    return any(
        (one[1] == two[1] and one[0] != two[0]) or (one[0] == two[0] and one[1] != two[1])
        for one in mine
        for two in other
    )


def _neighbours(text: str) -> list[tuple[str, str]]:
    """The stems of words that stand beside each other."""
    stems = [next(iter(found)) if len(found := content(word)) == 1 else "" for word in text.casefold().split()]
    return [(one, two) for one, two in pairwise(stems) if one and two]


def _same_category(old: str, new: str) -> bool:
    mine = {found for word in old.split() if (found := find_member(word.strip(".,:;()"))) is not None}
    other = {found for word in new.split() if (found := find_member(word.strip(".,:;()"))) is not None}
    return any(one[0] == two[0] and one[1] != two[1] for one in mine for two in other)
